//! One recorder per store: a lock the kernel holds for the process, and releases when
//! it ends in whatever way.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::StoreError;

/// The lock, held until dropped. The file stays: removing it would let two processes
/// hold locks on two files of one name.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Said to the kernel, and not left to closing the file: a child process that is about
    /// to start holds the same open file for a moment.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl Lock {
    /// Takes the lock beside the database, or says who holds it.
    ///
    /// The database's own file is left alone: `SQLite`'s locks on it end as soon as any
    /// handle of the process on it is closed.
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

/// `<database>.lock`, beside the file that a symbolic link leads to, so that two names
/// of one database have one lock.
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

/// The process id in the lock file: a hint for people, nothing more.
fn holder(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
