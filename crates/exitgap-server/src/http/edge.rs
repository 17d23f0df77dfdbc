//! The layer around all requests: client identity, limits, headers, problem documents, metrics.
//!
//! [`pass`] is the outermost layer: it counts, names and measures each request, and decides whether to admit it.
//! [`cors`] answers browsers' preflight requests and lets pages of any origin read every answer, including errors.
//! Therefore a rejection is sent inside of it, by [`gate`].

use std::any::Any;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    self, ACCEPT_ENCODING, ALLOW, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderName,
    IF_NONE_MATCH, RETRY_AFTER, TRANSFER_ENCODING, VARY, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use exitgap_api::operations::parameters::{POSITION, SIZE, SOLD_AMOUNTS};
use exitgap_api::operations::{self, EXITS_OF_TOKEN, MAX_POSITIONS, Operation};
use exitgap_api::x402::{BodyMembers, X_PAYMENT_RECEIPT};
use exitgap_api::{PROBLEM_JSON, Problem, ProblemCode, ProblemDocument};
use exitgap_core::exit::MAX_SOLD_TOKENS;
use exitgap_core::units::SizeUsd;
use exitgap_mcp::Allowance;
use exitgap_mcp::discovery::MCP_PATH;
use serde::Serialize;
use tower_http::cors::{self, CorsLayer};

use super::free::{Free, UsedUp};
use super::head::HostFault;
use super::rate::{Rate, Verdict, subscriber};
use super::reply::{HttpRefusal, JSON};
use super::telemetry::Telemetry;
use super::witness;
use crate::ops::ClientKey;
use crate::payments::Members;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
/// Methods of addresses that take a body but are not operations: the tools, and a witness.
const POST_METHODS: HeaderValue = HeaderValue::from_static("POST, OPTIONS");

/// The answer headers that pages of other origins may read.
const EXPOSED: [HeaderName; 13] = [
    ETAG,
    HeaderName::from_static("ratelimit"),
    HeaderName::from_static("ratelimit-policy"),
    RETRY_AFTER,
    HeaderName::from_static("payment-required"),
    HeaderName::from_static("payment-response"),
    HeaderName::from_static("x-payment-response"),
    HeaderName::from_static(X_PAYMENT_RECEIPT),
    HeaderName::from_static("x-payment-amount"),
    HeaderName::from_static("x-payment-currency"),
    HeaderName::from_static("x-payment-network"),
    HeaderName::from_static("x-payment-recipient"),
    REQUEST_ID,
];

/// Maximum length of an address, bytes.
const MAX_ADDRESS: usize = 16 << 10;

/// Limits for one client.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Requests per minute and client; 0: unlimited.
    pub rate_per_minute: u32,
    /// Of these, the maximum at the tools' address; 0: no separate limit.
    pub tools_per_minute: u32,
    /// The header in which a reverse proxy names the client; its last address counts.
    pub client_ip_header: Option<HeaderName>,
    /// The number of free estimates, if others must be paid for; `None`: all are free.
    pub free: Option<FreeEstimates>,
    /// Time limit for an answer.
    pub answer_within: Duration,
}

/// A client's free quota if answers have a price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeEstimates {
    /// Estimates by tools, and positions of portfolios, per UTC day.
    pub per_day: u32,
    /// The base URL of the API, where further estimates can be paid for.
    pub base_url: String,
}

impl Default for Limits {
    /// Unlimited requests, each answered within 20 s.
    fn default() -> Self {
        let answer_within = Duration::from_secs(20);
        Self {
            rate_per_minute: 0,
            tools_per_minute: 0,
            client_ip_header: None,
            free: None,
            answer_within,
        }
    }
}

/// The peer of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// The client that sent a request, if known.
#[derive(Debug, Clone, Copy)]
pub struct Client(pub Option<IpAddr>);

/// The layer's state.
pub struct Edge {
    rate: Option<Rate>,
    tools: Option<Rate>,
    client_ip_header: Option<HeaderName>,
    free: Option<Arc<(Free, String)>>,
    answer_within: Duration,
    telemetry: Arc<Telemetry>,
    ids: Ids,
}

