//! The file: complete lines are appended and read back, never changed.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::book::Book;
use super::record::{Line, MAX_LINE_BYTES, Record};
use exitgap_core::file_errors::explained;

use crate::PayError;

/// Maximum size of a ledger: some hundred thousand payments.
const MAX_LEDGER_BYTES: u64 = 128 << 20;

/// How far the clock may be behind a record, which allows for small clock corrections.
const CLOCK_TOLERANCE_MS: u64 = 2_000;

/// An open ledger, with what was read of it.
pub struct Open {
    path: PathBuf,
    file: File,
    book: Book,
    /// The position up to which it was read, and the number of lines.
    read_to: u64,
    lines: usize,
}

impl Open {
    /// Opens a ledger, or creates an empty one that only its owner can read.
    pub fn at(path: &Path) -> Result<Self, PayError> {
        let failed = |error: std::io::Error| unreadable(path, &explained(&error).to_string());
        let made = !path.exists();
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // Reading anything but a regular file could block forever.
        if !made && !std::fs::metadata(path).map_err(failed)?.is_file() {
            return Err(unreadable(path, "it is not a file"));
        }
        let file = options.open(path).map_err(failed)?;
        if made {
            sync_folder(path).map_err(failed)?;
        }
        let path = path.to_owned();
        let mut open = Self { path, file, book: Book::default(), read_to: 0, lines: 0 };
        open.read_on()?;
        Ok(open)
    }

    pub fn book(&self) -> &Book {
        &self.book
    }

    /// The error that the ledger cannot be used, with the reason.
    pub fn wrong(&self, why: &str) -> PayError {
        unreadable(&self.path, why)
    }

    /// Reads what was appended since.
    pub fn read_on(&mut self) -> Result<(), PayError> {
        let failed = |error: std::io::Error| unreadable(&self.path, &explained(&error).to_string());
        let here = self.file.metadata().map_err(failed)?;
        if !is_same(&here, &std::fs::metadata(&self.path).map_err(failed)?) {
            return Err(self.wrong("another file took its place while it was in use"));
        }
        let length = here.len();
        if length < self.read_to {
            return Err(self.wrong("it became shorter, so it was truncated or overwritten"));
        }
        if length > MAX_LEDGER_BYTES {
            return Err(self.wrong("it is longer than 128 MiB; start a new ledger"));
        }
        let mut new = Vec::new();
        self.file.seek(SeekFrom::Start(self.read_to)).map_err(failed)?;
        let more = (&self.file).take(length - self.read_to).read_to_end(&mut new);
        more.map_err(failed)?;
        // A line without an end is still being written, or its writing was interrupted: the next line will show which.
        let Some(end) = new.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        for line in new[..end].split(|byte| *byte == b'\n') {
            self.lines += 1;
            let at = |why: String| self.wrong(&format!("line {}: {why}", self.lines));
            if line.len() > MAX_LINE_BYTES {
                return Err(at(format!("it is longer than {MAX_LINE_BYTES} bytes")));
            }
            if let Line::Record(record) = Line::from_bytes(line).map_err(at)? {
                let applied = self.book.apply(record);
                applied.map_err(|why| self.wrong(&format!("line {}: {why}", self.lines)))?;
            }
        }
        self.read_to += u64::try_from(end + 1).unwrap_or(u64::MAX);
        Ok(())
    }

    /// Requires that the clock is not behind the records.
    pub fn check_clock(&self, now_ms: u64) -> Result<(), PayError> {
        let behind_ms = self.book.newest_ms().saturating_sub(now_ms);
        if behind_ms <= CLOCK_TOLERANCE_MS {
            return Ok(());
        }
        Err(PayError::ClockSteppedBack { path: self.path.clone(), behind_ms })
    }

    /// Appends a record durably, and then reads the file's new content.
    pub fn append(&mut self, record: &Record) -> Result<(), PayError> {
        let failed = |error: std::io::Error| unreadable(&self.path, &explained(&error).to_string());
        // A line feed before the record ends any interrupted line.
        let line = record.to_line().map_err(|why| self.wrong(&why))?;
        let bytes = format!("\n{line}\n").into_bytes();
        // One write call, so that concurrent records of two processes do not mix.
        let written = self.file.write(&bytes).map_err(failed)?;
        if written != bytes.len() {
            let why = format!("{written} of {} bytes could be written", bytes.len());
            return Err(self.wrong(&why));
        }
        self.file.sync_data().map_err(failed)?;
        self.read_on()
    }
}

fn unreadable(path: &Path, why: &str) -> PayError {
    PayError::LedgerUnreadable { path: path.to_owned(), why: why.to_owned() }
}

/// Syncs a new file's name to disk.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.is_file() && other.is_file()
}
