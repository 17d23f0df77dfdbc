//! Opens a server's database, after checking it.

use std::path::Path;
use std::time::Duration;

use super::super::sidecar::{BUSY_LIMIT, SidecarKind};
use super::super::statements::Statement;
use super::connect::{Connection, Fault};
use super::lease::{Lease, require_clock};
use super::migrate::VERSION;
use super::place::Place;
use super::{Postgres, Row};
use crate::error::StoreError;

/// The schema as created by the migrations.
const SCHEMA: &str = include_str!("sql/schema.txt");
/// Selects the same description.
pub const SELECT_SCHEMA: &str = include_str!("sql/select_schema.sql");

/// The different setting for databases next to the series: a process that stops in the middle of a transaction prevents
/// others from writing.
const SIDECARS: &str = "SET search_path = {schema}, pg_temp; \
                     SET statement_timeout = '18s'; \
                     SET idle_in_transaction_session_timeout = '10s'";
/// Begins a transaction that writes only to the server's log.
pub const COMMITTED: &str = "BEGIN; SELECT pg_logical_emit_message(true, 'exitgap', '')";

const READING_SCHEMA: &str = "reading the schema";

static SELECT_LOG: Statement = Statement {
    doing: "looking for a log",
    sql: "SELECT 1 FROM log UNION ALL SELECT 1 FROM predecessor",
    table: None,
};

impl Postgres {
    /// Opens a store for reading only.
    pub fn open_reader(url: &Path) -> Result<Self, StoreError> {
        let all = Place::from_url(url)?;
        on_one_of(&all, |server| Self::reader_at(all.clone(), server))
    }

    /// Another reader on the same server, because another of the named servers can be behind.
    pub fn again(&self) -> Result<Self, StoreError> {
        Self::reader_at(self.all.clone(), self.place.clone())
    }

    fn reader_at(all: Place, server: Place) -> Result<Self, StoreError> {
        let db = Self::open_at(all, server)?;
        let read_only = db.connection.batch("SET default_transaction_read_only = on");
        read_only.map_err(|fault| super::database_error("setting up the connection", fault))?;
        Ok(db)
    }

    /// Opens a store for writing as its only writer, with the lease.
    pub fn open_writer(url: &Path) -> Result<Self, StoreError> {
        Self::writer_at(Place::from_url(url)?, None)
    }

    /// Reopens it after its connection was lost, with the same identity.
    pub fn writer_again(&self) -> Result<Self, StoreError> {
        // If it cannot be reopened, the lease must not be kept from others either.
        if let Some(lease) = &self.lease {
            lease.end();
        }
        let owner = self.lease.as_ref().map(|lease| &lease.owner[..]);
        Self::writer_at(self.all.clone(), owner)
    }

    fn writer_at(mut all: Place, owner: Option<&str>) -> Result<Self, StoreError> {
        all.for_writing();
        on_one_of(&all, |server| {
            let mut db = Self::open_at(all.clone(), server)?;
            db.lease = Some(Lease::acquire(&db.connection, &db.place, owner)?);
            Ok(db)
        })
    }

    /// The same for a database without records.
    pub fn create(url: &Path) -> Result<Self, StoreError> {
        let db = Self::open_writer(url)?;
        let mut found = false;
        db.each(&SELECT_LOG, &[], 1, |_: Row| {
            found = true;
            Ok(())
        })?;
        if found {
            return Err(StoreError::AlreadyExists { path: db.place.shown.clone() });
        }
        Ok(db)
    }

    /// Opens a database next to the series, in its own schema.
    pub fn open_sidecar(url: &Path, kind: &SidecarKind) -> Result<Self, StoreError> {
        let mut all = Place::from_url(url)?;
        all.for_writing();
        on_one_of(&all, |server| {
            let mut connection = open_connection(&server)?;
            // Payments and alerts do not wait as long as a slot may.
            connection.limit(BUSY_LIMIT * 2);
            let setting_up = |fault| super::database_error("setting up the connection", fault);
            let settings = SIDECARS.replace("{schema}", kind.schema);
            connection.batch(&settings).map_err(setting_up)?;
            require_version(&connection, &server.shown, kind.schema, kind.version())?;
            require_clock(&connection, &server)?;
            // Of several servers, uses the one on which commits succeed, not a former primary.
            connection.batch(COMMITTED).map_err(setting_up)?;
            connection.commit_within(BUSY_LIMIT).map_err(setting_up)?;
            Ok(Self::new(all.clone(), server, connection))
        })
    }

