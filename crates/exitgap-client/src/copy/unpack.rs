//! Decompresses a log's files, never beyond their allowed size. Each is exactly one Zstandard frame.

use std::io::{self, BufRead, Read};

use exitgap_core::log_folder::check_frame;
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

/// Decompresses a frame, and refuses one that requests a larger window.
pub fn decoder<R: BufRead>(packed: R) -> io::Result<Decoder<'static, R>> {
    let mut decoder = Decoder::with_buffer(packed)?;
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    Ok(decoder)
}
