//! Parses a request's address: the variable part of its path, and its query. The table of operations defines the
//! parameters and their valid values.

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::Uri;
use axum::http::request::Parts;
use exitgap_api::operations::{FigureOf, Given, Operation, Question};
use exitgap_api::{Problem, ProblemCode};

use super::reply::HttpRefusal;

/// The address of a request.
#[derive(Debug)]
pub struct Address {
    named: Option<String>,
    uri: Uri,
}

impl Address {
    /// The variable part of the path, decoded, its segments joined as in the path; empty if there is none.
    pub fn path_or_empty(&self) -> &str {
        self.named.as_deref().unwrap_or_default()
    }

    /// The same; `None` if the path has no variable part.
    pub fn path(&self) -> Option<&str> {
        self.named.as_deref()
    }

    /// Parses the request's parameters for an operation.
    pub fn parse_question<Q: Question>(&self, operation: Operation) -> Result<Q, Problem> {
        let query = self.uri.query().unwrap_or_default();
        operation.parse_question(self.named.as_deref(), query)
    }

    /// The figure file that is requested.
    pub fn figure(self, operation: Operation) -> FigureOf {
        FigureOf {
            operation,
            named: self.named,
            query: self.uri.query().unwrap_or_default().to_owned(),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Address {
    type Rejection = HttpRefusal;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpRefusal> {
        let named = match RawPathParams::from_request_parts(parts, state).await {
            Ok(named) => Some(named.iter().map(|(_, value)| value).collect::<Vec<_>>().join("/")),
            Err(RawPathParamsRejection::MissingPathParams(_)) => None,
            Err(_) => {
                let detail = "the address is not UTF-8";
                return Err(Problem::new(ProblemCode::NotFound, detail).into());
            }
        };
        Ok(Self { named, uri: parts.uri.clone() })
    }
}

/// The address of a file or page that takes no parameters.
#[derive(Debug)]
pub struct Plain;

impl<S: Sync> FromRequestParts<S> for Plain {
    type Rejection = HttpRefusal;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpRefusal> {
        Given::from_url(&[], None, parts.uri.query().unwrap_or_default())?;
        Ok(Self)
    }
}
