//! Test support for exitgap, and the home of its integration suite.
//!
//! In scope: [`fixtures`] finds the downloaded node and the contracts' published bytecode; [`saved`] shares what one
//! test created with the others; [`devchain`] runs a private chain with the real contracts, and a seeded market that
//! trades there; [`faults`] kills, cuts off and damages recorders; [`receiver`] receives events; [`fuzz`] defines what
//! must hold for any input. Out of scope: mock contracts. Tests always compare with the real contract.

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
#[cfg(feature = "suite")]
pub mod sample;
pub mod saved;

/// The documentation page on receiving events; its Rust examples are tested here.
#[cfg(doctest)]
#[doc = include_str!("../../crates/exitgap-server/docs/webhooks.md")]
pub struct Webhooks;
