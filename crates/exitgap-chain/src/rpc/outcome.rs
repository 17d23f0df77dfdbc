//! Determines the meaning of a node's error from HTTP status, JSON-RPC code, method, `data` and message. Only this
//! module does that.
//!
//! The rows of [`ROWS`] are tried in their order, and the first that fits counts. Each names its source. An answer that no
//! row knows is never judged at once ([`Outcome::Unclear`]): each round asks every node, after some rounds the request is
//! made smaller where it can be, and what a slot depends on is asked for as long as the slot's time lasts.

mod rows;
#[cfg(test)]
mod tests;

use super::error::{RpcError, cut};
use rows::ROWS;

/// The reaction to a failed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Outcome {
    /// No failure: the contract's own answer.
    Answer,
    /// An outage: the same node may answer soon.
    AskAgain,
    /// The node lags or has pruned. Another node may have the data, and this one may have it soon.
    AskAnother,
    /// Too much was requested.
    Narrow,
    /// Too many requests: the node must not be contacted for a while.
    WaitUntil,
    /// The node does not have the method.
    NotSupported,
    /// The answer contradicts itself or the request.
    Contradicts,
    /// No row knows it: ask all nodes, ask again, then narrow.
    Unclear,
}

impl Outcome {
    /// Its code, for metrics.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::AskAgain => "ask_again",
            Self::AskAnother => "ask_another",
            Self::Narrow => "narrow",
            Self::WaitUntil => "wait_until",
            Self::NotSupported => "not_supported",
            Self::Contradicts => "contradicts",
            Self::Unclear => "unclear",
        }
    }
}

/// The number of characters of a message, and of its data, that are searched for words.
const MOST_WORDS: usize = 400;

/// The meaning of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Reverted,
    RateLimited,
    NoState,
    NoBlock,
    TooMuch,
    TooSlow,
    Outage,
    NotSupported,
    /// The node permanently refused a transaction.
    Rejected,
    Unclear,
}

/// A node's error as it appears in its answer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fault<'a> {
    /// The requested method.
    pub(super) method: &'a str,
    /// The HTTP status.
    pub(super) status: u16,
    /// The JSON-RPC error code, if there is one.
    pub(super) code: Option<i64>,
    /// Its message, or the text of a body that is not JSON-RPC.
    pub(super) message: &'a str,
    /// Its `data`, as text.
    pub(super) data: &'a str,
}

impl Fault<'_> {
    /// Whether a row matches.
    pub(super) fn is_known(&self) -> bool {
        self.row().is_some()
    }

    /// Converts it to an error.
    pub(super) fn sort(&self) -> RpcError {
        let message = self.words();
        match self.meaning() {
            Meaning::Reverted => RpcError::Reverted(message),
            Meaning::RateLimited => RpcError::RateLimited(message),
            Meaning::NoState => RpcError::NoState(message),
            Meaning::NoBlock => RpcError::NoBlock(message),
            Meaning::TooMuch => RpcError::RefusedForSize(message),
            Meaning::TooSlow => RpcError::TooSlow(message),
            Meaning::Outage => RpcError::Outage(message),
            Meaning::NotSupported => RpcError::NotSupported(message),
            Meaning::Rejected => RpcError::Refused { code: self.code.unwrap_or_default(), message },
            Meaning::Unclear => RpcError::Unclear { code: self.code, message },
        }
    }

    /// The error's text: its code or status, its message, and its `data` if that adds information.
    fn words(&self) -> String {
        let mut words = cut(self.message);
        if !self.data.is_empty() && !self.data.starts_with("0x") && self.data != self.message {
            words = cut(&format!("{words} ({})", self.data));
        }
        match (self.meaning(), self.code, self.status) {
            // Shown to the caller of a contract or the sender of a transaction, who needs only the message.
            (Meaning::Reverted | Meaning::Rejected, ..) => words,
            (_, Some(code), 200 | 0) => format!("error {code}: {words}"),
            (_, Some(code), status) => format!("HTTP status {status}, error {code}: {words}"),
            (_, None, status) if words.is_empty() => format!("HTTP status {status}"),
            (_, None, status) => format!("HTTP status {status}: {words}"),
        }
    }

    fn meaning(&self) -> Meaning {
        self.row().map_or(Meaning::Unclear, |row| row.meaning)
    }

    fn row(&self) -> Option<&'static Row> {
        // A stack trace that follows the words may have any others, and so may the address of a page that explains them.
        let head = |text: &str| {
            let words: String = text.chars().take(MOST_WORDS).collect();
            let words = words.split_whitespace().filter(|word| !word.contains("://"));
            words.collect::<Vec<_>>().join(" ")
        };
        let [message, data] = [self.message, self.data].map(|text| head(text).to_ascii_lowercase());
        ROWS.iter().find(|row| row.fits(self, &message, &data))
    }
}

/// Where a row's words must appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    /// The row has no words.
    Any,
    /// The message begins with one of these.
    Begins(&'static [&'static str]),
    /// The message contains one of these.
    Message(&'static [&'static str]),
    /// The message or the data contains one of these.
    Anywhere(&'static [&'static str]),
    /// The data contains one of these.
    Data(&'static [&'static str]),
}

/// A row: the conditions, all of which must match, and the meaning. Empty lists match everything.
#[derive(Debug)]
struct Row {
    status: &'static [u16],
    codes: &'static [i64],
    methods: &'static [&'static str],
    words: Words,
    /// The message has one of these too.
    with: &'static [&'static str],
    /// The message has none of these.
    without: &'static [&'static str],
    meaning: Meaning,
}

impl Row {
    const fn words(words: Words, meaning: Meaning) -> Self {
        Self { status: &[], codes: &[], methods: &[], words, with: &[], without: &[], meaning }
    }

    const fn codes(codes: &'static [i64], meaning: Meaning) -> Self {
        Self { codes, ..Self::words(Words::Any, meaning) }
    }

    const fn status(status: &'static [u16], meaning: Meaning) -> Self {
        Self { status, ..Self::words(Words::Any, meaning) }
    }

    const fn with(self, with: &'static [&'static str]) -> Self {
        Self { with, ..self }
    }

    const fn without(self, without: &'static [&'static str]) -> Self {
        Self { without, ..self }
    }

    const fn of(self, methods: &'static [&'static str]) -> Self {
        Self { methods, ..self }
    }

    const fn with_codes(self, codes: &'static [i64]) -> Self {
        Self { codes, ..self }
    }

    fn fits(&self, fault: &Fault<'_>, message: &str, data: &str) -> bool {
        let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
        (self.status.is_empty() || self.status.contains(&fault.status))
            && (self.codes.is_empty() || fault.code.is_some_and(|code| self.codes.contains(&code)))
            && (self.methods.is_empty() || self.methods.contains(&fault.method))
            && (self.with.is_empty() || has(message, self.with))
            && !has(message, self.without)
            && match self.words {
                Words::Any => true,
                Words::Begins(words) => words.iter().any(|word| message.starts_with(word)),
                Words::Message(words) => has(message, words),
                Words::Anywhere(words) => has(message, words) || has(data, words),
                Words::Data(words) => has(data, words),
            }
    }
}
