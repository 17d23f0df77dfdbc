//! `exitgap verify` of a report that was handed over: files of evidence and of figures, one a line, each judged as it is alone.

use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use exitgap_api::{FileKind, FileVerified, FilesVerified, VerificationReport};
use exitgap_core::analytics::figure::is_figure_file;
use exitgap_core::evidence::{Evidence, Policy, Verdict};
use exitgap_core::tlog::VerifierKey;

use super::verify::of_evidence_alone;
use super::{print_json, verify_figure};
use crate::arguments::VerifyArgs;
use crate::failure::{Failure, verdict_code};
use crate::format::{grouped, printable};
use crate::source::unreadable;
use crate::trust;

/// The most files of a report.
const MOST: usize = 1_000;

/// Whether there are several files in it: its first line is a whole one, as documents are written, and something follows.
pub fn is_several(bytes: &[u8]) -> bool {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return false };
    let (first, rest) = bytes.split_at(end);
    let is_whole = first.starts_with(b"{") && first.trim_ascii_end().ends_with(b"}");
    is_whole && !rest.trim_ascii().is_empty()
}

pub fn run(bytes: &[u8], args: &VerifyArgs, json: bool) -> Result<ExitCode, Failure> {
    of_evidence_alone(args, "a report of several files", "split it at its lines")?;
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
