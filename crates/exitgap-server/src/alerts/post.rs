//! One delivery attempt: posts an event or a challenge to an endpoint.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use exitgap_core::series::rfc3339;
use exitgap_store::alerts::{DeliveryTask, Outcome, Sent};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};

use super::guard::{GuardedResolver, Lookup, Networks, NotPermitted, PermittedUrl};
use super::keys::AlertKey;

/// Maximum number of answer bytes read.
const MAX_ANSWER: usize = 16 << 10;

/// Wait after each failed attempt, seconds; after the last one the delivery is given up.
const AGAIN_S: [u64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/// Number of automatic attempts at a challenge, and the interval between them.
const CHALLENGES: u32 = 3;
const CHALLENGE_AGAIN_MS: u64 = 20 * 60_000;

/// Posts to endpoints.
pub struct Poster {
    public: Client,
    own: Client,
    networks: Networks,
    key: AlertKey,
    timeout: Duration,
}

/// Why an attempt failed.
enum Failure {
    /// The endpoint answered that it wants no more events.
    Gone,
    /// Any other failure, and the delay that the endpoint asked for, seconds.
    Other(String, Option<u64>),
}

impl From<NotPermitted> for Failure {
    fn from(error: NotPermitted) -> Self {
        Self::Other(error.to_string(), None)
    }
}

impl Poster {
    /// Creates a poster that reaches these networks and the public internet, and signs with keys derived from this key.
    pub fn new(
        lookup: &Arc<dyn Lookup>,
        networks: Networks,
        key: AlertKey,
        timeout: Duration,
    ) -> Result<Self, reqwest::Error> {
        // An error means that this process has already chosen its cryptography provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = |own| {
            let guarded = GuardedResolver::new(lookup.clone(), networks.clone(), own);
            Client::builder()
                .dns_resolver(Arc::new(guarded))
                .redirect(reqwest::redirect::Policy::none())
                .no_proxy()
                .referer(false)
                .https_only(!own)
                // Without pooled connections, each attempt resolves the name again.
                .pool_max_idle_per_host(0)
                .timeout(timeout)
                .user_agent(concat!("exitgap-webhooks/", env!("CARGO_PKG_VERSION")))
                .build()
        };
        Ok(Self { public: client(false)?, own: client(true)?, networks, key, timeout })
    }

    /// Posts once, and returns the outcome.
    pub async fn attempt(&self, sending: &DeliveryTask, now_ms: u64) -> Outcome {
        let failure = match &sending.what {
            Sent::Event { id, document, .. } => {
                match self.post(sending, id, document.clone(), now_ms).await {
                    Ok(_) => return Outcome::Taken,
                    Err(failure) => failure,
                }
            }
            Sent::Challenge => match self.challenge(sending, now_ms).await {
                Ok(()) => return Outcome::Taken,
                Err(failure) => failure,
            },
        };
        match failure {
            Failure::Gone => {
                Outcome::Gone { said: "it answered 410: it no longer accepts events".to_owned() }
            }
            Failure::Other(said, wait_s) => {
                Outcome::Failed { again_ms: self.again_ms(sending, wait_s, now_ms), said }
            }
        }
    }

    /// When the next attempt is due.
    fn again_ms(&self, sending: &DeliveryTask, wait_s: Option<u64>, now_ms: u64) -> Option<u64> {
        let now_ms = now_ms.saturating_add(u64::try_from(self.timeout.as_millis()).unwrap_or(0));
        match sending.what {
            Sent::Challenge => {
                (sending.attempt < CHALLENGES).then(|| now_ms.saturating_add(CHALLENGE_AGAIN_MS))
            }
            Sent::Event { .. } => {
                let mut random = [0; 2];
                // Without random jitter all retries would arrive at the same time.
                let _ = getrandom::fill(&mut random);
                let after_ms = wait_ms(sending.attempt, wait_s, u16::from_le_bytes(random))?;
                Some(now_ms.saturating_add(after_ms))
            }
        }
    }

    /// Asks an endpoint whether it wants events, with an event whose value it must echo.
    async fn challenge(&self, sending: &DeliveryTask, now_ms: u64) -> Result<(), Failure> {
        let mut random = [0; 20];
        let no_value = |_| Failure::Other("the system returned no random numbers".to_owned(), None);
        getrandom::fill(&mut random).map_err(no_value)?;
        let value = super::base32(&random);
        let document = json!({
            "type": "endpoint.challenge",
            "timestamp": rfc3339(now_ms / 1_000),
            "data": {"challenge": value},
        });
        let (id, body) = (format!("chl_{value}"), document.to_string().into_bytes());
        let answer = self.post(sending, &id, body, now_ms).await?;
        let text = read_body(answer).await?;
        let in_json = || {
            let document: Value = serde_json::from_str(&text).ok()?;
            Some(document.get("challenge")?.as_str()? == value)
        };
        if text.trim() == value || in_json() == Some(true) {
            return Ok(());
        }
        Err(Failure::Other("its answer does not echo data.challenge".to_owned(), None))
    }

    async fn post(
        &self,
        sending: &DeliveryTask,
        id: &str,
        body: Vec<u8>,
        now_ms: u64,
    ) -> Result<Response, Failure> {
        // Checked again, because the permitted networks may have changed since.
        let PermittedUrl { url, own, .. } = self.networks.permit(&sending.url)?;
        let timestamp_s = now_ms / 1_000;
        let signed = self.key.sign(&sending.keys, id, timestamp_s, &body);
        let request = if own { &self.own } else { &self.public }
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp_s)
            .header("webhook-signature", signed)
            .body(body);
        let answer = request.send().await.map_err(|error| self.describe_error(&error))?;
        match answer.status() {
            status if status.is_success() => Ok(answer),
            StatusCode::GONE => Err(Failure::Gone),
            status if status.is_redirection() => {
                let said = format!("it answered {}; redirects are not followed", status.as_u16());
                Err(Failure::Other(said, None))
            }
            status => {
                let said = format!("it answered {}", status.as_u16());
                Err(Failure::Other(said, wait_of(answer.headers())))
            }
        }
    }

    /// Describes an error in words that do not reveal what this machine can reach.
    fn describe_error(&self, error: &reqwest::Error) -> Failure {
        let mut source = error.source();
        while let Some(cause) = source {
            if let Some(refused) = cause.downcast_ref::<NotPermitted>() {
                return (*refused).into();
            }
            source = cause.source();
        }
        let said = if error.is_timeout() {
            format!("it did not answer within {} s", self.timeout.as_secs())
        } else if error.is_connect() {
            "no connection, or no safe connection, could be made".to_owned()
        } else {
            "the connection ended before it answered".to_owned()
        };
        Failure::Other(said, None)
    }
}

