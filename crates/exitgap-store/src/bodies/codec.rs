//! Compresses the canonical bytes of snapshots with those of their states.
//!
//! Between two slots a pool changes in only a few places: the block, the price, the oracle's round, a few ticks. Most
//! bodies are therefore compressed with the canonical bytes of an earlier snapshot of the pool as zstd's prefix (a raw
//! dictionary), in levels: a body refers to the day's newest body of a lower level. The first body of a day is the *key
//! record*, level 0, and is self-contained. Bodies of lower levels are rare, so they can differ much. Most bodies have
//! the highest level and refer to one that is at most a few slots old. Reading a body takes at most one row per level.

use std::io;

use exitgap_core::series::Slot;
use exitgap_core::snapshot::SnapshotDocuments;
use zstd::zstd_safe::{self, CCtx, CParameter, DCtx};

use crate::derived::rollup::day_of;

/// The interval in slots between bodies of level 1, and of level 2. All other bodies have [`MAX_LEVEL`].
const SPANS: [u32; 2] = [48, 6];
/// The highest level. Bodies of this level are never used as dictionaries. The schema contains the same number.
pub const MAX_LEVEL: u8 = 3;

/// zstd's compression level. Higher levels hardly make hash digits smaller, but take several times as long, in the time
/// between a slot's instant and its publication.
const EFFORT: i32 = 1;
/// How far back a frame can refer, as a power of two: enough for both documents of the largest body and of its base.
const WINDOW_LOG: u32 = 24;

/// The bodies that a pool's next body can refer to.
#[derive(Debug, Clone, Default)]
pub struct Dictionaries {
    /// All of one UTC day, so that a day's bodies need no other day. Levels ascend.
    records: Vec<Record>,
}

/// A body that other bodies refer to.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its row.
    pub body_no: i64,
    /// Its level.
    pub level: u8,
    /// Its slot.
    pub slot: Slot,
    /// Its bytes: the snapshot followed by the state.
    pub joined: Vec<u8>,
}

impl Dictionaries {
    /// The level of the body of `slot`, and the record that it refers to; `None` if it becomes a key record.
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

    /// The body with this number, if it is held.
    pub fn find(&self, body_no: i64) -> Option<&Record> {
        self.records.iter().find(|record| record.body_no == body_no)
    }

    /// The size of all held bodies.
    pub fn bytes(&self) -> usize {
        self.records.iter().map(|record| record.joined.len()).sum()
    }

    /// Adds a body, which must be newer than all others.
    pub fn add(&mut self, record: Record) {
        self.records.retain(|other| other.level < record.level);
        if record.level < MAX_LEVEL {
            self.records.push(record);
        }
    }
}

/// The snapshot's bytes followed by the state's.
pub fn join(documents: &SnapshotDocuments) -> Vec<u8> {
    [documents.snapshot.as_slice(), &documents.state].concat()
}

/// Splits the bytes into both documents; the first has `snapshot_bytes` bytes.
pub fn split(mut joined: Vec<u8>, snapshot_bytes: usize) -> SnapshotDocuments {
    let state = joined.split_off(snapshot_bytes.min(joined.len()));
    SnapshotDocuments { snapshot: joined, state }
}

/// Compresses `canonical` to a frame that refers to the bytes `base`, if given. The result is decompressed and compared
/// before it is returned.
pub fn compress(canonical: &[u8], base: Option<&[u8]>) -> io::Result<Vec<u8>> {
    let mut context = CCtx::create();
    let (length, base_length) = (canonical.len(), base.map_or(0, <[u8]>::len));
    let window = (length + base_length).next_power_of_two().ilog2().clamp(10, WINDOW_LOG);
    for parameter in [
        CParameter::CompressionLevel(EFFORT),
        CParameter::DictIdFlag(false),
        // The whole base must be within reach and searchable. Otherwise the bodies of a large pool would not refer to
        // it.
        CParameter::WindowLog(window),
        CParameter::HashLog(window.saturating_sub(1).clamp(10, 20)),
    ] {
        context.set_parameter(parameter).map_err(zstd_error)?;
    }
    if let Some(base) = base {
        context.ref_prefix(base).map_err(zstd_error)?;
    }
    let mut zstd = Vec::with_capacity(zstd_safe::compress_bound(length));
    context.compress2(&mut zstd, canonical).map_err(zstd_error)?;
    if decompress(&zstd, length, base)? == canonical {
        zstd.shrink_to_fit();
        Ok(zstd)
    } else {
        Err(io::Error::other("the compressed data cannot be restored"))
    }
}

/// Decompresses exactly `canonical_bytes` bytes. Never produces more.
pub fn decompress(zstd: &[u8], canonical_bytes: usize, base: Option<&[u8]>) -> io::Result<Vec<u8>> {
    let mut context = DCtx::create();
    if let Some(base) = base {
        context.ref_prefix(base).map_err(zstd_error)?;
    }
    let mut canonical = Vec::with_capacity(canonical_bytes);
    context.decompress(&mut canonical, zstd).map_err(zstd_error)?;
    if canonical.len() == canonical_bytes {
        Ok(canonical)
    } else {
        Err(io::Error::other(format!("{} bytes were unpacked", canonical.len())))
    }
}

fn zstd_error(code: usize) -> io::Error {
    io::Error::other(zstd_safe::get_error_name(code))
}
