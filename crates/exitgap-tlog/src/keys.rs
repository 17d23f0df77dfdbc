//! A log's file of keys: one per line, those that came later behind the others.

use super::note::VerifierKey;

/// The most bytes of a file of keys.
pub const MAX_KEY_FILE_BYTES: usize = 64 << 10;

/// Reads keys, one per line; empty lines count for nothing.
pub fn keys_from_lines(bytes: &[u8]) -> Result<Vec<VerifierKey>, String> {
    if bytes.len() > MAX_KEY_FILE_BYTES {
        return Err(format!("larger than the maximum of {MAX_KEY_FILE_BYTES} bytes"));
    }
    let text = core::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            line.trim().parse().map_err(|error| format!("line {number}: {error}"))
        })
        .collect()
}
