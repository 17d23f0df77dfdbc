//! What goes into the store and what comes out.

use exitgap_core::analytics::accuracy::{Fills, IssuedReceipts};
use exitgap_core::ids::{BlockHash, PoolId, SnapshotHash};
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;

/// A pool's part of a slot that is to be written: with its snapshot as it was read, or made
/// ready ([`crate::Ready`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry<S = Snapshot> {
    /// The pool.
    pub pool: PoolId,
    /// The direction asked about when a request names no base. It may differ from the
    /// one written before; the newest is kept.
    pub default_base: Direction,
    /// The snapshot of that pool and slot, or why there is none.
    pub reading: Result<S, MissingReason>,
}

/// What a slot's heads say besides their entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Earlier slots that are taken back.
    pub retractions: Vec<NewRetraction>,
    /// Pools of the store that are monitored no longer: this slot is their last, and they have
    /// no other entry in it.
    pub retirements: Vec<PoolId>,
    /// Slots up to this one that its reading put in doubt. Kept beside the series: the heads do
    /// not say it, and a slot that is given again is not compared by it.
    pub doubts: Vec<NewDoubt>,
    /// What pools of the store logged in blocks that are final, at most one of a pool: its head commits to it.
    pub fills: Vec<NewFills>,
    /// The receipts of estimates that were paid for, at most one document of a pool of the store: its head commits to it.
    pub issued: Vec<IssuedReceipts>,
}

/// What a pool logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFills {
    /// The pool, one that is all of its contract.
    pub pool: PoolId,
    /// The document; it follows the pool's one before.
    pub fills: Fills,
}

/// Slots of a pool whose recorded ticks a later full reading contradicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDoubt {
    /// The pool.
    pub pool: PoolId,
    /// The first slot in doubt; up to the one before the reading.
    pub first: Slot,
}

/// An earlier slot of a pool that is taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRetraction {
    /// The pool.
    pub pool: PoolId,
    /// The slot, recorded and at most 288 slots before the one that takes it back.
    pub slot: Slot,
    /// Why.
    pub cause: NewRetractionCause,
}

impl NewRetraction {
    /// Takes back a slot whose block gave way to this one.
    pub fn for_orphan(pool: PoolId, slot: Slot, canonical: BlockHash) -> Self {
        Self { pool, slot, cause: NewRetractionCause::Orphaned { canonical } }
    }
}

/// Why a slot is taken back. The block it was read at is the store's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewRetractionCause {
    /// Its block turned out orphaned.
    Orphaned {
        /// The final chain's block of that number.
        canonical: BlockHash,
    },
    /// A later full reading proved its ticks wrong.
    Misread,
}

/// What [`crate::Store::append_slot`] found and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendOutcome {
    /// False: the same slot with the same entries was in the store already.
    pub written: bool,
    /// Slots before this one that were filled with `recorder_down`.
    pub filled_slots: u32,
}

/// A pool of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// Its name.
    pub id: PoolId,
    /// The direction asked about when a request names no base.
    pub default_base: Direction,
    /// The slot of its first entry. From here on it has one entry per slot.
    pub first_slot: Slot,
    /// The slot of its last entry, where it is monitored no longer.
    pub retired_slot: Option<Slot>,
    pub(crate) number: i64,
}

/// A pool's entry for one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The slot.
    pub slot: Slot,
    /// The snapshot's name, or why there is none.
    pub outcome: Outcome,
    /// How many snapshots the pool has from its first slot up to and with this one, less those
    /// that were retracted up to and with this one.
    pub recorded_count: u32,
    /// How many slots have passed since the newest snapshot, retracted or not; 0 where this
    /// one is recorded.
    pub missing_run: u32,
}

impl Entry {
    /// Why there is no snapshot; `None` where there is one, or the pool retired.
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

/// What was recorded for a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The snapshot with this hash.
    Recorded(SnapshotHash),
    /// No snapshot, for this reason.
    Missing(MissingReason),
    /// No snapshot: the pool is monitored no longer, and this is its last entry.
    Retired,
}

/// Where a pool stands at a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latest {
    /// The newest entry.
    pub entry: Entry,
    /// Slot and hash of the newest snapshot that is not retracted, where the pool has one.
    pub snapshot: Option<(Slot, SnapshotHash)>,
    /// Slots missing since then, or since the pool's first.
    pub newer_missing: u32,
    /// Slots retracted since then, or since the pool's first.
    pub newer_retracted: u32,
}

/// A run of entries, ascending, one per slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T = Entry> {
    /// The entries.
    pub entries: Vec<T>,
    /// Where the next page begins; `None` when this was the last.
    pub next: Option<Slot>,
}

/// What a store holds and what it weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Snapshots stored.
    pub snapshots: u64,
    /// Those of them that stand alone, as dictionaries of the others.
    pub key_records: u64,
    /// Bytes of all canonical snapshots.
    pub canonical_bytes: u64,
    /// Bytes of all compressed bodies, without the rows around them.
    pub zstd_bytes: u64,
    /// Bytes of the database's pages, with everything: entries, indices, free space.
    /// The write-ahead log, which is folded in as it grows, is not counted.
    pub database_bytes: u64,
}

impl Pool {
    /// Whether the pool has an entry for `slot`, one of the store's.
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
