//! Reading that several recorders of a server's store share: who reads which shard of the pools, and what was read.
//!
//! A [`Share`] is one recorder's part in it: it holds shards, and puts what it read of them. Whoever seals asks its
//! [`Store`] which readings came, freezes the slot, and takes them. What a reading is, the recorder decides: here it is bytes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use exitgap_core::series::Slot;

use crate::Store;
use crate::db::{Attendant, attendant};
use crate::error::StoreError;
use crate::rows::slot_of;

pub use crate::db::{HeldShard, Put};

/// The most bytes of a reading, as it is made and as it is kept.
pub const MAX_READING_BYTES: usize = 1 << 28;

/// Most of a reading is digits: more effort makes it little smaller.
const EFFORT: i32 = 1;

/// Why the reading is not shared, or not taken.
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
    /// A reading is larger than any.
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
    /// A reading cannot be read.
    #[error("the reading of {shard} at slot {slot} cannot be read: {what}")]
    Unreadable {
        /// The slot.
        slot: Slot,
        /// The shard.
        shard: String,
        /// What is wrong with it.
        what: String,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One recorder's share of the reading.
pub struct Share(Attendant);

impl std::fmt::Debug for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Share").finish_non_exhaustive()
    }
}

impl Share {
    /// A share of the reading for the store on a server. Nothing is held yet.
    pub fn open(store: &Path) -> Result<Self, SharingError> {
        let opened = attendant(store);
        let opened = opened.ok_or_else(|| SharingError::NotAServer { path: store.to_owned() })?;
        Ok(Self(opened?))
    }

    /// The same share by another connection, where that of before was lost.
    pub fn again(&self) -> Result<Self, SharingError> {
        Ok(Self(self.0.again()?))
    }

    /// How long what it holds is held after it last said that it is there.
    pub fn holds(&self) -> Duration {
        self.0.holds()
    }

    /// Whether its connection still holds.
    pub fn is_open(&self) -> bool {
        self.0.is_open()
    }

    /// Says that this recorder is there, and which of these shards it is to read until it asks again: those that it had,
    /// and free ones, up to its share of all. It is to ask three times in the time that a lease holds. Where `may_leave`,
    /// what is beyond its share goes to others; who is in the midst of reading does not leave.
    pub fn attend(
        &self,
        shards: &[String],
        may_leave: bool,
    ) -> Result<Vec<HeldShard>, SharingError> {
        Ok(self.0.attend(shards, may_leave)?)
    }

    /// Leaves all of it to others at once, and not only when its time runs out.
    pub fn leave(&self) -> Result<(), SharingError> {
        Ok(self.0.leave()?)
    }

    /// Puts what was read of a shard at a slot: where it counts, the slot is sealed with it, whatever becomes of this process.
    /// Of several readings the first counts.
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
    /// Of which shards there are readings of a slot.
    pub fn shards_read(&self, slot: Slot) -> Result<Vec<String>, StoreError> {
        self.reader().db.shards_read(slot.number())
    }

    /// Which shards are somebody's to read.
    pub fn shards_held(&self) -> Result<Vec<String>, StoreError> {
        self.reader().db.shards_held()
    }

    /// Has no further reading of a slot count, nor of one before: those that count are there when this returns.
    pub fn freeze(&self, slot: Slot) -> Result<(), StoreError> {
        self.reader().db.freeze(slot.number())
    }

    /// What was read of a shard at a slot.
    pub fn shard_reading(&self, slot: Slot, shard: &str) -> Result<Option<Vec<u8>>, SharingError> {
        let Some(packed) = self.reader().db.reading_of(slot.number(), shard)? else {
            return Ok(None);
        };
        // Its frame says how much it is; one that says nothing is bounded alike.
        let size = zstd::zstd_safe::get_frame_content_size(&packed).ok().flatten();
        let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(MAX_READING_BYTES);
        let unpacked = zstd::bulk::decompress(&packed, size.min(MAX_READING_BYTES));
        unpacked.map(Some).map_err(|error| {
            let (shard, what) = (shard.to_owned(), error.to_string());
            SharingError::Unreadable { slot, shard, what }
        })
    }

    /// The first slot after this one of which there are readings: whoever sealed before did not come to it.
    pub fn next_read(&self, after: Option<Slot>) -> Result<Option<Slot>, StoreError> {
        let next = self.reader().db.next_read(after.map(Slot::number))?;
        next.map(|slot| slot_of("reading", slot)).transpose()
    }
}
