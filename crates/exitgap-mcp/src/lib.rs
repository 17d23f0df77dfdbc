//! exitgap's tools for agents: eight read-only tools, over the Model Context Protocol.
//!
//! **In scope**: the tools and their arguments ([`ToolName`]), parsed by the same table of operations as the service's
//! addresses; answers as structured results with schemas and links; the instructions for agents ([`Tools`]); the two
//! transports (features `http` and `stdio`); the documents through which a server is found ([`discovery`]). **Out of
//! scope**: computing answers. The owner of a recorded series implements [`Backend`]; `exitgap-ops` does so for a store
//! ([`FromStore`]).
//!
//! Texts that contracts contain are untrusted: see `sanitize`.

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
