//! The database of stored alert rules, shared by processes: opening it, and its rows.

mod rows;
mod statements;

use std::path::Path;

use super::Db;
use super::sidecar::{FileKind, SidecarDb, SidecarKind, copied};
use super::statements::Statement;
use crate::error::StoreError;

pub use rows::{
    AlertRow, ChangedRow, DueRow, EndpointRow, EventRow, Lease, NewAlertRow, NewEndpointRow,
    NewEventRow,
};
#[cfg(test)]
pub use statements::{ALL as STATEMENTS, FILES};

/// `EXAL` in a file's header.
pub static KIND: SidecarKind = SidecarKind {
    application_id: 0x4558_414c,
    versions: &[include_str!("sql/schema.sql")],
    schema: "exitgap_alerts",
    tables: include_str!("sql/server.sql"),
    kept: &[],
    written: Statement {
        doing: "looking for rules",
        sql: "SELECT 1 FROM alert UNION ALL SELECT 1 FROM event LIMIT 1",
        table: None,
    },
    copied: copied! {
        "endpoint": "id", "token", "url", "host", "salt", "generation", "rotated_ms", "state",
            "challenge_ms", "failures", "leased_ms", "failing_ms", "said";
        "challenged": "host", "at_ms";
        "alert": "no", "id", "token", "client", "idempotency", "request", "rule", "endpoint",
            "created_s", "expires_s", "ended", "ended_s", "run", "run_slot", "state", "state_slot",
            "changed";
        "event": "alert", "seq", "id", "type", "slot", "document", "made_s";
        "delivery": "alert", "seq", "state", "due_ms", "attempts", "failures", "leased_ms", "said";
        "counter": "name", "value" => "ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    },
};

/// The database of stored rules, open for writing.
#[derive(Debug)]
pub struct AlertsDb(SidecarDb);

impl AlertsDb {
    /// Opens the database.
    pub fn open(path: &Path) -> Result<Result<Self, FileKind>, StoreError> {
        Ok(SidecarDb::open(path, &KIND)?.map(Self))
    }

    /// Copies another database into this empty one. Returns the number of rows.
    pub fn copy_from(&mut self, other: &mut Self) -> Result<u64, StoreError> {
        self.0.copy_from(&mut other.0)
    }

    /// Runs `work`, which reads a single consistent state.
    pub fn read_transaction<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&Rows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.read_transaction(|db| work(&Rows(db)))
    }

    /// Runs `work` in a transaction: all or nothing, and without other writers. The changes are durable when this
    /// returns.
    pub fn write_transaction<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&Rows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.write_transaction(|db| work(&Rows(db)))
    }
}

/// The rows, in a transaction.
pub struct Rows<'a>(&'a Db);
