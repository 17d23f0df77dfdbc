//! A simulated disk that keeps synced data, and any part of the rest.
//!
//! It guarantees no more than POSIX: syncing a file makes its content durable, syncing a folder its names. After a
//! power failure everything else may be gone or partly there: any sectors of a write, and any number of a folder's
//! first changes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::Result;
use super::trace::Op;
use crate::devchain::Rng;

/// The unit that a disk writes completely or not at all.
const SECTOR: u64 = 512;

/// Which unsynced changes survive a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// All of them, as after a kill.
    Everything,
    /// None of them.
    Nothing,
    /// The first changes of each file and folder, the last of these partly.
    Beginning,
    /// Any changes, some of them partly.
    Any,
}

/// A change of a file's content.
#[derive(Debug, Clone)]
enum Change {
    Write { offset: u64, bytes: Vec<u8> },
    Truncate(u64),
}

/// A change of a folder's names.
#[derive(Debug, Clone)]
enum Naming {
    Link(OsString, Node),
    Unlink(OsString),
    Rename(OsString, OsString),
}

/// The target of a name: a file by its number, or the folder with this path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    File(usize),
    Folder,
}

type Names = BTreeMap<OsString, Node>;

#[derive(Debug, Default, Clone)]
struct File {
    synced: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Debug, Default, Clone)]
struct Folder {
    synced: Names,
    current: Names,
    pending: Vec<Naming>,
}

/// The files in a folder, as a process sees them and as they would survive a power failure.
#[derive(Debug, Clone)]
pub struct Disk {
    root: PathBuf,
    files: Vec<File>,
    folders: BTreeMap<PathBuf, Folder>,
    syncs: bool,
}

impl Disk {
    /// A disk with the current content of `root`, all of it synced. Without `syncs`, it ignores all later syncs.
    pub fn of(root: &Path, syncs: bool) -> Result<Self> {
        let mut disk =
            Self { root: root.to_owned(), files: Vec::new(), folders: BTreeMap::new(), syncs };
        disk.read_folder(root)?;
        Ok(disk)
    }

    fn read_folder(&mut self, path: &Path) -> Result<()> {
        let mut names = Names::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if is_volatile(&entry.path()) {
                continue;
            }
            let node = if entry.file_type()?.is_dir() {
                self.read_folder(&entry.path())?;
                Node::Folder
            } else {
                let synced = fs::read(entry.path())?;
                self.files.push(File { synced, pending: Vec::new() });
                Node::File(self.files.len() - 1)
            };
            names.insert(entry.file_name(), node);
        }
        let folder = Folder { synced: names.clone(), current: names, pending: Vec::new() };
        self.folders.insert(path.to_owned(), folder);
        Ok(())
    }

    /// Applies an operation of the process.
    pub fn apply(&mut self, op: &Op) -> Result<()> {
        match op {
            Op::Said(_) => {}
            Op::Create { path, .. }
            | Op::Write { path, .. }
            | Op::Truncate { path, .. }
            | Op::Remove(path)
            | Op::Rename { to: path, .. }
                if is_volatile(path) => {}
            Op::Create { path, empty } => match self.node(path)? {
                Some(Node::File(file)) if *empty => {
                    self.files[file].pending.push(Change::Truncate(0));
                }
                Some(_) => {}
                None => {
                    self.files.push(File::default());
                    let node = Node::File(self.files.len() - 1);
                    self.rename(path, |name| Naming::Link(name, node))?;
                }
            },
            Op::Write { path, offset, bytes } => {
                let change = Change::Write { offset: *offset, bytes: bytes.clone() };
                self.file(path)?.pending.push(change);
            }
            Op::Truncate { path, length } => {
                self.file(path)?.pending.push(Change::Truncate(*length));
            }
            Op::Sync(path) => self.sync(path)?,
            Op::Rename { from, to } => {
                if from.parent() != to.parent() {
                    return Err("a rename from one folder to another".into());
                }
                let from = from.file_name().ok_or("a rename of nothing")?.to_owned();
                self.rename(to, |to| Naming::Rename(from, to))?;
            }
            Op::Remove(path) => self.rename(path, Naming::Unlink)?,
            Op::MakeFolder(path) => {
                self.folders.insert(path.clone(), Folder::default());
                self.rename(path, |name| Naming::Link(name, Node::Folder))?;
            }
        }
        Ok(())
    }

    fn rename(&mut self, path: &Path, naming: impl FnOnce(OsString) -> Naming) -> Result<()> {
        let name = path.file_name().ok_or("a path without a name")?.to_owned();
        let folder = path.parent().and_then(|parent| self.folders.get_mut(parent));
        let folder = folder.ok_or_else(|| format!("no folder of {}", path.display()))?;
        let naming = naming(name);
        naming.apply(&mut folder.current);
        folder.pending.push(naming);
        Ok(())
    }

    fn sync(&mut self, path: &Path) -> Result<()> {
        if !self.syncs || is_volatile(path) {
            return Ok(());
        }
        if let Some(folder) = self.folders.get_mut(path) {
            folder.synced = folder.current.clone();
            folder.pending.clear();
            return Ok(());
        }
        let file = self.file(path)?;
        for change in std::mem::take(&mut file.pending) {
            change.apply(&mut file.synced, None);
        }
        Ok(())
    }

    fn node(&self, path: &Path) -> Result<Option<Node>> {
        let folder = path.parent().and_then(|parent| self.folders.get(parent));
        let folder = folder.ok_or_else(|| format!("no folder of {}", path.display()))?;
        Ok(path.file_name().and_then(|name| folder.current.get(name)).copied())
    }

    fn file(&mut self, path: &Path) -> Result<&mut File> {
        match self.node(path)? {
            Some(Node::File(file)) => Ok(&mut self.files[file]),
            _ => Err(format!("{} is no file", path.display()).into()),
        }
    }

    /// Simulates a power failure, and writes the surviving files to `target`, an empty folder.
    pub fn cut(&self, survival: Survival, rng: &mut Rng, target: &Path) -> Result<()> {
        self.write_folder(&self.root, target, survival, rng)
    }

    fn write_folder(
        &self,
        path: &Path,
        target: &Path,
        survival: Survival,
        rng: &mut Rng,
    ) -> Result<()> {
        let folder = self.folders.get(path).ok_or("a folder that was never made")?;
        let mut names = folder.synced.clone();
        let kept = match survival {
            Survival::Everything => folder.pending.len(),
            Survival::Nothing => 0,
            Survival::Beginning | Survival::Any => beginning(folder.pending.len(), rng),
        };
        for naming in &folder.pending[..kept] {
            naming.apply(&mut names);
        }
        for (name, node) in names {
            let (path, target) = (path.join(&name), target.join(&name));
            match node {
                Node::Folder => {
                    fs::create_dir(&target)?;
                    self.write_folder(&path, &target, survival, rng)?;
                }
                Node::File(file) => fs::write(target, self.files[file].found(survival, rng))?,
            }
        }
        Ok(())
    }
}

