//! Checkpoints the write-ahead log, and reports every failure.
//!
//! `SQLite` does this itself after a commit and when it closes, but does not report a failed sync. No data is lost by
//! that, because committed data was synced to the log before and stays there until it is in the database. But a failing
//! disk must stop the writer.

use super::{DatabaseError, FOLD_WAL, Sqlite, WAL_PAGES};
use crate::error::StoreError;

/// The number of pages in the log after which it is checkpointed: `SQLite`'s own default.
pub const AFTER_PAGES: u32 = 1_000;

impl Sqlite {
    /// Checkpoints the log if it has at least `pages` pages. Call it after a commit: an error means that the commit
    /// holds but the disk has a problem.
    pub fn fold_after_commit(&self, pages: u32) -> Result<(), StoreError> {
        let held = self.connection.query_row(WAL_PAGES, (), |row| row.get::<_, i64>(1));
        let held =
            held.map_err(|error| StoreError::Fold { source: DatabaseError::engine(error) })?;
        if held < i64::from(pages) { Ok(()) } else { self.fold() }
    }

    /// Checkpoints everything that no reader still needs. If the disk is full, the log stays unchanged: the next commit
    /// reports it, or there is space again by then.
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
