//! Copies a database while a process writes to it.

use std::io;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::{Sqlite, database_error};
use crate::error::StoreError;

impl Sqlite {
    /// Copies the current state of the database to `path`, and opens the copy.
    pub fn copy_to(&self, path: &Path, doing: &'static str) -> Result<Self, StoreError> {
        let mut copy = Connection::open(path).map_err(|error| database_error(doing, error))?;
        let backup = Backup::new(&self.connection, &mut copy);
        let backup = backup.map_err(|error| database_error(doing, error))?;
        // In a single step, because with several steps each recorded slot would restart the copy.
        let step = backup.step(-1).map_err(|error| database_error(doing, error))?;
        if step != StepResult::Done {
            let source = io::ErrorKind::ResourceBusy.into();
            return Err(StoreError::File { path: path.to_owned(), source });
        }
        drop(backup);
        Ok(Self { connection: copy })
    }
}
