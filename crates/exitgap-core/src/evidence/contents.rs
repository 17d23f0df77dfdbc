//! A parsed evidence file: its statement, the recomputed answer, and the parts that the checks use.

use super::file::{EvidenceFile, MAX_EVIDENCE_BYTES};
use super::head::{Head, HeadError};
use super::leaf::{LeafError, SlotLeaf};
use super::report::Report;
use super::result::{Answer, EvidenceRequest, PreparedExits, ResultError};
use super::verify::{Policy, verify_opened};
use crate::Newer;
use crate::ids::PoolId;
use crate::json::{DocumentError, Json, Part, Wire, parse};
use crate::snapshot::{ReadSnapshot, Snapshot, SnapshotDocuments, SnapshotError};
use crate::tlog::{CheckpointError, LogProof};

/// An evidence file's own statement. Nothing in it is verified, so every field may be false.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceStatement {
    /// The request.
    pub request: EvidenceRequest,
    /// The answer.
    pub answer: Answer,
    /// The proof that leads to the log's checkpoint.
    pub log_proof: String,
}

impl EvidenceStatement {
    /// Reads the statement from a JSON object that has these three fields. Other fields and non-canonical spelling are
    /// accepted.
    fn from_json(json: &Json<'_>) -> Option<Self> {
        let result = json.field("result").map(Wire::from_json).transpose().ok()?;
        let refusal = json.field("refusal").map(Wire::from_json).transpose().ok()?;
        let request = EvidenceRequest::from_json(json.field("request")?).ok()?;
        // Canonical documents have no larger numbers, and JavaScript could not represent them.
        if request.slot >= 1 << 53 {
            return None;
        }
        Some(Self {
            request,
            answer: Answer::from_either(result, refusal)?,
            log_proof: String::from_json(json.field("log_proof")?).ok()?,
        })
    }
}

/// A file's published answer, and the answer recomputed from its own snapshot and head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecomputedAnswer {
    /// The request.
    pub request: EvidenceRequest,
    /// The recomputed answer.
    pub computed: Answer,
    /// The answer stated in the file.
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
    /// The request has no result for this snapshot.
    #[error(transparent)]
    Result(#[from] ResultError),
}

/// A supposed evidence file, parsed once for repeated use. Parsing proves nothing: [`Evidence::verify`] does.
#[derive(Debug, Clone)]
pub struct Evidence {
    opened: FileContents,
}

#[derive(Debug, Clone)]
enum FileContents {
    File(Box<Parts>),
    /// Not an evidence file of this version: the error, and the parts that could be read anyway.
    Other {
        error: DocumentError,
        stated: Option<Box<EvidenceStatement>>,
        snapshot: Option<Box<Snapshot>>,
    },
}

/// The parts of a file, each as far as it could be parsed, and the bytes to hash.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    /// The size of the whole file, in bytes.
    pub length: usize,
    pub file: EvidenceFile,
    pub snapshot: Result<ReadSnapshot, SnapshotError>,
    /// Prepared exits of the snapshot, if this version knows all of its values.
    pub prepared: Option<PreparedExits>,
    pub head: Result<Head, HeadError>,
    pub leaf: Result<SlotLeaf, LeafError>,
    pub log_proof: Result<LogProof, CheckpointError>,
}

impl Parts {
    fn from_file(
        length: usize,
        file: EvidenceFile,
        snapshot: Result<ReadSnapshot, SnapshotError>,
    ) -> Self {
        let Part(head) = &file.head;
        let Part(leaf) = &file.leaf;
        let known = snapshot.as_ref().ok().and_then(|read| read.snapshot.as_ref().ok());
        Self {
            length,
            prepared: known
                .map(|snapshot| PreparedExits::from_snapshot(snapshot, &file.stated.request)),
            snapshot,
            head: Head::from_canonical(head),
            leaf: SlotLeaf::from_canonical(leaf),
            log_proof: LogProof::from_text(&file.stated.log_proof),
            file,
        }
    }

    /// The snapshot, if this version knows all of its values.
    pub fn known(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref().ok()?.snapshot.as_ref().ok()
    }

    /// The snapshot's first value that only a later version knows.
    pub fn newer(&self) -> Option<Newer> {
        match &self.snapshot {
            Ok(read) => read.snapshot.as_ref().err().copied(),
            Err(error) => error.newer(),
        }
    }
}

impl Evidence {
    /// Parses untrusted bytes. Never fails: errors appear in the report.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self { opened: FileContents::from_bytes(bytes) }
    }

    /// The file's own statement, if it can be found. Non-canonical files and files of a later version can have one,
    /// too.
    pub fn statement(&self) -> Option<&EvidenceStatement> {
        match &self.opened {
            FileContents::File(parts) => Some(&parts.file.stated),
            FileContents::Other { stated, .. } => stated.as_deref(),
        }
    }

    /// The snapshot in the file, if it can be parsed and this version knows all of its values. Only its form is
    /// checked.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        match &self.opened {
            FileContents::File(parts) => parts.known(),
            FileContents::Other { snapshot, .. } => snapshot.as_deref(),
        }
    }

    /// Makes every check of the file. Pure and total: no clock, no network, no panic, and every
    /// loop bounded by the sizes the formats allow.
    pub fn verify(&self, policy: &Policy) -> Report {
        verify_opened(self.parts(), policy)
    }

    /// Recomputes the file's result. Hashes, proofs and signatures are not checked here, but by [`Evidence::verify`].
    pub fn recompute(&self) -> Result<RecomputedAnswer, RecomputeError> {
        let parts = self.parts().map_err(Clone::clone)?;
        let read = parts.snapshot.as_ref().map_err(Clone::clone)?;
        let snapshot = read.snapshot.as_ref().map_err(|newer| DocumentError::Newer(*newer))?;
        let head = parts.head.as_ref().map_err(Clone::clone)?;
        let EvidenceStatement { request, answer, .. } = &parts.file.stated;
        let computed = Answer::compute(request, snapshot, head)?;
        Ok(RecomputedAnswer { request: request.clone(), computed, published: answer.clone() })
    }

    fn parts(&self) -> Result<&Parts, &DocumentError> {
        match &self.opened {
            FileContents::File(parts) => Ok(parts),
            FileContents::Other { error, .. } => Err(error),
        }
    }
}

impl FileContents {
    fn from_bytes(bytes: &[u8]) -> Self {
        let json = match parse(bytes, MAX_EVIDENCE_BYTES) {
            Ok(json) => json,
            Err(error) => return Self::Other { error, stated: None, snapshot: None },
        };
        match EvidenceFile::from_parsed(&json, bytes) {
            Ok((file, snapshot)) => {
                Self::File(Box::new(Parts::from_file(bytes.len(), file, snapshot)))
            }
            Err(error) => {
                let stated = EvidenceStatement::from_json(&json).map(Box::new);
                let pool = stated.as_ref().map(|stated| &stated.request.pool);
                let snapshot = snapshot_in(pool, &json).map(Box::new);
                Self::Other { error, stated, snapshot }
            }
        }
    }
}

/// The snapshot in a JSON object that contains one, in any spelling. If the object names a pool, the snapshot must be
/// of that pool.
fn snapshot_in(pool: Option<&PoolId>, json: &Json<'_>) -> Option<Snapshot> {
    let documents = SnapshotDocuments::from_parsed(json).ok()?;
    Snapshot::parse_documents(pool, &documents.snapshot, &documents.state).ok()?.snapshot.ok()
}
