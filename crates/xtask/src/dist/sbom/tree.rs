//! The packages that a product is compiled from, from `cargo tree` and the lock file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::failure::Result;
use crate::{process, workspace};

/// A package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub licence: String,
    pub repository: String,
    /// Whether it is in this repository.
    pub is_ours: bool,
}

impl Package {
    /// Its package URL.
    pub fn url(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }
}

/// The packages of a product, and which depend on which, all by their URLs.
#[derive(Debug, Default)]
pub struct Packages {
    pub by_url: BTreeMap<String, Package>,
    pub edges: BTreeMap<String, BTreeSet<String>>,
    /// The packages that nothing in the product depends on.
    pub roots: Vec<String>,
}

impl Packages {
    /// Reads them. What is only used while building, such as macros, is not compiled into the product.
    pub fn of(root: &Path, manifest: &str, packages: &[&str], target: &str) -> Result<Self> {
        let mut tree = workspace::cargo(root);
        tree.args(["tree", "--locked", "--prefix", "depth", "--edges", "normal,no-proc-macro"]);
        tree.args(["--format", "{p}\t{l}\t{r}", "--target", target, "--manifest-path", manifest]);
        tree.args(packages.iter().flat_map(|package| ["--package", package]));
        Ok(Self::from_tree(&process::output(&mut tree, "cargo tree")?))
    }

    /// The output of `cargo tree`: depth, name, version, source; licence; repository. A package that was listed before
    /// is marked with `(*)`, and its dependencies are not repeated.
    pub fn from_tree(text: &str) -> Self {
        let mut found = Self::default();
        // The URL at each depth above the current line.
        let mut above: Vec<String> = Vec::new();
        for line in text.lines() {
            let mut fields = line.trim_end_matches(" (*)").split('\t');
            let (head, licence, repository) = (fields.next(), fields.next(), fields.next());
            let head = head.unwrap_or_default();
            let digits = head.find(|c: char| !c.is_ascii_digit()).unwrap_or(head.len());
            let (depth, head) = head.split_at(digits);
            let mut words = head.split(' ');
            let (Ok(depth), Some(name), Some(version)) =
                (depth.parse::<usize>(), words.next(), words.next())
            else {
                continue;
            };
            let package = Package {
                name: name.to_owned(),
                version: version.trim_start_matches('v').to_owned(),
                licence: licence.unwrap_or_default().to_owned(),
                repository: repository.unwrap_or_default().to_owned(),
                is_ours: words.next().is_some_and(|source| source.starts_with("(/")),
            };
            let url = package.url();
            above.truncate(depth);
            match above.last() {
                Some(parent) => {
                    found.edges.entry(parent.clone()).or_default().insert(url.clone());
                }
                None => found.roots.push(url.clone()),
            }
            found.edges.entry(url.clone()).or_default();
            found.by_url.insert(url.clone(), package);
            above.push(url);
        }
        found
    }
}

/// The checksums in a lock file, by `name version`.
pub fn checksums(lock: &str) -> BTreeMap<String, String> {
    let value = |block: &str, key: &str| {
        let begin = format!("{key} = \"");
        block
            .lines()
            .find_map(|line| Some(line.strip_prefix(&begin)?.strip_suffix('"')?.to_owned()))
    };
    let blocks = lock.split("[[package]]\n").skip(1);
    blocks
        .filter_map(|block| {
            let (name, version) = (value(block, "name")?, value(block, "version")?);
            Some((format!("{name} {version}"), value(block, "checksum")?))
        })
        .collect()
}
