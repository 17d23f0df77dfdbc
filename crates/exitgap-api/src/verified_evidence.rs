//! The result of verifying evidence for a caller, with the verifier and the keys used.

use exitgap_core::evidence::{Check, Outcome, Verdict};
use serde::{Deserialize, Serialize};

use crate::{Claim, Contradiction, SlotState, SlotStatus, VerificationReport};

/// Where evidence was verified, and so who states the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum VerifiedBy {
    /// Verified by the service that published it: convenient, but not an independent check.
    Operator,
    /// By this program, on the caller's own machine.
    Here,
}

/// Why the keys behind the verdict are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum KeysFrom {
    /// The caller gave them.
    Named,
    /// They were stored in an earlier run.
    Kept,
    /// The service gave them just now, and no earlier keys were known.
    FirstUse,
    /// They are the keys of the recorder whose database was used.
    Own,
}

/// How the log's newest checkpoint relates to a checkpoint seen before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum LogContinuity {
    /// No checkpoint of this log was seen before.
    FirstSeen,
    /// The log continues the checkpoint seen before.
    Continues,
    /// The two could not be compared.
    NotCompared,
    /// The two checkpoints cannot both belong to the log.
    Contradicts,
}

/// One check of an evidence file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VerifiedCheck {
    /// The name of the check.
    pub name: String,
    /// `pass`, `fail` or `not_checked`.
    pub outcome: String,
    /// A stable code: `ok`, or what failed or was missing.
    pub code: String,
    /// The value that would have passed. Absent if the check passes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected: Option<String>,
    /// The value found.
    pub found: String,
}

/// The result of verifying the evidence at a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VerifiedEvidence {
    /// `valid`: the number follows from a log that a trusted key signed. `invalid`: the number does
    /// not. `incomplete`: no error was found, but not everything could be checked.
    pub verdict: String,
    /// Who states the verdict.
    pub verified_by: VerifiedBy,
    /// The evidence that was verified.
    pub evidence_url: String,
    /// The claims of the file. Absent if nothing in it is readable.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub claim: Option<Claim>,
    /// Every check, in order.
    pub checks: Vec<VerifiedCheck>,
    /// Keys with a signature that counted.
    pub keys: Vec<String>,
    /// Why these keys are trusted.
    pub keys_from: KeysFrom,
    /// How the log relates to a checkpoint seen before. Absent if the file was verified alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub continuity: Option<LogContinuity>,
    /// Whether the slot was retracted since, as far as that could be checked. Its evidence stays
    /// valid, but later figures do not use the slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub taken_back: Option<bool>,
    /// Proof of misbehaviour, if the verification found one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub contradiction: Option<Contradiction>,
}

impl VerifiedEvidence {
    /// The document for a report.
    pub fn from_report(
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

    /// Adds the current status of the slot.
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
