//! `cargo xtask py`: the Python package `exitgap`, from the crate `exitgap-py` and the Python files in its folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Context, Failure, Result};
use crate::{process, setup, workspace};

/// The output of `cargo xtask py --help`.
pub const HELP: &str = "\
Build the Python package, a wheel in crates/exitgap-py/dist (git ignores it), and test it in a clean environment.

Usage: cargo xtask py

In order: format and lints of crates/exitgap-py, a workspace of its own with a lock file of its own, so that
building exitgap does not need Python; one wheel for every Python from 3.11 on (abi3), by maturin; a fresh environment in
.fixtures/exitgap-python with that wheel and pandas and nothing else; in it the package's tests
(crates/exitgap-py/tests), with the shared vectors of tests/vectors; and its types, as mypy reads them. Prints the
wheel's path last. Missing tools are installed into .fixtures and reported: maturin, mypy and pandas, pinned packages
of Python's index.

Needs: Python 3.11 or later with venv and pip, and the network the first time. Nothing is published.

To try the wheel by hand: .fixtures/exitgap-python/bin/python -c 'import exitgap; help(exitgap)'
Against a real service it is tried by the suite: cargo xtask test --all, or after this command
  cargo nextest run -p exitgap-tests --features suite --run-ignored all python";

/// The crate's folder.
const CRATE: &str = "crates/exitgap-py";

/// Its manifest, which defines a separate workspace.
pub const MANIFEST: &str = "crates/exitgap-py/Cargo.toml";

/// Builds the wheel, and tests it.
pub fn run(root: &Path) -> Result<()> {
    setup::require_python()?;
    lint(root)?;
    let (wheel, python) = install_wheel(root)?;
    let folder = root.join(CRATE);
    eprintln!("py: the package's tests");
    let mut tests = Command::new(&python);
    tests.args(["-m", "unittest", "discover", "--start-directory"]).arg(folder.join("tests"));
    // In a folder without the sources, so that the wheel is imported.
    tests.current_dir(folder.join("tests")).env("PYTHONDONTWRITEBYTECODE", "1");
    process::run(&mut tests, "the package's tests")?;
    types(root, &python)?;
    println!("{}", wheel.display());
    Ok(())
}

/// Builds the wheel and installs it in a fresh environment; returns the wheel, and the environment's Python.
pub fn install_wheel(root: &Path) -> Result<(PathBuf, PathBuf)> {
    setup::require_python()?;
    let wheel = build(root)?;
    let python = setup::fresh_with(root, &wheel)?;
    Ok((wheel, python))
}

/// Builds the wheel.
pub fn build(root: &Path) -> Result<PathBuf> {
    let maturin = setup::ensure_maturin(root)?;
    let dist = root.join(CRATE).join("dist");
    // Remove wheels of earlier versions.
    if dist.is_dir() {
        fs::remove_dir_all(&dist).context(format!("removing {}", dist.display()))?;
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let from = root.join(licence);
        let copied = fs::copy(&from, root.join(CRATE).join(licence));
        copied.context(format!("copying {}", from.display()))?;
    }
    let mut build = Command::new(maturin);
    build.args(["build", "--release", "--locked", "--quiet", "--manifest-path"]);
    build.arg(MANIFEST).arg("--out").arg(&dist);
    build.current_dir(root).env("RUSTFLAGS", workspace::remap_flags(root));
    process::run(&mut build, "maturin")?;
    let found = fs::read_dir(&dist).context(format!("reading {}", dist.display()))?;
    let mut wheels = found.flatten().map(|entry| entry.path());
    let wheel = wheels.find(|path| path.extension().is_some_and(|end| end == "whl"));
    let wheel = wheel.ok_or_else(|| Failure::new(format!("no wheel is in {}", dist.display())))?;
    let bytes = fs::metadata(&wheel).context(format!("reading {}", wheel.display()))?.len();
    eprintln!("py: {} bytes, {}", bytes, wheel.display());
    Ok(wheel)
}

/// The same checks as `cargo xtask check` runs for the workspace's own crates.
fn lint(root: &Path) -> Result<()> {
    let mut format = workspace::cargo(root);
    format.args(["fmt", "--manifest-path"]).arg(MANIFEST).args(["--", "--check"]);
    process::run(&mut format, "the format of exitgap-py")?;
    let mut lints = workspace::cargo(root);
    lints.args(["clippy", "--locked", "--quiet", "--manifest-path"]).arg(MANIFEST);
    lints.args(["--", "-D", "warnings"]);
    // Independent of any installed Python.
    lints.env("PYO3_NO_PYTHON", "1").env("PYO3_BUILD_EXTENSION_MODULE", "1");
    process::run(&mut lints, "the lints of exitgap-py")
}

/// Checks the package's types: their consistency, and the stub against the module.
fn types(root: &Path, python: &Path) -> Result<()> {
    let checker = setup::ensure_mypy(root)?;
    eprintln!("py: the package's types");
    // In a folder without the package's sources, so that the wheel is read.
    let folder = root.join(CRATE).join("tests");
    let mut types = Command::new(&checker);
    types.args(["-m", "mypy", "--strict", "--disable-error-code=import-untyped"]);
    types
        .args(["--cache-dir=/dev/null", "--package", "exitgap", "--python-executable"])
        .arg(python);
    process::run(types.current_dir(&folder), "mypy")?;
    // The stub checker imports the installed module, so it runs from its own location.
    let place = "import mypy, pathlib; print(pathlib.Path(mypy.__file__).parents[1])";
    let place = Command::new(checker).args(["-c", place]).output().context("starting Python")?;
    let place = String::from_utf8_lossy(&place.stdout).trim().to_owned();
    let mut stub = Command::new(python);
    stub.args(["-m", "mypy.stubtest", "exitgap._exitgap"]).env("PYTHONPATH", place);
    process::run(stub.current_dir(&folder).env("PYTHONDONTWRITEBYTECODE", "1"), "mypy.stubtest")
}
