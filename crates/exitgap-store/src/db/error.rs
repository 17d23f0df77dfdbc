//! What a database says where it does not do what it was asked.

use rusqlite::ErrorCode;

use super::postgres::Fault;

/// What the database said. Which database that is, and what its errors are, only this room knows:
/// to everybody else it is words.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DatabaseError(Cause);

#[derive(Debug, thiserror::Error)]
enum Cause {
    /// `SQLite` refused.
    #[error(transparent)]
    Sqlite(rusqlite::Error),
    /// `PostgreSQL` refused, or was not there to.
    #[error(transparent)]
    Postgres(Box<Fault>),
    /// A statement that always finds a row found none.
    #[error("no row was found")]
    NoRow,
    /// What only one of the databases can do was asked of the other.
    #[error("only a file database can do that")]
    OnlyOfAFile,
    /// A column holds what cannot be in it.
    #[error("{found} in column {column}")]
    Column { column: String, found: String },
}

impl DatabaseError {
    pub(super) fn engine(error: rusqlite::Error) -> Self {
        Self(Cause::Sqlite(error))
    }

    pub(super) fn no_row() -> Self {
        Self(Cause::NoRow)
    }

    pub(super) fn only_of_a_file() -> Self {
        Self(Cause::OnlyOfAFile)
    }

    pub(super) fn column(column: &str, found: String) -> Self {
        Self(Cause::Column { column: column.to_owned(), found })
    }

    /// Whether a column holds what cannot be in it: the file is damaged, the database is not.
    pub(super) fn is_of_a_column(&self) -> bool {
        matches!(self.0, Cause::Column { .. })
    }

    /// Whether the file is no database at all.
    pub(super) fn is_no_database(&self) -> bool {
        self.code() == Some(ErrorCode::NotADatabase)
    }

    /// Whether there was no room on the disk.
    pub(crate) fn is_disk_full(&self) -> bool {
        match &self.0 {
            Cause::Postgres(fault) => fault.is_disk_full(),
            _ => self.code() == Some(ErrorCode::DiskFull),
        }
    }

    fn code(&self) -> Option<ErrorCode> {
        match &self.0 {
            Cause::Sqlite(error) => error.sqlite_error_code(),
            _ => None,
        }
    }
}

impl From<Fault> for DatabaseError {
    fn from(fault: Fault) -> Self {
        Self(Cause::Postgres(Box::new(fault)))
    }
}
