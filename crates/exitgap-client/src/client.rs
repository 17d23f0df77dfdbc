//! The operations of a service, as functions.

use core::time::Duration;
use std::sync::OnceLock;

use exitgap_api::operations::parameters::{
    AT, BASE, BOARD_SIZE, CHAIN, FROM, GAP, INTERVAL, LEVEL, LIMIT, ORDER, ORDER_INTERVAL, ORDERS,
    POOL_CURSOR, RANK_CURSOR, RECOVERY, SERIES_SIZE, SIZE, SLOT_CURSOR, SORT, TO,
};
use exitgap_api::operations::{Method, Operation, Target};
use exitgap_api::{
    AccuracyTable, Capabilities, Fragility, Guards, History, MarketHours, Number, Payments,
    PoolList, PublishedExit, PublishedLadder, PublishedMaxSize, PublishedRedemption,
    PublishedSimulation, RowOrder, SeriesOf, Stress, WhenToSell,
};
use exitgap_core::Newer;
use exitgap_core::evidence::Base;
use exitgap_core::exit::OrderPlan;
use exitgap_core::ids::{ChainSlug, PoolId};
use exitgap_core::tlog::MAX_NOTE_BYTES;
use exitgap_core::units::{GapLimit, SizeUsd};
use serde::de::DeserializeOwned;

use crate::document;
use crate::error::{PaymentChallenge, ServerProblem};
use crate::{BaseUrl, ClientError, HistoryOf, Request, Response, Transport, TransportError};

/// Maximum size of a JSON answer: larger than a page of a thousand rows.
const MAX_JSON_BYTES: usize = 4 << 20;

/// Maximum size of a tile: 256 hashes.
const MAX_TILE_BYTES: usize = 256 * 32;

pub(crate) const JSON: &str = "application/json";

/// Timeouts and retries of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Timeout for one answer, including its body.
    pub timeout: Duration,
    /// Maximum number of retries of a request that got no answer, or the status 429, 502, 503 or 504. Only reads are
    /// retried; a transport that pays repeats paid requests itself.
    pub retries: u32,
    /// The longest pause before a retry. If the service asks for a longer one, its error is returned instead.
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
    /// The base URL of evidence and the log; empty until it is known.
    web: OnceLock<BaseUrl>,
    options: Options,
    pub(crate) guards: Guards,
}

impl<T: Transport> Client<T> {
    /// Creates a client of the service at `base`.
    pub fn new(transport: T, base: BaseUrl) -> Self {
        let (options, guards) = Default::default();
        Self { transport, base, web: OnceLock::new(), options, guards }
    }

    /// Uses `web` as the base URL of evidence and the log, regardless of what the service says.
    #[must_use]
    pub fn with_web(self, web: BaseUrl) -> Self {
        Self { web: web.into(), ..self }
    }

    /// Sets timeouts and retries.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Sets guards for every request that supports them: the service rejects requests whose answer would not meet them.
    /// For a downloaded snapshot, [`FetchedSnapshot::check`](crate::FetchedSnapshot::check) checks the same guards by
    /// the reader's own clock.
    #[must_use]
    pub fn with_guards(self, guards: Guards) -> Self {
        Self { guards, ..self }
    }

    /// The transport.
    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// The service's base URL.
    pub fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// The base URL of evidence and the log, as far as it is known: the service's own until it has returned another.
    pub fn known_web(&self) -> &BaseUrl {
        self.web.get().unwrap_or(&self.base)
    }

    /// The base URL of evidence and the log. A service that uses another one than its own lists it in its capabilities,
    /// which are requested once.
    pub async fn web(&self) -> Result<&BaseUrl, ClientError> {
        if let Some(web) = self.web.get() {
            return Ok(web);
        }
        let told = match self.capabilities().await {
            Ok(told) => told.web_url,
            // A service without capabilities uses no other base URL.
            Err(
                ClientError::Refused(_)
                | ClientError::NoDocument { .. }
                | ClientError::NotAsSpecified { .. },
            ) => None,
            Err(error) => return Err(error),
        };
        let web = match told {
            None => self.base.clone(),
            Some(url) => self.named_web(&url)?,
        };
        Ok(self.web.get_or_init(|| web))
    }

    /// The base URL that the service returned. A service reached over TLS may not redirect to one without.
    fn named_web(&self, url: &str) -> Result<BaseUrl, ClientError> {
        let wrong = |why: String| self.not_as_specified(&Operation::Capabilities.target(), why);
        let web: BaseUrl = url.parse().map_err(|_| wrong(format!("web_url: {url:?}")))?;
        if self.base.is_secure() && !web.is_secure() {
            return Err(wrong(format!("web_url: {url:?} does not use TLS")));
        }
        Ok(web)
    }

