//! The numbers of rows of tables that grow, and of tables that must not.

use super::{Db, statements};
use crate::db::statements::Statement;
use crate::error::StoreError;

/// The numbers of rows of some tables.
pub struct Counts {
    /// In the order in which the tables were given.
    pub rows: Vec<u64>,
    /// The last sealed slot at the time of counting.
    pub last_slot: Option<i64>,
}

impl Db {
    /// The rows of these tables of the series.
    pub fn series_counts(&self, tables: &[&str]) -> Result<Counts, StoreError> {
        self.counts(&statements::SELECT_COUNTS, tables)
    }

    /// The rows of these derived tables.
    pub fn derived_counts(&self, tables: &[&str]) -> Result<Counts, StoreError> {
        self.counts(&statements::SELECT_DERIVED_COUNTS, tables)
    }

    fn counts(&self, statement: &'static Statement, tables: &[&str]) -> Result<Counts, StoreError> {
        self.require_row(statement, &[], |row| {
            let rows = tables.iter().map(|table| row.get(table)).collect::<Result<_, _>>()?;
            Ok(Counts { rows, last_slot: row.get("last_slot")? })
        })
    }

    /// A second row in a table that may have only one: the table and the row's number.
    pub fn stray_row(&self) -> Result<Option<(String, i64)>, StoreError> {
        self.row(&statements::SELECT_STRAY_ROW, &[], |row| Ok((row.at(0)?, row.at(1)?)))
    }
}
