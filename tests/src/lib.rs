//! Test support for exitgap, and the home of its integration suite.
//!
//! In scope: [`fixtures`] finds the fetched node and the contracts' published bytecode;
//! [`saved`] keeps what one test made for the others;
//! [`devchain`] runs a private chain with the real contracts on it, and a seeded market that trades
//! there; [`faults`] kills, cuts off and damages what records; [`receiver`] is
//! sent events; [`fuzz`] says what must hold for any
//! input. Out of scope: stand-ins for contracts. Whatever a test compares with is the contract.

pub mod binaries;
#[cfg(feature = "suite")]
pub mod canonical;
pub mod demo;
pub mod devchain;
#[cfg(feature = "suite")]
pub mod faults;
pub mod fixtures;
#[cfg(feature = "suite")]
pub mod folders;
#[cfg(feature = "suite")]
pub mod fuzz;
#[cfg(feature = "suite")]
pub mod message;
#[cfg(feature = "parity")]
pub mod parity;
#[cfg(feature = "suite")]
pub mod postgres;
#[cfg(feature = "suite")]
pub mod receiver;
pub mod saved;

/// How events are received is a page; what it shows in Rust is tried.
#[cfg(doctest)]
#[doc = include_str!("../../crates/exitgap-server/docs/webhooks.md")]
pub struct Webhooks;
