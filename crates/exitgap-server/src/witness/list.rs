//! A list of logs to cosign, in the format of witness networks (`logs/v0` of `transparency-dev/witness-network`).
//!
//! The list consists of lines; blank lines and lines that begin with `#` are ignored. The first other line is
//! `logs/v0`. Then each log has a line `vkey <key>`, followed by at most one each of `origin <origin or none>`,
//! `bastion <URL or none>`, `qpd <number>` and `contact <text>`. This witness only answers requests: it needs neither
//! `bastion` nor `contact`. `qpd` is parsed but not enforced, because our logs send requests only once per slot.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use exitgap_core::tlog::{CheckpointError, NoteError, OriginLine, VerifierKey};

use super::WitnessedLog;

/// Maximum size of a list, bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Maximum number of logs in a list.
const MAX_LOGS: usize = 1_024;

/// The line that names the format.
const FORMAT: &str = "logs/v0";

/// Why a list is rejected.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is too large.
    #[error("{path} is larger than the limit of {MAX_BYTES} bytes for a list of logs")]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// A line breaks a rule.
    #[error("{path}, line {line}: {rule}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The rule.
        rule: ListRule,
    },
}

/// The rule that a line breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListRule {
    /// It is not UTF-8.
    #[error("it is not text")]
    NotText,
    /// The format is not named, or is a different one.
    #[error("found {found:?}, expected {FORMAT}")]
    Format {
        /// What stands there.
        found: String,
    },
    /// An unknown keyword.
    #[error("{found:?} is not one of vkey, origin, bastion, qpd and contact")]
    Keyword {
        /// What stands there.
        found: String,
    },
    /// A keyword without a value.
    #[error("{0:?} has no value")]
    NoValue(String),
    /// A keyword before the first log.
    #[error("{0:?} comes before any vkey")]
    OfNoLog(String),
    /// A keyword is repeated for one log.
    #[error("{0:?} is given twice for one log")]
    Twice(String),
    /// The key is none.
    #[error("{0}")]
    Key(#[from] NoteError),
    /// The origin is none.
    #[error("{0}")]
    Origin(#[from] CheckpointError),
    /// The number of requests per day is not a number.
    #[error("{found:?} is not a number of requests per day")]
    Qpd {
        /// What stands there.
        found: String,
    },
    /// A log is listed twice.
    #[error("the log {0} is listed twice")]
    Again(String),
    /// Too many logs.
    #[error("more than {MAX_LOGS} logs")]
    TooMany,
}

/// The logs of a list.
pub fn read_list(path: &Path) -> Result<Vec<WitnessedLog>, ListError> {
    let mut bytes = Vec::new();
    let limited =
        File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    limited.map_err(|source| ListError::Read { path: path.to_owned(), source })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ListError::TooLarge { path: path.to_owned() });
    }
    logs(&bytes).map_err(|(line, rule)| ListError::Line { path: path.to_owned(), line, rule })
}

/// Parses the list's bytes; the error has the line number, from 1.
fn logs(bytes: &[u8]) -> Result<Vec<WitnessedLog>, (usize, ListRule)> {
    let mut list = List::default();
    for (line, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let text = std::str::from_utf8(text).map_err(|_| (line, ListRule::NotText))?;
        list.line(line, text.trim_end_matches('\r')).map_err(|rule| (line, rule))?;
    }
    if !list.is_named {
        return Err((1, ListRule::Format { found: String::new() }));
    }
    list.end()?;
    Ok(list.logs)
}

#[derive(Default)]
struct List {
    is_named: bool,
    logs: Vec<WitnessedLog>,
    names: BTreeSet<String>,
    /// The log that is being read, with the line of its key.
    open: Option<(usize, WitnessedLog)>,
    /// The settings of that log that were read.
    said: BTreeSet<&'static str>,
}

