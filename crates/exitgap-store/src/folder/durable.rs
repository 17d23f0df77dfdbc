//! Files that are there whole or not at all, also after a power cut.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::PublishError;
use crate::unfinished::{self, Unfinished};

/// Puts a file of these bytes at `path`: written aside, synced, renamed into place, its
/// folder synced. What stood there is replaced.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), PublishError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    put(path, bytes)?;
    sync_folder(folder)
}

/// The same for a file that is written once: one that is there already must hold the same.
pub fn write_once(path: &Path, bytes: &[u8]) -> Result<(), PublishError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    write_all_once(folder, [(path.to_owned(), bytes)])
}

/// The same for several files of one folder, whose names outlast a power cut together.
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

/// A file that is written piece by piece, and takes its place once it is whole.
pub struct Pieces {
    path: PathBuf,
    unfinished: Unfinished,
}

impl Pieces {
    /// Begins a file that is to stand at `path`; what stands there stays until the end.
    pub fn begin(path: &Path) -> Result<Self, PublishError> {
        make_folder(path.parent().unwrap_or(Path::new(".")))?;
        let unfinished = Unfinished::begin_alone(path).map_err(failed(path))?;
        Ok(Self { path: path.to_owned(), unfinished })
    }

    /// Puts the file at its path, synced.
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

/// Whether a file holds these bytes; `None` where it is not there.
fn holds(path: &Path, bytes: &[u8]) -> Result<Option<bool>, PublishError> {
    match fs::read(path) {
        Ok(found) => Ok(Some(found == bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(PublishError::File { path: path.to_owned(), source }),
    }
}

/// Puts a file of these bytes at `path`; its name may not yet outlast a power cut. Only one process writes here.
fn put(path: &Path, bytes: &[u8]) -> Result<(), PublishError> {
    let mut unfinished = Unfinished::begin_alone(path).map_err(failed(path))?;
    unfinished.write_all(bytes).map_err(failed(path))?;
    unfinished.end().map_err(failed(path))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> PublishError {
    let path = path.to_owned();
    |source| PublishError::File { path, source }
}

/// Makes the folder and those above it, each known to the disk.
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

/// Makes renames in the folder outlast a power cut.
fn sync_folder(folder: &Path) -> Result<(), PublishError> {
    unfinished::sync_folder(folder).map_err(failed(folder))
}
