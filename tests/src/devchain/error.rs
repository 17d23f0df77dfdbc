//! What can go wrong on the development chain.

use std::path::PathBuf;

use crate::fixtures::FixtureError;

/// Result of an operation on the development chain.
pub type Result<T> = std::result::Result<T, DevChainError>;

/// An operation on the development chain failed.
#[derive(Debug, thiserror::Error)]
pub enum DevChainError {
    /// The node or a contract was not fetched.
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
        /// What the system said.
        source: std::io::Error,
    },
    /// The node ended, or said nothing, before it listened.
    #[error("the node did not come up: {reason}")]
    NotListening {
        /// The last lines it printed.
        reason: String,
    },
    /// A request was refused, or its answer could not be read.
    #[error("{what}: {message}")]
    Rpc {
        /// The method, or what was being asked.
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
        /// The contract's reason, as the node tells it when the call is replayed.
        reason: String,
    },
    /// A transaction was accepted and is not in the block mined next.
    #[error("transaction {index} was not mined in block {block}")]
    NotMined {
        /// Position among the transactions that were sent together.
        index: usize,
        /// Number of the block.
        block: u64,
    },
    /// The answer of a contract does not decode, or an expected event is absent.
    #[error("{what}: {reason}")]
    Unexpected {
        /// What was being read.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
}
