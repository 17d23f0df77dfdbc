//! The file: lines appended whole, read back, never changed.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::book::Book;
use super::record::{Line, MAX_LINE_BYTES, Record};
use exitgap_core::file_errors::explained;

use crate::PayError;

/// The most bytes of a ledger: some hundred thousand payments.
const MAX_LEDGER_BYTES: u64 = 128 << 20;

/// How far the clock may be behind a record: what a clock that is being set right may be off.
const CLOCK_TOLERANCE_MS: u64 = 2_000;

/// An open ledger and what was read of it.
pub struct Open {
    path: PathBuf,
    file: File,
    book: Book,
    /// Up to here it was read, and so many lines.
    read_to: u64,
    lines: usize,
}

impl Open {
    /// Opens a ledger; an empty one is made where there is none, which only its owner may read.
    pub fn at(path: &Path) -> Result<Self, PayError> {
        let failed = |error: std::io::Error| unreadable(path, &explained(&error).to_string());
        let made = !path.exists();
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // Anything but a file might be waited for without end.
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

    /// What is wrong with it.
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
        // What has no end yet is being written, or its writing broke off: the next line tells.
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

    /// Requires that the clock is not behind what was written.
    pub fn check_clock(&self, now_ms: u64) -> Result<(), PayError> {
        let behind_ms = self.book.newest_ms().saturating_sub(now_ms);
        if behind_ms <= CLOCK_TOLERANCE_MS {
            return Ok(());
        }
        Err(PayError::ClockSteppedBack { path: self.path.clone(), behind_ms })
    }

    /// Appends a record durably, and reads what the file then holds.
    pub fn append(&mut self, record: &Record) -> Result<(), PayError> {
        let failed = |error: std::io::Error| unreadable(&self.path, &explained(&error).to_string());
        // A line feed before it ends whatever a broken-off writing left.
        let line = record.to_line().map_err(|why| self.wrong(&why))?;
        let bytes = format!("\n{line}\n").into_bytes();
        // In one call: what two processes write at once stands one after the other.
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

/// Makes a new file's name durable.
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
