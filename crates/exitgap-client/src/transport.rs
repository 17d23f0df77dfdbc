//! What a client needs from its environment: requests, pauses and a little randomness.

use core::future::Future;
use core::time::Duration;

use exitgap_api::operations::Method;
use exitgap_api::x402;

/// Sends requests, and waits.
pub trait Transport {
    /// Sends a request and reads the response. Must give up at the request's timeout, and stop reading once the body
    /// exceeds its limit. Dropping the future must abort the request. Must not follow redirects: a payment in a request
    /// is meant only for the requested address.
    fn send(&self, request: &Request) -> impl Future<Output = Result<Response, TransportError>>;

    /// Waits.
    fn pause(&self, time: Duration) -> impl Future<Output = ()>;

    /// Any number; it spreads the retries of many clients.
    fn random(&self) -> u32;
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The JSON body; usually empty.
    pub body: Vec<u8>,
    /// The complete URL.
    pub url: String,
    /// The requested media type.
    pub accept: &'static str,
    /// Timeout for the answer, including its body.
    pub timeout: Duration,
    /// Maximum size of the body.
    pub max_bytes: usize,
    /// Whether caches must revalidate with the service before they answer.
    pub fresh: bool,
    /// Further headers for a payment. Names in lower case.
    pub headers: Vec<(&'static str, String)>,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The headers that the client uses, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// Headers that a transport must pass on if they are present.
    pub const HEADERS: [&'static str; 10] = [
        "retry-after",
        "content-type",
        x402::X_PAYMENT_AMOUNT,
        x402::X_PAYMENT_CURRENCY,
        x402::X_PAYMENT_NETWORK,
        x402::X_PAYMENT_RECIPIENT,
        x402::PAYMENT_REQUIRED,
        x402::PAYMENT_RESPONSE,
        x402::X_PAYMENT_RESPONSE,
        x402::X_PAYMENT_RECEIPT,
    ];

    /// The header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// Why there was no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// There was no connection, or it broke.
    #[error("{0}")]
    Unreachable(String),
    /// The request's timeout was exceeded.
    #[error("no response within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The body exceeds the request's limit.
    #[error("the response is longer than the maximum of {max_bytes} bytes")]
    TooLarge {
        /// The limit.
        max_bytes: usize,
    },
    /// A transport that pays did not pay, or does not know whether it did.
    #[error("{detail}")]
    Payment {
        /// The stable code of the cause.
        code: &'static str,
        /// The cause.
        detail: String,
        /// The remedy.
        hint: String,
    },
}
