//! What operators ask: whether it lives, whether it is ready, what is measured.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use exitgap_core::series::Slot;
use serde::Serialize;

use super::App;
use super::params::Query;
use super::reply::{Keep, Refused, Reply};

/// A chain without a recorded slot for longer than this is not ready: three slots.
const STALE_AFTER_S: u64 = 3 * Slot::SECONDS;

/// The media type of measures.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The addresses of this file.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
}

/// The process answers.
async fn livez(query: Query) -> Result<Reply, Refused> {
    query.known(&[])?;
    Ok(Reply::new("ok\n", "text/plain; charset=utf-8", Keep::Never))
}

/// Whether answers rest on fresh data.
#[derive(Serialize)]
struct Readiness {
    ready: bool,
    last_slot: Option<String>,
    chains: Vec<ChainReadiness>,
}

#[derive(Serialize)]
struct ChainReadiness {
    chain: String,
    newest_recorded_slot: Option<String>,
    age_s: Option<u64>,
    ready: bool,
}

async fn readyz(State(app): State<App>, query: Query) -> Result<Response, Refused> {
    query.known(&[])?;
    let (now, current) = (app.service.now(), app.service.current());
    let chains: Vec<ChainReadiness> = current
        .newest_by_chain()
        .into_iter()
        .map(|(chain, newest)| {
            let age_s = newest.map(|slot| now.saturating_sub(slot.unix_s()));
            ChainReadiness {
                chain: chain.to_owned(),
                newest_recorded_slot: newest.map(|slot| slot.to_string()),
                age_s,
                ready: age_s.is_some_and(|age| age <= STALE_AFTER_S),
            }
        })
        .collect();
    // Where every pool has retired there is a whole series, and nothing in it can grow old.
    let ready = current.last_slot.is_some() && chains.iter().all(|chain| chain.ready);
    let last_slot = current.last_slot.map(|slot| slot.to_string());
    let reply = Reply::json(&Readiness { ready, last_slot, chains }, Keep::Never)?;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Ok((status, reply).into_response())
}

async fn metrics(State(app): State<App>, query: Query) -> Result<Reply, Refused> {
    query.known(&[])?;
    let (now, current) = (app.service.now(), app.service.current());
    let newest = current.newest_by_chain().into_iter();
    app.telemetry.slot_ages(
        newest.filter_map(|(chain, newest)| Some((chain, now.saturating_sub(newest?.unix_s())))),
    );
    app.telemetry.kept_bytes(app.service.kept_bytes());
    Ok(Reply::new(app.telemetry.text(), OPEN_METRICS, Keep::Never))
}
