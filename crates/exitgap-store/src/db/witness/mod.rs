//! The database of a witness: the last checkpoint it cosigned for each log.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, named_params};

use super::DatabaseError;
use super::sidecar::{self, FileKind};
use super::statements::{Statement, find};

static SELECT_LATEST: Statement = find(include_str!("sql/state.sql"), "SELECT_LATEST");
static SELECT_STATE: Statement = find(include_str!("sql/state.sql"), "SELECT_STATE");
static UPSERT_STATE: Statement = find(include_str!("sql/state.sql"), "UPSERT_STATE");
static INSERT_CONTRADICTION: Statement =
    find(include_str!("sql/state.sql"), "INSERT_CONTRADICTION");
static SELECT_CONTRADICTIONS: Statement =
    find(include_str!("sql/state.sql"), "SELECT_CONTRADICTIONS");

/// `EXWI`, in the file's header.
const KIND: FileKind = FileKind { application_id: 0x4558_5749, version: 1 };

/// The last cosigned checkpoint of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateRow {
    pub size: i64,
    pub root: [u8; 32],
    pub checkpoint: String,
}

/// Two different checkpoints of the same size.
#[derive(Debug)]
pub struct ContradictionRow<'a> {
    pub size: i64,
    pub other_root: &'a [u8; 32],
    pub cosigned: &'a str,
    pub other: &'a str,
}

/// A witness's state, open for writing.
#[derive(Debug)]
pub struct WitnessDb {
    connection: Connection,
}

impl WitnessDb {
    /// Opens the database, and creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Result<Self, FileKind>, DatabaseError> {
        let opened = sidecar::open(path, |transaction, found| {
            if found.is_none() {
                transaction.execute_batch(include_str!("sql/schema.sql"))?;
            }
            Ok(found.is_none_or(|found| found == KIND))
        })?;
        Ok(opened.map(|connection| Self { connection }))
    }

    /// Runs `work` in a transaction: all or nothing, and without other writers. The changes are durable when this
    /// returns.
    pub fn write_transaction<T, E: From<DatabaseError>>(
        &mut self,
        work: impl FnOnce(&Rows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let rows = Rows(begun.map_err(DatabaseError::engine)?);
        let done = work(&rows)?;
        rows.0.commit().map_err(DatabaseError::engine)?;
        Ok(done)
    }
}

/// The rows, in a transaction.
pub struct Rows<'a>(Transaction<'a>);

impl Rows<'_> {
    /// The last cosigned checkpoint of a log.
    pub fn state(&self, origin: &str) -> Result<Option<StateRow>, DatabaseError> {
        let args = named_params! { ":origin": origin };
        let found = self.0.query_row(SELECT_STATE.sql, args, |row| {
            Ok(StateRow {
                size: row.get("size")?,
                root: row.get("root")?,
                checkpoint: row.get("checkpoint")?,
            })
        });
        found.optional().map_err(DatabaseError::engine)
    }

    /// The last cosigned checkpoint of the log whose name has this SHA-256, in hex.
    pub fn latest(&self, origin_sha256: &str) -> Result<Option<String>, DatabaseError> {
        let args = named_params! { ":origin_sha256": origin_sha256 };
        let found = self.0.query_row(SELECT_LATEST.sql, args, |row| row.get("checkpoint"));
        found.optional().map_err(DatabaseError::engine)
    }

    /// Stores the cosigned checkpoint.
    pub fn put_state(
        &self,
        origin: &str,
        origin_sha256: &str,
        row: &StateRow,
    ) -> Result<(), DatabaseError> {
        let StateRow { size, root, checkpoint } = row;
        let args = named_params! {
            ":origin": origin, ":origin_sha256": origin_sha256, ":size": size, ":root": root,
            ":checkpoint": checkpoint,
        };
        let written = self.0.execute(UPSERT_STATE.sql, args);
        written.map(|_| ()).map_err(DatabaseError::engine)
    }

    /// Stores a contradiction, unless the log already has the maximum number.
    pub fn put_contradiction(
        &self,
        origin: &str,
        row: &ContradictionRow<'_>,
        most: u32,
    ) -> Result<(), DatabaseError> {
        let args = named_params! {
            ":origin": origin, ":size": row.size, ":other_root": row.other_root,
            ":cosigned": row.cosigned, ":other": row.other, ":most": most,
        };
        let written = self.0.execute(INSERT_CONTRADICTION.sql, args);
        written.map(|_| ()).map_err(DatabaseError::engine)
    }

    /// The contradictions of a log, smallest size first.
    pub fn contradictions(
        &self,
        origin: &str,
        most: u32,
    ) -> Result<Vec<[String; 2]>, DatabaseError> {
        let mut statement =
            self.0.prepare(SELECT_CONTRADICTIONS.sql).map_err(DatabaseError::engine)?;
        let args = named_params! { ":origin": origin, ":most": most };
        let rows = statement.query_map(args, |row| Ok([row.get("cosigned")?, row.get("other")?]));
        rows.and_then(Iterator::collect).map_err(DatabaseError::engine)
    }
}
