//! `/api/v1`: what results are checked with. Free, without a key, for ever.

use axum::extract::State;
use axum::http::header::VARY;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use exitgap_api::operations::{
    DecayFileAsked, EvidenceAsked, ExposureFileAsked, Keep, Operation, SlotAsked,
    VenueStressFileAsked,
};
use exitgap_api::{Problem, ProblemCode};
use exitgap_ops::FigureFile;

use super::address::Address;
use super::reply::{JSON, Refused, Reply};
use super::{App, site};

/// The evidence file of a result, or the page of the same address.
pub async fn file(
    State(app): State<App>,
    address: Address,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    if site::wants_page(&headers) {
        return site::evidence(&app, address.named());
    }
    let asked: EvidenceAsked = address.read(Operation::Evidence)?;
    // What names all it depends on never changes; else the newest slot is meant, or the newest
    // method, or the pool's default.
    let keep = if asked.is_whole() { Keep::Forever } else { Keep::Seconds(5) };
    let reply = Reply::new(app.service.evidence(asked).await?, JSON, keep);
    let vary = HeaderValue::from_static("accept, accept-encoding");
    Ok(([(VARY, vary)], reply).into_response())
}

/// The state proof that is kept of a pool's contract at a slot.
pub async fn state_proof(State(app): State<App>, address: Address) -> Result<Reply, Refused> {
    let SlotAsked { pool, slot } = address.read(Operation::StateProof)?;
    let absent = || {
        let detail = format!("no state proof of {pool} at slot {slot} is kept");
        Problem::new(ProblemCode::NotFound, detail).hint(
            "any node that has the block's state makes it: exitgap verify <evidence> --rpc <url>",
        )
    };
    let Some(proofs) = app.proofs.clone() else { return Err(absent().into()) };
    let contract = pool.contract().clone();
    let found = app.service.lane().run(move || proofs.asked(&contract, slot)).await?;
    match found {
        Ok(Some(file)) => Ok(Reply::new(file, "application/octet-stream", Keep::Forever)),
        Ok(None) => Err(absent().into()),
        Err(error) => {
            tracing::error!(%error, %pool, %slot, "a state proof could not be read");
            let detail = "the state proof could not be read";
            Err(Problem::new(ProblemCode::SourceUnreadable, detail).into())
        }
    }
}

/// The figure file of an exposure.
pub async fn exposure_file(State(app): State<App>, address: Address) -> Result<Reply, Refused> {
    let asked: ExposureFileAsked = address.read(Operation::ExposureFile)?;
    Ok(figure_file(app.service.exposure_file(asked).await?))
}

/// The figure file of a stress over venues.
pub async fn venue_stress_file(State(app): State<App>, address: Address) -> Result<Reply, Refused> {
    let asked: VenueStressFileAsked = address.read(Operation::VenueStressFile)?;
    Ok(figure_file(app.service.venue_stress_file(asked).await?))
}

/// The figure file of a decay.
pub async fn decay_file(State(app): State<App>, address: Address) -> Result<Reply, Refused> {
    let asked: DecayFileAsked = address.read(Operation::DecayFile)?;
    Ok(figure_file(app.service.decay_file(asked).await?))
}

fn figure_file(file: FigureFile) -> Reply {
    let keep = if file.is_settled { Keep::Forever } else { Keep::Seconds(5) };
    Reply::new(file.bytes, JSON, keep)
}
