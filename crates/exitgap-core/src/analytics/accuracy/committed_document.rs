//! Documents to which heads commit, one for a pool at most, as they stand behind each other in the files of a slot.

use core::fmt;

use super::{Fills, FillsError, IssuedError, IssuedReceipts, MAX_FILLS_BYTES, MAX_ISSUED_BYTES};
use crate::Newer;
use crate::ids::DocumentHash;
use crate::json::{DocumentError, Fields, Json, Part, Wire, parse};
use crate::log_folder::LogFile;
use crate::series::Slot;

/// The most bytes of a line beside its document.
const LINE_BYTES: usize = 256;

/// A kind of document to which a pool's head commits.
pub trait CommittedDocument: Sized {
    /// Why bytes are none.
    type Error: fmt::Display;

    /// The name under which a head commits to one.
    const NAME: &'static str;

    /// The most bytes of a line that carries one.
    const MAX_LINE_BYTES: usize;

    /// The file of a slot's documents in a log's folder: a line each, in the order of pool ids, packed.
    fn file(slot: Slot) -> LogFile;

    /// A line that carries a document, of these canonical bytes, with the slot whose head commits to it.
    fn line(slot: Slot, canonical: &[u8]) -> Result<Vec<u8>, DocumentError> {
        let document = (Self::NAME.into(), Json::Canonical(canonical));
        let fields = vec![document, ("slot".into(), slot.to_json())];
        let mut line = Json::Object(fields).to_canonical()?;
        line.push(b'\n');
        Ok(line)
    }

    /// Reads an untrusted line: the slot, the document, and the name that the pool's head of that slot is to commit to.
    fn from_line(line: &[u8]) -> Result<(Slot, Self, DocumentHash), Self::Error>;

    /// What a later version made, where that is why.
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

/// The slot and the document's bytes of an untrusted line. Nothing of the document is read.
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
