//! The database of payments, shared by the processes of one machine: opening it, and its rows.

mod rows;

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::DatabaseError;
use super::apart::{self, FileKind};

pub use rows::{LeaseRow, NewPaymentRow, PaymentRow, SentRow, SettledRow};

/// `EXPY`, in the file's header.
const APPLICATION_ID: i32 = 0x4558_5059;
const SCHEMA_VERSION: i32 = 3;

/// The payments of one machine, open for writing.
#[derive(Debug)]
pub struct PaymentsDb {
    connection: Connection,
}

impl PaymentsDb {
    /// Opens the database, and makes it where there is none.
    pub fn open(path: &Path) -> Result<Result<Self, FileKind>, DatabaseError> {
        let opened = apart::open(path, |transaction, found| {
            if found.is_none() {
                transaction.execute_batch(include_str!("sql/schema.sql"))?;
            }
            let kind = |version| FileKind { application_id: APPLICATION_ID, version };
            let older = found.is_none_or(|found| found == kind(1));
            if older {
                transaction.execute_batch(include_str!("sql/schema_2.sql"))?;
            }
            if older || found == Some(kind(2)) {
                transaction.execute_batch(include_str!("sql/schema_3.sql"))?;
                return Ok(true);
            }
            Ok(found == Some(kind(SCHEMA_VERSION)))
        })?;
        Ok(opened.map(|connection| Self { connection }))
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

/// Makes a database as the first or the second version made it.
#[cfg(test)]
pub fn make_version(path: &Path, version: i32) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(include_str!("sql/schema.sql")).unwrap();
    if version > 1 {
        connection.execute_batch(include_str!("sql/schema_2.sql")).unwrap();
    }
}
