//! Verification: the claims of an evidence file or a published log, and the results of the checks.

use exitgap_core::evidence::{
    Answer, CheckName, Evidence, EvidenceRequest, EvidenceStatement, Outcome, Policy,
    RecomputeError, Report, ResultError, Verdict,
};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::ChainKind;
use exitgap_core::tlog::{Checkpoint, Fork, ForkError, Hash, LogProof, ProvenFork};
use serde::{Deserialize, Serialize};

use crate::log_age::LogAge;
use crate::{Problem, ProblemCode, SlotsAfterClock};

/// The claims of an evidence file. They are not checked: every field may be false.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Claim {
    /// The pool.
    pub pool: String,
    /// The slot number.
    pub slot: u64,
    /// The time of the slot, RFC 3339. Absent if the number is not a valid slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slot_time: Option<String>,
    /// The token sold: `token0` or `token1`.
    pub base: String,
    /// The size in USD as the file spells it, up to 40 characters.
    pub size_usd: String,
    /// The gap in percent as the file spells it. Absent if the file states a refusal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_gap_pct: Option<String>,
    /// Why the size cannot be filled, as the file spells it. Absent if the file states a result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<String>,
    /// `live` or `preview`: as the file spells it, or if the file states a refusal, that of its
    /// snapshot's chain.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<String>,
    /// The CAIP-2 id of the snapshot's chain. Absent if the snapshot cannot be read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chain: Option<String>,
    /// The hash of the chain's block 0, if the snapshot is live because its operator configured
    /// that hash. No check shows which network that is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub genesis_hash: Option<String>,
}

/// The maximum length of a claimed text that is repeated. Honest texts are shorter.
const MAX_CLAIMED_CHARS: usize = 40;

impl Claim {
    /// The claims of an evidence file. `None` if the file cannot be read.
    pub fn from_evidence(evidence: &Evidence) -> Option<Self> {
        let EvidenceStatement { request, answer, .. } = evidence.statement()?;
        let chain = evidence.snapshot().map(|snapshot| snapshot.observation().chain());
        let kind = chain.map(|chain| chain.kind);
        let cut = |text: &String| {
            let end = text.char_indices().nth(MAX_CLAIMED_CHARS).map(|(end, _)| end);
            text[..end.unwrap_or(text.len())].to_owned()
        };
        let (gap, status, refusal) = match answer {
            Answer::Result(result) => (Some(&result.exit_gap_pct), Some(&result.status), None),
            Answer::Refusal(refusal) => (None, None, Some(&refusal.code)),
        };
        Some(Self {
            pool: request.pool.to_string(),
            slot: request.slot,
            slot_time: Slot::new(request.slot).ok().map(|slot| slot.to_string()),
            base: request.base.code().to_owned(),
            size_usd: cut(&request.size_usd),
            exit_gap_pct: gap.map(cut),
            refusal: refusal.map(cut),
            status: status.map(cut).or_else(|| kind.map(|kind| kind.code().to_owned())),
            chain: chain.map(|chain| chain.caip2.to_string()),
            genesis_hash: kind.and_then(ChainKind::configured_genesis).map(|hash| hash.to_string()),
        })
    }
}

/// Two signed checkpoints that cannot both belong to one log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Contradiction {
    /// Both checkpoints in full, the one seen before first.
    pub checkpoints: [String; 2],
    /// What the two prove, and what else must be stored to prove it.
    pub proves: String,
    /// A file that proves it to anyone with the log's key. `exitgap verify` reads it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fork: Option<String>,
}

/// The result of verifying an evidence file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerificationReport {
    /// The claims of the file. Absent if nothing in it is readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// The verdict and every check.
    #[serde(flatten)]
    pub report: Report,
    /// Proof of misbehaviour, if the verification found one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<Contradiction>,
}

impl VerificationReport {
    /// Verifies a parsed evidence file. If its checkpoint contradicts one seen before, and both have the same size, it
    /// reports two logs: the two texts alone prove it.
    pub fn from_evidence(evidence: &Evidence, policy: &Policy) -> Self {
        Self::beside_tiles(evidence, policy, false)
    }

