//! Files that are there whole or not at all, also after a power cut.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::PublishError;

/// Puts a file of these bytes at `path`: written aside, synced, renamed into place, its
/// folder synced. What stood there is replaced.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), PublishError> {
    write_with(path, |file| file.write_all(bytes))
}

/// The same for a file that is written once: one that is there already must hold the same.
pub fn write_once(path: &Path, bytes: &[u8]) -> Result<(), PublishError> {
    match fs::read(path) {
        Ok(found) if found == bytes => Ok(()),
        Ok(_) => Err(PublishError::Differs { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => write(path, bytes),
        Err(source) => Err(PublishError::File { path: path.to_owned(), source }),
    }
}

/// The same as [`write`] with what `fill` writes.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), PublishError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    // Only one process writes here, so that one name for what is unfinished will do.
    let aside = aside(path);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| PublishError::File { path, source }
    };
    let mut file = File::create(&aside).map_err(failed(&aside))?;
    fill(&mut file).map_err(failed(&aside))?;
    file.sync_all().map_err(failed(&aside))?;
    fs::rename(&aside, path).map_err(failed(path))?;
    sync_folder(folder)
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
pub fn sync_folder(folder: &Path) -> Result<(), PublishError> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|source| PublishError::File { path: folder.to_owned(), source })
}

fn aside(path: &Path) -> PathBuf {
    let mut aside = path.to_owned();
    aside.as_mut_os_string().push(".part");
    aside
}
