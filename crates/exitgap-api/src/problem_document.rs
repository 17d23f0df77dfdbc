//! Problems as the service sends them (RFC 9457).

use serde::{Deserialize, Serialize};

use crate::Problem;

/// The media type of a [`ProblemDocument`].
pub const PROBLEM_JSON: &str = "application/problem+json";

/// A problem over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProblemDocument {
    /// The type of problem: `urn:exitgap:problem:<code>`.
    #[serde(rename = "type")]
    pub kind: String,
    /// A title for the type, the same each time.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// Code, cause, field, hint.
    #[serde(flatten)]
    pub problem: Problem,
    /// The id of this answer in the service's log.
    pub request_id: String,
}

impl ProblemDocument {
    /// The document of a problem.
    pub fn new(problem: Problem, request_id: String) -> Self {
        Self {
            kind: format!("urn:exitgap:problem:{}", problem.code.as_str()),
            title: problem.code.title().to_owned(),
            status: problem.code.http_status(),
            problem,
            request_id,
        }
    }
}
