//! What an evidence file says, and what its result comes to, without checking what it rests on.

use super::document::DocumentError;
use super::file::{EvidenceFile, MAX_EVIDENCE_BYTES};
use super::head::{Head, HeadError};
use super::result::{EvidenceRequest, EvidenceResult, ResultError};
use crate::json::{Wire, read};
use crate::snapshot::{Snapshot, SnapshotError};

/// What an evidence file says of itself. Nothing of it is checked: it may be false in every
/// field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated {
    /// What was asked.
    pub request: EvidenceRequest,
    /// What was answered.
    pub result: EvidenceResult,
    /// The proof that leads to the log's checkpoint.
    pub log_proof: String,
}

impl Stated {
    /// Reads it from a JSON object that has these three, whatever else it has and however it
    /// is spelled; `None` where the bytes are none.
    pub fn of(evidence: &[u8]) -> Option<Self> {
        let whole = Some(evidence).filter(|bytes| bytes.len() <= MAX_EVIDENCE_BYTES)?;
        let json = read(whole).ok()?;
        Some(Self {
            request: EvidenceRequest::read(json.field("request")?).ok()?,
            result: EvidenceResult::read(json.field("result")?).ok()?,
            log_proof: String::read(json.field("log_proof")?).ok()?,
        })
    }
}

/// The snapshot that an evidence file carries, where it can be read. Nothing of the file is
/// checked.
pub fn snapshot_in(evidence: &[u8]) -> Option<Snapshot> {
    let whole = Some(evidence).filter(|bytes| bytes.len() <= MAX_EVIDENCE_BYTES)?;
    let json = read(whole).ok()?;
    let snapshot = json.field("snapshot")?;
    Snapshot::from_parsed(snapshot, &snapshot.to_canonical().ok()?).ok()
}

/// What an evidence file publishes, and what follows from its own snapshot and head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recomputed {
    /// What was asked.
    pub request: EvidenceRequest,
    /// The result that follows.
    pub computed: EvidenceResult,
    /// The result that the file states.
    pub published: EvidenceResult,
}

/// Why a file's result cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecomputeError {
    /// Not an evidence file.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// Its snapshot is none.
    #[error("snapshot: {0}")]
    Snapshot(#[from] SnapshotError),
    /// Its head is none.
    #[error("head: {0}")]
    Head(#[from] HeadError),
    /// Its request has no result.
    #[error(transparent)]
    Result(#[from] ResultError),
}

/// Computes the result of an evidence file. No hash, proof or signature is looked at:
/// that is [`verify`](super::verify()).
pub fn recompute(evidence: &[u8]) -> Result<Recomputed, RecomputeError> {
    let (EvidenceFile { request, result, head, .. }, snapshot) =
        EvidenceFile::from_canonical(evidence)?;
    let snapshot = snapshot?;
    let head = Head::from_canonical(&head.0)?;
    let computed = EvidenceResult::compute(&request, &snapshot, &head)?;
    Ok(Recomputed { request, computed, published: result })
}
