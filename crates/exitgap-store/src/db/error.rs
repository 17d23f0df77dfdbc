//! Errors of a database.

use rusqlite::ErrorCode;

use super::postgres::Fault;

/// A database error. Only this module knows which database it is and what its errors mean; other code can only display
/// it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DatabaseError(Cause);

#[derive(Debug, thiserror::Error)]
enum Cause {
    /// `SQLite` refused.
    #[error("{}", sqlite_words(.0))]
    Sqlite(rusqlite::Error),
    /// `PostgreSQL` refused, or could not be reached.
    #[error("{}", postgres_words(.0))]
    Postgres(Box<Fault>),
    /// A statement that must find a row found none.
    #[error("no row was found")]
    NoRow,
    /// An operation that only a file supports was requested from a server.
    #[error("only a file database can do that")]
    OnlyOfAFile,
    /// A column has an impossible value.
    #[error("{found} in column {column}")]
    Column { column: String, found: String },
    /// The same of a table that was joined to the one that was read.
    #[error("{found} in column {column}")]
    Joined { table: &'static str, column: String, found: String },
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

    pub(super) fn joined(table: &'static str, column: &str, found: String) -> Self {
        Self(Cause::Joined { table, column: column.to_owned(), found })
    }

    /// The joined table of which a column has an impossible value.
    pub(super) fn joined_table(&self) -> Option<&'static str> {
        match self.0 {
            Cause::Joined { table, .. } => Some(table),
            _ => None,
        }
    }

    /// Whether a column has an impossible value, which means that the data is damaged, not the database system.
    pub(super) fn is_of_a_column(&self) -> bool {
        matches!(self.0, Cause::Column { .. })
    }

    /// Whether the file is not a database at all.
    pub(super) fn is_no_database(&self) -> bool {
        self.code() == Some(ErrorCode::NotADatabase)
    }

    /// Whether the disk was full.
    pub(crate) fn is_disk_full(&self) -> bool {
        match &self.0 {
            Cause::Postgres(fault) => fault.is_disk_full(),
            Cause::Sqlite(error) => is_sqlite_full(error),
            _ => false,
        }
    }

    fn code(&self) -> Option<ErrorCode> {
        match &self.0 {
            Cause::Sqlite(error) => error.sqlite_error_code(),
            _ => None,
        }
    }
}

/// Whether `SQLite` found no room. It says so of the database and of its log; of the index of the log it only says that it
/// cannot be made longer.
fn is_sqlite_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        || error
            .sqlite_error()
            .is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

fn sqlite_words(error: &rusqlite::Error) -> String {
    if is_sqlite_full(error) {
        format!("the disk is full ({error}); free space on the disk that has the database")
    } else {
        error.to_string()
    }
}

fn postgres_words(fault: &Fault) -> String {
    if fault.is_disk_full() {
        format!("the disk of the database server is full ({fault}); free space on it")
    } else {
        fault.to_string()
    }
}

impl From<Fault> for DatabaseError {
    fn from(fault: Fault) -> Self {
        Self(Cause::Postgres(Box::new(fault)))
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn a_full_disk_is_called_one_and_other_errors_keep_their_words() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE filled (body BLOB); PRAGMA max_page_count = 3;")
            .unwrap();
        let full = connection.execute("INSERT INTO filled VALUES (zeroblob(65536))", ());
        let full = DatabaseError::engine(full.unwrap_err());
        let words = "the disk is full (database or disk is full); free space";
        assert!(full.is_disk_full() && full.to_string().starts_with(words), "{full}");
        let extended = |code| {
            let error = rusqlite::ffi::Error::new(code);
            DatabaseError::engine(rusqlite::Error::SqliteFailure(error, None))
        };
        let index = extended(rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
        assert!(index.is_disk_full() && index.to_string().starts_with("the disk is full"));
        for other in [rusqlite::ffi::SQLITE_IOERR_READ, rusqlite::ffi::SQLITE_BUSY] {
            let other = extended(other);
            assert!(!other.is_disk_full() && !other.to_string().contains("full"), "{other}");
        }
    }
}
