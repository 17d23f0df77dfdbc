//! What goes into the store and what comes out.

use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;

/// A pool's part of a slot that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// The pool.
    pub pool: PoolId,
    /// The direction asked about when a request names no base. It may differ from the
    /// one written before; the newest is kept.
    pub default_base: Direction,
    /// The snapshot of that pool and slot, or why there is none.
    pub reading: Result<Snapshot, MissingReason>,
}

/// What [`crate::Store::append_slot`] found and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
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
    pub(crate) number: i64,
}

/// A pool's entry for one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The slot.
    pub slot: Slot,
    /// The snapshot's name, or why there is none.
    pub outcome: Outcome,
    /// How many snapshots the pool has from its first slot up to and with this one.
    pub recorded_count: u32,
    /// How many slots in a row are missing up to and with this one; 0 where this one
    /// is recorded.
    pub missing_run: u32,
}

impl Entry {
    /// The slot of the pool's newest snapshot at or before this entry's slot.
    pub fn newest_recorded(&self) -> Option<Slot> {
        if self.recorded_count == 0 {
            return None;
        }
        Slot::new(u64::from(self.slot.number()).checked_sub(self.missing_run.into())?).ok()
    }
}

/// What was recorded for a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The snapshot with this hash.
    Recorded(SnapshotHash),
    /// No snapshot, for this reason.
    Missing(MissingReason),
}

/// Where a pool stands at a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latest {
    /// The newest entry. Its `missing_run` says how many slots are missing since the
    /// newest snapshot.
    pub entry: Entry,
    /// Slot and hash of the newest snapshot, where the pool has one.
    pub snapshot: Option<(Slot, SnapshotHash)>,
}

/// A run of entries, ascending, one per slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The entries.
    pub entries: Vec<Entry>,
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

pub(crate) fn direction_of(token: i64) -> Option<Direction> {
    Direction::BOTH.into_iter().find(|direction| base_token(*direction) == token)
}

pub(crate) fn base_token(direction: Direction) -> i64 {
    match direction {
        Direction::ZeroForOne => 0,
        Direction::OneForZero => 1,
    }
}
