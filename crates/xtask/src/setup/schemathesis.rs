//! `schemathesis`, which tries the service against its own description: a Python program in an
//! environment of its own.

use std::path::Path;
use std::process::Command;

use super::fetch::first_words;
use super::fixtures_folder;
use crate::failure::{Failure, Result};

const VERSION: &str = "4.32.5";

/// Makes `.fixtures/schemathesis/bin/schemathesis` complete.
pub fn ensure_schemathesis(root: &Path) -> Result<()> {
    let place = fixtures_folder(root).join("schemathesis");
    let installed = |program: &Path| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim().ends_with(VERSION))
    };
    if installed(&place.join("bin/schemathesis")) {
        return Ok(());
    }
    eprintln!("setup: schemathesis {VERSION} (a Python environment in {})", place.display());
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place), "python3 -m venv")?;
    let package = format!("schemathesis=={VERSION}");
    let pip = place.join("bin/pip");
    run(Command::new(pip).args(["install", "--quiet", &package]), "pip install schemathesis")
}

fn run(command: &mut Command, what: &str) -> Result<()> {
    let remedy = "the slow tests need Python 3.10 or later with venv (Debian: python3-venv) and \
                  pip's package index";
    let output = command.output().map_err(|error| {
        Failure::new(format!("{what} could not be started: {error}")).remedy(remedy)
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = first_words(&output.stderr);
    Err(Failure::new(format!("{what} failed:\n    {said}")).remedy(remedy))
}
