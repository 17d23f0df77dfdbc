//! Evidence, version 1: what lets anyone recheck a result, offline and for ever. The
//! bytes are described in `docs/evidence-v1.md`.
//!
//! - `head`: a pool's entry for a slot; `leaf`: all heads of a slot
//! - `merkle`, `note`, `checkpoint`: the log of slot leaves and its signed state
//! - `result`, `file`: what was asked and answered, and the file that proves it
//! - `window`: the last heads of a pool, compactly
//! - `verify`, `report`: whether a file proves its number; `recompute`: only what it comes to

mod checkpoint;
mod document;
mod file;
mod head;
mod leaf;
mod merkle;
mod note;
mod recompute;
mod report;
mod result;
mod verify;
mod window;

pub use checkpoint::{
    Checkpoint, CheckpointError, LogProof, MAX_PROOF_BYTES, MAX_PROOF_HASHES, Origin, Predecessor,
};
pub use document::DocumentError;
pub use file::{MAX_EVIDENCE_BYTES, PoolProof, write_evidence};
pub use head::{
    Depths, Head, HeadEntry, HeadError, LOWEST_DEPTH_SLOTS, MAX_HEAD_BYTES,
    MAX_METHOD_VERSION_LENGTH, MAX_RETRACTION_SLOTS, Retraction,
};
pub use leaf::{LeafError, MAX_LEAF_BYTES, SlotLeaf};
pub use merkle::{
    Hash, consistency_proof, inclusion_proof, is_consistent, leaf_hash, node_hash, root,
    root_from_inclusion,
};
pub use note::{
    KeyId, MAX_NOTE_BYTES, MAX_SIGNATURES, Note, NoteError, SignerKey, Signers, VerifierKey,
};
pub use recompute::{RecomputeError, Recomputed, Stated, recompute, snapshot_in};
pub use report::{Check, CheckName, Outcome, Report, Verdict};
pub use result::{Base, EvidenceRequest, EvidenceResult, ResultError, depths};
pub use verify::{Policy, SeenCheckpoint, verify};
pub use window::{HeadWindow, MAX_WINDOW_BYTES, WindowError};

#[cfg(test)]
mod tests;
