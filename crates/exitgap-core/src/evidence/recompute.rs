//! What an evidence file says, and what its result comes to, without checking what it rests on.

use super::file::{EvidenceFile, MAX_EVIDENCE_BYTES};
use super::head::{Head, HeadError};
use super::result::{Answer, EvidenceRequest, ResultError};
use crate::json::{DocumentError, Wire, read};
use crate::snapshot::{Snapshot, SnapshotDocuments, SnapshotError};

/// What an evidence file says of itself. Nothing of it is checked: it may be false in every
/// field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated {
    /// What was asked.
    pub request: EvidenceRequest,
    /// What was answered.
    pub answer: Answer,
    /// The proof that leads to the log's checkpoint.
    pub log_proof: String,
}

impl Stated {
    /// Reads it from a JSON object that has these three, whatever else it has and however it
    /// is spelled; `None` where the bytes are none.
    pub fn of(evidence: &[u8]) -> Option<Self> {
        let whole = Some(evidence).filter(|bytes| bytes.len() <= MAX_EVIDENCE_BYTES)?;
        let json = read(whole).ok()?;
        let part = |name| json.field(name);
        let result = part("result").map(Wire::read).transpose().ok()?;
        let refusal = part("refusal").map(Wire::read).transpose().ok()?;
        Some(Self {
            request: EvidenceRequest::read(json.field("request")?).ok()?,
            answer: Answer::of(result, refusal)?,
            log_proof: String::read(json.field("log_proof")?).ok()?,
        })
    }
}

/// The snapshot that an evidence file carries, where it can be read. Nothing of the file is
/// checked.
pub fn snapshot_in(evidence: &[u8]) -> Option<Snapshot> {
    let documents = SnapshotDocuments::from_file(evidence).ok()?;
    Snapshot::from_canonical(&documents.snapshot, &documents.state).ok()
}

/// What an evidence file publishes, and what follows from its own snapshot and head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recomputed {
    /// What was asked.
    pub request: EvidenceRequest,
    /// The answer that follows.
    pub computed: Answer,
    /// The answer that the file states.
    pub published: Answer,
}

/// Why a file's result cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecomputeError {
    /// Not an evidence file.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// Its snapshot cannot be read.
    #[error("snapshot: {0}")]
    Snapshot(#[from] SnapshotError),
    /// Its head cannot be read.
    #[error("head: {0}")]
    Head(#[from] HeadError),
    /// Its request has no result.
    #[error(transparent)]
    Result(#[from] ResultError),
}

/// Computes the result of an evidence file. No hash, proof or signature is looked at:
/// that is [`verify`](super::verify()).
pub fn recompute(evidence: &[u8]) -> Result<Recomputed, RecomputeError> {
    let (EvidenceFile { request, answer, head, .. }, read) =
        EvidenceFile::from_canonical(evidence)?;
    let snapshot = read?.snapshot.map_err(DocumentError::Newer)?;
    let head = Head::from_canonical(&head.0)?;
    let computed = Answer::compute(&request, &snapshot, &head)?;
    Ok(Recomputed { request, computed, published: answer })
}
