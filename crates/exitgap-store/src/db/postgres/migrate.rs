//! Creates a store's database, and migrates it to the version that this build uses.

use std::path::Path;

use tokio_postgres::Config;

use super::super::sidecar::SidecarKind;
use super::super::{alerts, payments};
use super::connect::{Connection, Fault};
use super::database_error;
use super::open::{on_one_of, open_connection};
use super::place::Place;
use crate::error::StoreError;

/// The schema version that is written and read, the same as a file's.
pub const VERSION: i32 = 12;

/// The migration to each version from the previous one.
const MIGRATIONS: [(i32, &str); 2] =
    [(11, include_str!("sql/migrations/11.sql")), (VERSION, include_str!("sql/migrations/12.sql"))];

/// The permissions of the roles.
const GRANTS: &str = include_str!("sql/grants.sql");

/// The databases next to the series.
static SIDECARS: [&SidecarKind; 2] = [&payments::KIND, &alerts::KIND];

/// The role that owns everything. It cannot log in.
const OWNER: &str = "exitgap_owner";

/// The roles that use a database.
#[derive(Debug, Clone, Copy)]
struct Roles<'a> {
    /// The recording role. It can add records but never change them.
    recorder: &'a str,
    /// The role that only reads, if it is separate.
    reader: Option<&'a str>,
    /// The role that reads, handles payments and stores rules, if it is separate.
    service: Option<&'a str>,
}

/// The result of a migration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MigrationReport {
    /// The database and the roles that were created.
    pub made: Vec<String>,
    /// The previous version; `None` if there was no schema.
    pub from: Option<i32>,
    /// The current version.
    pub to: i32,
}

const DOING: &str = "migrating the database";

/// Creates missing parts of the database at `store` for the recording role, which the URL names, and optionally for a
/// `reader` that only reads and a `service` that handles payments and stores rules. `admin` is a URL of the same
/// server, for a role that may create databases, roles and schemas. Creates everything or nothing, except for the
/// database itself. Existing parts stay unchanged.
pub fn migrate(
    store: &Path,
    admin: &Path,
    reader: Option<&str>,
    service: Option<&str>,
) -> Result<MigrationReport, StoreError> {
    let (of_store, mut place) = (Place::from_url(store)?, Place::from_url(admin)?);
    let recorder = of_store.config.get_user().unwrap_or_default();
    let database = of_store.config.get_dbname().unwrap_or_default();
    let roles = Roles { recorder, reader, service };
    let names = [Some(OWNER), Some(roles.recorder), roles.reader, roles.service];
    for name in names.into_iter().flatten() {
        if !is_role(name) {
            return Err(StoreError::RoleName { found: name.to_owned() });
        }
    }
    let admin_user = place.config.get_user();
    if let Some(role) = [Some(recorder), reader, service]
        .into_iter()
        .flatten()
        .find(|role| admin_user == Some(role))
    {
        return Err(StoreError::RecorderOwns { role: role.to_owned() });
    }
    place.for_writing();
    let mut place = on_one_of(&place, |server| open_connection(&server).map(|_| server))?;
    let made = made_database(&place, database)?;
    place.config.dbname(database);
    let connection = open_connection(&place)?;
    connection.batch("BEGIN").map_err(|fault| database_error(DOING, fault))?;
    let migrated = match within(&connection, &place.config, roles) {
        Ok(migrated) => migrated,
        Err(MigrationError::Newer(found)) => {
            connection.roll_back();
            return Err(StoreError::NewerSchema { path: place.shown, expected: VERSION, found });
        }
        Err(MigrationError::Fault(fault)) => {
            connection.roll_back();
            return Err(database_error(DOING, fault));
        }
    };
    connection.commit().map_err(|fault| database_error(DOING, fault))?;
    let made = made.then(|| format!("database {database}")).into_iter().chain(migrated.made);
    Ok(MigrationReport { made: made.collect(), ..migrated })
}

/// Creates the database if it does not exist, over a connection to the one in `admin`. Returns whether it did.
fn made_database(admin: &Place, name: &str) -> Result<bool, StoreError> {
    let connection = open_connection(admin)?;
    let fail = |fault| database_error(DOING, fault);
    let known = "SELECT 1 FROM pg_catalog.pg_database WHERE datname = $1";
    if !connection.ask(known, &[&name]).map_err(fail)?.is_empty() {
        return Ok(false);
    }
    let sql =
        format!("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0", quote_identifier(name));
    connection.batch(&sql).map_err(fail)?;
    Ok(true)
}

