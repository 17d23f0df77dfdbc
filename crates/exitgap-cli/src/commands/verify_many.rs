//! `exitgap verify` of a report: evidence and figure files, one per line, each verified as if it were alone.

use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use exitgap_api::{
    Claim, FileKind, FileVerified, FilesVerified, VerificationReport, is_report_first_line,
};
use exitgap_core::analytics::figure::is_figure_file;
use exitgap_core::evidence::{Evidence, Policy, Verdict};
use exitgap_core::tlog::VerifierKey;
use serde::Serialize;

use super::verdict::sold;
use super::verify::{of_evidence_alone, slots_after_clock};
use super::verify_whole::{Length, LengthCode, MOST};
use super::{print_json, verify_figure, verify_headline};
use crate::arguments::VerifyArgs;
use crate::failure::{Failure, verdict_code};
use crate::format::{group_digits, printable};
use crate::source::{now_s, unreadable};
use crate::trust;

/// The result for a report.
#[derive(Serialize)]
struct ReportResult {
    #[serde(flatten)]
    files: FilesVerified,
    /// Whether it is complete.
    length: Length,
}

/// Whether the input contains several files: its first line lists them, or is itself a complete document and more lines
/// follow.
pub fn is_several(bytes: &[u8]) -> bool {
    if is_report_first_line(bytes) {
        return true;
    }
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return false };
    let (first, rest) = bytes.split_at(end);
    let is_whole = first.starts_with(b"{") && first.trim_ascii_end().ends_with(b"}");
    is_whole && !rest.trim_ascii().is_empty()
}

pub fn run(bytes: &[u8], args: &VerifyArgs, json: bool) -> Result<ExitCode, Failure> {
    of_evidence_alone(args, "a report of several files", "split it at its lines")?;
    let keys = trust::keys(&args.trust.trust)?;
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let lines: Vec<&[u8]> = lines.take(MOST + 2).collect();
    let (length, lines) = Length::from_lines(&lines);
    if lines.len() > MOST {
        return Err(unreadable(format!("more than the {MOST} files of a report")).into());
    }
    let (mut files, mut said) = (Vec::new(), Vec::new());
    for line in lines {
        let (file, words) = check_file(line, args, &keys)?;
        files.push(file);
        said.push(words);
    }
    let mut files = FilesVerified::from_files(files);
    files.verdict = match (length.code, files.verdict) {
        (LengthCode::NotAsStated, _) => Verdict::Invalid,
        (LengthCode::Unsupported, Verdict::Valid) => Verdict::Incomplete,
        (_, verdict) => verdict,
    };
    let found = ReportResult { files, length };
    if json { print_json(&found) } else { print_text(&found, &said, args) }?;
    Ok(verdict_code(found.files.verdict))
}

/// Checks one file; returns the result, and a description of the file.
fn check_file(
    line: &[u8],
    args: &VerifyArgs,
    keys: &[VerifierKey],
) -> Result<(FileVerified, String), Failure> {
    if is_figure_file(line) {
        let report = verify_figure::check_figure(line, keys, args.snapshots.as_deref())?;
        let file = FileVerified::of_figure(&report);
        let words = figure(&file, verify_headline::format_headline(line));
        return Ok((file, words));
    }
    let policy = Policy::with_keys(keys.to_vec());
    let evidence = Evidence::from_bytes(line);
    let report = VerificationReport::from_evidence(&evidence, &policy);
    let words = report.claim.as_ref().map(|claim| describe_claim(claim, &sold(claim, &evidence)));
    let mut words = words.unwrap_or_else(|| "no evidence".to_owned());
    if let Some(after) = slots_after_clock(&evidence, now_s()) {
        words = format!("{words}; {}", after.sentence());
    }
    Ok((FileVerified::of_evidence(&report), words))
}

fn print_text(found: &ReportResult, said: &[String], args: &VerifyArgs) -> Result<(), Failure> {
    let ReportResult { files: report, length } = found;
    let mut out = anstream::stdout().lock();
    let (colour, verdict) = match report.verdict {
        Verdict::Valid => {
            (AnsiColor::Green, "VALID: each of its files follows from the signed log")
        }
        Verdict::Invalid if length.code == LengthCode::NotAsStated => {
            (AnsiColor::Red, "INVALID: the files do not match the report's first line")
        }
        Verdict::Invalid => (AnsiColor::Red, "INVALID: at least one of its files failed a check"),
        Verdict::Incomplete => {
            (AnsiColor::Yellow, "INCOMPLETE: no check failed, but some were not made")
        }
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let count = report.files.len();
    let files = if count == 1 { "file" } else { "files" };
    writeln!(out, "Report of {count} {files}: {style}{verdict}{style:#}.")?;
    writeln!(out, "{}\n", printable(&length.sentence()))?;
    for ((place, file), words) in (1..).zip(&report.files).zip(said) {
        let (colour, word) = match file.verdict {
            Verdict::Valid => (AnsiColor::Green, "valid"),
            Verdict::Invalid => (AnsiColor::Red, "INVALID"),
            Verdict::Incomplete => (AnsiColor::Yellow, "incomplete"),
        };
        let style = Style::new().bold().fg_color(Some(colour.into()));
        writeln!(out, "{place:>4}  {style}{word:<12}{style:#}{}", printable(words))?;
        if let Some(check) = &file.failed {
            writeln!(out, "{:<18}{}", "", printable(check))?;
        }
    }
    let figures = report.files.iter().any(|file| file.kind == FileKind::Figure);
    if figures && args.snapshots.is_none() {
        writeln!(
            out,
            "\nFigure files need their snapshots: --snapshots exitgap.db, or a service's URL."
        )?;
    }
    if args.trust.trust.is_empty() {
        writeln!(out, "\nGive the log's key with --trust; without it, no file is verified.")?;
    }
    Ok(())
}

/// The description of a figure, with its numbers.
fn figure(file: &FileVerified, numbers: Option<String>) -> String {
    let Some(figure) = &file.figure else { return "a figure".to_owned() };
    match numbers {
        Some(numbers) => format!("figure {figure}: {numbers}"),
        None => format!("figure {figure}"),
    }
}

/// The claim of an evidence file.
fn describe_claim(claim: &Claim, sold: &str) -> String {
    let size = format!("${}", group_digits(&claim.size_usd));
    let found = match (&claim.exit_gap_pct, &claim.refusal) {
        (Some(gap), _) => format!("{gap}% below the oracle"),
        (None, Some(refusal)) => format!("refused: {refusal}"),
        (None, None) => String::new(),
    };
    let at = claim.slot_time.as_deref().unwrap_or_default();
    format!("{size} of {sold} in {} at {at}: {found}", claim.pool)
}
