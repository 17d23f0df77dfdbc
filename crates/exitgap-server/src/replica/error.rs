//! Why a log cannot be followed, or not any further: one variant per cause.

use std::io;
use std::path::PathBuf;

use exitgap_client::copy::CopyError;
use exitgap_core::file_errors::explained;
use exitgap_core::tlog::SignedError;
use exitgap_store::{FollowError, StoreError};

/// Why a log cannot be followed, or not any further. What was followed before stays.
#[derive(Debug, thiserror::Error)]
pub enum ReplicaError {
    /// Its files cannot be downloaded, or are not those of a log.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The newest checkpoint is not accepted.
    #[error(
        "the newest checkpoint is not accepted: {why}; if the log changed its key, trust the new key too"
    )]
    NotTrusted {
        /// The reason.
        why: Box<SignedError>,
    },
    /// A trusted key signed two different histories.
    #[error(
        "the log's checkpoint of {told} slots does not continue the followed checkpoint of {held} slots: two histories are signed in its name. {path} proves it; check that file with `exitgap verify {path} --trust KEY`"
    )]
    TwoHistories {
        /// Number of slots held here.
        held: u64,
        /// Number of slots in the other history.
        told: u64,
        /// The path of the proof.
        path: PathBuf,
    },
    /// The log has fewer slots than it had.
    #[error(
        "the log's newest checkpoint has {there} slots, but an accepted one had {here}; the log became shorter"
    )]
    RolledBack {
        /// How many slots the accepted one has.
        here: u64,
        /// How many the newest one has now.
        there: u64,
    },
    /// The downloaded files differ from what was signed, or the store cannot apply them.
    #[error(transparent)]
    Follow(#[from] FollowError),
    /// The store cannot be opened or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file cannot be written.
    #[error("{path}: {}", explained(source))]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl ReplicaError {
    /// Whether a retry cannot help: the cause is on this machine, or the folder belongs to another log.
    pub fn ends(&self) -> bool {
        match self {
            Self::Copy(error) => matches!(
                error,
                CopyError::Folder { .. }
                    | CopyError::NotACopy { .. }
                    | CopyError::Damaged { .. }
                    | CopyError::InUse { .. }
            ),
            Self::Follow(error) => matches!(error, FollowError::Restore(_)),
            Self::Store(_) | Self::File { .. } => true,
            Self::NotTrusted { .. } | Self::TwoHistories { .. } | Self::RolledBack { .. } => false,
        }
    }

    /// Whether the log was reached, but its content was rejected.
    pub fn refuses(&self) -> bool {
        match self {
            Self::Copy(error) => matches!(
                error,
                CopyError::OtherKeys { .. }
                    | CopyError::OtherLog { .. }
                    | CopyError::Shrank { .. }
                    | CopyError::PartHash { .. }
                    | CopyError::PartLength { .. }
                    | CopyError::TooManySlots { .. }
                    | CopyError::Unsigned { .. }
                    | CopyError::NotSigned { .. }
                    | CopyError::Invalid { .. }
            ),
            Self::Follow(_)
            | Self::NotTrusted { .. }
            | Self::TwoHistories { .. }
            | Self::RolledBack { .. } => true,
            Self::Store(_) | Self::File { .. } => false,
        }
    }

    /// A stable code.
    pub fn code(&self) -> &str {
        match self {
            Self::Copy(error) => error.code(),
            Self::NotTrusted { .. } | Self::Follow(FollowError::NotTrusted { .. }) => "not_trusted",
            Self::TwoHistories { .. } | Self::Follow(FollowError::Contradicts { .. }) => {
                "two_histories"
            }
            Self::Follow(FollowError::OtherLog { .. }) => "other_log",
            Self::Follow(FollowError::Checkpoint(_)) => "not_as_specified",
            Self::Follow(FollowError::Slot { .. }) => "not_as_signed",
            Self::Follow(FollowError::Restore(_)) | Self::Store(_) => "store",
            Self::RolledBack { .. } => "log_shrank",
            Self::File { .. } => "file",
        }
    }
}
