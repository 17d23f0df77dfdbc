//! The addresses of the service, as functions.

use core::time::Duration;
use std::sync::OnceLock;

use exitgap_api::{
    Capabilities, Fragility, History, Interval, Number, PoolList, Portfolio, PublishedExit,
    PublishedLadder, SeriesOf, Stress,
};
use exitgap_core::Newer;
use exitgap_core::evidence::Base;
use exitgap_core::ids::{ChainSlug, PoolId};
use exitgap_core::tlog::MAX_NOTE_BYTES;
use exitgap_core::units::SizeUsd;
use serde::de::DeserializeOwned;

use crate::document;
use crate::error::{PaymentChallenge, ServerProblem};
use crate::query::Query;
use crate::{BaseUrl, ClientError, HistoryOf, Request, Response, Transport, TransportError};

/// The most bytes of a JSON answer: a page of a thousand rows has fewer.
const MAX_JSON_BYTES: usize = 4 << 20;

/// The most bytes of a tile: 256 hashes.
const MAX_TILE_BYTES: usize = 256 * 32;

pub(crate) const JSON: &str = "application/json";

/// How patient a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How long one answer may take, its body included.
    pub timeout: Duration,
    /// How often a request is repeated that was not answered, or answered with 429, 502, 503 or 504.
    /// All of them are reads; one that carried a payment would not be repeated.
    pub retries: u32,
    /// The longest pause before a repetition. Where the service asks for a longer one, its refusal
    /// is the answer.
    pub longest_pause: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let (timeout, longest_pause) = (Duration::from_secs(30), Duration::from_secs(10));
        Self { timeout, retries: 2, longest_pause }
    }
}

/// A client of one service.
#[derive(Debug, Clone)]
pub struct Client<T> {
    pub(crate) transport: T,
    base: BaseUrl,
    /// Where evidence and the log are; empty until it is known.
    web: OnceLock<BaseUrl>,
    options: Options,
}

impl<T: Transport> Client<T> {
    /// A client of the service at `base`.
    pub fn new(transport: T, base: BaseUrl) -> Self {
        Self { transport, base, web: OnceLock::new(), options: Options::default() }
    }

    /// The same, with evidence and log at `web`, whatever the service says of it.
    #[must_use]
    pub fn with_web(self, web: BaseUrl) -> Self {
        Self { web: web.into(), ..self }
    }

    /// The same, with other patience.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// The service's address.
    pub fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// Where evidence and the log are, as far as that is known: the service's address until it
    /// named another.
    pub fn known_web(&self) -> &BaseUrl {
        self.web.get().unwrap_or(&self.base)
    }

    /// Where evidence and the log are. A service that has them under another address than its own
    /// names that in its capabilities, which are asked for once.
    async fn web(&self) -> Result<&BaseUrl, ClientError> {
        if let Some(web) = self.web.get() {
            return Ok(web);
        }
        let told = match self.capabilities().await {
            Ok(told) => told.web_url,
            // What tells no capabilities names no other address.
            Err(ClientError::Refused(_) | ClientError::NotAsSpecified { .. }) => None,
            Err(error) => return Err(error),
        };
        let web = match told {
            None => self.base.clone(),
            Some(url) => self.named_web(&url)?,
        };
        Ok(self.web.get_or_init(|| web))
    }

    /// The address that the service named. What was asked for over TLS is not read without.
    fn named_web(&self, url: &str) -> Result<BaseUrl, ClientError> {
        let wrong = |why: String| self.not_as_specified("/v1/capabilities", why);
        let web: BaseUrl = url.parse().map_err(|_| wrong(format!("web_url: {url:?}")))?;
        if self.base.is_secure() && !web.is_secure() {
            return Err(wrong(format!("web_url: {url:?} is without TLS")));
        }
        Ok(web)
    }

    /// `GET /v1/pools`.
    pub async fn pools(
        &self,
        chain: Option<&ChainSlug>,
        cursor: Option<&str>,
    ) -> Result<PoolList, ClientError> {
        let query = Query::default().maybe("chain", chain).maybe("cursor", cursor);
        self.json("/v1/pools", query).await
    }

    /// `GET /v1/exit/{pool}`: what the service says that `size` fills at.
    pub async fn exit(
        &self,
        pool: &PoolId,
        size: SizeUsd,
        base: Option<&str>,
        at: Option<&str>,
    ) -> Result<PublishedExit, ClientError> {
        let query = Query::default().with("size_usd", size).maybe("base", base).maybe("at", at);
        self.json(&format!("/v1/exit/{pool}"), query).await
    }

