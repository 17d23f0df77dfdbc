//! Closed days as Parquet (`exitgap-core/docs/days-v1.md`): two files for each range of pools and
//! one of slots, whose manifest a second small log commits to. They are written from a store and
//! can be checked on their own.
//!
//! - `table`: rows of typed cells in a file, and `pages`, the limits on unpacking; `rows`: the
//!   columns
//! - `writer`: creates a day's files from a store; `log`: the log of days that commits to them
//! - `old_days`: whether a day's data may be removed from a server's database
//! - `open`: a day's files in a folder; `audit`: checks all of them, pool by pool in `pool`;
//!   `signed_day`, a day's heads against what was signed; `around`, the heads of the days around,
//!   from which the columns in `other_slots` follow; `unchecked`, what is left open; `fault`, what
//!   can be wrong
//!
//! **Out of scope**, with the crate responsible: manifests and leaves as documents
//! (`exitgap-core`), downloading days (`exitgap-cli`).

mod around;
mod audit;
mod fault;
mod log;
mod old_days;
mod open;
mod other_slots;
mod pages;
mod pool;
mod rows;
mod signed_day;
mod table;
#[cfg(test)]
mod table_tests;
mod unchecked;
mod writer;

#[cfg(test)]
mod forged_tests;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use exitgap_core::log_folder::days::{DayFile, DayManifestError};
use exitgap_core::series::Day;

use crate::error::StoreError;
use crate::folder::PublishError;

pub use audit::{DayAudited, DayCounts, audit_day, audit_day_among, is_day};
pub use fault::{AuditError, DayFault};
pub use log::{DayWritten, DaysLog, PublishedDays, covers};
pub use old_days::{OldDay, check_leaving, check_left, list_old_days};
pub use open::{DayEntry, DayFolder};
pub(crate) use rows::EvidenceRow;
pub use table::TableError;
pub use unchecked::{Unchecked, UncheckedReason};
pub use writer::last_closed;

/// Why a day is not written.
#[derive(Debug, thiserror::Error)]
pub enum DaysError {
    /// The store has no log, or lacks the slots.
    #[error("the store has no data for that day")]
    Nothing,
    /// A file could not be written.
    #[error("{file} could not be written: {reason}")]
    Write {
        /// The file.
        file: DayFile,
        /// The cause.
        reason: String,
    },
    /// A single pool's day is larger than a file may be.
    #[error("{file} would have {bytes} bytes, which is more than the maximum for a file of a day")]
    TooLarge {
        /// The file.
        file: DayFile,
        /// Its bytes.
        bytes: u64,
    },
    /// The written files do not give a valid manifest.
    #[error("the day's manifest: {0}")]
    Manifest(#[from] DayManifestError),
    /// A document cannot be written.
    #[error("a document of the log of days cannot be created: {why}")]
    Unwritable {
        /// The cause.
        why: String,
    },
    /// The published log of days is invalid.
    #[error("{path}: {why}; restore this folder from a copy, such as the bucket's")]
    History {
        /// The path.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The newest checkpoint next to the store is invalid, or belongs to another log.
    #[error("{path}: {why}; restore the file that belongs to this store")]
    Guard {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Days were signed that are not in the folder.
    #[error(
        "{signed} days were signed, but {path} has {found}. Signing them again could create a second history; \
         restore this folder from a copy, such as the bucket's"
    )]
    Lost {
        /// The folder of days.
        path: PathBuf,
        /// The number of days in the folder.
        found: u64,
        /// The number of signed days.
        signed: u64,
    },
    /// The folder has other days than those signed.
    #[error(
        "{path} does not have the same days as the {signed} that were signed; restore this folder from a copy, \
         such as the bucket's"
    )]
    Differs {
        /// The folder of days.
        path: PathBuf,
        /// The number of signed days.
        signed: u64,
    },
    /// Another process writes them.
    #[error(
        "another process{} already writes the closed days of this store; let it finish, because a second process \
         is not needed",
        holder.map_or(String::new(), |holder| format!(" ({holder})"))
    )]
    Locked {
        /// The process, if known.
        holder: Option<u32>,
    },
    /// Several days are closed, and none was written as far as this machine knows.
    #[error(
        "{due} days are closed, but none of them was written here. If they were written before, restore a copy of \
         `days/` (`exitgap-server restore` downloads the bucket's), because signing them again could create a \
         second history; otherwise start with `exitgap-server days`"
    )]
    NotBegun {
        /// The number of due days.
        due: u64,
    },
    /// A day's files lack data that is to be removed from the database.
    #[error("{day} stays in the database: {why}")]
    Stays {
        /// The day.
        day: Day,
        /// The cause.
        why: String,
    },
    /// A day was removed from the database, and its files are absent.
    #[error(
        "{day} was removed from the database, but is not in the log of days; restore a copy of `days/`, such as \
         the bucket's"
    )]
    LeftWithout {
        /// The day.
        day: Day,
    },
    /// No signing key was given.
    #[error("no key to sign the log of days is configured")]
    NoSigner,
    /// The folder could not be read or written.
    #[error(transparent)]
    Folder(Box<PublishError>),
    /// The store could not be read, or is damaged.
    #[error(transparent)]
    Store(Box<StoreError>),
}

impl From<PublishError> for DaysError {
    fn from(error: PublishError) -> Self {
        Self::Folder(Box::new(error))
    }
}

impl From<StoreError> for DaysError {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}
