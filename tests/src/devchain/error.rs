//! Errors of the development chain.

use std::path::PathBuf;

use crate::fixtures::FixtureError;

/// Result of an operation on the development chain.
pub type Result<T> = std::result::Result<T, DevChainError>;

/// An operation on the development chain failed.
#[derive(Debug, thiserror::Error)]
pub enum DevChainError {
    /// The node or a contract was not downloaded.
    #[error(transparent)]
    Fixture(#[from] FixtureError),
    /// A saved chain could not be written or read.
    #[error("the saved chain: {0}")]
    Saved(#[source] std::io::Error),
    /// The node's process could not be started.
    #[error("starting {path}: {source}")]
    Spawn {
        /// The binary.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The node ended, or printed nothing, before it listened.
    #[error("the node did not come up: {reason}")]
    NotListening {
        /// The last lines it printed.
        reason: String,
    },
    /// A request failed, or its answer could not be parsed.
    #[error("{what}: {message}")]
    Rpc {
        /// The method, or a description of the request.
        what: String,
        /// The node's message.
        message: String,
    },
    /// A transaction was mined and reverted.
    #[error("transaction {index} of block {block} reverted: {reason}")]
    Reverted {
        /// Position among the transactions that were sent together.
        index: usize,
        /// Number of the block.
        block: u64,
        /// The contract's reason, from replaying the call on the node.
        reason: String,
    },
    /// A transaction was accepted, but is not in the next mined block.
    #[error("transaction {index} was not mined in block {block}")]
    NotMined {
        /// Position among the transactions that were sent together.
        index: usize,
        /// Number of the block.
        block: u64,
    },
    /// A contract's answer cannot be decoded, or an expected event is absent.
    #[error("{what}: {reason}")]
    Unexpected {
        /// A description of the request.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
}
