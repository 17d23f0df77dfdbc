//! The tools at one address of an HTTP service: no sessions, one JSON document for each request, so
//! that any of several processes can answer any request.

pub mod messages;

use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use crate::{Backend, Tools};

/// The most bytes of a request's body.
pub const MAX_BODY_BYTES: usize = 64 << 10;

/// The tools as a service of HTTP requests.
pub type HttpTools<B> = StreamableHttpService<Tools<B>, NeverSessionManager>;

/// Who may ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Callers {
    /// Names of this host, as requests give them in `Host`. Loopback is always one.
    pub hosts: Vec<String>,
    /// Pages whose scripts may ask, as browsers name them in `Origin`. Those of this machine always
    /// may. A request without `Origin` comes from no page.
    pub origins: Vec<String>,
}

/// Serves the tools to these callers.
pub fn service<B: Backend>(tools: Tools<B>, callers: Callers) -> HttpTools<B> {
    let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let here = ["http://localhost:*", "http://127.0.0.1:*"].map(str::to_owned);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(callers.hosts.into_iter().chain(loopback))
        .with_allowed_origins(callers.origins.into_iter().chain(here))
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_BODY_BYTES);
    StreamableHttpService::new(
        move || Ok(tools.clone()),
        NeverSessionManager::default().into(),
        config,
    )
}
