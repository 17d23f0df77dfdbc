//! What `verify --api` keeps between runs: small texts, each a file of one folder.

use std::cell::RefCell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use exitgap_client::Storage;

use crate::failure::Failure;
use crate::source::unreadable;

/// The most bytes of a kept text: more than any checkpoint or list of keys has.
const MAX_BYTES: usize = 64 << 10;

/// A folder of kept texts. What cannot be read must not count as never seen, so the first error
/// is remembered, and nothing is written after it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    failed: RefCell<Option<String>>,
}

impl Folder {
    /// Opens the folder, which is made where it is absent.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(|error| {
            unreadable(format!("kept {}: {error}", path.display()))
                .hint("--kept names a folder of this program's own")
        })?;
        Ok(Self { path: path.to_owned(), failed: RefCell::default() })
    }

    /// The first error, if there was one.
    pub fn end(self) -> Result<(), Failure> {
        match self.failed.into_inner() {
            Some(why) => Err(unreadable(why).into()),
            None => Ok(()),
        }
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

    fn fail(&self, path: &Path, error: &io::Error) {
        let why = format!("kept {}: {error}", path.display());
        self.failed.borrow_mut().get_or_insert(why);
    }

    /// In whole or not at all.
    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        let new = path.with_added_extension("new");
        let mut file = fs::File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        fs::File::open(&self.path)?.sync_all()
    }
}

impl Storage for Folder {
    fn get(&self, name: &str) -> Option<String> {
        let path = self.file(name);
        match crate::source::read(&path, MAX_BYTES) {
            Ok(bytes) => {
                let text = String::from_utf8(bytes).map_err(io::Error::other);
                text.map_err(|error| self.fail(&path, &error)).ok()
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.fail(&path, &error);
                None
            }
        }
    }

    fn put(&self, name: &str, text: &str) {
        if self.failed.borrow().is_some() {
            return;
        }
        let path = self.file(name);
        if let Err(error) = self.write(&path, text) {
            self.fail(&path, &error);
        }
    }
}
