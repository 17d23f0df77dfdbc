//! Our Merkle code against an independent one: random trees, their proofs, and proofs
//! that are wrong on purpose.

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use ct_merkle::{ConsistencyProof, InclusionProof, RootHash};
use exitgap_core::tlog::{
    Hash, consistency_proof, inclusion_proof, is_consistent, leaf_hash, root, root_from_inclusion,
};
use exitgap_tests::devchain::Rng;
use sha2::Sha256;

type Theirs = MemoryBackedTree<Sha256, Vec<u8>>;

/// What was compared.
#[derive(Debug, Default)]
struct Tally {
    proofs: u64,
    wrong: u64,
    /// Wrong proofs that both refused. One that changed nothing is a true one.
    refused: u64,
}

fn bytes(proof: &[Hash]) -> Vec<u8> {
    proof.iter().flat_map(|hash| hash.0).collect()
}

fn their_root(root: Hash, size: usize) -> RootHash<Sha256> {
    RootHash::new(root.0.into(), size as u64)
}

/// A proof with a hash changed, removed, doubled or two exchanged.
fn damaged(rng: &mut Rng, proof: &[Hash]) -> Vec<Hash> {
    let mut damaged = proof.to_vec();
    let place = |rng: &mut Rng, length: usize| usize::try_from(rng.below(length as u64)).unwrap();
    if damaged.is_empty() {
        damaged.push(leaf_hash(b"too much"));
        return damaged;
    }
    let at = place(rng, damaged.len());
    match rng.below(4) {
        0 => damaged[at].0[place(rng, 32)] ^= 1 << rng.below(8),
        1 => drop(damaged.remove(at)),
        2 => damaged.insert(at, damaged[at]),
        _ => damaged.swap(at, place(rng, proof.len())),
    }
    damaged
}

struct Pair {
    leaves: Vec<Vec<u8>>,
    ours: Vec<Hash>,
    theirs: Theirs,
}

impl Pair {
    fn random(rng: &mut Rng) -> Self {
        let size = 1 + usize::try_from(rng.below(130)).unwrap();
        let leaves: Vec<_> =
            (0..size).map(|_| rng.below(u64::MAX).to_be_bytes().to_vec()).collect();
        let ours = leaves.iter().map(|leaf| leaf_hash(leaf)).collect();
        let mut theirs = Theirs::new();
        for leaf in &leaves {
            theirs.push(leaf.clone());
        }
        Self { leaves, ours, theirs }
    }

    fn compare_inclusion(&self, rng: &mut Rng, tally: &mut Tally) {
        let size = self.ours.len();
        let index = usize::try_from(rng.below(size as u64)).unwrap();
        let proof = inclusion_proof(&self.ours, index).unwrap();
        assert_eq!(bytes(&proof), self.theirs.prove_inclusion(index).as_bytes());
        let top = root(&self.ours);
        let holds = |proof: &[Hash]| {
            let found = root_from_inclusion(self.ours[index], index as u64, size as u64, proof);
            let theirs = InclusionProof::try_from_bytes(bytes(proof)).is_ok_and(|proof| {
                let leaf = &self.leaves[index];
                their_root(top, size).verify_inclusion(leaf, index as u64, &proof).is_ok()
            });
            (found == Some(top), theirs)
        };
        assert_eq!(holds(&proof), (true, true));
        self.count(tally, &proof, &damaged(rng, &proof), holds);
    }

    fn compare_consistency(&self, rng: &mut Rng, tally: &mut Tally) {
        let size = self.ours.len();
        let old = 1 + usize::try_from(rng.below(size as u64)).unwrap();
        let proof = consistency_proof(&self.ours, old).unwrap();
        assert_eq!(bytes(&proof), self.theirs.prove_consistency(size - old).as_bytes());
        let (before, after) = (root(&self.ours[..old]), root(&self.ours));
        let holds = |proof: &[Hash]| {
            let ours = is_consistent(old as u64, before, size as u64, after, proof);
            let theirs = ConsistencyProof::try_from_bytes(bytes(proof)).is_ok_and(|proof| {
                let after = their_root(after, size);
                after.verify_consistency(&their_root(before, old), &proof).is_ok()
            });
            (ours, theirs)
        };
        assert_eq!(holds(&proof), (true, true));
        self.count(tally, &proof, &damaged(rng, &proof), holds);
    }

    fn count(
        &self,
        tally: &mut Tally,
        proof: &[Hash],
        damaged: &[Hash],
        holds: impl Fn(&[Hash]) -> (bool, bool),
    ) {
        tally.proofs += 1;
        if damaged == proof {
            return;
        }
        tally.wrong += 1;
        let (ours, theirs) = holds(damaged);
        assert_eq!(ours, theirs, "{} leaves", self.ours.len());
        tally.refused += u64::from(!ours);
    }
}

#[test]
fn our_trees_and_proofs_are_those_of_an_independent_crate() {
    const TREES: u64 = 10_000;
    let mut rng = Rng::new(6_962);
    let mut tally = Tally::default();
    for _ in 0..TREES {
        let pair = Pair::random(&mut rng);
        assert_eq!(root(&pair.ours).0[..], pair.theirs.root().as_bytes()[..]);
        pair.compare_inclusion(&mut rng, &mut tally);
        pair.compare_consistency(&mut rng, &mut tally);
    }
    assert_eq!(tally.proofs, 2 * TREES);
    assert!(tally.wrong > TREES && tally.refused == tally.wrong, "{tally:?}");
}
