//! Folding the write-ahead log into the database, with every failure told.
//!
//! `SQLite` does so by itself after a commit and when it closes, and tells nobody of a sync that
//! fails meanwhile. Nothing is lost by that: what was committed was synced to the log before, and
//! stays there until it is in the database. But a disk that fails is to stop whoever writes to it.

use super::{DatabaseError, FOLD_WAL, Sqlite, WAL_PAGES};
use crate::error::StoreError;

/// Pages that the log may hold before it is folded: what `SQLite` itself takes.
pub const AFTER_PAGES: u32 = 1_000;

impl Sqlite {
    /// Folds the log if it holds `pages` or more. To be called after a commit: an error means that
    /// the commit holds and the disk does not.
    pub fn fold_after_commit(&self, pages: u32) -> Result<(), StoreError> {
        let held = self.connection.query_row(WAL_PAGES, (), |row| row.get::<_, i64>(1));
        let held =
            held.map_err(|error| StoreError::Fold { source: DatabaseError::engine(error) })?;
        if held < i64::from(pages) { Ok(()) } else { self.fold() }
    }

    /// Folds all that no reader still needs. Where the disk is full the log stays as it is: the
    /// next commit says so, or there is room again by then.
    pub fn fold(&self) -> Result<(), StoreError> {
        match self.connection.query_row(FOLD_WAL, (), |_| Ok(())) {
            Ok(()) => Ok(()),
            Err(error) => match DatabaseError::engine(error) {
                full if full.is_disk_full() => Ok(()),
                source => Err(StoreError::Fold { source }),
            },
        }
    }
}
