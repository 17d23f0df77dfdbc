//! `exitgap verify` of a report that was handed over: files of evidence and of figures, one a line, each judged as it is alone.

use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use exitgap_api::{FileKind, FileVerified, FilesVerified, VerificationReport, invalid_parameter};
use exitgap_core::analytics::figure::is_figure_file;
use exitgap_core::evidence::{Evidence, Policy, Verdict};
use exitgap_core::tlog::VerifierKey;

use super::{print_json, verify_figure};
use crate::arguments::VerifyArgs;
use crate::failure::{Failure, verdict_code};
use crate::format::{grouped, printable};
use crate::source::unreadable;
use crate::trust;

/// The most files of a report.
const MOST: usize = 1_000;

/// Whether there are several files in it: what follows the first line is not nothing.
pub fn is_several(bytes: &[u8]) -> bool {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    end.is_some_and(|end| bytes[end..].iter().any(|byte| !byte.is_ascii_whitespace()))
}

pub fn run(bytes: &[u8], args: &VerifyArgs, json: bool) -> Result<ExitCode, Failure> {
    if let Some(option) = of_one_file(args) {
        let detail = format!("{option}: of one file at a time; this one has several");
        return Err(invalid_parameter(option, &detail, "split the report at its lines").into());
    }
    let keys = trust::keys(&args.trust.trust)?;
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut files = Vec::new();
    for line in lines {
        if files.len() == MOST {
            return Err(unreadable(format!("more than the {MOST} files of a report")).into());
        }
        files.push(judged(line, args, &keys)?);
    }
    let report = FilesVerified::of(files);
    if json { print_json(&report) } else { print_text(&report, args) }?;
    Ok(verdict_code(report.verdict))
}

/// An option that says something of one file alone.
fn of_one_file(args: &VerifyArgs) -> Option<&'static str> {
    let given = [
        ("since", args.since.is_some()),
        ("window", args.window.is_some()),
        ("log", args.log.is_some()),
        ("witnesses", args.witnesses.is_some()),
        ("explain", args.explain),
        ("rpc", !args.chain.rpc.is_empty()),
        ("state-proof", args.chain.state_proof.is_some()),
    ];
    given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
}

fn judged(line: &[u8], args: &VerifyArgs, keys: &[VerifierKey]) -> Result<FileVerified, Failure> {
    if is_figure_file(line) {
        let report = verify_figure::judged(line, keys, args.snapshots.as_deref())?;
        return Ok(FileVerified::of_figure(line, &report));
    }
    let policy = Policy::trusting(keys.to_vec());
    let report = VerificationReport::of(&Evidence::read(line), &policy);
    Ok(FileVerified::of_evidence(&report))
}

fn print_text(report: &FilesVerified, args: &VerifyArgs) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let (colour, verdict) = match report.verdict {
        Verdict::Valid => {
            (AnsiColor::Green, "VALID: each of its files follows from the signed log")
        }
        Verdict::Invalid => (AnsiColor::Red, "INVALID: at least one of its files does not hold"),
        Verdict::Incomplete => {
            (AnsiColor::Yellow, "INCOMPLETE: nothing is wrong, but not everything was checked")
        }
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    writeln!(out, "A report of {} files: {style}{verdict}{style:#}.\n", report.files.len())?;
    for (place, file) in (1..).zip(&report.files) {
        let (colour, word) = match file.verdict {
            Verdict::Valid => (AnsiColor::Green, "valid"),
            Verdict::Invalid => (AnsiColor::Red, "INVALID"),
            Verdict::Incomplete => (AnsiColor::Yellow, "incomplete"),
        };
        let style = Style::new().bold().fg_color(Some(colour.into()));
        writeln!(out, "{place:>4}  {style}{word:<12}{style:#}{}", words(file))?;
        if let Some(check) = &file.failed {
            writeln!(out, "{:<18}{}", "", printable(check))?;
        }
    }
    let figures = report.files.iter().any(|file| file.kind == FileKind::Figure);
    if figures && args.snapshots.is_none() {
        writeln!(
            out,
            "\nFigures want their snapshots: --snapshots exitgap.db, or a service's URL."
        )?;
    }
    if args.trust.trust.is_empty() {
        writeln!(
            out,
            "\nName the log's key with --trust: without one nobody vouches for anything."
        )?;
    }
    Ok(())
}

/// What a file is of.
fn words(file: &FileVerified) -> String {
    let Some(claim) = &file.claim else {
        let kind = if file.kind == FileKind::Figure { "a figure" } else { "no evidence" };
        return file
            .figure
            .as_deref()
            .map_or(kind.to_owned(), |figure| format!("the figure {}", printable(figure)));
    };
    let size = format!("${}", grouped(&claim.size_usd));
    let found = match (&claim.exit_gap_pct, &claim.refusal) {
        (Some(gap), _) => format!("{gap} % below the oracle"),
        (None, Some(refusal)) => format!("refused: {refusal}"),
        (None, None) => String::new(),
    };
    let at = claim.slot_time.as_deref().unwrap_or_default();
    printable(&format!("{size} of {} in {} at {at}: {found}", claim.base, claim.pool))
}
