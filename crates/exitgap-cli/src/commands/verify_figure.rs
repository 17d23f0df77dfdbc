//! `exitgap verify` of a figure file: its result recomputed from the snapshots that it names.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use exitgap_core::analytics::figure::{
    FigureCheck, FigureFills, FigureReport, FigureVerifier, FigureWant,
};
use exitgap_core::evidence::{Outcome, Verdict};
use exitgap_core::tlog::VerifierKey;
use exitgap_store::StoreError;

use super::verify::of_evidence_alone;
use super::{print_json, verify_headline};
use crate::arguments::VerifyArgs;
use crate::failure::{Failure, verdict_code};
use crate::format::printable;
use crate::source::{self, unreadable};
use crate::trust;

/// How often progress is shown.
const EVERY: usize = 100;

pub fn run(file: &[u8], args: &VerifyArgs, json: bool) -> Result<ExitCode, Failure> {
    of_evidence_alone(args, "a figure", "omit it: it applies only to evidence of a number")?;
    let keys = trust::keys(&args.trust.trust)?;
    let report = check_figure(file, &keys, args.snapshots.as_deref())?;
    if json { print_json(&report) } else { print_text(file, &report, args) }?;
    Ok(verdict_code(report.verdict))
}

/// What the checks find of a file, with the snapshots of a service or of a database, where one is named.
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
        Some(path) => from_database(file, keys, Path::new(path))?,
    })
}

fn from_database(file: &[u8], keys: &[VerifierKey], path: &Path) -> Result<FigureReport, Failure> {
    let reader = source::open(path)?;
    let mut verifier = FigureVerifier::new(file, keys);
    let unread = |error: StoreError| unreadable(error.to_string());
    while let Some(wanted) = verifier.next_want() {
        match wanted {
            FigureWant::Snapshot(wanted) => {
                let documents = reader.documents(wanted.snapshot).map_err(unread)?;
                verifier.add_snapshot(documents.as_ref());
            }
            FigureWant::Fills(FigureFills { pool, slot, .. }) => {
                let run = [*slot; 2];
                let pool = reader.pool(pool).map_err(unread)?;
                let page = pool.map(|pool| reader.fills(&pool, run, 1)).transpose();
                let found = page.map_err(unread)?.and_then(|mut page| page.entries.pop());
                verifier.take_fills(found.map(|stored| stored.canonical).as_deref());
            }
        }
        let (seen, all) = verifier.progress();
        print_progress(seen, all);
    }
    Ok(verifier.finish())
}

/// Shows progress to a person who watches.
fn print_progress(seen: usize, all: usize) {
    let mut out = std::io::stderr();
    if out.is_terminal() && (seen.is_multiple_of(EVERY) || seen == all) {
        let end = if seen == all { "\n" } else { "" };
        // Nobody depends on it.
        let _ = write!(out, "\r{seen} of {all}{end}");
    }
}

fn print_text(file: &[u8], report: &FigureReport, args: &VerifyArgs) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let (colour, verdict) = match report.verdict {
        Verdict::Valid => (AnsiColor::Green, "VALID: it follows from the signed log"),
        Verdict::Invalid => (AnsiColor::Red, "INVALID: a check failed"),
        Verdict::Incomplete => {
            (AnsiColor::Yellow, "INCOMPLETE: no check failed, but some were not made")
        }
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    writeln!(out, "Figure file: {style}{verdict}{style:#}.\n")?;
    if let Some(numbers) = verify_headline::format_headline(file) {
        writeln!(out, "Claim: {}.\n", printable(&numbers))?;
    }
    for check in &report.checks {
        print_check(&mut out, check)?;
    }
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

fn print_check(out: &mut impl Write, check: &FigureCheck) -> Result<(), Failure> {
    let (colour, outcome) = match check.outcome {
        Outcome::Pass => (AnsiColor::Green, "pass"),
        Outcome::Fail => (AnsiColor::Red, "FAIL"),
        Outcome::NotChecked => (AnsiColor::Yellow, "not checked"),
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let (expected, found) = (printable(&check.expected), printable(&check.found));
    let name = serde_json::to_value(check.name).map_err(std::io::Error::from)?;
    write!(out, "{:<14}{style}{outcome:<13}{style:#}", name.as_str().unwrap_or_default())?;
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