/// Why a migration fails.
enum MigrationError {
    /// The database belongs to a newer build.
    Newer(i32),
    Fault(Fault),
}

impl From<Fault> for MigrationError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

fn within(
    connection: &Connection,
    config: &Config,
    roles: Roles,
) -> Result<MigrationReport, MigrationError> {
    // Only one migration at a time, until the transaction ends.
    connection.batch("SELECT pg_advisory_xact_lock(1163413329)")?;
    let mut migrated = MigrationReport { to: VERSION, ..MigrationReport::default() };
    let admin = config.get_user().unwrap_or_default();
    if make_role(connection, OWNER, "NOLOGIN")? {
        migrated.made.push(format!("role {OWNER}"));
    }
    connection.batch(&format!("GRANT {OWNER} TO {}", quote_identifier(admin)))?;
    for role in [Some(roles.recorder), roles.reader, roles.service].into_iter().flatten() {
        if make_role(connection, role, "LOGIN")? {
            migrated.made.push(format!("role {role}"));
        }
    }
    for schema in ["exitgap"].into_iter().chain(SIDECARS.iter().map(|kind| kind.schema)) {
        connection.batch(&format!("CREATE SCHEMA IF NOT EXISTS {schema} AUTHORIZATION {OWNER}"))?;
    }
    let has_version = "SELECT to_regclass('exitgap.schema_version') IS NOT NULL";
    let has_version = connection.ask(has_version, &[])?;
    if has_version.iter().any(|row| row.try_get(0).unwrap_or(false)) {
        let found = connection.ask("SELECT max(version) FROM exitgap.schema_version", &[])?;
        let version: Option<i64> = found.first().and_then(|row| row.try_get(0).ok()).flatten();
        migrated.from = version.and_then(|version| i32::try_from(version).ok());
    }
    if let Some(newer) = migrated.from.filter(|from| *from > VERSION) {
        return Err(MigrationError::Newer(newer));
    }
    connection.batch(&format!("SET LOCAL ROLE {OWNER}"))?;
    for (version, sql) in MIGRATIONS {
        if migrated.from.is_none_or(|from| from < version) {
            connection.batch(sql)?;
            connection.batch(&format!("INSERT INTO exitgap.schema_version VALUES ({version})"))?;
        }
    }
    let grants = GRANTS.replace("{recorder}", &quote_identifier(roles.recorder));
    connection.batch(&grants)?;
    for role in [roles.reader, roles.service].into_iter().flatten() {
        grant(connection, "exitgap", "SELECT", role)?;
    }
    for kind in SIDECARS {
        make_apart(connection, kind)?;
        for role in [Some(roles.recorder), roles.service].into_iter().flatten() {
            grant(connection, kind.schema, "SELECT, INSERT, UPDATE, DELETE", role)?;
            let (schema, role) = (kind.schema, quote_identifier(role));
            for table in kind.kept {
                connection
                    .batch(&format!("REVOKE UPDATE, DELETE ON {schema}.{table} FROM {role}"))?;
            }
            let version = format!("REVOKE INSERT, UPDATE, DELETE ON {schema}.schema_version");
            connection.batch(&format!("{version} FROM {role}"))?;
        }
    }
    Ok(migrated)
}

/// Creates the tables of a database next to the series, if they do not exist.
fn make_apart(connection: &Connection, kind: &SidecarKind) -> Result<(), Fault> {
    let has_version = format!("SELECT to_regclass('{}.schema_version') IS NOT NULL", kind.schema);
    let found = connection.ask(&has_version, &[])?;
    if found.iter().any(|row| row.try_get(0).unwrap_or(false)) {
        return Ok(());
    }
    connection.batch(kind.tables)
}

/// Grants a role this permission for all tables of a schema.
fn grant(connection: &Connection, schema: &str, what: &str, role: &str) -> Result<(), Fault> {
    let role = quote_identifier(role);
    connection.batch(&format!(
        "GRANT USAGE ON SCHEMA {schema} TO {role}; \
         GRANT {what} ON ALL TABLES IN SCHEMA {schema} TO {role};"
    ))
}

/// Creates a role if it does not exist, and returns whether it did.
fn make_role(connection: &Connection, name: &str, login: &str) -> Result<bool, Fault> {
    let found = connection.ask("SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1", &[&name])?;
    if found.is_empty() {
        connection.batch(&format!("CREATE ROLE {} {login}", quote_identifier(name)))?;
    }
    Ok(found.is_empty())
}

/// Whether a name needs no quoting: letters, digits and underscores.
fn is_role(name: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=63).contains(&name.len()) && name.bytes().all(is_of_name)
}

fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
