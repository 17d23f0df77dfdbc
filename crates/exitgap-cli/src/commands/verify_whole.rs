//! A report's first line lists the files that follow, so that a truncated report is not taken for a complete one.

use std::fmt::Write;

use exitgap_api::is_report_first_line;
use exitgap_core::log_folder::PartRef;
use serde::{Deserialize, Serialize};

/// The supported version of first lines.
const FORM: u32 = 1;

/// Maximum number of files in a report.
pub const MOST: usize = 1_000;

/// Whether a report contains the files listed in its first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LengthCode {
    /// Exactly the listed files follow, in that order.
    Whole,
    /// It has no such line, so missing files would not be noticed.
    NotStated,
    /// The files differ from those listed.
    NotAsStated,
    /// The first line is of a later version.
    Unsupported,
}

/// The number of files, and the number stated in the first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Length {
    /// The result.
    pub code: LengthCode,
    /// The stated number; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated: Option<usize>,
    /// The actual number.
    pub found: usize,
    /// The difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A first line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstLine {
    files: Vec<String>,
    report: u32,
}

impl Length {
    /// Checks a report's lines; also returns those that are its files.
    pub fn from_lines<'a, 'b>(lines: &'b [&'a [u8]]) -> (Self, &'b [&'a [u8]]) {
        let Some((first, files)) =
            lines.split_first().filter(|(first, _)| is_report_first_line(first))
        else {
            let found = lines.len();
            return (Self { code: LengthCode::NotStated, stated: None, found, why: None }, lines);
        };
        (Self::beside(first, files), files)
    }

    fn beside(first: &[u8], files: &[&[u8]]) -> Self {
        let found = files.len();
        let not = |code, stated, why: String| Self { code, stated, found, why: Some(why) };
        let FirstLine { files: named, report } = match serde_json::from_slice(first) {
            Ok(first) => first,
            Err(error) => {
                return not(LengthCode::NotAsStated, None, format!("it cannot be read: {error}"));
            }
        };
        let stated = Some(named.len());
        if report != FORM {
            return not(LengthCode::Unsupported, stated, format!("its version is {report}"));
        }
        if named.len() > MOST {
            return not(
                LengthCode::NotAsStated,
                stated,
                format!("it lists more than {MOST} files"),
            );
        }
        let there: Vec<String> =
            files.iter().map(|file| PartRef::hash_of(file).to_string()).collect();
        if there == named {
            return Self { code: LengthCode::Whole, stated, found, why: None };
        }
        let absent = (1..).zip(&named).filter(|(_, one)| !there.contains(one));
        let absent: Vec<String> = absent.map(|(place, _)| format!("{place}")).collect();
        let strange = there.iter().filter(|one| !named.contains(one)).count();
        let mut why = format!("it lists {} files, {found} follow", named.len());
        if !absent.is_empty() {
            let _ = write!(why, ", without the file listed at position {}", absent.join(", "));
        }
        if strange > 0 {
            let _ = write!(why, ", {strange} of them with a hash that is not listed");
        }
        if absent.is_empty() && strange == 0 {
            why.push_str(", one of them repeated or out of order");
        }
        not(LengthCode::NotAsStated, stated, why)
    }

    /// The same in a sentence.
    pub fn sentence(&self) -> String {
        let why = self.why.as_deref().unwrap_or_default();
        match self.code {
            LengthCode::Whole => {
                format!("Complete: the {} files listed in its first line, in order.", self.found)
            }
            LengthCode::NotStated => {
                "No stated length: without a first line that lists its files, a missing file cannot be detected."
                    .to_owned()
            }
            LengthCode::NotAsStated => format!("NOT COMPLETE according to its first line: {why}."),
            LengthCode::Unsupported => {
                format!("Its first line was made by a newer version of exitgap; update to check it: {why}.")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use exitgap_api::report_first_line;

    use super::*;

    #[test]
    fn a_line_that_is_absent_changed_or_out_of_place_is_told() {
        let files: [&[u8]; 3] = [b"{\"a\":1}", b"{\"b\":2}", b"{\"c\":3}"];
        let [a, b, c] = files;
        let first = report_first_line(&files).into_bytes();
        let found = |lines: &[&[u8]]| {
            let all: Vec<&[u8]> = [&first[..]].into_iter().chain(lines.iter().copied()).collect();
            let (length, rest) = Length::from_lines(&all);
            assert_eq!(rest, lines);
            (length.code, length.why.unwrap_or_default())
        };
        assert_eq!(found(&files), (LengthCode::Whole, String::new()));
        let cases: [(&[&[u8]], &str); 6] = [
            (&[a, c], "it lists 3 files, 2 follow, without the file listed at position 2"),
            (&[], "it lists 3 files, 0 follow, without the file listed at position 1, 2, 3"),
            (&[a, b, b, c], "it lists 3 files, 4 follow, one of them repeated or out of order"),
            (&[a, c, b], "it lists 3 files, 3 follow, one of them repeated or out of order"),
            (
                &[a, b"{\"b\":3}", c],
                "it lists 3 files, 3 follow, without the file listed at position 2, 1 of them with a hash that is not listed",
            ),
            (
                &[a, b, c, b"{}"],
                "it lists 3 files, 4 follow, 1 of them with a hash that is not listed",
            ),
        ];
        for (lines, why) in cases {
            assert_eq!(found(lines), (LengthCode::NotAsStated, why.to_owned()));
        }
        assert_eq!(Length::from_lines(&files).0.code, LengthCode::NotStated);
        let newer =
            String::from_utf8(first.clone()).unwrap().replace("\"report\":1", "\"report\":2");
        assert_eq!(Length::from_lines(&[newer.as_bytes(), a]).0.code, LengthCode::Unsupported);
        assert_eq!(Length::from_lines(&[b"{\"files\":[]", a]).0.code, LengthCode::NotAsStated);
    }
}
