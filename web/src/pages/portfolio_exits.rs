//! What a portfolio's positions bring. Those in pools are computed here: each pool's snapshot is downloaded once and cached
//! for a while. Tokens are planned by the service.

use std::sync::Arc;

use exitgap_api::operations::{
    Held, Into, MAX_POSITIONS, PortfolioAsked, PositionAsked, position_as_written,
};
use exitgap_api::{Guards, PoolName, Problem, Status, invalid_parameter};
use exitgap_client::{Browser, Client, ClientError, FetchedSnapshot};
use exitgap_core::exit::PortfolioPart;
use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::units::{Percent, SizeUsd, UsdMicros};

use super::pool::base_name;
use crate::document::Document;
use crate::text;

/// How much less than stated a reader accepts.
const TOLERANCE: Percent = Percent(500_000);

/// How long a snapshot is cached, ms: a new one comes every five minutes.
const KEEP_MS: f64 = 60_000.0;

/// All positions in one pool and direction, sold together; or one that cannot be sold.
#[derive(Debug, Clone)]
pub struct Exit {
    /// The pool.
    pub pool: PoolId,
    /// The total size to sell.
    pub size: UsdMicros,
    /// Its fill, or why it is unknown.
    pub outcome: Result<Sale, ClientError>,
}

/// The fill of a sale.
#[derive(Debug, Clone)]
pub struct Sale {
    /// The symbols of the token sold and the token bought: untrusted text.
    pub symbols: [String; 2],
    /// Venue and fee.
    pub venue: String,
    /// `token0` or `token1`: the token sold.
    pub base: &'static str,
    /// Live or preview.
    pub status: Status,
    /// The snapshot's slot, RFC 3339.
    pub slot: String,
    /// The age of the slot when it was downloaded, s.
    pub age_s: u64,
    /// Whether one of its oracle answers is older than its heartbeat.
    pub oracle_stale: bool,
    /// The session's note, if the market of an asset is closed.
    pub closed: Option<String>,
    /// What can be filled: everything, or the pool's maximum.
    pub filled: UsdMicros,
    /// The gap of the fillable amount.
    pub filled_gap: Option<Percent>,
    /// Why not everything can be filled.
    pub problem: Option<Problem>,
}

impl Sale {
    /// The sale as a part of the portfolio.
    pub fn part(&self, size: UsdMicros) -> PortfolioPart {
        PortfolioPart { size, filled: self.filled, gap: self.filled_gap }
    }

    /// The gap of the whole size; `None` if a part cannot be filled.
    pub fn gap(&self, size: UsdMicros) -> Option<Percent> {
        self.filled_gap.filter(|_| self.filled == size)
    }

    /// A description of what is sold.
    pub fn name(&self) -> String {
        format!("{} for {}, {}", self.symbols[0], self.symbols[1], self.venue)
    }
}

/// Cached snapshots by pool, with their download times.
pub type Kept = Vec<(PoolId, f64, Arc<FetchedSnapshot>)>;

/// Parses the box.
pub fn parse(text: &str) -> Result<Vec<PositionAsked>, Problem> {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.len() > MAX_POSITIONS {
        let detail = format!(
            "{} positions were entered; a portfolio has at most {MAX_POSITIONS}",
            lines.len()
        );
        return Err(invalid_parameter("position", &detail, "Remove some positions."));
    }
    (1..)
        .zip(lines)
        .map(|(number, line)| position_as_written(line).map_err(|problem| at_line(number, problem)))
        .collect()
}

fn at_line(number: usize, problem: Problem) -> Problem {
    Problem { detail: format!("Line {number}: {}", problem.detail), ..problem }
}

/// What was found out about all positions.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The exits of positions in pools, computed here.
    pub exits: Vec<Exit>,
    /// The plans for tokens, and the value of tokens that are cash already; nothing if no token is held.
    pub tokens: Option<Result<Planned, ClientError>>,
}

/// The service's plans for tokens.
#[derive(Debug, Clone)]
pub struct Planned {
    /// One for each chain.
    pub plans: Vec<Document>,
    /// The tokens that are not sold.
    pub unsold: Vec<Unsold>,
}

/// A token that is not sold.
#[derive(Debug, Clone)]
pub struct Unsold {
    /// `<chain>/<token>`.
    pub token: String,
    /// The size of the position.
    pub size: UsdMicros,
    /// Why it cannot be sold; nothing if it is cash already.
    pub problem: Option<String>,
}

