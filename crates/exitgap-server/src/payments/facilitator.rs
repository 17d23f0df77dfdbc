//! Settlement by another party: a facilitator, called over HTTP. Nothing that it reports counts as an outcome.

use core::time::Duration;
use std::sync::Arc;

use exitgap_api::x402::{Settlement, Verification};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};

/// Time limit for the facilitator's answer whether it would settle.
const VERIFY_WITHIN: Duration = Duration::from_secs(8);

/// Time limit for settling, which takes a block or two. No request waits for it: the chain is checked meanwhile.
const SETTLE_WITHIN: Duration = Duration::from_mins(1);

/// Maximum answer length, bytes.
const MAX_ANSWER: usize = 64 << 10;

/// A facilitator.
#[derive(Debug, Clone)]
pub struct Facilitator {
    client: Client,
    url: Url,
}

/// A facilitator's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacilitatorUrl(Url);

/// Why there is no usable answer from the facilitator.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Silence {
    /// The request failed or timed out.
    #[error("the facilitator: {0}")]
    Request(Arc<reqwest::Error>),
    /// The status was not 200.
    #[error("the facilitator answered {0}")]
    Status(u16),
    /// The answer was too long.
    #[error("the facilitator's answer is longer than {MAX_ANSWER} bytes")]
    TooLong,
    /// The answer could not be parsed.
    #[error("{0}")]
    Unreadable(String),
}

impl From<reqwest::Error> for Silence {
    fn from(error: reqwest::Error) -> Self {
        Self::Request(Arc::new(error.without_url()))
    }
}

impl FacilitatorUrl {
    /// Parses a URL: https, or on this machine; without user, query or fragment.
    pub fn parse(text: &str) -> Option<Self> {
        let url: Url = text.parse().ok()?;
        let here = match url.host()? {
            url::Host::Domain(name) => name == "localhost",
            url::Host::Ipv4(ip) => ip.is_loopback(),
            url::Host::Ipv6(ip) => ip.is_loopback(),
        };
        let is_safe = url.scheme() == "https" || (url.scheme() == "http" && here);
        let is_plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        (is_safe && is_plain).then_some(Self(url))
    }
}

impl Facilitator {
    /// Creates a client for this URL. It follows no redirects: a signed payment must go nowhere else.
    pub fn new(url: &FacilitatorUrl) -> Result<Self, reqwest::Error> {
        // An error means that this process has already chosen its cryptography provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("exitgap-server/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { client, url: url.0.clone() })
    }

    /// Whether the facilitator would settle this payment.
    pub async fn verify(&self, asked: Vec<u8>) -> Result<Verification, Silence> {
        let body = self.ask("verify", asked, VERIFY_WITHIN).await?;
        Verification::of_body(&body).map_err(|error| Silence::Unreadable(error.to_string()))
    }

    /// Requests settlement of this payment. Its answer is confirmed on the chain.
    pub async fn settle(&self, asked: Vec<u8>) -> Result<Settlement, Silence> {
        let body = self.ask("settle", asked, SETTLE_WITHIN).await?;
        Settlement::of_body(&body).map_err(|error| Silence::Unreadable(error.to_string()))
    }

    async fn ask(&self, what: &str, asked: Vec<u8>, within: Duration) -> Result<Vec<u8>, Silence> {
        let mut url = self.url.clone();
        url.set_path(&format!("{}/{what}", self.url.path().trim_end_matches('/')));
        let request = self.client.post(url).header(CONTENT_TYPE, "application/json");
        let mut answer = request.body(asked).timeout(within).send().await?;
        if answer.status().as_u16() != 200 {
            return Err(Silence::Status(answer.status().as_u16()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            if body.len() + chunk.len() > MAX_ANSWER {
                return Err(Silence::TooLong);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payments_are_handed_over_tls_or_to_this_machine_only() {
        for good in [
            "https://x402.example/facilitator",
            "https://x402.example/facilitator/",
            "http://127.0.0.1:8080",
            "http://localhost:1/a",
            "http://[::1]:1",
        ] {
            assert!(FacilitatorUrl::parse(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "local",
            "http://x402.example",
            "ftp://x402.example",
            "https://user@x402.example",
            "https://x402.example/?key=1",
            "https://x402.example/#a",
            "file:///etc/passwd",
        ] {
            assert!(FacilitatorUrl::parse(bad).is_none(), "{bad}");
        }
    }
}