/// Reads an answer up to the maximum length.
async fn read_body(mut answer: Response) -> Result<String, Failure> {
    let broken = |_| Failure::Other("its answer ended early".to_owned(), None);
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(broken)? {
        if body.len() + chunk.len() > MAX_ANSWER {
            let said = format!("its answer is longer than {MAX_ANSWER} bytes");
            return Err(Failure::Other(said, None));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// The delay that an endpoint asks for, seconds.
fn wait_of(headers: &HeaderMap) -> Option<u64> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// The wait after an attempt, the first being 1: the value of the table, ± a fifth so that retries do not coincide; or
/// the delay that the endpoint asked for, but at least the table's value and at most twice that.
fn wait_ms(attempt: u32, asked_s: Option<u64>, random: u16) -> Option<u64> {
    let place = usize::try_from(attempt).ok()?.checked_sub(1)?;
    let base_ms = AGAIN_S.get(place)? * 1_000;
    if let Some(asked_s) = asked_s {
        return Some(asked_s.saturating_mul(1_000).clamp(base_ms, 2 * base_ms));
    }
    Some(base_ms * 4 / 5 + base_ms * 2 / 5 * u64::from(random) / u64::from(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_tried_for_three_days_and_then_given_up() {
        assert_eq!(wait_ms(1, None, 0), Some(4_000));
        assert_eq!(wait_ms(1, None, u16::MAX), Some(6_000));
        assert_eq!(wait_ms(9, None, u16::MAX / 2).map(|ms| ms / 3_600_000), Some(23));
        assert_eq!(wait_ms(10, None, 0), None);
        assert_eq!(wait_ms(10, Some(1), 0), None);
        assert_eq!(wait_ms(1, Some(0), 0), Some(5_000));
        assert_eq!(wait_ms(1, Some(7), 0), Some(7_000));
        assert_eq!(wait_ms(1, Some(u64::MAX), 0), Some(10_000));
    }
}
