//! A report as one file: a line that names the files of it, and those, a line each.

use exitgap_api::{is_report_first_line, report_first_line};
use exitgap_core::analytics::figure::is_figure_file;

/// Whether a report is all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// The files that its first line names, in its order.
    Whole,
    /// It has no such line.
    NotStated,
    /// Other files than its first line names, or it is none of this form.
    NotAsStated,
}

/// The files of a report, and whether they are all of it; none where the bytes are one file of evidence, or nothing.
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
