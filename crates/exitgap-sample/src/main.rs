//! `exitgap-sample`: `exitgap try` without the rest of the program, so that `cargo xtask demo` can show a number before
//! the larger programs are built.

#![expect(clippy::result_large_err, reason = "a problem is made once, and then the program ends")]

use std::io::Write;
use std::process::ExitCode;

use exitgap_api::{Guards, Problem, size_as_written};
use exitgap_sample::{SIZE_USD, Shown};

fn main() -> ExitCode {
    let next = std::env::args().skip(1).collect::<Vec<_>>();
    match shown() {
        Ok(shown) if shown.is_as_expected() => {
            let written = std::io::stdout().write_all(shown.text(&next).as_bytes());
            if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Ok(_) => failed("the embedded sample is damaged"),
        Err(problem) => failed(&problem.detail),
    }
}

fn shown() -> Result<Shown, Problem> {
    Shown::new(size_as_written(SIZE_USD)?, Guards::default())
}

fn failed(why: &str) -> ExitCode {
    eprintln!("error: {why}");
    ExitCode::FAILURE
}
