//! Opens a database file, after checking it.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::{
    CONNECTION, DatabaseError, FIRST_SCHEMA, MIGRATIONS, SELECT_SCHEMA, Sqlite, database_error,
};
use crate::error::StoreError;

/// `EXGP`, in the file's header. `sql/schema.sql` contains the same number.
const APPLICATION_ID: i32 = 0x4558_4750;
/// The schema version that is written and read. The last migration contains the same number.
const SCHEMA_VERSION: i32 = 12;
/// The oldest version that is migrated. `sql/schema.sql` contains the same number.
pub const FIRST_MIGRATED: i32 = 11;

/// How long a statement waits for another connection to the same file.
pub(super) const BUSY_LIMIT: Duration = Duration::from_secs(10);

/// The longest value that `SQLite` may build or return: an incompressible body of `MAX_SNAPSHOT_BYTES`, and some more.
const MAX_VALUE_BYTES: i32 = 8 << 20;

/// The type of a file that `SQLite` can open.
#[derive(Debug, PartialEq, Eq)]
enum FileState {
    /// An empty database: a recorder was killed before it had created its store.
    Unborn,
    /// A store of this schema version.
    Store,
    /// A store of an older version, which a writer migrates.
    Older(i32),
}

impl Sqlite {
    /// Opens an existing store for reading only.
    pub fn open_reader(path: &Path) -> Result<Self, StoreError> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        match inspect(&connection, path)? {
            FileState::Store => Ok(Self { connection }),
            FileState::Unborn => Err(StoreError::NotFound { path: path.to_owned() }),
            FileState::Older(found) => {
                let (path, expected) = (path.to_owned(), SCHEMA_VERSION);
                Err(StoreError::OlderSchema { path, expected, found })
            }
        }
    }

    /// Opens an existing store for writing, and migrates it if it is of an older version. The caller holds the lock.
    pub fn open_writer(path: &Path) -> Result<Self, StoreError> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // Nothing in the file is changed before it is known to be a store.
        match inspect(&connection, path)? {
            FileState::Store => {}
            FileState::Unborn => return Err(StoreError::NotFound { path: path.to_owned() }),
            FileState::Older(version) => {
                let doing = "migrating the tables";
                let transaction = connection.unchecked_transaction().context(doing)?;
                migrate(&transaction, version, SCHEMA_VERSION).context(doing)?;
                transaction.commit().context(doing)?;
            }
        }
        connection.execute_batch(CONNECTION).context("setting up the connection")?;
        sync_names(path)?;
        Ok(Self { connection })
    }

    /// Creates a store where there is no file, or an empty database left by an interrupted creation. The caller holds
    /// the lock.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let taken = || StoreError::AlreadyExists { path: path.to_owned() };
        let mut connection = if path.exists() {
            let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            match inspect(&connection, path) {
                Ok(FileState::Unborn) => connection,
                _ => return Err(taken()),
            }
        } else {
            connect_with(path, flags)?
        };
        connection.execute_batch(CONNECTION).context("setting up the connection")?;
        let transaction = connection.transaction().context("creating the tables")?;
        transaction.execute_batch(FIRST_SCHEMA).context("creating the tables")?;
        migrate(&transaction, FIRST_MIGRATED, SCHEMA_VERSION).context("creating the tables")?;
        transaction.commit().context("creating the tables")?;
        sync_names(path)?;
        Ok(Self { connection })
    }
}

/// Makes the directory entries of the database and its write-ahead log durable. `SQLite` does this too with its first
/// commit, but ignores the result.
fn sync_names(path: &Path) -> Result<(), StoreError> {
    let synced = path.canonicalize().and_then(|path| {
        // A file always has a parent folder.
        File::open(path.parent().unwrap_or(&path)).and_then(|folder| folder.sync_all())
    });
    synced.map_err(|source| StoreError::File { path: path.to_owned(), source })
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    match path.try_exists() {
        Ok(true) => connect_with(path, flags),
        Ok(false) => Err(StoreError::NotFound { path: path.to_owned() }),
        Err(source) => Err(StoreError::File { path: path.to_owned(), source }),
    }
}

