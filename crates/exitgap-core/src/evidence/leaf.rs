//! Slot leaves: each commits to all heads of a slot.

use super::commits::Commits;
use crate::Newer;
use crate::json::{DocumentError, VERSION, from_canonical, to_canonical_within, wire_struct};
use crate::series::{Slot, SlotError};
use crate::tlog::{Hash, leaf_hash};

/// The largest slot leaf that is parsed, in bytes.
pub const MAX_LEAF_BYTES: usize = 4 << 10;

/// The commitment to all heads of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotLeaf {
    /// The slot.
    pub slot: Slot,
    /// The number of pools that have a head.
    pub pools: u32,
    /// The RFC 6962 root over the heads' canonical bytes, in the order of pool ids.
    pub root: Hash,
    /// Commitments other than the heads.
    pub commits: Commits,
}

/// Why a document is not a slot leaf.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeafError {
    /// The bytes are not a canonical slot leaf.
    #[error("not a slot leaf: {0}")]
    Document(#[from] DocumentError),
    /// The slot is not one of the series.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// The root is not 32 bytes of base64.
    #[error("root {found:?} is not 32 bytes of base64")]
    Root {
        /// The text found, cut to 60 characters.
        found: String,
    },
}

struct WireLeaf {
    v: u32,
    slot: u64,
    pools: u32,
    root: String,
    commits: Commits,
}

wire_struct!(WireLeaf { v, slot, pools, root; optional commits });

impl LeafError {
    /// The later version that wrote it, if that is the cause of the error.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::Document(DocumentError::Newer(newer)) => Some(*newer),
            _ => None,
        }
    }
}

impl SlotLeaf {
    /// The canonical bytes, which are the data of the log's leaf.
    pub fn to_canonical(&self) -> Result<Vec<u8>, DocumentError> {
        let (slot, root) = (self.slot.number().into(), self.root.to_string());
        let commits = self.commits.clone();
        let wire = WireLeaf { v: VERSION, slot, pools: self.pools, root, commits };
        to_canonical_within(&wire, MAX_LEAF_BYTES)
    }

    /// The hash of canonical bytes as a leaf of the log.
    pub fn leaf_of(canonical: &[u8]) -> Hash {
        leaf_hash(canonical)
    }

    /// Parses and validates untrusted bytes.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, LeafError> {
        let wire: WireLeaf = from_canonical(bytes, MAX_LEAF_BYTES, "a slot leaf")?;
        let root = Hash::from_base64(&wire.root)
            .ok_or_else(|| LeafError::Root { found: wire.root.chars().take(60).collect() })?;
        let (slot, commits) = (Slot::new(wire.slot)?, wire.commits);
        Ok(Self { slot, pools: wire.pools, root, commits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Code, DocumentHash};

    #[test]
    fn leaves_have_these_bytes_and_no_others() {
        let (root, commits) = (Hash([0; 32]), Commits::default());
        let leaf = SlotLeaf { slot: Slot::FIRST, pools: 3, root, commits };
        let bytes = leaf.to_canonical().unwrap();
        let text = core::str::from_utf8(&bytes).unwrap();
        assert_eq!(
            text,
            r#"{"pools":3,"root":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","slot":5957856,"v":1}"#
        );
        assert_eq!(SlotLeaf::from_canonical(&bytes), Ok(leaf.clone()));
        let other = text.replace("AAA=", "AAB=");
        assert!(matches!(SlotLeaf::from_canonical(other.as_bytes()), Err(LeafError::Root { .. })));
        let name: Code = "predecessor".parse().unwrap();
        let commits = Commits::to(name, DocumentHash([7; 32]));
        let committing = SlotLeaf { commits, ..leaf.clone() }.to_canonical().unwrap();
        let read = SlotLeaf::from_canonical(&committing).unwrap();
        assert_eq!(read.commits.get("predecessor"), Some(DocumentHash([7; 32])));
        let empty = text.replacen('{', r#"{"commits":{},"#, 1);
        assert!(SlotLeaf::from_canonical(empty.as_bytes()).is_err());
        let early = text.replace("5957856", "5957855");
        assert!(matches!(SlotLeaf::from_canonical(early.as_bytes()), Err(LeafError::Slot(_))));
    }
}
