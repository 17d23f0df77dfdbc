//! Reading the folder back: manifests, parts and bodies, each up to its limit.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use exitgap_core::analytics::accuracy::CommittedDocument;
use exitgap_core::ids::{DocumentHash, PoolId};
use exitgap_core::log_folder::{
    Folder, MAX_MANIFEST_BYTES, Manifest, PartRef, Table, is_one_frame,
};
use exitgap_core::series::Slot;
use zstd::stream::read::Decoder;

use super::manifest_path;
use crate::bodies::codec;

/// How far back a table may refer, as a power of two: what its reader needs memory for.
const TABLE_WINDOW_LOG: u32 = 23;

/// A file that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub reason: String,
}

/// The files of a folder.
pub struct Files<'a> {
    folder: &'a Path,
}

impl<'a> Files<'a> {
    /// Those below `folder`.
    pub fn for_folder(folder: &'a Path) -> Self {
        Self { folder }
    }
}

impl Files<'_> {
    /// The documents of a kind to which the heads of a slot commit; nothing is read yet.
    pub fn slot_documents<D: CommittedDocument>(&self, slot: Slot) -> SlotDocuments<D> {
        let path = self.folder.join(D::file(slot).to_string());
        SlotDocuments { path, slot, lines: None, kind: PhantomData }
    }
}

/// The documents of a kind of a slot, one after the other, in the order of pool ids.
pub struct SlotDocuments<D> {
    path: PathBuf,
    slot: Slot,
    lines: Option<BufReader<Decoder<'static, BufReader<File>>>>,
    kind: PhantomData<D>,
}

impl<D: CommittedDocument> SlotDocuments<D> {
    /// The next document, which is to have this name.
    pub fn next(&mut self, pool: &PoolId, hash: DocumentHash) -> Result<D, FileError> {
        let failed = |reason: &dyn std::fmt::Display| wrong(&self.path, reason);
        if self.lines.is_none() {
            let opened = File::open(&self.path).and_then(|file| {
                let mut decoder = Decoder::new(file)?;
                decoder.window_log_max(TABLE_WINDOW_LOG)?;
                Ok(BufReader::new(decoder))
            });
            self.lines = Some(opened.map_err(|error| failed(&error))?);
        }
        let mut line = Vec::new();
        if let Some(lines) = &mut self.lines {
            let most = D::MAX_LINE_BYTES as u64;
            lines.take(most).read_until(b'\n', &mut line).map_err(|error| failed(&error))?;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let (slot, document, found) =
            D::from_line(line).map_err(|error| failed(&format!("{pool}: {error}")))?;
        if (slot, found) != (self.slot, hash) {
            let reason =
                format!("in place of {hash}, it has a document with hash {found}, of slot {slot}");
            return Err(failed(&reason));
        }
        Ok(document)
    }
}

impl Folder for Files<'_> {
    type Error = FileError;

    fn manifest(&self, slot: Slot) -> Result<Manifest, FileError> {
        let path = manifest_path(self.folder, slot);
        let failed = |reason: &dyn std::fmt::Display| wrong(&path, reason);
        let mut bytes = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(MAX_MANIFEST_BYTES as u64 + 1).read_to_end(&mut bytes))
            .map_err(|error| failed(&error))?;
        Manifest::from_bytes(&bytes).map_err(|error| failed(&error))
    }

    fn table(&self, part: &PartRef) -> Result<(Table, u64), FileError> {
        let path = self.folder.join(part.path());
        let failed = |reason: &dyn std::fmt::Display| wrong(&path, reason);
        let mut bytes = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(part.bytes + 1).read_to_end(&mut bytes))
            .map_err(|error| failed(&error))?;
        part.read_table(&bytes, unpack_table).map_err(|error| failed(&error))
    }

    fn bytes(&self, part: &PartRef, from: u64, length: u32) -> Result<Vec<u8>, FileError> {
        let path = self.folder.join(part.path());
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|mut file| {
            file.seek(SeekFrom::Start(from))?;
            file.take(length.into()).read_to_end(&mut bytes)
        });
        read.map_err(|error| wrong(&path, &error))?;
        Ok(bytes)
    }

    fn unpack(packed: &[u8], length: usize, base: Option<&[u8]>) -> Result<Vec<u8>, String> {
        unpack_body(packed, length, base)
    }
}

/// The bytes that a packed body of a log's folder holds, exactly as many as it says; words where it does not.
pub fn unpack_body(packed: &[u8], length: usize, base: Option<&[u8]>) -> Result<Vec<u8>, String> {
    check_frame(packed)?;
    codec::decompress(packed, length, base).map_err(|error| error.to_string())
}

/// The bytes that the packed table of a part of a log's folder holds, at most so many and one more; words where it does not unpack.
pub fn unpack_table(packed: &[u8], most: usize) -> Result<Vec<u8>, String> {
    check_frame(packed)?;
    let mut table = Vec::new();
    Decoder::with_buffer(packed)
        .and_then(|mut decoder| {
            decoder.window_log_max(TABLE_WINDOW_LOG)?;
            decoder.take(most as u64 + 1).read_to_end(&mut table)
        })
        .map_err(|error| error.to_string())?;
    Ok(table)
}

/// Unpackers pass over skippable frames, in which anything can be.
fn check_frame(packed: &[u8]) -> Result<(), String> {
    let wrong = "it is not a complete Zstandard frame, or more than one";
    if is_one_frame(packed) { Ok(()) } else { Err(wrong.to_owned()) }
}

fn wrong(path: &Path, reason: &dyn std::fmt::Display) -> FileError {
    FileError { path: path.to_owned(), reason: reason.to_string() }
}
