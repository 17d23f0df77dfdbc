//! The file format of a defect: a patch with a header.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Context, Failure, Result};

/// The folder of the defects.
pub const FOLDER: &str = "tests/defects";

/// A small defect: what it does, and which tests must notice it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// Its number, from 1.
    pub number: u32,
    /// Its name, from the file name.
    pub name: String,
    /// A one-sentence description.
    pub what: String,
    /// The kind of code that it changes.
    pub group: Group,
    /// The smallest run that notices it.
    pub tier: Tier,
    /// Tests that must all fail.
    pub tests: Vec<TestSelector>,
    /// What must be built before these tests.
    pub build: Option<Build>,
    /// The files that it changes.
    pub files: Vec<String>,
    /// The patch.
    pub path: PathBuf,
}

/// The kind of code that a defect changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Code that only the slow tests reach.
    Slow,
    /// Code whose tests are removed, merged, or moved to `--all`.
    Moved,
    /// Any other code.
    Other,
}

/// The run that notices a defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Unit tests, within seconds.
    Quick,
    /// `cargo xtask test`.
    Default,
    /// `cargo xtask test --all`.
    All,
}

/// What must be built from the changed sources before the tests run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// The npm package.
    Package,
    /// The site.
    Site,
    /// The wheel of the Python package, with an environment.
    Python,
}

/// A test, or several with a common path prefix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestSelector {
    /// How they are run.
    pub runner: Runner,
    /// Their path within the crate; ends with `::` if there may be several.
    pub path: String,
}

/// How tests are run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runner {
    /// The unit tests of a package's library.
    Lib(String),
    /// The unit tests of a package's programs.
    Bin(String),
    /// The examples in a package's documentation.
    Doc(String),
    /// The unit tests of a package's library, as WebAssembly in Node.js.
    Wasm(String),
    /// The integration suite.
    Suite,
    /// The integration suite, with its stores on a `PostgreSQL` server.
    Server,
}

impl Group {
    /// Its spelling in headers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Moved => "moved",
            Self::Other => "other",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Slow, Self::Moved, Self::Other].into_iter().find(|group| group.word() == word)
    }
}

impl Tier {
    /// Its spelling in headers and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Default => "default",
            Self::All => "all",
        }
    }

    /// Parses it.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Quick, Self::Default, Self::All].into_iter().find(|tier| tier.word() == word)
    }
}

impl Build {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "package" => Some(Self::Package),
            "site" => Some(Self::Site),
            "python" => Some(Self::Python),
            _ => None,
        }
    }
}

impl TestSelector {
    fn from_words(words: &str) -> Option<Self> {
        let words: Vec<&str> = words.split_whitespace().collect();
        let (runner, path) = match words[..] {
            ["suite", path] => (Runner::Suite, path),
            ["server", path] => (Runner::Server, path),
            [package, "lib", path] => (Runner::Lib(package.to_owned()), path),
            [package, "bin", path] => (Runner::Bin(package.to_owned()), path),
            [package, "doc", path] => (Runner::Doc(package.to_owned()), path),
            [package, "wasm", path] => (Runner::Wasm(package.to_owned()), path),
            _ => return None,
        };
        Some(Self { runner, path: path.to_owned() })
    }

    /// Its form in the header.
    pub fn shown(&self) -> String {
        let runner = match &self.runner {
            Runner::Lib(package) => format!("{package} lib"),
            Runner::Bin(package) => format!("{package} bin"),
            Runner::Doc(package) => format!("{package} doc"),
            Runner::Wasm(package) => format!("{package} wasm"),
            Runner::Suite => "suite".to_owned(),
            Runner::Server => "server".to_owned(),
        };
        format!("{runner} {}", self.path)
    }

    /// Whether the path names exactly one test. The full name of a documentation example contains its file and line.
    pub fn is_exact(&self) -> bool {
        !matches!(self.runner, Runner::Doc(_)) && !self.path.ends_with("::")
    }
}

impl Defect {
    /// Parses a patch file, whose name is the number, a hyphen and the defect's name.
    pub fn from_patch(path: &Path, text: &str) -> Result<Self> {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let wrong = |why: String| {
            Failure::new(format!("{FOLDER}/{file}: {why}"))
                .remedy(format!("{FOLDER}/README.md shows what the header of a defect looks like"))
        };
        let named = file.strip_suffix(".patch").and_then(|stem| stem.split_once('-'));
        let numbered = named.and_then(|(number, name)| Some((two_digits(number)?, name)));
        let Some((number, name)) = numbered else {
            return Err(wrong("the name is not two digits, `-`, a name and `.patch`".to_owned()));
        };
        let Some((header, diff)) = text.split_once("\n\ndiff --git ") else {
            return Err(wrong("no empty line and `diff --git` after the header".to_owned()));
        };
        let (mut what, mut group, mut tier, mut build) = (None, None, None, None);
        let mut tests = Vec::new();
        for line in header.lines() {
            let unknown = || wrong(format!("invalid header line: `{line}`"));
            let (key, value) = line.split_once(": ").ok_or_else(unknown)?;
            match key {
                "what" if what.is_none() => what = Some(value.to_owned()),
                "group" if group.is_none() => {
                    group = Some(Group::from_word(value).ok_or_else(unknown)?);
                }
                "tier" if tier.is_none() => {
                    tier = Some(Tier::from_word(value).ok_or_else(unknown)?);
                }
                "build" if build.is_none() => {
                    build = Some(Build::from_word(value).ok_or_else(unknown)?);
                }
                "test" => tests.push(TestSelector::from_words(value).ok_or_else(unknown)?),
                _ => return Err(unknown()),
            }
        }
        let missing = |key: &str| wrong(format!("the header has no line `{key}: …`"));
        if tests.is_empty() {
            return Err(missing("test"));
        }
        Ok(Self {
            number,
            name: name.to_owned(),
            what: what.ok_or_else(|| missing("what"))?,
            group: group.ok_or_else(|| missing("group"))?,
            tier: tier.ok_or_else(|| missing("tier"))?,
            tests,
            build,
            files: files_of(diff),
            path: path.to_owned(),
        })
    }

    /// Number and name, as in the file name.
    pub fn title(&self) -> String {
        format!("{:02} {}", self.number, self.name)
    }
}

/// All defects, by number.
pub fn read_defects(root: &Path) -> Result<Vec<Defect>> {
    let folder = root.join(FOLDER);
    let reading = format!("reading folder {}", folder.display());
    let mut defects = Vec::new();
    for entry in fs::read_dir(&folder).context(&reading)? {
        let path = entry.context(&reading)?.path();
        if path.extension().is_some_and(|end| end == "patch") {
            let text = fs::read_to_string(&path).context(format!("reading {}", path.display()))?;
            defects.push(Defect::from_patch(&path, &text)?);
        }
    }
    defects.sort_by_key(|defect| defect.number);
    Ok(defects)
}

fn two_digits(text: &str) -> Option<u32> {
    let plain = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// The files that a unified diff changes, by their old paths.
fn files_of(diff: &str) -> Vec<String> {
    let before = diff.lines().filter_map(|line| line.strip_prefix("--- a/"));
    before.map(|path| path.trim_end().to_owned()).collect()
}
