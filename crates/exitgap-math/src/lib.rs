//! exitgap's arithmetic: what a sale into a liquidity pool fills at, exactly as the pool's contract
//! computes it, and how far below the oracle price that is.
//!
//! **In scope**: wide integers ([`wide`]), units ([`units`]), the names that states refer to ([`ids`]),
//! canonical JSON and the canonical form of a pool's state ([`json`]), the arithmetic of every kind of
//! pool ([`pools`]), and the method that turns a state and prices into `exit_gap_pct` ([`exit`]).
//!
//! **Out of scope**, and which crate does it: snapshots, series, evidence and figures
//! (`exitgap-core`, which re-exports these modules under their names), transparency logs (`exitgap-tlog`),
//! reading chains (`exitgap-chain`).
//!
//! Invariants: no clock, no network, no files, no global state, no logging, no floating point. A
//! caller's data never panics. The same bits come out natively and in WebAssembly.

#![warn(clippy::float_arithmetic)]

pub mod exit;
pub mod ids;
pub mod json;
mod keccak;
mod newer;
pub mod pools;
pub mod sorting;
pub mod units;
pub mod wide;

pub use keccak::keccak256;
pub use newer::Newer;
pub use wide::U256;
