//! `cargo xtask test reality`: the core held against facts of real blocks, by the program of `tests/reality`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::steps;
use crate::failure::Result;
use crate::{process, setup, workspace};

/// The package of the program.
const PACKAGE: &str = "exitgap-reality";

/// The program.
const PROGRAM: &str = "reality";

/// What names another folder of facts than the committed one.
const FACTS_VARIABLE: &str = "EXITGAP_REALITY";

/// The committed facts.
const FACTS: &str = "tests/reality/facts";

/// Builds the program and nothing else, and runs it.
pub fn run(root: &Path, json: bool) -> Result<()> {
    let mut build = workspace::cargo(root);
    build.args(["build", "--locked", "--quiet", "--package", PACKAGE, "--bin", PROGRAM]);
    build.arg("--no-default-features");
    process::run(&mut build, "cargo build")?;
    let mut program = program(root)?;
    if json {
        program.arg("--json");
    }
    process::run(&mut program, "the test on facts of real blocks")
}

/// Runs the program, which is built, and adds its figures.
pub fn run_built(root: &Path, summaries: &mut Vec<String>) -> Result<()> {
    steps::begin("holding the core against facts of real blocks");
    let mut program = program(root)?;
    let wanted = |line: &str| line.starts_with("reality.");
    let (figures, end) =
        process::run_and_pick(&mut program, "the test on facts of real blocks", wanted)?;
    summaries.push(figures.join(", "));
    end
}

/// The program with the facts and with what it needs besides.
fn program(root: &Path) -> Result<Command> {
    let published = setup::ensure_published_pool(root)?;
    let metadata = workspace::metadata(root)?;
    let mut program = Command::new(workspace::debug_binary(&metadata, PROGRAM));
    program.arg(facts(root, std::env::var_os(FACTS_VARIABLE))).arg(published);
    Ok(program)
}

/// The folder of facts: the one that is named, also if it is not there.
fn facts(root: &Path, named: Option<OsString>) -> PathBuf {
    named.map_or_else(|| root.join(FACTS), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_named_is_the_one_that_is_read() {
        let root = workspace::root();
        assert!(facts(&root, None).join("swaps.json").is_file());
        assert_eq!(facts(&root, Some("nowhere".into())), Path::new("nowhere"));
        // A variable without a value names no folder, and the committed one is not taken for it.
        assert_eq!(facts(&root, Some(OsString::new())), Path::new(""));
    }
}