    /// The JSON document at any address of the service, for operations without a function here.
    pub async fn get_document<D: DeserializeOwned>(
        &self,
        target: &Target,
    ) -> Result<D, ClientError> {
        self.json(target).await
    }

    /// `GET /v1/pools`.
    pub async fn pools(
        &self,
        chain: Option<&ChainSlug>,
        cursor: Option<&str>,
    ) -> Result<PoolList, ClientError> {
        let target = Operation::Pools.target();
        self.json(&target.maybe(&CHAIN, chain).maybe(&POOL_CURSOR, cursor)).await
    }

    /// `GET /v1/accuracy`: the accuracy of the estimates of all pools.
    pub async fn accuracy_table(
        &self,
        chain: Option<&ChainSlug>,
        cursor: Option<&str>,
    ) -> Result<AccuracyTable, ClientError> {
        let target = Operation::AccuracyTable.target();
        self.json(&target.maybe(&CHAIN, chain).maybe(&POOL_CURSOR, cursor)).await
    }

    /// `GET /v1/exit/{pool}`: the service's estimate for a sale of `size`.
    pub async fn exit(
        &self,
        pool: &PoolId,
        size: SizeUsd,
        base: Option<&str>,
        at: Option<&str>,
    ) -> Result<PublishedExit, ClientError> {
        let target = Operation::Exit.target_of(pool).with(&SIZE, size);
        self.get_guarded(target.maybe(&BASE, base).maybe(&AT, at)).await
    }

    /// `GET /v1/size/{pool}`: the service's estimate of the largest sale whose gap is at most `limit`.
    pub async fn max_size(
        &self,
        pool: &PoolId,
        limit: GapLimit,
        base: Option<&str>,
        at: Option<&str>,
    ) -> Result<PublishedMaxSize, ClientError> {
        let target = Operation::MaxSize.target_of(pool).with(&GAP, limit);
        self.get_guarded(target.maybe(&BASE, base).maybe(&AT, at)).await
    }

    /// `GET /v1/simulate/{pool}`: the service's estimates for the orders of `plan`.
    pub async fn simulate(
        &self,
        pool: &PoolId,
        plan: &OrderPlan,
        base: Option<&str>,
        at: Option<&str>,
    ) -> Result<PublishedSimulation, ClientError> {
        let target = Operation::Simulation.target_of(pool).with(&SIZE, plan.size());
        let target = target.with(&ORDERS, plan.parts()).with(&RECOVERY, plan.recovery());
        let target = target.with(&ORDER_INTERVAL, plan.interval_s());
        self.get_guarded(target.maybe(&BASE, base).maybe(&AT, at)).await
    }

    /// `GET /v1/redemption/{pool}`: a sale compared with each redemption path that the operator configured.
    pub async fn redemption(
        &self,
        pool: &PoolId,
        size: SizeUsd,
        base: Option<&str>,
        at: Option<&str>,
    ) -> Result<PublishedRedemption, ClientError> {
        let target = Operation::Redemption.target_of(pool).with(&SIZE, size);
        self.get_guarded(target.maybe(&BASE, base).maybe(&AT, at)).await
    }

    /// `GET /v1/ladder/{pool}`.
    pub async fn ladder(
        &self,
        pool: &PoolId,
        base: Option<&str>,
        at: Option<&str>,
    ) -> Result<PublishedLadder, ClientError> {
        let target = Operation::Ladder.target_of(pool);
        self.get_guarded(target.maybe(&BASE, base).maybe(&AT, at)).await
    }

    /// `GET /v1/history/{pool}`: one page.
    pub async fn history(&self, of: &HistoryOf) -> Result<History, ClientError> {
        let target = series_target(Operation::History, of).with(&INTERVAL, of.interval.code());
        // A service of an earlier version knows ascending rows only, and refuses the parameter.
        let order = (of.order == RowOrder::Descending).then(|| of.order.code());
        let target = target.maybe(&ORDER, order).maybe(&SLOT_CURSOR, of.cursor.as_deref());
        let target = self.guards.apply_to(target);
        let history: History = self.json(&target).await?;
        self.require_answer(&target, of, &history.of)?;
        Ok(history)
    }

