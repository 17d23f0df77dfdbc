//! Folding the write-ahead log into the database, with every failure told.
//!
//! `SQLite` does so by itself after a commit and when it closes, and tells nobody of a sync that
//! fails meanwhile. Nothing is lost by that: what was committed was synced to the log before, and
//! stays there until it is in the database. But a disk that fails is to stop whoever writes to it.

use rusqlite::{Connection, ErrorCode};

use crate::error::StoreError;
use crate::sql;

/// Pages that the log may hold before it is folded: what `SQLite` itself takes.
pub const AFTER_PAGES: u32 = 1_000;

/// Folds the log if it holds `pages` or more. To be called after a commit: an error means that the
/// commit holds and the disk does not.
pub fn after_commit(connection: &Connection, pages: u32) -> Result<(), StoreError> {
    let held = connection.query_row(sql::WAL_PAGES, (), |row| row.get::<_, i64>(1));
    let held = held.map_err(|source| StoreError::Fold { source })?;
    if held < i64::from(pages) { Ok(()) } else { all(connection) }
}

/// Folds all that no reader still needs. Where the disk is full the log stays as it is: the next
/// commit says so, or there is room again by then.
pub fn all(connection: &Connection) -> Result<(), StoreError> {
    match connection.query_row(sql::FOLD_WAL, (), |_| Ok(())) {
        Err(source) if source.sqlite_error_code() != Some(ErrorCode::DiskFull) => {
            Err(StoreError::Fold { source })
        }
        _ => Ok(()),
    }
}
