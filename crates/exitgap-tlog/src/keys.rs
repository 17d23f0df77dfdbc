//! A log's key file: one key per line, oldest first.

use super::note::VerifierKey;

/// The maximum size of a key file, in bytes.
pub const MAX_KEY_FILE_BYTES: usize = 64 << 10;

/// Reads keys, one per line. Empty lines are ignored.
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
