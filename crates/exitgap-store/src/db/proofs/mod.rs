//! The database of kept state proofs: opening it, and its rows.

mod rows;

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::DatabaseError;
use super::apart::{self, FileKind};

/// `EXPR`, in the file's header.
const KIND: FileKind = FileKind { application_id: 0x4558_5052, version: 1 };

/// The kept proofs of one machine.
#[derive(Debug)]
pub struct ProofsDb {
    connection: Connection,
}

impl ProofsDb {
    /// Opens the database, and makes it where there is none.
    pub fn open(path: &Path) -> Result<Result<Self, FileKind>, DatabaseError> {
        let opened = apart::open(path, |transaction, found| {
            if found.is_none() {
                transaction.execute_batch(include_str!("sql/schema.sql"))?;
            }
            Ok(found.is_none_or(|found| found == KIND))
        })?;
        Ok(opened.map(|connection| Self { connection }))
    }

    /// What `work` reads is of one moment.
    pub fn read<T, E: From<DatabaseError>>(
        &mut self,
        work: impl FnOnce(&Rows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.within(TransactionBehavior::Deferred, work)
    }

    /// What `work` does is done whole or not at all. It is on the disk when this returns.
    pub fn write<T, E: From<DatabaseError>>(
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
