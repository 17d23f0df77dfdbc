//! The result of verifying a figure file.

use serde::{Serialize, Serializer};

use super::claim::FigureClaim;
use crate::Newer;
use crate::evidence::{Outcome, Verdict};

/// The checks of a figure file, in the order in which they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FigureCheckName {
    /// The file is a canonical document of version 1, and its figure and the version of its rules are known.
    Format,
    /// The head windows cover the period without a gap, and the last head of each is proven to be in its log.
    Windows,
    /// A trusted key signed the checkpoint of each window, and all belong to one log.
    Signature,
    /// Every head is the one that its slot's leaf committed to. This check needs the log's leaves.
    SealedLeaves,
    /// The snapshots used are exactly those of all recorded, unretracted slots of the period.
    Uses,
    /// Each snapshot has the hash that its head names, and is for its slot and pool.
    Snapshots,
    /// The recomputed result equals the published one.
    Result,
}

impl FigureCheckName {
    /// Every check, in order.
    pub const ALL: [Self; 7] = [
        Self::Format,
        Self::Windows,
        Self::Signature,
        Self::SealedLeaves,
        Self::Uses,
        Self::Snapshots,
        Self::Result,
    ];

    /// Its name in a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Windows => "windows",
            Self::Signature => "signature",
            Self::SealedLeaves => "sealed_leaves",
            Self::Uses => "uses",
            Self::Snapshots => "snapshots",
            Self::Result => "result",
        }
    }

    /// Whether the verdict can be `valid` only if this check passes.
    pub fn is_required(self) -> bool {
        self != Self::SealedLeaves
    }
}

impl Serialize for FigureCheckName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FigureCheck {
    /// The name of the check.
    pub name: FigureCheckName,
    /// Its outcome.
    pub outcome: Outcome,
    /// A stable code: `ok`, or the cause of the failure or omission.
    pub code: &'static str,
    /// The value that would have passed.
    pub expected: String,
    /// The value found, cut to 1,000 characters.
    pub found: String,
}

impl FigureCheck {
    const MAX_FOUND_CHARS: usize = 1_000;

    fn new(
        name: FigureCheckName,
        outcome: Outcome,
        code: &'static str,
        expected: String,
        found: String,
    ) -> Self {
        let cut = |text: String| text.chars().take(Self::MAX_FOUND_CHARS).collect();
        Self { name, outcome, code, expected: cut(expected), found: cut(found) }
    }

    pub(super) fn pass(name: FigureCheckName, found: String) -> Self {
        Self::new(name, Outcome::Pass, "ok", found.clone(), found)
    }

    pub(super) fn fail(
        name: FigureCheckName,
        code: &'static str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::new(name, Outcome::Fail, code, expected.into(), found.into())
    }

    pub(super) fn not_checked(name: FigureCheckName, code: &'static str, needs: &str) -> Self {
        Self::new(name, Outcome::NotChecked, code, needs.to_owned(), "absent".to_owned())
    }

    pub(super) fn newer(name: FigureCheckName, newer: Newer) -> Self {
        let expected = "a known value of this version".to_owned();
        Self::new(name, Outcome::NotChecked, newer.code(), expected, newer.to_string())
    }
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FigureReport {
    /// What the file states that it is of; `None` where it is not readable. Only the checks show whether that holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<FigureClaim>,
    /// The verdict.
    pub verdict: Verdict,
    /// Every check, in order.
    pub checks: Vec<FigureCheck>,
}

impl FigureReport {
    pub(super) fn new(claim: Option<FigureClaim>, checks: Vec<FigureCheck>) -> Self {
        Self { claim, verdict: verdict_of(&checks), checks }
    }

    /// Takes the check of sealed leaves from another report on the same file, where that made it.
    pub fn take_sealed(&mut self, other: &Self) {
        const NAME: FigureCheckName = FigureCheckName::SealedLeaves;
        let own = self.checks.iter_mut().find(|check| check.name == NAME);
        if let (Some(own), Some(other)) = (own, other.check(NAME)) {
            *own = other.clone();
        }
        self.verdict = verdict_of(&self.checks);
    }

    /// The check of this name.
    pub fn check(&self, name: FigureCheckName) -> Option<&FigureCheck> {
        self.checks.iter().find(|check| check.name == name)
    }
}

fn verdict_of(checks: &[FigureCheck]) -> Verdict {
    let passes = |check: &FigureCheck| check.outcome == Outcome::Pass || !check.name.is_required();
    if checks.iter().any(|check| check.outcome == Outcome::Fail) {
        Verdict::Invalid
    } else if checks.iter().all(passes) {
        Verdict::Valid
    } else {
        Verdict::Incomplete
    }
}
