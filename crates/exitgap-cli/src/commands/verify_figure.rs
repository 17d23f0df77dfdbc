//! `exitgap verify` of a figure file: recomputes its result from the snapshots it names.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use exitgap_core::analytics::figure::{
    ClaimedVenue, FigureCheck, FigureCheckName, FigureClaim, FigureReport, FigureVerifier,
};
use exitgap_core::evidence::{Outcome, Verdict};
use exitgap_core::series::Slot;
use exitgap_core::tlog::VerifierKey;
use serde::Serialize;

use super::verify::of_one_slot_alone;
use super::verify_expect::{self, Comparison};
use super::verify_figure_log::FigureLog;
use super::{print_json, verify_headline, verify_sealed, verify_witnesses};
use crate::arguments::VerifyArgs;
use crate::failure::{Failure, verdict_code};
use crate::format::printable;
use crate::source::{self, unreadable};
use crate::trust;

/// Number of snapshots between progress updates.
const EVERY: usize = 100;

/// A report, and the results of the other checks that the reader requested.
#[derive(Serialize)]
struct FigureVerdict {
    #[serde(flatten)]
    report: FigureReport,
    #[serde(flatten)]
    log: FigureLog,
    /// The expected values, compared with what the file states.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expected: Vec<Comparison>,
}

pub fn run(file: &[u8], args: &VerifyArgs, json: bool) -> Result<ExitCode, Failure> {
    of_one_slot_alone(args, "a figure", "omit it: it applies only to evidence of a number")?;
    let keys = trust::keys(&args.trust.trust)?;
    let mut report = check_figure(file, &keys, args.snapshots.as_deref())?;
    if let Some(path) = &args.log {
        let mut sealed = FigureVerifier::new(file, &keys);
        let notes = report.claim.as_ref().map(|claim| claim.checkpoints.clone());
        verify_sealed::check(&mut sealed, &notes.unwrap_or_default(), path, &keys)?;
        report.take_sealed(&sealed.finish());
    }
    let expected = verify_expect::compare(&args.expect, report.claim.as_ref())?;
    let log = FigureLog::check(args, report.claim.as_ref(), &keys, source::now_s())?;
    report.verdict = log.together(report.verdict);
    // Who asks for the log to be compared has no whole verdict where it does not reach that far.
    let open = report.check(FigureCheckName::SealedLeaves);
    let is_open = open.is_some_and(|check| check.outcome == Outcome::NotChecked);
    if args.log.is_some() && is_open && report.verdict == Verdict::Valid {
        report.verdict = Verdict::Incomplete;
    }
    if expected.iter().any(|one| !one.agrees()) {
        report.verdict = Verdict::Invalid;
    }
    let verdict = FigureVerdict { report, log, expected };
    if json { print_json(&verdict) } else { print_text(file, &verdict, args) }?;
    Ok(verdict_code(verdict.report.verdict))
}

/// Checks a file, with the snapshots of a service or of a database if one is given.
pub fn check_figure(
    file: &[u8],
    keys: &[VerifierKey],
    snapshots: Option<&str>,
) -> Result<FigureReport, Failure> {
    Ok(match snapshots {
        None => FigureVerifier::new(file, keys).finish(),
        Some(url) if url.starts_with("http://") || url.starts_with("https://") => {
            source::api::with(url, async |client| {
                client.verify_figure(file, keys, print_progress).await
            })?
        }
        Some(path) => {
            let reader = source::open(Path::new(path))?;
            let found = reader.verify_figure(file, keys, print_progress);
            found.map_err(|error| unreadable(error.to_string()))?
        }
    })
}

/// Shows progress on a terminal.
fn print_progress(seen: usize, all: usize) {
    let mut out = std::io::stderr();
    if out.is_terminal() && (seen.is_multiple_of(EVERY) || seen == all) {
        let end = if seen == all { "\n" } else { "" };
        // Failure to write progress does not matter.
        let _ = write!(out, "\r{seen} of {all}{end}");
    }
}

fn print_text(file: &[u8], found: &FigureVerdict, args: &VerifyArgs) -> Result<(), Failure> {
    let FigureVerdict { report, log, expected } = found;
    let mut out = anstream::stdout().lock();
    let (colour, verdict) = match report.verdict {
        Verdict::Valid => (AnsiColor::Green, "VALID: it follows from the signed log"),
        Verdict::Invalid if expected.iter().any(|one| !one.agrees()) => {
            (AnsiColor::Red, "INVALID: it is not of what was expected")
        }
        Verdict::Invalid => (AnsiColor::Red, "INVALID: a check failed"),
        Verdict::Incomplete => {
            (AnsiColor::Yellow, "INCOMPLETE: no check failed, but some were not made")
        }
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    writeln!(out, "Figure file: {style}{verdict}{style:#}.\n")?;
    if let Some(claim) = &report.claim {
        print_claim(&mut out, claim)?;
    }
    if let Some(numbers) = verify_headline::format_headline(file) {
        writeln!(out, "Claim: {}.\n", printable(&numbers))?;
    }
    for check in &report.checks {
        print_check(&mut out, check)?;
    }
    log.print(&mut out)?;
    verify_expect::print(&mut out, expected)?;
    verify_witnesses::print(log.witnessed())?;
    let absent = report.checks.iter().any(|check| check.code == "snapshots_absent");
    if absent && args.snapshots.is_none() {
        writeln!(
            out,
            "\nGive the source of its snapshots: --snapshots exitgap.db, or a service's URL."
        )?;
    }
    if args.trust.trust.is_empty() {
        writeln!(
            out,
            "\nGive the log's key with --trust; without it, the heads are not verified."
        )?;
    }
    Ok(())
}

/// What the file states that it is of: a valid one can be of another pool, period, log or status than was asked for.
fn print_claim(out: &mut impl Write, claim: &FigureClaim) -> Result<(), Failure> {
    let unknown = || "unknown".to_owned();
    let mut line = |name: &str, value: String| writeln!(out, "{name:<14}{}", printable(&value));
    line("figure", claim.figure.clone())?;
    for ClaimedVenue { pool, base } in &claim.venues {
        let base = base.as_ref().map_or_else(String::new, |base| format!(", {base} sold"));
        line("pool", format!("{pool}{base}"))?;
    }
    let slot = |slot: Option<Slot>| {
        slot.map_or_else(unknown, |slot| format!("{slot} (slot {})", slot.number()))
    };
    line("period", format!("{} to {}", slot(claim.first_slot), slot(claim.last_slot)))?;
    line("log", claim.log.clone().unwrap_or_else(unknown))?;
    line("status", claim.status.clone().unwrap_or_else(unknown))?;
    Ok(writeln!(out)?)
}

fn print_check(out: &mut impl Write, check: &FigureCheck) -> Result<(), Failure> {
    let (colour, outcome) = match check.outcome {
        Outcome::Pass => (AnsiColor::Green, "pass"),
        Outcome::Fail => (AnsiColor::Red, "FAIL"),
        Outcome::NotChecked => (AnsiColor::Yellow, "not checked"),
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let (expected, found) = (printable(&check.expected), printable(&check.found));
    write!(out, "{:<14}{style}{outcome:<13}{style:#}", check.name.as_str())?;
    match check.outcome {
        Outcome::Pass => writeln!(out, "{found}")?,
        Outcome::NotChecked => writeln!(out, "needs {expected}")?,
        Outcome::Fail => {
            writeln!(out, "{}", check.code)?;
            writeln!(out, "{:<27}expected  {expected}", "")?;
            writeln!(out, "{:<27}found     {found}", "")?;
        }
    }
    Ok(())
}
