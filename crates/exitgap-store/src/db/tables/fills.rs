//! `fills`: pools' logs.

use exitgap_core::series::Slot;

use super::entries::args_of;
use super::{DatabaseError, Db, Row, statements};
use crate::error::StoreError;

/// A compressed document of fills.
pub struct FillsRow {
    pub slot: i64,
    pub after_block: i64,
    pub to_block: i64,
    pub document_bytes: i64,
    pub zstd: Vec<u8>,
    /// The hash that the pool's head of that slot commits to.
    pub sha256: Option<[u8; 32]>,
}

/// A document of fills to insert.
pub struct NewFillsRow<'a> {
    pub slot: Slot,
    pub blocks: [i64; 2],
    pub document_bytes: usize,
    pub zstd: &'a [u8],
}

impl FillsRow {
    fn from_row(row: Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            slot: row.get("slot")?,
            after_block: row.get("after_block")?,
            to_block: row.get("to_block")?,
            document_bytes: row.get("document_bytes")?,
            zstd: row.get("zstd")?,
            sha256: row.get("fills_sha256")?,
        })
    }
}

impl Db {
    /// The pool's documents that heads in a range of slots commit to, both ends included, ascending; at most `limit`.
    pub fn fills<T>(
        &self,
        pool_no: i64,
        run: [Slot; 2],
        limit: usize,
        make: impl FnMut(FillsRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let [pool_no, from, to] = args_of(pool_no, run);
        let args = [pool_no, from, to, (":limit", limit.into())];
        self.rows(&statements::SELECT_FILLS, &args, FillsRow::from_row, make)
    }

    /// The slot and the last block of the pool's newest document at or before a slot.
    pub fn fills_place(&self, pool_no: i64, at: Slot) -> Result<Option<[i64; 2]>, StoreError> {
        let args = [(":pool_no", pool_no.into()), (":at_slot", at.into())];
        let read = |row: Row| Ok([row.at(0)?, row.at(1)?]);
        self.row(&statements::SELECT_FILLS_PLACE, &args, read)
    }

    /// Inserts a document, before the entry whose head commits to it.
    pub fn insert_fills(&self, pool_no: i64, new: &NewFillsRow) -> Result<(), StoreError> {
        let [after, to] = new.blocks;
        let args = [
            (":pool_no", pool_no.into()),
            (":slot", new.slot.into()),
            (":after_block", after.into()),
            (":to_block", to.into()),
            (":document_bytes", new.document_bytes.into()),
            (":zstd", new.zstd.into()),
        ];
        self.execute_pipelined(&statements::INSERT_FILLS, &args)
    }
}
