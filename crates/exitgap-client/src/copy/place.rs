//! The folder of a copy. A file appears in it completely or not at all, even after a power failure: it is written to a
//! temporary file, synced, and renamed to its place, whose folder is then synced.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use exitgap_core::log_folder::{LogFile, PartRef, Table};
use exitgap_core::tlog::Tile;

use super::error::CopyError;
use super::unpack::unpack_table;

/// The folder of incomplete files.
const ASIDE: &str = ".copy-aside";

/// A process that updates the copy holds a lock on this file.
const LOCK: &str = ".copy-lock";

/// A folder with a copy of a log.
pub struct Place {
    path: PathBuf,
    /// The number of files started.
    begun: AtomicU64,
}

impl Place {
    /// Opens the folder at `path`, and creates it if needed; fails if it contains something else.
    pub fn open(path: &Path) -> Result<Self, CopyError> {
        let place = Self { path: path.to_owned(), begun: AtomicU64::new(0) };
        fs::create_dir_all(path).map_err(folder_error(path))?;
        // The first file of any copy.
        if place.path_of(&LogFile::VerifierKey).exists() {
            return Ok(place);
        }
        for entry in fs::read_dir(path).map_err(folder_error(path))? {
            let name = entry.map_err(folder_error(path))?.file_name();
            if name != ASIDE && name != LOCK {
                return Err(CopyError::NotACopy { path: path.to_owned() });
            }
        }
        Ok(place)
    }

    /// The path of a file of the log. It is always inside the folder, because such a file has only one path.
    pub fn path_of(&self, file: &LogFile) -> PathBuf {
        self.path.join(file.to_string())
    }

    /// Locks the copy against changes by other processes while the lock exists, and removes incomplete files of
    /// processes that were killed.
    pub fn lock(&self) -> Result<File, CopyError> {
        let path = self.path.join(LOCK);
        let lock = File::create(&path).map_err(folder_error(&path))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => CopyError::InUse { path: self.path.clone() },
            TryLockError::Error(error) => CopyError::Folder { path, error },
        })?;
        let aside = self.path.join(ASIDE);
        remove_folder(&aside)?;
        fs::create_dir(&aside).map_err(folder_error(&aside))?;
        Ok(lock)
    }

    /// A file's bytes; `None` if it does not exist.
    pub fn read_file(&self, file: &LogFile, most: usize) -> Result<Option<Vec<u8>>, CopyError> {
        let path = self.path_of(file);
        let Some(length) = self.length(file)? else { return Ok(None) };
        if length > most as u64 {
            let why = format!("it is larger than the maximum of {most} bytes for such a file");
            return Err(CopyError::Damaged { path, why });
        }
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(length).read_to_end(&mut bytes));
        read.map_err(folder_error(&path))?;
        Ok(Some(bytes))
    }

    /// A file's length; `None` if it does not exist.
    pub fn length(&self, file: &LogFile) -> Result<Option<u64>, CopyError> {
        let path = self.path_of(file);
        match fs::metadata(&path) {
            Ok(facts) if facts.is_file() => Ok(Some(facts.len())),
            Ok(_) => Err(CopyError::Damaged { path, why: "it is not a file".to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CopyError::Folder { path, error }),
        }
    }

    /// A file of these bytes, written aside and synced.
    pub fn aside(&self, bytes: &[u8]) -> Result<Aside, CopyError> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let aside = Aside { path: self.path.join(ASIDE).join(number.to_string()) };
        let written = File::create(&aside.path).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        written.map_err(folder_error(&aside.path))?;
        Ok(aside)
    }

    /// Writes a complete file to its place.
    pub fn put(&self, file: &LogFile, bytes: &[u8]) -> Result<(), CopyError> {
        self.place(&self.aside(bytes)?, file)
    }

    /// Moves a finished temporary file to its place.
    pub fn place(&self, aside: &Aside, file: &LogFile) -> Result<(), CopyError> {
        let path = self.path_of(file);
        let folder = path.parent().unwrap_or(&self.path);
        self.make_folder(folder)?;
        fs::rename(&aside.path, &path).map_err(folder_error(&path))?;
        sync(folder)
    }

    /// Removes a file.
    pub fn remove(&self, file: &LogFile) -> Result<(), CopyError> {
        let path = self.path_of(file);
        fs::remove_file(&path).map_err(folder_error(&path))
    }

    /// Moves a file, if it exists, from the copy to another folder.
    pub fn set_aside(&self, file: &LogFile, folder: &Path) -> Result<(), CopyError> {
        let (path, to) = (self.path_of(file), folder.join(file.to_string()));
        let above = to.parent().unwrap_or(folder);
        fs::create_dir_all(above).map_err(folder_error(above))?;
        match fs::rename(&path, &to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            moved => moved.map_err(folder_error(&path)),
        }
    }

    /// Removes the partial tiles that a full tile replaces, as the log itself does.
    pub fn remove_narrower(&self, full: &Tile) -> Result<(), CopyError> {
        remove_folder(&self.path.join(format!("{}.p", full.path_when_full())))
    }

    /// Creates a folder inside the copy, and syncs its name.
    fn make_folder(&self, folder: &Path) -> Result<(), CopyError> {
        if folder.is_dir() {
            return Ok(());
        }
        let above = folder.parent().unwrap_or(&self.path);
        self.make_folder(above)?;
        match fs::create_dir(folder) {
            // Another file of the same folder was written at the same time.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made.map_err(folder_error(folder)),
        }?;
        sync(above)
    }
}

impl Place {
    /// The table of a part that is here, and where its first body begins.
    pub fn part_table(&self, part: &PartRef) -> Result<(Table, u64), CopyError> {
        let file = LogFile::Part(part.sha256);
        let most = usize::try_from(part.bytes).unwrap_or(usize::MAX);
        let bytes = self.read_file(&file, most)?.ok_or_else(|| self.absent(&file))?;
        part.read_table(&bytes, unpack_table).map_err(|error| self.damaged(&file, &error))
    }

    /// The error that a file is not here.
    pub fn absent(&self, file: &LogFile) -> CopyError {
        let error = io::ErrorKind::NotFound.into();
        CopyError::Folder { path: self.path_of(file), error }
    }

    /// The error that a file is not what it should be.
    pub fn damaged(&self, file: &LogFile, error: &dyn core::fmt::Display) -> CopyError {
        CopyError::Damaged { path: self.path_of(file), why: error.to_string() }
    }
}

/// A file that was checked and is not yet in its place. It is removed where it does not come there.
pub struct Aside {
    path: PathBuf,
}

impl Drop for Aside {
    fn drop(&mut self) {
        // The file no longer exists here if it was moved to its place.
        let _ = fs::remove_file(&self.path);
    }
}

fn remove_folder(path: &Path) -> Result<(), CopyError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(folder_error(path)),
    }
}

/// Syncs renames in the folder to disk.
fn sync(folder: &Path) -> Result<(), CopyError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(folder_error(folder))
}

pub fn folder_error(path: &Path) -> impl FnOnce(io::Error) -> CopyError {
    let path = path.to_owned();
    |error| CopyError::Folder { path, error }
}