    /// The same. If `tiles` of the log were available to build the proof between the two checkpoints, it also reports
    /// two logs of which the larger does not extend the smaller.
    pub fn beside_tiles(evidence: &Evidence, policy: &Policy, tiles: bool) -> Self {
        let report = evidence.verify(policy);
        let contradiction = Contradiction::from_evidence(evidence, policy, &report, tiles);
        Self { claim: Claim::from_evidence(evidence), report, contradiction }
    }
}

impl Contradiction {
    /// Two logs of the same size.
    pub const SPLIT_VIEW: &str = "two different logs of one size are signed with this log's name; \
                                  these two texts alone prove it";

    /// Two logs that do not belong to one history.
    pub const REWRITTEN: &str = "the log's tiles lead to the larger checkpoint but not to the \
                                 smaller one; with a copy of the tiles, these two texts prove \
                                 that history was rewritten";

    /// The contradiction between the checkpoint seen before and the file's, if both are signed.
    fn from_evidence(
        evidence: &Evidence,
        policy: &Policy,
        report: &Report,
        tiles: bool,
    ) -> Option<Self> {
        let check = |name| report.check(name);
        if check(CheckName::Signature)?.outcome != Outcome::Pass {
            return None;
        }
        let proves = match check(CheckName::Consistency)?.code {
            "split_view" => Self::SPLIT_VIEW,
            "history_rewritten" if tiles => Self::REWRITTEN,
            _ => return None,
        };
        let signed = LogProof::from_text(&evidence.statement()?.log_proof).ok()?.checkpoint;
        let seen = policy.seen.as_ref()?;
        let of_one_size = proves == Self::SPLIT_VIEW;
        let found = Self::from_notes(seen.note.clone(), signed, proves);
        Some(if of_one_size { found.with_fork(Vec::new(), None) } else { found })
    }

    /// The contradiction between two notes, the one seen before first.
    pub fn from_notes(seen: String, found: String, proves: &str) -> Self {
        Self { checkpoints: [seen, found], proves: proves.to_owned(), fork: None }
    }

    /// Adds the file that proves it: the root that the second log has over as many leaves as the first log has, and the
    /// proof from there to the second checkpoint. Without a root, both logs have the same size.
    #[must_use]
    pub fn with_fork(mut self, proof: Vec<Hash>, root: Option<Hash>) -> Self {
        let of_second = || Checkpoint::from_note(&self.checkpoints[1]).ok().map(|(of, _)| of.root);
        let fork = root.or_else(of_second).map(|root| Fork {
            checkpoints: self.checkpoints.clone(),
            proof,
            root,
        });
        let file = fork.and_then(|fork| fork.to_canonical().ok());
        self.fork = file.and_then(|bytes| String::from_utf8(bytes).ok());
        self
    }
}

/// The data of an evidence file, and the result that follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recomputation {
    /// The request.
    pub request: EvidenceRequest,
    /// The result or refusal that follows from the file's snapshot and head.
    pub computed: Answer,
    /// The result or refusal that the file states.
    pub published: Answer,
    /// Whether the two are the same.
    pub agrees: bool,
}

impl Recomputation {
    /// Recomputes the result of an evidence file. No hash and no signature is checked.
    pub fn from_evidence(evidence: &Evidence) -> Result<Self, Problem> {
        let found = evidence.recompute().map_err(|error| match &error {
            RecomputeError::Result(ResultError::Refused(refusal)) => Problem::from(refusal),
            RecomputeError::Result(ResultError::Newer(_) | ResultError::MethodVersion) => {
                Problem::new(ProblemCode::UnknownMethodVersion, error.to_string())
            }
            RecomputeError::Result(ResultError::Size { .. }) => {
                Problem::new(ProblemCode::InvalidParameter, error.to_string()).field("size_usd")
            }
            _ => Problem::new(ProblemCode::SourceUnreadable, format!("evidence: {error}"))
                .field("evidence"),
        })?;
        let agrees = found.computed == found.published;
        let (request, computed, published) = (found.request, found.computed, found.published);
        Ok(Self { request, computed, published, agrees })
    }
}

/// The first error in the replay of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditFault {
    /// A stable code.
    pub code: &'static str,
    /// One sentence with the expected and the found value.
    pub detail: String,
    /// The slot number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
    /// The time of the slot, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_time: Option<String>,
    /// The pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
}

