//! Why the bucket could not be brought up to date.

use std::path::PathBuf;

use exitgap_store::PublishError;

/// Why nothing, or not everything, was uploaded to the bucket.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// The storage did not answer, or not in time.
    #[error("{object}: {source}")]
    Unanswered {
        /// The object.
        object: String,
        /// What was said.
        source: object_store::Error,
    },
    /// These credentials do not permit the request.
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
        /// The maximum number of bytes.
        most: u64,
    },
    /// A write-once object already exists with different content.
    #[error(
        "{object} already exists with different content, and published files are never changed"
    )]
    Differs {
        /// The object.
        object: String,
    },
    /// The storage overwrites existing objects without an error.
    #[error(
        "{object} could be created twice: this storage does not honour If-None-Match: *, so two recorders could sign two histories; remove [bucket] claims, or use storage that supports it"
    )]
    MadeTwice {
        /// The object.
        object: String,
    },
    /// The bucket lacks an object that it must have by now.
    #[error("{object} does not exist; `record` and `serve` upload it")]
    Lacks {
        /// The object.
        object: String,
    },
    /// Another writer replaced the object between reading and replacing it, or the storage returned an outdated answer.
    #[error("{object} differs from what was read before")]
    Moved {
        /// The object.
        object: String,
    },
    /// The log in the bucket cannot be continued.
    #[error(transparent)]
    Contradicts(PublishError),
    /// The folder or the store could not be read.
    #[error(transparent)]
    Own(PublishError),
    /// The folder's closed days could not be read.
    #[error(transparent)]
    Days(Box<exitgap_store::days::DaysError>),
    /// The folder lacks a file that its checkpoint commits to.
    #[error("{path} does not exist, but the folder's checkpoint commits to it")]
    Absent {
        /// The file.
        path: PathBuf,
    },
    /// A file in the folder is not valid.
    #[error("{path}: {why}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A thread for the upload could not be started.
    #[error("starting a thread for the bucket: {0}")]
    Thread(std::io::Error),
}

impl BucketError {
    /// A stable code, for metrics.
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

    /// Whether the error may resolve without intervention.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unanswered { .. } | Self::Moved { .. } | Self::Absent { .. })
    }
}
