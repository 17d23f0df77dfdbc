//! `entry`, with the retractions in its heads: `retraction`.

use exitgap_core::evidence::Depths;
use exitgap_core::series::Slot;
use exitgap_core::units::Percent;

use super::{Arg, DatabaseError, Db, Row, statements};
use crate::error::StoreError;
use crate::log::FullEntry;
use crate::model::Outcome;

/// A pool's slot.
pub struct EntryRow {
    pub slot: i64,
    pub snapshot: Option<[u8; 32]>,
    pub missing_reason: Option<String>,
    pub recorded_count: i64,
    pub missing_run: i64,
}

/// A pool's slot with the other contents of its head, and the head's hash.
pub struct HeadRow {
    pub entry: EntryRow,
    pub depth_usd: [Option<i64>; 2],
    pub lowest_7d_usd: [Option<i64>; 2],
    pub method_version: String,
    pub fills: Option<[u8; 32]>,
    pub issued: Option<[u8; 32]>,
    pub hash: [u8; 32],
}

/// A slot as counted in a window of depths.
pub struct WindowRow {
    pub missing: bool,
    pub depth_usd: Depths,
    pub retracted: bool,
    pub book_usd: Depths,
    pub basis: [Option<Percent>; 2],
}

/// One direction of a slot.
pub struct PointRow {
    pub slot: i64,
    pub recorded: bool,
    pub missing: bool,
    pub depth_usd: Option<u64>,
}

/// A retracted slot.
pub struct RetractionRow {
    pub slot: i64,
    pub by: i64,
    pub orphaned: Option<[u8; 32]>,
    pub canonical: Option<[u8; 32]>,
    pub code: String,
}

impl EntryRow {
    pub(super) fn from_row(row: Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            slot: row.get("slot")?,
            snapshot: row.get("snapshot_sha256")?,
            missing_reason: row.get("missing_reason")?,
            recorded_count: row.get("recorded_count")?,
            missing_run: row.get("missing_run_slots")?,
        })
    }
}

impl HeadRow {
    pub(super) fn from_row(row: Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            entry: EntryRow::from_row(row)?,
            depth_usd: [row.get("depth0_usd")?, row.get("depth1_usd")?],
            lowest_7d_usd: [row.get("lowest0_7d_usd")?, row.get("lowest1_7d_usd")?],
            method_version: row.get("method_version")?,
            fills: row.get("fills_sha256")?,
            issued: row.get("issued_sha256")?,
            hash: row.get("head_sha256")?,
        })
    }
}

