//! Checks whether every lock file in the tree is up to date.
//!
//! A package outside the workspace has its own lock file, which becomes stale when the dependencies of a crate it
//! depends on change. The daily builds would not show that.

use std::path::Path;
use std::process::Command;

use super::Diagnostic;
use crate::failure::{Context, Failure, Result};
use crate::workspace;

/// Every lock file under version control that is stale.
pub fn stale(root: &Path) -> Result<Vec<Diagnostic>> {
    let mut findings = Vec::new();
    for lock in list_locks(root)? {
        findings.extend(check_lock(root, &lock)?);
    }
    Ok(findings)
}

/// The lock files under version control, as paths from the root.
fn list_locks(root: &Path) -> Result<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "Cargo.lock", "*/Cargo.lock"])
        .current_dir(root)
        .output()
        .context("starting git ls-files")?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!("git ls-files failed:\n{words}")));
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

/// Cargo's complaint about one lock file, if any. This reads only the index, and downloads no package.
fn check_lock(root: &Path, lock: &str) -> Result<Option<Diagnostic>> {
    let manifest = format!("{}.toml", lock.trim_end_matches(".lock"));
    let mut update = workspace::cargo(root);
    update.args(["update", "--workspace", "--locked", "--quiet", "--manifest-path", &manifest]);
    let output = update.output().context("starting cargo update")?;
    if output.status.success() {
        return Ok(None);
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let first = words.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or(&words);
    Ok(Some(Diagnostic::error(
        lock,
        format!(
            "{}; if it is stale, run `cargo update --workspace --manifest-path {manifest}` and commit it",
            first.trim()
        ),
    )))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// A crate in a separate folder, with a path dependency and a lock file.
    struct Tree(PathBuf);

    impl Tree {
        fn new() -> Self {
            let folder = std::env::temp_dir().join(format!("exitgap-locks-{}", std::process::id()));
            for (name, more) in [("one", ""), ("two", "")] {
                fs::create_dir_all(folder.join(name).join("src")).unwrap();
                fs::write(folder.join(name).join("src/lib.rs"), "").unwrap();
                Self::manifest(&folder, name, more);
            }
            Self(folder)
        }

        fn manifest(folder: &Path, name: &str, dependencies: &str) {
            let text = format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                 [dependencies]\n{dependencies}"
            );
            fs::write(folder.join(name).join("Cargo.toml"), text).unwrap();
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_lock_file_that_lacks_a_dependency_is_found_with_the_command_that_repairs_it() {
        let Tree(folder) = &Tree::new();
        let lock = "one/Cargo.lock";
        let made = workspace::cargo(folder)
            .args([
                "generate-lockfile",
                "--offline",
                "--quiet",
                "--manifest-path",
                "one/Cargo.toml",
            ])
            .status();
        assert!(made.unwrap().success());
        assert_eq!(check_lock(folder, lock).unwrap(), None);
        Tree::manifest(folder, "one", "two = { path = \"../two\" }\n");
        let before = fs::read_to_string(folder.join(lock)).unwrap();
        let found = check_lock(folder, lock).unwrap().unwrap();
        assert_eq!(found.place, lock);
        let remedy = "cargo update --workspace --manifest-path one/Cargo.toml";
        assert!(found.message.contains("--locked was passed"), "{}", found.message);
        assert!(found.message.contains(remedy), "{}", found.message);
        assert_eq!(fs::read_to_string(folder.join(lock)).unwrap(), before, "nothing is written");
        // The remedy in the message works.
        let mut words = remedy.split(' ').skip(1).collect::<Vec<_>>();
        words.extend(["--offline", "--quiet"]);
        assert!(workspace::cargo(folder).args(words).status().unwrap().success());
        assert_eq!(check_lock(folder, lock).unwrap(), None);
    }

    #[test]
    fn each_lock_file_of_the_tree_is_asked() {
        let root = workspace::root();
        let tracked = list_locks(&root).unwrap();
        for known in ["Cargo.lock", "crates/exitgap-bench/Cargo.lock", "fuzz/Cargo.lock"] {
            assert!(tracked.iter().any(|lock| lock == known), "{known}: {tracked:?}");
        }
        assert!(tracked.iter().all(|lock| root.join(lock).is_file()), "{tracked:?}");
    }
}
