//! What a client needs of the world: a request, a pause and a little randomness.

use core::future::Future;
use core::time::Duration;

use exitgap_api::operations::Method;
use exitgap_api::x402;

/// How requests are made and time passes.
pub trait Transport {
    /// Makes a request and reads what comes back. Must give up at the request's timeout, and reading once the body exceeds
    /// its limit. Dropping the future must abandon the request. Follows no redirect: what a request
    /// carries, a payment for one, is for the address that was asked.
    fn send(&self, request: &Request) -> impl Future<Output = Result<Response, TransportError>>;

    /// Waits.
    fn pause(&self, time: Duration) -> impl Future<Output = ()>;

    /// Any number: it spreads the retries of many clients.
    fn random(&self) -> u32;
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// What is sent, JSON; nothing with most.
    pub body: Vec<u8>,
    /// The whole address.
    pub url: String,
    /// The media type asked for.
    pub accept: &'static str,
    /// How long the answer may take, its body included.
    pub timeout: Duration,
    /// The most bytes of body that are read.
    pub max_bytes: usize,
    /// Whether a cache on the way must ask the service before it answers.
    pub fresh: bool,
    /// More headers: a payment's. Names in lower case.
    pub headers: Vec<(&'static str, String)>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// Headers that the client reads, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// Headers that a transport must pass on where they are present.
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

/// Why nothing came back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// No connection, or it broke off.
    #[error("{0}")]
    Unreachable(String),
    /// Longer than the request's timeout.
    #[error("no response within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// More bytes than the request accepts.
    #[error("the response is longer than the maximum of {max_bytes} bytes")]
    TooLarge {
        /// The limit.
        max_bytes: usize,
    },
    /// A transport that pays did not, or does not know whether it did.
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