    /// `GET /v1/ladder/{pool}`.
    pub async fn ladder(
        &self,
        pool: &PoolId,
        base: Option<&str>,
        at: Option<&str>,
    ) -> Result<PublishedLadder, ClientError> {
        let query = Query::default().maybe("base", base).maybe("at", at);
        self.json(&format!("/v1/ladder/{pool}"), query).await
    }

    /// `GET /v1/history/{pool}`: one page.
    pub async fn history(&self, of: &HistoryOf) -> Result<History, ClientError> {
        let interval = match of.interval {
            Interval::FiveMinutes => "5m",
            Interval::Hour => "1h",
            Interval::Day => "1d",
        };
        let query = series_query(of).with("interval", interval);
        let query = query.maybe("cursor", of.cursor.as_deref());
        let path = format!("/v1/history/{}", of.pool);
        let history: History = self.json(&path, query).await?;
        self.require_answer(&path, of, &history.of)?;
        Ok(history)
    }

    /// `GET /v1/stress/{pool}`: the worst of a period; interval and cursor play no part.
    pub async fn stress(&self, of: &HistoryOf) -> Result<Stress, ClientError> {
        let path = format!("/v1/stress/{}", of.pool);
        let stress: Stress = self.json(&path, series_query(of)).await?;
        self.require_answer(&path, of, &stress.of)?;
        Ok(stress)
    }

    /// Requires that a series answers the question asked: with genuine evidence of its own, another
    /// pool's would be confirmed under this one's name.
    fn require_answer(
        &self,
        path: &str,
        asked: &HistoryOf,
        found: &SeriesOf,
    ) -> Result<(), ClientError> {
        let SeriesOf { pool, base, size_usd, .. } = found;
        let same = *pool == asked.pool.to_string()
            && asked.base.is_none_or(|asked| asked.code() == base)
            && *size_usd == Number::from(asked.size);
        if same {
            return Ok(());
        }
        let why = format!("it sent the series of {size_usd} USD of {base} of {pool}");
        Err(self.not_as_specified(path, why))
    }

    /// `GET /v1/fragility`: one page of the board. `sort` is `gap` (at `size`), `score` or `depth`.
    pub async fn fragility(
        &self,
        chain: Option<&ChainSlug>,
        sort: Option<&str>,
        size: Option<SizeUsd>,
        limit: Option<u32>,
        cursor: Option<&str>,
    ) -> Result<Fragility, ClientError> {
        let query = Query::default().maybe("chain", chain).maybe("sort", sort);
        let query = query.maybe("size_usd", size).maybe("limit", limit).maybe("cursor", cursor);
        self.json("/v1/fragility", query).await
    }

    /// `GET /v1/portfolio`: positions, each with the base where it is not the pool's default.
    pub async fn portfolio(
        &self,
        positions: &[(PoolId, Option<Base>, SizeUsd)],
    ) -> Result<Portfolio, ClientError> {
        let add = |query: Query, (pool, base, size): &(PoolId, Option<Base>, SizeUsd)| {
            let base = base.map_or_else(String::new, |base| format!("/{}", base.code()));
            query.with("position", format!("{pool}{base}:{size}"))
        };
        self.json("/v1/portfolio", positions.iter().fold(Query::default(), add)).await
    }

    /// `GET /v1/capabilities`.
    pub async fn capabilities(&self) -> Result<Capabilities, ClientError> {
        self.json("/v1/capabilities", Query::default()).await
    }

    /// The log's newest checkpoint, past every cache: a signed note, its signatures not yet verified.
    pub async fn checkpoint(&self) -> Result<String, ClientError> {
        self.text("/log/checkpoint", true).await
    }

    /// The log's verifier key, as the service names it.
    pub async fn verifier_key(&self) -> Result<String, ClientError> {
        Ok(self.text("/log/verifier-key", false).await?.trim().to_owned())
    }

    pub(crate) async fn tile(&self, path: &str) -> Result<Vec<u8>, ClientError> {
        let path = format!("/log/{path}");
        self.bytes(&path, Query::default(), "application/octet-stream", MAX_TILE_BYTES).await
    }

    pub(crate) fn not_as_specified(&self, path: &str, why: impl Into<String>) -> ClientError {
        ClientError::NotAsSpecified { url: self.known_url(path), why: why.into() }
    }

    pub(crate) fn made_by_newer(&self, path: &str, newer: Newer) -> ClientError {
        ClientError::Newer { url: self.known_url(path), newer }
    }

    fn known_url(&self, path: &str) -> String {
        let host = if is_api(path) { &self.base } else { self.known_web() };
        format!("{host}{path}")
    }

