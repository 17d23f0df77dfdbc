//! The SDK, and the command line as its user.

mod cli;
mod cli_log;
mod log;
mod pay;
mod python;
mod one_call;
mod sdk;
