//! Sharing the reading among several recorders of a server's store: which recorder reads which shard of the pools, and
//! the results.
//!
//! A [`Share`] is the part of one recorder: it holds shards and submits its readings of them. The recorder that seals
//! asks its [`Store`] which readings arrived, freezes the slot and takes them. The recorder defines the content of a
//! reading; here it is just bytes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use exitgap_core::series::Slot;

use crate::Store;
use crate::db::{Attendant, attendant};
use crate::error::StoreError;
use crate::rows::slot_of;

pub use crate::db::{HeldShard, Put};

/// The maximum number of bytes of a reading, both uncompressed and stored.
pub const MAX_READING_BYTES: usize = 1 << 28;

/// zstd's compression level. Most of a reading is digits, which hardly compress better at a higher level.
const EFFORT: i32 = 1;

/// Why the reading cannot be shared, or a reading is refused.
#[derive(Debug, thiserror::Error)]
pub enum SharingError {
    /// The store is a file.
    #[error(
        "{path}: only recorders that use a store on a database server can share the reading; here one process \
         reads all pools"
    )]
    NotAServer {
        /// The file.
        path: PathBuf,
    },
    /// A reading exceeds the maximum size.
    #[error(
        "the reading of {shard} at slot {slot} has {found} bytes, more than {MAX_READING_BYTES}; reduce \
         shard_pools"
    )]
    TooLarge {
        /// The slot.
        slot: Slot,
        /// The shard.
        shard: String,
        /// Its bytes.
        found: usize,
    },
    /// A reading cannot be parsed.
    #[error("the reading of {shard} at slot {slot} cannot be read: {what}")]
    Unreadable {
        /// The slot.
        slot: Slot,
        /// The shard.
        shard: String,
        /// The reason.
        what: String,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The share of one recorder in the reading.
pub struct Share(Attendant);

impl std::fmt::Debug for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Share").finish_non_exhaustive()
    }
}

impl Share {
    /// A share of the reading for the store on a server. It holds no shard yet.
    pub fn open(store: &Path) -> Result<Self, SharingError> {
        let opened = attendant(store);
        let opened = opened.ok_or_else(|| SharingError::NotAServer { path: store.to_owned() })?;
        Ok(Self(opened?))
    }

    /// The same share over a new connection, after the previous one was lost.
    pub fn again(&self) -> Result<Self, SharingError> {
        Ok(Self(self.0.again()?))
    }

    /// How long its shards stay reserved after its last report.
    pub fn holds(&self) -> Duration {
        self.0.holds()
    }

    /// Whether its connection is open.
    pub fn is_open(&self) -> bool {
        self.0.is_open()
    }

    /// Reports that this recorder is alive, and returns the shards that it must read until it reports again: the shards
    /// that it had, and free ones, up to its share of all. Call this three times per lease duration. If `may_leave`,
    /// shards beyond its share go to other recorders; a recorder that is in the middle of reading keeps its shards.
    pub fn attend(
        &self,
        shards: &[String],
        may_leave: bool,
    ) -> Result<Vec<HeldShard>, SharingError> {
        Ok(self.0.attend(shards, may_leave)?)
    }

    /// Releases all shards at once instead of waiting until the lease expires.
    pub fn leave(&self) -> Result<(), SharingError> {
        Ok(self.0.leave()?)
    }

    /// Submits the reading of a shard at a slot. If it counts, the slot is sealed with it, even if this process ends.
    /// If there are several readings, the first counts.
    pub fn put(&self, slot: Slot, of: &HeldShard, reading: &[u8]) -> Result<Put, SharingError> {
        let shard = || of.shard.clone();
        if reading.len() > MAX_READING_BYTES {
            return Err(SharingError::TooLarge { slot, shard: shard(), found: reading.len() });
        }
        let packed = zstd::bulk::compress(reading, EFFORT).map_err(|error| {
            SharingError::Unreadable { slot, shard: shard(), what: error.to_string() }
        })?;
        Ok(self.0.put(slot.number(), of, &packed)?)
    }
}

impl Store {
    /// The shards that have readings of a slot.
    pub fn shards_read(&self, slot: Slot) -> Result<Vec<String>, StoreError> {
        self.reader().db.shards_read(slot.number())
    }

    /// The shards that a recorder currently holds.
    pub fn shards_held(&self) -> Result<Vec<String>, StoreError> {
        self.reader().db.shards_held()
    }

    /// Excludes all later readings of this slot and of earlier ones. The readings that count are stored when this
    /// returns.
    pub fn freeze(&self, slot: Slot) -> Result<(), StoreError> {
        self.reader().db.freeze(slot.number())
    }

    /// The reading of a shard at a slot.
    pub fn shard_reading(&self, slot: Slot, shard: &str) -> Result<Option<Vec<u8>>, SharingError> {
        let Some(packed) = self.reader().db.reading_of(slot.number(), shard)? else {
            return Ok(None);
        };
        // The frame states the size. If it does not, the same limit applies.
        let size = zstd::zstd_safe::get_frame_content_size(&packed).ok().flatten();
        let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(MAX_READING_BYTES);
        let unpacked = zstd::bulk::decompress(&packed, size.min(MAX_READING_BYTES));
        unpacked.map(Some).map_err(|error| {
            let (shard, what) = (shard.to_owned(), error.to_string());
            SharingError::Unreadable { slot, shard, what }
        })
    }

    /// The first slot after this one that has readings, which the previous sealing recorder did not reach.
    pub fn next_read(&self, after: Option<Slot>) -> Result<Option<Slot>, StoreError> {
        let next = self.reader().db.next_read(after.map(Slot::number))?;
        next.map(|slot| slot_of("reading", slot)).transpose()
    }
}
