//! The kinds of damage in a store.

use exitgap_core::ids::{HeadHash, PoolId, SnapshotHash, StateHash};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::SnapshotError;
use exitgap_core::tlog::Hash;

/// The damage of a stored body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorruptBody {
    /// An entry names the snapshot, but the snapshot does not exist.
    #[error("it is not in the store")]
    Absent,
    /// It refers to a dictionary that does not exist, or whose level is not lower.
    #[error("its dictionary, body {body_no:?}, is not a body of a lower level")]
    NoDictionary {
        /// The number of the dictionary's row.
        body_no: Option<i64>,
    },
    /// It does not decompress to the size in its row.
    #[error("it does not decompress to {expected} bytes ({reason})")]
    Zstd {
        /// The size in its row.
        expected: usize,
        /// zstd's error, or the size found.
        reason: String,
    },
    /// It has another hash.
    #[error("the hash of its bytes is {found}")]
    Hash {
        /// The hash found.
        found: SnapshotHash,
    },
    /// Its state has another hash.
    #[error("its state should have the hash {expected}, but has {found}")]
    State {
        /// The hash in its row.
        expected: StateHash,
        /// The hash found.
        found: StateHash,
    },
    /// It has the right hash but is not a snapshot that this build accepts.
    #[error("{0}")]
    NotASnapshot(SnapshotError),
    /// It is the snapshot of another pool or slot than that of the entry.
    #[error("it is the snapshot of {pool} at {slot}")]
    OfAnother {
        /// The snapshot's pool.
        pool: PoolId,
        /// The snapshot's slot.
        slot: Slot,
    },
}

/// The damage of a stored head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorruptHead {
    /// The previous entry, whose hash it contains, does not exist.
    #[error("the previous entry is not in the store")]
    NoPredecessor,
    /// It has another hash.
    #[error("the hash of its bytes is {found}, but {expected} was sealed")]
    Hash {
        /// The hash that was sealed.
        expected: HeadHash,
        /// The hash of the head that the rows give.
        found: HeadHash,
    },
    /// It does not exist, does not follow the previous head, or has no canonical form.
    #[error("{0}")]
    Rule(String),
}

/// The damage of the stored log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorruptLog {
    /// The slot, or the log's own row, does not exist.
    #[error("{0} is not in the store")]
    Absent(&'static str),
    /// The verifier key is invalid, or belongs to a log that does not begin where the store does.
    #[error("the verifier key {found:?} does not belong to this log")]
    VerifierKey {
        /// The text found.
        found: String,
    },
    /// The number of pools is not that of the leaf.
    #[error("it seals {expected} pools, but {found} have a head")]
    Pools {
        /// The number in the leaf.
        expected: u32,
        /// Heads found.
        found: usize,
    },
    /// The root over the heads is not that of the leaf.
    #[error("the root over its heads is {found}, but {expected} was sealed")]
    HeadsRoot {
        /// The root in the leaf.
        expected: Hash,
        /// The root over the heads.
        found: Hash,
    },
    /// A tile of the tree over the slot's heads is absent or wrong.
    #[error("tile {index} of level {level} of the tree over its heads is missing or different")]
    SlotTile {
        /// Level 0 is the tiles of heads, and level 1 the tile of their roots.
        level: u32,
        /// The tile's index.
        index: usize,
    },
    /// A node of the log's tree is wrong.
    #[error(
        "node {index} of level {level} of the log is {found}, but its children give {expected}"
    )]
    Node {
        /// The node's level. Level 0 holds the leaves.
        level: u32,
        /// The node's index.
        index: u64,
        /// The hash computed from its children, or from the slot's leaf.
        expected: Hash,
        /// The stored hash.
        found: Hash,
    },
    /// The checkpoint is invalid, or does not match the store.
    #[error("its checkpoint {0}")]
    Checkpoint(String),
}