impl Edge {
    /// A layer with these limits.
    pub fn new(limits: &Limits, telemetry: Arc<Telemetry>) -> Self {
        let client_ip_header = limits.client_ip_header.clone();
        Self {
            rate: Rate::new(limits.rate_per_minute),
            tools: Rate::new(limits.tools_per_minute),
            client_ip_header,
            free: limits
                .free
                .as_ref()
                .map(|free| Arc::new((Free::new(free.per_day), free.base_url.clone()))),
            answer_within: limits.answer_within,
            telemetry,
            ids: Ids::new(),
        }
    }

    /// The client's address: the connection's peer, or the address that the proxy reports.
    fn client(&self, request: &Request) -> Option<IpAddr> {
        let named = self.client_ip_header.as_ref().and_then(|name| {
            let value = request.headers().get_all(name).iter().next_back()?.to_str().ok()?;
            value.rsplit(',').next()?.trim().parse().ok()
        });
        named.or_else(|| request.extensions().get::<Peer>().map(|Peer(ip)| *ip))
    }

    /// The tools' allowance of free estimates for this request.
    fn allowance(&self, request: &Request) -> Option<Allowance> {
        let (free, client) = (self.free.clone()?, self.client(request)?);
        Some(Allowance::new(move |estimates| take_estimates(&free, client, estimates)))
    }

    /// Counts a portfolio's positions, and a token's venues, against the free quota.
    fn take_exits(&self, request: &Request) -> Result<(), Problem> {
        let path = request.uri().path();
        let is_of_routes = [Operation::Routes, Operation::Cash]
            .iter()
            .any(|operation| path.starts_with(operation.prefix()));
        if path != Operation::Portfolio.template() && !is_of_routes {
            return Ok(());
        }
        match self.free.as_ref().zip(self.client(request)) {
            Some((free, client)) => {
                take_estimates(free, client, cost(request.method(), request.uri()).get())
            }
            None => Ok(()),
        }
    }

    /// Counts a request against its client's rates.
    fn count(&self, request: &Request) -> Option<Verdict> {
        let client = self.client(request)?;
        self.count_cost(client, is_tools(request.uri()), cost(request.method(), request.uri()))
    }

    /// Counts a request against each of the client's rates, and returns the verdict of the rate that refuses, or else of
    /// the narrowest.
    fn count_cost(&self, client: IpAddr, of_tools: bool, cost: NonZeroU32) -> Option<Verdict> {
        let all = self.rate.as_ref().map(|rate| rate.ask(client, cost));
        if all.as_ref().is_some_and(|all| all.retry_after_s.is_some()) || !of_tools {
            return all;
        }
        self.tools.as_ref().map(|rate| rate.ask(client, cost)).or(all)
    }
}

/// Counts what a request at the tools' address asks beyond one request. It travels with the request.
#[derive(Clone)]
pub struct FurtherRequests {
    edge: Arc<Edge>,
    client: IpAddr,
}

impl FurtherRequests {
    /// Counts this many more requests, or refuses them.
    pub fn take(&self, requests: u32) -> Result<(), Response> {
        let Some(cost) = NonZeroU32::new(requests) else { return Ok(()) };
        let verdict = self.edge.count_cost(self.client, true, cost);
        let Some(seconds) = verdict.and_then(|verdict| verdict.retry_after_s) else {
            return Ok(());
        };
        let mut response = rate_limited(seconds).into_response();
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
        Err(response)
    }
}

fn rate_limited(seconds: u64) -> HttpRefusal {
    let problem = Problem::new(ProblemCode::RateLimited, "more requests than one client may make");
    HttpRefusal::from(problem.hint(format!("ask again in {seconds} s")))
}

/// Takes estimates from the client's free quota of today.
fn take_estimates(
    (free, base_url): &(Free, String),
    client: IpAddr,
    estimates: u32,
) -> Result<(), Problem> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    free.take_estimates(client, estimates, now.as_secs()).map_err(|UsedUp { per_day, next_in_s }| {
        let detail = format!(
            "more than the {per_day} estimates a day that a client has free of charge by tools, portfolios, routes and exits into cash"
        );
        let priced = Operation::Exit.template();
        let hint = format!(
            "pay for each answer at {base_url}{priced}?size_usd=…, compute it from the free snapshot, or ask again in \
             {next_in_s} s"
        );
        Problem::new(ProblemCode::FreeEstimatesUsed, detail).hint(hint)
    })
}

