//! `cargo xtask sample`: the recorded sample that `exitgap try` shows.

use std::fs;
use std::path::Path;

use crate::failure::{Context, Failure, Result};
use crate::{process, setup, workspace};

/// The output of `cargo xtask sample --help`.
pub const HELP: &str = "\
Make the recorded sample of `exitgap try`.

Usage: cargo xtask sample [--check]

  --check  make the sample again, and compare it with the committed files

Plays a week of a seeded market on a development chain with the real contracts, and records one pool of the
chain for the week and two more for its last day. Writes evidence, key, figure file and log to
crates/exitgap-sample/sample, and copies evidence and key to the npm and the Python package. The same seed
gives the same bytes on every machine. Takes about ten minutes; needs the node and the contracts of
`cargo xtask setup`, which are fetched if they are absent.

The sample changes if the formats of the log, the seeded market or the recorded contracts change. Programs
that were built before keep their own sample.";

/// The folder of the sample.
const FOLDER: &str = "crates/exitgap-sample/sample";

/// The files that the packages for JavaScript and Python contain, and their folders.
const SHARED: [&str; 3] = ["evidence.json", "verifier-key", "try.txt"];
const PACKAGES: [&str; 2] = ["pkg/sample", "crates/exitgap-py/python/exitgap/sample"];

/// Makes the sample, or compares it.
pub fn run(root: &Path, check: bool) -> Result<()> {
    setup::ensure(root)?;
    let mut make = workspace::cargo(root);
    make.args([
        "run",
        "--quiet",
        "--package",
        "exitgap-tests",
        "--bin",
        "exitgap-sample-maker",
        "--",
    ]);
    make.args(["--folder", FOLDER]).current_dir(root);
    if check {
        make.arg("--check");
    }
    process::run(&mut make, "exitgap-sample-maker")?;
    if check {
        return same_in_packages(root);
    }
    for package in PACKAGES {
        fs::create_dir_all(root.join(package)).context(format!("creating {package}"))?;
        for name in SHARED {
            let copied = fs::copy(root.join(FOLDER).join(name), root.join(package).join(name));
            copied.context(format!("copying {name} to {package}"))?;
        }
    }
    Ok(())
}

/// Fails if a package has other files than the sample.
pub fn same_in_packages(root: &Path) -> Result<()> {
    for (package, name) in PACKAGES.iter().flat_map(|package| SHARED.map(|name| (package, name))) {
        let [ours, theirs] = [FOLDER, package].map(|folder| root.join(folder).join(name));
        let read = |path: &Path| fs::read(path).context(format!("reading {}", path.display()));
        if read(&ours)? != read(&theirs)? {
            return Err(Failure::new(format!("{package}/{name} is not the sample's {name}"))
                .remedy("`cargo xtask sample` copies it"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_have_the_samples_files() {
        same_in_packages(&workspace::root()).unwrap();
    }
}
