//! `/v1`: the published resources.

use axum::extract::State;
use exitgap_api::{Problem, ProblemCode};
use exitgap_core::ids::{ChainSlug, PoolId};

use super::App;
use super::params::{Query, Segment, invalid, pool, shown, size};
use super::reply::{Keep, Refused, Reply};
use crate::ops::{Asked, PositionAsked};

/// What changes with the next slot may be kept for seconds.
const NEWEST: Keep = Keep::Seconds(5);

/// How many rows a page has, at most and by itself.
const PAGE: (usize, usize) = (100, 1_000);

/// How many positions a portfolio may have.
const MAX_POSITIONS: usize = 100;

type Answer = Result<Reply, Refused>;

/// `GET /v1/pools`.
pub async fn pools(State(app): State<App>, query: Query) -> Answer {
    let params = query.known(&["chain", "limit", "cursor"])?;
    let chain: Option<ChainSlug> = match params.one("chain")? {
        None => None,
        Some(text) => Some(text.parse().map_err(|_| {
            let detail = format!("chain: {:?} is no chain's slug", shown(text));
            invalid("chain", &detail, "such as ethereum: 1 to 32 of a-z, 0-9 and -")
        })?),
    };
    let after = params.cursor::<PoolId>()?;
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let list = app.service.pools(chain.as_ref(), after.as_ref(), limit)?;
    Reply::json(&list, NEWEST)
}

/// `GET /v1/exit/{pool}`.
pub async fn exit(State(app): State<App>, Segment(id): Segment, query: Query) -> Answer {
    let params = query.known(&["size_usd", "base", "at"])?;
    let size = params.size()?;
    let asked = Asked { pool: pool(&id)?, base: params.base()?, at: params.at()? };
    Reply::json(&app.service.exit(&asked, size).await?, NEWEST)
}

/// `GET /v1/ladder/{pool}`.
pub async fn ladder(State(app): State<App>, Segment(id): Segment, query: Query) -> Answer {
    let params = query.known(&["base", "at"])?;
    let asked = Asked { pool: pool(&id)?, base: params.base()?, at: params.at()? };
    Reply::json(&app.service.ladder(&asked).await?, NEWEST)
}

/// `GET /v1/portfolio`.
pub async fn portfolio(State(app): State<App>, query: Query) -> Answer {
    let params = query.known(&["position"])?;
    let asked = params.all("position").map(position).collect::<Result<Vec<_>, _>>()?;
    let count = asked.len();
    if !(1..=MAX_POSITIONS).contains(&count) {
        let detail = format!("a portfolio has 1 to {MAX_POSITIONS} positions, not {count}");
        return Err(invalid("position", &detail, POSITION_HINT).into());
    }
    Reply::json(&app.service.portfolio(&asked).await?, NEWEST)
}

const POSITION_HINT: &str = "position=<pool>:<size_usd> or position=<pool>/<base>:<size_usd>, \
    repeated for each";

/// `<pool>:<size_usd>` or `<pool>/<base>:<size_usd>`, split at the last colon.
fn position(text: &str) -> Result<PositionAsked, Problem> {
    let at_fault = |problem: Problem| Problem {
        detail: format!(
            "position {:?}: {}",
            text.chars().take(80).collect::<String>(),
            problem.detail
        ),
        ..problem.field("position")
    };
    let (venue, size_usd) = text.rsplit_once(':').ok_or_else(|| {
        at_fault(invalid("position", "there is no colon before a size", POSITION_HINT))
    })?;
    let (id, base) = match venue.split_once('/') {
        Some((id, base)) => (id, Some(base.to_owned())),
        None => (venue, None),
    };
    let id = pool(id).map_err(at_fault)?;
    Ok(PositionAsked { pool: id, base, size: size(size_usd).map_err(at_fault)? })
}

/// `GET /v1/capabilities`.
pub async fn capabilities(State(app): State<App>, query: Query) -> Answer {
    query.known(&[])?;
    Reply::json(&app.service.capabilities(), Keep::Seconds(60))
}

/// `/v1/alerts`: specified, not built.
pub async fn alerts() -> Refused {
    Problem::new(ProblemCode::NotAvailable, "alerts are specified and not built yet")
        .hint("GET /v1/capabilities says what this deployment can do")
        .into()
}
