//! exitgap's pure core: the recorded snapshots that let anyone recompute what a sale into a liquidity
//! pool fills at, the evidence for them, and the figures that are drawn from many.
//!
//! **In scope**: snapshots and their canonical bytes ([`snapshot`]), the slots of a series ([`series`]),
//! calendars of markets ([`hours`]), the evidence that rests on a log ([`evidence`]), what a log publishes
//! ([`published`]), figures drawn from many snapshots ([`analytics`]), rules that say when a pool is worth a
//! word ([`alerts`]), and what the chain's own state says of a pool ([`proof`]).
//!
//! **Out of scope**, and which crate does it: units, names, pools and the exit (`exitgap-math`), transparency
//! logs (`exitgap-tlog`); both are re-exported here, as [`units`], [`ids`], [`pools`], [`exit`] and [`tlog`].
//! Reading chains (`exitgap-chain`), keeping series (`exitgap-store`), words on the wire (`exitgap-api`).
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
pub mod proof;
pub mod published;
pub mod series;
pub mod snapshot;
pub mod tlog;

pub use exitgap_math::{Newer, U256, ids, pools, units};
use exitgap_math::{json, sorting, wide};
