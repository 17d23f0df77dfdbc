//! A report in one file, with evidence and figures on one line each, and the results of checking
//! them.

use exitgap_core::analytics::figure::{ClaimedVenue, FigureClaim, FigureReport};
use exitgap_core::evidence::{Outcome, Verdict};
use exitgap_core::log_folder::PartRef;
use serde::Serialize;

use crate::{Claim, VerificationReport, check_name};

/// The start of the line before a report's files. None of the files starts this way.
const FIRST_LINE: &[u8] = b"{\"files\":[";

/// The line before a report's files, with the SHA-256 of each file, in order.
pub fn report_first_line<F: AsRef<[u8]>>(files: &[F]) -> String {
    let hash = |file: &F| format!("\"{}\"", PartRef::hash_of(file.as_ref()));
    let named: Vec<String> = files.iter().map(hash).collect();
    format!("{{\"files\":[{}],\"report\":1}}", named.join(","))
}

/// Whether a line is such a first line of a report.
pub fn is_report_first_line(line: &[u8]) -> bool {
    line.starts_with(FIRST_LINE)
}

/// The result of checking a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FilesVerified {
    /// `invalid` if any file is invalid, `valid` if all are valid, otherwise `incomplete`.
    pub verdict: Verdict,
    /// The files, in order.
    pub files: Vec<FileVerified>,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// Evidence of one number, or an unknown file.
    Evidence,
    /// A figure drawn from many snapshots.
    Figure,
}

/// The result of checking one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileVerified {
    /// The kind.
    pub kind: FileKind,
    /// The verdict for this file alone.
    pub verdict: Verdict,
    /// The claims of a file of evidence, if readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// The method of a figure and its subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// The check behind the verdict, if it is not `valid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl FilesVerified {
    /// The result for these files.
    pub fn from_files(files: Vec<FileVerified>) -> Self {
        let all = |verdict: Verdict| {
            !files.is_empty() && files.iter().all(|file| file.verdict == verdict)
        };
        let verdict = if files.iter().any(|file| file.verdict == Verdict::Invalid) {
            Verdict::Invalid
        } else if all(Verdict::Valid) {
            Verdict::Valid
        } else {
            Verdict::Incomplete
        };
        Self { verdict, files }
    }
}

impl FileVerified {
    /// The result for an evidence file.
    pub fn of_evidence(report: &VerificationReport) -> Self {
        let checks = report.report.checks.iter();
        let failed = first(checks.map(|check| (check.outcome, check_name(check.name), check.code)));
        let verdict = report.report.verdict;
        let failed = failed.filter(|_| verdict != Verdict::Valid);
        Self {
            kind: FileKind::Evidence,
            verdict,
            claim: report.claim.clone(),
            figure: None,
            failed,
        }
    }

    /// Of a figure file.
    pub fn of_figure(report: &FigureReport) -> Self {
        let figure = report.claim.as_ref().map(describe);
        let checks = report.checks.iter();
        let failed = first(checks.map(|check| (check.outcome, "figure", check.code)));
        let verdict = report.verdict;
        let failed = failed.filter(|_| verdict != Verdict::Valid);
        Self { kind: FileKind::Figure, verdict, claim: None, figure, failed }
    }
}

/// What a figure is of: rules, pools, period, log and status, as the file states them.
fn describe(claim: &FigureClaim) -> String {
    let pools = claim.venues.iter().map(|ClaimedVenue { pool, base }| match base {
        Some(base) => format!("{pool} ({base})"),
        None => pool.clone(),
    });
    let pools: Vec<String> = pools.collect();
    let of = format!("{} of {}", claim.figure, pools.join(", "));
    let ends = claim.first_slot_time.as_ref().zip(claim.last_slot_time.as_ref());
    let period = ends.map(|(first, last)| format!("{first} to {last}"));
    let rest = [period, claim.log.clone(), claim.status.clone()].into_iter().flatten();
    std::iter::once(of).chain(rest).collect::<Vec<_>>().join(", ")
}

/// A check's outcome, its name and its code.
type NamedOutcome = (Outcome, &'static str, &'static str);

/// The first check that failed; if none failed, the first that was not made.
fn first(checks: impl IntoIterator<Item = NamedOutcome>) -> Option<String> {
    let all: Vec<NamedOutcome> = checks.into_iter().collect();
    let of = |outcome: Outcome| all.iter().find(|(found, ..)| *found == outcome);
    let found = of(Outcome::Fail).or_else(|| of(Outcome::NotChecked));
    found.map(|(_, name, code)| format!("{name}: {code}"))
}
