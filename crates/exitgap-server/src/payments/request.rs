//! The parts of a request that matter for its payment.

use axum::http::{HeaderMap, Uri};
use exitgap_api::x402::{PAYMENT_SIGNATURE, RequestPayment, X_PAYMENT, X_PAYMENT_PROOF, X402Error};
use sha2::{Digest, Sha256};

/// A request whose answer is priced.
#[derive(Debug, Clone)]
pub struct PricedRequest {
    /// Hash of the request's content, independent of the order of its parameters.
    pub fingerprint: [u8; 32],
    /// The absolute URL.
    pub url: String,
}

impl PricedRequest {
    /// For a `GET` of this URL.
    pub fn from_uri(uri: &Uri, base_url: &str) -> Self {
        let fingerprint = fingerprint("GET", uri.path(), uri.query().unwrap_or_default());
        let target = uri.path_and_query().map_or(uri.path(), |target| target.as_str());
        Self { fingerprint, url: [base_url, target].concat() }
    }
}

/// The SHA-256 of a request's content: `exitgap-request 1`, method, path, and the decoded parameters in byte order,
/// each on its own line as `name=value` in form encoding.
///
/// ```
/// use exitgap_server::payments::fingerprint;
/// let of = |query| fingerprint("GET", "/v1/exit/x", query);
/// assert_eq!(of("size_usd=1&base=WETH"), of("base=%57ETH&size_usd=1"));
/// assert_ne!(of("size_usd=1"), of("size_usd=2"));
/// ```
pub fn fingerprint(method: &str, path: &str, query: &str) -> [u8; 32] {
    let mut pairs: Vec<(_, _)> = form_urlencoded::parse(query.as_bytes()).collect();
    pairs.sort_unstable();
    let mut text = format!("exitgap-request 1\n{method}\n{path}\n");
    for (name, value) in &pairs {
        text.extend(form_urlencoded::byte_serialize(name.as_bytes()));
        text.push('=');
        text.extend(form_urlencoded::byte_serialize(value.as_bytes()));
        text.push('\n');
    }
    Sha256::digest(text).into()
}

/// Headers that carry a payment.
const CARRIERS: [&str; 3] = [PAYMENT_SIGNATURE, X_PAYMENT, X_PAYMENT_PROOF];

/// The payment in the headers. A header that is repeated or is not text is ignored.
pub fn find_payment(headers: &HeaderMap) -> Result<Option<RequestPayment>, X402Error> {
    for name in CARRIERS {
        let mut values = headers.get_all(name).iter();
        let first = values.next();
        if values.next().is_some() {
            return Err(X402Error::Twice { first: name, second: name });
        }
        if first.is_some_and(|value| value.to_str().is_err()) {
            return Err(X402Error::NotBase64 { what: name });
        }
    }
    RequestPayment::find(|name| headers.get(name).and_then(|value| value.to_str().ok()))
}