/// Answers one request.
pub async fn pass(State(edge): State<Arc<Edge>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = edge.ids.request_id(request.headers());
    let method = request.method().clone();
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let if_none_match = request.headers().get(IF_NONE_MATCH).cloned();

    let (has_body, is_tools) = (has_body(request.headers()), is_tools(request.uri()));
    let (verdict, refused) = admit(&edge, &request, has_body);
    if let Some(refused) = refused {
        // From here on only `cors` looks at the method, and it would answer an OPTIONS request as a preflight.
        *request.method_mut() = Method::GET;
        request.extensions_mut().insert(refused);
    }
    if is_tools && let Some(allowance) = edge.allowance(&request) {
        request.extensions_mut().insert(allowance);
    }
    if is_tools && let Some(client) = edge.client(&request) {
        request.extensions_mut().insert(FurtherRequests { edge: edge.clone(), client });
    }
    let uri = request.uri().clone();
    let path = uri.path();
    if path == Operation::Stream.template() || path.starts_with(Operation::Alerts.template()) {
        let client = edge.client(&request);
        request.extensions_mut().insert(Client(client));
    }
    // The tools answer in separate tasks, to which the request is passed.
    let client = ClientKey(edge.client(&request).map(subscriber));
    request.extensions_mut().insert(client);
    let mut response = client.scope(next.run(request)).await;
    if let Some(HttpRefusal(problem)) = response.extensions_mut().remove() {
        response = tell(*problem, &id, methods_at(path), response);
        if has_body {
            // Do not wait for the rest of the body.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
    } else if method == Method::OPTIONS {
        *response.status_mut() = StatusCode::NO_CONTENT;
        response.headers_mut().insert(ALLOW, methods_at(path));
    } else if response.status() == StatusCode::OK {
        not_modified(&mut response, if_none_match.as_ref());
    }
    dress(response.headers_mut(), &id, verdict.as_ref());
    let route = matched.as_ref().map_or("none", MatchedPath::as_str);
    let status = response.status();
    edge.telemetry.count_request(route, status.as_u16(), started.elapsed());
    if status.is_server_error() {
        tracing::warn!(?id, %method, route, status = status.as_u16(), "request failed");
    } else {
        tracing::debug!(?id, %method, route, status = status.as_u16(), "request");
    }
    response
}

/// Why the request is rejected, if it is. Every request counts, even if it is rejected.
fn admit(edge: &Edge, request: &Request, has_body: bool) -> (Option<Verdict>, Option<HttpRefusal>) {
    let refuse = |code, detail: &str, hint: &str| {
        Some(HttpRefusal::from(Problem::new(code, detail).hint(hint)))
    };
    let verdict = edge.count(request);
    if let Some(seconds) = verdict.as_ref().and_then(|verdict| verdict.retry_after_s) {
        return (verdict, Some(rate_limited(seconds)));
    }
    if let Some(fault) = request.extensions().get::<HostFault>() {
        return (verdict, Some(HttpRefusal::from(Problem::from(*fault))));
    }
    let length = request.uri().path().len() + request.uri().query().map_or(0, str::len);
    if length > MAX_ADDRESS {
        let hint = "ask for less at once: an address has at most 16384 bytes";
        return (verdict, refuse(ProblemCode::AddressTooLong, "the address is too long", hint));
    }
    // Other methods are answered as if there were no body: no handler reads it except that of the tools, which limits
    // its length. A method that the address does not support is answered as that.
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if has_body && reads && is_read_at(request.uri().path()) {
        let hint = "everything is asked for in the address";
        return (verdict, refuse(ProblemCode::BodyNotAccepted, "the request carries a body", hint));
    }
    let refused = edge.take_exits(request).err().map(HttpRefusal::from);
    (verdict, refused)
}

/// The methods that an address supports.
pub fn methods_at(path: &str) -> HeaderValue {
    if [MCP_PATH, witness::ADD_CHECKPOINT].contains(&path) {
        return POST_METHODS;
    }
    // Like the router, an address in full comes before one with variable parts.
    let is_in_full = Operation::list_all().any(|operation| operation.template() == path);
    let is_here = |operation: &Operation| {
        if is_in_full { operation.template() == path } else { operation.is_at(path) }
    };
    let mut methods: Vec<&str> = Vec::new();
    for operation in Operation::list_all().filter(is_here) {
        match operation.row().method {
            operations::Method::Get => methods.extend(["GET", "HEAD"]),
            other => methods.push(other.name()),
        }
    }
    if methods.is_empty() {
        return METHODS;
    }
    methods.push("OPTIONS");
    HeaderValue::try_from(methods.join(", ")).unwrap_or(METHODS)
}

/// Whether the address supports GET.
fn is_read_at(path: &str) -> bool {
    methods_at(path).to_str().is_ok_and(|methods| methods.contains("GET"))
}

/// Whether the request has a body.
fn has_body(headers: &HeaderMap) -> bool {
    let empty = headers.get(CONTENT_LENGTH).is_none_or(|length| length.as_bytes() == b"0");
    !empty || headers.contains_key(TRANSFER_ENCODING)
}

/// Whether the request is for the tools, the one address that takes a body.
fn is_tools(uri: &Uri) -> bool {
    uri.path() == MCP_PATH
}

/// How many requests a request counts as.
fn cost(method: &Method, uri: &Uri) -> NonZeroU32 {
    // A HEAD costs as much as the GET that it stands for.
    let method = if *method == Method::HEAD { Method::GET.as_str() } else { method.as_str() };
    let asked = Operation::list_all()
        .find(|operation| operation.method().name() == method && operation.is_at(uri.path()));
    asked.map_or(NonZeroU32::MIN, |operation| cost_of(operation, uri.query().unwrap_or_default()))
}

/// How many requests a request for an operation counts as: according to the table of operations, and more for a series at
/// a size that is not stored, for the positions of a portfolio, and for a token sold through its pools.
pub fn cost_of(operation: Operation, query: &str) -> NonZeroU32 {
    let query = || form_urlencoded::parse(query.as_bytes());
    let requests = match operation {
        Operation::Routes | Operation::Cash | Operation::CashFile => EXITS_OF_TOKEN,
        Operation::PortfolioFile => query()
            .filter(|(name, _)| name == SOLD_AMOUNTS.name)
            .take(MAX_SOLD_TOKENS)
            .map(|_| EXITS_OF_TOKEN)
            .sum(),
        Operation::History | Operation::Stress | Operation::When => {
            let is_standard =
                |size: &str| size.parse().is_ok_and(|s| SizeUsd::STANDARD.contains(&s));
            let is_other = query().any(|(name, size)| name == SIZE.name && !is_standard(&size));
            match operation {
                _ if !is_other => 1,
                Operation::When => FOUR_WEEKS_OF_ANY_SIZE,
                _ => SERIES_OF_ANY_SIZE,
            }
        }
        Operation::Portfolio => query()
            .filter(|(name, _)| name == POSITION.name)
            // Larger portfolios are rejected before anything is computed.
            .take(MAX_POSITIONS)
            .map(|(_, position)| if is_of_token(&position) { EXITS_OF_TOKEN } else { 1 })
            .sum(),
        operation => operation.row().weight,
    };
    NonZeroU32::new(requests).unwrap_or(NonZeroU32::MIN)
}

/// How many requests a series counts as that is computed from the snapshots.
const SERIES_OF_ANY_SIZE: u32 = 5;

/// How many requests four weeks at such a size count as.
const FOUR_WEEKS_OF_ANY_SIZE: u32 = 20;

/// Whether a position names a token: a pool's id has a colon before any slash.
fn is_of_token(position: &str) -> bool {
    position.split_once('/').is_some_and(|(chain, _)| !chain.contains(':'))
}

/// Pages of any origin may read all answers: they are public, and independent of who asks. The tools' address itself
/// decides which pages may call it; all other addresses reject POST.
pub fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(cors::Any)
        .allow_methods([Method::GET, Method::HEAD, Method::OPTIONS, Method::POST, Method::DELETE])
        // The wildcard does not include the header with an owner's token, so it must be named.
        .allow_headers([HeaderName::from_static("*"), AUTHORIZATION])
        .expose_headers(EXPOSED)
        .max_age(Duration::from_hours(24))
        // The answer does not depend on the origin.
        .vary::<[HeaderName; 0]>([])
}

