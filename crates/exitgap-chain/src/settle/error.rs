//! Why a payment could not be examined.

use std::io;
use std::path::PathBuf;

use exitgap_core::ids::Word;
use exitgap_core::secrets::LooseMode;

use crate::rpc::{ClientError, Failure, RpcError};

/// Why the state of a payment is unknown, or why an action on it failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettleError {
    /// No node gave a valid answer. This says nothing about the payment.
    #[error("the chain cannot be queried: {0}")]
    Unavailable(String),
    /// The contract does not answer like an EIP-3009 token.
    #[error("the token's {what} is {found}, expected {expected}")]
    Token {
        /// The requested value.
        what: &'static str,
        /// The expected value.
        expected: String,
        /// The value found.
        found: String,
    },
    /// Every node refused the transaction, for a reason that repeating it does not change.
    #[error("the nodes reject the transaction: {0}")]
    Refused(String),
    /// The current fees are above the configured limit.
    #[error("gas now costs {found} wei per unit, above max_fee_gwei ({most} wei)")]
    TooDear {
        /// The minimum that a transaction must offer.
        found: u128,
        /// The bound.
        most: u128,
    },
}

impl From<Failure> for SettleError {
    fn from(failure: Failure) -> Self {
        match &failure.error {
            RpcError::Refused { message, .. } => Self::Refused(message.clone()),
            _ => Self::Unavailable(failure.detail),
        }
    }
}

impl From<ClientError> for SettleError {
    fn from(error: ClientError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// Why a file does not contain a key for paying fees.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Others than its owner can read or write the file.
    #[error("{path}: {loose}")]
    LooseMode {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        loose: LooseMode,
    },
    /// The file contains something else.
    #[error("{path} must contain 0x and the 64 hex digits of a secp256k1 key")]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
}

/// A hash, for an error text.
pub(super) fn shown(hash: Word) -> String {
    hash.to_string()
}
