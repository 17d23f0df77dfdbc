//! `issued`: the receipts of paid estimates.

use exitgap_core::series::Slot;

use super::entries::args_of;
use super::{DatabaseError, Db, Row, statements};
use crate::error::StoreError;

/// A compressed document of issued estimates.
pub struct IssuedRow {
    pub slot: i64,
    pub document_bytes: i64,
    pub zstd: Vec<u8>,
    /// The hash that the pool's head of that slot commits to.
    pub sha256: Option<[u8; 32]>,
}

impl IssuedRow {
    fn from_row(row: Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            slot: row.get("slot")?,
            document_bytes: row.get("document_bytes")?,
            zstd: row.get("zstd")?,
            sha256: row.get("issued_sha256")?,
        })
    }
}

impl Db {
    /// The pool's documents that heads in a range of slots commit to, both ends included, ascending; at most `limit`.
    pub fn issued_documents<T>(
        &self,
        pool_no: i64,
        run: [Slot; 2],
        limit: usize,
        make: impl FnMut(IssuedRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let [pool_no, from, to] = args_of(pool_no, run);
        let args = [pool_no, from, to, (":limit", limit.into())];
        self.rows(&statements::SELECT_ISSUED, &args, IssuedRow::from_row, make)
    }

    /// The slot of the pool's newest document.
    pub fn issued_place(&self, pool_no: i64) -> Result<Option<i64>, StoreError> {
        let args = [(":pool_no", pool_no.into())];
        self.row(&statements::SELECT_ISSUED_PLACE, &args, |row| row.at(0))
    }

    /// Inserts a document, before the entry whose head commits to it.
    pub fn insert_issued(
        &self,
        pool_no: i64,
        slot: Slot,
        document_bytes: usize,
        zstd: &[u8],
    ) -> Result<(), StoreError> {
        let args = [
            (":pool_no", pool_no.into()),
            (":slot", slot.into()),
            (":document_bytes", document_bytes.into()),
            (":zstd", zstd.into()),
        ];
        self.execute_pipelined(&statements::INSERT_ISSUED, &args)
    }
}
