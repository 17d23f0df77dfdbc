//! Evidence files: one canonical JSON document of everything that a result follows
//! from, with the proofs that lead to a signed checkpoint.

use super::checkpoint::LogProof;
use super::document::{DocumentError, Part, from_parsed, parse, to_canonical};
use super::merkle::Hash;
use super::result::{EvidenceRequest, EvidenceResult};
use crate::json::{Json, wire_struct};
use crate::snapshot::{MAX_SNAPSHOT_BYTES, Snapshot, SnapshotError};

/// The most bytes of an evidence file that are looked at: the largest snapshot, and
/// a little for the rest.
pub const MAX_EVIDENCE_BYTES: usize = MAX_SNAPSHOT_BYTES + (512 << 10);

const VERSION: u32 = 1;

/// A head's place in its slot's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolProof {
    /// Siblings from the head up, in base64.
    pub hashes: Vec<String>,
    /// The head's index among the slot's pools.
    pub index: u64,
}

wire_struct!(PoolProof { hashes, index });

impl PoolProof {
    /// A proof of these hashes.
    pub fn new(index: u64, hashes: &[Hash]) -> Self {
        Self { hashes: hashes.iter().map(Hash::to_string).collect(), index }
    }

    /// The hashes; `None` where one is not 32 bytes of base64.
    pub(super) fn parsed(&self) -> Option<Vec<Hash>> {
        self.hashes.iter().map(|text| Hash::from_base64(text)).collect()
    }
}

/// The parts of an evidence file. Snapshot, head and leaf are kept as documents:
/// each is hashed by its own canonical bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EvidenceFile {
    pub head: Part,
    pub leaf: Part,
    pub log_proof: String,
    pub pool_proof: PoolProof,
    pub request: EvidenceRequest,
    pub result: EvidenceResult,
    pub snapshot: Part,
    pub v: u32,
}

wire_struct!(EvidenceFile { head, leaf, log_proof, pool_proof, request, result, snapshot, v });

impl EvidenceFile {
    /// Reads untrusted bytes, which must be the canonical ones, and the snapshot in them.
    pub fn from_canonical(
        bytes: &[u8],
    ) -> Result<(Self, Result<Snapshot, SnapshotError>), DocumentError> {
        let json = parse(bytes, MAX_EVIDENCE_BYTES)?;
        let file: Self = from_parsed(&json, bytes)?;
        if file.v != VERSION {
            return Err(DocumentError::Version { found: file.v, known: VERSION });
        }
        // Most of the file, and parsed with it.
        let snapshot = json.field("snapshot").unwrap_or(&Json::Null);
        let snapshot = Snapshot::from_parsed(snapshot, &file.snapshot.0);
        Ok((file, snapshot))
    }
}

/// The bytes of an evidence file. `snapshot`, `head` and `leaf` are canonical bytes
/// as they are stored.
pub fn write_evidence(
    request: &EvidenceRequest,
    result: &EvidenceResult,
    snapshot: &[u8],
    head: &[u8],
    leaf: &[u8],
    pool_proof: &PoolProof,
    log_proof: &LogProof,
) -> Result<Vec<u8>, DocumentError> {
    to_canonical(&EvidenceFile {
        head: Part::of(head)?,
        leaf: Part::of(leaf)?,
        log_proof: log_proof.to_text(),
        pool_proof: pool_proof.clone(),
        request: request.clone(),
        result: result.clone(),
        snapshot: Part::of(snapshot)?,
        v: VERSION,
    })
}
