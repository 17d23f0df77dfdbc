//! `cargo xtask dist --check`: two builds of the last commit in two folders give the same bytes, and everything runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::options::Options;
use super::{differences, signing, target_folder, trials};
use crate::failure::{Context, Failure, Result};
use crate::{process, setup, web, workspace};
use exitgap_tlog::{RELEASE_PROOF_FILE, SUMS_FILE, SUMS_NOTE_FILE};

/// The folders of the two copies. Their paths have different lengths.
const COPIES: [&str; 2] = ["one", "the-other-copy"];

/// A figure of the check: its key, its value, and the range that it must be in.
pub struct Figure {
    pub key: &'static str,
    pub value: f64,
    pub least: f64,
    pub most: f64,
}

/// Builds twice, compares, tries, and prints the figures.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    if !super::git(root, &["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
        eprintln!(
            "dist: the last commit is built; the uncommitted changes of this tree are not in it"
        );
    }
    let work = target_folder(root)?.join("dist-check");
    if work.exists() {
        fs::remove_dir_all(&work).context(format!("removing {}", work.display()))?;
    }
    fs::create_dir_all(&work).context(format!("creating {}", work.display()))?;
    let keys = Keys::make(&work)?;
    let mut releases = Vec::new();
    for (number, copy) in (1..).zip(COPIES) {
        releases.push(build_copy(root, &work, copy, number, &keys, options)?);
    }
    let [one, two] = [&releases[0], &releases[1]];
    let (artefacts, differing) = compare(one, two)?;
    for place in &differing {
        println!("  differs: {place}");
    }
    let mut figures = vec![
        Figure { key: "dist.artefacts", value: count(artefacts), least: 8.0, most: f64::MAX },
        Figure { key: "dist.differing", value: count(differing.len()), least: 0.0, most: 0.0 },
    ];
    if options.only_words().is_some() {
        figures[0].least = 1.0;
    }
    figures.extend(trials::try_all(one, &work, &keys)?);
    print(&figures, options.json);
    let outside: Vec<&str> =
        figures.iter().filter(|figure| !figure.is_within()).map(|figure| figure.key).collect();
    if outside.is_empty() {
        return Ok(());
    }
    let failure = Failure::new(format!("not as required: {}", outside.join(", ")));
    Err(match differing.first() {
        Some(place) => failure.remedy(format!("look first at {place}")),
        None => failure.remedy("`cargo tree` and `strip` show what makes a program large"),
    })
}

impl Figure {
    fn is_within(&self) -> bool {
        (self.least..=self.most).contains(&self.value)
    }
}

/// A number of files, which no float rounds.
fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::INFINITY, f64::from)
}

/// The keys of the check: they sign both releases and both logs.
pub struct Keys {
    files: [PathBuf; 2],
    /// The public halves, of the release's key and of the log's.
    pub public: [String; 2],
}

impl Keys {
    fn make(work: &Path) -> Result<Self> {
        let (mut files, mut public) = (Vec::new(), Vec::new());
        for name in ["releases", "release-log"] {
            let key = signing::throwaway_key(&format!("throwaway.example/{name}"))?;
            let file = work.join(format!("{name}.key"));
            signing::write_key(&file, &key)?;
            files.push(file);
            public.push(key.verifier().to_string());
        }
        let two = || Failure::new("a release needs two keys");
        let files = files.try_into().map_err(|_| two())?;
        Ok(Self { files, public: public.try_into().map_err(|_| two())? })
    }
}

/// Clones the last commit, makes a release in the clone, and returns the folder of the release.
fn build_copy(
    root: &Path,
    work: &Path,
    copy: &str,
    number: u32,
    keys: &Keys,
    options: &Options,
) -> Result<PathBuf> {
    let folder = work.join(copy);
    eprintln!("dist: build {number} of 2, in {}", folder.display());
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet", "--no-hardlinks"]).arg(root).arg(&folder);
    process::run(&mut clone, "git clone")?;
    // The tools are no part of the commit: each is pinned, and both builds use the same.
    let fixtures = setup::fixtures_folder(root);
    fs::create_dir_all(&fixtures).context(format!("creating {}", fixtures.display()))?;
    symlink(&fixtures, setup::fixtures_folder(&folder)).context("linking the tools")?;
    let release = work.join(format!("release-{number}"));
    let mut dist = workspace::cargo(&folder);
    dist.args(["xtask", "dist", "--out"]).arg(&release);
    dist.arg("--key").arg(&keys.files[0]).arg("--log-key").arg(&keys.files[1]);
    dist.arg("--log").arg(work.join(format!("log-{number}")));
    if let Some(only) = options.only_words() {
        dist.args(["--only", &only]);
    }
    // Standard output is for the figures. The copy has a target folder of its own.
    dist.env_remove("CARGO_TARGET_DIR").stdout(std::io::stderr());
    process::run(&mut dist, "cargo xtask dist")?;
    fs::remove_dir_all(&folder).context(format!("removing {}", folder.display()))?;
    Ok(release)
}

/// The number of artefacts of the first release, and for each file that differs the place.
fn compare(one: &Path, two: &Path) -> Result<(usize, Vec<String>)> {
    let (one, two) = (web::files(one)?, web::files(two)?);
    let own = [SUMS_FILE, SUMS_NOTE_FILE, RELEASE_PROOF_FILE];
    let artefacts = one.keys().filter(|name| !own.contains(&name.as_str())).count();
    Ok((artefacts, differing(&one, &two)))
}

fn differing(one: &BTreeMap<String, Vec<u8>>, two: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let names: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
    let place = |name: &String| match (one.get(name), two.get(name)) {
        (Some(one), Some(two)) => {
            differences::first(one, two).map(|place| format!("{name}: {place}"))
        }
        (one, _) => {
            let number = if one.is_some() { "second" } else { "first" };
            Some(format!("{name}: the {number} build did not make it"))
        }
    };
    names.into_iter().filter_map(place).collect()
}

/// Prints the figures, in JSON with at most one decimal.
fn print(figures: &[Figure], json: bool) {
    let shown = |value: f64| {
        let text = format!("{value:.1}");
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    if json {
        let fields: Vec<String> = figures
            .iter()
            .map(|figure| format!("\"{}\":{}", figure.key, shown(figure.value)))
            .collect();
        println!("{{{}}}", fields.join(","));
        return;
    }
    for figure in figures {
        println!("{:<16} {:>8}", figure.key, shown(figure.value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_differs_or_is_absent_is_named() {
        let of = |files: &[(&str, &str)]| {
            files
                .iter()
                .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
                .collect()
        };
        let one = of(&[("a", "same"), ("b", "one"), ("c", "")]);
        let two = of(&[("a", "same"), ("b", "own"), ("d", "")]);
        let found = differing(&one, &two);
        let expected = [
            "b: byte 1 of 3 and 3",
            "c: the second build did not make it",
            "d: the first build did not make it",
        ];
        assert_eq!(found, expected);
        assert_eq!(differing(&one, &one), Vec::<String>::new());
    }

    #[test]
    fn a_figure_outside_its_range_is_noticed() {
        let figure = |value| Figure { key: "k", value, least: 8.0, most: 20.0 };
        assert!(figure(8.0).is_within() && figure(20.0).is_within());
        assert!(!figure(7.9).is_within() && !figure(20.1).is_within());
        assert!(count(3) < 3.5 && count(3) > 2.5);
    }
}
