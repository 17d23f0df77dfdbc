//! The recorder and the service of exitgap, and the command line that runs them.
//!
//! **In scope**: the configuration file ([`config`]); the loop that reads every pool at every slot and appends it to
//! the store ([`recorder`]); state proofs on request ([`challenges`]); stored rules and their events ([`alerts`]); who
//! cosigns this log, and which logs are cosigned here ([`witness`]); other operators' logs, followed and compared
//! ([`peers`]); the log in S3-compatible storage ([`bucket`]); closed days as files ([`days`]); a replica of a log that
//! is recorded elsewhere ([`replica`]); the HTTP interface to the store ([`http`]); the commands of the binary
//! `exitgap-server` ([`cli`]); its allocator ([`memory`]). **Out of scope**: how a pool is read (`exitgap-chain`), how a slot is stored
//! (`exitgap-store`), how answers are computed from the store ([`ops`]), the tools for agents (`exitgap-mcp`).

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
pub mod memory;
pub mod payments;
pub mod peers;
pub mod recorder;
pub mod replica;
mod secret_file;
pub mod witness;

pub use exitgap_ops as ops;
pub use memory::Allocator;
