//! Reads a slot's manifest and parts up to their limits, and never decompresses more than their stated size.

use std::io::{BufRead, BufReader, Cursor, Read};
use std::marker::PhantomData;

use exitgap_core::Newer;
use exitgap_core::analytics::accuracy::CommittedDocument;
use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::{
    Folder, FrameError, LogFile, MAX_MANIFEST_BYTES, Manifest, PartError, PartRef, Table,
    check_frame, is_one_frame,
};
use exitgap_core::series::Slot;
use zstd::stream::read::Decoder;

use super::fault::Rule;
use super::folder::FolderReader;
use super::unpack::{decoder, unpack_body, unpack_table};

/// The manifest's path in the folder.
pub fn manifest_file(slot: Slot) -> String {
    LogFile::Slot(slot).to_string()
}

/// The documents of one kind in a slot, one after the other, in the order of pool ids.
pub struct SlotDocuments<D> {
    file: String,
    most: usize,
    slot: Slot,
    lines: Option<Lines>,
    kind: PhantomData<D>,
}

/// The lines of a packed file.
struct Lines {
    rest: BufReader<Decoder<'static, Cursor<Vec<u8>>>>,
    /// How many bytes were unpacked.
    unpacked: u64,
}

impl<D: CommittedDocument> SlotDocuments<D> {
    /// The documents of a slot; this reads nothing yet.
    pub fn for_slot(slot: Slot) -> Self {
        let file = D::file(slot);
        let most = usize::try_from(file.max_bytes()).unwrap_or(usize::MAX);
        Self { file: file.to_string(), most, slot, lines: None, kind: PhantomData }
    }

    /// The next document, which must have this hash.
    pub fn next(&mut self, folder: &FolderReader, hash: DocumentHash) -> Result<D, Rule> {
        let mut lines = match self.lines.take() {
            Some(lines) => lines,
            None => self.open(folder)?,
        };
        let mut line = Vec::new();
        let read = (&mut lines.rest).take(D::MAX_LINE_BYTES as u64).read_until(b'\n', &mut line);
        lines.unpacked += read.map_err(|error| self.invalid(&error, None))? as u64;
        self.lines = Some(lines);
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let (slot, document, found) =
            D::from_line(line).map_err(|error| self.invalid(&error, D::newer(&error)))?;
        if (slot, found) != (self.slot, hash) {
            return Err(Rule::CommittedHash { name: D::NAME, file: self.file.clone(), found });
        }
        Ok(document)
    }

    /// Requires that the file has no more than the documents that were read, and that it is absent where none was.
    pub fn end(mut self, folder: &FolderReader) -> Result<(), Rule> {
        let extra = Rule::CommittedExtra { name: D::NAME, file: self.file.clone() };
        let Some(mut lines) = self.lines.take() else {
            return match folder.open(&self.file) {
                Ok(_) => Err(extra),
                Err(Rule::FileAbsent { .. }) => Ok(()),
                Err(rule) => Err(rule),
            };
        };
        if !lines.rest.fill_buf().map_err(|error| self.invalid(&error, None))?.is_empty() {
            return Err(extra);
        }
        let packed = lines.rest.get_ref().get_ref().get_ref();
        check_frame(packed, lines.unpacked).map_err(|error| self.invalid(&error, None))
    }

    fn open(&self, folder: &FolderReader) -> Result<Lines, Rule> {
        let packed = folder.read_file(&self.file, self.most)?;
        if !is_one_frame(&packed) {
            return Err(self.invalid(&FrameError::NotOneFrame, None));
        }
        let decoder = decoder(Cursor::new(packed)).map_err(|error| self.invalid(&error, None))?;
        Ok(Lines { rest: BufReader::new(decoder), unpacked: 0 })
    }

    fn invalid(&self, error: &dyn core::fmt::Display, newer: Option<Newer>) -> Rule {
        let (file, reason) = (self.file.clone(), error.to_string());
        Rule::CommittedInvalid { name: D::NAME, file, reason, newer }
    }
}

impl Folder for FolderReader {
    type Error = Rule;

    fn manifest(&self, slot: Slot) -> Result<Manifest, Rule> {
        let file = manifest_file(slot);
        let bytes = self.read_file(&file, MAX_MANIFEST_BYTES).map_err(|rule| match rule {
            Rule::FileAbsent { .. } if self.is_older() => Rule::OlderFolder,
            rule => rule,
        })?;
        Manifest::from_bytes(&bytes).map_err(|error| Rule::ManifestInvalid { file, error })
    }

    fn table(&self, part: &PartRef) -> Result<(Table, u64), Rule> {
        let file = part.path();
        let bytes = self.read_file(&file, usize::try_from(part.bytes).unwrap_or(usize::MAX))?;
        part.read_table(&bytes, unpack_table).map_err(|error| match error {
            PartError::Hash { found } => Rule::PartHash { file, found },
            error => Rule::PartInvalid { file, reason: error.to_string() },
        })
    }

    fn bytes(&self, part: &PartRef, from: u64, length: u32) -> Result<Vec<u8>, Rule> {
        self.read_range(&part.path(), from, length)
    }

    fn unpack(packed: &[u8], length: usize, base: Option<&[u8]>) -> Result<Vec<u8>, String> {
        unpack_body(packed, length, base)
    }
}
