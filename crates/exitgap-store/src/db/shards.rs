//! What whoever seals a server's store asks of readings that others made. In a file there are none: one process reads all.

use std::path::Path;

use super::Db;
use super::postgres::place::is_server;
use super::postgres::shards::Attendant;
use crate::error::StoreError;

/// A recorder that shares the reading of the store at `url`; `None`: it is a file.
pub fn attendant(url: &Path) -> Option<Result<Attendant, StoreError>> {
    is_server(url).then(|| Attendant::open(url))
}

impl Db {
    /// Of which shards there are readings of a slot.
    pub fn shards_read(&self, slot: u32) -> Result<Vec<String>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(Vec::new()),
            Self::Postgres(db) => db.shards_read(slot),
        }
    }

    /// Which shards are somebody's to read.
    pub fn shards_held(&self) -> Result<Vec<String>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(Vec::new()),
            Self::Postgres(db) => db.shards_held(),
        }
    }

    /// Accepts no further readings of a slot.
    pub fn freeze(&self, slot: u32) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(db) => db.freeze(slot),
        }
    }

    /// What was read of a shard at a slot, as it was put.
    pub fn reading_of(&self, slot: u32, shard: &str) -> Result<Option<Vec<u8>>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(db) => db.reading_of(slot, shard),
        }
    }

    /// The first slot after this one of which there are readings.
    pub fn next_read(&self, after: Option<u32>) -> Result<Option<i64>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(db) => db.next_read(after),
        }
    }
}
