//! Log proofs and proofs of two histories.

use std::collections::BTreeSet;
use std::path::Path;

use exitgap_core::evidence::{Commits, SlotLeaf};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{
    Checkpoint, Fork, Hash, LogProof, VerifierKey, consistency_proof, inclusion_proof, leaf_hash,
    root, root_from_inclusion,
};
use serde_json::{Value, json};

use super::Result;
use super::forged_change::{
    below, change_bytes, change_lines, change_structure, change_value, one,
};
use super::forged_kind::{Changed, Kind, Said, hex};
use super::forged_vectors::{ORIGIN, Sealed, signer};
use crate::canonical::to_canonical_json;
use crate::devchain::Rng;

/// The leaves of the harness's log.
const LEAVES: u32 = 23;

/// The leaf of a slot, of one of two histories.
fn leaf(index: u32, is_other: bool) -> Vec<u8> {
    let slot = Slot::new(u64::from(Slot::FIRST.number() + index)).expect("a slot of the series");
    let root = leaf_hash(&[u8::from(is_other), u8::try_from(index).unwrap_or_default()]);
    let leaf = SlotLeaf { slot, pools: index % 3 + 1, root, commits: Commits::default() };
    leaf.to_canonical().expect("a leaf is written")
}

fn leaves(count: u32, other_from: u32) -> Vec<Hash> {
    (0..count).map(|index| SlotLeaf::leaf_of(&leaf(index, index >= other_from))).collect()
}

fn note(leaves: &[Hash], how: Sealed) -> String {
    let origin = ORIGIN.parse().expect("an origin");
    let (size, root) = (leaves.len() as u64, root(leaves));
    let checkpoint = Checkpoint { origin, size, root, extensions: Vec::new() };
    how.sign("\n\n\u{2014} a AAAAAAAA\n", &checkpoint).expect("a key of this name")
}

/// Proofs that a log has the leaf of a slot.
pub struct LogProofs {
    seeds: Vec<(u32, Vec<u8>)>,
    keys: Vec<VerifierKey>,
    signed: BTreeSet<String>,
}

impl LogProofs {
    /// A proof of each leaf, to two sizes of the log.
    pub fn new() -> Result<Self> {
        let mut seeds = Vec::new();
        for size in [LEAVES - 7, LEAVES] {
            let all = leaves(size, LEAVES);
            for index in 0..size {
                let hashes = inclusion_proof(&all, index as usize).ok_or("no such leaf")?;
                let checkpoint = note(&all, Sealed::LogKey);
                let proof = LogProof { index: index.into(), hashes, checkpoint };
                seeds.push((index, proof.to_text().into_bytes()));
            }
        }
        let mut kind = Self { seeds, keys: vec![signer().verifier()], signed: BTreeSet::new() };
        for seed in 0..kind.seeds.len() {
            let content = kind.content(&kind.whole(seed)).ok_or("a proof is not valid")?;
            kind.signed.insert(content);
        }
        Ok(kind)
    }

    /// What a valid proof shows: the leaf, its place and the checkpoint.
    fn content(&self, changed: &Changed) -> Option<String> {
        let proof = LogProof::from_text(core::str::from_utf8(&changed.file).ok()?).ok()?;
        let checkpoint: Checkpoint = Checkpoint::signed_by(&proof.checkpoint, &self.keys).ok()?;
        let index = self.seeds[changed.seed].0;
        let leaf = leaf(index, false);
        let slot = Slot::new(u64::from(Slot::FIRST.number() + index)).ok()?;
        let is_at = checkpoint.origin.index_of(slot) == Some(proof.index);
        let hash = SlotLeaf::leaf_of(&leaf);
        let found = root_from_inclusion(hash, proof.index, checkpoint.size, &proof.hashes)?;
        let stated = format!("{} {hash}\n{}", proof.index, checkpoint.to_text());
        (is_at && found == checkpoint.root).then_some(stated)
    }

    /// A proof of a leaf that the log does not have, fit together again and signed by a stranger.
    fn of_other_leaf(&self, seed: usize, rng: &mut Rng) -> Option<Changed> {
        let (index, file) = &self.seeds[seed];
        let how = *one(rng, &[Sealed::Log, Sealed::Stranger, Sealed::Impostor]);
        let mut proof = LogProof::from_text(core::str::from_utf8(file).ok()?).ok()?;
        if let Some(hash) = proof.hashes.first_mut().filter(|_| rng.once_in(2)) {
            hash.0[below(rng, 32)] ^= 1 << rng.below(8);
        } else {
            proof.index = rng.below(u64::from(LEAVES));
        }
        let leaf = SlotLeaf::leaf_of(&leaf(*index, false));
        let sealed = how.reseal_proof(&proof.to_text(), leaf)?;
        Some(Changed::new(seed, sealed.into_bytes(), format!("another proof; sealed: {how:?}")))
    }
}

impl Kind for LogProofs {
    fn name(&self) -> &'static str {
        "log proof"
    }

    fn seeds(&self) -> usize {
        self.seeds.len()
    }

    fn whole(&self, seed: usize) -> Changed {
        Changed::new(seed, self.seeds[seed].1.clone(), "a proof as it is")
    }

    fn change(&self, seed: usize, rng: &mut Rng) -> Changed {
        if rng.once_in(4)
            && let Some(changed) = self.of_other_leaf(seed, rng)
        {
            return changed;
        }
        let other = &self.seeds[below(rng, self.seeds.len())].1;
        let (bytes, what) = if rng.once_in(3) {
            change_bytes(rng, &self.seeds[seed].1, other)
        } else {
            change_lines(rng, &self.seeds[seed].1, other)
        };
        Changed::new(seed, bytes, what)
    }

    fn readers(&self) -> &'static [&'static str] {
        &["core"]
    }

    fn read(&self, _reader: usize, changed: &Changed) -> Said {
        Said::from_content(self.content(changed))
    }

    fn is_true(&self, stated: &str) -> bool {
        self.signed.contains(stated)
    }

    fn ask_second(&self, changed: &Changed) -> Option<Value> {
        let index = self.seeds[changed.seed].0;
        let keys: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
        Some(json!({
            "kind": "log proof", "keys": keys, "file": hex(&changed.file),
            "leaf": hex(&leaf(index, false)), "slot": Slot::FIRST.number() + index,
        }))
    }
}

