//! A browser for the tests of the npm package and of pages.

use crate::faults::{answers, is_root};

/// The variable that names another browser than the system's.
const VARIABLE: &str = "EXITGAP_CHROMIUM";

/// Makes sure of `chromium`, where that can be done without asking: as root on Debian. Says what
/// is left out where it is not there.
pub fn ensure_chromium() {
    if std::env::var_os(VARIABLE).is_some() || answers("chromium", &["--version"]) {
        return;
    }
    if is_root() && answers("apt-get", &["--version"]) {
        eprintln!("setup: installing the package chromium, for the tests in a browser");
        let install = ["install", "-y", "--no-install-recommends", "-q", "chromium"];
        if answers("apt-get", &install)
            || (answers("apt-get", &["update", "-q"]) && answers("apt-get", &install))
        {
            return;
        }
    }
    eprintln!(
        "setup: chromium is not here: the tests in a browser will fail; install the package \
         `chromium` of your system, or name a Chromium with {VARIABLE}"
    );
}
