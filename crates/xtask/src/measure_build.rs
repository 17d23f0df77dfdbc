//! `cargo xtask bench build`: the time from a change to its test results.
//!
//! The last commit is cloned into target/ without build output, and the commands of CI run there. Cargo's registry,
//! npm's cache and the system's packages are this machine's own. Then one line at a time is changed, as a developer
//! would, and its test is run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::failure::{Context, Failure, Result};
use crate::{process, workspace};

/// A line of a figure's code, and the test in its file.
const FIGURE: Edit =
    Edit { file: "crates/exitgap-core/src/analytics/decay/mod.rs", test: "analytics::decay" };

/// A line of a handler, and one test of the service.
const HANDLER: Edit = Edit {
    file: "crates/exitgap-server/src/http/handlers.rs",
    test: "service::refusals::answers_keep_the_conventions",
};

/// A file to change, and the words that select the tests to run.
struct Edit {
    file: &'static str,
    test: &'static str,
}

/// The measurements, in the order in which they are printed.
type Keys = Vec<(&'static str, u64)>;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The commands of CI, without build output.
    Cold,
    /// The commands of CI, once more.
    Warm,
    /// One test after one edit.
    Edits,
    /// The commands of CI, without build output and downloads.
    Uncached,
}

impl Part {
    /// The default parts.
    const USUAL: [Self; 3] = [Self::Cold, Self::Warm, Self::Edits];

    fn word(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
            Self::Edits => "edits",
            Self::Uncached => "uncached",
        }
    }

    /// The parts with these names, or the default ones.
    pub fn from_words(words: &[String]) -> Vec<Self> {
        let all = [Self::Cold, Self::Warm, Self::Edits, Self::Uncached];
        let is_named = |part: &Self| words.iter().any(|word| word == part.word());
        let named: Vec<Self> = all.into_iter().filter(is_named).collect();
        if named.is_empty() { Self::USUAL.to_vec() } else { named }
    }
}

/// Clones, runs, changes, and prints the times.
pub fn bench(root: &Path, json: bool, parts: &[Part]) -> Result<()> {
    let folder = root.join("target/bench-build");
    if folder.exists() {
        fs::remove_dir_all(&folder).context(format!("removing {}", folder.display()))?;
    }
    let clone = folder.join("clone");
    git_clone(root, &clone)?;
    let has = |part: Part| parts.contains(&part);
    let mut keys = Keys::new();
    if has(Part::Cold) {
        let before = processor_seconds()?;
        keys.push(("ci_cold_s", ci(&clone, None)?));
        keys.push(("core_s", processor_seconds()? - before));
    }
    if has(Part::Warm) {
        if !has(Part::Cold) {
            ci(&clone, None)?;
        }
        append_line(&clone, FIGURE.file)?;
        keys.push(("ci_warm_s", ci(&clone, None)?));
    }
    for (key, edit) in [("edit_figure_test_s", FIGURE), ("edit_handler_test_s", HANDLER)] {
        if has(Part::Edits) {
            // An untimed run first: a developer has built before.
            test(&clone, edit.test)?;
            append_line(&clone, edit.file)?;
            keys.push((key, test(&clone, edit.test)?));
        }
    }
    if has(Part::Uncached) {
        let other = folder.join("uncached");
        git_clone(root, &other)?;
        keys.push(("ci_uncached_s", ci(&other, Some(&folder.join("caches")))?));
    }
    keys.push(("locked_packages", locked_packages(&clone)?));
    fs::remove_dir_all(&folder).context(format!("removing {}", folder.display()))?;
    print(&keys, json);
    Ok(())
}

fn print(keys: &Keys, json: bool) {
    if json {
        let fields: Vec<String> =
            keys.iter().map(|(key, value)| format!("\"build.{key}\":{value}")).collect();
        println!("{{{}}}", fields.join(","));
        return;
    }
    for (key, value) in keys {
        println!("build.{key:<28} {value:>12}");
    }
}

