//! exitgap's tools for agents: eight questions, all of them reads, over the Model Context Protocol.
//!
//! **In scope**: which tools there are and what each takes ([`ToolName`]), reading their arguments by
//! the same table of operations as the service's addresses, answers as structured results with
//! schemas and links, and what an agent is told and spared ([`Tools`]); the two transports
//! (features `http` and `stdio`); the documents by which a server is found ([`discovery`]).
//! **Out of scope**: answering. Whoever has a recorded series is a [`Backend`]; a store is one by
//! `exitgap-ops` ([`FromStore`]).
//!
//! What contracts say of themselves is untrusted text: see `sanitize`.

#![allow(
    clippy::result_large_err,
    reason = "a problem carries what it found, and a call makes one at most"
)]

mod allowance;
mod answer;
mod arguments;
mod backend;
pub mod discovery;
mod handler;
#[cfg(feature = "http")]
pub mod http;
mod sanitize;
mod schema;
#[cfg(feature = "stdio")]
pub mod stdio;
mod store;
mod tool_list;

#[cfg(test)]
mod tests;

pub use allowance::Allowance;
pub use backend::Backend;
pub use handler::Tools;
pub use store::FromStore;
pub use tool_list::ToolName;
