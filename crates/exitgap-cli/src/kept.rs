//! The data that `verify --api` stores between runs: short texts, each in a file of one folder.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use exitgap_client::Storage;
use exitgap_core::file_errors::explained;
use exitgap_store::write_output;

use crate::failure::Failure;
use crate::source::unreadable;

/// Maximum size of a stored text: larger than any checkpoint or list of keys.
const MAX_BYTES: usize = 64 << 10;

/// A folder of stored texts. Unreadable data must not count as never seen, so the first error is remembered and nothing
/// is written after it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    unread: RefCell<Option<String>>,
    unwritten: RefCell<Option<String>>,
}

impl Folder {
    /// Opens the folder, and creates it if needed.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(|error| {
            unreadable(format!("kept {}: {}", path.display(), explained(&error)))
                .hint("--kept takes a folder used only by this program")
        })?;
        Ok(Self {
            path: path.to_owned(),
            unread: RefCell::default(),
            unwritten: RefCell::default(),
        })
    }

    /// An error if something could not be read; otherwise whether everything could be written.
    pub fn end(self) -> Result<Result<(), Failure>, Failure> {
        let failed = |why: Option<String>| match why {
            Some(why) => Err(Failure::from(unreadable(why))),
            None => Ok(()),
        };
        failed(self.unread.into_inner())?;
        Ok(failed(self.unwritten.into_inner()))
    }

    /// The file of a name: letters, digits, dots and dashes as they are, every other byte in hex.
    fn file(&self, name: &str) -> PathBuf {
        let mut file = String::new();
        for byte in name.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' => file.push(byte.into()),
                b' ' => file.push('_'),
                other => file.extend(format!("%{other:02x}").chars()),
            }
        }
        self.path.join(file)
    }
}

impl Storage for Folder {
    fn get(&self, name: &str) -> Option<String> {
        let path = self.file(name);
        match text_of(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => found.map_err(|error| remember(&self.unread, &path, &error)).ok(),
        }
    }

    fn put(&self, name: &str, text: &str) {
        if self.unread.borrow().is_some() || self.unwritten.borrow().is_some() {
            return;
        }
        let path = self.file(name);
        if let Err(error) = write_output(&path, text.as_bytes()) {
            remember(&self.unwritten, &path, &error);
        }
    }
}

/// Reads a regular file. Reading anything else could block forever.
fn text_of(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    String::from_utf8(crate::source::read_limited(path, MAX_BYTES)?).map_err(io::Error::other)
}

/// Keeps only the first error.
fn remember(failed: &RefCell<Option<String>>, path: &Path, error: &io::Error) {
    failed
        .borrow_mut()
        .get_or_insert_with(|| format!("kept {}: {}", path.display(), explained(error)));
}
