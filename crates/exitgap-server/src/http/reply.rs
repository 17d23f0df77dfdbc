//! Answers and errors as HTTP responses.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use exitgap_api::operations::Keep;
use exitgap_api::{Problem, ProblemCode};
use serde::Serialize;
use sha2::{Digest, Sha256};

pub fn cache_control(keep: Keep) -> HeaderValue {
    match keep {
        Keep::Forever => HeaderValue::from_static("public, max-age=31536000, immutable"),
        Keep::Seconds(seconds) => HeaderValue::try_from(format!("public, max-age={seconds}"))
            .unwrap_or(HeaderValue::from_static("no-cache")),
        Keep::Never => HeaderValue::from_static("no-store"),
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    body: Bytes,
    media_type: &'static str,
    keep: Keep,
}

/// Large enough for most documents, so that the buffer does not grow while they are serialized.
const USUAL_BYTES: usize = 4 << 10;

/// The media type of documents.
pub const JSON: &str = "application/json";

/// The media type of several documents, one per line.
pub const LINES: &str = "application/x-ndjson";

impl Reply {
    /// Creates an answer of a media type.
    pub fn new(body: impl Into<Bytes>, media_type: &'static str, keep: Keep) -> Self {
        Self { body: body.into(), media_type, keep }
    }

    /// Creates an answer with a document.
    pub fn json<T: Serialize>(document: &T, keep: Keep) -> Result<Self, HttpRefusal> {
        let mut body = Vec::with_capacity(USUAL_BYTES);
        match serde_json::to_writer(&mut body, document) {
            Ok(()) => Ok(Self::new(body, JSON, keep)),
            Err(error) => {
                tracing::error!(%error, "an answer could not be written");
                Err(Problem::new(ProblemCode::InternalError, "the answer could not be written")
                    .into())
            }
        }
    }

    /// Changes the media type.
    pub fn of_type(self, media_type: &'static str) -> Self {
        Self { media_type, ..self }
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let tag = (self.keep != Keep::Never).then(|| etag(&self.body));
        respond(Body::from(self.body), self.media_type, self.keep, tag)
    }
}

/// Creates an answer whose bytes are not in memory, with a given validator.
pub fn respond_with_tag(body: Body, media_type: &'static str, keep: Keep, tag: &str) -> Response {
    respond(body, media_type, keep, HeaderValue::try_from(tag).ok())
}

fn respond(body: Body, media_type: &'static str, keep: Keep, tag: Option<HeaderValue>) -> Response {
    let mut headers = axum::http::HeaderMap::with_capacity(10);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, cache_control(keep));
    if let Some(tag) = tag {
        headers.insert(ETAG, tag);
    }
    (headers, body).into_response()
}

/// A weak validator, because compressed answers have it too.
fn etag(body: &[u8]) -> HeaderValue {
    let hash = Sha256::digest(body);
    let mut text = String::with_capacity(36);
    text.push_str("W/\"");
    for byte in &hash[..16] {
        text.push(char::from(b"0123456789abcdef"[usize::from(byte >> 4)]));
        text.push(char::from(b"0123456789abcdef"[usize::from(byte & 15)]));
    }
    text.push('"');
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("W/\"\""))
}

/// An error answer. The edge writes its document, because only the edge knows the request's id.
#[derive(Debug, Clone)]
pub struct HttpRefusal(pub Box<Problem>);

impl From<Problem> for HttpRefusal {
    fn from(problem: Problem) -> Self {
        Self(Box::new(problem))
    }
}

impl IntoResponse for HttpRefusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.code.http_status());
        let mut response = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response();
        response.extensions_mut().insert(self);
        response
    }
}