/// The result of replaying a published log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// `valid`: everything is valid and signed by a key that the caller trusts; `invalid`:
    /// something is not valid; `incomplete`: no error was found, but the key is the folder's own,
    /// or a later version of exitgap wrote a part.
    pub verdict: Verdict,
    /// The log, `<name>/<first slot>`.
    pub origin: String,
    /// The verifier keys that checked the signatures.
    pub keys: Vec<String>,
    /// Whether the caller gave these keys. If not, they are the folder's own.
    pub keys_trusted: bool,
    /// Slots that the newest checkpoint commits to.
    pub size: u64,
    /// The root of the newest checkpoint, base64.
    pub root: String,
    /// Slots found valid, from the log's first slot on.
    pub slots: u64,
    /// The newest of those slots, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_slot: Option<String>,
    /// The contents of those slots.
    #[serde(flatten)]
    pub counts: AuditedCounts,
    /// The previous log that this log continues, `<origin> <size> <base64 root>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predecessor: Option<String>,
    /// Extension lines of the newest checkpoint.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// The log that continues this one, which has ended. Nothing signs this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Files in the folder that nothing signed commits to. Absent if there are none, or if there is a fault: then not all
    /// files could be looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsigned: Option<UnsignedFiles>,
    /// How old the newest slot is by the clock of this machine. Absent unless the log was copied from a service just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<LogAge>,
    /// State proofs published with the log. Absent if there are none and none are due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proofs: Option<AuditedProofs>,
    /// The size of the checkpoint seen before, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_size: Option<u64>,
    /// Slots that the newest checkpoint commits to although their time has not come by the clock
    /// of this machine. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_clock: Option<SlotsAfterClock>,
    /// The first error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<AuditFault>,
    /// Proof of misbehaviour, if the replay found one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<Contradiction>,
}

/// Files in a log's folder that neither the log commits to nor carry proofs or signatures of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct UnsignedFiles {
    /// How many there are.
    pub count: u64,
    /// The first of them, at most 100, by their paths.
    pub names: Vec<String>,
    /// How many files this audit does not check although they are signed or can be proven: closed days, anchors, and what
    /// was compared with other logs.
    pub checked_elsewhere: u64,
}

/// What an audit checked and found valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AuditedCounts {
    /// Pools that had a head.
    pub pools: u64,
    /// Heads.
    pub heads: u64,
    /// Snapshots, each recomputed.
    pub snapshots: u64,
    /// Slots of pools that are missing or retired.
    pub without_snapshot: u64,
    /// Retracted slots of pools.
    pub retracted: u64,
    /// Heads and snapshots that only a later version of exitgap understands completely.
    pub unsupported: u64,
}

/// The result of checking a closed day with its own files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DayReport {
    /// The same values as for a whole log. Also `incomplete` if files of the day are missing here.
    pub verdict: Verdict,
    /// The log, `<name>/<first slot>`. Absent if the manifest cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The day, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// The verifier keys that checked the signatures.
    pub keys: Vec<String>,
    /// Whether the caller gave these keys. If not, they are the manifest's own.
    pub keys_trusted: bool,
    /// Slots with valid heads, leaf and checkpoint.
    pub slots: u64,
    /// The valid contents, each head with its row of figures.
    #[serde(flatten)]
    pub counts: AuditedCounts,
    /// How many days the signed log of days has. Absent if it does not commit to this day, or is
    /// not next to the day's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_of_days: Option<u64>,
    /// Columns that were not checked in every row. The verdict is not `valid` if there are any.
    pub unchecked: Vec<UncheckedColumns>,
    /// The first error or missing file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<AuditFault>,
}

/// Columns of a closed day, or fields of its manifest, that an audit did not check in every row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UncheckedColumns {
    /// `figures`, `slots` or `manifest`.
    pub file: &'static str,
    /// Their names.
    pub columns: Vec<String>,
    /// `days_before`, `day_after`: these days are needed; `log_of_days`: the signed log of days is.
    pub reason: &'static str,
    /// What is needed, in words.
    pub detail: String,
}

