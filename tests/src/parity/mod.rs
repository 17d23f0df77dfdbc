//! Parity with the contracts, without running them: recorded fills.
//!
//! In scope: [`vector`]s and [`folder`]s of files with recorded contract outputs, compared with the core's; the
//! [`oracle`] from which gap limits are derived, and how sizes are [drawn](draw). Out of scope: running the contracts,
//! which the package `exitgap-peers` does (`cargo xtask parity`).
//!
//! A case matches if the core's [`answer::Answer`] equals the contract's: amounts, √price, tick, active liquidity and
//! ticks crossed. Beyond the pool's liquidity the contract fills partially; the core rejects the sale, with the same
//! consumed and paid amounts.

pub mod answer;
pub mod draw;
pub mod few_units;
pub mod folder;
pub mod oracle;
pub mod recorded;
pub mod vector;

/// Why recorded fills could not be compared. A difference is not an error.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// A folder of recorded fills cannot be compared.
    #[error(transparent)]
    Folder(#[from] folder::FileError),
    /// A vector cannot be used.
    #[error("vector: {0}")]
    Vector(String),
}
