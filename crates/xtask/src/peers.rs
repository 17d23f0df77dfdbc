//! Packages that compare ours with other people's code, built only on request: `tests/peers`, with tests for
//! `cargo xtask test --all` and the program for `cargo xtask parity`; and the benchmark.

use std::path::Path;
use std::process::Command;

use crate::failure::Result;
use crate::{process, workspace};

/// The package of tests and programs.
pub const MANIFEST: &str = "tests/peers/Cargo.toml";

/// The benchmark's package.
pub const BENCH_MANIFEST: &str = "crates/exitgap-bench/Cargo.toml";

/// The command that runs the tests of `tests/peers`.
pub fn tests(root: &Path) -> Command {
    let mut tests = cargo(root, "test", MANIFEST);
    tests.arg("--no-fail-fast");
    tests
}

/// A cargo command on the benchmark: with optimisation, or with the development profile if it only has to work.
pub fn bench(root: &Path, what: &str, for_development: bool) -> Command {
    if for_development {
        return cargo(root, what, BENCH_MANIFEST);
    }
    let mut command = workspace::cargo(root);
    command.args([what, "--release", "--quiet", "--locked", "--manifest-path", BENCH_MANIFEST]);
    command
}

/// Runs the comparison with the contracts.
pub fn compare(root: &Path, arguments: &[String]) -> Result<()> {
    let mut command = cargo(root, "run", MANIFEST);
    command.args(["--release", "--bin", "contracts", "--"]).args(arguments);
    process::run(&mut command, "the comparison")
}

/// A cargo command on one of these packages, in a target folder that they share.
fn cargo(root: &Path, what: &str, manifest: &str) -> Command {
    let mut command = workspace::cargo(root);
    command.args([what, "--locked", "--quiet", "--manifest-path", manifest]);
    command.env("CARGO_TARGET_DIR", root.join("target/peers"));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_packages_are_apart_from_the_workspace_and_each_has_a_lock_file() {
        let root = workspace::root();
        let workspace = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
        for manifest in [MANIFEST, BENCH_MANIFEST] {
            let folder = manifest.trim_end_matches("/Cargo.toml");
            assert!(workspace.contains(&format!("\"{folder}\"")), "{folder} is not excluded");
            assert!(root.join(folder).join("Cargo.lock").is_file(), "{folder}");
        }
    }
}
