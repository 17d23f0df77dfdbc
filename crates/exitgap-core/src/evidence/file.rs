//! Evidence files: one canonical JSON document of everything that a result follows
//! from, with the proofs that lead to a signed checkpoint.

use super::opened::Stated;
use super::result::{Answer, EvidenceRefusal, EvidenceRequest, EvidenceResult};
use crate::json::{
    DocumentError, Fields, Json, Part, VERSION, Wire, check_canonical, check_version, to_canonical,
    wire_struct,
};
use crate::pools::MAX_STATE_BYTES;
use crate::snapshot::{ReadSnapshot, Snapshot, SnapshotDocuments, SnapshotError};
use crate::tlog::{Hash, LogProof};

/// The most bytes of an evidence file that are looked at: the largest state, and a little for the
/// rest.
pub const MAX_EVIDENCE_BYTES: usize = MAX_STATE_BYTES + (512 << 10);

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

/// What leads from a head to a signed checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadProof {
    /// The canonical bytes of the slot's leaf.
    pub leaf: Vec<u8>,
    /// The head's place in the slot's tree.
    pub pool_proof: PoolProof,
    /// The leaf's place in the log, with a checkpoint.
    pub log_proof: LogProof,
}

/// The parts of an evidence file. Documents are kept as their bytes: each is hashed by its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EvidenceFile {
    pub head: Part,
    pub leaf: Part,
    pub pool_proof: PoolProof,
    pub stated: Stated,
    pub snapshot: Part,
    pub state: Part,
}

impl Wire for EvidenceFile {
    fn read(json: &Json<'_>) -> Result<Self, String> {
        let mut fields = Fields::of(json)?;
        let _: u32 = fields.take("v")?;
        let result: Option<EvidenceResult> = fields.take_or_default("result")?;
        let refusal: Option<EvidenceRefusal> = fields.take_or_default("refusal")?;
        let read = Self {
            head: fields.take("head")?,
            leaf: fields.take("leaf")?,
            stated: Stated {
                log_proof: fields.take("log_proof")?,
                request: fields.take("request")?,
                answer: Answer::of(result, refusal)
                    .ok_or("must have exactly one of `result` and `refusal`")?,
            },
            pool_proof: fields.take("pool_proof")?,
            snapshot: fields.take("snapshot")?,
            state: fields.take("state")?,
        };
        fields.end()?;
        Ok(read)
    }

    fn write(&self) -> Json<'_> {
        let (name, answer) = self.stated.answer.write();
        let fields = [
            ("v", Json::Number(VERSION.to_string().into())),
            ("head", self.head.write()),
            ("leaf", self.leaf.write()),
            ("log_proof", self.stated.log_proof.write()),
            ("pool_proof", self.pool_proof.write()),
            ("request", self.stated.request.write()),
            (name, answer),
            ("snapshot", self.snapshot.write()),
            ("state", self.state.write()),
        ];
        Json::Object(fields.map(|(name, json)| (name.into(), json)).into())
    }
}

impl EvidenceFile {
    /// Reads untrusted bytes that were parsed, which must be the canonical ones, and the snapshot in
    /// them.
    pub fn from_parsed(
        json: &Json<'_>,
        bytes: &[u8],
    ) -> Result<(Self, Result<ReadSnapshot, SnapshotError>), DocumentError> {
        check_version(json, bytes, "an evidence file")?;
        let file = Self::read(json).map_err(DocumentError::Shape)?;
        check_canonical(&to_canonical(&file)?, bytes)?;
        // Most of the file, and parsed with it.
        let part = |name| json.field(name).unwrap_or(&Json::Null);
        let (pool, snapshot, state) = (&file.stated.request.pool, &file.snapshot.0, &file.state.0);
        let snapshot =
            Snapshot::from_parsed(pool, part("snapshot"), snapshot, part("state"), state);
        Ok((file, snapshot))
    }
}

/// The bytes of an evidence file. `head` is canonical bytes, as they are stored.
pub fn write_evidence(
    request: &EvidenceRequest,
    answer: &Answer,
    snapshot: &SnapshotDocuments,
    head: &[u8],
    proof: &HeadProof,
) -> Result<Vec<u8>, DocumentError> {
    to_canonical(&EvidenceFile {
        head: Part::of(head)?,
        leaf: Part::of(&proof.leaf)?,
        stated: Stated {
            log_proof: proof.log_proof.to_text(),
            request: request.clone(),
            answer: answer.clone(),
        },
        pool_proof: proof.pool_proof.clone(),
        snapshot: Part::of(&snapshot.snapshot)?,
        state: Part::of(&snapshot.state)?,
    })
}
