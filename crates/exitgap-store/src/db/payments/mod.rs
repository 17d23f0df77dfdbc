//! The database of payments, shared by the processes of one machine: opening it, and its rows.

mod rows;

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::DatabaseError;

pub use rows::{LeaseRow, NewPaymentRow, PaymentRow, SentRow, SettledRow};

/// `EXPY`, in the file's header.
const APPLICATION_ID: i32 = 0x4558_5059;
const SCHEMA_VERSION: i32 = 2;

/// How long a statement waits for another process.
const BUSY_LIMIT: Duration = Duration::from_secs(10);

/// The payments of one machine, open for writing.
#[derive(Debug)]
pub struct PaymentsDb {
    connection: Connection,
}

/// What a file that is no database of payments turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub struct NotPayments {
    /// Its application id.
    pub application_id: i32,
    /// Its schema version.
    pub version: i32,
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

impl PaymentsDb {
    /// Opens the database, and makes it where there is none: by one process, whoever else comes.
    pub fn open(path: &Path) -> Result<Result<Self, NotPayments>, DatabaseError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let mut connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(BUSY_LIMIT)?;
            connection.execute_batch(include_str!("sql/connection.sql"))?;
            connection.set_prepared_statement_cache_capacity(64);
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let pragma = |name| transaction.pragma_query_value(None, name, |row| row.get(0));
            let found = NotPayments {
                application_id: pragma("application_id")?,
                version: pragma("user_version")?,
            };
            let tables: i64 =
                transaction
                    .query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
            let is_new = found.application_id == 0 && tables == 0;
            if is_new {
                transaction.execute_batch(include_str!("sql/schema.sql"))?;
            }
            if is_new || (found.application_id, found.version) == (APPLICATION_ID, 1) {
                transaction.execute_batch(include_str!("sql/schema_2.sql"))?;
            } else if (found.application_id, found.version) != (APPLICATION_ID, SCHEMA_VERSION) {
                return Ok(Err(found));
            }
            transaction.commit()?;
            Ok(Ok(Self { connection }))
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

    /// What `work` does is done whole or not at all, while no other process writes. It is on the disk when
    /// this returns.
    pub fn write<T, E: From<DatabaseError>>(
        &mut self,
        work: impl FnOnce(&Write<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(DatabaseError::engine)?;
        let write = Write(transaction);
        let done = work(&write)?;
        write.0.commit().map_err(DatabaseError::engine)?;
        Ok(done)
    }
}

/// A transaction that writes.
pub struct Write<'a>(Transaction<'a>);

/// Makes a database as the first version made it.
#[cfg(test)]
pub fn make_first_version(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(include_str!("sql/schema.sql")).unwrap();
}
