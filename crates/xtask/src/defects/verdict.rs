//! Runs the tests that must notice a defect, and evaluates the results.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::patch::{Runner, TestSelector, Tier};
use super::tree::Tree;
use crate::failure::{Context, Result};
use crate::{test, workspace};

/// The result of some tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ran {
    /// All passed.
    Passed,
    /// At least one failed.
    Failed,
    /// There is no such test.
    None,
    /// They did not compile.
    NotBuilt,
}

impl Ran {
    /// Parses the output of a test runner, with whether it succeeded. In WebAssembly a failing test ends the program,
    /// so there is no summary.
    pub fn from_output(said: &str, success: bool) -> Self {
        let numbers = |begin: &str, end: &str| -> Vec<u64> {
            let lines = said.lines().filter_map(|line| line.trim_start().strip_prefix(begin));
            lines.filter_map(|line| line.split(end).next()?.trim().parse().ok()).collect()
        };
        let begun = numbers("running ", " test");
        let failed = numbers("test result: FAILED.", " passed").len();
        if begun.is_empty() {
            return Self::NotBuilt;
        }
        if begun.iter().sum::<u64>() == 0 {
            return Self::None;
        }
        if failed > 0 || !success { Self::Failed } else { Self::Passed }
    }

    /// Why a defect with this result is not caught; `None` if it is.
    pub fn objection(self) -> Option<&'static str> {
        match self {
            Self::Failed => None,
            Self::Passed => Some("these tests pass"),
            Self::None => Some("there is no such test"),
            Self::NotBuilt => Some("it does not compile"),
        }
    }
}

/// Runs tests in the tree, and saves the output in the file `log`.
pub fn run(tree: &Tree, noticing: &TestSelector, tier: Tier, log: &Path) -> Result<Ran> {
    let mut said = String::new();
    if matches!(noticing.runner, Runner::Suite | Runner::Server) {
        // The suite runs programs that must be built first.
        let mut build = cargo(tree);
        build.arg("build").args(workspace::NATIVE).args(["--bins", "--test", "suite"]);
        if !capture_output(&mut build, &mut said)? {
            keep(log, &said)?;
            return Ok(Ran::NotBuilt);
        }
    }
    let mut tests = command(tree, noticing, tier)?;
    let before = said.len();
    let success = capture_output(&mut tests, &mut said)?;
    keep(log, &said)?;
    Ok(Ran::from_output(&said[before..], success))
}

fn cargo(tree: &Tree) -> Command {
    let mut command = workspace::cargo(&tree.path);
    command.env("CARGO_TARGET_DIR", &tree.target).env("CARGO_TERM_COLOR", "never");
    command
}

fn command(tree: &Tree, noticing: &TestSelector, tier: Tier) -> Result<Command> {
    let mut tests = cargo(tree);
    tests.args(["test", "--no-fail-fast"]);
    match &noticing.runner {
        Runner::Lib(package) => tests.args(["--package", package, "--lib"]),
        Runner::Bin(package) => tests.args(["--package", package, "--bins"]),
        Runner::Doc(package) => tests.args(["--package", package, "--doc"]),
        Runner::Wasm(package) => {
            test::run_on_wasi(&tree.path, &mut tests)?;
            tests.args(["--package", package, "--lib"])
        }
        Runner::Suite => tests.args(workspace::NATIVE).args(["--test", "suite"]),
        Runner::Server => {
            let (name, value) = test::STORES_ON_A_SERVER;
            tests.args(workspace::NATIVE).args(["--test", "suite"]).env(name, value)
        }
    };
    tests.arg("--").arg(&noticing.path);
    if noticing.is_exact() {
        tests.arg("--exact");
    }
    if tier == Tier::All && matches!(noticing.runner, Runner::Suite | Runner::Server) {
        tests.arg("--include-ignored");
    }
    Ok(tests)
}

/// Runs a program and appends its output; returns whether it succeeded.
fn capture_output(command: &mut Command, said: &mut String) -> Result<bool> {
    let output = command.output().context("starting cargo")?;
    for stream in [&output.stderr, &output.stdout] {
        said.push_str(&String::from_utf8_lossy(stream));
    }
    Ok(output.status.success())
}

fn keep(log: &Path, said: &str) -> Result<()> {
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder).context(format!("creating {}", folder.display()))?;
    }
    fs::write(log, said).context(format!("writing {}", log.display()))
}
