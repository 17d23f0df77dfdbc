//! `key new`: creates the key that signs a log, once and only on request.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use exitgap_api::receipt::ReceiptSigner;
use exitgap_core::file_errors::explained;
use exitgap_core::secrets::LooseMode;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{CheckpointError, Cosigner, NoteError, Origin, SignerKey};

use crate::alerts::{AlertKey, AlertKeyError};
use crate::payments::{ReceiptFileError, write_signer};
use crate::secret_file::{self, SecretFileError};

/// Upper bound on the size of a key file.
const MAX_KEY_BYTES: u64 = 1024;

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create a log key and print its public half.
    ///
    /// Only its owner can read the file. An existing file is never overwritten, because a log
    /// cannot continue under another key.
    New {
        /// The key file to create.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// The log's name, such as example.org/exits: a name you own, without white space or +.
        #[arg(long, value_name = "NAME")]
        name: String,
    },
    /// Create the key that signs payment receipts, and print its public half, a JSON Web Key.
    ///
    /// Only its owner can read the file, and an existing file is never overwritten.
    Receipts {
        /// The key file to create.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Create the key that cosigns other operators' logs, and print its public half for those operators.
    ///
    /// Only its owner can read the file, and an existing file is never overwritten. It must not be a log's key.
    Witness {
        /// The key file to create.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// The witness's name, such as example.org/witness: a name you own, without white space or +.
        #[arg(long, value_name = "NAME")]
        name: String,
    },
    /// Create the key from which webhook keys are derived.
    ///
    /// Only its owner can read the file, and an existing file is never overwritten.
    Alerts {
        /// The key file to create.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// There is no file.
    #[error(
        "no key at {path}, and recording needs a key; create one with `exitgap-server key new --out {path} --name <your domain>/exits`"
    )]
    Absent {
        /// The path of the key.
        path: PathBuf,
    },
    /// The file already exists.
    #[error(
        "{path} already exists and is not overwritten, because a log cannot continue under another key"
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
    /// Users other than the owner may read or write the file.
    #[error("{path}: {loose}")]
    LooseMode {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        loose: LooseMode,
    },
    /// The file does not contain a key.
    #[error("{path}: {error}")]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: NoteError,
    },
    /// The name is not valid for a log.
    #[error("--name: {0}")]
    Name(#[from] CheckpointError),
    /// The system returned no random numbers.
    #[error("the system returned no random numbers: {0}")]
    Random(getrandom::Error),
    /// The file of a receipts key.
    #[error(transparent)]
    Receipts(#[from] ReceiptFileError),
    /// The file of an alerts key.
    #[error(transparent)]
    Alerts(#[from] AlertKeyError),
    /// The file of a witness key.
    #[error(transparent)]
    Witness(#[from] SecretFileError),
    /// Standard output.
    #[error("writing the public key: {}", explained(.0))]
    Output(#[source] io::Error),
}

/// Creates a key at `path` for the log `name`.
pub fn new_key(path: &Path, name: &str) -> Result<(), KeyError> {
    Origin::new(name, Slot::FIRST)?;
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(KeyError::Random)?;
    let key = SignerKey::from_seed(name, seed).map_err(|error| KeyError::Name(error.into()))?;
    let file_error = |source| KeyError::File { path: path.to_owned(), source };
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = created.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => KeyError::Exists { path: path.to_owned() },
        _ => file_error(source),
    })?;
    let written = writeln!(file, "{}", key.to_secret_text())
        .and_then(|()| file.sync_all())
        .and_then(|()| sync_folder_of(path));
    if let Err(error) = written {
        // A partly written key is useless, and would prevent the next attempt.
        let _ = fs::remove_file(path);
        return Err(file_error(error));
    }
    writeln!(io::stdout(), "{}", key.verifier()).map_err(KeyError::Output)?;
    let mut err = io::stderr();
    let _ = writeln!(err, "wrote {}. Back it up and keep it secret.", path.display());
    let _ = writeln!(
        err,
        "The line above is its public half. A log signs with it as {name}/<its first slot>; once the log has started, the published file verifier-key contains that key."
    );
    Ok(())
}

/// Creates a receipts key at `path`.
pub fn new_receipt_key(path: &Path) -> Result<(), KeyError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(KeyError::Random)?;
    let signer = ReceiptSigner::from_seed(seed);
    write_signer(path, &signer)?;
    let jwk = serde_json::to_string(&signer.key().to_jwk()).unwrap_or_default();
    writeln!(io::stdout(), "{jwk}").map_err(KeyError::Output)?;
    let _ = writeln!(
        io::stderr(),
        "wrote {}. Keep it secret. The line above is its public half, which GET /v1/payments returns.",
        path.display()
    );
    Ok(())
}

/// Creates a witness key at `path`.
pub fn new_witness_key(path: &Path, name: &str) -> Result<(), KeyError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(KeyError::Random)?;
    let key = SignerKey::from_seed(name, seed).map_err(|error| KeyError::Name(error.into()))?;
    secret_file::write_secret(path, &key.to_secret_text())?;
    writeln!(io::stdout(), "{}", Cosigner::new(key).verifier()).map_err(KeyError::Output)?;
    let _ = writeln!(
        io::stderr(),
        "wrote {}. Keep it secret. The line above is its public half. Operators whose logs it cosigns add it to [witness] asks, with this service's address and /witness.",
        path.display()
    );
    Ok(())
}

/// Creates an alerts key at `path`.
pub fn new_alert_key(path: &Path) -> Result<(), KeyError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(KeyError::Random)?;
    AlertKey::from_seed(seed).write_file(path)?;
    let _ = writeln!(
        io::stderr(),
        "wrote {}. Keep it secret. Each webhook gets its own keys, derived from this key.",
        path.display()
    );
    Ok(())
}

/// Makes the file's name as durable as its content: a log cannot continue without its key.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Reads a key written by [`new_key`].
pub fn read_key(path: &Path) -> Result<SignerKey, KeyError> {
    let file_error = |source| KeyError::File { path: path.to_owned(), source };
    let mut file = fs::File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => KeyError::Absent { path: path.to_owned() },
        _ => file_error(source),
    })?;
    // Read the mode from the open file, because the path may meanwhile name another file.
    let mode = file.metadata().map_err(file_error)?.permissions().mode();
    LooseMode::check(mode).map_err(|loose| KeyError::LooseMode { path: path.to_owned(), loose })?;
    let mut text = String::new();
    (&mut file).take(MAX_KEY_BYTES).read_to_string(&mut text).map_err(file_error)?;
    text.trim_end().parse().map_err(|error| KeyError::NotAKey { path: path.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logs_key_that_others_may_use_is_refused_and_one_of_its_owner_alone_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exitgap.key");
        let key = SignerKey::from_seed("example.org/exits", [7; 32]).unwrap();
        for mode in [0o644, 0o640, 0o602] {
            fs::write(&path, key.to_secret_text()).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let refused = read_key(&path).unwrap_err();
            assert!(
                matches!(refused, KeyError::LooseMode { loose, .. } if loose.mode == mode),
                "{mode:o}: {refused}"
            );
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read_key(&path).unwrap().to_secret_text(), key.to_secret_text());
    }
}
