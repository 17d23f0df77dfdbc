//! Merkle trees as in RFC 6962, section 2.1: SHA-256, leaves hashed with a leading
//! `0x00`, nodes with a leading `0x01`.
//!
//! Verification follows RFC 9162, sections 2.1.3.2 and 2.1.4.2.

use core::fmt;
use core::ops::Range;

use sha2::{Digest, Sha256};

use base64ct::{Base64, Encoding};

/// A SHA-256 hash in a tree, written in base64.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Reads padded standard base64. Only the canonical encoding of a hash is accepted.
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

/// The largest power of two below `size`, which is at least two.
fn left_size(size: u64) -> u64 {
    // The next power of two above the largest sizes does not fit into 64 bits.
    1 << (size - 1).ilog2()
}

/// The ranges of leaves whose roots are the siblings on the path from leaf `index` up to the root of `size` leaves, in
/// the proof's order; `None` if there is no such leaf.
pub fn inclusion_ranges(index: u64, size: u64) -> Option<Vec<Range<u64>>> {
    if index >= size {
        return None;
    }
    let mut ranges = Vec::new();
    let (mut start, mut end) = (0, size);
    while end - start > 1 {
        let middle = start + left_size(end - start);
        if index < middle {
            ranges.push(middle..end);
            end = middle;
        } else {
            ranges.push(start..middle);
            start = middle;
        }
    }
    ranges.reverse();
    Some(ranges)
}

/// The ranges of leaves whose roots prove that the first `old` leaves are a prefix of `new`, in the proof's order;
/// `None` unless `old ≤ new`. If `old` is 0, there is nothing to prove.
pub fn consistency_ranges(old: u64, new: u64) -> Option<Vec<Range<u64>>> {
    if old == 0 || old > new {
        return (old == 0).then(Vec::new);
    }
    let mut ranges = Vec::new();
    let (mut start, mut end) = (0, new);
    while old != end {
        let middle = start + left_size(end - start);
        if old <= middle {
            ranges.push(middle..end);
            end = middle;
        } else {
            ranges.push(start..middle);
            start = middle;
        }
    }
    if start > 0 {
        ranges.push(start..end);
    }
    ranges.reverse();
    Some(ranges)
}

/// A complete subtree, given by its height and its index among the subtrees of that height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subtree {
    /// 0 for a leaf.
    pub height: u32,
    /// Its index among the subtrees of its height, from the left.
    pub index: u64,
}

/// The complete subtrees that make up a range of leaves, from left to right. A range named by a proof has at most 64.
/// [`join`] turns their roots into the range's root.
pub fn subtrees(run: Range<u64>) -> Vec<Subtree> {
    let Range { mut start, end } = run;
    let mut subtrees = Vec::new();
    while start < end {
        let fits = (end - start).ilog2();
        let height = if start == 0 { fits } else { fits.min(start.trailing_zeros()) };
        subtrees.push(Subtree { height, index: start >> height });
        start += 1 << height;
    }
    subtrees
}

/// The root over the roots of adjacent complete subtrees, given from left to right, each smaller than the one before.
/// Without any roots it is the root of the empty tree.
pub fn join(roots: &[Hash]) -> Hash {
    let whole = roots.iter().rev().copied().reduce(|right, left| node_hash(left, right));
    whole.unwrap_or_else(|| root(&[]))
}

/// The root over leaf hashes. For an empty list it is the SHA-256 of the empty string.
pub fn root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => Hash(Sha256::digest([]).into()),
        [leaf] => *leaf,
        _ => {
            // Split at the largest power of two below the number of leaves.
            let (left, right) = leaves.split_at(1 << (leaves.len() - 1).ilog2());
            node_hash(root(left), root(right))
        }
    }
}

/// The siblings on the path from leaf `index` up to the root; `None` if there is no such leaf.
pub fn inclusion_proof(leaves: &[Hash], index: usize) -> Option<Vec<Hash>> {
    roots(leaves, inclusion_ranges(index as u64, leaves.len() as u64)?)
}

/// The nodes that prove that the first `old_size` leaves are a prefix; `None` unless `old_size ≤ leaves`.
pub fn consistency_proof(leaves: &[Hash], old_size: usize) -> Option<Vec<Hash>> {
    roots(leaves, consistency_ranges(old_size as u64, leaves.len() as u64)?)
}

