//! `/api/v1`: what results are checked with. Free, without a key, for ever.

use axum::extract::State;
use axum::http::header::VARY;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use exitgap_api::operations::{
    AccuracyFileAsked, DecayFileAsked, EquityFileAsked, EvidenceAsked, ExposureFileAsked,
    HoursFileAsked, Keep, Operation, StateProofAsked, VenueStressFileAsked,
};
use exitgap_api::{Problem, ProblemCode};
use exitgap_ops::FigureFile;

use super::address::Address;
use super::reply::{JSON, Refused, Reply};
use super::{Shared, claim, site};

/// The evidence file of a result, or the page of the same address.
pub async fn file(
    State(app): State<Shared>,
    address: Address,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    if site::wants_page(&headers) {
        let claim = claim::of(&app, &address).await;
        return site::evidence(&app, address.named(), claim);
    }
    let asked: EvidenceAsked = address.read(Operation::Evidence)?;
    // What names all it depends on never changes; else the newest slot is meant, or the newest
    // method, or the pool's default.
    let keep = if asked.is_whole() { Keep::Forever } else { Keep::Seconds(5) };
    let reply = Reply::new(app.service.evidence(asked).await?, JSON, keep);
    let vary = HeaderValue::from_static("accept, accept-encoding");
    Ok(([(VARY, vary)], reply).into_response())
}

/// What the chain's own state says of a pool at a slot.
pub async fn state_proof(State(app): State<Shared>, address: Address) -> Result<Reply, Refused> {
    let asked: StateProofAsked = address.read(Operation::StateProof)?;
    let Some(challenges) = &app.challenges else {
        let detail = format!("no state proof of {} is kept here", asked.pool);
        let hint =
            "any node that has the block's state makes it: exitgap verify <evidence> --rpc <url>";
        return Err(Problem::new(ProblemCode::NotFound, detail).hint(hint).into());
    };
    let file = challenges.answer(&app.service, &asked).await?;
    Ok(Reply::new(file, "application/octet-stream", Keep::Forever))
}

/// The figure file of an exposure.
pub async fn exposure_file(State(app): State<Shared>, address: Address) -> Result<Reply, Refused> {
    let asked: ExposureFileAsked = address.read(Operation::ExposureFile)?;
    Ok(figure_file(app.service.exposure_file(asked).await?))
}

/// The figure file of a stress over venues.
pub async fn venue_stress_file(
    State(app): State<Shared>,
    address: Address,
) -> Result<Reply, Refused> {
    let asked: VenueStressFileAsked = address.read(Operation::VenueStressFile)?;
    Ok(figure_file(app.service.venue_stress_file(asked).await?))
}

/// The figure file of market hours.
pub async fn hours_file(State(app): State<Shared>, address: Address) -> Result<Reply, Refused> {
    let asked: HoursFileAsked = address.read(Operation::HoursFile)?;
    Ok(figure_file(app.service.hours_file(asked).await?))
}

/// The figure file of a pool of a share.
pub async fn equity_file(State(app): State<Shared>, address: Address) -> Result<Reply, Refused> {
    let asked: EquityFileAsked = address.read(Operation::EquityFile)?;
    Ok(figure_file(app.service.equity_file(asked).await?))
}

/// The figure file of the accuracy record.
pub async fn accuracy_file(State(app): State<Shared>, address: Address) -> Result<Reply, Refused> {
    let asked: AccuracyFileAsked = address.read(Operation::AccuracyFile)?;
    Ok(figure_file(app.service.accuracy_file(asked).await?))
}

/// The figure file of a decay.
pub async fn decay_file(State(app): State<Shared>, address: Address) -> Result<Reply, Refused> {
    let asked: DecayFileAsked = address.read(Operation::DecayFile)?;
    Ok(figure_file(app.service.decay_file(asked).await?))
}

fn figure_file(file: FigureFile) -> Reply {
    let keep = if file.is_settled { Keep::Forever } else { Keep::Seconds(5) };
    Reply::new(file.bytes, JSON, keep)
}
