//! Why a copy could not be updated: one variant per cause.

use std::io;
use std::path::PathBuf;

use exitgap_core::Newer;
use exitgap_core::file_errors::explained;
use exitgap_core::ids::DocumentHash;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Origin, SignedError};

use super::fetch::{LONGEST_PAUSE, LONGEST_WAIT};
use crate::{ClientError, TransportError};

/// Why a copy is not up to date. Files that were already downloaded stay.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's words say what it is")]
pub enum CopyError {
    #[error("{0}")]
    Service(#[from] ClientError),
    #[error("{url}: {error}")]
    Unanswered { url: String, error: TransportError },
    #[error("{url} answered HTTP {status}, but a file of the log was expected{}", redirect_note(*status))]
    Refused { url: String, status: u16 },
    #[error(
        "{url} answered HTTP {status} and asks to wait {asked_s} s; the maximum wait is {} s at once and {} s in \
         total",
        LONGEST_PAUSE.as_secs(), LONGEST_WAIT.as_secs()
    )]
    Busy { url: String, status: u16, asked_s: u64 },
    #[error("{url} does not exist, but the log's checkpoint commits to it")]
    Absent { url: String },
    #[error("{url}: {why}")]
    Invalid { url: String, why: String },
    #[error("{url}: the newest checkpoint is not accepted: {error}; nothing more was fetched")]
    Unsigned { url: String, error: Box<SignedError> },
    #[error("{url}: {why}, so it is not part of the signed log")]
    NotSigned { url: String, why: String },
    #[error("{url}: {newer}")]
    Newer { url: String, newer: Newer },
    #[error("{url} has {found} bytes, but its manifest has {expected}")]
    PartLength { url: String, expected: u64, found: u64 },
    #[error("{url} has the hash {found}, which is not its name")]
    PartHash { url: String, found: DocumentHash },
    #[error(
        "{url} claims that the log has {size} slots from {first} on, but by this machine's clock the current slot \
         is {now}, so the log cannot have that many slots"
    )]
    TooManySlots { url: String, size: u64, first: Slot, now: u64 },
    #[error(
        "{url} is a checkpoint of {there} slots, but the copy has one of {here}; the log became shorter"
    )]
    Shrank { url: String, here: u64, there: u64 },
    #[error("{url} belongs to {there}, but the copy to {here}; use a separate folder for each log")]
    OtherLog { url: String, here: Origin, there: Origin },
    #[error(
        "{url} does not begin with the keys of the copy, although keys are never removed; it is a different or a \
         false log"
    )]
    OtherKeys { url: String },
    #[error("{}: {why}; remove it so that it is downloaded again", path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("{}: {}", path.display(), explained(error))]
    Folder { path: PathBuf, error: io::Error },
    #[error("{} has other files and is not a copy of a log", path.display())]
    NotACopy { path: PathBuf },
    #[error("{}: another process is updating this copy", path.display())]
    InUse { path: PathBuf },
    #[error("it took longer than {seconds} s; the next update continues from there")]
    OutOfTime { seconds: u64 },
}

fn redirect_note(status: u16) -> &'static str {
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
            Self::Unsigned { .. } => "signature_not_trusted",
            Self::NotSigned { .. } => "not_as_signed",
            Self::Busy { .. } => "rate_limited",
            Self::Absent { .. } => "file_absent",
            Self::Newer { newer, .. } => newer.code(),
            Self::PartLength { .. } | Self::PartHash { .. } => "part_hash_mismatch",
            Self::TooManySlots { .. } => "log_too_long",
            Self::Shrank { .. } => "log_shrank",
            Self::OtherLog { .. } | Self::OtherKeys { .. } => "other_log",
            Self::Damaged { .. } => "copy_damaged",
            Self::Folder { .. } => "copy_unwritable",
            Self::NotACopy { .. } => "not_a_copy",
            Self::InUse { .. } => "copy_in_use",
            Self::OutOfTime { .. } => "timed_out",
        }
    }
}