impl Db {
    /// The pool's slots in a range, both ends included, ascending; at most `limit`.
    pub fn entries<T>(
        &self,
        pool_no: i64,
        run: [Slot; 2],
        limit: usize,
        make: impl FnMut(EntryRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let [pool_no, from, to] = args_of(pool_no, run);
        let args = [pool_no, from, to, (":limit", limit.into())];
        self.rows(&statements::SELECT_ENTRIES, &args, EntryRow::from_row, make)
    }

    /// The pool's newest slot at or before this one.
    pub fn newest_entry(&self, pool_no: i64, at: Slot) -> Result<Option<EntryRow>, StoreError> {
        let args = [(":pool_no", pool_no.into()), (":at_slot", at.into())];
        self.row(&statements::SELECT_NEWEST_ENTRY, &args, EntryRow::from_row)
    }

    /// The contents of the pool's heads in a range of slots, both ends included, ascending.
    pub fn heads<T>(
        &self,
        pool_no: i64,
        run: [Slot; 2],
        make: impl FnMut(HeadRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.rows(&statements::SELECT_HEADS, &args_of(pool_no, run), HeadRow::from_row, make)
    }

    /// The same for one slot.
    pub fn head(&self, pool_no: i64, slot: Slot) -> Result<Option<HeadRow>, StoreError> {
        self.row(&statements::SELECT_HEADS, &args_of(pool_no, [slot, slot]), HeadRow::from_row)
    }

    /// The depths of the pool's slots in a range, both ends included, ascending.
    pub fn window<T>(
        &self,
        pool_no: i64,
        run: [Slot; 2],
        make: impl FnMut(WindowRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let read = |row: Row| {
            let depth_usd = [row.at(1)?, row.at(2)?];
            let (missing, retracted) = (row.at(0)?, row.at(3)?);
            let (book_usd, basis) = ([row.at(4)?, row.at(5)?], [row.at(6)?, row.at(7)?]);
            Ok(WindowRow { missing, depth_usd, retracted, book_usd, basis })
        };
        self.rows(&statements::SELECT_WINDOW, &args_of(pool_no, run), read, make)
    }

    /// The same in the direction that sells `token`, without retractions.
    pub fn points<T>(
        &self,
        pool_no: i64,
        token: usize,
        run: [Slot; 2],
        make: impl FnMut(PointRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let [pool_no, from, to] = args_of(pool_no, run);
        let args = [pool_no, from, to, (":token", token.into())];
        let read = |row: Row| {
            let (slot, recorded, missing) = (row.at(0)?, row.at(1)?, row.at(2)?);
            Ok(PointRow { slot, recorded, missing, depth_usd: row.at(3)? })
        };
        self.rows(&statements::SELECT_POINTS, &args, read, make)
    }

    /// The pool's retracted slots in a range, both ends included, ascending.
    pub fn retractions<T>(
        &self,
        pool_no: i64,
        run: [Slot; 2],
        make: impl FnMut(RetractionRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let read = |row: Row| {
            let (slot, by, code) = (row.at(0)?, row.at(1)?, row.at(4)?);
            Ok(RetractionRow { slot, by, orphaned: row.at(2)?, canonical: row.at(3)?, code })
        };
        self.rows(&statements::SELECT_RETRACTIONS, &args_of(pool_no, run), read, make)
    }

    /// Inserts a pool's slot with the hash of its head.
    pub fn insert_entry(
        &self,
        pool_no: i64,
        new: &FullEntry,
        hash: &[u8; 32],
    ) -> Result<(), StoreError> {
        let (snapshot, reason) = match &new.entry.outcome {
            Outcome::Recorded(snapshot) => (Some(&snapshot.0), None),
            Outcome::Missing(reason) => (None, Some(reason.code())),
            Outcome::Retired => (None, None),
        };
        // Depths are at most 1,000,000,000, so they fit.
        let dollars = |depth: Option<u64>| depth.map(u64::cast_signed).into();
        let args = [
            (":pool_no", pool_no.into()),
            (":slot", new.entry.slot.into()),
            (":snapshot_sha256", snapshot.into()),
            (":missing_reason", reason.into()),
            (":recorded_count", new.entry.recorded_count.into()),
            (":missing_run_slots", new.entry.missing_run.into()),
            (":depth0_usd", dollars(new.depth_usd[0])),
            (":depth1_usd", dollars(new.depth_usd[1])),
            (":lowest0_7d_usd", dollars(new.lowest[0])),
            (":lowest1_7d_usd", dollars(new.lowest[1])),
            (":method_version", new.method_version.as_str().into()),
            (":fills_sha256", new.fills.as_ref().map(|fills| &fills.0).into()),
            (":issued_sha256", new.issued.as_ref().map(|issued| &issued.0).into()),
            (":head_sha256", hash.into()),
        ];
        self.execute_pipelined(&statements::INSERT_ENTRY, &args)
    }

    /// Notes that the head of `by` retracts the pool's `slot`: with the orphaned and the canonical block, if that is
    /// the cause.
    pub fn insert_retraction(
        &self,
        pool_no: i64,
        by: Slot,
        slot: Slot,
        code: &str,
        blocks: Option<[&[u8; 32]; 2]>,
    ) -> Result<(), StoreError> {
        let args = [
            (":pool_no", pool_no.into()),
            (":slot", slot.into()),
            (":by_slot", by.into()),
            (":code", code.into()),
            (":orphaned_hash", blocks.map(|[orphaned, _]| orphaned).into()),
            (":canonical_hash", blocks.map(|[_, canonical]| canonical).into()),
        ];
        self.execute_pipelined(&statements::INSERT_RETRACTION, &args)
    }
}

/// A pool's range of slots, both ends included, as a statement's parameters.
pub(super) fn args_of(pool_no: i64, [from, to]: [Slot; 2]) -> [(&'static str, Arg<'static>); 3] {
    [(":pool_no", pool_no.into()), (":from_slot", from.into()), (":to_slot", to.into())]
}
