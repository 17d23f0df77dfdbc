//! Why the bucket was not brought up to date.

use std::path::PathBuf;

use exitgap_store::PublishError;

/// Why nothing, or not all, came into the bucket.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// It did not answer, or not in time.
    #[error("{object}: {source}")]
    Unanswered {
        /// The object.
        object: String,
        /// What was said.
        source: object_store::Error,
    },
    /// These credentials may not do it.
    #[error("{object}: these credentials do not allow this operation: {source}")]
    Denied {
        /// The object.
        object: String,
        /// What was said.
        source: object_store::Error,
    },
    /// An object is larger than any such file.
    #[error("{object} has {found} bytes, above the limit of {most} for this file")]
    TooLarge {
        /// The object.
        object: String,
        /// Its bytes.
        found: u64,
        /// The most there may be.
        most: u64,
    },
    /// An object that is made once is there with other bytes.
    #[error(
        "{object} already exists with different content, and published files are never changed"
    )]
    Differs {
        /// The object.
        object: String,
    },
    /// The storage makes an object anew that is there, and says nothing.
    #[error(
        "{object} could be created twice: this storage does not honour If-None-Match: *, so two recorders could sign two histories; remove [bucket] claims, or use storage that supports it"
    )]
    MadeTwice {
        /// The object.
        object: String,
    },
    /// The bucket does not have what is to be in it by now.
    #[error("{object} does not exist; `record` and `serve` upload it")]
    Lacks {
        /// The object.
        object: String,
    },
    /// Another writer came between reading an object and replacing it, or an old answer was given.
    #[error("{object} differs from what was read before")]
    Moved {
        /// The object.
        object: String,
    },
    /// What is in the bucket cannot be gone on with.
    #[error(transparent)]
    Contradicts(PublishError),
    /// The folder or the store could not be read.
    #[error(transparent)]
    Own(PublishError),
    /// The folder's closed days could not be read.
    #[error(transparent)]
    Days(Box<exitgap_store::days::DaysError>),
    /// The folder does not have what its checkpoint commits to.
    #[error("{path} does not exist, but the folder's checkpoint commits to it")]
    Absent {
        /// The file.
        path: PathBuf,
    },
    /// A file of the folder is none.
    #[error("{path}: {why}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A thread for it could not be started.
    #[error("starting a thread for the bucket: {0}")]
    Thread(std::io::Error),
}

impl BucketError {
    /// A stable code, for measures.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unanswered { .. } => "unanswered",
            Self::Denied { .. } => "denied",
            Self::TooLarge { .. } => "too_large",
            Self::Differs { .. } => "differs",
            Self::Lacks { .. } => "lacks",
            Self::MadeTwice { .. } => "made_twice",
            Self::Moved { .. } => "moved",
            Self::Contradicts(_) => "contradicts",
            Self::Own(_)
            | Self::Days(_)
            | Self::Absent { .. }
            | Self::Damaged { .. }
            | Self::Thread(_) => "own_failure",
        }
    }

    /// Whether it may go better without anybody's doing.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unanswered { .. } | Self::Moved { .. } | Self::Absent { .. })
    }
}
