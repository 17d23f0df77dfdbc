//! Checks that a compressed file contains exactly the documents to which a slot's heads commit.

use std::io::{BufRead, BufReader, Read};

use exitgap_core::analytics::accuracy::CommittedDocument;
use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::{FrameError, check_frame, is_one_frame};
use exitgap_core::series::Slot;

use super::unpack::decoder;

/// Why a file does not contain the documents to which a slot's heads commit.
pub enum NotCommitted {
    /// A message.
    Wrong(String),
    /// A document was made by a later version.
    Newer(exitgap_core::Newer),
}

/// Requires that a compressed file contains exactly the documents of one kind to which a slot's heads commit, in their
/// order.
pub fn check_committed<D: CommittedDocument>(
    packed: &[u8],
    slot: Slot,
    committed: &[DocumentHash],
) -> Result<(), NotCommitted> {
    let wrong = |error: &dyn core::fmt::Display| NotCommitted::Wrong(error.to_string());
    if !is_one_frame(packed) {
        return Err(wrong(&FrameError::NotOneFrame));
    }
    let mut lines = BufReader::new(decoder(packed).map_err(|error| wrong(&error))?);
    let mut unpacked = 0;
    for expected in committed {
        let mut line = Vec::new();
        let read = (&mut lines).take(D::MAX_LINE_BYTES as u64).read_until(b'\n', &mut line);
        unpacked += read.map_err(|error| wrong(&error))? as u64;
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let (of, _, found) = D::from_line(line).map_err(|error| match D::newer(&error) {
            Some(newer) => NotCommitted::Newer(newer),
            None => wrong(&error),
        })?;
        if (of, found) != (slot, *expected) {
            let why = format!("it has a document with hash {found} of slot {of}");
            return Err(wrong(&format!("in place of {expected}, {why}")));
        }
    }
    if !lines.fill_buf().map_err(|error| wrong(&error))?.is_empty() {
        return Err(wrong(&"it has more documents than the heads commit to"));
    }
    check_frame(packed, unpacked).map_err(|error| wrong(&error))
}
