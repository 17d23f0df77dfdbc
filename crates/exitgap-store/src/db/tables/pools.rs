//! `pool` and `retirement`.

use exitgap_core::series::Slot;

use super::{DatabaseError, Db, Row, statements};
use crate::error::StoreError;

/// A pool with its retirement.
pub struct PoolRow {
    pub number: i64,
    pub id: String,
    pub default_base_token: i64,
    pub first_slot: i64,
    pub retired_slot: Option<i64>,
}

impl PoolRow {
    pub(super) fn from_row(row: Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            number: row.get("pool_no")?,
            id: row.get("pool_id")?,
            default_base_token: row.get("default_base_token")?,
            first_slot: row.get("first_slot")?,
            retired_slot: row.get("retired_slot")?,
        })
    }
}

impl Db {
    /// All pools, in the order of their names.
    pub fn pools<T>(
        &self,
        make: impl FnMut(PoolRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.rows(&statements::SELECT_POOLS, &[], PoolRow::from_row, make)
    }

    /// The pool with this name.
    pub fn pool(&self, id: &str) -> Result<Option<PoolRow>, StoreError> {
        self.row(&statements::SELECT_POOL, &[(":pool_id", id.into())], PoolRow::from_row)
    }

    /// The number of pools with a head in the slot that come before this one.
    pub fn place(&self, slot: Slot, id: &str) -> Result<i64, StoreError> {
        let args = [(":slot", slot.into()), (":pool_id", id.into())];
        self.require_row(&statements::SELECT_PLACE, &args, |row| row.at(0))
    }

    /// Writes a pool.
    pub fn insert_pool(
        &self,
        pool_no: i64,
        id: &str,
        default_base_token: i64,
        first_slot: Slot,
    ) -> Result<(), StoreError> {
        let args = [
            (":pool_no", pool_no.into()),
            (":pool_id", id.into()),
            (":default_base_token", default_base_token.into()),
            (":first_slot", first_slot.into()),
        ];
        self.execute_pipelined(&statements::INSERT_POOL, &args)
    }

    /// Changes a pool's default base.
    pub fn update_default_base(&self, pool_no: i64, token: i64) -> Result<(), StoreError> {
        let args = [(":pool_no", pool_no.into()), (":default_base_token", token.into())];
        self.execute_pipelined(&statements::UPDATE_DEFAULT_BASE, &args)
    }

    /// Notes that the slot is the pool's last.
    pub fn insert_retirement(&self, pool_no: i64, slot: Slot) -> Result<(), StoreError> {
        let args = [(":pool_no", pool_no.into()), (":slot", slot.into())];
        self.execute_pipelined(&statements::INSERT_RETIREMENT, &args)
    }
}
