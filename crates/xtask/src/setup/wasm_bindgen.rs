//! `wasm-bindgen`, which makes the JavaScript face of a WASM module: built from source, once.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::fixtures_folder;
use crate::failure::Result;
use crate::{process, workspace};

/// The version of the library in the workspace's manifest: the two must be the same.
const VERSION: &str = "0.2.129";

/// Makes `.fixtures/wasm-bindgen/bin/wasm-bindgen` complete and answers it.
pub fn ensure_wasm_bindgen(root: &Path) -> Result<PathBuf> {
    let place = fixtures_folder(root).join("wasm-bindgen");
    let program = place.join(format!("bin/wasm-bindgen{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&program).arg("--version").output();
    let installed = output
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim().ends_with(VERSION));
    if installed {
        return Ok(program);
    }
    eprintln!("setup: wasm-bindgen-cli {VERSION} into {} (a minute)", place.display());
    let mut install = workspace::cargo_for_tools(root);
    // Optimised it would take ten times as long to build and save nobody a second.
    install.args(["install", "--quiet", "--locked", "--debug", "--force", "wasm-bindgen-cli"]);
    install.args(["--version", VERSION, "--root"]).arg(&place);
    process::run(&mut install, "cargo install wasm-bindgen-cli")?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_and_library_are_of_one_version() {
        let manifest = std::fs::read_to_string(workspace::root().join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("wasm-bindgen = \"={VERSION}\"")));
    }
}