/// Sends the rejection if [`pass`] did not admit the request; otherwise answers it within the time limit.
pub async fn gate(State(edge): State<Arc<Edge>>, mut request: Request, next: Next) -> Response {
    if let Some(refused) = request.extensions_mut().remove::<HttpRefusal>() {
        return refused.into_response();
    }
    tokio::time::timeout(edge.answer_within, next.run(request)).await.unwrap_or_else(|_| {
        let problem = Problem::new(ProblemCode::TimedOut, "the answer took too long");
        HttpRefusal::from(problem.hint("ask again later, or for less")).into_response()
    })
}

/// The body of an error answer.
#[derive(Serialize)]
struct RefusalBody {
    #[serde(flatten)]
    document: ProblemDocument,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    members: Option<BodyMembers>,
}

/// Writes the problem's document in place of the empty answer that carried it, and keeps the headers of `cors`.
fn tell(problem: Problem, id: &HeaderValue, allowed: HeaderValue, carrier: Response) -> Response {
    let code = problem.code;
    let id = id.to_str().unwrap_or_default().to_owned();
    let document = ProblemDocument::new(problem, id);
    let status = StatusCode::from_u16(document.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let (mut parts, _) = carrier.into_parts();
    let members = parts.extensions.remove::<Members>().map(|Members(members)| members);
    // Clients of x402 version 1 read an offer only from a body of this type.
    let media_type = if members.is_some() { JSON } else { PROBLEM_JSON };
    // A problem contains only strings and numbers, so serialization cannot fail.
    let body = serde_json::to_vec(&RefusalBody { document, members }).unwrap_or_default();
    parts.status = status;
    let headers = &mut parts.headers;
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    match code {
        ProblemCode::MethodNotAllowed => {
            headers.insert(ALLOW, allowed);
        }
        ProblemCode::TokenRequired => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        ProblemCode::NoSnapshotYet => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("300"));
        }
        ProblemCode::TimedOut => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
        }
        // A client that must wait should not keep its connection open.
        ProblemCode::RateLimited => {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        _ => {}
    }
    Response::from_parts(parts, Body::from(body))
}

