//! The stored results of `cargo xtask test --all`: for each tree, which parts passed on it.
//!
//! A tree is identified by git's tree hash, including uncommitted changes: the same files have the same hash, and any
//! change results in another one. A result is stored in `target/test-results/<tree>/part-<K>.json`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::plan::PARTS;
use super::summary::Counts;
use crate::failure::{Context, Failure, Result};

/// The folder of results.
const FOLDER: &str = "target/test-results";

/// The result of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Whether every step passed.
    pub passed: bool,
    /// The tests that ran.
    pub counts: Counts,
    /// The duration.
    pub seconds: u64,
}

/// Git's hash of the current tree: tracked and new files, without ignored ones.
pub fn tree(root: &Path) -> Result<String> {
    let folder = root.join(FOLDER);
    fs::create_dir_all(&folder).context(format!("creating {}", folder.display()))?;
    // A separate index, so that the developer's staged changes are not affected.
    let index = folder.join(format!("index-{}", std::process::id()));
    let git = |arguments: &[&str]| -> Result<String> {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(root).env("GIT_INDEX_FILE", &index);
        let output = command.output().context("starting git")?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        Err(Failure::new(format!("git {}: {}", arguments.join(" "), words.trim()))
            .remedy("results are kept for each git tree: run this in a clone of the repository"))
    };
    let tree = git(&["read-tree", "HEAD"])
        .and_then(|_| git(&["add", "--all"]))
        .and_then(|_| git(&["write-tree"]));
    let _ = fs::remove_file(&index);
    tree
}

/// Saves the result of a part (counted from 1) on a tree.
pub fn keep(root: &Path, tree: &str, part: usize, outcome: Outcome) -> Result<()> {
    let path = path(root, tree, part);
    let folder = path.parent().unwrap_or(root);
    fs::create_dir_all(folder).context(format!("creating {}", folder.display()))?;
    let Outcome { passed, counts, seconds } = outcome;
    let text = json!({
        "part": part,
        "passed": passed,
        "tests_passed": counts.passed,
        "tests_failed": counts.failed,
        "tests_skipped": counts.skipped,
        "seconds": seconds,
    });
    fs::write(&path, format!("{text}\n")).context(format!("writing {}", path.display()))
}

/// Prints the result of each part on this tree; fails unless all of them passed.
pub fn report(root: &Path) -> Result<()> {
    let tree = tree(root)?;
    println!("tree {tree}");
    let mut lacking = Vec::new();
    for part in 1..=PARTS.len() {
        let found = read_outcome(root, &tree, part);
        let (line, passed) = line(part, found.as_ref());
        println!("{line}");
        if !passed {
            lacking.push(part.to_string());
        }
    }
    if lacking.is_empty() {
        println!("all parts passed on this tree");
        return Ok(());
    }
    Err(Failure::new(format!("parts that have not passed on this tree: {}", lacking.join(", ")))
        .remedy(format!("cargo xtask test --all --part {}/{}", lacking[0], PARTS.len())))
}

fn path(root: &Path, tree: &str, part: usize) -> PathBuf {
    root.join(FOLDER).join(tree).join(format!("part-{part}.json"))
}

fn read_outcome(root: &Path, tree: &str, part: usize) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(path(root, tree, part)).ok()?).ok()
}

/// A part's line of the report, and whether it passed.
fn line(part: usize, found: Option<&Value>) -> (String, bool) {
    let Some(found) = found else { return (format!("  part {part}: did not run"), false) };
    let passed = found["passed"] == true;
    let verdict = if passed { "passed" } else { "FAILED" };
    let line = format!(
        "  part {part}: {verdict} in {} s: {} tests passed, {} failed, {} skipped",
        found["seconds"], found["tests_passed"], found["tests_failed"], found["tests_skipped"]
    );
    (line, passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_counts_only_on_the_tree_it_ran_on() {
        let root = std::env::temp_dir().join(format!("exitgap-results-{}", std::process::id()));
        let counts = Counts { passed: 3, failed: 1, skipped: 2 };
        keep(&root, "a", 1, Outcome { passed: false, counts, seconds: 9 }).unwrap();
        keep(&root, "a", 2, Outcome { passed: true, counts, seconds: 9 }).unwrap();
        let (text, passed) = line(1, read_outcome(&root, "a", 1).as_ref());
        assert!(!passed && text.contains("FAILED in 9 s: 3 tests passed, 1 failed"), "{text}");
        assert!(line(2, read_outcome(&root, "a", 2).as_ref()).1);
        let (text, passed) = line(2, read_outcome(&root, "b", 2).as_ref());
        assert!(!passed && text.contains("did not run"), "{text}");
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_changed_file_is_another_tree_and_the_index_stays() {
        let root = std::env::temp_dir().join(format!("exitgap-tree-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        let git = |arguments: &[&str]| {
            let output = Command::new("git").args(arguments).current_dir(&root).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        git(&["init", "--quiet"]);
        fs::write(root.join(".gitignore"), "target\n").unwrap();
        fs::write(root.join("a"), "1").unwrap();
        git(&["add", "--all"]);
        let person = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        git(&[&person[..], &["commit", "--quiet", "--message", "a: first"]].concat());
        let first = tree(&root).unwrap();
        assert_eq!(git(&["rev-parse", "HEAD^{tree}"]).trim(), first);
        fs::write(root.join("b"), "2").unwrap();
        let second = tree(&root).unwrap();
        assert_ne!(first, second);
        assert_eq!(git(&["status", "--porcelain"]), "?? b\n");
        fs::remove_file(root.join("b")).unwrap();
        assert_eq!(tree(&root).unwrap(), first);
        fs::remove_dir_all(root).unwrap();
    }
}
