//! Writes files that are complete or absent, even after a power failure.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::PublishError;
use crate::unfinished::{self, Unfinished};

/// Writes a file with these bytes at `path`: to another file, synced, renamed, and its folder synced. An existing file
/// is replaced.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), PublishError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    put(path, bytes)?;
    sync_folder(folder)
}

/// Same as [`replace_file`] for a file that is written once: an existing file must have the same content.
pub fn write_once(path: &Path, bytes: &[u8]) -> Result<(), PublishError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    write_all_once(folder, [(path.to_owned(), bytes)])
}

/// Same as [`write_once`] for several files of one folder. A single sync makes all their names durable.
pub fn write_all_once<'a>(
    folder: &Path,
    files: impl IntoIterator<Item = (PathBuf, &'a [u8])>,
) -> Result<(), PublishError> {
    make_folder(folder)?;
    for (path, bytes) in files {
        match holds(&path, bytes)? {
            Some(true) => {}
            Some(false) => return Err(PublishError::Differs { path }),
            None => put(&path, bytes)?,
        }
    }
    sync_folder(folder)
}

/// A file that is written piece by piece and renamed into place once it is complete.
pub struct Pieces {
    path: PathBuf,
    unfinished: Unfinished,
}

impl Pieces {
    /// Starts a file that will replace the one at `path`. The existing file stays until the end.
    pub fn begin(path: &Path) -> Result<Self, PublishError> {
        make_folder(path.parent().unwrap_or(Path::new(".")))?;
        let unfinished = Unfinished::begin_alone(path).map_err(failed(path))?;
        Ok(Self { path: path.to_owned(), unfinished })
    }

    /// Syncs the file and renames it to its path.
    pub fn end(self) -> Result<(), PublishError> {
        self.unfinished.end().map_err(failed(&self.path))?;
        sync_folder(self.path.parent().unwrap_or(Path::new(".")))
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unfinished.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unfinished.flush()
    }
}

/// Removes what a process that ended left unfinished in a folder, where there is one.
pub fn remove_unfinished(folder: &Path) -> Result<(), PublishError> {
    match unfinished::remove_unfinished_in(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(failed(folder)),
    }
}

/// Whether a file contains exactly these bytes; `None` if it does not exist.
fn holds(path: &Path, bytes: &[u8]) -> Result<Option<bool>, PublishError> {
    match fs::read(path) {
        Ok(found) => Ok(Some(found == bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(PublishError::File { path: path.to_owned(), source }),
    }
}

/// Puts a file of these bytes at `path`. Its name may not survive a power cut until the folder is synced. Only one process writes here.
fn put(path: &Path, bytes: &[u8]) -> Result<(), PublishError> {
    let mut unfinished = Unfinished::begin_alone(path).map_err(failed(path))?;
    unfinished.write_all(bytes).map_err(failed(path))?;
    unfinished.end().map_err(failed(path))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> PublishError {
    let path = path.to_owned();
    |source| PublishError::File { path, source }
}

/// Creates the folder and its ancestors and syncs each one's parent.
fn make_folder(folder: &Path) -> Result<(), PublishError> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().unwrap_or(Path::new("."));
    make_folder(above)?;
    match fs::create_dir(folder) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
            Err(PublishError::File { path: folder.to_owned(), source })
        }
        _ => sync_folder(above),
    }
}

/// Syncs the folder, so that renames in it survive a power cut.
fn sync_folder(folder: &Path) -> Result<(), PublishError> {
    unfinished::sync_folder(folder).map_err(failed(folder))
}
