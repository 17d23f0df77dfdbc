//! Evidence files: one canonical JSON document with everything that determines a result, and the proofs that lead to a
//! signed checkpoint.

use super::contents::EvidenceStatement;
use super::result::{Answer, EvidenceRefusal, EvidenceRequest, EvidenceResult};
use crate::json::{
    DocumentError, Fields, Json, Part, VERSION, Wire, check_canonical, check_version, to_canonical,
    wire_struct,
};
use crate::pools::MAX_STATE_BYTES;
use crate::snapshot::{ReadSnapshot, Snapshot, SnapshotDocuments, SnapshotError};
use crate::tlog::{Hash, LogProof};

/// The largest evidence file that is parsed, in bytes: the largest state plus an allowance for the other parts.
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

    /// The hashes; `None` if one of them is not 32 bytes of base64.
    pub(super) fn parse_hashes(&self) -> Option<Vec<Hash>> {
        self.hashes.iter().map(|text| Hash::from_base64(text)).collect()
    }
}

/// The proof that leads from a head to a signed checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadProof {
    /// The canonical bytes of the slot's leaf.
    pub leaf: Vec<u8>,
    /// The proof of the head's place in the slot's tree.
    pub pool_proof: PoolProof,
    /// The proof of the leaf's place in the log, with a checkpoint.
    pub log_proof: LogProof,
}

/// The parts of an evidence file. Documents are kept as bytes, because each is hashed separately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EvidenceFile {
    pub head: Part,
    pub leaf: Part,
    pub pool_proof: PoolProof,
    pub stated: EvidenceStatement,
    pub snapshot: Part,
    pub state: Part,
}

impl Wire for EvidenceFile {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        let mut fields = Fields::from_json(json)?;
        let _: u32 = fields.take_field("v")?;
        let result: Option<EvidenceResult> = fields.take_or_default("result")?;
        let refusal: Option<EvidenceRefusal> = fields.take_or_default("refusal")?;
        let read = Self {
            head: fields.take_field("head")?,
            leaf: fields.take_field("leaf")?,
            stated: EvidenceStatement {
                log_proof: fields.take_field("log_proof")?,
                request: fields.take_field("request")?,
                answer: Answer::from_either(result, refusal)
                    .ok_or("must have exactly one of `result` and `refusal`")?,
            },
            pool_proof: fields.take_field("pool_proof")?,
            snapshot: fields.take_field("snapshot")?,
            state: fields.take_field("state")?,
        };
        fields.end()?;
        Ok(read)
    }

    fn to_json(&self) -> Json<'_> {
        let (name, answer) = self.stated.answer.to_field();
        let fields = [
            ("v", Json::Number(VERSION.to_string().into())),
            ("head", self.head.to_json()),
            ("leaf", self.leaf.to_json()),
            ("log_proof", self.stated.log_proof.to_json()),
            ("pool_proof", self.pool_proof.to_json()),
            ("request", self.stated.request.to_json()),
            (name, answer),
            ("snapshot", self.snapshot.to_json()),
            ("state", self.state.to_json()),
        ];
        Json::Object(fields.map(|(name, json)| (name.into(), json)).into())
    }
}

impl EvidenceFile {
    /// Reads an evidence file and its snapshot from untrusted, parsed bytes, which must be in canonical form.
    pub fn from_parsed(
        json: &Json<'_>,
        bytes: &[u8],
    ) -> Result<(Self, Result<ReadSnapshot, SnapshotError>), DocumentError> {
        check_version(json, bytes, "an evidence file")?;
        let file = Self::from_json(json).map_err(DocumentError::Shape)?;
        check_canonical(&to_canonical(&file)?, bytes)?;
        // The snapshot is most of the file, so it is taken from the same parse.
        let part = |name| json.field(name).unwrap_or(&Json::Null);
        let (pool, snapshot, state) = (&file.stated.request.pool, &file.snapshot.0, &file.state.0);
        let snapshot =
            Snapshot::from_parsed(pool, part("snapshot"), snapshot, part("state"), state);
        Ok((file, snapshot))
    }
}

/// The bytes of an evidence file. `head` is its stored canonical bytes.
pub fn write_evidence(
    request: &EvidenceRequest,
    answer: &Answer,
    snapshot: &SnapshotDocuments,
    head: &[u8],
    proof: &HeadProof,
) -> Result<Vec<u8>, DocumentError> {
    to_canonical(&EvidenceFile {
        head: Part::from_bytes(head)?,
        leaf: Part::from_bytes(&proof.leaf)?,
        stated: EvidenceStatement {
            log_proof: proof.log_proof.to_text(),
            request: request.clone(),
            answer: answer.clone(),
        },
        pool_proof: proof.pool_proof.clone(),
        snapshot: Part::from_bytes(&snapshot.snapshot)?,
        state: Part::from_bytes(&snapshot.state)?,
    })
}