fn roots(leaves: &[Hash], ranges: Vec<Range<u64>>) -> Option<Vec<Hash>> {
    let place = |place: u64| usize::try_from(place).ok();
    let run = |range: Range<u64>| leaves.get(place(range.start)?..place(range.end)?);
    ranges.into_iter().map(|range| run(range).map(root)).collect()
}

/// A tree that grows leaf by leaf, as the roots of its complete subtrees, largest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    roots: Vec<Hash>,
}

impl Frontier {
    /// The tree of `size` leaves whose complete subtrees have these roots, largest first; `None` if a tree of that size
    /// has a different number of complete subtrees.
    pub fn from_roots(size: u64, roots: Vec<Hash>) -> Option<Self> {
        (roots.len() as u64 == u64::from(size.count_ones())).then_some(Self { size, roots })
    }

    /// The number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds the leaf after the last.
    pub fn push(&mut self, leaf: Hash) {
        let (mut hash, mut below) = (leaf, self.size);
        while below & 1 == 1 {
            hash = self.roots.pop().map_or(hash, |left| node_hash(left, hash));
            below >>= 1;
        }
        self.roots.push(hash);
        self.size += 1;
    }

    /// The root over the leaves so far.
    pub fn root(&self) -> Hash {
        join(&self.roots)
    }
}

/// Computes the root from an inclusion proof; `None` if the proof's length does not match index and size.
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

/// Whether `proof` shows that the tree of `old_size` with `old_root` is a prefix of the tree of `new_size` with
/// `new_root`. The empty tree is a prefix of every tree and needs no proof.
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
    // If the old tree is a complete subtree of the new one, its root is the first node, and the proof omits it.
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
        // One padding bit is changed: a non-canonical encoding of the same bytes.
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
            assert_eq!(consistency_proof(&tree, usize::from(size) + 1), None);
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
    fn a_frontier_has_the_root_of_the_whole_tree_at_every_size() {
        let (mut frontier, leaves) = (Frontier::default(), leaves(130));
        for (size, leaf) in leaves.iter().enumerate() {
            assert_eq!(frontier.root(), root(&leaves[..size]));
            frontier.push(*leaf);
        }
        assert_eq!(frontier.root(), root(&leaves));
    }

    #[test]
    fn runs_of_the_largest_trees_end() {
        assert_eq!([2, 3, 4, 5, 1 << 63, u64::MAX].map(left_size), [1, 2, 2, 4, 1 << 62, 1 << 63]);
        assert_eq!(consistency_ranges(5, u64::MAX).unwrap().len(), 65);
        assert_eq!(inclusion_ranges(u64::MAX - 1, u64::MAX).unwrap().len(), 63);
        assert_eq!(inclusion_ranges(u64::MAX, u64::MAX), None);
        assert_eq!(consistency_ranges(6, 5), None);
        assert_eq!(subtrees(0..u64::MAX).len(), 64);
        assert_eq!(subtrees(3..3), []);
    }

    #[test]
    fn the_roots_of_a_runs_subtrees_join_to_the_runs() {
        let leaves = leaves(70);
        let place = |place: u64| usize::try_from(place).unwrap();
        for size in 1..=70_u64 {
            let mut runs = consistency_ranges(size, 70).unwrap();
            runs.push(0..size);
            for run in runs {
                let of = |subtree: &Subtree| {
                    let first = place(subtree.index << subtree.height);
                    root(&leaves[first..first + (1 << subtree.height)])
                };
                let roots: Vec<_> = subtrees(run.clone()).iter().map(of).collect();
                let whole = root(&leaves[place(run.start)..place(run.end)]);
                assert_eq!(join(&roots), whole, "{run:?}");
            }
        }
    }

    #[test]
    fn every_tree_extends_the_empty_one() {
        let (empty, three) = (root(&[]), root(&leaves(3)));
        for (size, whole) in [(0, empty), (3, three)] {
            assert!(is_consistent(0, empty, size, whole, &[]), "{size}");
            assert_eq!(consistency_ranges(0, size), Some(Vec::new()));
            assert!(!is_consistent(0, leaf_hash(b"other"), size, whole, &[]), "{size}");
            assert!(!is_consistent(0, empty, size, whole, &[empty]), "{size}");
        }
        assert!(!is_consistent(0, empty, 0, three, &[]));
        assert!(!is_consistent(3, three, 0, empty, &[]));
    }
}
