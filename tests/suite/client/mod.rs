//! The SDK, and the command line as its user.

mod cli;
mod cli_log;
mod log;
mod one_call;
mod pay;
mod python;
mod sdk;
