//! `cargo xtask test <words>`: finds the matching tests and what they need, from the sources.
//!
//! A test's name is its path in its crate, such as `analytics::decay::scan::tests::a_move_counts_once`, or in the suite
//! `service::decay::a_bad_window_is_refused`. It matches if it contains every word. Only packages with a match are
//! built, and only the requirements of their rooms are set up.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::{Context, Failure, Result};

/// The package of the suite.
pub const SUITE: &str = "exitgap-tests";

/// A test declared in the sources.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceTest {
    /// Its package.
    pub package: String,
    /// The target it belongs to: the library, the programs, or the suite.
    pub target: Target,
    /// Its path, as printed by the test runner.
    pub name: String,
    /// Whether its file uses JavaScript or a browser.
    pub in_javascript: bool,
}

/// Texts in a file of the suite that starts JavaScript or needs the pages.
const JAVASCRIPT: [&str; 4] = ["\"node\"", "npm", "the_site", "chromium"];

/// The target into which a test is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Library,
    Programs,
    Suite,
}

/// The requirements of a room's tests, besides the programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// The node and the contracts.
    pub chain: bool,
    /// Browsers, the npm package and the pages.
    pub browsers: bool,
    /// A `PostgreSQL` server, and the tools that trace and delay programs.
    pub servers: bool,
}

impl Needs {
    /// The requirements of these tests.
    pub fn for_tests(found: &[SourceTest]) -> Self {
        let suite = || found.iter().filter(|test| test.target == Target::Suite);
        let of_servers = |room: &str| ["store", "recorder", "harness"].contains(&room);
        Self {
            chain: suite().next().is_some(),
            browsers: suite().any(|test| test.in_javascript),
            servers: suite().any(|test| test.name.split("::").next().is_some_and(of_servers)),
        }
    }
}

/// Every test of the workspace whose name contains all these words.
pub fn find(root: &Path, metadata: &Value, words: &[String]) -> Result<Vec<SourceTest>> {
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        let folder = manifest.parent().filter(|folder| folder.starts_with(root));
        // The site is built only for browsers, and tested in them.
        let Some(manifest_folder) = folder.filter(|_| name != "exitgap-web") else { continue };
        let mut add = |folder: &str, target| {
            tests_below(&manifest_folder.join(folder), name, target)
                .map(|tests| found.extend(tests))
        };
        let is_library = manifest_folder.join("src/lib.rs").is_file();
        add("src", if is_library { Target::Library } else { Target::Programs })?;
        if name == SUITE {
            add("suite", Target::Suite)?;
        }
    }
    found.retain(|test| words.iter().all(|word| test.name.contains(word.as_str())));
    found.sort();
    found.dedup();
    if found.is_empty() {
        return Err(Failure::usage(format!("no test name contains `{}`", words.join("` and `")))
            .remedy(
                "give part of a test's path, such as `decay`, `service::limits` or `store kill`",
            ));
    }
    Ok(found)
}

/// The tests declared in the sources of a folder.
fn tests_below(folder: &Path, package: &str, target: Target) -> Result<Vec<SourceTest>> {
    let (mut files, mut found) = (Vec::new(), Vec::new());
    collect(folder, &mut files)?;
    for file in files {
        let text = fs::read_to_string(&file).context(format!("reading {}", file.display()))?;
        let module = module(folder, &file);
        let in_javascript = JAVASCRIPT.iter().any(|word| text.contains(word));
        for test in tests_in(&text) {
            let path = module.iter().map(String::as_str).chain([test.as_str()]);
            let name = path.collect::<Vec<_>>().join("::");
            found.push(SourceTest { package: package.to_owned(), target, name, in_javascript });
        }
    }
    Ok(found)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let reading = format!("reading folder {}", folder.display());
    for entry in fs::read_dir(folder).context(&reading)? {
        let path = entry.context(&reading)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// The module path of a file, from its place in the folder of its target.
fn module(from: &Path, file: &Path) -> Vec<String> {
    let within = file.strip_prefix(from).unwrap_or(file).with_extension("");
    let mut parts: Vec<String> =
        within.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

/// The tests that a source declares, each with its module within the file, if any.
fn tests_in(text: &str) -> Vec<String> {
    let mut tests = Vec::new();
    let mut inner = None;
    let mut marked = false;
    for line in text.lines() {
        let code = line.trim_start();
        if let Some(name) = code.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(" {")) {
            inner = Some(name.to_owned());
        }
        // Also matches `#[tokio::test(flavor = …)]`.
        let is_attribute = code.starts_with("#[");
        if is_attribute && (code.starts_with("#[test]") || code.contains("::test")) {
            marked = true;
        } else if let Some(name) = function(code).filter(|_| marked) {
            let path = inner.iter().map(String::as_str).chain([name]);
            tests.push(path.collect::<Vec<_>>().join("::"));
            marked = false;
        } else if !is_attribute && !code.is_empty() && !code.starts_with("//") {
            marked &= code.starts_with(')') || code.starts_with('"');
        }
    }
    tests
}

/// The name of the function that begins on a line, if any.
fn function(code: &str) -> Option<&str> {
    let (before, rest) = code.split_once("fn ")?;
    let words = ["", "pub", "async", "const", "unsafe"];
    let begins = before.split(' ').all(|word| words.contains(&word));
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    begins.then_some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn tests_are_read_from_a_source() {
        let source = "
fn helper() {}

#[test]
fn first() {}

mod tests {
    /// Says what.
    #[tokio::test(flavor = \"multi_thread\")]
    #[ignore = \"slow: it takes a minute\"]
    async fn second() {
        helper();
    }

    fn not_a_test() {}
}
";
        assert_eq!(tests_in(source), ["first", "tests::second"]);
    }

    #[test]
    fn a_files_place_is_its_module() {
        let from = Path::new("a/src");
        assert!(module(from, Path::new("a/src/lib.rs")).is_empty());
        assert_eq!(module(from, Path::new("a/src/b/mod.rs")), ["b"]);
        assert_eq!(module(from, Path::new("a/src/b/c.rs")), ["b", "c"]);
    }

    #[test]
    fn words_find_the_tests_of_this_workspace() {
        let root = workspace::root();
        let metadata = workspace::metadata(&root).unwrap();
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let own = find(&root, &metadata, &words("test::words a_files_place")).unwrap();
        let [own] = &own[..] else { panic!("{own:?}") };
        assert_eq!(own.name, "test::words::tests::a_files_place_is_its_module");
        assert_eq!((own.package.as_str(), own.target), ("xtask", Target::Programs));
        assert_eq!(Needs::for_tests(std::slice::from_ref(own)), Needs::default());

        let store = find(&root, &metadata, &words("store::series::")).unwrap();
        assert!(store.iter().all(|test| test.target == Target::Suite && test.package == SUITE));
        assert!(Needs::for_tests(&store).chain && Needs::for_tests(&store).servers);
        assert!(!Needs::for_tests(&store).browsers);
        let pages = find(&root, &metadata, &words("browser::web every_page")).unwrap();
        assert!(Needs::for_tests(&pages).browsers);

        let failure = find(&root, &metadata, &words("nothing has_this_name")).unwrap_err();
        assert_eq!(failure.code(), 2);
        // The search would find this text here if it were in one piece.
        assert!(failure.to_string().contains("`nothing` and `has_this_name`"), "{failure}");
    }
}
