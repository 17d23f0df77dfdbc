//! Databases beside the series': small, and written by several processes of one machine.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::DatabaseError;

/// How long a statement waits for another process.
const BUSY_LIMIT: Duration = Duration::from_secs(10);

/// What the header of a file says that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileKind {
    /// Its application id.
    pub application_id: i32,
    /// Its schema version.
    pub version: i32,
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

/// Opens a database, and makes it where there is none: by one process, whoever else comes. `make` is given what the
/// file is, `None` where it is new, and makes of it what is wanted; the file's kind is given back where it cannot.
pub fn open(
    path: &Path,
    make: impl Fn(&Transaction<'_>, Option<FileKind>) -> rusqlite::Result<bool>,
) -> Result<Result<Connection, FileKind>, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_LIMIT)?;
        connection.execute_batch(include_str!("apart.sql"))?;
        connection.set_prepared_statement_cache_capacity(64);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let pragma = |name| transaction.pragma_query_value(None, name, |row| row.get(0));
        let found = FileKind {
            application_id: pragma("application_id")?,
            version: pragma("user_version")?,
        };
        let tables: i64 =
            transaction.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
        let is_new = found.application_id == 0 && tables == 0;
        if !make(&transaction, (!is_new).then_some(found))? {
            return Ok(Err(found));
        }
        transaction.commit()?;
        Ok(Ok(connection))
    };
    // Where several make it at once, the engine refuses the change of its journal without waiting.
    let begun = Instant::now();
    loop {
        match open() {
            Err(error) if is_busy(&error) && begun.elapsed() < BUSY_LIMIT => {
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => return opened.map_err(DatabaseError::engine),
        }
    }
}
