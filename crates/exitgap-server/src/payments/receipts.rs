//! Receipts: their key, and the one that a payment is answered with.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use exitgap_api::PublishedExit;
use exitgap_api::receipt::{RECEIPT_VERSION, Receipt, ReceiptKeyError, ReceiptSigner};
use exitgap_api::x402::Units;
use exitgap_core::tlog::VerifierKey;
use exitgap_store::payments::{Payment, Settled};

use super::{Till, Unavailable};

/// More bytes than a key's file has.
const MAX_KEY_BYTES: u64 = 1024;

/// Why there is no key to sign receipts with.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptFileError {
    /// There is no file.
    #[error("there is no key at {path}; make one with `exitgap-server key receipts --out {path}`")]
    Absent {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A file is there already.
    #[error(
        "{path} exists and is left as it is: receipts are checked with the key that signed them"
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Others than its owner may read or write it.
    #[error("{path} has the mode {mode:o}: whoever reads it can sign receipts; make it 600")]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It holds something else, or a key that is not to be used for this.
    #[error("{path}: {error}")]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: ReceiptKeyError,
    },
}

/// Reads a key that nobody but its owner may read, and that is none of these logs'.
pub fn read_signer(path: &Path, logs: &[VerifierKey]) -> Result<ReceiptSigner, ReceiptFileError> {
    let file_error = |source| ReceiptFileError::File { path: path.to_owned(), source };
    let mut file = fs::File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ReceiptFileError::Absent { path: path.to_owned() },
        _ => file_error(source),
    })?;
    // Of the file that was opened, not of what has its name by then.
    let mode = file.metadata().map_err(file_error)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(ReceiptFileError::Open { path: path.to_owned(), mode });
    }
    let mut text = String::new();
    (&mut file).take(MAX_KEY_BYTES).read_to_string(&mut text).map_err(file_error)?;
    let not_a_key = |error| ReceiptFileError::NotAKey { path: path.to_owned(), error };
    let signer = ReceiptSigner::of_secret_text(&text).map_err(not_a_key)?;
    let bytes = signer.key().to_bytes();
    if logs.iter().any(|log| *log.public_bytes() == bytes) {
        return Err(not_a_key(ReceiptKeyError::OfALog));
    }
    Ok(signer)
}

/// Writes a new key, readable by its owner only, where there is no file.
pub fn write_signer(path: &Path, signer: &ReceiptSigner) -> Result<(), ReceiptFileError> {
    let file_error = |source| ReceiptFileError::File { path: path.to_owned(), source };
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = created.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => ReceiptFileError::Exists { path: path.to_owned() },
        _ => file_error(source),
    })?;
    let written = writeln!(file, "{}", signer.to_secret_text()).and_then(|()| file.sync_all());
    written.map_err(|source| {
        // Half a key is of no use, and would keep the next one from being written.
        let _ = fs::remove_file(path);
        file_error(source)
    })
}

impl Till {
    /// The receipt of a payment that was settled: the one that it was answered with first.
    pub(super) async fn receipt(
        &self,
        payment: &Payment,
        settled: Settled,
    ) -> Result<String, Unavailable> {
        let key = payment.key.clone();
        if let Some(kept) = self.payments(move |payments| payments.receipt(&key)).await? {
            return Ok(kept);
        }
        let signed = self.write_receipt(payment, settled)?;
        let key = payment.key.clone();
        self.payments(move |payments| payments.keep_receipt(&key, &signed)).await
    }

    fn write_receipt(&self, payment: &Payment, settled: Settled) -> Result<String, Unavailable> {
        let answer: PublishedExit =
            serde_json::from_slice(&payment.answer).map_err(|error| Unavailable::of(&error))?;
        let context = answer.answer.context;
        let hash = context.method.depth_source.snapshot_hash.unwrap_or_default();
        let token = &self.0.token;
        let receipt = Receipt {
            v: RECEIPT_VERSION,
            network: token.network,
            transaction: settled.transaction,
            payer: payment.payer,
            amount: Units(payment.amount),
            asset: token.address,
            resource_url: payment.resource_url.clone(),
            issued_at: settled.settled_s,
            answer_sha256: Receipt::name_of(&payment.answer),
            evidence_url: answer.evidence_url,
            snapshot_hash: hash.parse().map_err(|error| Unavailable::of(&error))?,
            method_version: context.method_version,
        };
        Ok(receipt.sign(&self.0.signer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipts_key_is_its_owners_alone_and_no_logs() {
        let folder = std::env::temp_dir().join(format!("exitgap-receipts-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("key");
        assert!(matches!(read_signer(&path, &[]), Err(ReceiptFileError::Absent { .. })));
        let signer = ReceiptSigner::from_seed([7; 32]);
        write_signer(&path, &signer).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let exists = write_signer(&path, &signer).unwrap_err();
        assert!(matches!(exists, ReceiptFileError::Exists { .. }), "{exists}");
        let log = |byte| {
            let key = exitgap_core::tlog::SignerKey::from_seed("example.org/exits", [byte; 32]);
            key.unwrap()
        };
        assert_eq!(read_signer(&path, &[log(8).verifier()]).unwrap().key(), signer.key());
        let logs_own = read_signer(&path, &[log(8).verifier(), log(7).verifier()]).unwrap_err();
        assert!(
            logs_own.to_string().ends_with("it is a log's key; receipts have a key of their own")
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let open = read_signer(&path, &[]).unwrap_err();
        assert!(matches!(open, ReceiptFileError::Open { mode: 0o640, .. }), "{open}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, log(7).to_secret_text()).unwrap();
        let logs_file = read_signer(&path, &[]).unwrap_err().to_string();
        assert!(logs_file.contains("it is a log's key"), "{logs_file}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
