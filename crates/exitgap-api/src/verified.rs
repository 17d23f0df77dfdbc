//! Evidence that was verified for somebody: what came of it, who did it and by whose keys.

use exitgap_core::evidence::{Check, Outcome, Verdict};
use serde::{Deserialize, Serialize};

use crate::{Claim, Contradiction, SlotState, SlotStatus, VerificationReport};

/// Where evidence was verified, and so whose word the verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum VerifiedBy {
    /// By the service that published it: a convenience, no independent check.
    Operator,
    /// By this program, on the caller's own machine.
    Here,
}

/// Why the keys count that the verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum KeysFrom {
    /// The caller named them.
    Named,
    /// They were kept from an earlier run.
    Kept,
    /// The service named them just now, and nothing was known before.
    FirstUse,
    /// They are those of the recorder whose database was asked.
    Own,
}

/// How the log's newest checkpoint stands to one seen before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum LogContinuity {
    /// Nothing of this log was seen before.
    FirstSeen,
    /// It continues what was seen.
    Continues,
    /// The two could not be compared.
    NotCompared,
    /// The two cannot both be the log's.
    Contradicts,
}

/// One check of an evidence file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VerifiedCheck {
    /// Which check.
    pub name: String,
    /// `pass`, `fail` or `not_checked`.
    pub outcome: String,
    /// A stable code: `ok`, or what failed or was absent.
    pub code: String,
    /// What would have passed; absent where it passes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected: Option<String>,
    /// What was found.
    pub found: String,
}

/// What verifying the evidence at an address found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VerifiedEvidence {
    /// `valid`: the number follows from a log that a trusted key signed. `invalid`: it does not.
    /// `incomplete`: nothing is wrong, but not everything could be checked.
    pub verdict: String,
    /// Whose word the verdict is.
    pub verified_by: VerifiedBy,
    /// The evidence that was verified.
    pub evidence_url: String,
    /// What the file says of itself; absent where it says nothing readable.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub claim: Option<Claim>,
    /// Every check, in order.
    pub checks: Vec<VerifiedCheck>,
    /// Keys whose signature counted.
    pub keys: Vec<String>,
    /// Why they did.
    pub keys_from: KeysFrom,
    /// How the log stands to what was seen of it before; absent where the file was verified alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub continuity: Option<LogContinuity>,
    /// Whether the slot was taken back since, as far as it could be asked: its evidence stays valid,
    /// and no later figure counts it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub taken_back: Option<bool>,
    /// Proof of misbehaviour, where the verification came upon one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub contradiction: Option<Contradiction>,
}

impl VerifiedEvidence {
    /// The document of a report.
    pub fn of(
        evidence_url: impl Into<String>,
        report: VerificationReport,
        verified_by: VerifiedBy,
        (keys, keys_from): (Vec<String>, KeysFrom),
    ) -> Self {
        let VerificationReport { claim, report, contradiction } = report;
        Self {
            verdict: verdict(report.verdict).to_owned(),
            verified_by,
            evidence_url: evidence_url.into(),
            claim,
            checks: report.checks.iter().map(VerifiedCheck::from).collect(),
            keys,
            keys_from,
            continuity: None,
            taken_back: None,
            contradiction,
        }
    }

    /// With what became of the slot since.
    #[must_use]
    pub fn since(self, status: &SlotStatus) -> Self {
        Self { taken_back: Some(status.state == SlotState::Retracted), ..self }
    }
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "valid",
        Verdict::Invalid => "invalid",
        Verdict::Incomplete => "incomplete",
    }
}

impl From<&Check> for VerifiedCheck {
    fn from(check: &Check) -> Self {
        let (outcome, passes) = match check.outcome {
            Outcome::Pass => ("pass", true),
            Outcome::Fail => ("fail", false),
            Outcome::NotChecked => ("not_checked", false),
        };
        Self {
            name: crate::check_name(check.name).to_owned(),
            outcome: outcome.to_owned(),
            code: check.code.to_owned(),
            expected: (!passes).then(|| check.expected.clone()),
            found: check.found.clone(),
        }
    }
}
