//! `exitgap`: at this size, how far below the oracle price will I really fill?
//!
//! Results go to stdout, messages to stderr. With `--json`, every command prints the same documents that the service
//! returns.

#![expect(clippy::result_large_err, reason = "a problem is made once, and then the program ends")]

mod alert_arguments;
mod arguments;
mod chain_arguments;
mod commands;
mod failure;
mod figure_arguments;
mod format;
mod kept;
mod log;
mod log_arguments;
mod log_source;
mod pay_arguments;
mod receipts;
mod recorded_source;
mod release_arguments;
mod source;
mod trust;
mod try_arguments;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = arguments::Cli::parse();
    let json = cli.json;
    match commands::run(cli) {
        Ok(code) => code,
        Err(failure) => failure.report(json),
    }
}
