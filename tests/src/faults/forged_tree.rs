//! Folders of files in memory, and copies of them on disk in which single files are replaced for a reader.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

use super::forged_heavy::heavy_files;
use super::forged_kind::Changed;
use super::{Result, memory_folder};

/// The files of a folder by their paths.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// Reads every file below a folder.
pub fn read_tree(folder: &Path) -> Result<Tree> {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder)?.to_string_lossy().into_owned();
                tree.insert(name, fs::read(&path)?);
            }
        }
    }
    Ok(tree)
}

/// Replaced and removed files.
pub type Replaced = [(String, Option<Vec<u8>>)];

/// The tree with its replaced files.
pub fn with_replaced(tree: &Tree, files: &Replaced) -> Tree {
    let mut tree = tree.clone();
    for (name, bytes) in files {
        match bytes {
            Some(bytes) => drop(tree.insert(name.clone(), bytes.clone())),
            None => drop(tree.remove(name)),
        }
    }
    tree
}

/// A folder in which one file is replaced by each that could take long to read.
pub fn replaced_by_heavy(seed: usize, name: &str, file: &[u8]) -> Vec<Changed> {
    let replaced = |(bytes, what): (Vec<u8>, &str)| {
        let files = vec![(name.to_owned(), Some(bytes))];
        Changed { files, ..Changed::new(seed, Vec::new(), format!("{name}: {what}")) }
    };
    heavy_files(file).into_iter().map(replaced).collect()
}

/// Copies of one tree, of which each reader takes its own.
pub struct Copies {
    tree: Tree,
    free: Mutex<Vec<TempDir>>,
}

impl Copies {
    /// No copy yet.
    pub fn new(tree: Tree) -> Self {
        Self { tree, free: Mutex::new(Vec::new()) }
    }

    /// The true files.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Runs a reader on a copy with replaced files, and puts the true files back.
    pub fn with<T>(&self, files: &Replaced, read: impl FnOnce(&Path) -> T) -> io::Result<T> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let copy = if let Some(copy) = free {
            copy
        } else {
            let copy = memory_folder()?;
            write_tree(copy.path(), &self.tree)?;
            copy
        };
        for (name, bytes) in files {
            put(&copy.path().join(name), bytes.as_deref())?;
        }
        let found = read(copy.path());
        for (name, _) in files {
            put(&copy.path().join(name), self.tree.get(name).map(Vec::as_slice))?;
        }
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
        Ok(found)
    }
}

/// Writes every file of a tree.
pub fn write_tree(folder: &Path, tree: &Tree) -> io::Result<()> {
    tree.iter().try_for_each(|(name, bytes)| put(&folder.join(name), Some(bytes)))
}

fn put(path: &Path, bytes: Option<&[u8]>) -> io::Result<()> {
    match bytes {
        Some(bytes) => {
            fs::create_dir_all(path.parent().unwrap_or(path))?;
            fs::write(path, bytes)
        }
        None if path.exists() => fs::remove_file(path),
        None => Ok(()),
    }
}
