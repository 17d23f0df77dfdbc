//! A separate checkout in which defects are applied: the developer's files are never changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::patch::{Build, Defect};
use crate::failure::{Context, Failure, Result};
use crate::workspace::Purpose;
use crate::{pkg, py, setup, web};

/// Build output next to the sources that the tests need.
const BUILT: [&str; 2] = ["target/pages", "pkg/dist"];

/// The environment of the Python package. It contains the wheel, so the tree needs its own.
const PYTHON: &str = "exitgap-python";

/// A git worktree in `target/defects`, kept between runs so that builds are incremental.
pub struct Tree {
    /// The developer's checkout.
    root: PathBuf,
    /// The worktree.
    pub path: PathBuf,
    /// Cargo's target folder for it.
    pub target: PathBuf,
    /// The commit to which defects are applied.
    commit: String,
}

impl Tree {
    /// Creates the worktree, or updates the existing one to the newest commit. Fails if the developer's checkout has
    /// uncommitted changes, because they would not be tested.
    pub fn for_root(root: &Path) -> Result<Self> {
        require_clean(root)?;
        let commit = said(root, &["rev-parse", "HEAD"])?;
        let folder = root.join("target/defects");
        let (path, target) = (folder.join("tree"), folder.join("target"));
        if !path.join(".git").is_file() {
            fs::create_dir_all(&folder).context(format!("creating {}", folder.display()))?;
            // A worktree whose folder was removed is still registered.
            said(root, &["worktree", "prune"])?;
            let place = path.to_string_lossy().into_owned();
            said(root, &["worktree", "add", "--quiet", "--detach", &place, &commit])?;
        }
        let tree = Self { root: root.to_owned(), path, target, commit };
        tree.reset()?;
        tree.link_fixtures()?;
        Ok(tree)
    }

    /// Undoes all changes.
    pub fn reset(&self) -> Result<()> {
        // Without this file git would operate on the developer's checkout.
        if !self.path.join(".git").is_file() {
            let what = format!("{} is not a git worktree", self.path.display());
            return Err(Failure::new(what).remedy("remove target/defects and run this again"));
        }
        said(&self.path, &["checkout", "--quiet", "--force", "--detach", &self.commit])?;
        said(&self.path, &["clean", "--quiet", "--force", "-d"])?;
        self.link_built()
    }

    /// Applies a defect. If that fails, git's message names the file that was changed or moved.
    pub fn apply(&self, defect: &Defect) -> Result<()> {
        let patch = defect.path.to_string_lossy().into_owned();
        applies(&self.path, defect)?;
        said(&self.path, &["apply", &patch]).map(drop)
    }

    /// Builds what the tests need from the sources of the tree.
    pub fn build(&self, build: Build) -> Result<()> {
        match build {
            Build::Package => {
                remove(&self.path.join("pkg/dist"))?;
                pkg::build(&self.path, Purpose::Shown).map(drop)
            }
            Build::Site => {
                for built in BUILT {
                    remove(&self.path.join(built))?;
                }
                web::build_plain(&self.path, Purpose::Shown).map(drop)
            }
            Build::Python => py::install_wheel(&self.path).map(drop),
        }
    }

    /// Links the downloaded fixtures into the tree, except the environment that contains build output.
    fn link_fixtures(&self) -> Result<()> {
        let (from, to) = (setup::fixtures_folder(&self.root), setup::fixtures_folder(&self.path));
        fs::create_dir_all(&to).context(format!("creating {}", to.display()))?;
        for entry in fs::read_dir(&from).into_iter().flatten().flatten() {
            let place = to.join(entry.file_name());
            if entry.file_name() != PYTHON && !place.exists() {
                link(&entry.path(), &place)?;
            }
        }
        Ok(())
    }

    /// Links the site and the package of the developer's checkout, unless a defect builds its own.
    fn link_built(&self) -> Result<()> {
        for built in BUILT {
            let (from, place) = (self.root.join(built), self.path.join(built));
            remove(&place)?;
            if from.is_dir() {
                let folder = place.parent().unwrap_or(&self.path);
                fs::create_dir_all(folder).context(format!("creating {}", folder.display()))?;
                link(&from, &place)?;
            }
        }
        Ok(())
    }
}

/// Requires that a defect applies to a checkout.
pub fn applies(checkout: &Path, defect: &Defect) -> Result<()> {
    let patch = defect.path.to_string_lossy().into_owned();
    let output = git(checkout, &["apply", "--check", &patch])?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let named = defect.files.iter().filter(|file| words.contains(file.as_str()));
    let named: Vec<&str> = named.map(String::as_str).collect();
    let named = if named.is_empty() { "git cannot read it".to_owned() } else { named.join(", ") };
    Err(Failure::new(format!("does not apply: {named} was changed or moved")).remedy(
        "make the same change where the code is now, and create the patch again with `git diff`",
    ))
}

fn require_clean(root: &Path) -> Result<()> {
    let changed = said(root, &["status", "--porcelain"])?;
    let Some(first) = changed.lines().next() else { return Ok(()) };
    let what =
        format!("the checkout has changes that are not committed, such as `{}`", first.trim());
    Err(Failure::new(what).remedy("commit or stash them: defects are applied to the last commit"))
}

fn git(folder: &Path, arguments: &[&str]) -> Result<Output> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).env("LC_ALL", "C").output().context("starting git")
}

/// The output of a git command; fails if git fails.
fn said(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = git(folder, arguments)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("git {} failed: {}", arguments.join(" "), words.trim())))
}

fn link(from: &Path, place: &Path) -> Result<()> {
    let linked = Command::new("ln").arg("-sfn").arg(from).arg(place).status();
    let linked = linked.context("starting ln")?;
    if linked.success() {
        return Ok(());
    }
    Err(Failure::new(format!("{} could not be linked to {}", place.display(), from.display())))
}

/// Removes a folder, or a link to one, if it exists.
fn remove(place: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(place) {
        Err(_) => return Ok(()),
        Ok(found) if found.is_dir() => fs::remove_dir_all(place),
        Ok(_) => fs::remove_file(place),
    };
    removed.context(format!("removing {}", place.display()))
}
