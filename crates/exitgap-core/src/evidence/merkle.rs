//! Merkle trees as in RFC 6962, section 2.1: SHA-256, leaves hashed with a leading
//! `0x00`, nodes with a leading `0x01`.
//!
//! Verification follows RFC 9162, sections 2.1.3.2 and 2.1.4.2.

use core::fmt;

use sha2::{Digest, Sha256};

use base64ct::{Base64, Encoding};

/// A SHA-256 hash in a tree, written in base64.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Reads padded standard base64, of which each hash has one spelling.
    pub fn from_base64(text: &str) -> Option<Self> {
        let bytes: [u8; 32] = Base64::decode_vec(text).ok()?.try_into().ok()?;
        (Base64::encode_string(&bytes) == text).then_some(Self(bytes))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Base64::encode_string(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The hash of a leaf's data.
pub fn leaf_hash(data: &[u8]) -> Hash {
    Hash(Sha256::new().chain_update([0]).chain_update(data).finalize().into())
}

/// The hash of a node over its two children.
pub fn node_hash(left: Hash, right: Hash) -> Hash {
    let digest = Sha256::new().chain_update([1]).chain_update(left.0).chain_update(right.0);
    Hash(digest.finalize().into())
}

/// The root over leaf hashes; over none it is the hash of nothing.
pub fn root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => Hash(Sha256::digest([]).into()),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(left_size(leaves.len()));
            node_hash(root(left), root(right))
        }
    }
}

/// The largest power of two below `size`, which is at least two.
fn left_size(size: usize) -> usize {
    size.next_power_of_two() / 2
}

/// The siblings from leaf `index` up to the root; `None` where there is no such leaf.
pub fn inclusion_proof(leaves: &[Hash], index: usize) -> Option<Vec<Hash>> {
    if index >= leaves.len() {
        return None;
    }
    let mut proof = Vec::new();
    let (mut rest, mut index) = (leaves, index);
    while rest.len() > 1 {
        let (left, right) = rest.split_at(left_size(rest.len()));
        if index < left.len() {
            proof.push(root(right));
            rest = left;
        } else {
            proof.push(root(left));
            index -= left.len();
            rest = right;
        }
    }
    proof.reverse();
    Some(proof)
}

/// The nodes that prove the first `old_size` leaves to be a prefix; `None` unless
/// `0 < old_size ≤ leaves`.
pub fn consistency_proof(leaves: &[Hash], old_size: usize) -> Option<Vec<Hash>> {
    if old_size == 0 || old_size > leaves.len() {
        return None;
    }
    let mut proof = Vec::new();
    let (mut rest, mut old, mut whole) = (leaves, old_size, true);
    while old != rest.len() {
        let (left, right) = rest.split_at(left_size(rest.len()));
        if old <= left.len() {
            proof.push(root(right));
            rest = left;
        } else {
            proof.push(root(left));
            old -= left.len();
            rest = right;
            whole = false;
        }
    }
    if !whole {
        proof.push(root(rest));
    }
    proof.reverse();
    Some(proof)
}

