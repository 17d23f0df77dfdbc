//! `SQLite`: one file, written by one process of one machine.

mod check;
mod copy;
mod file;
mod fold;
mod open;

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, TransactionBehavior, params_from_iter};

use super::arg::{Arg, Args};
use super::row::{ColumnValue, Row};
use super::statements::Statement;
use super::{DatabaseError, Values};
use crate::error::StoreError;

pub use check::{PagesChecked, check_pages};
pub use fold::AFTER_PAGES;
pub use open::FIRST_MIGRATED;

/// Settings of a connection that writes.
const CONNECTION: &str = include_str!("sql/connection.sql");
/// Tables and triggers of the first version that can be migrated.
const FIRST_SCHEMA: &str = include_str!("sql/schema.sql");
/// The migration to each later version from the previous one.
const MIGRATIONS: [(i32, &str); 1] = [(12, include_str!("sql/migrations/12.sql"))];
/// Every object of the schema.
const SELECT_SCHEMA: &str = include_str!("sql/select_schema.sql");
/// Checkpoints the write-ahead log.
const FOLD_WAL: &str = include_str!("sql/fold_wal.sql");
/// Reads the size of the write-ahead log.
const WAL_PAGES: &str = include_str!("sql/wal_pages.sql");

/// A database file, open for reading or for writing.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    /// Uses a file that is already open.
    pub fn from_connection(connection: Connection) -> Self {
        Self { connection }
    }

    /// Begins a write transaction, with no other writers.
    pub fn begin(&self, doing: &'static str) -> Result<rusqlite::Transaction<'_>, StoreError> {
        let behavior = TransactionBehavior::Immediate;
        let transaction = rusqlite::Transaction::new_unchecked(&self.connection, behavior);
        transaction.map_err(|error| database_error(doing, error))
    }

    /// Holds the current state for reading.
    pub fn view(&self, doing: &'static str) -> Result<rusqlite::Transaction<'_>, StoreError> {
        self.connection.unchecked_transaction().map_err(|error| database_error(doing, error))
    }

    /// Closes the database, and reports errors that dropping it would hide.
    pub fn close(self, doing: &'static str) -> Result<(), StoreError> {
        self.connection.close().map_err(|(_, error)| database_error(doing, error))
    }

    /// The prepared statement. It is parsed once per connection.
    fn prepare(
        &self,
        statement: &'static Statement,
        args: usize,
    ) -> Result<CachedStatement<'_>, StoreError> {
        let prepared = self.connection.prepare_cached(statement.sql);
        let prepared = prepared.map_err(|error| database_error(statement.doing, error))?;
        debug_assert_eq!(prepared.parameter_count(), args, "{}", statement.doing);
        Ok(prepared)
    }

    /// Calls a function with every row found, up to `most`.
    pub fn each(
        &self,
        statement: &'static Statement,
        args: &Args,
        most: usize,
        mut show: impl FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut prepared = self.prepare(statement, args.len())?;
        let mut rows =
            prepared.query(args).map_err(|error| database_error(statement.doing, error))?;
        for _ in 0..most {
            let Some(row) = rows.next().map_err(|error| database_error(statement.doing, error))?
            else {
                break;
            };
            show(Row::Sqlite(row))?;
        }
        Ok(())
    }

    /// Executes a write, and returns the number of rows.
    pub fn execute(&self, statement: &'static Statement, args: &Args) -> Result<usize, StoreError> {
        let mut prepared = self.prepare(statement, args.len())?;
        prepared.execute(args).map_err(|error| database_error(statement.doing, error))
    }

    /// Writes a whole row, by position.
    pub fn put(&self, statement: &'static Statement, values: &Values) -> Result<(), StoreError> {
        let args = values.args();
        let mut prepared = self.prepare(statement, args.len())?;
        let written = prepared.execute(params_from_iter(args));
        written.map(|_| ()).map_err(|error| database_error(statement.doing, error))
    }
}

/// The value in the column with this name.
#[inline]
pub fn value_by_name<'a>(
    row: &'a rusqlite::Row,
    column: &str,
) -> Result<ColumnValue<'a>, DatabaseError> {
    row.get_ref(column).map(Into::into).map_err(DatabaseError::engine)
}

/// The value in the column with this index.
#[inline]
pub fn value_at<'a>(
    row: &'a rusqlite::Row,
    place: usize,
) -> Result<ColumnValue<'a>, DatabaseError> {
    row.get_ref(place).map(Into::into).map_err(DatabaseError::engine)
}

impl<'a> From<ValueRef<'a>> for ColumnValue<'a> {
    #[inline]
    fn from(value: ValueRef<'a>) -> Self {
        match value {
            ValueRef::Null => Self::Nothing,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(_) => Self::Fraction,
            ValueRef::Text(text) => Self::Text(text),
            ValueRef::Blob(bytes) => Self::Blob(bytes),
        }
    }
}

impl ToSql for Arg<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn database_error(doing: &'static str, error: rusqlite::Error) -> StoreError {
    StoreError::Database { doing, source: DatabaseError::engine(error) }
}

#[cfg(test)]
impl Sqlite {
    /// An in-memory database with the store's tables but without their constraints, so rows can be written in any
    /// order.
    pub fn without_rules() -> Self {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(FIRST_SCHEMA).unwrap();
        for (_, migration) in MIGRATIONS {
            connection.execute_batch(migration).unwrap();
        }
        let mut triggers =
            connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").unwrap();
        let names = triggers.query_map((), |row| row.get(0)).unwrap();
        let names = names.collect::<Result<Vec<String>, _>>().unwrap();
        drop(triggers);
        for name in names {
            connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        Self { connection }
    }

    /// Every column: its table, its name, and whether it is `NOT NULL`.
    pub fn columns(&self) -> Vec<(String, String, bool)> {
        let sql = "SELECT tables.name, columns.name, \"notnull\" OR pk \
                   FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns \
                   WHERE tables.type = 'table' ORDER BY 1, 2";
        let mut columns = self.connection.prepare(sql).unwrap();
        let rows = columns.query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// Runs any statement on the database.
    pub fn tamper(&self, sql: &str) {
        self.connection.execute_batch(sql).unwrap();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::statements::{ALL, FILES, every_statement_is_used};
    use super::*;

    #[test]
    fn every_statement_is_one_of_this_schema_and_every_file_is_used() {
        let db = Sqlite::without_rules();
        for statement in ALL {
            db.connection.prepare_cached(statement.sql).unwrap();
        }
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/db"));
        every_statement_is_used(&folder.join("sql"), FILES, &[]);
        let batches = [CONNECTION, FIRST_SCHEMA, SELECT_SCHEMA, FOLD_WAL, WAL_PAGES];
        every_statement_is_used(&folder.join("sqlite/sql"), &[], &batches);
    }
}
