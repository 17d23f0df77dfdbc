//! Days of bodies that are present, and days that were removed (archived), in a server's database. A file keeps all
//! bodies.

use std::path::Path;

use exitgap_core::series::Slot;

use super::{Arg, Args, Db, Statement};
use crate::db::postgres::days::{
    DayRemoval, SELECT_BODY_DAYS, SELECT_LEFT_DAY, SELECT_LEFT_DAYS, SELECT_LEFT_NAMED,
    SELECT_LEFT_SNAPSHOTS, SELECT_LEFT_STATES,
};
use crate::error::StoreError;

/// A day whose bodies are in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyDay {
    /// Days since 1970-01-01.
    pub day: u32,
    /// Their size with their indices.
    pub bytes: u64,
}

/// The slot of an archived snapshot of a pool.
#[derive(Clone)]
pub struct LeftRow {
    /// The pool's id.
    pub pool: String,
    pub slot: Slot,
}

impl Db {
    /// Creates the partition for the slot's bodies.
    pub fn make_room(&self, slot: Slot) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(db) => db.make_room(slot),
        }
    }

    /// The days whose bodies are present, in order; empty for a file, which has no partitions.
    pub fn body_days(&self) -> Result<Vec<BodyDay>, StoreError> {
        if matches!(self, Self::Sqlite(_)) {
            return Ok(Vec::new());
        }
        let read = |row: super::Row| Ok(BodyDay { day: row.get("day")?, bytes: row.get("bytes")? });
        self.rows(&SELECT_BODY_DAYS, &[], read, Ok)
    }

    /// Whether the bodies of a day were removed.
    pub fn has_left(&self, day: u32) -> Result<bool, StoreError> {
        if matches!(self, Self::Sqlite(_)) {
            return Ok(false);
        }
        let found: Option<i64> =
            self.row(&SELECT_LEFT_DAY, &[(":day", day.into())], |row| row.get("bodies"))?;
        Ok(found.is_some())
    }

    /// The number of removed days.
    pub fn left_days(&self) -> Result<u64, StoreError> {
        self.left_count(&SELECT_LEFT_DAYS)
    }

    /// The number of archived snapshots of pools.
    pub fn left_named(&self) -> Result<u64, StoreError> {
        self.left_count(&SELECT_LEFT_NAMED)
    }

    fn left_count(&self, statement: &'static Statement) -> Result<u64, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(0),
            Self::Postgres(_) => self.require_row(statement, &[], |row| row.at(0)),
        }
    }

    /// Removes the bodies of a day from a server's database, and returns their number. A file keeps all bodies.
    pub fn leave(&self, admin: &Path, leaving: DayRemoval) -> Result<u64, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(0),
            Self::Postgres(db) => db.leave(admin, leaving),
        }
    }

    /// The places of an archived snapshot, by its hash.
    pub fn left_snapshots(&self, hash: &[u8; 32]) -> Result<Vec<LeftRow>, StoreError> {
        self.left(&SELECT_LEFT_SNAPSHOTS, &[(":name", name_of(hash)), (":hash", hash.into())])
    }

    /// The possible places of an archived state, by its hash.
    pub fn left_states(&self, hash: &[u8; 32]) -> Result<Vec<LeftRow>, StoreError> {
        self.left(&SELECT_LEFT_STATES, &[(":name", name_of(hash))])
    }

    fn left(&self, statement: &'static Statement, args: &Args) -> Result<Vec<LeftRow>, StoreError> {
        if matches!(self, Self::Sqlite(_)) {
            return Ok(Vec::new());
        }
        let read = |row: super::Row| Ok(LeftRow { pool: row.at(0)?, slot: row.at(1)? });
        self.rows(statement, args, read, Ok)
    }
}

/// The first bytes of a hash.
fn name_of(hash: &[u8; 32]) -> Arg<'static> {
    let [a, b, c, d, e, f, g, h, ..] = *hash;
    i64::from_be_bytes([a, b, c, d, e, f, g, h]).into()
}
