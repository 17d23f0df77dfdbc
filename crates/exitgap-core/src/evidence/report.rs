//! The result of a verification: named checks and a verdict.

use serde::Serialize;

use crate::Newer;

/// The checks of an evidence file, in the order in which they are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckName {
    /// The file is a canonical document of version 1.
    Format,
    /// The snapshot is well formed, and its hash is the one the head names.
    Snapshot,
    /// The head is well formed, of the requested pool and slot, and made with released rules, and its depths are those
    /// of the snapshot.
    Head,
    /// The slot leaf belongs to the same slot and commits to the head.
    SlotLeaf,
    /// The log commits to the slot leaf at the slot's own index.
    Inclusion,
    /// A trusted key of this log signed the checkpoint.
    Signature,
    /// The checkpoint and one that the caller saw earlier are states of one log.
    Consistency,
    /// A head window leads to this head and proves its window figures. Or it leads from this head to later heads that
    /// the file claims, and none of them retracts the slot.
    Window,
    /// The snapshot is of the requested pool and slot, and its block obeys the rule.
    SlotRule,
    /// The recomputed result equals the published one.
    Result,
}

impl CheckName {
    /// Every check, in order.
    pub const ALL: [Self; 10] = [
        Self::Format,
        Self::Snapshot,
        Self::Head,
        Self::SlotLeaf,
        Self::Inclusion,
        Self::Signature,
        Self::Consistency,
        Self::Window,
        Self::SlotRule,
        Self::Result,
    ];

    /// The checks that `verify` requires by default: all except the two that need more than the file.
    pub const REQUIRED: [Self; 8] = [
        Self::Format,
        Self::Snapshot,
        Self::Head,
        Self::SlotLeaf,
        Self::Inclusion,
        Self::Signature,
        Self::SlotRule,
        Self::Result,
    ];
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The check passes.
    Pass,
    /// It does not hold.
    Fail,
    /// It could not be made, because something that it needs is absent or failed.
    NotChecked,
}

/// One check of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The check.
    pub name: CheckName,
    /// Its outcome.
    pub outcome: Outcome,
    /// A stable code: `ok`, or the cause of the failure or omission.
    pub code: &'static str,
    /// The value that would have passed.
    pub expected: String,
    /// The value found. Text from the file is cut to 1,000 characters.
    pub found: String,
}

/// The most characters of untrusted text that a report repeats. Honest texts are shorter.
const MAX_FOUND_CHARS: usize = 1_000;

impl Check {
    pub(super) fn pass(name: CheckName, found: impl Into<String>) -> Self {
        let found = found.into();
        Self { name, outcome: Outcome::Pass, code: "ok", expected: found.clone(), found }
    }

    pub(super) fn fail(
        name: CheckName,
        code: &'static str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let (expected, mut found) = (expected.into(), found.into());
        if let Some((end, _)) = found.char_indices().nth(MAX_FOUND_CHARS) {
            found.truncate(end);
        }
        Self { name, outcome: Outcome::Fail, code, expected, found }
    }

    /// A check that encountered a value that only a later version of exitgap knows.
    pub(super) fn newer(name: CheckName, newer: Newer) -> Self {
        let (expected, found) = ("a known value of this version".to_owned(), newer.to_string());
        Self { name, outcome: Outcome::NotChecked, code: newer.code(), expected, found }
    }

    pub(super) fn not_checked(name: CheckName, code: &'static str, needs: &str) -> Self {
        let (expected, found) = (needs.to_owned(), "absent".to_owned());
        Self { name, outcome: Outcome::NotChecked, code, expected, found }
    }
}

/// The verdict over all checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every required check passes and none fails.
    Valid,
    /// A check fails.
    Invalid,
    /// No check fails, but a required one could not be made.
    Incomplete,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// Every check, in order.
    pub checks: Vec<Check>,
    /// Keys that signed the checkpoint but are not trusted. They are ignored.
    pub unknown_signers: Vec<String>,
    /// Names of commitments in head and leaf that this version does not know, ascending. No check uses them.
    pub unknown_commits: Vec<String>,
    /// Names of the snapshot's facts that this version does not know, ascending. No check uses them.
    pub unknown_facts: Vec<String>,
}

/// Contents of a file that no check covers.
#[derive(Debug, Default)]
pub(super) struct Unknown {
    pub signers: Vec<String>,
    pub commits: Vec<String>,
    pub facts: Vec<String>,
}

impl Report {
    pub(super) fn new(checks: Vec<Check>, required: &[CheckName], unknown: Unknown) -> Self {
        let Unknown { signers: unknown_signers, commits, facts } = unknown;
        let outcome_of = |name| checks.iter().find(|check| check.name == name).map(|c| c.outcome);
        let verdict = if checks.iter().any(|check| check.outcome == Outcome::Fail) {
            Verdict::Invalid
        } else if required.iter().all(|name| outcome_of(*name) == Some(Outcome::Pass)) {
            Verdict::Valid
        } else {
            Verdict::Incomplete
        };
        let (unknown_commits, unknown_facts) = (commits, facts);
        Self { verdict, checks, unknown_signers, unknown_commits, unknown_facts }
    }

    /// The check of this name.
    pub fn check(&self, name: CheckName) -> Option<&Check> {
        self.checks.iter().find(|check| check.name == name)
    }
}
