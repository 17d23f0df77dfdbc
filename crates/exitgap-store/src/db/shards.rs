//! The sealing recorder's operations on other recorders' readings. A file has none, because one process reads
//! everything.

use std::path::Path;

use super::Db;
use super::postgres::place::is_server;
use super::postgres::shards::Attendant;
use crate::error::StoreError;

/// A recorder that shares the reading for the store at `url`; `None` for a file.
pub fn attendant(url: &Path) -> Option<Result<Attendant, StoreError>> {
    is_server(url).then(|| Attendant::open(url))
}

impl Db {
    /// The shards with readings for a slot.
    pub fn shards_read(&self, slot: u32) -> Result<Vec<String>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(Vec::new()),
            Self::Postgres(db) => db.shards_read(slot),
        }
    }

    /// The shards that are assigned to a recorder.
    pub fn shards_held(&self) -> Result<Vec<String>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(Vec::new()),
            Self::Postgres(db) => db.shards_held(),
        }
    }

    /// Refuses further readings of a slot.
    pub fn freeze(&self, slot: u32) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(db) => db.freeze(slot),
        }
    }

    /// The reading of a shard for a slot, as it was stored.
    pub fn reading_of(&self, slot: u32, shard: &str) -> Result<Option<Vec<u8>>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(db) => db.reading_of(slot, shard),
        }
    }

    /// The next slot after this one that has readings.
    pub fn next_read(&self, after: Option<u32>) -> Result<Option<i64>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(db) => db.next_read(after),
        }
    }
}
