//! How many rows there are, of tables that grow and of tables that must not.

use super::{Db, statements};
use crate::db::statements::Statement;
use crate::error::StoreError;

/// How many rows each of some tables has.
pub struct Counts {
    /// In the order in which the tables were named.
    pub rows: Vec<u64>,
    /// The last slot that was sealed when they were counted.
    pub last_slot: Option<i64>,
}

impl Db {
    /// Rows of these tables of the series.
    pub fn series_counts(&self, tables: &[&str]) -> Result<Counts, StoreError> {
        self.counts(&statements::SELECT_COUNTS, tables)
    }

    /// Rows of these derived tables.
    pub fn derived_counts(&self, tables: &[&str]) -> Result<Counts, StoreError> {
        self.counts(&statements::SELECT_DERIVED_COUNTS, tables)
    }

    fn counts(&self, statement: &'static Statement, tables: &[&str]) -> Result<Counts, StoreError> {
        self.require_row(statement, &[], |row| {
            let rows = tables.iter().map(|table| row.get(table)).collect::<Result<_, _>>()?;
            Ok(Counts { rows, last_slot: row.get("last_slot")? })
        })
    }

    /// A row beside the only one that a table may have: the table and the row's number.
    pub fn stray_row(&self) -> Result<Option<(String, i64)>, StoreError> {
        self.row(&statements::SELECT_STRAY_ROW, &[], |row| Ok((row.at(0)?, row.at(1)?)))
    }
}
