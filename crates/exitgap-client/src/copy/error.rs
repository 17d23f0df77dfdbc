//! Why a copy could not be brought up to date: one variant per cause.

use std::io;
use std::path::PathBuf;

use exitgap_core::Newer;
use exitgap_core::ids::DocumentHash;
use exitgap_core::series::Slot;
use exitgap_core::tlog::Origin;

use super::fetch::{LONGEST_PAUSE, LONGEST_WAIT};
use crate::{ClientError, TransportError};

/// Why a copy is not up to date. What was fetched before stays.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's words say what it is")]
pub enum CopyError {
    #[error("{0}")]
    Service(#[from] ClientError),
    #[error("{url}: {error}")]
    Unanswered { url: String, error: TransportError },
    #[error("{url} answered {status} where a file of the log was expected{}", redirected(*status))]
    Refused { url: String, status: u16 },
    #[error(
        "{url} answered {status} and asks to be left alone for {asked_s} s; no more than {} s at once and {} s in all are waited",
        LONGEST_PAUSE.as_secs(), LONGEST_WAIT.as_secs()
    )]
    Busy { url: String, status: u16, asked_s: u64 },
    #[error("{url} is not there, and the log's checkpoint commits to it")]
    Absent { url: String },
    #[error("{url}: {why}")]
    Invalid { url: String, why: String },
    #[error("{url}: {newer}")]
    Newer { url: String, newer: Newer },
    #[error("{url} has {found} bytes, its manifest says {expected}")]
    PartLength { url: String, expected: u64, found: u64 },
    #[error("{url} hashes to {found}, which is not its name")]
    PartHash { url: String, found: DocumentHash },
    #[error(
        "{url} says that the log has {size} slots from {first} on, and by this machine's clock it is slot {now}: \
         so many cannot have been"
    )]
    TooManySlots { url: String, size: u64, first: Slot, now: u64 },
    #[error("{url} is a checkpoint of {there} slots, the copy has one of {here}: the log shrank")]
    Shrank { url: String, here: u64, there: u64 },
    #[error("{url} is of {there}, and the copy of {here}: each log needs a folder of its own")]
    OtherLog { url: String, here: Origin, there: Origin },
    #[error(
        "{url} is not what the copy has of it, and it is never changed: this is another log, or a false one"
    )]
    Changed { url: String },
    #[error(
        "{url} does not begin with the keys that the copy has, of which none is ever taken out: this is another log, or a false one"
    )]
    OtherKeys { url: String },
    #[error("{}: {why}; remove it to have it fetched again", path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("{}: {error}", path.display())]
    Folder { path: PathBuf, error: io::Error },
    #[error("{} holds other files, and no copy of a log", path.display())]
    NotACopy { path: PathBuf },
    #[error("{}: another process is bringing this copy up to date", path.display())]
    InUse { path: PathBuf },
    #[error("it took longer than {seconds} s; the next look goes on from there")]
    OutOfTime { seconds: u64 },
}

fn redirected(status: u16) -> &'static str {
    if (300..400).contains(&status) { "; redirects are not followed" } else { "" }
}

impl CopyError {
    /// A stable code.
    pub fn code(&self) -> &str {
        match self {
            Self::Service(error) => error.code(),
            Self::Unanswered { error, .. } => match error {
                TransportError::Unreachable(_) => "unreachable",
                TransportError::TimedOut(_) => "timed_out",
                TransportError::TooLarge { .. } => "answer_too_large",
                TransportError::Payment { code, .. } => code,
            },
            Self::Refused { .. } | Self::Invalid { .. } => "not_as_specified",
            Self::Busy { .. } => "rate_limited",
            Self::Absent { .. } => "file_absent",
            Self::Newer { newer, .. } => newer.code(),
            Self::PartLength { .. } | Self::PartHash { .. } => "part_hash_mismatch",
            Self::TooManySlots { .. } => "log_too_long",
            Self::Shrank { .. } => "log_shrank",
            Self::OtherLog { .. } | Self::Changed { .. } | Self::OtherKeys { .. } => "other_log",
            Self::Damaged { .. } => "copy_damaged",
            Self::Folder { .. } => "copy_unwritable",
            Self::NotACopy { .. } => "not_a_copy",
            Self::InUse { .. } => "copy_in_use",
            Self::OutOfTime { .. } => "timed_out",
        }
    }
}
