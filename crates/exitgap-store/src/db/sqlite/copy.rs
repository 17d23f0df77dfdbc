//! Copying a database while somebody writes to it.

use std::io;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::{Sqlite, database_error};
use crate::error::StoreError;

impl Sqlite {
    /// Copies the database, as it is at this moment, to `path`, and opens the copy.
    pub fn copy_to(&self, path: &Path, doing: &'static str) -> Result<Self, StoreError> {
        let mut copy = Connection::open(path).map_err(|error| database_error(doing, error))?;
        let backup = Backup::new(&self.connection, &mut copy);
        let backup = backup.map_err(|error| database_error(doing, error))?;
        // In one step: in several, each slot recorded meanwhile would begin it anew.
        let step = backup.step(-1).map_err(|error| database_error(doing, error))?;
        if step != StepResult::Done {
            let source = io::ErrorKind::ResourceBusy.into();
            return Err(StoreError::File { path: path.to_owned(), source });
        }
        drop(backup);
        Ok(Self { connection: copy })
    }
}
