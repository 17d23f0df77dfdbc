//! `/api/v1`: files for verifying results. Free, without a key, permanently.

use axum::extract::State;
use axum::http::header::VARY;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use exitgap_api::operations::{EvidenceAsked, Keep, Operation, StateProofAsked};
use exitgap_api::{Problem, ProblemCode};

use super::address::Address;
use super::reply::{HttpRefusal, JSON, Reply};
use super::{SharedApp, claim, site};

/// The evidence file of a result, or the page at the same address.
pub async fn file(
    State(app): State<SharedApp>,
    address: Address,
    headers: HeaderMap,
) -> Result<Response, HttpRefusal> {
    if site::wants_page(&headers) {
        let claim = claim::load_sentence(&app, &address).await;
        return site::evidence(&app, address.path_or_empty(), claim);
    }
    let asked: EvidenceAsked = address.parse_question(Operation::Evidence)?;
    // A request that names everything it depends on has a fixed answer; otherwise the newest slot, the newest method,
    // or the pool's default applies.
    let keep = if asked.is_whole() { Keep::Forever } else { Keep::Seconds(5) };
    let reply = Reply::new(app.service.evidence(asked).await?, JSON, keep);
    let vary = HeaderValue::from_static("accept, accept-encoding");
    Ok(([(VARY, vary)], reply).into_response())
}

/// The state proof of a pool at a slot.
pub async fn state_proof(
    State(app): State<SharedApp>,
    address: Address,
) -> Result<Reply, HttpRefusal> {
    let asked: StateProofAsked = address.parse_question(Operation::StateProof)?;
    let Some(challenges) = &app.challenges else {
        let detail = format!("no state proof of {} is kept here", asked.pool);
        let hint =
            "any node with the block's state can create it: exitgap verify <evidence> --rpc <url>";
        return Err(Problem::new(ProblemCode::NotFound, detail).hint(hint).into());
    };
    let file = challenges.answer(&app.service, &asked).await?;
    Ok(Reply::new(file, "application/octet-stream", Keep::Forever))
}

/// The file of a figure.
pub async fn figure_file(
    app: SharedApp,
    operation: Operation,
    address: Address,
) -> Result<Reply, HttpRefusal> {
    let file = app.service.figure_file_of(&address.figure(operation)).await?;
    let keep = if file.is_settled { Keep::Forever } else { Keep::Seconds(5) };
    Ok(Reply::new(file.bytes, JSON, keep))
}
