//! exitgap's arithmetic: the result of a sale into a liquidity pool, exactly as the pool's contract computes it, and
//! its difference from the oracle price.
//!
//! **In scope**: wide integers ([`wide`]), units ([`units`]), the names used in states ([`ids`]),
//! canonical JSON and the canonical form of a pool's state ([`json`]), the arithmetic of every kind
//! of pool ([`pools`]), and the method that computes `exit_gap_pct` from a state and prices
//! ([`exit`]).
//!
//! **Out of scope**, with the crate responsible: snapshots, series, evidence and figures
//! (`exitgap-core`, which re-exports these modules under their names), transparency logs
//! (`exitgap-tlog`), reading chains (`exitgap-chain`).
//!
//! Invariants: no clock, no network, no files, no global state, no logging, no floating point. Data
//! from callers never causes a panic. Native code and WebAssembly give the same bits.

#![warn(clippy::float_arithmetic)]

pub mod exit;
pub mod ids;
pub mod json;
mod keccak;
mod newer;
pub mod pools;
pub mod stable_sort;
pub mod units;
pub mod wide;

pub use keccak::keccak256;
pub use newer::Newer;
pub use wide::U256;
