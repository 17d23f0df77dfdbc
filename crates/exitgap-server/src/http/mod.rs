//! The HTTP face of the operations: addresses, parameters, headers, limits. No maths, no SQL.
//!
//! A request passes `edge` (identity, limits, headers, problems), then its handler, which
//! reads `params`, asks one operation of [`crate::ops`], and gives a `reply`. Payment, when it
//! comes, is a layer around `priced`, whose handlers know nothing of it.

mod docs;
mod edge;
mod evidence;
mod listen;
mod log_files;
mod openapi;
mod operators;
mod params;
mod rate;
mod reply;
mod site;
mod telemetry;
mod v1;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get};
use exitgap_api::{Problem, ProblemCode};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};

use crate::ops::Service;

pub use edge::Limits;
pub use listen::{Connections, ListenError, Listener};
pub use openapi::document as openapi_document;
pub use site::Site;
pub use telemetry::Telemetry;

use edge::Edge;
use reply::Refused;

/// What handlers share.
#[derive(Clone)]
pub struct App {
    /// The operations.
    pub service: Arc<Service>,
    /// What is measured.
    pub telemetry: Arc<Telemetry>,
    /// The folder the log is published in.
    pub log_folder: PathBuf,
    /// The pages.
    pub site: Arc<Site>,
}

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
    let operators = match operators {
        Operators::Public => operators::routes(),
        Operators::Apart => Router::new(),
    };
    let routes = Router::new()
        .merge(priced())
        .merge(free())
        .merge(operators)
        .merge(pages())
        .fallback(site::file_or_nothing)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(app);
    wear(routes, edge)
}

/// The operators' addresses alone, for a listener that only they reach: nobody is counted there.
pub fn operators_router(app: App) -> Router {
    let edge = Arc::new(Edge::new(&Limits::default(), app.telemetry.clone()));
    let routes = operators::routes()
        .fallback(not_here)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(app);
    wear(routes, edge)
}

/// A handler that does nothing, wearing the same layers: what a bench compares with.
pub fn empty_router(limits: &Limits) -> Router {
    let edge = Arc::new(Edge::new(limits, Arc::default()));
    wear(Router::new().route("/", get(|| async { "" })), edge)
}

fn wear(routes: Router, edge: Arc<Edge>) -> Router {
    routes
        .layer(CatchPanicLayer::custom(edge::panicked))
        .layer(from_fn_with_state(edge, edge::pass))
        .layer(
            CompressionLayer::new().compress_when(
                DefaultPredicate::new()
                    // Parts are packed, and hashes do not get shorter: it would only cost time.
                    .and(NotForContentType::const_new("application/octet-stream")),
            ),
        )
}

/// What a payment layer will wrap.
fn priced() -> Router<App> {
    Router::new().route("/v1/exit/{pool}", get(v1::exit))
}

/// What is free, and stays so.
fn free() -> Router<App> {
    Router::new()
        .route("/v1/pools", get(v1::pools))
        .route("/v1/ladder/{pool}", get(v1::ladder))
        .route("/v1/history/{pool}", get(v1::history))
        .route("/v1/stress/{pool}", get(v1::stress))
        .route("/v1/fragility", get(v1::fragility))
        .route(edge::PORTFOLIO, get(v1::portfolio))
        .route("/v1/capabilities", get(v1::capabilities))
        .route("/v1/alerts", any(v1::alerts))
        .route("/v1/openapi.json", get(openapi::serve))
        .route("/docs", get(docs::serve))
        .route("/docs.css", get(docs::style))
        .route("/api/v1/exit/{pool}", get(evidence::file))
        .route("/api/v1/window/{pool}", get(evidence::window))
        .route("/api/v1/status/{pool}", get(evidence::status))
        .route("/api/v1/snapshots/{hash}", get(evidence::snapshot))
        .route("/api/v1/states/{hash}", get(evidence::state))
        .route("/log/{*path}", get(log_files::serve))
}

/// What people read.
fn pages() -> Router<App> {
    Router::new()
        .route("/", get(site::board))
        .route("/pools/{pool}", get(site::pool))
        .route("/verify", get(site::fixed))
        .route("/portfolio", get(site::fixed))
        .route("/capabilities", get(site::fixed))
        .route("/method", get(site::fixed))
}

async fn not_here() -> Refused {
    Problem::new(ProblemCode::NotFound, "nothing is at this address")
        .hint("here are /livez, /readyz and /metrics; all else is at the public address")
        .into()
}

async fn method_not_allowed() -> Refused {
    Problem::new(ProblemCode::MethodNotAllowed, "this address is read with GET or HEAD").into()
}
