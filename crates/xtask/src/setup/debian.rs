//! What only the system's own packages have, installed where that can be done without asking: as root on Debian.

use crate::faults::{answers, is_root};

/// Makes sure of a program, which answers to `arguments`. Says what will fail where it is not there.
fn ensure(program: &str, arguments: &[&str], package: &str, tests: &str) {
    if answers(program, arguments) {
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
        "setup: {program} is not here: {tests} will fail; install the package `{package}` of your system"
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
