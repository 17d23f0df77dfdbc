//! The HTTP interface of the operations: addresses, headers, limits. It contains no maths and no SQL.
//!
//! A request passes `edge` (identity, limits, headers, problems), then its operation's handler (`handlers`), which
//! parses its `address`, calls [`crate::ops`], and returns a `reply`. The table in `exitgap-api` defines the operations
//! with their addresses and parameters. Agents call the same operations as `tools`, at one address. Payment
//! ([`crate::payments`]) is a layer around the operations of the class `priced`, whose handlers are unaware of it.

mod address;
mod alerts;
mod claim;
mod docs;
mod edge;
mod evidence;
mod export;
mod free;
mod handlers;
mod head;
mod listen;
mod log_files;
mod mcp;
mod measures;
mod openapi;
mod operators;
mod rate;
mod reply;
mod site;
mod stream;
mod telemetry;
mod tools;
mod witness;
mod words;

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::http::Uri;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use exitgap_api::operations::{Group, Keep, Operation, PriceClass};
use exitgap_api::{Problem, ProblemCode};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};

use crate::alerts::AlertService;
use crate::challenges::Challenges;
use crate::ops::Service;
use crate::payments::{self, PaymentProcessor};
use crate::witness::Stand;

pub use edge::{FreeEstimates, Limits};
pub use listen::{Connections, ListenError, Listener};
pub use openapi::ApiDescription;
pub use openapi::document as openapi_document;
pub use site::Site;
pub use stream::Streams;
pub use telemetry::Telemetry;

use edge::Edge;
pub(crate) use log_files::log_file_headers;
pub(crate) use reply::HttpRefusal;

/// The state shared by the handlers.
#[derive(Clone)]
pub struct App {
    /// Takes payments; `None`: everything is free.
    pub till: Option<PaymentProcessor>,
    /// The operations.
    pub service: Arc<Service>,
    /// The metrics.
    pub telemetry: Arc<Telemetry>,
    /// The folder the log is published in.
    pub log_folder: Arc<Path>,
    /// The pages.
    pub site: Arc<Site>,
    /// The descriptions of the API.
    pub described: Arc<ApiDescription>,
    /// The open streams.
    pub streams: Arc<Streams>,
    /// The stored rules; `None`: this service stores none.
    pub desk: Option<AlertService>,
    /// The witness for other logs; `None`: this service is not a witness.
    pub witness: Option<Arc<Stand>>,
    /// The state proofs: stored ones, and new ones on request; `None`: not available.
    pub challenges: Option<Arc<Challenges>>,
}

/// The same behind one reference count: a request's handler clones it several times.
type SharedApp = Arc<App>;

/// Where operators get liveness, readiness and metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operators {
    /// At the main address, within the same limits.
    Public,
    /// At a separate address: [`operators_router`].
    Apart,
}

/// All addresses, with the layers common to all of them.
pub fn router(app: App, limits: &Limits, operators: Operators) -> Router {
    let edge = Arc::new(Edge::new(limits, app.telemetry.clone()));
    let here = move |operation: &Operation| {
        operators == Operators::Public || operation.row().group != Group::Operators
    };
    let of_class = |class| {
        Operation::list_all().filter(here).filter(move |operation| operation.row().price == class)
    };
    let tools = tools::routes(&app.service);
    let priced = routes(of_class(PriceClass::Priced));
    let priced = match &app.till {
        Some(till) => priced.route_layer(from_fn_with_state(till.clone(), payments::charge)),
        None => priced,
    };
    let witnessing = app.witness.clone().map_or_else(Router::new, witness::routes);
    let routes = Router::new()
        .merge(priced)
        .merge(routes(of_class(PriceClass::Free)))
        .merge(descriptions())
        .merge(tools)
        .merge(witnessing)
        .merge(pages())
        .fallback(site::file_or_nothing)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(Arc::new(app));
    wear(routes, edge)
}

