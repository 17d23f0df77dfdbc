//! Data from a later version of exitgap, which this version does not know. That does not make it wrong.

use core::fmt;

use crate::ids::{Code, TableHash};

/// Something in a well-formed document that this build does not know. Code that finds it cannot decide whether it is
/// true, only that an update might.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Newer {
    /// A document of a later version.
    Version {
        /// The kind of document.
        document: &'static str,
        /// Its version.
        found: u32,
    },
    /// The state of an unknown kind of pool.
    Protocol(Code),
    /// An oracle reading from an unknown kind of source.
    OracleSource(Code),
    /// A market session of an unknown calendar.
    Calendar(Code),
    /// A market session of an unknown table of a known calendar.
    Table(TableHash),
    /// Rules of an unknown version. The name is cut to a maximum length.
    Method([u8; Newer::METHOD_LENGTH]),
    /// An unknown reason for a missing slot.
    MissingReason(Code),
    /// An unknown reason for a retraction.
    Retraction(Code),
}

impl Newer {
    /// The maximum length of a rule version's name.
    pub const METHOD_LENGTH: usize = 20;

    /// Rules of this version.
    pub fn method(version: &str) -> Self {
        let mut name = [0; Self::METHOD_LENGTH];
        for (to, from) in name.iter_mut().zip(version.bytes()) {
            *to = from;
        }
        Self::Method(name)
    }

    /// The stable code of a check that cannot be done because of it.
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
