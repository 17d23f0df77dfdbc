//! A slot's bundle: leaf, heads, snapshots and checkpoint as compressed lines.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use exitgap_core::evidence::HeadEntry;
use exitgap_core::series::Slot;

use super::{PublishError, durable};
use crate::error::{CorruptBody, CorruptLog, StoreError};
use crate::reader::Reader;

/// zstd's effort. Most of a bundle is digits, which no effort makes much smaller: 6 takes five
/// times as long, for 3 % fewer bytes.
const EFFORT: i32 = 1;

/// The longest bundle, uncompressed.
pub const MAX_BUNDLE_BYTES: u64 = 256 << 20;

/// Puts the bundle of `slot` at `path`. One that is there already is kept, and must hold
/// the same.
pub fn write(reader: &Reader, slot: Slot, path: &Path) -> Result<(), PublishError> {
    let lines = lines(reader, slot)?;
    let failed = |source| PublishError::File { path: path.to_owned(), source };
    match File::open(path) {
        Ok(file) if holds(&file, &lines) => {
            // It may have been renamed into place a moment before a kill.
            return durable::sync_folder(path.parent().unwrap_or(Path::new(".")));
        }
        Ok(_) => return Err(PublishError::Differs { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    if lines.len() as u64 > MAX_BUNDLE_BYTES {
        // Nobody could read it back.
        return Err(PublishError::TooLarge { path: path.to_owned(), bytes: lines.len() as u64 });
    }
    durable::write_with(path, |file| {
        let mut encoder = zstd::Encoder::new(BufWriter::new(file), EFFORT)?;
        encoder.include_checksum(true)?;
        encoder.write_all(&lines)?;
        encoder.finish()?.flush()
    })
}

/// The bundle's lines, each with its line break.
fn lines(reader: &Reader, slot: Slot) -> Result<Vec<u8>, StoreError> {
    let corrupt = |what| StoreError::CorruptLog { slot, what };
    let (leaf, checkpoint) =
        reader.sealed(slot)?.ok_or_else(|| corrupt(CorruptLog::Absent("the sealed slot")))?;
    let mut lines = leaf.canonical;
    lines.push(b'\n');
    let mut add = |document: &[u8]| {
        lines.extend_from_slice(document);
        lines.push(b'\n');
    };
    let heads = reader.slot_heads(slot)?;
    for stored in &heads {
        add(&stored.canonical);
    }
    for stored in &heads {
        if let HeadEntry::Recorded { snapshot: hash, .. } = stored.head.entry {
            let absent = || StoreError::Corrupt { hash, what: CorruptBody::Absent };
            let documents = reader.documents(hash)?.ok_or_else(absent)?;
            add(&documents.snapshot);
            add(&documents.state);
        }
    }
    // Of one field, and escaped as canonical JSON is.
    add(serde_json::json!({ "checkpoint": checkpoint }).to_string().as_bytes());
    Ok(lines)
}

/// Whether a bundle holds these lines and nothing else.
fn holds(file: &File, lines: &[u8]) -> bool {
    let Ok(decoder) = zstd::Decoder::new(BufReader::new(file)) else { return false };
    let most = (lines.len() as u64 + 1).min(MAX_BUNDLE_BYTES);
    let mut found = Vec::with_capacity(lines.len());
    decoder.take(most).read_to_end(&mut found).is_ok() && found == lines
}