    async fn text(&self, path: &str, fresh: bool) -> Result<String, ClientError> {
        let request = self.request(path, "text/plain", MAX_NOTE_BYTES).await?;
        let request = Request { fresh, ..request };
        let bytes = self.ask(&request).await?;
        String::from_utf8(bytes).map_err(|error| self.not_as_specified(path, error.to_string()))
    }

    pub(crate) async fn json<D: DeserializeOwned>(
        &self,
        path: &str,
        query: Query,
    ) -> Result<D, ClientError> {
        let bytes = self.bytes(path, query, JSON, MAX_JSON_BYTES).await?;
        document::read(&bytes).map_err(|error| {
            self.not_as_specified(path, format!("not the document expected: {error}"))
        })
    }

    pub(crate) async fn bytes(
        &self,
        path: &str,
        query: Query,
        accept: &'static str,
        max_bytes: usize,
    ) -> Result<Vec<u8>, ClientError> {
        let target = format!("{path}{}", query.text());
        let request = self.request(&target, accept, max_bytes).await?;
        self.ask(&request).await
    }

    async fn request(
        &self,
        target: &str,
        accept: &'static str,
        max_bytes: usize,
    ) -> Result<Request, ClientError> {
        // Boxed: where the other address is, is asked for by a request of the same kind.
        let host = if is_api(target) { &self.base } else { Box::pin(self.web()).await? };
        let (url, timeout) = (format!("{host}{target}"), self.options.timeout);
        Ok(Request { url, accept, timeout, max_bytes, fresh: false })
    }

    /// Asks until there is an answer, or no patience left.
    async fn ask(&self, request: &Request) -> Result<Vec<u8>, ClientError> {
        let mut repeated = 0;
        loop {
            let outcome = self.transport.get(request).await;
            let pause = match &outcome {
                Ok(response) if response.status == 200 => None,
                Ok(response) => self.pause_after(response, repeated),
                Err(TransportError::Unreachable(_)) => Some(self.backoff(repeated)),
                Err(_) => None,
            };
            match pause {
                Some(pause) if repeated < self.options.retries => {
                    self.transport.pause(pause).await;
                    repeated += 1;
                }
                _ => return body(request, outcome),
            }
        }
    }

    /// How long to wait before asking again, where that may help. Longer than asked for, each client
    /// by a share of its own: else all come back at once.
    fn pause_after(&self, response: &Response, repeated: u32) -> Option<Duration> {
        if ![429, 502, 503, 504].contains(&response.status) {
            return None;
        }
        let asked = response.header("retry-after").and_then(|text| text.parse().ok()).unwrap_or(0);
        let asked = Duration::from_secs(asked);
        if asked > self.options.longest_pause {
            return None;
        }
        let share = u64::try_from(asked.as_millis() / 2).unwrap_or(u64::MAX);
        let more = u64::from(self.transport.random()) % share.max(1);
        Some((asked + Duration::from_millis(more)).max(self.backoff(repeated)))
    }

    /// A fifth of a second, doubled with each repetition, give or take a half.
    fn backoff(&self, repeated: u32) -> Duration {
        let middle = 200_u64 << repeated.min(5);
        let spread = u64::from(self.transport.random()) % middle;
        Duration::from_millis(middle / 2 + spread).min(self.options.longest_pause)
    }
}

/// Whether an address is one of the API's: all others are of evidence and log.
fn is_api(target: &str) -> bool {
    target.starts_with("/v1/")
}

/// The body of what came back, or what it says instead.
fn body(
    request: &Request,
    outcome: Result<Response, TransportError>,
) -> Result<Vec<u8>, ClientError> {
    let url = request.url.clone();
    let response = match outcome {
        Ok(response) => response,
        Err(error) => return Err(ClientError::Transport { url, error }),
    };
    let challenge = PaymentChallenge::of(&response);
    match (response.status, challenge) {
        (200, _) if response.body.len() > request.max_bytes => {
            let error = TransportError::TooLarge { max_bytes: request.max_bytes };
            Err(ClientError::Transport { url, error })
        }
        (200, _) => Ok(response.body),
        (402, Some(challenge)) => Err(ClientError::PaymentRequired { url, challenge }),
        (status, _) => match document::read::<ServerProblem>(&response.body) {
            Ok(problem) if problem.status == status => Err(ClientError::Refused(Box::new(problem))),
            _ => {
                let why = format!("answered {status} without a problem document");
                Err(ClientError::NotAsSpecified { url, why })
            }
        },
    }
}

fn series_query(of: &HistoryOf) -> Query {
    Query::default()
        .with("size_usd", of.size)
        .maybe("base", of.base.map(Base::code))
        .maybe("from", of.from.as_deref())
        .maybe("to", of.to.as_deref())
}
