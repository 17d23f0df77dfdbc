//! Trunk, which builds the site: from source, once.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::fixtures_folder;
use crate::failure::Result;
use crate::{process, workspace};

const VERSION: &str = "0.21.14";

/// Makes `.fixtures/trunk/bin/trunk` complete and answers it.
pub fn ensure_trunk(root: &Path) -> Result<PathBuf> {
    let place = fixtures_folder(root).join("trunk");
    let program = place.join(format!("bin/trunk{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&program).arg("--version").output();
    let installed = output
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim().ends_with(VERSION));
    if installed {
        return Ok(program);
    }
    eprintln!("setup: trunk {VERSION} into {} (a minute or two)", place.display());
    let mut install = workspace::cargo_for_tools(root);
    // Optimised it would take ten times as long to build and build the site no faster.
    install.args(["install", "--quiet", "--locked", "--debug", "--force", "trunk"]);
    install.args(["--no-default-features", "--version", VERSION, "--root"]).arg(&place);
    process::run(&mut install, "cargo install trunk")?;
    Ok(program)
}
