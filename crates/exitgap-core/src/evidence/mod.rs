//! Evidence, version 1: a file with which anyone can recheck a result, offline and at any later
//! time. The bytes are described in `docs/evidence-v1.md`. The log of slot leaves, its tree and its
//! signatures are those of any [`tlog`](crate::tlog).
//!
//! - `head`: a pool's entry for a slot, which a `retraction` can withdraw; `leaf`: all heads of a
//!   slot; `commits`: what else both commit to
//! - `result`, `file`: the request and its answer, and the file that proves it
//! - `proof`: the path from a head to a checkpoint
//! - `predecessor`: what a log's first leaf contains about a log that was lost
//! - `window`: the last heads of a pool, in compact form
//! - `contents`: a file, read once, with what is computed from it; `verify`, `report`: whether it
//!   proves the answer; `witness_check`: what witnesses signed about its checkpoint

mod commits;
mod contents;
mod file;
mod head;
mod leaf;
mod predecessor;
mod proof;
mod report;
mod result;
mod retraction;
mod verify;
mod window;
mod witness_check;

pub use crate::json::DocumentError;
pub use commits::Commits;
pub use contents::{Evidence, EvidenceStatement, RecomputeError, RecomputedAnswer};
pub use file::{HeadProof, MAX_EVIDENCE_BYTES, PoolProof, write_evidence};
pub use head::{
    Depths, Head, HeadEntry, HeadError, LOWEST_DEPTH_SLOTS, MAX_HEAD_BYTES,
    MAX_METHOD_VERSION_LENGTH,
};
pub use leaf::{LeafError, MAX_LEAF_BYTES, SlotLeaf};
pub use predecessor::Predecessor;
pub use report::{Check, CheckName, Outcome, Report, Verdict};
pub use result::{
    Answer, Base, EvidenceRefusal, EvidenceRequest, EvidenceResult, ResultError, depths,
};
pub use retraction::{MAX_RETRACTION_SLOTS, Retraction, RetractionCause};
pub use verify::{Policy, SeenCheckpoint, verify};
pub use window::{HeadWindow, MAX_WINDOW_BYTES, WindowError};
pub use witness_check::{CosignedBy, WitnessCheck, check_witnessed};

#[cfg(test)]
mod tests;