    fn open_at(all: Place, place: Place) -> Result<Self, StoreError> {
        let connection = open_connection(&place)?;
        inspect(&connection, &place.shown)?;
        Ok(Self::new(all, place, connection))
    }
}

/// Tries an operation on each server until it succeeds. After a failover the former primary may still be reachable but
/// accept no writes. If none succeeds, the error that another recorder holds the lease takes precedence.
pub fn on_one_of<T>(
    all: &Place,
    done: impl Fn(Place) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut told = None;
    for server in all.servers() {
        match done(server) {
            Ok(done) => return Ok(done),
            Err(error @ StoreError::Leased { .. }) => told = Some(error),
            Err(error) => {
                told.get_or_insert(error);
            }
        }
    }
    Err(told.unwrap_or_else(|| StoreError::ServerUrl { why: "it has no host".to_owned() }))
}

/// Connects to the server, or returns why that failed.
pub fn open_connection(place: &Place) -> Result<Connection, StoreError> {
    Connection::to(place).map_err(|fault| StoreError::Unreachable {
        path: place.shown.clone(),
        source: fault.into(),
    })
}

/// Requires a store of this version.
pub fn inspect(connection: &Connection, shown: &Path) -> Result<(), StoreError> {
    require_version(connection, shown, "exitgap", VERSION)?;
    let failed = |fault| super::database_error(READING_SCHEMA, fault);
    let mut object = None;
    // While a day's partition is created or removed, the description may be inconsistent.
    for pause in [0, 100, 500] {
        std::thread::sleep(Duration::from_millis(pause));
        object = first_difference(SCHEMA, &describe_schema(connection).map_err(failed)?);
        if object.is_none() {
            return Ok(());
        }
    }
    let object = object.unwrap_or_default();
    Err(StoreError::SchemaAltered { path: shown.to_owned(), object })
}

/// Requires that a schema has this version.
fn require_version(
    connection: &Connection,
    shown: &Path,
    schema: &str,
    expected: i32,
) -> Result<(), StoreError> {
    let path = || shown.to_owned();
    let select = format!("SELECT version FROM {schema}.schema_version ORDER BY 1 DESC LIMIT 1");
    let asked = connection.ask(&select, &[]);
    let rows = match asked {
        Ok(rows) => rows,
        Err(fault) if fault.is_undefined() => {
            return Err(StoreError::NotMigrated { path: path() });
        }
        Err(fault) if fault.is_forbidden() => return Err(StoreError::NotGranted { path: path() }),
        Err(fault) => return Err(super::database_error(READING_SCHEMA, fault)),
    };
    let Some(version) = rows.first().and_then(|row| row.try_get::<_, i64>(0).ok()) else {
        return Err(StoreError::NotMigrated { path: path() });
    };
    let found = i32::try_from(version).unwrap_or(i32::MAX);
    if found > expected {
        return Err(StoreError::NewerSchema { path: path(), expected, found });
    }
    if found < expected {
        return Err(StoreError::NotMigrated { path: path() });
    }
    Ok(())
}

/// The description of the schema, one line per item.
pub fn describe_schema(connection: &Connection) -> Result<String, Fault> {
    let rows = connection.ask(SELECT_SCHEMA, &[])?;
    let mut described = String::new();
    for row in rows {
        described.push_str(row.try_get(0)?);
        described.push('\n');
    }
    Ok(described)
}

/// Kind and name of the first line that only one of them contains.
fn first_difference(expected: &str, found: &str) -> Option<String> {
    let only_in = |one: &str, other: &str| {
        one.lines().find(|line| !other.lines().any(|known| known == *line)).map(str::to_owned)
    };
    let line = only_in(expected, found).or_else(|| only_in(found, expected))?;
    Some(line.split(' ').take(2).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let altered =
            SCHEMA.replace("trigger entry_stays of entry A", "trigger entry_stays of entry D");
        assert_ne!(altered, SCHEMA);
        assert_eq!(first_difference(SCHEMA, &altered).as_deref(), Some("trigger entry_stays"));
        assert_eq!(first_difference(SCHEMA, SCHEMA), None);
        let more = format!("{SCHEMA}table other r\n");
        assert_eq!(first_difference(SCHEMA, &more).as_deref(), Some("table other"));
    }
}
