//! exitgap's reader of chains.
pub mod config;
pub mod limits;
pub mod rpc;
