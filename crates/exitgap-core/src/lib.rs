//! exitgap's pure core: what a sale of a stated size into a liquidity pool really
//! fills at, how far below the oracle price that is, and the recorded snapshots
//! that let anyone recompute it.
//!
//! **In scope**: units ([`units`]), names ([`ids`]), the arithmetic of pools
//! ([`pools`]), the method that turns a pool's state into `exit_gap_pct`
//! ([`exit`]), snapshots and their canonical bytes ([`snapshot`]), the slots
//! of a series ([`series`]), calendars of markets ([`hours`]), transparency logs ([`tlog`]) and the evidence that rests on
//! them ([`evidence`]), figures drawn from many snapshots ([`analytics`]), rules that say when a pool is worth a word ([`alerts`]),
//! and what the chain's own state says of a pool ([`proof`]).
//!
//! **Out of scope**, and who does it: reading chains (`exitgap-chain`), keeping
//! series (`exitgap-store`), words on the wire (`exitgap-api`).
//!
//! Invariants: no clock, no network, no files, no global state, no logging, no
//! floating point. A caller's data never panics. The same bits come out natively
//! and in WebAssembly.

#![warn(clippy::float_arithmetic)]

pub mod alerts;
pub mod analytics;
pub mod evidence;
pub mod exit;
pub mod hours;
pub mod ids;
mod json;
mod newer;
pub mod pools;
pub mod proof;
pub mod published;
pub mod series;
pub mod snapshot;
mod sorting;
pub mod tlog;
pub mod units;
mod wide;

pub use newer::Newer;
pub use wide::U256;
