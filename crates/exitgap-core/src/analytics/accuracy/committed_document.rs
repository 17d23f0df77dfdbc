//! Documents that heads commit to: at most one per pool and slot, stored one after the other in a file for each slot.

use core::fmt;

use super::{Fills, FillsError, IssuedError, IssuedReceipts, MAX_FILLS_BYTES, MAX_ISSUED_BYTES};
use crate::Newer;
use crate::ids::DocumentHash;
use crate::json::{DocumentError, Fields, Json, Part, Wire, parse};
use crate::log_folder::LogFile;
use crate::series::Slot;

/// The most bytes of a line in addition to its document.
const LINE_BYTES: usize = 256;

/// A kind of document that a pool's head commits to.
pub trait CommittedDocument: Sized {
    /// Why bytes are not such a document.
    type Error: fmt::Display;

    /// The name under which a head commits to such a document.
    const NAME: &'static str;

    /// The maximum length, in bytes, of a line with such a document.
    const MAX_LINE_BYTES: usize;

    /// The file of a slot's documents in a log's folder: one line each, in the order of pool ids, compressed.
    fn file(slot: Slot) -> LogFile;

    /// The line for a document with these canonical bytes and the slot whose head commits to it.
    fn line(slot: Slot, canonical: &[u8]) -> Result<Vec<u8>, DocumentError> {
        let document = (Self::NAME.into(), Json::Canonical(canonical));
        let fields = vec![document, ("slot".into(), slot.to_json())];
        let mut line = Json::Object(fields).to_canonical()?;
        line.push(b'\n');
        Ok(line)
    }

    /// Reads an untrusted line. Returns the slot, the document, and the hash that the pool's head of that slot must
    /// commit to.
    fn from_line(line: &[u8]) -> Result<(Slot, Self, DocumentHash), Self::Error>;

    /// The newer version that wrote the document, if that is the cause of the error.
    fn newer(error: &Self::Error) -> Option<Newer>;
}

impl CommittedDocument for Fills {
    type Error = FillsError;

    const NAME: &'static str = Self::NAME;

    const MAX_LINE_BYTES: usize = MAX_FILLS_BYTES + LINE_BYTES;

    fn file(slot: Slot) -> LogFile {
        LogFile::Fills(slot)
    }

    fn from_line(line: &[u8]) -> Result<(Slot, Self, DocumentHash), FillsError> {
        Self::from_line(line)
    }

    fn newer(error: &FillsError) -> Option<Newer> {
        error.newer()
    }
}

impl CommittedDocument for IssuedReceipts {
    type Error = IssuedError;

    const NAME: &'static str = Self::NAME;

    const MAX_LINE_BYTES: usize = MAX_ISSUED_BYTES + LINE_BYTES;

    fn file(slot: Slot) -> LogFile {
        LogFile::Issued(slot)
    }

    fn from_line(line: &[u8]) -> Result<(Slot, Self, DocumentHash), IssuedError> {
        Self::from_line(line)
    }

    fn newer(error: &IssuedError) -> Option<Newer> {
        error.newer()
    }
}

/// The slot and the document's bytes of an untrusted line. The document itself is not parsed.
pub(super) fn document_of_line(
    name: &'static str,
    most: usize,
    line: &[u8],
) -> Result<(Slot, Vec<u8>), DocumentError> {
    let json = parse(line, most + LINE_BYTES)?;
    let read = || {
        let mut fields = Fields::from_json(&json)?;
        let (slot, document): (Slot, Part) = (fields.take_field("slot")?, fields.take_field(name)?);
        fields.end()?;
        Ok((slot, document.0))
    };
    read().map_err(DocumentError::Shape)
}
