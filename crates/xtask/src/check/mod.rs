//! `cargo xtask check`: everything that a reviewer should not have to check.
//!
//! Each check is a pure function from texts to findings, so that its tests can show that it fails when it should.

mod arrows;
mod deployment;
mod links;
mod locks;
mod named_tests;
mod sources;
mod yaml;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Context, Failure, Result};
use crate::{changelog, deny, generate, licences, peers, process, py, surface, test, workspace};

/// The output of `cargo xtask check --help`.
pub const HELP: &str = "\
Check what the compiler does not.

Usage: cargo xtask check

  arrows      crates depend only on allowed crates (the list is in crates/xtask/src/check/arrows.rs)
  seams       a library behind a seam is used only in its own room (the list is in crates/xtask/src/check/sources.rs)
  lengths     files near 400 lines; above 600 fails; README.md below 200
  links       link targets in documents exist, including headings
  deployment  the compose file, what Prometheus and Grafana read, and the workflow name only what exists
  tests       the tests that the threat model names exist
  leftovers   no markers of unfinished work
  map         crates/ARCHITECTURE.md names every crate
  locks       every lock file in the tree is up to date, including those outside the workspace
  licences    the third-party notices list exactly the shipped packages
  deny        licences, sources, bans and advisories, by `cargo deny`: see `cargo xtask deny --help`
  generated   the output of `cargo xtask generate` is the committed one
  changelog   the sections of CHANGELOG.md are what the titles of their commits give
  words       texts for users have no word of the list in crates/xtask/src/surface/words.rs
  format      cargo fmt --check
  lints       cargo clippy with warnings as errors, tests included: clippy.toml bounds the length of a
              function, and that of exitgap-math, -tlog and -core allows no floating-point type
  docs        cargo doc with warnings as errors
  fuzz        the fuzz targets' own workspace compiles

All checks run, then the failed ones are listed.";

/// A problem, or a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, with a line if there is one, such as `crates/x/src/lib.rs:7`.
    place: String,
    /// What is wrong, and what would be correct.
    pub message: String,
    /// A warning, which does not fail the check.
    warning: bool,
}

impl Diagnostic {
    pub fn error(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into(), warning: false }
    }

    pub fn warning(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { warning: true, ..Self::error(place, message) }
    }

    pub fn is_warning(&self) -> bool {
        self.warning
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.warning { "warning" } else { "error" };
        write!(f, "  {kind}: {}: {}", self.place, self.message)
    }
}

/// A file of the repository: its path from the root, with `/`, and its text.
#[derive(Debug, Clone)]
pub struct Source {
    path: String,
    text: String,
}

/// Runs every check; fails if any check fails.
pub fn run(root: &Path) -> Result<()> {
    run_static(root).and(run_lints(root)).and(run_documentation(root)).and(run_fuzz(root))
}

/// The checks that need no build and take seconds.
pub fn run_static(root: &Path) -> Result<()> {
    let mut crates = arrows::dependencies(&workspace::metadata(root)?);
    // These are ours too, although each is a separate workspace.
    for apart in [py::MANIFEST, peers::MANIFEST] {
        crates.extend(arrows::dependencies(&workspace::metadata_of(root, apart)?));
    }
    let sources = read_sources(root)?;
    let map = fs::read_to_string(root.join("crates/ARCHITECTURE.md")).unwrap_or_default();
    let mut failed = Vec::new();
    for (name, findings) in [
        ("arrows", arrows::forbidden(&crates)),
        ("seams", sources::beyond_seams(&sources)),
        ("lengths", sources::lengths(&sources)),
        ("links", links::dead(&sources)),
        ("deployment", deployment::findings(root)?),
        ("tests", named_tests::absent(&sources)),
        ("leftovers", sources::leftovers(&sources)),
        ("map", sources::missing_on_map(&arrows::names(&crates), &map)),
        ("locks", locks::stale(root)?),
        ("licences", licences::differences(root)?),
        ("deny", deny::findings(root)?),
        ("generated", generate::stale(root)?),
        ("changelog", changelog::differences(root)?),
        ("words", surface::words::findings(&surface::read_files(root, None)?)),
    ] {
        if !report(name, &findings) {
            failed.push(name);
        }
    }
    let mut format = workspace::cargo(root);
    format.args(["fmt", "--all", "--", "--check"]);
    if !passes("format", &mut format) {
        failed.push("format");
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("these checks failed: {}", failed.join(", "))).remedy(
        "each failed check printed its findings above; `cargo xtask check --help` explains them",
    ))
}