    /// `GET /v1/stress/{pool}`: the worst of a period, and how long the gap exceeded `limit`; interval and cursor are
    /// ignored.
    pub async fn stress(
        &self,
        of: &HistoryOf,
        limit: Option<GapLimit>,
    ) -> Result<Stress, ClientError> {
        let target = series_target(Operation::Stress, of).maybe(&LEVEL, limit.map(Number::from));
        let target = self.guards.apply_to(target);
        let stress: Stress = self.json(&target).await?;
        self.require_answer(&target, of, &stress.of)?;
        let told = stress.detail.as_ref().and_then(|detail| detail.above.as_ref());
        if limit.zip(told).is_some_and(|(limit, told)| told.limit_pct != limit.into()) {
            return Err(self.not_as_specified(&target, "it uses a different gap limit"));
        }
        Ok(stress)
    }

    /// `GET /v1/when/{pool}`: the gap by hour of the week, and the rank of the newest slot; interval, order and cursor
    /// are ignored.
    pub async fn when_to_sell(&self, of: &HistoryOf) -> Result<WhenToSell, ClientError> {
        let target = self.guards.apply_to(series_target(Operation::When, of));
        let when: WhenToSell = self.json(&target).await?;
        self.require_answer(&target, of, &when.of)?;
        Ok(when)
    }

    /// `GET /v1/hours/{pool}`: compares open and closed markets; interval, period and cursor are ignored.
    pub async fn hours(&self, of: &HistoryOf) -> Result<MarketHours, ClientError> {
        let whole = HistoryOf { from: None, to: None, ..of.clone() };
        let target = self.guards.apply_to(series_target(Operation::Hours, &whole));
        let hours: MarketHours = self.json(&target).await?;
        self.require_answer(&target, of, &hours.of)?;
        Ok(hours)
    }

    /// Requires that a series answers the request that was made. Otherwise another pool's genuine evidence would
    /// confirm it under this pool's name.
    fn require_answer(
        &self,
        target: &Target,
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
        let why = format!("it returned the series for {size_usd} USD of {base} of {pool}");
        Err(self.not_as_specified(target, why))
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
        let target = Operation::Fragility.target().maybe(&CHAIN, chain).maybe(&SORT, sort);
        let target = target.maybe(&BOARD_SIZE, size).maybe(&LIMIT, limit);
        self.json(&target.maybe(&RANK_CURSOR, cursor)).await
    }

    /// `GET /v1/capabilities`.
    pub async fn capabilities(&self) -> Result<Capabilities, ClientError> {
        self.json(&Operation::Capabilities.target()).await
    }

    /// `GET /v1/payments`: the payment terms, and the key of receipts.
    pub async fn payments(&self) -> Result<Payments, ClientError> {
        self.json(&Operation::Payments.target()).await
    }

    /// The log's newest checkpoint, bypassing caches: a signed note whose signatures are not verified yet.
    pub async fn checkpoint(&self) -> Result<String, ClientError> {
        self.text(&log_file("checkpoint"), true).await
    }

    /// The log's verifier key, as returned by the service.
    pub async fn verifier_key(&self) -> Result<String, ClientError> {
        Ok(self.text(&log_file("verifier-key"), false).await?.trim().to_owned())
    }

    pub(crate) async fn tile(&self, path: &str) -> Result<Vec<u8>, ClientError> {
        self.bytes(&log_file(path), "application/octet-stream", MAX_TILE_BYTES).await
    }

    /// The error for an answer that violates the API's specification.
    pub(crate) fn not_as_specified(&self, target: &Target, why: impl Into<String>) -> ClientError {
        ClientError::NotAsSpecified { url: self.known_url(target), why: why.into() }
    }

    pub(crate) fn made_by_newer(&self, target: &Target, newer: Newer) -> ClientError {
        ClientError::Newer { url: self.known_url(target), newer }
    }

    /// The requested URL, without its query.
    fn known_url(&self, target: &Target) -> String {
        let host = if target.operation().is_of_api() { &self.base } else { self.known_web() };
        format!("{host}{}", target.path())
    }

    async fn text(&self, target: &Target, fresh: bool) -> Result<String, ClientError> {
        let request = self.request(target, "text/plain", MAX_NOTE_BYTES).await?;
        let request = Request { fresh, ..request };
        let bytes = self.ask(&request).await?;
        String::from_utf8(bytes).map_err(|error| self.not_as_specified(target, error.to_string()))
    }

    pub(crate) async fn get_guarded<D: DeserializeOwned>(
        &self,
        target: Target,
    ) -> Result<D, ClientError> {
        self.json(&self.guards.apply_to(target)).await
    }

