//! A file that is written next to its place, and takes it once it is whole: synced, then renamed. What stood there stays
//! until then, and what is unfinished is removed where it does not become whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How the name of an unfinished file ends.
const END: &str = ".part";

/// A file that is not yet in its place.
pub struct Unfinished {
    path: PathBuf,
    aside: PathBuf,
    file: File,
}

impl Unfinished {
    /// Begins a file that is to stand at `path`, where no other process writes. What one left that ended before is
    /// replaced.
    pub fn begin_alone(path: &Path) -> io::Result<Self> {
        let aside = named(path, END);
        Ok(Self { path: path.to_owned(), file: File::create(&aside)?, aside })
    }

    /// The same where other processes may write a file of this name at the same time. What those left that ended before is
    /// removed.
    pub fn begin(path: &Path) -> io::Result<Self> {
        static BEGUN: AtomicU64 = AtomicU64::new(0);
        remove_abandoned(path);
        loop {
            let number = BEGUN.fetch_add(1, Ordering::Relaxed);
            let aside = named(path, &format!(".{}-{number}{END}", std::process::id()));
            let file = match File::create_new(&aside) {
                // Left by an earlier process of the same number, which another process is about to remove.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            // Others see by the lock that its process is at work. Where files cannot be locked, nothing is removed.
            let _ = file.try_lock();
            if fs::symlink_metadata(&aside).is_ok() {
                return Ok(Self { path: path.to_owned(), aside, file });
            }
        }
    }

    /// The file.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Puts it in its place. Its name may not yet outlast a power cut: see [`sync_folder`].
    pub fn end(self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.aside, &self.path)
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // It is not there any more where it was renamed.
        let _ = fs::remove_file(&self.aside);
    }
}

/// Makes renames in a folder outlast a power cut.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

/// Removes all files of a folder that a process left unfinished; no process may write there now.
pub fn remove_unfinished_in(folder: &Path) -> io::Result<()> {
    for path in files_in(folder)? {
        if path.as_os_str().as_encoded_bytes().ends_with(END.as_bytes()) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Removes what processes that are not at work any more left of a file.
fn remove_abandoned(path: &Path) {
    let start = named(path, ".");
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    for found in files_in(folder.unwrap_or(Path::new("."))).unwrap_or_default() {
        let name = found.file_name().unwrap_or_default().as_encoded_bytes();
        let middle = name
            .strip_prefix(start.file_name().unwrap_or_default().as_encoded_bytes())
            .and_then(|rest| rest.strip_suffix(END.as_bytes()));
        let is_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
        if !middle.is_some_and(|middle| !middle.is_empty() && middle.iter().all(is_number)) {
            continue;
        }
        if File::open(&found).is_ok_and(|file| file.try_lock().is_ok()) {
            // Another process may have removed it.
            let _ = fs::remove_file(&found);
        }
    }
}

/// The plain files of a folder; links are none.
fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.push(entry.path());
        }
    }
    Ok(files)
}

fn named(path: &Path, end: &str) -> PathBuf {
    let mut named = path.to_owned();
    named.as_mut_os_string().push(end);
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = files_in(folder)
            .unwrap()
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_not_ended_leaves_what_was_there_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("day.parquet");
        for begin in [Unfinished::begin, Unfinished::begin_alone] {
            fs::write(&path, "before").unwrap();
            let mut file = begin(&path).unwrap();
            file.write_all(b"half").unwrap();
            assert_eq!(names(folder.path()).len(), 2);
            drop(file);
            assert_eq!(names(folder.path()), ["day.parquet"]);
            assert_eq!(fs::read(&path).unwrap(), b"before");
            let mut file = begin(&path).unwrap();
            file.write_all(b"whole").unwrap();
            file.end().unwrap();
            assert_eq!(names(folder.path()), ["day.parquet"]);
            assert_eq!(fs::read(&path).unwrap(), b"whole");
        }
    }

    #[test]
    fn what_ended_processes_left_is_removed_and_what_others_write_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("day.parquet");
        let at_work = Unfinished::begin(&path).unwrap();
        let name = at_work.aside.file_name().unwrap().to_str().unwrap().to_owned();
        // Not ours, by their names.
        let kept = ["day.parquet.x.part", "day.parquet.part", "other.parquet.1-0.part"];
        for left in kept.iter().chain(&["day.parquet.1-0.part", "day.parquet.99-12.part"]) {
            fs::write(folder.path().join(left), "half").unwrap();
        }
        Unfinished::begin(&path).unwrap().end().unwrap();
        let mut expected: Vec<&str> = kept.to_vec();
        expected.extend([name.as_str(), "day.parquet"]);
        expected.sort_unstable();
        assert_eq!(names(folder.path()), expected);
        at_work.end().unwrap();
        remove_unfinished_in(folder.path()).unwrap();
        assert_eq!(names(folder.path()), ["day.parquet"]);
    }
}