impl List {
    fn line(&mut self, line: usize, text: &str) -> Result<(), ListRule> {
        if text.trim().is_empty() || text.starts_with('#') {
            return Ok(());
        }
        if !self.is_named {
            self.is_named = text == FORMAT;
            let found = cut(text);
            return if self.is_named { Ok(()) } else { Err(ListRule::Format { found }) };
        }
        let (keyword, value) = text.split_once(' ').unwrap_or((text, ""));
        let known = ["vkey", "origin", "bastion", "qpd", "contact"];
        let Some(keyword) = known.into_iter().find(|known| *known == keyword) else {
            return Err(ListRule::Keyword { found: cut(keyword) });
        };
        if value.is_empty() {
            return Err(ListRule::NoValue(keyword.to_owned()));
        }
        if keyword == "vkey" {
            // An error in the previous log is reported for its own line.
            self.end().map_err(|(_, rule)| rule)?;
            self.open = Some((line, WitnessedLog::of_key(value.parse::<VerifierKey>()?)));
            return Ok(());
        }
        let Some((_, log)) = &mut self.open else {
            return Err(ListRule::OfNoLog(keyword.to_owned()));
        };
        if !self.said.insert(keyword) {
            return Err(ListRule::Twice(keyword.to_owned()));
        }
        match keyword {
            "origin" if value != "none" => log.origin = OriginLine::new(value)?.to_string(),
            "qpd" => {
                let is_number = value.parse::<u32>().is_ok_and(|n| n.to_string() == value);
                if !is_number {
                    return Err(ListRule::Qpd { found: cut(value) });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Completes the current log.
    fn end(&mut self) -> Result<(), (usize, ListRule)> {
        self.said.clear();
        let Some((line, log)) = self.open.take() else { return Ok(()) };
        if self.logs.len() == MAX_LOGS {
            return Err((line, ListRule::TooMany));
        }
        if !self.names.insert(log.origin.clone()) {
            return Err((line, ListRule::Again(log.origin)));
        }
        self.logs.push(log);
        Ok(())
    }
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use exitgap_core::tlog::SignerKey;

    use super::*;

    fn key(name: &str) -> String {
        SignerKey::from_seed(name, [7; 32]).unwrap().verifier().to_string()
    }

    #[test]
    fn a_list_names_logs_by_their_keys_or_by_their_origins() {
        let list = format!(
            "#\n# List: tests\n#\nlogs/v0\n\n# one\nvkey {}\norigin none\nqpd 300\nbastion none\n\
             contact nobody (at) a.example\n\nvkey {}\nqpd 300\ncontact b\n\nvkey {}\norigin c.example/7\n\nvkey {}\n\
             origin d.example sum database tree\n",
            key("a.example/log"),
            key("b.example/exits"),
            key("c.example/key"),
            key("sum.d.example"),
        );
        let names = |list: &str| -> Vec<String> {
            logs(list.as_bytes()).unwrap().iter().map(|log| log.origin.clone()).collect()
        };
        let origins =
            ["a.example/log", "b.example/exits", "c.example/7", "d.example sum database tree"];
        assert_eq!(names(&list), origins);
        assert_eq!(names(&list.replace('\n', "\r\n")), origins);
        assert!(names("logs/v0\n").is_empty());
    }

    #[test]
    fn what_breaks_a_rule_is_named_with_its_line() {
        let good = key("a.example/log");
        let again =
            format!("logs/v0\nvkey {good}\nvkey {}\norigin a.example/log\n", key("b.example"));
        let many: String = (0..=MAX_LOGS)
            .fold(String::new(), |all, n| all + "vkey " + &key(&format!("l{n}")) + "\n");
        let cases: [(String, usize, &str); 12] = [
            (String::new(), 1, "expected logs/v0"),
            ("logs/v1\n".into(), 1, "found \"logs/v1\", expected"),
            (format!("vkey {good}\nlogs/v0\n"), 1, "expected"),
            ("logs/v0\nkey a\n".into(), 2, "\"key\" is not one of"),
            ("logs/v0\n\nqpd 7\n".into(), 3, "before any vkey"),
            ("logs/v0\nvkey a.example\n".into(), 2, "verifier key"),
            (format!("logs/v0\nvkey {good}\nqpd many\n"), 3, "not a number of requests"),
            (format!("logs/v0\nvkey {good}\nqpd 7\nqpd 7\n"), 4, "given twice"),
            (format!("logs/v0\nvkey {good}\ncontact\n"), 3, "has no value"),
            (format!("logs/v0\nvkey {good}\norigin a\tb\n"), 3, "not a line of text"),
            (again, 3, "listed twice"),
            (format!("logs/v0\n{many}"), MAX_LOGS + 2, "more than 1024"),
        ];
        for (list, line, said) in cases {
            let (at, rule) = logs(list.as_bytes()).unwrap_err();
            assert!(at == line && rule.to_string().contains(said), "{at}: {rule}");
        }
        let (at, rule) = logs(b"logs/v0\n\xff\n").unwrap_err();
        assert_eq!((at, rule), (2, ListRule::NotText));
    }
}
