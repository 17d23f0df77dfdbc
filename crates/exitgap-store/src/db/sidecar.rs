//! Small databases next to the series, written by several processes. As files they belong to one machine; on a server
//! they are in their own schemas, shared by all machines that can reach it.

use std::fs::OpenOptions;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use exitgap_core::secrets::LooseMode;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::postgres::Postgres;
use super::sqlite::Sqlite;
use super::statements::Statement;
use super::{DatabaseError, Db, Values, is_server, shown};
use crate::error::StoreError;

/// How long a statement waits for another process.
pub const BUSY_LIMIT: Duration = Duration::from_secs(10);

/// Allows only one writing process at a time, as for a file, until the transaction ends.
static LOCK: Statement = Statement {
    doing: "waiting for another writer",
    sql: "SELECT pg_advisory_xact_lock(hashtext(current_schema()))",
    table: None,
};

/// The type of a file according to its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileKind {
    /// Its application id.
    pub application_id: i32,
    /// Its schema version.
    pub version: i32,
}

/// The definition of such a database.
pub struct SidecarKind {
    /// The application id in a file's header.
    pub application_id: i32,
    /// The scripts that create each version of a file from the previous one; the first from an empty file.
    pub versions: &'static [&'static str],
    /// The schema of its tables on a server.
    pub schema: &'static str,
    /// The script that creates the newest version there.
    pub tables: &'static str,
    /// Tables whose rows are never changed or removed.
    pub kept: &'static [&'static str],
    /// Finds a row if anything was written.
    pub written: Statement,
    /// The tables to copy from one database to another, with referenced tables first.
    pub copied: &'static [TableCopy],
}

/// A table to copy: how its rows are read and written.
pub struct TableCopy {
    pub select: Statement,
    pub insert: Statement,
}

/// Defines tables by their names and columns.
macro_rules! copied {
    ($($table:literal: $first:literal $(, $column:literal)* $(=> $instead:literal)?;)*) => {
        &[$($crate::db::sidecar::TableCopy {
            select: $crate::db::statements::Statement {
                doing: concat!("copying the table ", $table),
                sql: concat!("SELECT ", $first $(, ", ", $column)*, " FROM ", $table, " ORDER BY 1, 2"),
                table: None,
            },
            insert: $crate::db::statements::Statement {
                doing: concat!("copying the table ", $table),
                sql: concat!(
                    "INSERT INTO ", $table, " (", $first $(, ", ", $column)*, ") VALUES (?"
                    $(, $crate::db::sidecar::place_of!($column))*, ")" $(, " ", $instead)?
                ),
                table: None,
            },
        }),*]
    };
}
pub(super) use copied;

/// The parameter of a value, whatever its column is.
macro_rules! place_of {
    ($column:literal) => {
        ", ?"
    };
}
pub(super) use place_of;

impl SidecarKind {
    /// The version that is written and read.
    pub fn version(&self) -> i32 {
        i32::try_from(self.versions.len()).unwrap_or(i32::MAX)
    }

    /// Creates missing parts of a file. Returns whether the file is of this kind.
    fn make(&self, file: &Transaction<'_>, found: Option<FileKind>) -> rusqlite::Result<bool> {
        let is_known = |found: FileKind| {
            found.application_id == self.application_id
                && (1..=self.version()).contains(&found.version)
        };
        if found.is_some_and(|found| !is_known(found)) {
            return Ok(false);
        }
        let has = found.map_or(0, |found| usize::try_from(found.version).unwrap_or(usize::MAX));
        self.versions.iter().skip(has).try_for_each(|sql| file.execute_batch(sql))?;
        Ok(true)
    }
}

impl std::fmt::Debug for SidecarKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SidecarKind").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// Such a database, open for writing.
#[derive(Debug)]
pub struct SidecarDb {
    kind: &'static SidecarKind,
    place: PathBuf,
    /// `None` for a server that was not reached yet.
    db: Option<Db>,
    /// The time of the last connection failure, if it has not succeeded since.
    failed: Option<Instant>,
}

/// How long a server that could not be reached is not tried again.
const AGAIN_AFTER: Duration = Duration::from_secs(2);

impl SidecarDb {
    /// Opens it. A file is created if it does not exist, and refused if it is something else. On a server it must have
    /// been created by a migration.
    pub fn open(
        place: &Path,
        kind: &'static SidecarKind,
    ) -> Result<Result<Self, FileKind>, StoreError> {
        let opened = if is_server(place) {
            Ok(on_server(place, kind)?)
        } else {
            keep_private(place)?;
            let opened = open(place, |file, found| kind.make(file, found));
            opened
                .map_err(|source| StoreError::Database { doing: "opening the database", source })?
                .map(|connection| Db::Sqlite(Sqlite::from_connection(connection)))
        };
        Ok(opened.map(|db| Self { kind, place: place.to_owned(), db: Some(db), failed: None }))
    }

