//! Closed days of a log as columns (`docs/days-v1.md`): the places of their files, the content of a
//! day's manifest, and the leaf by which a second small log, of days, commits to it.
//!
//! **In scope**: names, documents and their bounds. **Out of scope**: the columns themselves (the
//! store).

mod file;
mod history;
mod leaf;
mod manifest;

pub use file::{DayFile, DaysFile};
pub use history::{DaysHistory, HistoryError, days_keys};
pub use leaf::{DayLeaf, DayLeafError, days_origin};
pub use manifest::{DayManifest, DayManifestError, FileRef, RangeRef};

/// The most pools in one file.
pub const MAX_RANGE_POOLS: u32 = 250;

/// The largest manifest of a day, in bytes: two files for each range, up to a million pools.
pub const MAX_DAY_MANIFEST_BYTES: usize = 8 << 20;

/// The largest file of a day, in bytes. A range of pools is split well before that.
pub const MAX_DAY_FILE_BYTES: u64 = 256 << 20;

/// The largest leaf of the log of days, in bytes.
pub const MAX_DAY_LEAF_BYTES: usize = 512;
