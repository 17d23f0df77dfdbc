//! Compares exitgap's core with recorded fills of real contracts: `cargo xtask parity --vectors`.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use exitgap_tests::parity::vector::Vector;
use exitgap_tests::parity::{VectorError, folder};

/// Compares exitgap's core with recorded fills of real contracts; no contract is needed.
#[derive(Debug, Parser)]
#[command(name = "parity")]
struct Arguments {
    /// Check a folder of recorded fills (.json or .json.zz).
    #[arg(long, value_name = "FOLDER", required_unless_present = "vector")]
    vectors: Option<PathBuf>,
    /// Of each file of that folder, so many limits.
    #[arg(long, default_value_t = folder::LIMITS, requires = "vectors")]
    limits: u64,
    /// What sizes and limits are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// One flat JSON object of numbers on stdout, nothing else.
    #[arg(long)]
    json: bool,
    /// Check these vector files instead.
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with_all = ["json", "vectors"])]
    vector: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let agreed = match &arguments.vectors {
        Some(folder) => check_folder(folder, &arguments),
        None => check_vectors(&arguments.vector),
    };
    match agreed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn check_folder(path: &Path, arguments: &Arguments) -> Result<bool, VectorError> {
    let &Arguments { seed, limits, json, .. } = arguments;
    let mut heard = |name: &str, what: &str, done, all| {
        progress(&format!("{name}, {what}"), done, all);
    };
    let report = folder::run(path, seed, limits, &mut heard)?;
    for complaint in report.complaints() {
        eprintln!("{complaint}");
    }
    if json {
        println!("{}", report.json());
    } else {
        println!("{report}");
    }
    Ok(report.agrees())
}

fn check_vectors(paths: &[PathBuf]) -> Result<bool, VectorError> {
    let mut agreed = true;
    for path in paths {
        let differences = Vector::read(path)?.differences()?;
        agreed &= differences.is_empty();
        let verdict = if differences.is_empty() { "equal" } else { "different" };
        println!("{}: {verdict}", path.display());
        for difference in differences {
            println!("  {difference}");
        }
    }
    Ok(agreed)
}

/// A progress line, rewritten in place; only on a terminal.
fn progress(what: &str, done: u64, all: u64) {
    let mut words = std::io::stderr();
    if words.is_terminal() {
        let end = if done >= all { "\n" } else { "" };
        // Failure to write progress does not affect the result.
        let _ = write!(words, "\r{what}: {done} of {all} compared{end}");
        let _ = words.flush();
    }
}
