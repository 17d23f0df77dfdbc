//! A report of several files, checked line by line: its evidence is verified here, its figures by the printed command.

use exitgap_api::VerificationReport;
use exitgap_api::{is_report_first_line, report_first_line};
use exitgap_core::analytics::figure::is_figure_file;
use exitgap_core::evidence::{Evidence, Verdict};
use exitgap_core::tlog::VerifierKey;
use leptos::prelude::*;

use crate::check;
use crate::evidence_summary::EvidenceSummary;
use crate::parts::{VerifyCommand, describe_claim};

/// The result for a line.
#[derive(Debug, Clone)]
enum Line {
    /// A figure, by its rules: recomputing it needs thousands of snapshots, which this page does not download.
    Figure(String),
    /// Evidence: its verdict, and its claim.
    Evidence(Verdict, String),
}

/// The result for a report.
#[derive(Debug, Clone)]
pub struct FoundReport {
    length: Length,
    lines: Vec<Line>,
}

impl FoundReport {
    /// Checks a report with these keys; `None` if the bytes are not a report.
    pub fn from_bytes(bytes: &[u8], keys: &[VerifierKey]) -> Option<Self> {
        let (length, files) = files(bytes)?;
        let line = |file: &&[u8]| {
            if is_figure_file(file) {
                return Line::Figure(read_figure_name(file));
            }
            let evidence = Evidence::from_bytes(file);
            let VerificationReport { report, claim, .. } = check::alone(&evidence, keys.to_vec());
            Line::Evidence(
                report.verdict,
                describe_claim(claim.as_ref(), EvidenceSummary::from_evidence(&evidence)),
            )
        };
        Some(Self { length, lines: files.iter().map(line).collect() })
    }

    fn count(&self, of: Verdict) -> usize {
        let is = |line: &&Line| matches!(line, Line::Evidence(verdict, _) if *verdict == of);
        self.lines.iter().filter(is).count()
    }
}

/// The rules of a figure, with which its file begins.
fn read_figure_name(file: &[u8]) -> String {
    let name = file.split(|byte| *byte == b'"').nth(3).unwrap_or_default();
    String::from_utf8_lossy(name).chars().take(40).collect()
}

/// Renders the results, and the command that verifies everything.
pub fn report_found(found: &FoundReport) -> impl IntoView + use<> {
    let (valid, invalid) = (found.count(Verdict::Valid), found.count(Verdict::Invalid));
    let evidence = valid + invalid + found.count(Verdict::Incomplete);
    let figures = found.lines.len() - evidence;
    let broken = invalid > 0 || found.length == Length::NotAsStated;
    let confirmed = valid == evidence && figures == 0 && found.length == Length::Whole;
    let class = match (broken, confirmed) {
        (true, _) => "verdict fail",
        (false, true) => "verdict pass",
        (false, false) => "verdict warn",
    };
    let length = match found.length {
        Length::Whole => "The report is complete: its first line names these files, in this order.",
        Length::NotStated => {
            "The report does not state its length. Without a first line that names its files, a missing file cannot be detected."
        }
        Length::NotAsStated => {
            "The report does not match its first line: a file is missing, changed, duplicated or in another place."
        }
    };
    let summary = format!(
        "{valid} of {evidence} evidence files were confirmed by this browser{}; {figures} figures were not checked here.",
        if invalid > 0 { format!(", {invalid} failed") } else { String::new() },
    );
    let rows = found.lines.iter().map(shown).collect_view();
    let title = match found.lines.len() {
        1 => "A report of 1 file".to_owned(),
        count => format!("A report of {count} files"),
    };
    view! {
        <section class=class role="status" id="report">
            <p><strong>{title}</strong>", one per line."</p>
            <p>{length}</p>
            <p>{summary}</p>
        </section>
        <p>{(figures > 0).then_some("A figure is recomputed from thousands of snapshots. ")}"To verify everything, save the file as risk.jsonl and run:"</p>
        <VerifyCommand file="risk.jsonl"/>
        <ol class="checks">{rows}</ol>
    }
}

fn shown(line: &Line) -> impl IntoView + use<> {
    let (class, mark, verdict, words) = match line {
        Line::Figure(of) => ("warn", "–", "not checked here", format!("the figure {of}")),
        Line::Evidence(Verdict::Valid, words) => ("pass", "✓", "confirmed", words.clone()),
        Line::Evidence(Verdict::Invalid, words) => ("fail", "✗", "failed", words.clone()),
        Line::Evidence(Verdict::Incomplete, words) => {
            ("warn", "–", "not fully checked", words.clone())
        }
    };
    view! { <li class=class><span class="mark" aria-hidden="true">{mark}</span><b>{verdict}</b>": "<span class="found">{words}</span></li> }
}

/// Whether a report is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Exactly the files listed in its first line, in that order.
    Whole,
    /// It has no such line.
    NotStated,
    /// The files differ from those listed, or the first line is not valid.
    NotAsStated,
}

/// The files of a report, and whether it is complete; `None` if the bytes are a single evidence file, or empty.
pub fn files(bytes: &[u8]) -> Option<(Length, Vec<&[u8]>)> {
    let mut lines: Vec<&[u8]> =
        bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let first = *lines.first()?;
    if is_report_first_line(first) {
        lines.remove(0);
        let whole = report_first_line(&lines).as_bytes() == first;
        return Some((if whole { Length::Whole } else { Length::NotAsStated }, lines));
    }
    let is_document = first.starts_with(b"{") && first.trim_ascii_end().ends_with(b"}");
    let several = is_document && lines.len() > 1;
    (several || is_figure_file(first)).then_some((Length::NotStated, lines))
}
