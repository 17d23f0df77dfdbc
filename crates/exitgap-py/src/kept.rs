//! What a client has seen of its service's log: texts by name, in memory or in a file.
//!
//! The file is one JSON object of texts and is always replaced completely. The npm package's `fileStorage` has the same
//! format, so either package can read the other's file. Only one process at a time may write it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use exitgap_client::Storage;

use crate::errors::ErrorDocument;

/// Maximum size of the file: more than the checkpoints of a thousand logs.
const MAX_BYTES: u64 = 1 << 20;

type Texts = BTreeMap<String, String>;

/// The storage of texts.
#[derive(Debug)]
pub struct Kept {
    /// The file; `None`: the data lasts as long as the client.
    path: Option<PathBuf>,
    /// The texts, if there is no file. Otherwise only the lock for reading and writing the file.
    texts: Mutex<Texts>,
}

impl Kept {
    /// Stores in this file, or in memory.
    pub fn new(path: Option<PathBuf>) -> Self {
        Self { path, texts: Mutex::default() }
    }

    /// The stored texts, for one call. Unreadable data must not count as never seen: starting fresh would make a
    /// rewritten history look like a first visit.
    pub fn visit(&self) -> Result<Visit<'_>, Box<ErrorDocument>> {
        let visit = Visit { kept: self, failed: RefCell::default() };
        self.load_texts().map_err(|error| self.unusable(&error))?;
        Ok(visit)
    }

    fn lock(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn load_texts(&self) -> io::Result<Texts> {
        let texts = self.lock();
        match &self.path {
            Some(path) => texts_of(path),
            None => Ok(texts.clone()),
        }
    }

    fn put(&self, name: &str, text: &str) -> io::Result<()> {
        let mut texts = self.lock();
        let kept = (name.to_owned(), text.to_owned());
        let Some(path) = &self.path else {
            texts.extend([kept]);
            return Ok(());
        };
        let mut whole = texts_of(path)?;
        whole.extend([kept]);
        let mut bytes = serde_json::to_vec(&whole).map_err(io::Error::other)?;
        bytes.push(b'\n');
        let new = path.with_added_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    }

    fn unusable(&self, error: &io::Error) -> Box<ErrorDocument> {
        let path = self.path.as_deref().unwrap_or(Path::new("memory"));
        let hint = "move the file away to start again, or name another file as `storage`";
        ErrorDocument::new("kept_unusable", format!("{}: {error}", path.display()), hint)
    }
}

/// The texts of a file; none if there is no file.
fn texts_of(path: &Path) -> io::Result<Texts> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Texts::new()),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(
            ErrorKind::InvalidData,
            "it is larger than the maximum size that a client stores",
        ));
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        io::Error::new(
            ErrorKind::InvalidData,
            format!("it is not an object with text values: {error}"),
        )
    })
}

/// One call's access to the stored texts.
#[derive(Debug)]
pub struct Visit<'a> {
    kept: &'a Kept,
    /// The first read or write error: nothing is written after it.
    failed: RefCell<Option<io::Error>>,
}

impl Visit<'_> {
    /// Fails if something could not be read or written.
    pub fn end(self) -> Result<(), Box<ErrorDocument>> {
        match self.failed.into_inner() {
            Some(error) => Err(self.kept.unusable(&error)),
            None => Ok(()),
        }
    }

    fn fail(&self, error: io::Error) {
        self.failed.borrow_mut().get_or_insert(error);
    }
}

impl Storage for Visit<'_> {
    fn get(&self, name: &str) -> Option<String> {
        match self.kept.load_texts() {
            Ok(mut texts) => texts.remove(name),
            Err(error) => {
                self.fail(error);
                None
            }
        }
    }

    fn put(&self, name: &str, text: &str) {
        let whole = self.failed.borrow().is_none();
        if whole && let Err(error) = self.kept.put(name, text) {
            self.fail(error);
        }
    }
}