    /// The same, but a server is contacted only with the first statement.
    pub fn open_later(
        place: &Path,
        kind: &'static SidecarKind,
    ) -> Result<Result<Self, FileKind>, StoreError> {
        if !is_server(place) {
            return Self::open(place, kind);
        }
        Ok(Ok(Self { kind, place: place.to_owned(), db: None, failed: None }))
    }

    /// Copies everything in another database into this empty one. Returns the number of rows.
    pub fn copy_from(&mut self, other: &mut Self) -> Result<u64, StoreError> {
        let (kind, place) = (self.kind, self.place.clone());
        other.read_transaction(|from| {
            self.write_transaction(|to| {
                if to.row(&kind.written, &[], |_| Ok(()))?.is_some() {
                    return Err(StoreError::NotEmpty { path: shown(&place).into() });
                }
                let mut rows = 0;
                for TableCopy { select, insert } in kind.copied {
                    from.each(select, &[], |row| {
                        rows += 1;
                        to.put(insert, &Values::from_row(row))
                    })?;
                }
                Ok(rows)
            })
        })
    }

    /// The database for a single statement. Reconnects to a server if the connection was lost.
    pub fn now(&mut self) -> Result<&Db, StoreError> {
        if !self.db.as_ref().is_some_and(Db::is_open) {
            // Otherwise each of many callers would wait for a server that is unavailable.
            if self.failed.is_some_and(|failed| failed.elapsed() < AGAIN_AFTER) {
                return Err(StoreError::Away { path: shown(&self.place).into() });
            }
            let opened = on_server(&self.place, self.kind);
            self.failed = opened.is_err().then(Instant::now);
            self.db = Some(opened?);
        }
        self.db.as_ref().ok_or_else(|| StoreError::Away { path: shown(&self.place).into() })
    }

    /// Runs `work`, which reads a single consistent state.
    pub fn read_transaction<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&Db) -> Result<T, E>,
    ) -> Result<T, E> {
        let db = self.now()?;
        let _of_one_moment = db.view("beginning to read")?;
        work(db)
    }

    /// Runs `work` in a transaction: all or nothing, and without other writers. The changes are durable when this
    /// returns. If the connection to a server is lost, the transaction may or may not have been committed, as when a
    /// process is killed.
    pub fn write_transaction<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&Db) -> Result<T, E>,
    ) -> Result<T, E> {
        let db = self.now()?;
        let transaction = db.begin("beginning to write")?;
        if let Db::Postgres(server) = db
            && let Err(error) = db.execute(&LOCK, &[])
        {
            // A process that holds the lock may wait forever on a server that is no longer the primary.
            server.give_up();
            return Err(error.into());
        }
        let done = work(db)?;
        transaction.settle()?;
        let committed = transaction.commit();
        committed.map_err(|source| StoreError::Database { doing: "committing", source })?;
        Ok(done)
    }
}

/// Creates a missing file with access only for its owner, and refuses a file that others can use: these databases
/// contain data that authorises owners and from which keys are derived. `SQLite` gives its additional files the same
/// permissions.
fn keep_private(place: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::File { path: place.to_owned(), source };
    let mut made = OpenOptions::new();
    made.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = made.open(place).map_err(failed)?;
    // The permissions of the opened file, because its path could now name another file.
    let mode = file.metadata().map_err(failed)?.permissions().mode();
    LooseMode::check(mode)
        .map_err(|loose| StoreError::LooseMode { path: place.to_owned(), loose })?;
    // The latest writes may be only in these files.
    for suffix in ["-wal", "-shm"] {
        let mut path = place.to_owned();
        path.as_mut_os_string().push(suffix);
        match path.metadata() {
            Ok(found) => LooseMode::check(found.permissions().mode())
                .map_err(|loose| StoreError::LooseMode { path, loose })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(StoreError::File { path, source }),
        }
    }
    Ok(())
}

/// Requires that a file to be copied exists, because opening it would create it.
pub fn require_there(place: &Path) -> Result<(), StoreError> {
    if is_server(place) {
        return Ok(());
    }
    let found = std::fs::metadata(place).map(drop);
    found.map_err(|source| StoreError::File { path: place.to_owned(), source })
}