/// The lints of everything native, and of the site.
pub fn run_lints(root: &Path) -> Result<()> {
    let mut lints = workspace::cargo(root);
    lints.arg("clippy").args(workspace::NATIVE);
    lints.args(["--all-targets", "--quiet", "--", "-D", "warnings"]);
    let mut site = workspace::cargo(root);
    test::ensure_wasm_target(root)?;
    site.args(["clippy", "--package", "exitgap-web", "--target", test::WASM, "--quiet"]);
    site.args(["--", "-D", "warnings"]);
    let passed = passes("lints", &mut lints) & passes("site", &mut site);
    judge(passed, "lints")
}

/// Builds the documentation of every native crate.
pub fn run_documentation(root: &Path) -> Result<()> {
    let mut docs = workspace::cargo(root);
    docs.arg("doc").args(workspace::NATIVE).args(["--no-deps", "--quiet"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    judge(passes("docs", &mut docs), "docs")
}

fn run_fuzz(root: &Path) -> Result<()> {
    let mut fuzz = workspace::cargo(root);
    fuzz.args(["check", "--locked", "--quiet", "--manifest-path", "fuzz/Cargo.toml"]);
    judge(passes("fuzz", &mut fuzz), "fuzz")
}

fn judge(passed: bool, name: &str) -> Result<()> {
    let failure = || Failure::new(format!("the check of {name} failed: its findings are above"));
    if passed { Ok(()) } else { Err(failure()) }
}

/// Runs a check that is a cargo command, and prints its result.
fn passes(name: &str, command: &mut Command) -> bool {
    eprintln!("check {name}: running cargo");
    let end = process::run(command, name);
    match &end {
        Ok(()) => println!("check {name}: passed"),
        Err(failure) => println!("check {name}: FAILED ({failure})"),
    }
    end.is_ok()
}

/// Prints the findings of one check; returns whether it passed.
fn report(name: &str, findings: &[Diagnostic]) -> bool {
    let errors = findings.iter().filter(|finding| !finding.warning).count();
    let verdict = if errors == 0 { "passed" } else { "FAILED" };
    println!("check {name}: {verdict}");
    for finding in findings {
        println!("{finding}");
    }
    errors == 0
}

/// Every hand-written text file of the repository. The npm package's folder also contains build output, which is left
/// out.
fn read_sources(root: &Path) -> Result<Vec<Source>> {
    let mut paths = Vec::new();
    for folder in ["crates", "fuzz", "tests", "examples", "web/src", "web/assets", ".ci", ".cargo"]
    {
        collect(&root.join(folder), &mut paths)?;
    }
    collect(&root.join("pkg"), &mut paths)?;
    paths.extend(
        ["README.md", "CHANGELOG.md", "SECURITY.md", "Cargo.toml", "deny.toml", "web/README.md"]
            .map(|name| root.join(name)),
    );
    paths.sort();
    let mut sources = Vec::new();
    for path in paths {
        // Non-text files contain nothing that these checks look for.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let relative = path.strip_prefix(root).unwrap_or(&path);
        let path = relative.to_string_lossy().replace('\\', "/");
        sources.push(Source { path, text });
    }
    Ok(sources)
}

/// Folders with what is built, besides those of any place.
const MADE: [&str; 3] = ["pkg/dist", "web/dist", "exitgap-py/dist"];

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let reading = format!("reading folder {}", folder.display());
    for entry in fs::read_dir(folder).context(&reading)? {
        let path = entry.context(&reading)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            let is_made = ["target", "node_modules", "corpus", "artifacts"].contains(&&*name)
                || MADE.iter().any(|made| path.ends_with(made));
            if !is_made {
                collect(&path, paths)?;
            }
        } else if !["package-lock.json", "Cargo.lock", "THIRD-PARTY.txt"].contains(&&*name) {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_passes_and_an_error_does_not() {
        assert!(report("test", &[]));
        assert!(report("test", &[Diagnostic::warning("a.rs:1", "long")]));
        assert!(!report("test", &[Diagnostic::error("a.rs:1", "too long")]));
    }

    #[test]
    fn the_repository_itself_is_read() {
        let sources = read_sources(&workspace::root()).unwrap();
        let here = sources.iter().find(|source| source.path == "crates/xtask/src/check/mod.rs");
        assert!(here.is_some_and(|source| source.text.contains("the_repository_itself_is_read")));
        assert!(!sources.iter().any(|source| source.path.contains("/target/")));
        assert!(!sources.iter().any(|source| source.path.starts_with("pkg/dist/")));
        assert!(sources.iter().any(|source| source.path == "crates/xtask/src/dist/mod.rs"));
    }
}