    pub(crate) async fn json<D: DeserializeOwned>(
        &self,
        target: &Target,
    ) -> Result<D, ClientError> {
        let bytes = self.bytes(target, JSON, MAX_JSON_BYTES).await?;
        document::parse_json(&bytes).map_err(|error| {
            self.not_as_specified(target, format!("not the expected document: {error}"))
        })
    }

    /// Sends an authorized request, with a JSON body if the operation takes one, and returns the document.
    pub async fn send_authorized<D: DeserializeOwned>(
        &self,
        target: &Target,
        token: Option<&str>,
        body: Option<String>,
    ) -> Result<D, ClientError> {
        let mut request = self.request(target, JSON, MAX_JSON_BYTES).await?;
        request.headers.extend(token.map(|token| ("authorization", format!("Bearer {token}"))));
        request.body = body.map(String::into_bytes).unwrap_or_default();
        let bytes = self.ask(&request).await?;
        document::parse_json(&bytes).map_err(|error| {
            self.not_as_specified(target, format!("not the expected document: {error}"))
        })
    }

    /// The bytes at any address of the service, for operations without a function here: at most `max_bytes` of the
    /// media type `accept`. This checks nothing.
    pub async fn bytes(
        &self,
        target: &Target,
        accept: &'static str,
        max_bytes: usize,
    ) -> Result<Vec<u8>, ClientError> {
        let request = self.request(target, accept, max_bytes).await?;
        self.ask(&request).await
    }

    async fn request(
        &self,
        target: &Target,
        accept: &'static str,
        max_bytes: usize,
    ) -> Result<Request, ClientError> {
        // Boxed, because finding the other base URL needs a request of the same kind.
        let of_api = target.operation().is_of_api();
        let host = if of_api { &self.base } else { Box::pin(self.web()).await? };
        let (url, timeout) = (format!("{host}{target}"), self.options.timeout);
        let (method, headers) = (target.operation().method(), Vec::new());
        let (fresh, body) = (false, Vec::new());
        Ok(Request { method, body, url, accept, timeout, max_bytes, fresh, headers })
    }

    /// Sends a request until there is an answer or the retries are used up. A request that creates or ends something is
    /// sent once, because it may have succeeded even if its answer was lost.
    async fn ask(&self, request: &Request) -> Result<Vec<u8>, ClientError> {
        if request.method != Method::Get {
            return body(request, self.transport.send(request).await);
        }
        let mut repeated = 0;
        loop {
            let outcome = self.transport.send(request).await;
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

    /// The pause before a retry, if a retry may help. It exceeds the time the service asked for by a random share, so
    /// that clients do not all return at once.
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

    /// A fifth of a second, doubled with each retry, ± a half.
    fn backoff(&self, repeated: u32) -> Duration {
        let middle = 200_u64 << repeated.min(5);
        let spread = u64::from(self.transport.random()) % middle;
        Duration::from_millis(middle / 2 + spread).min(self.options.longest_pause)
    }
}

/// The address of a file of the published log.
pub(crate) fn log_file(path: &str) -> Target {
    Operation::Log.target_of(path)
}

/// The body of an answer, or the error that it contains.
fn body(
    request: &Request,
    outcome: Result<Response, TransportError>,
) -> Result<Vec<u8>, ClientError> {
    let url = request.url.clone();
    let response = match outcome {
        Ok(response) => response,
        Err(error) => return Err(ClientError::Transport { url, error }),
    };
    let challenge = PaymentChallenge::from_response(&response);
    match (response.status, challenge) {
        (200 | 201, _) if response.body.len() > request.max_bytes => {
            let error = TransportError::TooLarge { max_bytes: request.max_bytes };
            Err(ClientError::Transport { url, error })
        }
        (200 | 201, _) => Ok(response.body),
        (402, Some(challenge)) => Err(ClientError::PaymentRequired { url, challenge }),
        (status, _) => match document::parse_json::<ServerProblem>(&response.body) {
            Ok(problem) if problem.status == status => Err(ClientError::Refused(Box::new(problem))),
            _ => Err(ClientError::NoDocument { url, status }),
        },
    }
}

pub(crate) fn series_target(operation: Operation, of: &HistoryOf) -> Target {
    operation
        .target_of(&of.pool)
        .with(&SERIES_SIZE, of.size)
        .maybe(&BASE, of.base.map(Base::code))
        .maybe(&FROM, of.from.as_deref())
        .maybe(&TO, of.to.as_deref())
}
