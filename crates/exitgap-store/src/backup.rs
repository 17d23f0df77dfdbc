//! Copies a store while a recorder continues to write it.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::error::StoreError;
use crate::reader::Reader;

impl Reader {
    /// Copies the current state of the store to `path`, where no file may exist. The newest part of the copy is checked
    /// ([`Reader::check_edge`]). The copy is complete or absent: it is written to another file, synced, and renamed.
    ///
    /// A copy is out of date from the next slot on. A recorder that publishes refuses to continue from an old copy.
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