/// Plans for the tokens, which the service searches: one plan for all, without the pools that other positions name.
async fn plan_tokens(
    client: &Client<Browser>,
    positions: &[PositionAsked],
) -> Option<Result<Planned, ClientError>> {
    if !positions.iter().any(|position| matches!(position.held, Held::Token { .. })) {
        return None;
    }
    let asked = PortfolioAsked {
        positions: positions.to_vec(),
        into: Into::Group(Into::CASH.to_owned()),
        tolerance: TOLERANCE,
        guards: Guards::default(),
    };
    let told = client.get_document::<Document>(&asked.target()).await;
    Some(told.map(|told| {
        let listed = told.list("positions").into_iter().zip(positions);
        let unsold = listed.filter_map(|(of, position)| {
            let problem = of.part("problem").map(|problem| problem.text_or_none("detail"));
            (problem.is_some() || of.is_true("is_cash")).then(|| Unsold {
                token: of.text_or_none("token"),
                size: UsdMicros::from(position.size),
                problem,
            })
        });
        Planned { plans: told.list("plans"), unsold: unsold.collect() }
    }))
}

/// All positions: those in pools computed here, tokens in the service's plans.
pub async fn compute(
    client: &Client<Browser>,
    positions: &[PositionAsked],
    before: Kept,
) -> (Found, Kept) {
    let tokens = plan_tokens(client, positions).await;
    let (exits, kept) = sell_in_pools(client, positions, before).await;
    (Found { exits, tokens }, kept)
}

/// Sells the total of each pool and direction. If a pool cannot be read, only its own positions fail.
async fn sell_in_pools(
    client: &Client<Browser>,
    positions: &[PositionAsked],
    before: Kept,
) -> (Vec<Exit>, Kept) {
    let now = js_sys::Date::now();
    let mut kept: Kept = before.into_iter().filter(|(_, at, _)| now - at < KEEP_MS).collect();
    let mut exits: Vec<Exit> = Vec::new();
    let mut sums: Vec<(Arc<FetchedSnapshot>, Direction, u64)> = Vec::new();
    for PositionAsked { held, size } in positions {
        let Held::InPool { pool, base } = held else { continue };
        let recorded = match kept.iter().find(|(of, ..)| of == pool) {
            Some((.., recorded)) => Ok(recorded.clone()),
            None => client.fetch_snapshot(pool, None).await.map(|fetched| {
                let fetched = Arc::new(fetched);
                kept.push((pool.clone(), now, fetched.clone()));
                fetched
            }),
        };
        let found =
            recorded.and_then(|recorded| Ok((recorded.direction(base.as_deref())?, recorded)));
        let (direction, recorded) = match found {
            Ok(found) => found,
            Err(error) => {
                let (pool, outcome) = (pool.clone(), Err(error));
                exits.push(Exit { pool, size: UsdMicros::from(*size), outcome });
                continue;
            }
        };
        let same = |(of, towards, _): &&mut (Arc<FetchedSnapshot>, Direction, u64)| {
            of.snapshot.observation().pool() == pool && *towards == direction
        };
        match sums.iter_mut().find(same) {
            Some((_, _, sum)) => *sum = sum.saturating_add(size.micros()),
            None => sums.push((recorded, direction, size.micros())),
        }
    }
    let sold = sums.into_iter().map(|(recorded, direction, sum)| {
        let (pool, size) = (recorded.snapshot.observation().pool().clone(), UsdMicros(sum));
        Exit { pool, size, outcome: Ok(sell(&recorded, direction, size)) }
    });
    let exits = sold.chain(exits).collect();
    (exits, kept)
}

fn sell(recorded: &FetchedSnapshot, direction: Direction, size: UsdMicros) -> Sale {
    let observation = recorded.snapshot.observation();
    let (base, session) = (direction.base_index(), observation.session());
    let symbol = |index: usize| observation.tokens()[index].symbol.as_str().to_owned();
    let fill = |size| recorded.estimate(size, Some(base_name(base)));
    let gap = |digits: &str| Percent::parse(digits).ok();
    let whole = SizeUsd::from_micros(size.0).map_err(|error| {
        let detail = format!("positions together: {}", text::grouped_within(&error.to_string()));
        invalid_parameter("size_usd", &detail, "Exit in several parts.")
    });
    let (filled, filled_gap, problem) = match whole.and_then(fill) {
        Ok(result) => (size, gap(result.figures.exit_gap_pct.as_str()), None),
        Err(refused) => {
            let most = refused.max_fillable_usd.as_ref();
            let most = most.and_then(|most| most.as_str().parse::<SizeUsd>().ok());
            let part = most.and_then(|most| Some((most, fill(most).ok()?)));
            match part {
                Some((most, part)) => {
                    (most.into(), gap(part.figures.exit_gap_pct.as_str()), Some(refused))
                }
                None => (UsdMicros(0), None, Some(refused)),
            }
        }
    };
    Sale {
        symbols: [symbol(base), symbol(1 - base)],
        venue: PoolName::from_observation(observation).name(),
        base: base_name(base),
        status: Status::from(observation.chain().kind),
        slot: recorded.snapshot.slot().to_string(),
        age_s: recorded.published.snapshot_age_s,
        oracle_stale: observation.oracle_stale(),
        closed: (!session.market_open).then(|| session.note.clone()),
        filled,
        filled_gap,
        problem,
    }
}
