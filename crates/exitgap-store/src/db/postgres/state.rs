//! A server's own state, for operators who rely on it.

use super::{Postgres, database_error};
use crate::error::StoreError;

/// A server's own state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerState {
    /// Its version.
    pub version: String,
    /// Whether the role can change recorded data, because it owns the tables or is a superuser.
    pub may_change: bool,
    /// Settings with which committed data can be lost, such as `fsync = off`.
    pub unsafe_settings: Vec<String>,
    /// The standbys that a commit waits for, as in the setting; `None` if there are none.
    pub standbys: Option<String>,
    /// The sealing recorder.
    pub sealer: Option<String>,
    /// The number of days whose snapshots it has.
    pub days: u64,
}

impl Postgres {
    /// Reads the server's state.
    pub fn server(&self) -> Result<ServerState, StoreError> {
        let rows = self.connection.ask(include_str!("sql/select_server.sql"), &[]);
        let rows =
            rows.map_err(|fault| database_error("asking the server for its settings", fault))?;
        let Some(row) = rows.first() else { return Ok(ServerState::default()) };
        let text = |at: usize| row.try_get::<_, Option<String>>(at).ok().flatten();
        let settings = text(2).unwrap_or_default();
        Ok(ServerState {
            version: text(0).unwrap_or_default(),
            may_change: row.try_get(1).unwrap_or(true),
            unsafe_settings: settings
                .split(", ")
                .filter(|set| !set.is_empty())
                .map(str::to_owned)
                .collect(),
            standbys: text(3).filter(|set| !set.is_empty()),
            sealer: text(4),
            days: row
                .try_get(5)
                .ok()
                .and_then(|days: i64| days.try_into().ok())
                .unwrap_or_default(),
        })
    }
}
