//! Verification: what an evidence file or a published log claims, and what checking
//! it found.

use exitgap_core::evidence::{
    EvidenceRequest, EvidenceResult, MAX_EVIDENCE_BYTES, Report, Verdict,
};
use exitgap_core::series::Slot;
use serde::{Deserialize, Serialize};

/// What an evidence file says of itself. Nothing of it is checked: it may be false
/// in every field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The pool.
    pub pool: String,
    /// The slot's number.
    pub slot: u64,
    /// The slot's instant, RFC 3339; absent where the number is no slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slot_time: Option<String>,
    /// The token sold: `token0` or `token1`.
    pub base: String,
    /// The size in USD, as the file spells it.
    pub size_usd: String,
    /// The gap in percent, as the file spells it.
    pub exit_gap_pct: String,
    /// `live` or `preview`, as the file spells it.
    pub status: String,
}

#[derive(Deserialize)]
struct Stated {
    request: EvidenceRequest,
    result: EvidenceResult,
}

impl Claim {
    /// Reads the claim of an evidence file; `None` where the bytes hold none.
    pub fn of(evidence: &[u8]) -> Option<Self> {
        let whole = Some(evidence).filter(|bytes| bytes.len() <= MAX_EVIDENCE_BYTES)?;
        let Stated { request, result } = serde_json::from_slice(whole).ok()?;
        let base = serde_json::to_value(request.base).ok()?;
        Some(Self {
            pool: request.pool.to_string(),
            slot: request.slot,
            slot_time: Slot::new(request.slot).ok().map(|slot| slot.to_string()),
            base: base.as_str()?.to_owned(),
            size_usd: request.size_usd,
            exit_gap_pct: result.exit_gap_pct,
            status: result.status,
        })
    }
}

/// Two signed checkpoints that cannot both be states of one log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradiction {
    /// Both checkpoints whole, the one seen before first.
    pub checkpoints: [String; 2],
    /// What the two prove, and what else must be kept to prove it.
    pub proves: String,
}

/// What verifying an evidence file found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerificationReport {
    /// What the file says of itself; absent where it says nothing readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// The verdict and every check.
    #[serde(flatten)]
    pub report: Report,
    /// Proof of misbehaviour, where the verification came upon one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<Contradiction>,
}

/// The first thing that a log's replay found wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditFault {
    /// A stable code.
    pub code: &'static str,
    /// One sentence for people, with what was expected and found.
    pub detail: String,
    /// The slot's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
    /// The slot's instant, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_time: Option<String>,
    /// The pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
}

/// What replaying a published log found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// `valid`: all holds, signed by a key the caller trusts; `invalid`: something
    /// does not hold; `incomplete`: all holds, by the folder's own key only.
    pub verdict: Verdict,
    /// The log, `<name>/<first slot>`.
    pub origin: String,
    /// The verifier keys that signatures were checked by.
    pub keys: Vec<String>,
    /// Whether the caller named these keys; else they are the folder's own.
    pub keys_trusted: bool,
    /// Slots that the newest checkpoint commits to.
    pub size: u64,
    /// The newest checkpoint's root, base64.
    pub root: String,
    /// Slots found to hold, from the log's first on.
    pub slots: u64,
    /// The newest of them, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_slot: Option<String>,
    /// Pools that had a head in them.
    pub pools: u64,
    /// Heads in them.
    pub heads: u64,
    /// Snapshots in them, each recomputed.
    pub snapshots: u64,
    /// Slots of pools that are missing or retired.
    pub without_snapshot: u64,
    /// Slots of pools that were taken back.
    pub retracted: u64,
    /// Extension lines of the newest checkpoint: a successor names its predecessor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// The log that follows this one, which has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// The size of the checkpoint seen before, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_size: Option<u64>,
    /// The first thing wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<AuditFault>,
    /// Proof of misbehaviour, where the replay came upon one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<Contradiction>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_evidence_file_claims_nothing() {
        for bytes in [&b""[..], b"{}", b"[1]", b"{\"request\":{},\"result\":{}}", b"\xff"] {
            assert_eq!(Claim::of(bytes), None);
        }
        assert_eq!(Claim::of(&vec![b' '; MAX_EVIDENCE_BYTES + 1]), None);
    }
}
