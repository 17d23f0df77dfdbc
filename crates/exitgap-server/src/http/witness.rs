//! `/witness`: this program as a witness of other logs (C2SP `tlog-witness`). Answers are texts according to that
//! specification, not problem documents.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use exitgap_core::tlog::{MAX_REQUEST_BYTES, WitnessRefusal};

use crate::witness::{NotCosigned, Stand};

/// The address at which a log requests cosignatures.
pub const ADD_CHECKPOINT: &str = "/witness/add-checkpoint";

const TEXT: &str = "text/plain; charset=utf-8";
/// Media type of the last cosigned size, according to the specification.
const SIZE: &str = "text/x.tlog.size";

/// The addresses of a witness.
pub fn routes<S: Clone + Send + Sync + 'static>(stand: Arc<Stand>) -> Router<S> {
    let of_latest = stand.clone();
    let add = move |body: Body| add_checkpoint(stand.clone(), body);
    let latest = move |path: Path<String>| latest(of_latest.clone(), path);
    Router::new()
        .route(ADD_CHECKPOINT, post(add))
        .route("/witness/{origin_sha256}/checkpoint", get(latest))
}

fn text(status: StatusCode, media_type: &'static str, text: impl Into<Body>) -> Response {
    let headers = [(CONTENT_TYPE, media_type), (CACHE_CONTROL, "no-store")];
    (status, headers, text.into()).into_response()
}

async fn add_checkpoint(stand: Arc<Stand>, body: Body) -> Response {
    let Ok(bytes) = to_bytes(body, MAX_REQUEST_BYTES).await else {
        let said =
            format!("the request is longer than {MAX_REQUEST_BYTES} bytes, or ended early\n");
        return text(StatusCode::PAYLOAD_TOO_LARGE, TEXT, said);
    };
    let Ok(asked) = String::from_utf8(bytes.into()) else {
        return text(StatusCode::BAD_REQUEST, TEXT, "the request is not UTF-8\n");
    };
    match tokio::task::spawn_blocking(move || stand.cosign(&asked)).await {
        Ok(Ok(line)) => text(StatusCode::OK, TEXT, line),
        Ok(Err(error)) => refusal_response(&error),
        Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, TEXT, "the witness was interrupted\n"),
    }
}

fn refusal_response(error: &NotCosigned) -> Response {
    let status = match error {
        NotCosigned::Refused(WitnessRefusal::OtherSize { size }) => {
            return text(StatusCode::CONFLICT, SIZE, format!("{size}\n"));
        }
        NotCosigned::Request(_) => StatusCode::BAD_REQUEST,
        NotCosigned::UnknownLog { .. } => StatusCode::NOT_FOUND,
        NotCosigned::Refused(WitnessRefusal::Unsigned(_)) => StatusCode::FORBIDDEN,
        NotCosigned::Refused(WitnessRefusal::Contradiction { .. }) => {
            tracing::error!(%error, "a log contradicted itself: both checkpoints are kept");
            StatusCode::CONFLICT
        }
        NotCosigned::Refused(WitnessRefusal::Proof { .. }) => StatusCode::UNPROCESSABLE_ENTITY,
        NotCosigned::State(error) => {
            tracing::error!(%error, "what was cosigned cannot be read or written");
            let said = "what was cosigned cannot be read or written now\n";
            return text(StatusCode::SERVICE_UNAVAILABLE, TEXT, said);
        }
    };
    text(status, TEXT, format!("{error}\n"))
}

async fn latest(stand: Arc<Stand>, Path(origin_sha256): Path<String>) -> Response {
    match tokio::task::spawn_blocking(move || stand.latest(&origin_sha256)).await {
        Ok(Ok(Some(checkpoint))) => text(StatusCode::OK, TEXT, checkpoint),
        Ok(Ok(None)) => {
            let said = "of no log of this name, whose SHA-256 is asked for in hex, was anything cosigned\n";
            text(StatusCode::NOT_FOUND, TEXT, said)
        }
        Ok(Err(error)) => refusal_response(&error.into()),
        Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, TEXT, "the witness was interrupted\n"),
    }
}
