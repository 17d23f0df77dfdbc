//! Endpoints for operators: liveness, readiness, metrics.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use exitgap_api::operations::Keep;
use exitgap_core::series::Slot;
use serde::Serialize;

use super::SharedApp;
use super::address::Plain;
use super::reply::{HttpRefusal, Reply};

/// A chain is not ready if its newest recorded slot is older than this: three slots.
const STALE_AFTER_S: u64 = 3 * Slot::SECONDS;

/// The media type of the metrics.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Reports that the process is alive.
pub async fn livez(_: Plain) -> Reply {
    Reply::new("ok\n", "text/plain; charset=utf-8", Keep::Never)
}

/// Whether answers are based on fresh data.
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

/// Reports whether every chain's newest slot is fresh.
pub async fn readyz(State(app): State<SharedApp>, _: Plain) -> Result<Response, HttpRefusal> {
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
    // If every pool has retired there is no chain to check, and the series is complete.
    let ready = current.last_slot.is_some() && chains.iter().all(|chain| chain.ready);
    let last_slot = current.last_slot.map(|slot| slot.to_string());
    let reply = Reply::json(&Readiness { ready, last_slot, chains }, Keep::Never)?;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Ok((status, reply).into_response())
}

/// The current metrics.
pub async fn metrics(State(app): State<SharedApp>, _: Plain) -> Reply {
    let (now, current) = (app.service.now(), app.service.current());
    let newest = current.newest_by_chain().into_iter();
    app.telemetry.slot_ages(
        newest.filter_map(|(chain, newest)| Some((chain, now.saturating_sub(newest?.unix_s())))),
    );
    app.telemetry.kept_bytes(app.service.kept_bytes());
    Reply::new(app.telemetry.text(), OPEN_METRICS, Keep::Never)
}
