//! Parity with the contracts, as far as it needs none of them: recorded fills.
//!
//! In scope: [`vector`]s and [`folder`]s of files that keep what contracts said, compared with what core says; the
//! [`oracle`] beside which a limit of the gap is drawn, and how sizes are [drawn](draw). Out of scope: running the
//! contracts, which the package `exitgap-peers` does (`cargo xtask parity`).
//!
//! A case matches where core's [`answer::Answer`] equals the contract's: amounts, √price, tick, active
//! liquidity and ticks crossed. Beyond the pool the contract fills in part; core refuses, and
//! names the same amounts consumed and paid.

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