/// Closed days that were downloaded and compared with the log of days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportReport {
    /// `valid`: every file has the bytes that the log of days commits to, signed by a key that the
    /// caller trusts; `incomplete`: signed by the log's own key; `invalid`: something does not
    /// match, and is not stored.
    pub verdict: Verdict,
    /// What does not match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The log of days, `<name>/days/<first slot>`. Absent if it is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The log's keys that checked its signature.
    pub keys: Vec<String>,
    /// Whether the caller gave these keys. If not, they are the log's own.
    pub keys_trusted: bool,
    /// Days that its checkpoint covers.
    pub days_closed: u64,
    /// Days of the period.
    pub days: u64,
    /// The files of those days, including manifests.
    pub files: u64,
    /// The number of files that were already here.
    pub kept: u64,
    /// The total size in bytes.
    pub bytes: u64,
    /// The rows of pools and slots in them.
    pub rows: u64,
    /// Rows of snapshots and figures checked per second.
    pub rows_per_s: u64,
    /// The folder of the files.
    pub out: String,
}

/// State proofs published with a log, compared with its snapshots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct AuditedProofs {
    /// Proofs checked: those in the folder, and those sampled from a copy.
    pub published: u64,
    /// Proofs that confirm the log.
    pub hold: u64,
    /// Proofs that contradict the log under the same block. Each shows that something signed was
    /// false.
    pub differ: u64,
    /// Proofs that prove nothing about the log: broken, for another block, or less than their names
    /// promise.
    pub unusable: u64,
    /// Proofs of whole pools that were sampled.
    pub due: u64,
    /// The number of sampled proofs that are present.
    pub present: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use exitgap_core::evidence::MAX_EVIDENCE_BYTES;

    fn claim_of(bytes: &[u8]) -> Option<Claim> {
        Claim::from_evidence(&Evidence::from_bytes(bytes))
    }

    #[test]
    fn what_is_no_evidence_file_claims_nothing() {
        for bytes in [&b""[..], b"{}", b"[1]", b"{\"request\":{},\"result\":{}}", b"\xff"] {
            assert_eq!(claim_of(bytes), None);
        }
        assert_eq!(claim_of(&vec![b' '; MAX_EVIDENCE_BYTES + 1]), None);
    }

    #[test]
    fn no_claim_is_repeated_at_a_length_that_none_has() {
        let vector = include_str!("../../../tests/vectors/evidence/true_constant_product.json");
        let vector: serde_json::Value = serde_json::from_str(vector).unwrap();
        let mut file: serde_json::Value =
            serde_json::from_str(vector["evidence"].as_str().unwrap()).unwrap();
        let long = "\u{e9}".repeat(1 << 18);
        file["request"]["size_usd"] = long.clone().into();
        file["result"]["exit_gap_pct"] = long.clone().into();
        file["result"]["status"] = long.into();
        let claim = claim_of(&serde_json::to_vec(&file).unwrap()).unwrap();
        for text in [Some(claim.size_usd), claim.exit_gap_pct, claim.status] {
            assert_eq!(text, Some("\u{e9}".repeat(40)));
        }
    }
}

/// Whether a file proves that the holder of a log's key signed two histories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForkReport {
    /// `valid`: the file proves it. `incomplete`: no trusted key signed.
    pub verdict: Verdict,
    /// The log that both checkpoints are signed for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// The number of slots in each, the smaller first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<[u64; 2]>,
    /// The roots over as many slots as the first has: in the first log and in the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<[String; 2]>,
    /// What the file proves, or why it proves nothing.
    pub why: String,
}

impl ForkReport {
    /// The report for the result of judging a file. `no_key`: the caller gave no key.
    pub fn from_result(judged: Result<ProvenFork, ForkError>, no_key: bool) -> Self {
        match judged {
            Ok(ProvenFork { origin, sizes, roots }) => Self {
                verdict: Verdict::Valid,
                log: Some(origin.to_string()),
                sizes: Some(sizes),
                roots: Some(roots.map(|root| root.to_string())),
                why: "two histories are signed in this log's name".to_owned(),
            },
            Err(error) => {
                let unsigned = no_key && matches!(error, ForkError::NotSigned { .. });
                let verdict = if unsigned { Verdict::Incomplete } else { Verdict::Invalid };
                let hint = if unsigned { ": name the log's key with --trust" } else { "" };
                let why = format!("{error}{hint}");
                Self { verdict, log: None, sizes: None, roots: None, why }
            }
        }
    }
}