/// The root that an inclusion proof leads to; `None` where its length does not fit
/// the index and size.
pub fn root_from_inclusion(leaf: Hash, index: u64, size: u64, proof: &[Hash]) -> Option<Hash> {
    if index >= size {
        return None;
    }
    let (mut node, mut last, mut hash) = (index, size - 1, leaf);
    for sibling in proof {
        if last == 0 {
            return None;
        }
        if node & 1 == 1 || node == last {
            hash = node_hash(*sibling, hash);
            while node & 1 == 0 && node != 0 {
                node >>= 1;
                last >>= 1;
            }
        } else {
            hash = node_hash(hash, *sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    (last == 0).then_some(hash)
}

/// Whether `proof` shows that the tree of `old_size` with `old_root` is a prefix of
/// the tree of `new_size` with `new_root`. The tree of no leaves is a prefix of every other, and
/// needs no proof.
pub fn is_consistent(
    old_size: u64,
    old_root: Hash,
    new_size: u64,
    new_root: Hash,
    proof: &[Hash],
) -> bool {
    if old_size > new_size {
        return false;
    }
    if old_size == new_size {
        return proof.is_empty() && old_root == new_root;
    }
    if old_size == 0 {
        return proof.is_empty() && old_root == root(&[]);
    }
    // A tree that is a complete subtree of the new one is its own first node.
    let (first, rest) = match proof.split_first() {
        _ if old_size.is_power_of_two() => (old_root, proof),
        Some((first, rest)) => (*first, rest),
        None => return false,
    };
    let shift = (old_size - 1).trailing_ones();
    let (mut node, mut last) = ((old_size - 1) >> shift, (new_size - 1) >> shift);
    let (mut old_hash, mut new_hash) = (first, first);
    for sibling in rest {
        if last == 0 {
            return false;
        }
        if node & 1 == 1 || node == last {
            old_hash = node_hash(*sibling, old_hash);
            new_hash = node_hash(*sibling, new_hash);
            while node & 1 == 0 && node != 0 {
                node >>= 1;
                last >>= 1;
            }
        } else {
            new_hash = node_hash(new_hash, *sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    last == 0 && old_hash == old_root && new_hash == new_root
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(count: u8) -> Vec<Hash> {
        (0..count).map(|n| leaf_hash(&[n])).collect()
    }

    #[test]
    fn roots_are_those_of_the_rfc() {
        assert_eq!(root(&[]).to_string(), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        // SHA-256 of a single zero byte: a leaf without data.
        assert_eq!(leaf_hash(&[]).to_string(), "bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=");
        assert_eq!(
            Hash::from_base64("bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0="),
            Some(leaf_hash(&[]))
        );
        // One bit of padding changed: another spelling of the same bytes.
        assert_eq!(Hash::from_base64("bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB1="), None);
    }

    #[test]
    fn every_proof_of_small_trees_holds_and_no_other_does() {
        for size in 1..=33_u8 {
            let tree = leaves(size);
            let top = root(&tree);
            for index in 0..size {
                let proof = inclusion_proof(&tree, index.into()).unwrap();
                let at = |index: u8, size: u8, proof: &[Hash]| {
                    root_from_inclusion(tree[usize::from(index)], index.into(), size.into(), proof)
                };
                assert_eq!(at(index, size, &proof), Some(top));
                let mut longer = proof.clone();
                longer.push(top);
                assert_ne!(at(index, size, &longer), Some(top));
                if let Some(shorter) = proof.len().checked_sub(1) {
                    assert_ne!(at(index, size, &proof[..shorter]), Some(top));
                }
                for other in (0..size).filter(|other| *other != index) {
                    assert_ne!(at(other, size, &proof), Some(top));
                }
            }
            assert_eq!(inclusion_proof(&tree, size.into()), None);
            assert_eq!(root_from_inclusion(top, size.into(), size.into(), &[]), None);
        }
    }

    #[test]
    fn prefixes_are_consistent_and_rewritten_ones_are_not() {
        for new in 1..=33_u8 {
            let tree = leaves(new);
            for old in 1..=new {
                let proof = consistency_proof(&tree, old.into()).unwrap();
                let before = root(&tree[..old.into()]);
                let check = |before, old: u8, proof: &[Hash]| {
                    is_consistent(old.into(), before, new.into(), root(&tree), proof)
                };
                assert!(check(before, old, &proof), "{old} of {new}");
                assert!(!check(leaf_hash(b"other"), old, &proof), "{old} of {new}");
                let mut longer = proof.clone();
                longer.push(before);
                assert!(!check(before, old, &longer), "{old} of {new}");
                if let Some(shorter) = proof.len().checked_sub(1) {
                    assert!(!check(before, old, &proof[..shorter]), "{old} of {new}");
                }
                for index in 0..proof.len() {
                    let mut changed = proof.clone();
                    changed[index].0[7] ^= 1;
                    assert!(!check(before, old, &changed), "{old} of {new}");
                }
            }
        }
    }

    #[test]
    fn every_tree_extends_the_empty_one() {
        let (empty, three) = (root(&[]), root(&leaves(3)));
        for (size, whole) in [(0, empty), (3, three)] {
            assert!(is_consistent(0, empty, size, whole, &[]), "{size}");
            assert!(!is_consistent(0, leaf_hash(b"other"), size, whole, &[]), "{size}");
            assert!(!is_consistent(0, empty, size, whole, &[empty]), "{size}");
        }
        assert!(!is_consistent(0, empty, 0, three, &[]));
        assert!(!is_consistent(3, three, 0, empty, &[]));
    }
}
