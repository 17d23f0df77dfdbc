//! `/mcp`: the tools for agents, on the same operations as the HTTP addresses, and the documents for discovering the
//! tools.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Uri;
use axum::routing::{any, get};
use exitgap_api::VerifiedBy;
use exitgap_api::operations::Keep;
use exitgap_mcp::http::Callers;
use exitgap_mcp::{FromStore, Tools, discovery};

use super::SharedApp;
use super::address::Plain;
use super::mcp;
use super::reply::{HttpRefusal, Reply};
use crate::ops::{Service, Urls};

/// Cache lifetime of the documents: they change only with the configuration and the program.
const KEEP: Keep = Keep::Seconds(3_600);

/// The addresses of the tools.
pub fn routes(service: &Arc<Service>) -> Router<SharedApp> {
    let callers = callers(service.urls());
    let tools = exitgap_mcp::http::service(
        Tools::new(FromStore::new(service.clone(), VerifiedBy::Operator)),
        callers,
    );
    let [ai_catalog, mcp_catalog] = discovery::CATALOG_PATHS;
    Router::new()
        .route(
            discovery::MCP_PATH,
            any(move |request: Request| mcp::answer(tools.clone(), request)),
        )
        .route(discovery::CARD_PATH, get(card))
        .route(discovery::SERVER_PATH, get(server))
        .route(ai_catalog, get(catalog))
        .route(mcp_catalog, get(catalog))
}

/// The hosts and pages of this service.
fn callers(urls: &Urls) -> Callers {
    let addresses = [&urls.base, &urls.web].map(|url| url.parse::<Uri>().unwrap_or_default());
    let host = |uri: &Uri| Some(uri.host()?.to_owned());
    Callers {
        hosts: addresses.iter().filter_map(host).collect(),
        origins: addresses.iter().filter_map(origin).collect(),
    }
}

/// The origin of a URL, always with its port: without one, it would match any port.
fn origin(uri: &Uri) -> Option<String> {
    let (scheme, host) = (uri.scheme_str()?, uri.host()?);
    let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some(format!("{scheme}://{host}:{port}"))
}

async fn card(State(app): State<SharedApp>, _: Plain) -> Result<Reply, HttpRefusal> {
    let card = discovery::server_card(&app.service.urls().base);
    Ok(Reply::json(&card, KEEP)?.of_type(discovery::CARD_TYPE))
}

async fn server(State(app): State<SharedApp>, _: Plain) -> Result<Reply, HttpRefusal> {
    Reply::json(&discovery::server_json(&app.service.urls().base), KEEP)
}

async fn catalog(State(app): State<SharedApp>, _: Plain) -> Result<Reply, HttpRefusal> {
    Reply::json(&discovery::catalog(&app.service.urls().base), KEEP)
}
