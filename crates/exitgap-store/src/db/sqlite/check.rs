//! Checks the pages of a database file before use. `SQLite` notices a damaged page only when a statement reads it, which
//! can be days after the start.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{database_error, open};
use crate::error::StoreError;

/// Checks the structure of all pages, and the format of every row.
const QUICK_CHECK: &str = "PRAGMA quick_check(1)";

/// What was found where the pages of a database were looked through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PagesChecked {
    /// The whole database.
    Whole,
    /// As much as was possible in the time.
    CutShort,
    /// Up to a damaged page: what is wrong with it.
    Damaged(String),
}

/// Looks through the pages of a database file for so long, or up to the first damaged page.
pub fn check_pages(path: &Path, limit: Duration) -> Result<PagesChecked, StoreError> {
    let doing = "checking the database's pages";
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(path, flags).map_err(|error| database_error(doing, error))?;
    connection.busy_timeout(open::BUSY_LIMIT).map_err(|error| database_error(doing, error))?;
    let stop = connection.get_interrupt_handle();
    let (ended, running) = channel::<()>();
    let found = thread::scope(|scope| {
        scope.spawn(move || {
            let mut wait = limit;
            // Repeatedly, because an interrupt has no effect on a statement that has not begun.
            while running.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                stop.interrupt();
                wait = Duration::from_millis(1);
            }
        });
        let found = connection.query_row(QUICK_CHECK, (), |row| row.get::<_, String>(0));
        drop(ended);
        found
    });
    match found {
        Ok(found) if found == "ok" => Ok(PagesChecked::Whole),
        Ok(found) => {
            Ok(PagesChecked::Damaged(found.split_whitespace().collect::<Vec<_>>().join(" ")))
        }
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Ok(PagesChecked::CutShort),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Ok(PagesChecked::Damaged(error.to_string()))
            }
            _ => Err(database_error(doing, error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    const PAGE_BYTES: usize = 4096;

    /// A database with this many rows of one page each.
    fn database(rows: usize) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("series.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch("CREATE TABLE filled (id INTEGER PRIMARY KEY, body BLOB NOT NULL);")
            .unwrap();
        let body = vec![7_u8; PAGE_BYTES / 2];
        connection.execute_batch("BEGIN").unwrap();
        for _ in 0..rows {
            connection.execute("INSERT INTO filled (body) VALUES (?)", [&body]).unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
        drop(connection);
        (folder, path)
    }

    #[test]
    fn a_damaged_page_is_found_wherever_it_is_although_the_file_opens() {
        let (_folder, path) = database(64);
        let limit = Duration::from_mins(1);
        assert_eq!(check_pages(&path, limit).unwrap(), PagesChecked::Whole);
        let sound = fs::read(&path).unwrap();
        for page in [2, sound.len() / PAGE_BYTES / 2, sound.len() / PAGE_BYTES - 1] {
            for filled in [0, 0xff, 0x5a] {
                let mut bytes = sound.clone();
                bytes[page * PAGE_BYTES..(page + 1) * PAGE_BYTES].fill(filled);
                fs::write(&path, &bytes).unwrap();
                // As a control, a statement that does not read the page gives no error.
                let connection = Connection::open(&path).unwrap();
                let first = "SELECT count(*) FROM sqlite_schema";
                connection.query_row(first, (), |row| row.get::<_, i64>(0)).unwrap();
                drop(connection);
                let found = check_pages(&path, limit).unwrap();
                let is_damaged = matches!(found, PagesChecked::Damaged(_));
                assert!(is_damaged, "page {page}, {filled:x}: {found:?}");
            }
        }
    }

    #[test]
    fn a_check_ends_when_its_time_is_over() {
        let (_folder, path) = database(20_000);
        assert_eq!(check_pages(&path, Duration::ZERO).unwrap(), PagesChecked::CutShort);
    }
}
