//! Programs that only system packages provide, installed automatically if this runs as root on Debian.

use crate::faults::{answers, is_root};

/// Ensures that a program exists, which must succeed with `arguments`. Prints what will fail if it does not.
fn ensure(program: &str, arguments: &[&str], package: &str, tests: &str) {
    ensure_where(answers(program, arguments), program, package, tests);
}

/// The same, if the caller already knows whether it exists.
fn ensure_where(is_here: bool, program: &str, package: &str, tests: &str) {
    if is_here {
        return;
    }
    if is_root() && answers("apt-get", &["--version"]) {
        eprintln!("setup: installing the package {package}, for {tests}");
        let install = ["install", "-y", "--no-install-recommends", "-q", package];
        if answers("apt-get", &install)
            || (answers("apt-get", &["update", "-q"]) && answers("apt-get", &install))
        {
            return;
        }
    }
    eprintln!(
        "setup: {program} not found: {tests} will fail; install your system's package `{package}`"
    );
}

/// Ensures that `strace` exists.
pub fn ensure_strace() {
    ensure("strace", &["-V"], "strace", "the tests of power cuts and failing syncs");
}

/// Ensures that the tools for testing units and container files exist.
pub fn ensure_deployment_tools() {
    ensure("systemd-analyze", &["--version"], "systemd", "the test of the systemd unit");
    ensure("debootstrap", &["--version"], "debootstrap", "the test of the container file");
}

/// Ensures that the programs of a `PostgreSQL` server exist, unless others are configured. Debian's package creates a
/// cluster of its own, which is not used: each test process starts a private one.
pub fn ensure_postgres() {
    /// The variable with the folder of other server programs.
    const VARIABLE: &str = "EXITGAP_POSTGRES";
    // Debian installs the programs outside the search path.
    let has_server = |version: std::fs::DirEntry| version.path().join("bin/postgres").exists();
    let is_here = std::env::var_os(VARIABLE).is_some()
        || std::fs::read_dir("/usr/lib/postgresql")
            .is_ok_and(|versions| versions.flatten().any(has_server));
    ensure_where(is_here, "postgres", "postgresql", "the tests of stores on a PostgreSQL server");
    ensure("openssl", &["version"], "openssl", "the test of an encrypted connection to one");
    ensure("faketime", &["--version"], "faketime", "the test of recorders whose clock is wrong");
}

/// Ensures that `chromium` exists, unless another browser is configured.
pub fn ensure_chromium() {
    /// The variable with the path of another browser.
    const VARIABLE: &str = "EXITGAP_CHROMIUM";
    if std::env::var_os(VARIABLE).is_none() {
        ensure("chromium", &["--version"], "chromium", "the tests in a browser");
    }
}

/// Ensures that `firefox-esr` exists, unless another Firefox is configured.
pub fn ensure_firefox() {
    /// The variable with the path of another Firefox.
    const VARIABLE: &str = "EXITGAP_FIREFOX";
    if std::env::var_os(VARIABLE).is_none() {
        ensure("firefox-esr", &["--version"], "firefox-esr", "the tests in Firefox");
    }
}
