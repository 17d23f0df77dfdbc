//! `cargo xtask bench` and `cargo xtask parity`: measuring programs, built with optimisation.
//!
//! Their stdout is handed through untouched; cargo's and setup's words go to stderr. So with
//! `--json` nothing but the program's JSON is on stdout.

use std::path::Path;

use crate::failure::Result;
use crate::{process, setup, workspace};

/// What `cargo xtask bench --help` prints.
pub const BENCH_HELP: &str = "\
Measure speed, beside other libraries in the same run.

Usage: cargo xtask bench [--json] [what]

  --json   one flat JSON object of numbers on stdout, nothing else
  what     only this part, such as `quote` or `recorder`

Builds crates/exitgap-bench (excluded from the workspace, with its own lock file) with optimisation,
fetches the JavaScript library it compares with, and runs it. EXITGAP_JS_SDK tells it where that is.";

/// What `cargo xtask parity --help` prints.
pub const PARITY_HELP: &str = "\
Compare quotes with the real contracts on random pools.

Usage: cargo xtask parity [--cases N] [--seed S] [--json]

  --cases N   how many random cases
  --seed S    the seed they are drawn from; a failing case prints what reproduces it
  --json      one flat JSON object of numbers on stdout, nothing else

Ends with exit code 1 when a single unit differs.";

/// Runs the benches.
pub fn bench(root: &Path, arguments: &[String]) -> Result<()> {
    setup::ensure(root)?;
    let js_sdk = setup::ensure_js_sdk(root)?;
    let mut command = workspace::cargo(root);
    command
        .args(["run", "--release", "--quiet", "--locked"])
        .args(["--manifest-path", "crates/exitgap-bench/Cargo.toml", "--"])
        .args(arguments)
        .env("EXITGAP_JS_SDK", js_sdk);
    process::run(&mut command, "the bench")
}

/// Runs the comparison with the contracts.
pub fn parity(root: &Path, arguments: &[String]) -> Result<()> {
    setup::ensure(root)?;
    let mut command = workspace::cargo(root);
    command
        .args(["run", "--release", "--quiet"])
        .args(["--package", "exitgap-tests", "--bin", "parity", "--"])
        .args(arguments);
    process::run(&mut command, "the comparison")
}
