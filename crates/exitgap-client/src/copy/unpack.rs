//! Decompresses a log's files, never beyond their allowed size. Each is exactly one Zstandard frame.

use std::io::{self, BufRead, BufReader, Read};

use exitgap_core::analytics::accuracy::CommittedDocument;
use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::{FrameError, check_frame, is_one_frame};
use exitgap_core::series::Slot;
use zstd::stream::read::Decoder;
use zstd::zstd_safe::{self, DCtx};

/// The largest decompression window that a file may request: 8 MiB.
const WINDOW_LOG_MAX: u32 = 23;

/// The bytes of a compressed table, at most one more than `most`; the error is a message.
pub fn unpack_table(packed: &[u8], most: usize) -> Result<Vec<u8>, String> {
    let mut table = Vec::new();
    let unpacked =
        decoder(packed).and_then(|decoder| decoder.take(most as u64 + 1).read_to_end(&mut table));
    unpacked.map_err(|error| error.to_string())?;
    check_frame(packed, table.len() as u64).map_err(|error| error.to_string())?;
    Ok(table)
}

/// The bytes of a compressed body, which must have exactly the given length; the error is a message.
pub fn unpack_body(packed: &[u8], length: usize, base: Option<&[u8]>) -> Result<Vec<u8>, String> {
    check_frame(packed, length as u64).map_err(|error| error.to_string())?;
    let mut context = DCtx::create();
    let words = |code| zstd_safe::get_error_name(code).to_owned();
    if let Some(base) = base {
        context.ref_prefix(base).map_err(words)?;
    }
    // Decompression never writes more than this, whatever the frame states.
    let mut unpacked = Vec::with_capacity(length);
    context.decompress(&mut unpacked, packed).map_err(words)?;
    if unpacked.len() == length {
        Ok(unpacked)
    } else {
        Err(format!("{} bytes were decompressed instead of {length}", unpacked.len()))
    }
}

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

fn decoder(packed: &[u8]) -> io::Result<Decoder<'static, &[u8]>> {
    let mut decoder = Decoder::with_buffer(packed)?;
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    Ok(decoder)
}
