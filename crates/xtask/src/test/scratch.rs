//! The folder for the tests' temporary files: in memory, if the machine has a file system there.
//!
//! A store waits for the disk with every slot that it seals. A test that seals fifteen hundred slots takes a minute on
//! a disk and four seconds in memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An in-memory file system, on Linux.
const MEMORY: &str = "/dev/shm";

/// How much space must be free there.
const LEAST_FREE_BYTES: u64 = 4_000_000_000;

/// The prefix of a folder's name; the process id follows, and the number of folders the process created before.
const NAME: &str = "exitgap-";

/// Number of folders that this process created.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// A folder that is removed when it is dropped.
#[derive(Debug)]
pub struct Scratch(Option<PathBuf>);

impl Scratch {
    /// A folder in memory, or none if there is not enough space.
    pub fn new() -> Self {
        let memory = Path::new(MEMORY);
        if has_room(memory) { Self::below(memory) } else { Self(None) }
    }

    /// A new folder inside this one.
    fn below(memory: &Path) -> Self {
        remove_abandoned(memory);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = memory.join(format!("{NAME}{}-{number}", std::process::id()));
        Self(fs::create_dir_all(&folder).is_ok().then_some(folder))
    }

    /// Makes a program and its child processes put their temporary files there.
    pub fn give(&self, command: &mut Command) {
        if let Some(folder) = &self.0 {
            command.env("TMPDIR", folder);
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

fn has_room(memory: &Path) -> bool {
    let mut command = Command::new("df");
    command.args(["--block-size=1", "--output=fstype,avail"]).arg(memory);
    let output = command.output().ok().filter(|output| output.status.success());
    output.is_some_and(|output| is_enough(&String::from_utf8_lossy(&output.stdout)))
}

/// Whether the output of `df` shows an in-memory file system with enough space.
fn is_enough(text: &str) -> bool {
    let last = text.lines().last().unwrap_or_default();
    let mut words = last.split_whitespace();
    let is_memory = words.next() == Some("tmpfs");
    let free = words.next().and_then(|bytes| bytes.parse::<u64>().ok());
    is_memory && free.is_some_and(|free| free >= LEAST_FREE_BYTES)
}

/// Removes the folders of runs that were killed.
fn remove_abandoned(memory: &Path) {
    for entry in fs::read_dir(memory).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(NAME).and_then(|rest| rest.split_once('-'));
        let process = process.and_then(|(process, _)| process.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_only_where_there_is_room() {
        assert!(is_enough("Type       Avail\ntmpfs 25000000000\n"));
        assert!(!is_enough("Type       Avail\ntmpfs 64000000\n"));
        assert!(!is_enough("Type       Avail\next4 25000000000\n"));
        assert!(!is_enough(""));
    }

    #[test]
    fn the_folder_is_given_and_is_gone_with_its_owner() {
        let parent = std::env::temp_dir().join(format!("scratch-test-{}", std::process::id()));
        fs::create_dir_all(&parent).unwrap();
        let abandoned = parent.join(format!("{NAME}4294967295-0"));
        fs::create_dir(&abandoned).unwrap();
        let scratch = Scratch::below(&parent);
        assert!(!abandoned.exists(), "a killed run's folder is still there");
        let folder = scratch.0.clone().unwrap();
        assert!(folder.is_dir());
        let mut command = Command::new("printenv");
        scratch.give(command.arg("TMPDIR"));
        let printed = command.output().unwrap().stdout;
        assert_eq!(String::from_utf8_lossy(&printed).trim(), folder.to_string_lossy());
        drop(scratch);
        assert!(!folder.exists());
        fs::remove_dir(&parent).unwrap();
    }
}
