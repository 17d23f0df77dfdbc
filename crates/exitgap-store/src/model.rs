//! The input and output types of the store.

use exitgap_core::analytics::accuracy::{Fills, IssuedReceipts};
use exitgap_core::ids::{BlockHash, PoolId, SnapshotHash};
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;

/// A pool's part of a slot to be written, with its snapshot either raw or prepared ([`crate::Ready`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry<S = Snapshot> {
    /// The pool.
    pub pool: PoolId,
    /// The direction used when a request names no base. It may differ from the stored one; the newest is kept.
    pub default_base: Direction,
    /// The snapshot of this pool and slot, or why there is none.
    pub reading: Result<S, MissingReason>,
}

/// The statements of a slot's heads besides their entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Earlier slots to retract.
    pub retractions: Vec<NewRetraction>,
    /// Pools of the store that are no longer monitored. This slot is their last, and they have no other entry in it.
    pub retirements: Vec<PoolId>,
    /// Slots up to this one whose ticks its reading puts in doubt. They are stored outside the series: heads do not
    /// contain them, and they are not compared when a slot is submitted again.
    pub doubts: Vec<NewDoubt>,
    /// Fills of pools of the store in final blocks, at most one document per pool, which the pool's head commits to.
    pub fills: Vec<NewFills>,
    /// The receipts of paid estimates, at most one document per pool of the store, which the pool's head commits to.
    pub issued: Vec<IssuedReceipts>,
}

/// The fills of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFills {
    /// The pool. It must be the only pool of its contract.
    pub pool: PoolId,
    /// The document, which follows the pool's previous one.
    pub fills: Fills,
}

/// Slots of a pool whose recorded ticks a later full reading contradicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDoubt {
    /// The pool.
    pub pool: PoolId,
    /// The first slot in doubt. The last one is the slot before the reading.
    pub first: Slot,
}

/// An earlier slot of a pool to retract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRetraction {
    /// The pool.
    pub pool: PoolId,
    /// The slot, which must be recorded and at most 288 slots before the slot that retracts it.
    pub slot: Slot,
    /// The reason.
    pub cause: NewRetractionCause,
}

impl NewRetraction {
    /// Retracts a slot whose block was replaced by this one.
    pub fn for_orphan(pool: PoolId, slot: Slot, canonical: BlockHash) -> Self {
        Self { pool, slot, cause: NewRetractionCause::Orphaned { canonical } }
    }
}

/// Why a slot is retracted. The store itself knows the block that the slot was read at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewRetractionCause {
    /// Its block was orphaned.
    Orphaned {
        /// The block of that number on the final chain.
        canonical: BlockHash,
    },
    /// A later full reading proved that its ticks were wrong.
    Misread,
}

/// The result of [`crate::Store::append_slot`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendOutcome {
    /// False if the store already had the same slot with the same entries.
    pub written: bool,
    /// The number of slots before this one that were filled with `recorder_down`.
    pub filled_slots: u32,
}

/// A pool of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// Its name.
    pub id: PoolId,
    /// The direction used when a request names no base.
    pub default_base: Direction,
    /// The slot of its first entry. From here on it has one entry per slot.
    pub first_slot: Slot,
    /// The slot of its last entry, if it is no longer monitored.
    pub retired_slot: Option<Slot>,
    pub(crate) number: i64,
}

/// A pool's entry for one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The slot.
    pub slot: Slot,
    /// The snapshot's hash, or why there is none.
    pub outcome: Outcome,
    /// The number of the pool's snapshots up to and including this slot, minus those retracted up to and including this
    /// slot.
    pub recorded_count: u32,
    /// The number of slots since the newest snapshot, retracted or not; 0 if this slot is recorded.
    pub missing_run: u32,
}

impl Entry {
    /// Why there is no snapshot; `None` if there is one or the pool is retired.
    pub fn missing_reason(&self) -> Option<MissingReason> {
        match self.outcome {
            Outcome::Missing(reason) => Some(reason),
            Outcome::Recorded(_) | Outcome::Retired => None,
        }
    }

    /// The slot of the pool's newest snapshot at or before this entry's slot, retracted or not.
    pub(crate) fn newest_snapshot(&self, pool: &Pool) -> Option<Slot> {
        let slot = u64::from(self.slot.number()).checked_sub(self.missing_run.into())?;
        Slot::new(slot).ok().filter(|slot| *slot >= pool.first_slot)
    }
}

/// The result recorded for a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The snapshot with this hash.
    Recorded(SnapshotHash),
    /// No snapshot, for this reason.
    Missing(MissingReason),
    /// No snapshot: the pool is no longer monitored, and this is its last entry.
    Retired,
}

/// The state of a pool at a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latest {
    /// The newest entry.
    pub entry: Entry,
    /// Slot and hash of the newest snapshot that is not retracted, if the pool has one.
    pub snapshot: Option<(Slot, SnapshotHash)>,
    /// The number of missing slots since then, or since the pool's first slot.
    pub newer_missing: u32,
    /// The number of retracted slots since then, or since the pool's first slot.
    pub newer_retracted: u32,
}

/// A range of entries in ascending order, one per slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T = Entry> {
    /// The entries.
    pub entries: Vec<T>,
    /// The slot where the next page begins; `None` on the last page.
    pub next: Option<Slot>,
}

/// The content and size of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// The number of stored snapshots.
    pub snapshots: u64,
    /// The number of key records among them, which are compressed without a dictionary and serve as dictionaries for
    /// the others.
    pub key_records: u64,
    /// The total bytes of all canonical snapshots.
    pub canonical_bytes: u64,
    /// The total bytes of all compressed bodies, without the rest of their rows.
    pub zstd_bytes: u64,
    /// The bytes of all pages of the database, including entries, indices and free space. The write-ahead log, which is
    /// checkpointed as it grows, is not counted.
    pub database_bytes: u64,
}

impl Pool {
    /// Whether the pool has an entry for `slot`, which must be one of the store's slots.
    pub(crate) fn has(&self, slot: Slot) -> bool {
        self.first_slot <= slot && self.retired_slot.is_none_or(|retired| slot <= retired)
    }
}

pub(crate) fn direction_of(token: i64) -> Option<Direction> {
    Direction::BOTH.into_iter().find(|direction| base_token(*direction) == token)
}

pub(crate) fn base_token(direction: Direction) -> i64 {
    match direction {
        Direction::ZeroForOne => 0,
        Direction::OneForZero => 1,
    }
}