/// Proofs that a log's key signed two histories.
pub struct Forks {
    seeds: Vec<Vec<u8>>,
    keys: Vec<VerifierKey>,
    signed: BTreeSet<String>,
}

impl Forks {
    /// Two histories that differ from some leaf on, at several sizes.
    pub fn new() -> Result<Self> {
        let mut kind =
            Self { seeds: Vec::new(), keys: vec![signer().verifier()], signed: BTreeSet::new() };
        let sizes = [1, 2, 4, 5, 8, 13, 16, LEAVES];
        for old in sizes {
            for new in sizes.into_iter().filter(|new| *new >= old) {
                for is_other_first in [false, true] {
                    let [one, two] = [leaves(old, LEAVES), leaves(old, old - 1)];
                    let (seen, rest) = if is_other_first { (two, LEAVES) } else { (one, old - 1) };
                    let shown = leaves(new, rest);
                    let proof = consistency_proof(&shown, old as usize).ok_or("no proof")?;
                    let checkpoints = [&seen, &shown].map(|leaves| note(leaves, Sealed::LogKey));
                    let root = root(&shown[..old as usize]);
                    let fork = Fork { checkpoints, proof, root };
                    kind.seeds.push(fork.to_canonical()?);
                }
            }
        }
        for seed in 0..kind.seeds.len() {
            let content = kind.content(&kind.whole(seed).file).ok_or("a fork is not proven")?;
            kind.signed.insert(content);
        }
        Ok(kind)
    }

    fn content(&self, file: &[u8]) -> Option<String> {
        let proven = Fork::from_canonical(file).ok()?.judge(&self.keys).ok()?;
        let [first, second] = proven.roots;
        Some(format!("{} {:?} {first} {second}", proven.origin, proven.sizes))
    }

    /// Two states of one history, or one of them by a stranger, in place of the true checkpoints.
    fn of_one_history(&self, seed: usize, rng: &mut Rng) -> Option<Changed> {
        let how = *one(rng, &[Sealed::LogKey, Sealed::Stranger, Sealed::Impostor, Sealed::Log]);
        let mut fork = Fork::from_canonical(&self.seeds[seed]).ok()?;
        let (first, _) = Checkpoint::from_note(&fork.checkpoints[0]).ok()?;
        let (second, _) = Checkpoint::from_note(&fork.checkpoints[1]).ok()?;
        // Signed truly, both are states of one history, whatever the file says.
        let size = u32::try_from(if rng.once_in(2) { first.size } else { second.size }).ok()?;
        let other =
            if how == Sealed::LogKey { LEAVES } else { u32::try_from(rng.below(9)).ok()? };
        let place = below(rng, 2);
        fork.checkpoints[place] = note(&leaves(size, other), how);
        if how == Sealed::LogKey {
            fork.checkpoints[1 - place] =
                note(&leaves(u32::try_from(second.size).ok()?, LEAVES), how);
        }
        let bytes = fork.to_canonical().ok()?;
        Some(Changed::new(seed, bytes, format!("checkpoint {place} by {how:?}")))
    }
}

impl Kind for Forks {
    fn name(&self) -> &'static str {
        "two histories"
    }

    fn seeds(&self) -> usize {
        self.seeds.len()
    }

    fn whole(&self, seed: usize) -> Changed {
        Changed::new(seed, self.seeds[seed].clone(), "a proof as it is")
    }

    fn change(&self, seed: usize, rng: &mut Rng) -> Changed {
        let (file, other) = (&self.seeds[seed], &self.seeds[below(rng, self.seeds.len())]);
        let drawn = match rng.below(5) {
            0 => self.of_one_history(seed, rng),
            1 => change_structure(rng, file).map(|(bytes, what)| Changed::new(seed, bytes, what)),
            2..=3 => serde_json::from_slice::<Value>(file).ok().and_then(|mut value| {
                let what =
                    change_value(rng, &mut value, serde_json::from_slice(other).ok().as_ref());
                Some(Changed::new(seed, to_canonical_json(&value)?, what))
            }),
            _ => None,
        };
        drawn.unwrap_or_else(|| {
            let (bytes, what) = change_bytes(rng, file, other);
            Changed::new(seed, bytes, what)
        })
    }

    fn readers(&self) -> &'static [&'static str] {
        &["core"]
    }

    fn read(&self, _reader: usize, changed: &Changed) -> Said {
        Said::from_content(self.content(&changed.file))
    }

    fn is_true(&self, stated: &str) -> bool {
        self.signed.contains(stated)
    }

    fn ask_second(&self, changed: &Changed) -> Option<Value> {
        let keys: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
        Some(json!({"kind": "two histories", "keys": keys, "file": hex(&changed.file)}))
    }

    fn command(&self, changed: &Changed, folder: &Path) -> Option<std::io::Result<Vec<String>>> {
        let path = folder.join("fork.json");
        let arguments = std::fs::write(&path, &changed.file).map(|()| {
            let key = self.keys[0].to_string();
            vec![
                "verify".into(),
                path.display().to_string(),
                "--json".into(),
                "--trust".into(),
                key,
            ]
        });
        // Other documents are read as evidence.
        Fork::is_file(&changed.file).then_some(arguments)
    }
}
