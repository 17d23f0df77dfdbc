//! Allows only one recorder per store: the kernel holds the lock for the process and releases it when the process ends
//! for any reason.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::StoreError;

/// The lock, held until dropped. The file stays: if it were removed, two processes could hold locks on two files with
/// the same name.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Unlocks explicitly instead of relying on closing the file: a child process that is just starting holds the same
    /// open file for a moment.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl Lock {
    /// Takes the lock next to the database, or returns its holder.
    ///
    /// Does not lock the database's own file, because `SQLite`'s locks on it end as soon as the process closes any
    /// handle on it.
    pub fn acquire(database: &Path) -> Result<Self, StoreError> {
        let path = path_beside(database)?;
        let file_error = |source| StoreError::File { path: path.clone(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(file_error)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked { holder: holder(&file), path });
            }
            Err(TryLockError::Error(source)) => return Err(file_error(source)),
        }
        file.set_len(0).map_err(file_error)?;
        file.rewind().map_err(file_error)?;
        writeln!(file, "{}", std::process::id()).map_err(file_error)?;
        Ok(Self { file })
    }
}

/// `<database>.lock`, next to the file that a symbolic link points to, so that two names of one database share one
/// lock.
fn path_beside(database: &Path) -> Result<PathBuf, StoreError> {
    let file_error = |source| StoreError::File { path: database.to_owned(), source };
    let mut path = if let Ok(path) = database.canonicalize() {
        path
    } else {
        let folder = match database.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let name = database.file_name().ok_or(std::io::ErrorKind::InvalidFilename);
        let folder = folder.canonicalize().map_err(file_error)?;
        folder.join(name.map_err(|kind| file_error(kind.into()))?)
    };
    path.as_mut_os_string().push(".lock");
    Ok(path)
}

/// The process id in the lock file. It is only a hint for people.
fn holder(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
