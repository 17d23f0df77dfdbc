//! `/v1`: the published resources.

use axum::extract::State;
use exitgap_api::{Interval, Problem, ProblemCode};
use exitgap_core::ids::{ChainSlug, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::units::SizeUsd;

use super::App;
use super::params::{Params, Query, Segment, base as base_of, invalid, pool, shown, size};
use super::reply::{Keep, Refused, Reply};
use crate::ops::{Asked, MAX_POSITIONS, PositionAsked, SeriesAsked, SortBy};

/// What changes with the next slot may be kept for seconds.
const NEWEST: Keep = Keep::Seconds(5);

/// How many rows a page has, at most and by itself.
const PAGE: (usize, usize) = (100, 1_000);

/// How many rows a history has by itself: thirty days of hours.
const HISTORY_PAGE: usize = 720;

/// The last rank that a cursor of the board may name.
const MAX_RANK: usize = 1_000_000;

type Answer = Result<Reply, Refused>;

/// `GET /v1/pools`.
pub async fn pools(State(app): State<App>, query: Query) -> Answer {
    let params = query.known(&["chain", "limit", "cursor"])?;
    let chain = chain(&params)?;
    let after = params.cursor::<PoolId>()?;
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let list = app.service.pools(chain.as_ref(), after.as_ref(), limit)?;
    Reply::json(&list, NEWEST)
}

/// `chain`: only pools of this one.
fn chain(params: &Params) -> Result<Option<ChainSlug>, Problem> {
    let Some(text) = params.one("chain")? else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        let detail = format!("chain: {:?} is no chain's slug", shown(text));
        invalid("chain", &detail, "such as ethereum: 1 to 32 of a-z, 0-9 and -")
    })
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

/// `GET /v1/history/{pool}`.
pub async fn history(State(app): State<App>, Segment(id): Segment, query: Query) -> Answer {
    let params = query.known(&["size_usd", "base", "from", "to", "interval", "limit", "cursor"])?;
    let interval = match params.one("interval")? {
        None | Some("1h") => Interval::Hour,
        Some("5m") => Interval::FiveMinutes,
        Some("1d") => Interval::Day,
        Some(other) => {
            let detail = format!("interval: {:?} is not an interval", shown(other));
            return Err(invalid("interval", &detail, "5m, 1h or 1d").into());
        }
    };
    let limit = params.limit(HISTORY_PAGE, PAGE.1)?;
    let mut asked = series(&params, &id)?;
    if let Some(cursor) = params.cursor::<u32>()? {
        let next = Slot::new(cursor.into()).map_err(|_| {
            invalid("cursor", "cursor: no slot of a series", "give next_cursor as it is")
        })?;
        asked.from = Some(next);
    }
    Reply::json(&app.service.history(asked, interval, limit).await?, NEWEST)
}

/// `GET /v1/stress/{pool}`.
pub async fn stress(State(app): State<App>, Segment(id): Segment, query: Query) -> Answer {
    let params = query.known(&["size_usd", "base", "from", "to"])?;
    Reply::json(&app.service.stress(series(&params, &id)?).await?, NEWEST)
}

/// Which series and which of its slots.
fn series(params: &Params, id: &str) -> Result<SeriesAsked, Problem> {
    let instant = |field: &'static str| {
        params.one(field)?.map(|text| exitgap_api::slot_at(field, text)).transpose()
    };
    // A period is cut to the pool's series; also where it begins before there was any.
    let from = match instant("from") {
        Err(problem) if problem.code == ProblemCode::BeforeSeries => Some(Slot::FIRST),
        from => from?,
    };
    let to = instant("to")?;
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err(Problem::new(ProblemCode::PeriodReversed, "from lies after to")
            .field("from")
            .hint("give the earlier instant as from"));
    }
    let (size, base) = (standard_size(params)?, params.base()?);
    Ok(SeriesAsked { pool: pool(id)?, base, size, from, to })
}

/// `size_usd`, one of those that every slot's gaps are kept of.
fn standard_size(params: &Params) -> Result<SizeUsd, Problem> {
    if params.one("size_usd")?.is_none() {
        let hint = "one of 1000, 10000, 100000 and 1000000";
        return Err(invalid("size_usd", "size_usd is missing", hint));
    }
    let size = params.size()?;
    if SizeUsd::STANDARD.contains(&size) {
        return Ok(size);
    }
    let detail = format!("size_usd: the series keeps no gap of {size} USD");
    let hint = "1000, 10000, 100000 or 1000000; any other from a snapshot, with \
                /v1/exit/{pool}?size_usd=&at=";
    Err(invalid("size_usd", &detail, hint))
}

/// `GET /v1/fragility`.
pub async fn fragility(State(app): State<App>, query: Query) -> Answer {
    let params = query.known(&["chain", "sort", "size_usd", "limit", "cursor"])?;
    let chain = chain(&params)?;
    let size = match params.one("size_usd")? {
        None => SizeUsd::STANDARD[2],
        Some(_) => standard_size(&params)?,
    };
    let size = SizeUsd::STANDARD.iter().position(|standard| *standard == size).unwrap_or(2);
    let sort_by = match params.one("sort")? {
        None | Some("gap") => SortBy::Gap(size),
        Some("score") => SortBy::Score,
        Some("depth") => SortBy::Depth,
        Some(other) => {
            let detail = format!("sort: {:?} is nothing to sort by", shown(other));
            return Err(invalid("sort", &detail, "gap (at size_usd), score or depth").into());
        }
    };
    let skip = params.cursor::<usize>()?.unwrap_or(0);
    if skip > MAX_RANK {
        let detail = format!("cursor: {skip} is no rank of a board");
        return Err(invalid("cursor", &detail, "give next_cursor as it is").into());
    }
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let board = app.service.fragility(chain.as_ref(), sort_by, skip, limit)?;
    Reply::json(&board, NEWEST)
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
    // A pool has one colon of its own.
    let (venue, size_usd) =
        text.rsplit_once(':').filter(|(venue, _)| venue.contains(':')).ok_or_else(|| {
            at_fault(invalid("position", "no size after a pool and a colon", POSITION_HINT))
        })?;
    let (id, base) = match venue.split_once('/') {
        Some((id, base)) => (id, Some(base_of(base).map_err(at_fault)?.to_owned())),
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
