//! `body`, alone and together with the heads that name it.

use exitgap_core::series::Slot;

use super::entries::args_of;
use super::{DatabaseError, Db, HeadRow, Row, statements};
use crate::error::StoreError;
use crate::model::Totals;

/// A compressed body, and the body that it refers to.
pub struct BodyRow {
    pub body_no: i64,
    pub slot: Slot,
    pub snapshot: [u8; 32],
    pub state: [u8; 32],
    pub level: u8,
    /// The body that it refers to.
    pub dictionary_body_no: Option<i64>,
    /// The slot of that body.
    pub base_slot: Option<i64>,
    pub snapshot_bytes: i64,
    pub state_bytes: i64,
    pub zstd: Vec<u8>,
}

/// The numbers of the next new rows.
pub struct NextNumbers {
    pub body: i64,
    pub pool: i64,
}

/// The same for writing.
pub struct NewBodyRow<'a> {
    pub body_no: i64,
    pub slot: Slot,
    pub snapshot: &'a [u8; 32],
    pub state: &'a [u8; 32],
    pub level: u8,
    pub dictionary_body_no: Option<i64>,
    pub snapshot_bytes: usize,
    pub state_bytes: usize,
    pub zstd: &'a [u8],
}

/// A head with the body of its snapshot, whose `base_slot` is not read.
pub struct SealedBodyRow {
    pub head: HeadRow,
    /// The slot in the body's row, and the body.
    pub body: Option<(i64, BodyRow)>,
}

impl BodyRow {
    fn from_row(row: Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            body_no: row.get("body_no")?,
            slot: row.get("slot")?,
            snapshot: row.get("snapshot_sha256")?,
            state: row.get("state_sha256")?,
            level: row.get("level")?,
            dictionary_body_no: row.get("dictionary_body_no")?,
            base_slot: row.get("base_slot")?,
            snapshot_bytes: row.get("snapshot_bytes")?,
            state_bytes: row.get("state_bytes")?,
            zstd: row.get("zstd")?,
        })
    }
}

impl SealedBodyRow {
    fn from_row(row: Row) -> Result<Self, DatabaseError> {
        let head = HeadRow::from_row(row)?;
        let slot: Option<i64> = row.get("body_slot")?;
        let body = slot.map(|slot| BodyRow::from_row(row).map(|body| (slot, body))).transpose()?;
        Ok(Self { head, body })
    }
}

impl Db {
    /// The body of the snapshot with this hash, and of this slot if it is known.
    pub fn body(
        &self,
        snapshot: &[u8; 32],
        slot: Option<Slot>,
    ) -> Result<Option<BodyRow>, StoreError> {
        let args = [
            (":snapshot_sha256", snapshot.into()),
            (":from_slot", slot.unwrap_or(Slot::FIRST).into()),
            (":to_slot", slot.unwrap_or(Slot::LAST).into()),
        ];
        self.row(&statements::SELECT_BODY, &args, BodyRow::from_row)
    }

    /// The body that another body refers to, which is of an earlier slot of the same day.
    pub fn dictionary(&self, of: &BodyRow) -> Result<Option<BodyRow>, StoreError> {
        let args = [
            (":body_no", of.dictionary_body_no.into()),
            (":from_slot", (i64::from(of.slot.number()) - i64::from(Slot::PER_DAY)).into()),
            (":to_slot", of.slot.into()),
        ];
        self.row(&statements::SELECT_DICTIONARY, &args, BodyRow::from_row)
    }

    /// The hash of the first snapshot with this state.
    pub fn snapshot_of_state(&self, state: &[u8; 32]) -> Result<Option<[u8; 32]>, StoreError> {
        let args = [(":state_sha256", state.into())];
        self.row(&statements::SELECT_BODY_BY_STATE, &args, |row| row.at(0))
    }

    /// The pool's heads in a range of slots, both ends included, ascending, each with its body. An unreadable row gives
    /// an error at its position.
    pub fn sealed_bodies(
        &self,
        pool_no: i64,
        run: [Slot; 2],
    ) -> Result<Vec<Result<SealedBodyRow, StoreError>>, StoreError> {
        let statement = &statements::SELECT_SEALED_ROWS;
        let mut found = Vec::new();
        self.each(statement, &args_of(pool_no, run), |row| {
            found.push(SealedBodyRow::from_row(row).map_err(|error| statement.store_error(error)));
            Ok(())
        })?;
        Ok(found)
    }

    /// The numbers of the next body and the next pool, for the writer.
    pub fn next_numbers(&self) -> Result<NextNumbers, StoreError> {
        self.require_row(&statements::SELECT_NEXT_NUMBERS, &[], |row| {
            Ok(NextNumbers { body: row.get("body_no")?, pool: row.get("pool_no")? })
        })
    }

    /// Writes a body.
    pub fn insert_body(&self, new: &NewBodyRow) -> Result<(), StoreError> {
        let args = [
            (":body_no", new.body_no.into()),
            (":slot", new.slot.into()),
            (":snapshot_sha256", new.snapshot.into()),
            (":state_sha256", new.state.into()),
            (":level", new.level.into()),
            (":dictionary_body_no", new.dictionary_body_no.into()),
            (":snapshot_bytes", new.snapshot_bytes.into()),
            (":state_bytes", new.state_bytes.into()),
            (":zstd", new.zstd.into()),
        ];
        self.execute_pipelined(&statements::INSERT_BODY, &args)
    }

    /// The total size of all bodies.
    pub fn totals(&self) -> Result<Totals, StoreError> {
        let statement = &statements::SELECT_TOTALS;
        let database_bytes = self.bytes(statement.doing)?;
        self.require_row(statement, &[], |row| {
            Ok(Totals {
                snapshots: row.get("snapshots")?,
                key_records: row.get("key_records")?,
                canonical_bytes: row.get("canonical_bytes")?,
                zstd_bytes: row.get("zstd_bytes")?,
                database_bytes,
            })
        })
    }
}
