//! Receipts: their signing key, and the receipt for a payment.

use std::path::{Path, PathBuf};

use exitgap_api::PublishedExit;
use exitgap_api::receipt::{RECEIPT_VERSION, Receipt, ReceiptKeyError, ReceiptSigner};
use exitgap_api::x402::Units;
use exitgap_core::ids::PoolId;
use exitgap_core::tlog::VerifierKey;
use exitgap_store::payments::{Payment, PaymentSettlement};

use super::{PaymentProcessor, Unavailable};
use crate::secret_file::{self, SecretFileError};

/// Why the receipts key could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptFileError {
    /// The file.
    #[error(transparent)]
    File(#[from] SecretFileError),
    /// The file does not contain a key, or a key that must not be used for this.
    #[error("{path}: {error}")]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: ReceiptKeyError,
    },
}

/// Reads a key that only its owner can read, and that is not a key of these logs.
pub fn read_signer(path: &Path, logs: &[VerifierKey]) -> Result<ReceiptSigner, ReceiptFileError> {
    let text = secret_file::read_secret(path, "receipts")?;
    let not_a_key = |error| ReceiptFileError::NotAKey { path: path.to_owned(), error };
    let signer = ReceiptSigner::of_secret_text(&text).map_err(not_a_key)?;
    let bytes = signer.key().to_bytes();
    if logs.iter().any(|log| *log.public_bytes() == bytes) {
        return Err(not_a_key(ReceiptKeyError::OfALog));
    }
    Ok(signer)
}

/// Writes a new key to a new file that only its owner can read; fails if the file exists.
pub fn write_signer(path: &Path, signer: &ReceiptSigner) -> Result<(), ReceiptFileError> {
    Ok(secret_file::write_secret(path, &signer.to_secret_text())?)
}

impl PaymentProcessor {
    /// The receipt of a settled payment: the same one as in its first answer.
    pub(super) async fn receipt(
        &self,
        payment: &Payment,
        settled: PaymentSettlement,
    ) -> Result<String, Unavailable> {
        let key = payment.key.clone();
        if let Some(kept) = self.payments(move |payments| payments.receipt(&key)).await? {
            return Ok(kept);
        }
        let (signed, pool) = self.write_receipt(payment, settled)?;
        let key = payment.key.clone();
        self.payments(move |payments| payments.keep_receipt(&key, &signed, &pool)).await
    }

    /// Creates the receipt, and names the pool whose head will commit to it.
    fn write_receipt(
        &self,
        payment: &Payment,
        settled: PaymentSettlement,
    ) -> Result<(String, PoolId), Unavailable> {
        let answer: PublishedExit = serde_json::from_slice(&payment.answer)
            .map_err(|error| Unavailable::from_error(&error))?;
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
            snapshot_hash: hash.parse().map_err(|error| Unavailable::from_error(&error))?,
            method_version: context.method_version,
        };
        let pool = context.pool.parse().map_err(|error| Unavailable::from_error(&error))?;
        Ok((receipt.sign(&self.0.signer), pool))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_receipts_key_is_its_owners_alone_and_no_logs() {
        let folder = std::env::temp_dir().join(format!("exitgap-receipts-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("key");
        assert!(matches!(
            read_signer(&path, &[]),
            Err(ReceiptFileError::File(SecretFileError::Absent { .. }))
        ));
        let signer = ReceiptSigner::from_seed([7; 32]);
        write_signer(&path, &signer).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let exists = write_signer(&path, &signer).unwrap_err();
        assert!(
            matches!(exists, ReceiptFileError::File(SecretFileError::Exists { .. })),
            "{exists}"
        );
        let log = |byte| {
            let key = exitgap_core::tlog::SignerKey::from_seed("example.org/exits", [byte; 32]);
            key.unwrap()
        };
        assert_eq!(read_signer(&path, &[log(8).verifier()]).unwrap().key(), signer.key());
        let logs_own = read_signer(&path, &[log(8).verifier(), log(7).verifier()]).unwrap_err();
        assert!(
            logs_own.to_string().ends_with("this is the key of a log; receipts use a separate key")
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let open = read_signer(&path, &[]).unwrap_err();
        assert!(
            matches!(&open, ReceiptFileError::File(SecretFileError::LooseMode { loose, .. }) if loose.mode == 0o640),
            "{open}"
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, log(7).to_secret_text()).unwrap();
        let logs_file = read_signer(&path, &[]).unwrap_err().to_string();
        assert!(logs_file.contains("this is the key of a log"), "{logs_file}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
