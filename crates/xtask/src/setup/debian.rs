//! What only the system's own packages have, installed where that can be done without asking: as root on Debian.

use crate::faults::{answers, is_root};

/// Makes sure of a program, which answers to `arguments`. Says what will fail where it is not there.
fn ensure(program: &str, arguments: &[&str], package: &str, tests: &str) {
    ensure_where(answers(program, arguments), program, package, tests);
}

/// The same of what is known to be here, or not to be.
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

/// Makes sure of `strace`.
pub fn ensure_strace() {
    ensure("strace", &["-V"], "strace", "the tests of power cuts and failing syncs");
}

/// Makes sure of what units and container files are tried with.
pub fn ensure_deployment_tools() {
    ensure("systemd-analyze", &["--version"], "systemd", "the test of the systemd unit");
    ensure("debootstrap", &["--version"], "debootstrap", "the test of the container file");
}

/// Makes sure of a `PostgreSQL` server's programs, unless others are named. Debian's package begins a cluster of its own,
/// which is not used: each test process starts a private one.
pub fn ensure_postgres() {
    /// The variable that names the folder with other programs than the system's.
    const VARIABLE: &str = "EXITGAP_POSTGRES";
    // It puts its programs where no search for programs finds them.
    let has_server = |version: std::fs::DirEntry| version.path().join("bin/postgres").exists();
    let is_here = std::env::var_os(VARIABLE).is_some()
        || std::fs::read_dir("/usr/lib/postgresql")
            .is_ok_and(|versions| versions.flatten().any(has_server));
    ensure_where(is_here, "postgres", "postgresql", "the tests of stores on a PostgreSQL server");
    ensure("openssl", &["version"], "openssl", "the test of an encrypted connection to one");
    ensure("faketime", &["--version"], "faketime", "the test of recorders whose clock is wrong");
}

/// Makes sure of `chromium`, unless another browser is named.
pub fn ensure_chromium() {
    /// The variable that names another browser than the system's.
    const VARIABLE: &str = "EXITGAP_CHROMIUM";
    if std::env::var_os(VARIABLE).is_none() {
        ensure("chromium", &["--version"], "chromium", "the tests in a browser");
    }
}

/// Makes sure of `firefox-esr`, unless another Firefox is named.
pub fn ensure_firefox() {
    /// The variable that names another Firefox than the system's.
    const VARIABLE: &str = "EXITGAP_FIREFOX";
    if std::env::var_os(VARIABLE).is_none() {
        ensure("firefox-esr", &["--version"], "firefox-esr", "the tests in Firefox");
    }
}
