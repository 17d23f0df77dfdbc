//! Requests over sockets.

use core::hash::BuildHasher;
use core::time::Duration;
use std::hash::RandomState;

use exitgap_api::operations::Method;

use crate::transport::{Request, Response, Transport, TransportError};

/// A connection pool on the operating system's sockets. It follows no redirects: an answer comes from the requested
/// address.
#[derive(Debug, Clone)]
pub struct Native {
    client: reqwest::Client,
}

impl Native {
    /// A new pool of connections.
    pub fn new() -> Result<Self, TransportError> {
        // An error means that this process has already chosen its cryptography provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("exitgap-client/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| TransportError::Unreachable(chain(&error)))?;
        Ok(Self { client })
    }
}

/// An error with its causes, because the outermost alone is not informative.
fn chain(error: &dyn core::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// An answer whose body is read in pieces.
#[derive(Debug)]
pub struct StreamedResponse {
    /// The HTTP status.
    pub status: u16,
    /// The headers that the client uses, names in lower case.
    pub headers: Vec<(String, String)>,
    answer: reqwest::Response,
    timeout: Duration,
    max_bytes: usize,
    /// The number of bytes that may still come.
    left: usize,
}

impl StreamedResponse {
    /// The header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    /// The body's next piece; `None` after the last one. Has the same limits as [`Transport::send`].
    pub async fn piece(&mut self) -> Result<Option<Vec<u8>>, TransportError> {
        let chunk =
            self.answer.chunk().await.map_err(|error| transport_error(error, self.timeout))?;
        let Some(chunk) = chunk else { return Ok(None) };
        let left = self.left.checked_sub(chunk.len());
        self.left = left.ok_or(TransportError::TooLarge { max_bytes: self.max_bytes })?;
        Ok(Some(chunk.into()))
    }
}

fn transport_error(error: reqwest::Error, timeout: Duration) -> TransportError {
    if error.is_timeout() {
        TransportError::TimedOut(timeout)
    } else {
        TransportError::Unreachable(chain(&error.without_url()))
    }
}

impl Native {
    /// Sends a request, and leaves its body to be read in pieces: for files too large for memory.
    pub async fn open(&self, request: &Request) -> Result<StreamedResponse, TransportError> {
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Delete => reqwest::Method::DELETE,
        };
        let asked = self.client.request(method, &request.url).header("accept", request.accept);
        let mut asked = match request.body.as_slice() {
            [] => asked,
            body => asked.header("content-type", "application/json").body(body.to_vec()),
        };
        if request.fresh {
            asked = asked.header("cache-control", "no-cache");
        }
        for (name, value) in &request.headers {
            asked = asked.header(*name, value);
        }
        let (timeout, max_bytes) = (request.timeout, request.max_bytes);
        let answer =
            asked.timeout(timeout).send().await.map_err(|error| transport_error(error, timeout))?;
        let headers = Response::HEADERS.into_iter().filter_map(|name| {
            let value = answer.headers().get(name)?.to_str().ok()?;
            Some((name.to_owned(), value.to_owned()))
        });
        let (status, headers) = (answer.status().as_u16(), headers.collect());
        Ok(StreamedResponse { status, headers, answer, timeout, max_bytes, left: max_bytes })
    }
}

impl Transport for Native {
    async fn send(&self, request: &Request) -> Result<Response, TransportError> {
        let mut incoming = self.open(request).await?;
        let mut body = Vec::new();
        while let Some(piece) = incoming.piece().await? {
            body.extend_from_slice(&piece);
        }
        let StreamedResponse { status, headers, .. } = incoming;
        Ok(Response { status, headers, body })
    }

    async fn pause(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    fn random(&self) -> u32 {
        // Each of these hashers has random keys of its own.
        let [a, b, c, d, ..] = RandomState::new().hash_one(()).to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }
}
