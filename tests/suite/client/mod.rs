//! The SDK, and the command line that uses it.

mod cli;
mod cli_log;
mod example;
mod log;
mod one_call;
mod pay;
mod python;
mod sdk;
