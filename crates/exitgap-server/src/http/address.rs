//! What a request asks with its address: what varies of the path, and the query. Which
//! parameters there are, and what each may hold, the table of operations says.

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::Uri;
use axum::http::request::Parts;
use exitgap_api::operations::{Given, Operation, Question};
use exitgap_api::{Problem, ProblemCode};

use super::reply::HttpRefusal;

/// The address of a request.
#[derive(Debug)]
pub struct Address {
    named: Option<String>,
    uri: Uri,
}

impl Address {
    /// What varies of the path, decoded, its parts as they stand there; empty where none does.
    pub fn path_or_empty(&self) -> &str {
        self.named.as_deref().unwrap_or_default()
    }

    /// The same; `None` where nothing varies.
    pub fn path(&self) -> Option<&str> {
        self.named.as_deref()
    }

    /// What is asked with it of an operation.
    pub fn parse_question<Q: Question>(&self, operation: Operation) -> Result<Q, Problem> {
        let query = self.uri.query().unwrap_or_default();
        operation.parse_question(self.named.as_deref(), query)
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
