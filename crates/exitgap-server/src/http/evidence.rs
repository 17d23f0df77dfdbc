//! `/api/v1`: what results are checked with. Free, without a key, for ever.

use axum::extract::State;
use axum::http::header::VARY;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use exitgap_api::{Problem, ProblemCode};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::{SnapshotHash, StateHash};

use super::params::{Query, Segment, invalid, pool, shown};
use super::reply::{JSON, Keep, Refused, Reply};
use super::{App, site};
use crate::ops::EvidenceAsked;

/// A slot may be retracted with any later one.
const STATUS: Keep = Keep::Seconds(30);

type Answer = Result<Reply, Refused>;

/// `GET /api/v1/exit/{pool}`: the evidence file of a result.
pub async fn file(
    State(app): State<App>,
    Segment(id): Segment,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, Refused> {
    if site::wants_page(&headers) {
        return site::evidence(&app, &id);
    }
    let params = query.known(&["base", "slot", "size_usd", "method_version"])?;
    let method_version = params.one("method_version")?;
    if let Some(version) = method_version
        && version != METHOD_VERSION
    {
        let detail = format!("method version {:?} was never released", shown(version));
        return Err(Problem::new(ProblemCode::UnknownMethodVersion, detail)
            .field("method_version")
            .hint(format!("released: {METHOD_VERSION}"))
            .into());
    }
    let (base, slot, size) = (params.base_by_place()?, params.slot()?, params.size()?);
    // What names all it depends on never changes; else the newest slot is meant, or the newest
    // method, or the pool's default.
    let whole = base.is_some() && slot.is_some() && method_version.is_some();
    let keep = if whole { Keep::Forever } else { Keep::Seconds(5) };
    let asked = EvidenceAsked { pool: pool(&id)?, base, slot, size };
    let reply = Reply::new(app.service.evidence(asked).await?, JSON, keep);
    let vary = HeaderValue::from_static("accept, accept-encoding");
    Ok(([(VARY, vary)], reply).into_response())
}

/// `GET /api/v1/window/{pool}`: the pool's heads of seven days up to a slot.
pub async fn window(State(app): State<App>, Segment(id): Segment, query: Query) -> Answer {
    let params = query.known(&["slot"])?;
    let slot = params.slot()?.ok_or_else(|| slot_missing("slot"))?;
    let window = app.service.window(&pool(&id)?, slot).await?;
    Ok(Reply::new(window, JSON, Keep::Forever))
}

/// `GET /api/v1/status/{pool}`: what became of a slot since.
pub async fn status(State(app): State<App>, Segment(id): Segment, query: Query) -> Answer {
    let params = query.known(&["slot"])?;
    let slot = params.slot()?.ok_or_else(|| slot_missing("slot"))?;
    Reply::json(&app.service.slot_status(&pool(&id)?, slot).await?, STATUS)
}

fn slot_missing(field: &str) -> Problem {
    invalid(field, "slot is missing", "results name theirs in method.depth_source.slot")
}

/// `GET /api/v1/states/{hash}`: a state's canonical bytes.
pub async fn state(State(app): State<App>, Segment(hash): Segment, query: Query) -> Answer {
    query.known(&[])?;
    let hash: StateHash = hash.parse().map_err(|_| no_hash(&hash, "state"))?;
    Ok(Reply::new(app.service.state(hash).await?, JSON, Keep::Forever))
}

fn no_hash(text: &str, of: &str) -> Problem {
    let detail = format!("{:?} is no {of}'s hash", shown(text));
    invalid("hash", &detail, "64 hexadecimal digits after 0x, in small letters")
}

/// `GET /api/v1/snapshots/{hash}`: a snapshot's canonical bytes.
pub async fn snapshot(State(app): State<App>, Segment(hash): Segment, query: Query) -> Answer {
    query.known(&[])?;
    let hash: SnapshotHash = hash.parse().map_err(|_| no_hash(&hash, "snapshot"))?;
    Ok(Reply::new(app.service.snapshot(hash).await?, JSON, Keep::Forever))
}