fn connect_with(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).context("opening the database")?;
    connection.busy_timeout(BUSY_LIMIT).context("setting up the connection")?;
    for (option, on) in [
        // A hostile file can neither run functions through its schema nor get itself rewritten.
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        // One query plan per statement, whatever its parameters are. Otherwise each execution is planned again.
        (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
    ] {
        connection.set_db_config(option, on).context("setting up the connection")?;
    }
    connection
        .set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        .context("setting up the connection")?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Migrates the tables from one version to another.
fn migrate(connection: &Connection, from: i32, to: i32) -> rusqlite::Result<()> {
    for (version, sql) in MIGRATIONS {
        if (from + 1..=to).contains(&version) {
            connection.execute_batch(sql)?;
        }
    }
    Ok(())
}

/// Requires a store of this version, or of one that can be migrated to it.
fn inspect(connection: &Connection, path: &Path) -> Result<FileState, StoreError> {
    let not_a_store =
        |found| StoreError::NotAStore { path: path.to_owned(), expected: APPLICATION_ID, found };
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let application_id = match pragma("application_id") {
        Ok(found) => found,
        Err(error) => match DatabaseError::engine(error) {
            other if other.is_no_database() => return Err(not_a_store(0)),
            source => {
                return Err(StoreError::Database { doing: "reading the file's header", source });
            }
        },
    };
    let found = read_schema(connection)?;
    if application_id == 0 && found.is_empty() {
        return Ok(FileState::Unborn);
    }
    if application_id != APPLICATION_ID {
        return Err(not_a_store(application_id));
    }
    let version = pragma("user_version").context("reading the file's header")?;
    if version > SCHEMA_VERSION {
        let (path, expected) = (path.to_owned(), SCHEMA_VERSION);
        return Err(StoreError::NewerSchema { path, expected, found: version });
    }
    if version < FIRST_MIGRATED {
        let (path, expected) = (path.to_owned(), SCHEMA_VERSION);
        return Err(StoreError::OlderSchema { path, expected, found: version });
    }
    let model = Connection::open_in_memory().context("comparing the schema")?;
    model.execute_batch(FIRST_SCHEMA).context("comparing the schema")?;
    migrate(&model, FIRST_MIGRATED, version).context("comparing the schema")?;
    match first_difference(&read_schema(&model)?, &found) {
        None if version < SCHEMA_VERSION => Ok(FileState::Older(version)),
        None => Ok(FileState::Store),
        Some(object) => Err(StoreError::SchemaAltered { path: path.to_owned(), object }),
    }
}

/// Kind and text of every schema object, by name.
type Schema = BTreeMap<String, (String, Option<String>)>;

fn read_schema(connection: &Connection) -> Result<Schema, StoreError> {
    let doing = "reading the schema";
    let mut statement = connection.prepare(SELECT_SCHEMA).context(doing)?;
    let rows = statement
        .query_map((), |row| Ok((row.get("name")?, (row.get("type")?, row.get("sql")?))))
        .context(doing)?;
    rows.collect::<Result<_, _>>().context(doing)
}

fn first_difference(expected: &Schema, found: &Schema) -> Option<String> {
    let names = expected.keys().chain(found.keys());
    let name = names.into_iter().find(|name| expected.get(*name) != found.get(*name))?;
    let (kind, _) = expected.get(name).or_else(|| found.get(name))?;
    Some(format!("{kind} {name}"))
}

/// Adds the operation to the database's error.
trait ErrorContext<T> {
    fn context(self, doing: &'static str) -> Result<T, StoreError>;
}

impl<T> ErrorContext<T> for rusqlite::Result<T> {
    fn context(self, doing: &'static str) -> Result<T, StoreError> {
        self.map_err(|error| database_error(doing, error))
    }
}
