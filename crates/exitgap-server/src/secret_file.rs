//! Keys in files that nobody but their owner may read.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use exitgap_core::file_errors::explained;
use exitgap_core::secrets::LooseMode;

/// More bytes than a key's file has.
const MAX_KEY_BYTES: u64 = 1024;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum SecretFileError {
    /// There is no file.
    #[error("no key at {path}; create one with `exitgap-server key {kind} --out {path}`")]
    Absent {
        /// Where it was looked for.
        path: PathBuf,
        /// Which command makes one.
        kind: &'static str,
    },
    /// A file is there already.
    #[error(
        "{path} already exists and is not overwritten, because earlier signatures are checked with it"
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read or written.
    #[error("{path}: {}", explained(source))]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Others than its owner may read or write it.
    #[error("{path}: {loose}")]
    LooseMode {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        loose: LooseMode,
    },
}

/// Reads what nobody but its owner may read; `kind` is what `exitgap-server key` calls it.
pub fn read_secret(path: &Path, kind: &'static str) -> Result<String, SecretFileError> {
    let file_error = |source| SecretFileError::File { path: path.to_owned(), source };
    let mut file = fs::File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => SecretFileError::Absent { path: path.to_owned(), kind },
        _ => file_error(source),
    })?;
    // Of the file that was opened, not of what has its name by then.
    let mode = file.metadata().map_err(file_error)?.permissions().mode();
    LooseMode::check(mode)
        .map_err(|loose| SecretFileError::LooseMode { path: path.to_owned(), loose })?;
    let mut text = String::new();
    (&mut file).take(MAX_KEY_BYTES).read_to_string(&mut text).map_err(file_error)?;
    Ok(text)
}

/// Writes a new key, readable by its owner only, where there is no file.
pub fn write_secret(path: &Path, text: &str) -> Result<(), SecretFileError> {
    let file_error = |source| SecretFileError::File { path: path.to_owned(), source };
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = created.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => SecretFileError::Exists { path: path.to_owned() },
        _ => file_error(source),
    })?;
    let written = writeln!(file, "{text}").and_then(|()| file.sync_all());
    written.map_err(|source| {
        // Half a key is of no use, and would keep the next one from being written.
        let _ = fs::remove_file(path);
        file_error(source)
    })
}
