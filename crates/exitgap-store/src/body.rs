//! Snapshots' canonical bytes, compressed.
//!
//! Between two slots a pool changes in a few places: the block, the price, the oracle's
//! round, a handful of ticks. So most bodies are compressed with the bytes of an earlier
//! snapshot of the pool, its *key record*, as zstd's dictionary (raw content). A key
//! record stands alone: reading any body takes two rows at most.

use std::io;

use exitgap_core::series::Slot;
use zstd::bulk::{Compressor, Decompressor};

/// zstd's level for bodies with a dictionary, written each slot.
const LEVEL: i32 = 3;
/// zstd's level for key records, written about once a day and pool.
const KEY_LEVEL: i32 = 9;

/// The key record of a pool, while new bodies refer to it.
#[derive(Debug, Clone)]
pub struct Key {
    /// Its row.
    pub body_no: i64,
    /// Its canonical bytes.
    pub canonical: Vec<u8>,
    /// Its compressed size, in bytes.
    pub zstd_bytes: usize,
    /// The UTC day it was written for, so that a day's bodies need no other day's.
    pub day: u32,
    /// The smallest body that refers to it, in bytes.
    pub least_bytes: usize,
    /// What the others cost beyond that, in bytes.
    pub excess_bytes: usize,
}

impl Key {
    /// A new key record, nothing referring to it yet.
    pub fn new(body_no: i64, canonical: Vec<u8>, zstd_bytes: usize, slot: Slot) -> Self {
        let day = day_of(slot);
        Self { body_no, canonical, zstd_bytes, day, least_bytes: usize::MAX, excess_bytes: 0 }
    }

    /// Whether the snapshot of `slot` should still refer to this key record.
    ///
    /// A new one is due each day, and as soon as the growth of the bodies since this one
    /// has cost what a new one costs: never more than about twice the best choice.
    pub fn serves(&self, slot: Slot) -> bool {
        self.day == day_of(slot) && self.excess_bytes < self.zstd_bytes
    }

    /// Counts a body that refers to this key record.
    pub fn count(&mut self, zstd_bytes: usize) {
        self.least_bytes = self.least_bytes.min(zstd_bytes);
        self.excess_bytes += zstd_bytes - self.least_bytes;
    }
}

fn day_of(slot: Slot) -> u32 {
    slot.number() / Slot::PER_DAY
}

/// Compresses `canonical`, with the bytes of a key record as dictionary if one is
/// given. The result is read back and compared before it is handed out.
pub fn compress(canonical: &[u8], key: Option<&[u8]>) -> io::Result<Vec<u8>> {
    let mut compressor = Compressor::with_dictionary(
        if key.is_some() { LEVEL } else { KEY_LEVEL },
        key.unwrap_or_default(),
    )?;
    compressor.include_dictid(false)?;
    let zstd = compressor.compress(canonical)?;
    if decompress(&zstd, canonical.len(), key)? == canonical {
        Ok(zstd)
    } else {
        Err(io::Error::other("what was compressed does not come back"))
    }
}

/// The `canonical_bytes` bytes that `zstd` holds; never more are produced.
pub fn decompress(zstd: &[u8], canonical_bytes: usize, key: Option<&[u8]>) -> io::Result<Vec<u8>> {
    let mut decompressor = Decompressor::with_dictionary(key.unwrap_or_default())?;
    let canonical = decompressor.decompress(zstd, canonical_bytes)?;
    if canonical.len() == canonical_bytes {
        Ok(canonical)
    } else {
        Err(io::Error::other(format!("{} bytes came out", canonical.len())))
    }
}
