//! A report as one file: a line that names the files of it, and those, a line each.

use exitgap_core::analytics::figure::is_figure_file;
use exitgap_core::published::PartRef;

/// What the line that names a report's files begins with.
const START: &[u8] = b"{\"files\":[";

/// The line before a report's files: the SHA-256 of each, in their order.
pub fn first_line<F: AsRef<[u8]>>(files: &[F]) -> String {
    let hash = |file: &F| format!("\"{}\"", PartRef::hash_of(file.as_ref()));
    let named: Vec<String> = files.iter().map(hash).collect();
    format!("{{\"files\":[{}],\"report\":1}}", named.join(","))
}

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
    if first.starts_with(START) {
        lines.remove(0);
        let whole = first_line(&lines).as_bytes() == first;
        return Some((if whole { Length::Whole } else { Length::NotAsStated }, lines));
    }
    let is_document = first.starts_with(b"{") && first.trim_ascii_end().ends_with(b"}");
    let several = is_document && lines.len() > 1;
    (several || is_figure_file(first)).then_some((Length::NotStated, lines))
}