/// Answers 304 if the client already has these bytes.
fn not_modified(response: &mut Response, if_none_match: Option<&HeaderValue>) {
    let Some(asked) = if_none_match.and_then(|value| value.to_str().ok()) else { return };
    let Some(etag) = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok()) else {
        return;
    };
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let same = |tag: &str| tag.trim() == "*" || opaque(tag) == opaque(etag);
    if asked.split(',').any(same) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(CONTENT_TYPE);
    }
}

/// Sets the headers of every answer.
fn dress(headers: &mut HeaderMap, id: &HeaderValue, verdict: Option<&Verdict>) {
    headers.insert(REQUEST_ID, id.clone());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    headers.entry(VARY).or_insert(HeaderValue::from_name(ACCEPT_ENCODING));
    if let Some(verdict) = verdict {
        verdict.write_headers(headers);
    }
}

/// The answer if a handler panicked. Its connection and all others continue.
#[expect(clippy::needless_pass_by_value, reason = "it is what the layer hands over")]
pub fn panic_response(panic: Box<dyn Any + Send + 'static>) -> Response {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message");
    tracing::error!(panic = text, "a handler panicked");
    HttpRefusal::from(Problem::new(ProblemCode::InternalError, "the service failed"))
        .into_response()
}

/// Generates request ids.
struct Ids {
    process: u64,
    next: AtomicU64,
}

impl Ids {
    fn new() -> Self {
        let mut seed = [0; 8];
        // Without randomness, two processes may use the same ids: they are for logs only.
        let _ = getrandom::fill(&mut seed);
        Self { process: u64::from_le_bytes(seed), next: AtomicU64::new(1) }
    }

    /// The client's own id for its request, if it is harmless; otherwise a new one.
    fn request_id(&self, headers: &HeaderMap) -> HeaderValue {
        let harmless = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        if let Some(given) = headers.get(REQUEST_ID)
            && (1..=64).contains(&given.len())
            && given.as_bytes().iter().all(harmless)
        {
            return given.clone();
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        HeaderValue::try_from(format!("{:016x}-{number}", self.process))
            .unwrap_or(HeaderValue::from_static("-"))
    }
}
