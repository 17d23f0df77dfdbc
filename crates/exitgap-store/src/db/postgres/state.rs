//! What a server says of itself, for whoever is to rely on it.

use super::{Postgres, database_error};
use crate::error::StoreError;

/// What a server says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerState {
    /// Its version.
    pub version: String,
    /// Whether the role could change what is recorded: it owns the tables, or may do everything.
    pub may_change: bool,
    /// Settings by which what was committed can be lost, as `fsync = off`.
    pub unsafe_settings: Vec<String>,
    /// Which standbys a commit waits for, as its setting says; `None`: for none.
    pub standbys: Option<String>,
    /// Who seals.
    pub sealer: Option<String>,
    /// Of how many days it has the snapshots.
    pub days: u64,
}

impl Postgres {
    /// What the server says of itself.
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
