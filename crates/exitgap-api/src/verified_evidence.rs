//! The result of verifying evidence for a caller, with the verifier and the keys used.

use exitgap_core::analytics::figure::{FigureCheck, FigureCheckName, FigureClaim, FigureReport};
use exitgap_core::evidence::{Check, Outcome, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Claim, Contradiction, SlotState, SlotStatus, VerificationReport};

/// Where evidence was verified, and so who states the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifiedBy {
    /// Verified by the service that published it: convenient, but not an independent check.
    Operator,
    /// By this program, on the caller's own machine.
    Here,
}

/// Why the keys behind the verdict are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifiedCheck {
    /// The name of the check.
    pub name: String,
    /// `pass`, `fail` or `not_checked`.
    pub outcome: String,
    /// A stable code: `ok`, or what failed or was missing.
    pub code: String,
    /// The value that would have passed. Absent if the check passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The value found.
    pub found: String,
}

/// What a figure file states. Only the checks show whether that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifiedFigure {
    /// Its rules, pools, period, log and status.
    #[serde(flatten)]
    pub claim: FigureClaim,
    /// What the figure was computed for. Absent if the file's format does not hold, or if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    /// The figure. Absent if it was not recomputed, or if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
}

impl VerifiedFigure {
    /// The most bytes of parameters and of a result that are repeated to a caller.
    const MAX_BYTES: usize = 64 << 10;

    /// What a file states, as far as `report` confirms it: unconfirmed content may be of any size and say anything.
    fn new(file: &[u8], claim: FigureClaim, checks: &[FigureCheck]) -> Self {
        // Without the thousands of snapshots that a file names.
        #[derive(Deserialize)]
        struct Stated {
            parameters: Value,
            result: Value,
        }
        let passes =
            |name| checks.iter().any(|check| check.name == name && check.outcome == Outcome::Pass);
        let is_read = passes(FigureCheckName::Format);
        let stated: Option<Stated> = if is_read { serde_json::from_slice(file).ok() } else { None };
        let short = |value: &Value| value.to_string().len() <= Self::MAX_BYTES;
        let (parameters, result) = stated.map(|stated| (stated.parameters, stated.result)).unzip();
        Self {
            claim,
            parameters: parameters.filter(short),
            result: result.filter(short).filter(|_| passes(FigureCheckName::Result)),
        }
    }
}

/// The result of verifying the evidence at a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifiedEvidence {
    /// `valid`: the number follows from a log that a trusted key signed. `invalid`: the number does
    /// not. `incomplete`: no error was found, but not everything could be checked.
    pub verdict: String,
    /// Who states the verdict.
    pub verified_by: VerifiedBy,
    /// The evidence that was verified.
    pub evidence_url: String,
    /// The claims of the file. Absent if nothing in it is readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// What a figure file states. Absent for evidence of one number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<VerifiedFigure>,
    /// Every check, in order.
    pub checks: Vec<VerifiedCheck>,
    /// Keys with a signature that counted.
    pub keys: Vec<String>,
    /// Why these keys are trusted.
    pub keys_from: KeysFrom,
    /// How the log relates to a checkpoint seen before. Absent if the file was verified alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continuity: Option<LogContinuity>,
    /// Whether the slot was retracted since, as far as that could be checked. Its evidence stays
    /// valid, but later figures do not use the slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<bool>,
    /// Proof of misbehaviour, if the verification found one.
    #[serde(skip_serializing_if = "Option::is_none")]
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
            figure: None,
            checks: report.checks.iter().map(VerifiedCheck::from).collect(),
            keys,
            keys_from,
            continuity: None,
            taken_back: None,
            contradiction,
        }
    }

    /// The document for the report on a figure file.
    pub fn from_figure(
        evidence_url: impl Into<String>,
        (file, report): (&[u8], FigureReport),
        verified_by: VerifiedBy,
        (keys, keys_from): (Vec<String>, KeysFrom),
    ) -> Self {
        let FigureReport { claim, verdict: found, checks } = report;
        Self {
            verdict: verdict(found).to_owned(),
            verified_by,
            evidence_url: evidence_url.into(),
            claim: None,
            figure: claim.map(|claim| VerifiedFigure::new(file, claim, &checks)),
            checks: checks.iter().map(VerifiedCheck::from).collect(),
            keys,
            keys_from,
            continuity: None,
            taken_back: None,
            contradiction: None,
        }
    }

    /// Adds another check, without which the verdict cannot be `valid`.
    #[must_use]
    pub fn with_check(mut self, check: &Check) -> Self {
        match check.outcome {
            Outcome::Fail => verdict(Verdict::Invalid).clone_into(&mut self.verdict),
            Outcome::NotChecked if self.verdict == verdict(Verdict::Valid) => {
                verdict(Verdict::Incomplete).clone_into(&mut self.verdict);
            }
            Outcome::NotChecked | Outcome::Pass => {}
        }
        self.checks.push(check.into());
        self
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

impl VerifiedCheck {
    fn new(name: &str, outcome: Outcome, code: &str, [expected, found]: [&String; 2]) -> Self {
        let (outcome, passes) = match outcome {
            Outcome::Pass => ("pass", true),
            Outcome::Fail => ("fail", false),
            Outcome::NotChecked => ("not_checked", false),
        };
        Self {
            name: name.to_owned(),
            outcome: outcome.to_owned(),
            code: code.to_owned(),
            expected: (!passes).then(|| expected.clone()),
            found: found.clone(),
        }
    }
}

impl From<&Check> for VerifiedCheck {
    fn from(check: &Check) -> Self {
        let Check { name, outcome, code, expected, found } = check;
        Self::new(crate::check_name(*name), *outcome, code, [expected, found])
    }
}

impl From<&FigureCheck> for VerifiedCheck {
    fn from(check: &FigureCheck) -> Self {
        let FigureCheck { name, outcome, code, expected, found } = check;
        Self::new(name.as_str(), *outcome, code, [expected, found])
    }
}
