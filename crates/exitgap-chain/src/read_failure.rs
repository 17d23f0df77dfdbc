//! Why a pool was not read.

use core::fmt;

use exitgap_core::series::MissingReason;

use crate::rpc::Failure;

/// A failed reading: the reason that is recorded, and a text for the operator. The text names nodes only by host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFailure {
    /// The reason, as recorded.
    pub reason: MissingReason,
    /// A description of the failure, for logs.
    pub detail: String,
}

impl ReadFailure {
    pub(crate) fn new(reason: MissingReason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

impl From<Failure> for ReadFailure {
    fn from(failure: Failure) -> Self {
        Self { reason: failure.reason(), detail: failure.detail }
    }
}

impl fmt::Display for ReadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.detail)
    }
}

impl std::error::Error for ReadFailure {}
