//! Snapshots' canonical bytes, each with its state's, compressed.
//!
//! Between two slots a pool changes in a few places: the block, the price, the oracle's
//! round, a handful of ticks. So most bodies are compressed with the canonical bytes of an
//! earlier snapshot of the pool as zstd's dictionary (raw content), in levels: a body
//! refers to the day's newest body of a lower level. The day's first one is the *key
//! record*, level 0, and stands alone. Lower levels come seldom and so may differ much;
//! the most bodies, of the highest level, refer to one that is at most a few slots old.
//! Reading any body takes at most one row per level.

use std::io;

use exitgap_core::series::Slot;
use exitgap_core::snapshot::SnapshotDocuments;
use zstd::bulk::{Compressor, Decompressor};

use crate::rollup::day_of;

/// The body of every so many slots of a day is of level 1, of level 2; all others are of
/// [`MAX_LEVEL`].
const SPANS: [u32; 2] = [48, 6];
/// The highest level; bodies of it are nobody's dictionary. The schema has it too.
pub const MAX_LEVEL: u8 = 3;

/// zstd's effort for most bodies.
const EFFORT: i32 = 3;
/// zstd's effort for key records, one per day and pool.
const KEY_EFFORT: i32 = 9;

/// What a pool's next body may refer to.
#[derive(Debug, Clone, Default)]
pub struct Dictionaries {
    /// Of one UTC day, so that a day's bodies need no other day's. Levels ascend.
    records: Vec<Record>,
}

/// A body that others refer to.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its row.
    pub body_no: i64,
    /// Its level.
    pub level: u8,
    /// Its slot.
    pub slot: Slot,
    /// Its bytes: of the snapshot, then of the state.
    pub joined: Vec<u8>,
}

impl Dictionaries {
    /// The level of the body of `slot`, and the record it refers to; `None`: it becomes a
    /// key record.
    pub fn choose(&self, slot: Slot) -> (u8, Option<&Record>) {
        let in_day = slot.number() % Slot::PER_DAY;
        let level = SPANS.iter().zip(1..).find(|(span, _)| in_day.is_multiple_of(**span));
        let level = level.map_or(MAX_LEVEL, |(_, level)| level);
        let same_day = |record: &&Record| day_of(record.slot) == day_of(slot);
        match self.records.iter().rev().find(|record| record.level < level).filter(same_day) {
            Some(record) => (level, Some(record)),
            None => (0, None),
        }
    }

    /// The body of this number, where it is kept.
    pub fn find(&self, body_no: i64) -> Option<&Record> {
        self.records.iter().find(|record| record.body_no == body_no)
    }

    /// Bytes kept.
    pub fn bytes(&self) -> usize {
        self.records.iter().map(|record| record.joined.len()).sum()
    }

    /// Takes in a body that was written after all others.
    pub fn add(&mut self, record: Record) {
        self.records.retain(|other| other.level < record.level);
        if record.level < MAX_LEVEL {
            self.records.push(record);
        }
    }
}

/// A snapshot's bytes, then its state's.
pub fn join(documents: &SnapshotDocuments) -> Vec<u8> {
    [documents.snapshot.as_slice(), &documents.state].concat()
}

/// The two of which the first has so many bytes.
pub fn split(mut joined: Vec<u8>, snapshot_bytes: usize) -> SnapshotDocuments {
    let state = joined.split_off(snapshot_bytes.min(joined.len()));
    SnapshotDocuments { snapshot: joined, state }
}

/// Compresses `canonical`, with the bytes of a dictionary if one is given. The result is
/// read back and compared before it is handed out.
pub fn compress(canonical: &[u8], dictionary: Option<&[u8]>) -> io::Result<Vec<u8>> {
    let effort = if dictionary.is_some() { EFFORT } else { KEY_EFFORT };
    let mut compressor = Compressor::with_dictionary(effort, dictionary.unwrap_or_default())?;
    compressor.include_dictid(false)?;
    let zstd = compressor.compress(canonical)?;
    if decompress(&zstd, canonical.len(), dictionary)? == canonical {
        Ok(zstd)
    } else {
        Err(io::Error::other("what was compressed does not come back"))
    }
}

/// The `canonical_bytes` bytes that `zstd` holds; never more are produced.
pub fn decompress(
    zstd: &[u8],
    canonical_bytes: usize,
    dictionary: Option<&[u8]>,
) -> io::Result<Vec<u8>> {
    let mut decompressor = Decompressor::with_dictionary(dictionary.unwrap_or_default())?;
    let canonical = decompressor.decompress(zstd, canonical_bytes)?;
    if canonical.len() == canonical_bytes {
        Ok(canonical)
    } else {
        Err(io::Error::other(format!("{} bytes came out", canonical.len())))
    }
}