/// The operators' addresses alone, for a listener that only they can reach: without rate limits.
pub fn operators_router(app: App) -> Router {
    let edge = Arc::new(Edge::new(&Limits::default(), app.telemetry.clone()));
    let theirs = |operation: &Operation| operation.row().group == Group::Operators;
    let routes = routes(Operation::list_all().filter(theirs))
        .fallback(not_here)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(Arc::new(app));
    wear(routes, edge)
}

/// A witness's addresses alone.
pub fn witness_router(stand: Arc<Stand>, limits: &Limits) -> Router {
    let edge = Arc::new(Edge::new(limits, Arc::default()));
    let routes = witness::routes(stand)
        .fallback(no_witness_here)
        .method_not_allowed_fallback(method_not_allowed);
    wear(routes, edge)
}

async fn no_witness_here() -> HttpRefusal {
    Problem::new(ProblemCode::NotFound, "nothing is at this address")
        .hint("this is a witness of logs: POST /witness/add-checkpoint")
        .into()
}

/// Handlers that do nothing, in the same layers; one of them sends these bytes. A benchmark uses it as a baseline.
pub fn empty_router(limits: &Limits, bytes: Vec<u8>) -> Router {
    let edge = Arc::new(Edge::new(limits, Arc::default()));
    let sent = reply::Reply::new(bytes, reply::JSON, Keep::Seconds(1));
    let routes = Router::new().route("/", get(|| async { "" }));
    wear(routes.route("/bytes", get(move || async move { sent })), edge)
}

fn wear(routes: Router, edge: Arc<Edge>) -> Router {
    routes
        .layer(CatchPanicLayer::custom(edge::panic_response))
        .layer(from_fn_with_state(edge.clone(), edge::gate))
        .layer(edge::cors())
        .layer(from_fn_with_state(edge, edge::pass))
        .layer(
            CompressionLayer::new().compress_when(
                DefaultPredicate::new()
                    // Parts are already compressed and hashes are incompressible: compression would only cost time.
                    .and(NotForContentType::const_new("application/octet-stream")),
            ),
        )
}

/// The addresses of operations, each with its handler.
fn routes(operations: impl Iterator<Item = Operation>) -> Router<SharedApp> {
    operations.fold(Router::new(), |router, operation| {
        // The path of a log file contains slashes.
        let template = operation.template().replace("{path}", "{*path}");
        router.route(&template, handlers::handler_for(operation))
    })
}

/// The descriptions of the operations, for programs and for people.
fn descriptions() -> Router<SharedApp> {
    Router::new()
        .route(openapi::ADDRESS, get(openapi::serve))
        .route("/docs", get(docs::serve))
        .route("/docs.css", get(docs::style))
        .route("/docs/{name}", get(docs::documents::serve_document))
        .route(docs::documents::LIST, get(docs::documents::serve_list))
}

/// The pages for people.
fn pages() -> Router<SharedApp> {
    Router::new()
        .route("/", get(site::board))
        .route("/pools/{pool}", get(site::pool))
        .route("/exit/{token}", get(site::fixed_page))
        .route("/risk", get(site::fixed_page))
        .route("/verify", get(site::fixed_page))
        .route("/portfolio", get(site::fixed_page))
        .route("/accuracy", get(site::fixed_page))
        .route("/equities", get(site::fixed_page))
        .route("/alerts", get(site::fixed_page))
        .route("/capabilities", get(site::fixed_page))
        .route("/method", get(site::fixed_page))
}

async fn not_here() -> HttpRefusal {
    Problem::new(ProblemCode::NotFound, "nothing is at this address")
        .hint("here are /livez, /readyz and /metrics; all else is at the public address")
        .into()
}

async fn method_not_allowed(uri: Uri) -> HttpRefusal {
    let methods = edge::methods_at(uri.path());
    let detail = format!("this address answers {}", methods.to_str().unwrap_or_default());
    Problem::new(ProblemCode::MethodNotAllowed, detail).into()
}
