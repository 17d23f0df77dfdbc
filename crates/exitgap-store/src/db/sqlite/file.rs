//! The database as a file: its path and its pages.

use std::path::PathBuf;

use super::{DatabaseError, Sqlite, database_error};
use crate::error::StoreError;

impl Sqlite {
    /// The path with which it was opened.
    pub fn path(&self) -> PathBuf {
        self.connection.path().unwrap_or_default().into()
    }

    /// The size of all its pages.
    pub fn bytes(&self, doing: &'static str) -> Result<u64, StoreError> {
        let pragma = |name| self.connection.pragma_query_value(None, name, |row| row.get(0));
        let page_bytes: i64 = pragma("page_size").map_err(|error| database_error(doing, error))?;
        let pages: i64 = pragma("page_count").map_err(|error| database_error(doing, error))?;
        Ok(page_bytes.unsigned_abs() * pages.unsigned_abs())
    }

    /// Limits its growth to this many pages, or removes the limit.
    pub fn limit_growth(&self, pages: Option<u32>) -> Result<(), StoreError> {
        let doing = "limiting the database's growth";
        let held = self.connection.pragma_query_value(None, "page_count", |row| row.get(0));
        let held: u32 = held.map_err(|error| database_error(doing, error))?;
        // A value above SQLite's own limit counts as that limit.
        let most = pages.map_or(u32::MAX - 1, |more| held.saturating_add(more));
        self.connection
            .pragma_update_and_check(None, "max_page_count", most, |row| row.get::<_, i64>(0))
            .map(|_| ())
            .map_err(|error| database_error(doing, error))
    }

    /// The first damage that the database finds in its own pages and indices, if any.
    pub fn page_damage(&self) -> Result<Option<String>, StoreError> {
        let found = self.connection.pragma_query_value(None, "integrity_check", |row| row.get(0));
        let found: String = found.map_err(|error| StoreError::Database {
            doing: "checking the database's pages",
            source: DatabaseError::engine(error),
        })?;
        Ok((found != "ok").then_some(found))
    }
}
