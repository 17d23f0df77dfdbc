//! cargo-about, which collects the licences of packages: from source, once, and only when the
//! notices are written anew.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::fixtures_folder;
use crate::failure::Result;
use crate::{process, workspace};

const VERSION: &str = "0.9.3";

/// Makes `.fixtures/cargo-about/bin/cargo-about` complete and answers it.
pub fn ensure_about(root: &Path) -> Result<PathBuf> {
    let place = fixtures_folder(root).join("cargo-about");
    let program = place.join(format!("bin/cargo-about{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&program).arg("--version").output();
    let installed = output
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim().ends_with(VERSION));
    if installed {
        return Ok(program);
    }
    eprintln!("setup: cargo-about {VERSION} into {} (some minutes)", place.display());
    let mut install = workspace::cargo_for_tools(root);
    install.args(["install", "--quiet", "--locked", "--debug", "--force", "cargo-about"]);
    install.args(["--features", "cli", "--version", VERSION, "--root"]).arg(&place);
    process::run(&mut install, "cargo install cargo-about")?;
    Ok(program)
}
