//! What a later version of exitgap made: unknown to this one, which does not make it wrong.

use core::fmt;

use crate::ids::{Code, TableHash};

/// Something in a well-formed document that this build does not know. Whoever meets it cannot say
/// whether it is true, only that an update might.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Newer {
    /// A document of a later version.
    Version {
        /// Which document.
        document: &'static str,
        /// Its version.
        found: u32,
    },
    /// A state of another kind of pool.
    Protocol(Code),
    /// An oracle reading from another kind of source.
    OracleSource(Code),
    /// A market session by a calendar.
    Calendar(Code),
    /// A market session by another table of a known calendar.
    Table(TableHash),
    /// Rules of another version: a short word, cut to that.
    Method([u8; Newer::METHOD_LENGTH]),
    /// Another reason for a missing slot.
    MissingReason(Code),
    /// Another reason to take a slot back.
    Retraction(Code),
}

impl Newer {
    /// The longest name of a version of the rules.
    pub const METHOD_LENGTH: usize = 20;

    /// Rules of this version.
    pub fn method(version: &str) -> Self {
        let mut name = [0; Self::METHOD_LENGTH];
        for (to, from) in name.iter_mut().zip(version.bytes()) {
            *to = from;
        }
        Self::Method(name)
    }

    /// The stable code of a check that it keeps from being made.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Version { .. } => "unsupported_version",
            Self::Protocol(_) => "unsupported_protocol",
            Self::OracleSource(_) => "unsupported_oracle",
            Self::Calendar(_) => "unsupported_calendar",
            Self::Table(_) => "unsupported_table",
            Self::Method(_) => "unsupported_method",
            Self::MissingReason(_) => "unsupported_missing_code",
            Self::Retraction(_) => "unsupported_retraction_code",
        }
    }
}

impl fmt::Display for Newer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { document, found } => write!(f, "version {found} of {document}"),
            Self::Protocol(code) => write!(f, "the protocol {code}"),
            Self::OracleSource(code) => write!(f, "the oracle source {code}"),
            Self::Calendar(code) => write!(f, "the calendar {code}"),
            Self::Table(hash) => write!(f, "the calendar's table {hash}"),
            Self::Method(name) => {
                let name = core::str::from_utf8(name).unwrap_or_default();
                write!(f, "the method {:?}", name.trim_end_matches('\0'))
            }
            Self::MissingReason(code) => write!(f, "the missing-slot reason {code}"),
            Self::Retraction(code) => write!(f, "the retraction reason {code}"),
        }?;
        f.write_str(": made by a newer version; update to check it")
    }
}
