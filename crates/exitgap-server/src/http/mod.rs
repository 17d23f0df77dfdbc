//! The HTTP face of the operations: addresses, headers, limits. No maths, no SQL.
//!
//! A request passes `edge` (identity, limits, headers, problems), then its operation's handler
//! (`handlers`), which reads its `address`, asks [`crate::ops`], and gives a `reply`. Which
//! operations there are, where, and with which parameters, is the table of `exitgap-api`. Agents ask
//! the same operations as `tools`, at one address. Payment ([`crate::payments`]) is a layer around
//! the operations of the class `priced`, whose handlers know
//! nothing of it.

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

/// What handlers share.
#[derive(Clone)]
pub struct App {
    /// Where payments are taken; `None`: everything is free.
    pub till: Option<PaymentProcessor>,
    /// The operations.
    pub service: Arc<Service>,
    /// What is measured.
    pub telemetry: Arc<Telemetry>,
    /// The folder the log is published in.
    pub log_folder: Arc<Path>,
    /// The pages.
    pub site: Arc<Site>,
    /// What it says of itself.
    pub described: Arc<ApiDescription>,
    /// The streams that are open.
    pub streams: Arc<Streams>,
    /// Where rules are kept; `None`: they are not.
    pub desk: Option<AlertService>,
    /// The witness of others' logs; `None`: it is none.
    pub witness: Option<Arc<Stand>>,
    /// The state proofs that are kept, and made; `None`: none are.
    pub challenges: Option<Arc<Challenges>>,
}

/// The same behind one counter: a request's handler takes it several times.
type SharedApp = Arc<App>;

/// Where operators ask whether the service lives, is ready, and what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operators {
    /// Beside all else, within the same limits.
    Public,
    /// At an address of their own: [`operators_router`].
    Apart,
}

/// All addresses, with the layers that every one of them wears.
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

/// The operators' addresses alone, for a listener that only they reach: nobody is counted there.
pub fn operators_router(app: App) -> Router {
    let edge = Arc::new(Edge::new(&Limits::default(), app.telemetry.clone()));
    let theirs = |operation: &Operation| operation.row().group == Group::Operators;
    let routes = routes(Operation::list_all().filter(theirs))
        .fallback(not_here)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(Arc::new(app));
    wear(routes, edge)
}

/// The addresses of a witness alone.
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

/// Handlers that do nothing, wearing the same layers, of which one sends these bytes: what a bench compares with.
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
                    // Parts are packed, and hashes do not get shorter: it would only cost time.
                    .and(NotForContentType::const_new("application/octet-stream")),
            ),
        )
}

/// The addresses of operations, each with its handler.
fn routes(operations: impl Iterator<Item = Operation>) -> Router<SharedApp> {
    operations.fold(Router::new(), |router, operation| {
        // The path of a file of the log has slashes of its own.
        let template = operation.template().replace("{path}", "{*path}");
        router.route(&template, handlers::handler_for(operation))
    })
}

/// What describes the operations, to programs and to people.
fn descriptions() -> Router<SharedApp> {
    Router::new()
        .route(openapi::ADDRESS, get(openapi::serve))
        .route("/docs", get(docs::serve))
        .route("/docs.css", get(docs::style))
}

/// What people read.
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
