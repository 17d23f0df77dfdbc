//! The JavaScript peer of the benches: `@uniswap/v3-sdk` and its dependencies, from a lock file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::fetch::{Aside, first_words, replace};
use super::{fixtures_folder, require_node};
use crate::failure::{Context, Failure, Result};

const MANIFEST: &str = include_str!("js-sdk/package.json");
/// Pins every package of the tree by version and SHA-512; it names no registry.
const LOCK: &str = include_str!("js-sdk/package-lock.json");

/// Makes `.fixtures/js-sdk/node_modules` complete and answers its parent folder.
pub fn ensure_js_sdk(root: &Path) -> Result<PathBuf> {
    let fixtures = fixtures_folder(root);
    let place = fixtures.join("js-sdk");
    let installed = place.join("node_modules/@uniswap/v3-sdk/package.json");
    let lock_matches =
        fs::read_to_string(place.join("package-lock.json")).is_ok_and(|found| found == LOCK);
    if lock_matches && installed.is_file() {
        return Ok(place);
    }
    require_node("the benches compare with a JavaScript library")?;
    eprintln!("setup: the JavaScript peer of the benches (@uniswap/v3-sdk and what it needs)");
    let aside = Aside::new(&fixtures, "js-sdk")?;
    let work = aside.0.join("work");
    fs::create_dir(&work).context(format!("creating {}", work.display()))?;
    fs::write(work.join("package.json"), MANIFEST).context("writing package.json")?;
    fs::write(work.join("package-lock.json"), LOCK).context("writing package-lock.json")?;
    let output = Command::new("npm")
        // Peers of its Solidity packages (a whole build tool) are not needed to run it.
        .args(["ci", "--ignore-scripts", "--legacy-peer-deps"])
        .args(["--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(&work)
        .output()
        .map_err(|error| {
            Failure::new(format!("`npm` could not be started: {error}"))
                .remedy("npm comes with Node.js; put it on PATH")
        })?;
    if !output.status.success() {
        return Err(Failure::new(format!(
            "npm could not install @uniswap/v3-sdk:\n    {}",
            first_words(&output.stderr)
        ))
        .remedy("check the network (and npm's proxy and registry settings) and try again"));
    }
    replace(&work, &place)?;
    Ok(place)
}