impl File {
    /// The content after a power failure.
    fn found(&self, survival: Survival, rng: &mut Rng) -> Vec<u8> {
        let mut content = self.synced.clone();
        let kept = match survival {
            Survival::Everything | Survival::Any => self.pending.len(),
            Survival::Nothing => 0,
            Survival::Beginning => beginning(self.pending.len(), rng),
        };
        for (index, change) in self.pending[..kept].iter().enumerate() {
            match survival {
                Survival::Any if rng.once_in(2) => {}
                Survival::Any if rng.once_in(3) => change.apply(&mut content, Some(rng)),
                Survival::Beginning if index + 1 == kept => change.apply(&mut content, Some(rng)),
                _ => change.apply(&mut content, None),
            }
        }
        content
    }
}

impl Change {
    /// Applies the change to the content: completely, or only some of its sectors if it is `torn`.
    fn apply(&self, content: &mut Vec<u8>, mut torn: Option<&mut Rng>) {
        let index = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let (offset, bytes) = match self {
            Self::Truncate(length) => return content.resize(index(*length), 0),
            Self::Write { offset, bytes } => (*offset, bytes),
        };
        let end = offset + bytes.len() as u64;
        let mut from = offset;
        while from < end {
            let to = end.min((from / SECTOR + 1) * SECTOR);
            if torn.as_mut().is_none_or(|rng| rng.once_in(2)) {
                content.resize(content.len().max(index(to)), 0);
                let part = index(from - offset)..index(to - offset);
                content[index(from)..index(to)].copy_from_slice(&bytes[part]);
            }
            from = to;
        }
    }
}

impl Naming {
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Link(name, node) => {
                names.insert(name.clone(), *node);
            }
            Self::Unlink(name) => {
                names.remove(name);
            }
            Self::Rename(from, to) => {
                if let Some(node) = names.remove(from) {
                    names.insert(to.clone(), node);
                }
            }
        }
    }
}

/// A number from none to all of them.
fn beginning(length: usize, rng: &mut Rng) -> usize {
    usize::try_from(rng.between(0, length as u64)).unwrap_or(length)
}

/// Whether this is `SQLite`'s shared memory file, which is rebuilt from the write-ahead log.
fn is_volatile(path: &Path) -> bool {
    path.to_string_lossy().ends_with("-shm")
}

/// Every file in a folder with its content, except shared memory files.
pub fn files(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if !is_volatile(&path) {
                found.insert(path.strip_prefix(folder)?.to_owned(), fs::read(&path)?);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_synced_stays_and_the_rest_may_go() {
        let [root, target] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let mut disk = Disk::of(root.path(), true).unwrap();
        let [a, b] = ["a", "b"].map(|name| root.path().join(name));
        let write = |path: &Path, bytes: &[u8]| Op::Write {
            path: path.to_owned(),
            offset: 0,
            bytes: bytes.to_vec(),
        };
        for op in [
            Op::Create { path: a.clone(), empty: true },
            write(&a, &[1; 2_000]),
            Op::Sync(a.clone()),
            Op::Sync(root.path().to_owned()),
            write(&a, &[2; 2_000]),
            Op::Create { path: b.clone(), empty: true },
            write(&b, b"b"),
            Op::Sync(b.clone()),
        ] {
            disk.apply(&op).unwrap();
        }
        let found = |survival, seed| {
            fs::remove_dir_all(target.path()).unwrap();
            fs::create_dir(target.path()).unwrap();
            disk.cut(survival, &mut Rng::new(seed), target.path()).unwrap();
            files(target.path()).unwrap()
        };
        let nothing = found(Survival::Nothing, 1);
        assert_eq!(nothing, BTreeMap::from([("a".into(), vec![1; 2_000])]));
        let everything = found(Survival::Everything, 1);
        assert_eq!(everything[Path::new("a")], [2; 2_000]);
        assert_eq!(everything[Path::new("b")], *b"b");
        let any: Vec<_> = (0..40).map(|seed| found(Survival::Any, seed)).collect();
        let torn = |content: &Vec<u8>| content.contains(&1) && content.contains(&2);
        assert!(any.iter().any(|files| torn(&files[Path::new("a")])), "a write is torn");
        assert!(any.iter().any(|files| files.len() == 1), "a synced file's name is gone");
        assert!(any.iter().all(|files| files[Path::new("a")].len() == 2_000));
    }
}
