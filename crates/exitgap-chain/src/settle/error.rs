//! Why a payment could not be looked into.

use std::io;
use std::path::PathBuf;

use exitgap_core::ids::Word;
use exitgap_core::secrets::LooseMode;

use crate::rpc::{ClientError, Failure, RpcError};

/// Why nothing can be said, or done, about a payment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettleError {
    /// No node answered, or none with what belongs there. Says nothing about the payment.
    #[error("the chain cannot be queried: {0}")]
    Unavailable(String),
    /// The contract answers another thing than a token of EIP-3009 does.
    #[error("the token's {what} is {found}, expected {expected}")]
    Token {
        /// What was asked for.
        what: &'static str,
        /// What belongs there.
        expected: String,
        /// What was answered.
        found: String,
    },
    /// Every node refused the transaction, for a reason that sending it again does not change.
    #[error("the nodes reject the transaction: {0}")]
    Refused(String),
    /// The fees of now are above the configured bound.
    #[error("gas now costs {found} wei per unit, above max_fee_gwei ({most} wei)")]
    TooDear {
        /// The least that a transaction must offer.
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

/// Why a file holds no key to pay fees with.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// It cannot be read.
    #[error("{path}: {source}")]
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
    /// It holds something else.
    #[error("{path} must contain 0x and the 64 hex digits of a secp256k1 key")]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
}

/// A hash, as text of an error.
pub(super) fn shown(hash: Word) -> String {
    hash.to_string()
}
