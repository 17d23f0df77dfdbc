//! What is wrong with what a store holds.

use exitgap_core::ids::{HeadHash, PoolId, SnapshotHash, StateHash};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::SnapshotError;
use exitgap_core::tlog::Hash;

/// What is wrong with a stored body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorruptBody {
    /// An entry names the snapshot, but it is not there.
    #[error("it is not in the store")]
    Absent,
    /// It refers to a dictionary that is not there, or to none of a lower level.
    #[error("its dictionary, body {body_no:?}, is not a body of a lower level")]
    NoDictionary {
        /// The number of the dictionary's row.
        body_no: Option<i64>,
    },
    /// It does not decompress within the size written beside it.
    #[error("it does not decompress to {expected} bytes ({reason})")]
    Zstd {
        /// The size written beside it.
        expected: usize,
        /// What zstd said, or the size found.
        reason: String,
    },
    /// It hashes to something else.
    #[error("the hash of its bytes is {found}")]
    Hash {
        /// The hash of the bytes found.
        found: SnapshotHash,
    },
    /// Its state hashes to something else.
    #[error("its state should have the hash {expected}, but has {found}")]
    State {
        /// The hash written beside it.
        expected: StateHash,
        /// The hash of the bytes found.
        found: StateHash,
    },
    /// It hashes rightly but is no snapshot this build accepts.
    #[error("{0}")]
    NotASnapshot(SnapshotError),
    /// It is the snapshot of another pool or slot than the entry that names it.
    #[error("it is the snapshot of {pool} at {slot}")]
    OfAnother {
        /// The snapshot's pool.
        pool: PoolId,
        /// The snapshot's slot.
        slot: Slot,
    },
}

/// What is wrong with a stored head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorruptHead {
    /// The entry before, whose hash it holds, is not there.
    #[error("the previous entry is not in the store")]
    NoPredecessor,
    /// Its bytes hash to something else.
    #[error("the hash of its bytes is {found}, but {expected} was sealed")]
    Hash {
        /// The hash that was sealed.
        expected: HeadHash,
        /// The hash of what the rows make.
        found: HeadHash,
    },
    /// It is not there, does not follow the head before, or has no canonical form.
    #[error("{0}")]
    Rule(String),
}

/// What is wrong with the stored log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorruptLog {
    /// The slot, or the log's own row, is not there.
    #[error("{0} is not in the store")]
    Absent(&'static str),
    /// The verifier key is none, or not of a log that begins where the store does.
    #[error("the verifier key {found:?} does not belong to this log")]
    VerifierKey {
        /// The text found.
        found: String,
    },
    /// Fewer or more pools than the leaf says.
    #[error("it seals {expected} pools, but {found} have a head")]
    Pools {
        /// What the leaf says.
        expected: u32,
        /// Heads found.
        found: usize,
    },
    /// The heads' root is another.
    #[error("the root over its heads is {found}, but {expected} was sealed")]
    HeadsRoot {
        /// What the leaf says.
        expected: Hash,
        /// What the heads make.
        found: Hash,
    },
    /// A tile of the tree over the slot's heads is absent, or not what they make.
    #[error("tile {index} of level {level} of the tree over its heads is missing or different")]
    SlotTile {
        /// Level 0 are the tiles of heads, level 1 is that of their roots.
        level: u32,
        /// The tile's index.
        index: usize,
    },
    /// A node of the log's tree is another.
    #[error(
        "node {index} of level {level} of the log is {found}, but its children give {expected}"
    )]
    Node {
        /// The node's level; 0 are the leaves.
        level: u32,
        /// The node's index.
        index: u64,
        /// What its children, or the slot's leaf, make.
        expected: Hash,
        /// What the store holds.
        found: Hash,
    },
    /// The checkpoint is none, or does not say what the store holds.
    #[error("its checkpoint {0}")]
    Checkpoint(String),
}
