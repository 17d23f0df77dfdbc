//! Keys in files that only their owner can read.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use exitgap_core::file_errors::explained;
use exitgap_core::secrets::LooseMode;

/// Upper bound on the size of a key file.
const MAX_KEY_BYTES: u64 = 1024;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum SecretFileError {
    /// There is no file.
    #[error("no key at {path}; create one with `exitgap-server key {kind} --out {path}`")]
    Absent {
        /// The path of the key.
        path: PathBuf,
        /// The command that creates such a key.
        kind: &'static str,
    },
    /// The file already exists.
    #[error(
        "{path} already exists and is not overwritten, because earlier signatures are checked with it"
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("{path}: {}", explained(source))]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Users other than the owner may read or write it.
    #[error("{path}: {loose}")]
    LooseMode {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        loose: LooseMode,
    },
}

/// Reads a file that only its owner can read; `kind` is its name in `exitgap-server key`.
pub fn read_secret(path: &Path, kind: &'static str) -> Result<String, SecretFileError> {
    let file_error = |source| SecretFileError::File { path: path.to_owned(), source };
    let mut file = fs::File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => SecretFileError::Absent { path: path.to_owned(), kind },
        _ => file_error(source),
    })?;
    // Read the mode from the open file, because the path may meanwhile name another file.
    let mode = file.metadata().map_err(file_error)?.permissions().mode();
    LooseMode::check(mode)
        .map_err(|loose| SecretFileError::LooseMode { path: path.to_owned(), loose })?;
    let mut text = String::new();
    (&mut file).take(MAX_KEY_BYTES).read_to_string(&mut text).map_err(file_error)?;
    Ok(text)
}

/// Writes a key to a new file that only its owner can read; fails if the file exists.
pub fn write_secret(path: &Path, text: &str) -> Result<(), SecretFileError> {
    let file_error = |source| SecretFileError::File { path: path.to_owned(), source };
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = created.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => SecretFileError::Exists { path: path.to_owned() },
        _ => file_error(source),
    })?;
    let written = writeln!(file, "{text}").and_then(|()| file.sync_all());
    written.map_err(|source| {
        // A partly written key is useless, and would prevent the next attempt.
        let _ = fs::remove_file(path);
        file_error(source)
    })
}
