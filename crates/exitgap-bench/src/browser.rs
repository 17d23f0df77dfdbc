//! Installs the npm package in a separate folder, with pages that measure it in Chromium.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::BenchError;

/// A folder with the package, and the scripts of a folder below `js`.
pub fn install(scripts: &str, names: &[&str]) -> Result<TempDir, BenchError> {
    let folder = tempfile::tempdir().map_err(failed)?;
    copy(&named("EXITGAP_PKG")?, &folder.path().join("node_modules/exitgap"))?;
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("js").join(scripts);
    for name in names {
        fs::copy(from.join(name), folder.path().join(name)).map_err(failed)?;
    }
    Ok(folder)
}

/// The JSON that a page of the folder shows in Chromium.
pub fn shown(folder: &Path, page: &str) -> Result<Value, BenchError> {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/js/npm/browser.mjs");
    let mut browser = Command::new("node");
    browser.arg(driver).arg(folder).arg(page);
    let shown = answer(&mut browser)?;
    serde_json::from_str(shown["text"].as_str().unwrap_or_default())
        .map_err(|error| BenchError::Wasm(format!("the page showed {shown}: {error}")))
}

/// The JSON that a program prints.
pub fn answer(command: &mut Command) -> Result<Value, BenchError> {
    let output = command.output().map_err(failed)?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        BenchError::Wasm(format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
    })
}

/// Copies the package's files, folder by folder.
fn copy(from: &Path, to: &Path) -> Result<(), BenchError> {
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)?.flatten() {
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &place)?;
        } else {
            fs::copy(&path, &place).map_err(failed)?;
        }
    }
    Ok(())
}

/// A folder passed by `cargo xtask bench` in an environment variable.
pub fn named(variable: &str) -> Result<PathBuf, BenchError> {
    std::env::var_os(variable).map(PathBuf::from).ok_or_else(|| {
        BenchError::Wasm(format!(
            "{variable} is not set; run `cargo xtask bench wasm`, `figures` or `proof`"
        ))
    })
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Wasm(error.to_string())
}
