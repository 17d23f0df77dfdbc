//! Copying a store while a recorder goes on writing it.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::error::StoreError;
use crate::reader::Reader;

impl Reader {
    /// Copies the store, as it is at this moment, to `path`, where no file may be. The copy
    /// is checked at its edge ([`Reader::check_edge`]), and is there whole or not at all: it
    /// is written aside, synced, and renamed into place.
    ///
    /// A copy grows old with the next slot. A recorder that publishes refuses to go on from
    /// an old one.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<(), StoreError> {
        let path = path.as_ref();
        let failed = |source| StoreError::File { path: path.to_owned(), source };
        if path.try_exists().map_err(failed)? {
            return Err(StoreError::AlreadyExists { path: path.to_owned() });
        }
        let mut aside = path.to_owned();
        aside.as_mut_os_string().push(".part");
        match fs::remove_file(&aside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        self.copy_to(&aside)?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        File::open(&aside).and_then(|file| file.sync_all()).map_err(failed)?;
        fs::rename(&aside, path).map_err(failed)?;
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
    }

    fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        let doing = "copying the store";
        let copy = Self::over(self.db.copy_to(path, doing)?, self.days.clone());
        copy.check_edge()?;
        copy.db.close(doing)
    }
}
