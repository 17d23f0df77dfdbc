//! The database of stored state proofs: opening it, and its rows.

mod rows;

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::DatabaseError;
use super::sidecar::{self, FileKind};

pub use rows::ProofKey;

/// `EXPR`, in the file's header.
const APPLICATION_ID: i32 = 0x4558_5052;
const SCHEMA_VERSION: i32 = 2;

/// The stored proofs of one machine.
#[derive(Debug)]
pub struct ProofsDb {
    connection: Connection,
}

impl ProofsDb {
    /// Opens the database, and creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Result<Self, FileKind>, DatabaseError> {
        let opened = sidecar::open(path, |transaction, found| {
            if found.is_none() {
                transaction.execute_batch(include_str!("sql/schema.sql"))?;
            }
            let kind = |version| FileKind { application_id: APPLICATION_ID, version };
            if found.is_none_or(|found| found == kind(1)) {
                transaction.execute_batch(include_str!("sql/schema_2.sql"))?;
                return Ok(true);
            }
            Ok(found == Some(kind(SCHEMA_VERSION)))
        })?;
        Ok(opened.map(|connection| Self { connection }))
    }

    /// Runs `work`, which reads a single consistent state.
    pub fn read_transaction<T, E: From<DatabaseError>>(
        &mut self,
        work: impl FnOnce(&Rows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.within(TransactionBehavior::Deferred, work)
    }

    /// Runs `work` in a transaction: all or nothing. The changes are durable when this returns.
    pub fn write_transaction<T, E: From<DatabaseError>>(
        &mut self,
        work: impl FnOnce(&Rows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.within(TransactionBehavior::Immediate, work)
    }

    fn within<T, E: From<DatabaseError>>(
        &mut self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Rows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let begun = self.connection.transaction_with_behavior(behavior);
        let rows = Rows(begun.map_err(DatabaseError::engine)?);
        let done = work(&rows)?;
        rows.0.commit().map_err(DatabaseError::engine)?;
        Ok(done)
    }
}

/// The rows, in a transaction.
pub struct Rows<'a>(Transaction<'a>);

/// Creates a database in the form of its first version, with one proof that was requested and one that was not.
#[cfg(test)]
pub fn make_first_version(path: &Path, [asked, not]: [&str; 2], slot: i64, body: &[u8]) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(include_str!("sql/schema.sql")).unwrap();
    connection
        .execute("INSERT INTO chain_days (no, chain, day) VALUES (1, 'anvil', 0)", ())
        .unwrap();
    for (contract, asked) in [(asked, 1), (not, 0)] {
        let row = (contract, slot, asked, body);
        connection
            .execute(
                "INSERT INTO proofs (contract, slot, chain_day, asked, body) VALUES (?1, ?2, 1, ?3, ?4)",
                row,
            )
            .unwrap();
    }
}
