//! The steps from a head to a checkpoint: the head's place in the slot's tree, and the leaf's place in the log.

use super::file::PoolProof;
use super::head::Head;
use super::leaf::SlotLeaf;
use super::report::{Check, CheckName};
use crate::tlog::{Checkpoint, Hash, LogProof, root_from_inclusion};

/// A failed step, with the expected and the found value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub code: &'static str,
    pub expected: String,
    pub found: String,
}

impl Fault {
    pub fn new(code: &'static str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { code, expected: expected.into(), found: found.into() }
    }

    pub fn check(self, name: CheckName) -> Check {
        Check::fail(name, self.code, self.expected, self.found)
    }
}

/// The root of the slot's tree, if the proof shows that the tree has the head at the proof's index.
pub(super) fn head_in_slot(head: &[u8], leaf: &SlotLeaf, proof: &PoolProof) -> Result<Hash, Fault> {
    const CODE: &str = "pool_proof_invalid";
    let Some(hashes) = proof.parse_hashes() else {
        return Err(Fault::new(CODE, "hashes in base64", "other text"));
    };
    let root = root_from_inclusion(Head::leaf_of(head), proof.index, leaf.pools.into(), &hashes);
    match root {
        Some(root) if root == leaf.root => Ok(root),
        Some(root) => {
            Err(Fault::new("pool_proof_mismatch", leaf.root.to_string(), root.to_string()))
        }
        None => {
            let expected = format!("a proof for one of {} pools", leaf.pools);
            Err(Fault::new(CODE, expected, format!("index {}", proof.index)))
        }
    }
}

/// The root of the log, if the proof shows that the log has the leaf at the index of its slot.
pub(super) fn leaf_in_log(
    leaf: &[u8],
    index: Option<u64>,
    proof: &LogProof,
    checkpoint: &Checkpoint,
) -> Result<Hash, Fault> {
    if index != Some(proof.index) {
        let expected = index.map_or("a slot of this log".to_owned(), |index| index.to_string());
        return Err(Fault::new("index_mismatch", expected, proof.index.to_string()));
    }
    let hash = SlotLeaf::leaf_of(leaf);
    match root_from_inclusion(hash, proof.index, checkpoint.size, &proof.hashes) {
        Some(root) if root == checkpoint.root => Ok(root),
        Some(root) => {
            Err(Fault::new("inclusion_mismatch", checkpoint.root.to_string(), root.to_string()))
        }
        None => {
            let expected = format!("a proof in a log of {} slots", checkpoint.size);
            let found = format!("index {}, {} hashes", proof.index, proof.hashes.len());
            Err(Fault::new("inclusion_proof_invalid", expected, found))
        }
    }
}
