//! Fixtures that one test creates and the others reuse.
//!
//! A fixture is a file or a folder in `fixtures/`, next to the built programs. The first test that needs it creates it,
//! under a lock, in a temporary place that is then renamed: so a fixture is complete or absent, even when tests run as
//! several processes. Its folder is named after the running program's own file, so every new build creates its fixtures
//! again, and the fixtures of earlier builds are removed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use crate::fixtures;

/// A fixture's place, locked until it is created or found.
#[derive(Debug)]
pub struct Fixture {
    /// The path of the finished fixture.
    pub path: PathBuf,
    /// The path at which to create it; `None` if it already exists.
    pub unfinished: Option<PathBuf>,
    _lock: File,
}

impl Fixture {
    /// Waits until no other process is creating the fixture with this name, which is a file name.
    pub fn lock(name: &str) -> io::Result<Self> {
        let folder = folder()?;
        let lock = File::create(folder.join(format!("{name}.lock")))?;
        lock.lock()?;
        let path = folder.join(name);
        let unfinished = folder.join(format!("{name}.unfinished"));
        if path.exists() {
            return Ok(Self { path, unfinished: None, _lock: lock });
        }
        // Left by a process that was ended.
        if unfinished.is_dir() {
            fs::remove_dir_all(&unfinished)?;
        }
        Ok(Self { path, unfinished: Some(unfinished), _lock: lock })
    }

    /// Gives the fixture its final name, so that others find it.
    pub fn finish(self) -> io::Result<PathBuf> {
        if let Some(unfinished) = &self.unfinished {
            fs::rename(unfinished, &self.path)?;
        }
        Ok(self.path)
    }
}

/// The folder of this build's fixtures.
fn folder() -> io::Result<&'static Path> {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    if let Some(folder) = FOLDER.get() {
        return Ok(folder);
    }
    let program = std::env::current_exe()?;
    let file = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // The downloaded nodes and contracts count, too: a new setup changes the folder.
    let build = changed_at(&program)? ^ changed_at(&fixtures::folder()).unwrap_or(0);
    let all = program.parent().unwrap_or(Path::new(".")).join("fixtures");
    let folder = all.join(format!("{file}-{build:x}"));
    if !folder.is_dir() {
        fs::create_dir_all(&folder)?;
        for other in fs::read_dir(&all)? {
            let other = other?.path();
            let name = other.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with(&format!("{file}-")) && other != folder {
                // Another process may be removing it at the same time.
                let _ = fs::remove_dir_all(other);
            }
        }
    }
    Ok(FOLDER.get_or_init(|| folder))
}

/// When a file or folder was last changed, in nanoseconds.
fn changed_at(path: &Path) -> io::Result<u128> {
    let changed = fs::metadata(path)?.modified()?;
    Ok(changed.duration_since(UNIX_EPOCH).map_or(0, |age| age.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixture_is_made_once_and_only_a_finished_one_is_found() {
        let name = format!("of-a-test-{}", std::process::id());
        let abandoned = Fixture::lock(&name).unwrap();
        let unfinished = abandoned.unfinished.clone().unwrap();
        fs::create_dir(&unfinished).unwrap();
        fs::write(unfinished.join("half"), "").unwrap();
        drop(abandoned);

        let fixture = Fixture::lock(&name).unwrap();
        let unfinished = fixture.unfinished.clone().expect("what was not finished does not count");
        assert!(!unfinished.exists());
        fs::create_dir(&unfinished).unwrap();
        let path = fixture.finish().unwrap();

        let found = Fixture::lock(&name).unwrap();
        assert_eq!((found.unfinished.as_ref(), &found.path), (None, &path));
        fs::remove_dir(path).unwrap();
    }
}
