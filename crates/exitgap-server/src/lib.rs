//! The recorder and the service of exitgap, and the command line that runs them.
//!
//! **In scope**: the configuration file ([`config`]), the loop that reads every pool at
//! every slot and appends it to the store ([`recorder`]), state proofs that are asked for ([`challenges`]), the rules that are kept and told ([`alerts`]), who cosigns
//! the log, and whose log is cosigned here ([`witness`]), whose logs are followed and compared ([`peers`]), the log in storage that speaks S3 ([`bucket`]), closed days as files ([`days`]), a log that is recorded elsewhere and served here ([`replica`]), the HTTP face of what is answered from the store ([`http`]), the commands of the binary `exitgap-server` ([`cli`]). **Out of scope**, and
//! who does it: how a pool is read (`exitgap-chain`), how a slot is kept (`exitgap-store`), what is
//! answered from it ([`ops`]), which tools agents have (`exitgap-mcp`).

#![expect(
    clippy::result_large_err,
    reason = "errors carry what they found, and a slot makes one at most"
)]

pub mod alerts;
pub mod bucket;
pub mod challenges;
pub mod cli;
pub mod config;
pub mod days;
pub mod http;
pub mod payments;
pub mod peers;
pub mod recorder;
pub mod replica;
mod secret_file;
pub mod witness;

pub use exitgap_ops as ops;

/// How memory is had: an answer is made of some hundred pieces, each for microseconds.
pub use mimalloc::MiMalloc as Allocator;
