//! The sources of bodies: the copy, and the part that is being checked, which is in memory only.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::{Folder, LogFile, MAX_MANIFEST_BYTES, Manifest, PartRef, Table};
use exitgap_core::series::Slot;

use super::error::CopyError;
use super::place::{Place, folder_error};
use super::unpack::unpack_body;

/// A copy, and a part that is not yet in it.
pub struct Reading<'a> {
    place: &'a Place,
    held: Mutex<Option<(DocumentHash, Vec<u8>)>>,
}

impl<'a> Reading<'a> {
    /// The copy alone.
    pub fn from_place(place: &'a Place) -> Self {
        Self { place, held: Mutex::default() }
    }

    /// Holds a part of these bytes, in place of the one before.
    pub fn hold(&self, part: &PartRef, bytes: Vec<u8>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some((part.sha256, bytes));
    }

    /// The bytes of the part that was held.
    pub fn release(&self) -> Vec<u8> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        held.map(|(_, bytes)| bytes).unwrap_or_default()
    }
}

impl Folder for Reading<'_> {
    type Error = CopyError;

    fn manifest(&self, slot: Slot) -> Result<Manifest, CopyError> {
        let (place, file) = (self.place, LogFile::Slot(slot));
        let bytes = place.read_file(&file, MAX_MANIFEST_BYTES)?;
        let bytes = bytes.ok_or_else(|| place.absent(&file))?;
        Manifest::from_bytes(&bytes).map_err(|error| place.damaged(&file, &error))
    }

    fn table(&self, part: &PartRef) -> Result<(Table, u64), CopyError> {
        self.place.part_table(part)
    }

    fn bytes(&self, part: &PartRef, from: u64, length: u32) -> Result<Vec<u8>, CopyError> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = held.as_ref().filter(|(of, _)| *of == part.sha256) {
            let from = usize::try_from(from).unwrap_or(usize::MAX);
            let rest = bytes.get(from..).unwrap_or_default();
            return Ok(rest[..rest.len().min(length as usize)].to_vec());
        }
        let path = self.place.path_of(&LogFile::Part(part.sha256));
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|mut file| {
            file.seek(SeekFrom::Start(from))?;
            file.take(length.into()).read_to_end(&mut bytes)
        });
        read.map_err(folder_error(&path))?;
        Ok(bytes)
    }

    fn unpack(packed: &[u8], length: usize, base: Option<&[u8]>) -> Result<Vec<u8>, String> {
        unpack_body(packed, length, base)
    }
}
