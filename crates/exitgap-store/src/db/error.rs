//! What a database says where it does not do what it was asked.

use rusqlite::ErrorCode;

/// What the database said. Which database that is, and what its errors are, only this room knows:
/// to everybody else it is words.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DatabaseError(Cause);

#[derive(Debug, thiserror::Error)]
enum Cause {
    /// `SQLite` refused.
    #[error(transparent)]
    Engine(rusqlite::Error),
    /// A column holds what cannot be in it.
    #[error("{found} in column {column}")]
    Column { column: String, found: String },
}

impl DatabaseError {
    pub(super) fn engine(error: rusqlite::Error) -> Self {
        Self(Cause::Engine(error))
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
        self.code() == Some(ErrorCode::DiskFull)
    }

    fn code(&self) -> Option<ErrorCode> {
        match &self.0 {
            Cause::Engine(error) => error.sqlite_error_code(),
            Cause::Column { .. } => None,
        }
    }
}