fn on_server(place: &Path, kind: &SidecarKind) -> Result<Db, StoreError> {
    Ok(Db::Postgres(Box::new(Postgres::open_sidecar(place, kind)?)))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

/// Opens a file, and creates it if it does not exist, even if several processes try at once. `make` gets the file's
/// kind, `None` if it is new, and creates what is missing. If it cannot, the file's kind is returned.
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
    // If several processes create it at once, SQLite refuses the change of journal mode without waiting.
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::statements::every_statement_is_used;
    use super::super::{alerts, payments};
    use super::*;

    #[test]
    fn a_database_with_secrets_is_its_owners_alone_and_is_refused_where_others_may_use_it() {
        let folder = tempfile::tempdir().unwrap();
        for (name, kind) in [("payments.db", &payments::KIND), ("alerts.db", &alerts::KIND)] {
            let place = folder.path().join(name);
            let mode = || fs::metadata(&place).unwrap().permissions().mode() & 0o777;
            SidecarDb::open(&place, kind).unwrap().unwrap();
            assert_eq!(mode(), 0o600);
            for loose in [0o644, 0o640, 0o606] {
                fs::set_permissions(&place, fs::Permissions::from_mode(loose)).unwrap();
                let refused = SidecarDb::open(&place, kind).unwrap_err();
                assert!(
                    matches!(&refused, StoreError::LooseMode { loose: found, .. } if found.mode == loose),
                    "{loose:o}: {refused}"
                );
            }
            fs::set_permissions(&place, fs::Permissions::from_mode(0o600)).unwrap();
            let held_open = SidecarDb::open(&place, kind).unwrap().unwrap();
            for suffix in ["-wal", "-shm"] {
                let beside = folder.path().join(format!("{name}{suffix}"));
                assert!(beside.is_file(), "{name}{suffix} is there while the database is open");
                fs::set_permissions(&beside, fs::Permissions::from_mode(0o644)).unwrap();
                let refused = SidecarDb::open(&place, kind).unwrap_err();
                assert!(
                    matches!(&refused, StoreError::LooseMode { path, .. } if *path == beside),
                    "{refused}"
                );
                fs::set_permissions(&beside, fs::Permissions::from_mode(0o600)).unwrap();
            }
            drop(held_open);
            SidecarDb::open(&place, kind).unwrap().unwrap();
        }
    }

    #[test]
    fn every_statement_is_one_of_its_schema_and_every_file_is_used() {
        for (kind, name, statements, files) in [
            (&payments::KIND, "payments", payments::STATEMENTS, payments::FILES),
            (&alerts::KIND, "alerts", alerts::STATEMENTS, alerts::FILES),
        ] {
            let connection = Connection::open_in_memory().unwrap();
            kind.versions.iter().for_each(|sql| connection.execute_batch(sql).unwrap());
            let copied = kind.copied.iter().flat_map(|table| [&table.select, &table.insert]);
            let all: Vec<_> = statements.iter().copied().chain(copied).collect();
            for statement in &all {
                connection.prepare(statement.sql).unwrap();
            }
            let folder = format!("{}/src/db/{name}/sql", env!("CARGO_MANIFEST_DIR"));
            let batches: Vec<&str> = kind.versions.iter().copied().chain([kind.tables]).collect();
            every_statement_is_used(Path::new(&folder), files, &batches);
        }
    }

    /// A table that is left out of a copy would be lost.
    #[test]
    fn every_table_and_column_is_copied_and_is_on_a_server_too() {
        for kind in [&payments::KIND, &alerts::KIND] {
            let connection = Connection::open_in_memory().unwrap();
            kind.versions.iter().for_each(|sql| connection.execute_batch(sql).unwrap());
            let columns = "SELECT tables.name, group_concat(columns.name, ', ') \
                           FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns \
                           WHERE tables.type = 'table' GROUP BY 1";
            let mut columns = connection.prepare(columns).unwrap();
            let tables = columns.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            for table in tables {
                let (table, columns): (String, String) = table.unwrap();
                let select = format!("SELECT {columns} FROM {table} ORDER BY 1, 2");
                let copied = |copied: &TableCopy| copied.select.sql.replace('"', "") == select;
                assert!(table == "lease" || kind.copied.iter().any(copied), "{select}");
                let start = format!("CREATE TABLE {}.{table} (", kind.schema);
                let (_, made) = kind.tables.split_once(&start).unwrap_or_else(|| panic!("{start}"));
                let (made, _) = made.split_once(");\n").unwrap();
                for column in columns.split(", ") {
                    let words = made.split_whitespace().map(|word| word.trim_matches(['"', '(']));
                    assert!(words.into_iter().any(|word| word == column), "{table}.{column}");
                }
            }
        }
    }
}
