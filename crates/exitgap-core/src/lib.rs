//! exitgap's pure core: the recorded snapshots from which anyone can recompute the result of a sale into a liquidity
//! pool, the evidence for them, and the figures computed from many of them.
//!
//! **In scope**: snapshots and their canonical bytes ([`snapshot`]), the slots of a series
//! ([`series`]), market calendars ([`hours`]), evidence based on a log ([`evidence`]), the files
//! that a log publishes ([`log_folder`]), figures computed from many snapshots ([`analytics`]),
//! alert rules for pools ([`alerts`]), and proofs of a pool's state from the chain itself
//! ([`proof`]).
//!
//! **Out of scope**, with the crate responsible: units, names, pools and the exit (`exitgap-math`),
//! transparency logs (`exitgap-tlog`); both are re-exported here, as [`units`], [`ids`], [`pools`],
//! [`exit`] and [`tlog`]. Reading chains (`exitgap-chain`), storing series (`exitgap-store`), wire
//! formats (`exitgap-api`).
//!
//! Invariants: no clock, no network, no files, no global state, no logging, no floating point. Data
//! from callers never causes a panic. Native code and WebAssembly give the same bits.

#![warn(clippy::float_arithmetic)]

pub mod alerts;
pub mod analytics;
pub mod evidence;
pub mod exit;
pub mod file_errors;
pub mod hours;
pub mod log_folder;
pub mod proof;
pub mod secrets;
pub mod series;
pub mod snapshot;
pub mod tlog;

pub use exitgap_math::{Newer, U256, ids, pools, units};
use exitgap_math::{json, stable_sort, wide};
