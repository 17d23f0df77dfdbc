//! Tools that are built from source with cargo, once, each in a separate folder.

use std::path::{Path, PathBuf};

use super::fixtures_folder;
use crate::failure::Result;
use crate::{process, workspace};

/// A tool from a package. Build tools are not optimised: that would take ten times as long and save nothing.
struct Tool {
    package: &'static str,
    program: &'static str,
    version: &'static str,
    /// Additional cargo options: features, and the optimisation level.
    options: &'static [&'static str],
    takes: &'static str,
}

/// Generates the JavaScript interface of a WASM module. Its version must equal that of the library in the workspace's
/// manifest.
const WASM_BINDGEN: Tool = Tool {
    package: "wasm-bindgen-cli",
    program: "wasm-bindgen",
    version: "0.2.129",
    options: &["--debug"],
    takes: "a minute",
};

/// Splits the site's program.
const WASM_SPLIT: Tool = Tool {
    package: "wasm_split_cli_support",
    program: "wasm_split_cli",
    version: "0.2.2",
    options: &["--debug", "--features", "build-binary"],
    takes: "a minute",
};

/// Collects the licences of packages; used only when the notices are rewritten. It reads every file of every package,
/// so it is optimised.
const ABOUT: Tool = Tool {
    package: "cargo-about",
    program: "cargo-about",
    version: "0.9.3",
    options: &["--features", "cli"],
    takes: "some minutes",
};

/// Installs `.fixtures/wasm-bindgen/bin/wasm-bindgen` if needed, and returns it.
pub fn ensure_wasm_bindgen(root: &Path) -> Result<PathBuf> {
    ensure(root, &WASM_BINDGEN)
}

/// Installs `.fixtures/wasm_split_cli/bin/wasm_split_cli` if needed, and returns it.
pub fn ensure_wasm_split(root: &Path) -> Result<PathBuf> {
    ensure(root, &WASM_SPLIT)
}

/// Installs `.fixtures/cargo-about/bin/cargo-about` if needed, and returns it.
pub fn ensure_about(root: &Path) -> Result<PathBuf> {
    ensure(root, &ABOUT)
}

fn ensure(root: &Path, tool: &Tool) -> Result<PathBuf> {
    let Tool { package, program, version, options, takes } = tool;
    let place = fixtures_folder(root).join(program);
    let path = place.join(format!("bin/{program}{}", std::env::consts::EXE_SUFFIX));
    // Cargo's own record of the folder, because not every program can print its version.
    let told = std::fs::read_to_string(place.join(".crates.toml")).unwrap_or_default();
    if path.is_file() && told.contains(&format!("\"{package} {version} ")) {
        return Ok(path);
    }
    eprintln!("setup: {package} {version} into {} ({takes})", place.display());
    let mut install = workspace::cargo_for_tools(root);
    install.args(["install", "--quiet", "--locked", "--force", package]);
    install.args(*options).args(["--version", version, "--root"]).arg(&place);
    // One target folder for all tools, because they share most dependencies.
    install.env("CARGO_TARGET_DIR", root.join("target/tools"));
    process::run(&mut install, &format!("cargo install {package}"))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_and_library_are_of_one_version() {
        let manifest = std::fs::read_to_string(workspace::root().join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("wasm-bindgen = \"={}\"", WASM_BINDGEN.version)));
    }
}
