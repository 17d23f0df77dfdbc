//! Notes next to the series: `doubt`, `recheck` and `suspicion`.

use exitgap_core::series::Slot;

use super::{DatabaseError, Db, Row, statements};
use crate::error::StoreError;

/// A slot whose block was reported as orphaned.
pub struct SuspicionRow {
    pub pool_id: String,
    pub slot: i64,
    pub seen_by: i64,
    pub confirmed: bool,
    pub canonical: [u8; 32],
}

impl SuspicionRow {
    fn from_row(row: Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            pool_id: row.get("pool_id")?,
            slot: row.get("slot")?,
            seen_by: row.get("seen_by_slot")?,
            confirmed: row.get("confirmed")?,
            canonical: row.get("canonical_hash")?,
        })
    }
}

impl Db {
    /// The first slot whose full reading put this one in doubt.
    pub fn doubt(&self, pool_no: i64, slot: Slot) -> Result<Option<i64>, StoreError> {
        let args = [(":pool_no", pool_no.into()), (":slot", slot.into())];
        self.require_row(&statements::SELECT_DOUBT, &args, |row| row.at(0))
    }

    /// The number of pools' slots that are in doubt.
    pub fn count_doubts(&self) -> Result<u64, StoreError> {
        self.require_row(&statements::SELECT_DOUBTED, &[], |row| row.at(0))
    }

    /// The first slot of the chain that was not rechecked.
    pub fn recheck(&self, chain: &str) -> Result<Option<i64>, StoreError> {
        self.row(&statements::SELECT_RECHECK, &[(":chain", chain.into())], |row| row.at(0))
    }

    /// Every suspicion whose slot is not retracted, oldest slot first.
    pub fn suspicions<T>(
        &self,
        make: impl FnMut(SuspicionRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.rows(&statements::SELECT_SUSPICIONS, &[], SuspicionRow::from_row, make)
    }

    /// Inserts ranges of slots that the reading of `found` put in doubt: the pool's number, the first slot, and the
    /// last.
    pub fn insert_doubts(
        &self,
        found: Slot,
        doubts: impl IntoIterator<Item = (i64, Slot, Slot)>,
    ) -> Result<(), StoreError> {
        let insert = &statements::INSERT_DOUBT;
        for (pool_no, first, last) in doubts {
            self.execute_pipelined(
                insert,
                &[
                    (":pool_no", pool_no.into()),
                    (":found_slot", found.into()),
                    (":first_slot", first.into()),
                    (":last_slot", last.into()),
                ],
            )?;
        }
        Ok(())
    }

    /// Sets the first slot of the chain that is not rechecked.
    pub fn set_recheck(&self, chain: &str, next: Slot) -> Result<(), StoreError> {
        let args = [(":chain", chain.into()), (":next_slot", next.into())];
        self.execute_pipelined(&statements::UPSERT_RECHECK, &args)
    }

    /// Inserts a suspicion, or marks it as confirmed.
    pub fn set_suspicion(
        &self,
        pool_no: i64,
        slot: Slot,
        seen_by: Slot,
        confirmed: bool,
        canonical: &[u8; 32],
    ) -> Result<(), StoreError> {
        let args = [
            (":pool_no", pool_no.into()),
            (":slot", slot.into()),
            (":seen_by_slot", seen_by.into()),
            (":confirmed", confirmed.into()),
            (":canonical_hash", canonical.into()),
        ];
        self.execute_pipelined(&statements::UPSERT_SUSPICION, &args)
    }

    /// Removes a suspicion.
    pub fn delete_suspicion(&self, pool_no: i64, slot: Slot) -> Result<(), StoreError> {
        let args = [(":pool_no", pool_no.into()), (":slot", slot.into())];
        self.execute_pipelined(&statements::DELETE_SUSPICION, &args)
    }
}
