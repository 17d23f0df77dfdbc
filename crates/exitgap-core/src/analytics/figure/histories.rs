//! Whether the proofs of several windows can be of one log: no two of them may give a place of its tree different hashes.

use std::collections::BTreeMap;

use crate::evidence::{HeadProof, SlotLeaf};
use crate::tlog::{Checkpoint, Hash, root};

/// A place in the tree: the height of a complete subtree, and its index at that height.
type Place = (u32, u64);

/// A place to which two proofs give different hashes, in words; `None` where there is none. Proofs of other logs than the
/// first's are passed over: which log a window is of is another check.
pub fn find_contradiction<'a>(
    proofs: impl Iterator<Item = &'a HeadProof>,
) -> Option<(usize, String)> {
    let mut known: BTreeMap<Place, Hash> = BTreeMap::new();
    let mut sizes: BTreeMap<u64, Hash> = BTreeMap::new();
    let mut log = None;
    for (index, proof) in proofs.enumerate() {
        let Ok((checkpoint, _)) = Checkpoint::from_note(&proof.log_proof.checkpoint) else {
            continue;
        };
        if *log.get_or_insert_with(|| checkpoint.origin.clone()) != checkpoint.origin {
            continue;
        }
        if *sizes.entry(checkpoint.size).or_insert(checkpoint.root) != checkpoint.root {
            let what = format!("two logs of {} slots have different roots", checkpoint.size);
            return Some((index, what));
        }
        for ((height, place), hash) in complete_subtrees(proof, &checkpoint) {
            if *known.entry((height, place)).or_insert(hash) != hash {
                let first = place << height;
                let what =
                    format!("slots from the log's {first} on, 2^{height} of them, are other ones");
                return Some((index, what));
            }
        }
    }
    None
}

/// The complete subtrees whose hashes a proof of inclusion has or makes, which no longer log changes.
fn complete_subtrees(proof: &HeadProof, checkpoint: &Checkpoint) -> Vec<(Place, Hash)> {
    let Some(mut last) = checkpoint.size.checked_sub(1) else { return Vec::new() };
    let (mut at, mut height) = (proof.log_proof.index, 0);
    let mut computed = SlotLeaf::leaf_of(&proof.leaf);
    let mut found = vec![((0, at), computed)];
    for hash in &proof.log_proof.hashes {
        if at & 1 == 1 || at == last {
            // At the right edge a subtree has a neighbour only further up.
            while at & 1 == 0 && at != 0 {
                (at, last, height) = (at >> 1, last >> 1, height + 1);
            }
            let Some(left) = at.checked_sub(1) else { break };
            found.push(((height, left), *hash));
            computed = root(&[*hash, computed]);
        } else {
            if at + 1 < last {
                found.push(((height, at + 1), *hash));
            }
            computed = root(&[computed, *hash]);
        }
        (at, last, height) = (at >> 1, last >> 1, height + 1);
        if at < last {
            found.push(((height, at), computed));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::PoolProof;
    use crate::series::Slot;
    use crate::tlog::{LogProof, Origin, SignerKey, inclusion_proof};

    fn proof(leaves: &[Vec<u8>], index: usize) -> HeadProof {
        let origin = Origin::new("exitgap.example/log", Slot::FIRST).unwrap();
        let key = SignerKey::from_seed(&origin.to_string(), [7; 32]).unwrap();
        let hashes: Vec<Hash> = leaves.iter().map(|leaf| SlotLeaf::leaf_of(leaf)).collect();
        let (size, root) = (leaves.len() as u64, root(&hashes));
        let checkpoint = Checkpoint { origin, size, root, extensions: Vec::new() };
        let log_proof = LogProof {
            index: index as u64,
            hashes: inclusion_proof(&hashes, index).unwrap(),
            checkpoint: key.sign(&checkpoint.to_text()).unwrap(),
        };
        HeadProof { leaf: leaves[index].clone(), pool_proof: PoolProof::new(0, &[]), log_proof }
    }

    fn leaves(size: u8, changed: Option<u8>) -> Vec<Vec<u8>> {
        (0..size).map(|n| vec![n, u8::from(changed == Some(n))]).collect()
    }

    #[test]
    fn proofs_of_one_log_at_any_sizes_never_contradict_each_other() {
        for first in 1..18 {
            for second in first..18 {
                for (at, other) in [(0, second - 1), (first - 1, 0), (first / 2, second / 2)] {
                    let [a, b] = [(first, at), (second, other)]
                        .map(|(size, index)| proof(&leaves(size, None), usize::from(index)));
                    assert_eq!(find_contradiction([&a, &b].into_iter()), None, "{first} {second}");
                }
            }
        }
    }

    #[test]
    fn two_histories_are_seen_where_the_proofs_have_a_place_in_common() {
        let honest = proof(&leaves(13, None), 9);
        // A slot before both, beside the second, or under the first's own ancestors was another one.
        for (changed, size, index) in
            [(2, 16, 11), (9, 16, 11), (9, 15, 9), (8, 14, 10), (1, 13, 9)]
        {
            let other = proof(&leaves(size, Some(changed)), index);
            let (at, what) = find_contradiction([&honest, &other].into_iter()).unwrap();
            assert_eq!(at, 1, "{changed}: {what}");
        }
        let (_, what) =
            find_contradiction([&honest, &proof(&leaves(13, Some(12)), 0)].into_iter()).unwrap();
        assert_eq!(what, "two logs of 13 slots have different roots");
    }
}