fn git_clone(root: &Path, clone: &Path) -> Result<()> {
    let mut git = Command::new("git");
    git.args(["clone", "--quiet", "--no-hardlinks"]).arg(root).arg(clone);
    process::run(&mut git, "git clone")
}

/// Runs the commands of CI, and returns the seconds; with `caches`, an empty folder replaces this machine's downloads.
/// The system's packages stay.
fn ci(clone: &Path, caches: Option<&Path>) -> Result<u64> {
    let mut command = Command::new("bash");
    command.arg(".ci/run").env("CI", "true");
    if let Some(caches) = caches {
        command.env("CARGO_HOME", caches.join("cargo")).env("npm_config_cache", caches.join("npm"));
        command.env("PIP_CACHE_DIR", caches.join("pip"));
    }
    time_command(clone, &mut command, ".ci/run")
}

/// Runs the tests selected by these words, and returns the seconds.
fn test(clone: &Path, words: &str) -> Result<u64> {
    let mut command = workspace::cargo(clone);
    command.args(["xtask", "test", words]);
    time_command(clone, &mut command, "cargo xtask test")
}

fn time_command(clone: &Path, command: &mut Command, what: &str) -> Result<u64> {
    // This process's variables, which would point to this checkout.
    for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_TARGET_DIR"] {
        command.env_remove(name);
    }
    // Only the figures go to standard output.
    let stderr = std::io::stderr();
    let started = Instant::now();
    command.current_dir(clone).stdin(Stdio::null()).stdout(stderr);
    process::run(command, what)?;
    Ok(started.elapsed().as_secs())
}

/// Changes a source without changing its meaning: cargo rebuilds when a file's content changes.
fn append_line(clone: &Path, file: &str) -> Result<()> {
    let path: PathBuf = clone.join(file);
    let mut text = fs::read_to_string(&path).context(format!("reading {}", path.display()))?;
    text.push_str("\n// A line more.\n");
    fs::write(&path, text).context(format!("writing {}", path.display()))
}

/// The CPU seconds of this machine, for all processes: measure on an idle machine.
fn processor_seconds() -> Result<u64> {
    let text = fs::read_to_string("/proc/stat").context("reading /proc/stat")?;
    busy_seconds(&text).ok_or_else(|| Failure::new("/proc/stat has no line of all processors"))
}

/// Parses `cpu user nice system idle iowait irq softirq …`, in hundredths of a second.
fn busy_seconds(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|tick| tick.parse().ok()).collect();
    let worked = [0, 1, 2, 5, 6].map(|at| ticks.get(at).copied());
    Some(worked.into_iter().sum::<Option<u64>>()? / 100)
}

fn locked_packages(root: &Path) -> Result<u64> {
    let path = root.join("Cargo.lock");
    let text = fs::read_to_string(&path).context(format!("reading {}", path.display()))?;
    Ok(text.lines().filter(|line| *line == "[[package]]").count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_processors_worked_is_without_what_they_waited() {
        let stat = "cpu  100 20 30 99999 88888 4 46 0 0 0\ncpu0 1 1 1 1 1 1 1\n";
        assert_eq!(busy_seconds(stat), Some(2));
        assert_eq!(busy_seconds("intr 1\n"), None);
    }

    #[test]
    fn parts_are_named_or_all() {
        let of = |words: &str| {
            Part::from_words(&words.split(' ').map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(of("build --json"), [Part::Cold, Part::Warm, Part::Edits]);
        assert_eq!(of("build edits"), [Part::Edits]);
        assert_eq!(of("build edits cold"), [Part::Cold, Part::Edits]);
        assert_eq!(of("build uncached"), [Part::Uncached]);
    }

    #[test]
    fn what_is_changed_is_there() {
        for edit in [FIGURE, HANDLER] {
            assert!(workspace::root().join(edit.file).is_file(), "{}", edit.file);
        }
    }
}
