//! A slot's manifest and parts: read up to their limits, unpacked never beyond what they say.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::marker::PhantomData;

use exitgap_client::copy::{unpack_body, unpack_table};
use exitgap_core::analytics::accuracy::CommittedDocument;
use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::{
    Folder, LogFile, MAX_MANIFEST_BYTES, Manifest, PartError, PartRef, Table,
};
use exitgap_core::series::Slot;
use zstd::stream::read::Decoder;

use super::fault::Rule;
use super::folder::FolderReader;

/// The largest back-reference window that a table may ask memory for: 8 MiB.
const WINDOW_LOG_MAX: u32 = 23;

/// The manifest's place in the folder.
pub fn manifest_file(slot: Slot) -> String {
    LogFile::Slot(slot).to_string()
}

/// The documents of a kind of a slot, one after the other, in the order of pool ids.
pub struct SlotDocuments<D> {
    file: String,
    slot: Slot,
    lines: Option<BufReader<Decoder<'static, BufReader<File>>>>,
    kind: PhantomData<D>,
}

impl<D: CommittedDocument> SlotDocuments<D> {
    /// Those of a slot; nothing is read yet.
    pub fn for_slot(slot: Slot) -> Self {
        Self { file: D::file(slot).to_string(), slot, lines: None, kind: PhantomData }
    }

    /// The next document, which is to have this name.
    pub fn next(&mut self, folder: &FolderReader, hash: DocumentHash) -> Result<D, Rule> {
        let (name, file) = (D::NAME, self.file.clone());
        let invalid =
            |reason, newer| Rule::CommittedInvalid { name, file: file.clone(), reason, newer };
        let unpacked = |error: std::io::Error| invalid(error.to_string(), None);
        if self.lines.is_none() {
            let opened = folder.open(&self.file)?;
            let decoder = Decoder::new(opened).and_then(|mut decoder| {
                decoder.window_log_max(WINDOW_LOG_MAX)?;
                Ok(BufReader::new(decoder))
            });
            self.lines = Some(decoder.map_err(unpacked)?);
        }
        let mut line = Vec::new();
        if let Some(lines) = &mut self.lines {
            let read = lines.take(D::MAX_LINE_BYTES as u64).read_until(b'\n', &mut line);
            read.map_err(unpacked)?;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let (slot, document, found) =
            D::from_line(line).map_err(|error| invalid(error.to_string(), D::newer(&error)))?;
        if (slot, found) != (self.slot, hash) {
            return Err(Rule::CommittedHash { name, file, found });
        }
        Ok(document)
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
