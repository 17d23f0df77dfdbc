//! The log of days: its name and its leaves.

use super::MAX_DAY_LEAF_BYTES;
use crate::Newer;
use crate::ids::DocumentHash;
use crate::json::{DocumentError, VERSION, from_canonical, to_canonical, wire_struct};
use crate::series::{Day, NoDay};
use crate::tlog::{CheckpointError, Hash, Origin, leaf_hash};

/// The name of a log's log of days: `<name>/days/<the log's first slot>`.
pub fn days_origin(log: &Origin) -> Result<Origin, CheckpointError> {
    Origin::new(&format!("{}/days", log.name()), log.first_slot())
}

/// A leaf of the log of days. Leaf `i` is for the day `i` days after the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayLeaf {
    /// The day.
    pub day: Day,
    /// The SHA-256 of its manifest.
    pub manifest: DocumentHash,
}

/// Why a document is not a leaf of a log of days.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DayLeafError {
    /// The bytes are not a canonical document of this kind.
    #[error("not a leaf of a day: {0}")]
    Document(#[from] DocumentError),
    /// Its day is not valid.
    #[error("not a leaf of a day: {0}")]
    Day(#[from] NoDay),
}

impl DayLeafError {
    /// The later version that wrote it, if that is the cause of the error.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::Document(DocumentError::Newer(newer)) => Some(*newer),
            _ => None,
        }
    }
}

struct WireLeaf {
    v: u32,
    day: String,
    manifest: DocumentHash,
}

wire_struct!(WireLeaf { v, day, manifest });

impl DayLeaf {
    /// The canonical bytes, which are the data of the leaf.
    pub fn to_canonical(&self) -> Result<Vec<u8>, DocumentError> {
        let wire = WireLeaf { v: VERSION, day: self.day.to_string(), manifest: self.manifest };
        to_canonical(&wire)
    }

    /// Parses and validates untrusted bytes.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, DayLeafError> {
        let wire: WireLeaf = from_canonical(bytes, MAX_DAY_LEAF_BYTES, "a day's leaf")?;
        Ok(Self { day: wire.day.parse()?, manifest: wire.manifest })
    }

    /// The hash of canonical bytes as a leaf of the log of days.
    pub fn leaf_of(canonical: &[u8]) -> Hash {
        leaf_hash(canonical)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_has_these_bytes_and_no_others() {
        let leaf = DayLeaf { day: "2026-11-26".parse().unwrap(), manifest: DocumentHash([7; 32]) };
        let bytes = leaf.to_canonical().unwrap();
        let hash = "07".repeat(32);
        let expected = format!(r#"{{"day":"2026-11-26","manifest":"0x{hash}","v":1}}"#);
        assert_eq!(String::from_utf8(bytes.clone()).unwrap(), expected);
        assert_eq!(DayLeaf::from_canonical(&bytes), Ok(leaf));
        let refused = |from: &str, to: &str| {
            DayLeaf::from_canonical(expected.replace(from, to).as_bytes()).unwrap_err()
        };
        assert!(matches!(refused("11-26", "11-31"), DayLeafError::Day(NoDay)));
        assert!(matches!(refused("{\"day", "{ \"day"), DayLeafError::Document(_)));
        assert!(refused("\"v\":1", "\"v\":2").newer().is_some());
    }

    #[test]
    fn a_log_of_days_is_named_after_its_log() {
        let log: Origin = "exitgap.example/log/5958856".parse().unwrap();
        let days = days_origin(&log).unwrap();
        assert_eq!(days.to_string(), "exitgap.example/log/days/5958856");
    }
}
