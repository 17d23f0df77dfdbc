//! An empty folder with the packed npm package installed, like a user's project.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use exitgap_tests::fixtures;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A temporary project folder.
pub struct Project {
    folder: TempDir,
}

impl Project {
    /// Installs only the tarball that `cargo xtask pkg` created.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = Self { folder };
        project.write("package.json", r#"{"name":"consumer","private":true,"type":"module"}"#);
        let install = ["install", "--offline", "--silent", "--no-audit", "--no-fund"];
        let installed = project.run(Command::new("npm").args(install).arg(tarball()));
        assert!(installed.status.success(), "{}", said(&installed));
        project
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Copies programs of `tests/js/npm` into the folder.
    pub fn add(&self, names: &[&str]) {
        for name in names {
            let from = root().join("tests/js/npm").join(name);
            fs::copy(&from, self.path().join(name)).unwrap();
        }
    }

    /// Writes the README's programs into the folder, under their names in the README.
    pub fn add_from_readme(&self) -> Vec<String> {
        let programs = readme_programs();
        for (name, text) in &programs {
            self.write(name, text);
        }
        programs.into_iter().map(|(name, _)| name).collect()
    }

    pub fn run(&self, command: &mut Command) -> Output {
        command.current_dir(self.path()).output().expect("node, npm and what they run are there")
    }

    /// Runs a Node program of the folder, which must succeed; returns its standard output.
    pub fn node(&self, arguments: &[&str]) -> String {
        let output = self.run(Command::new("node").args(arguments));
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs an installed tool, which must succeed; returns its output.
    pub fn tool(&self, name: &str, arguments: &[&str]) -> String {
        let output = self.run(Command::new("node").arg(tool(name)).args(arguments));
        assert!(output.status.success(), "{name} {arguments:?}: {}", said(&output));
        said(&output)
    }

    /// Opens a page of `folder` in Chromium, under a strict content security policy; returns the text of the page. The
    /// browser must not report any error.
    pub fn page(&self, folder: &Path, page: &str) -> String {
        self.page_at(folder, page, None)
    }

    /// The same for a page that requests a service of another origin; its error answers do not count as errors.
    pub fn page_asking(&self, page: &str, service: &str) -> String {
        let mut command = driver(self.path(), page);
        self.driven(command.env("EXITGAP_ASKED", service))
    }

    /// The same for a page from another server, without a policy.
    pub fn page_at(&self, folder: &Path, page: &str, address: Option<&str>) -> String {
        self.driven(driver(folder, page).args(address))
    }

    fn driven(&self, command: &mut Command) -> String {
        let output = self.run(command.env("EXITGAP_NPM_TOOLS", tools()));
        assert!(output.status.success(), "{}", said(&output));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["complaints"], serde_json::json!([]), "{found}");
        found["text"].as_str().unwrap().to_owned()
    }
}

/// The command that opens a page of a folder.
fn driver(folder: &Path, page: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(root().join("tests/js/npm/browser.mjs")).arg(folder).arg(page);
    command
}

/// The programs in `pkg/README.md`: a comment names the file, and a code block contains it.
pub fn readme_programs() -> Vec<(String, String)> {
    let readme = fs::read_to_string(root().join("pkg/README.md")).unwrap();
    let marked = readme.split("<!-- file: ").skip(1);
    let program = |part: &str| {
        let (name, rest) = part.split_once(" -->").unwrap();
        let code = rest.split("```").nth(1).unwrap();
        (name.to_owned(), code.split_once('\n').unwrap().1.to_owned())
    };
    marked.map(program).collect()
}

pub fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

/// The path of the packed package.
pub fn tarball() -> PathBuf {
    let version = env!("CARGO_PKG_VERSION");
    let path = root().join(format!("pkg/dist/exitgap-{version}.tgz"));
    assert!(path.is_file(), "{} is missing: run `cargo xtask pkg`", path.display());
    path
}

/// The folder of the installed tools.
pub fn tools() -> PathBuf {
    let path = fixtures::folder().join("npm-tools");
    assert!(path.is_dir(), "{} is missing: run `cargo xtask test`", path.display());
    path
}

/// The folder of the hosts that only slow tests use, if they are installed.
pub fn hosts() -> Option<PathBuf> {
    let path = fixtures::folder().join("npm-hosts");
    path.join("node_modules").is_dir().then_some(path)
}

/// The script of a tool.
pub fn tool(name: &str) -> PathBuf {
    tools().join("node_modules/.bin").join(name).canonicalize().unwrap()
}

pub fn said(output: &Output) -> String {
    let texts = [&output.stdout, &output.stderr];
    texts.map(|text| String::from_utf8_lossy(text).into_owned()).join("\n")
}

/// Requires what the README says of its program: the verdict with the number, and the check that fails for a changed digit.
pub fn as_the_readme_says(shown: &str) {
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "valid 0.275862%", "{shown}");
    let [only] = lines[1..] else { panic!("one check fails, and not: {shown}") };
    let words: Vec<&str> = only.split(' ').collect();
    assert_eq!((words[0], words[1]), ("result", "exit_gap_pct"), "{shown}");
    assert_eq!((words[2], words[4]), ("\"0.275862\"", "\"0.175862\""), "{shown}");
}

/// Requires the expected results for random bytes and for the cases.
pub fn sound(outcome: &Value, cases: usize) {
    let compared = json!({"compared": cases, "differing": 0, "first": []});
    assert_eq!(outcome["compared"], compared);
    let garbage = &outcome["garbage"];
    assert_eq!(garbage["wrong"], json!([]), "{garbage}");
    assert_eq!(garbage["sound"], true);
    assert!(garbage["tried"].as_u64().unwrap() > 5_000, "{garbage}");
    for code in ["invalid_parameter", "source_unreadable", "unknown_parameter", "unknown_base"] {
        assert!(garbage["codes"][code].as_u64().is_some_and(|many| many > 0), "{garbage}");
    }
    let sizes: Vec<u64> =
        garbage["sizes"].as_array().unwrap().iter().map(|size| size.as_u64().unwrap()).collect();
    assert_eq!(sizes.len(), 4);
    assert!(sizes[1..].iter().all(|size| *size == sizes[0]), "memory grew: {sizes:?}");
    // Even an input of 50 MB does not make the memory grow beyond this limit.
    assert!(sizes[0] < 40_000_000, "{sizes:?}");
}
