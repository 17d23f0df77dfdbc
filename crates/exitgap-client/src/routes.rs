//! The venues of a token: the service's comparison, recomputed here from its snapshots.

use exitgap_api::operations::parameters::{AT, FIXED_COST, QUOTE_GROUP, SIZE};
use exitgap_api::operations::{
    AmountAsked, CashAsked, Held, Operation, PortfolioAsked, PositionAsked, RoutesAsked, Target,
};
use exitgap_api::{
    BestSplit, CashExit, CashPlan, CashReceived, Number, Portfolio, PortfolioPlan, Position,
    Routes, SplitCandidate,
};
use exitgap_core::U256;
use exitgap_core::exit::{Exit, least_accepted};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::units::Percent;

use crate::{Client, ClientError, Transport};

/// Maximum number of venues that are downloaded to recompute an answer; services compare at most this many.
const MOST_VENUES: usize = 24;

impl<T: Transport> Client<T> {
    /// `GET /v1/routes/{chain}/{token}`: the client's guards apply, not those of `asked`.
    pub async fn routes(&self, asked: &RoutesAsked) -> Result<Routes, ClientError> {
        let target = target(asked);
        let routes: Routes = self.get_guarded(target.clone()).await?;
        let answers = routes.chain == asked.chain.to_string()
            && routes.token.address == asked.token.to_string()
            && routes.split.size_usd == Number::from(asked.size)
            && routes.quote_group == asked.quote_group;
        if !answers {
            return Err(self.not_as_specified(&target, "the answer does not match the request"));
        }
        Ok(routes)
    }

    /// `GET /v1/cash/{chain}/{token}`: one sale that ends in cash. The client's guards apply where `asked` has none. The
    /// answer's `evidence_url` is the figure file that proves it, which is not verified here.
    pub async fn cash(&self, asked: &CashAsked) -> Result<CashExit, ClientError> {
        let target = asked.target();
        let guarded = asked.guards.or(self.guards).apply_to(target.clone());
        let cash: CashExit = self.json(&guarded).await?;
        let is_size = match &asked.amount {
            AmountAsked::Size(size) => cash.plan.size_usd == Number::from(*size),
            AmountAsked::Tokens(tokens) => tokens
                .in_units(cash.token.decimals)
                .is_some_and(|units| units.to_string() == cash.amount_in_raw),
        };
        let answers = cash.chain == asked.chain.to_string()
            && cash.token.address == asked.token.to_string()
            && cash.into == asked.into.to_string()
            && cash.plan.tolerance_pct == Number::from(asked.tolerance)
            && cash.plan.gas_usd == asked.gas.map(Number::from)
            && asked.at.is_none_or(|at| at.number() == cash.slot)
            && is_size;
        if !answers {
            return Err(self.not_as_specified(&target, "the answer does not match the request"));
        }
        let is_read = units(&cash.amount_in_raw).is_some() && is_read(&cash.plan, asked.tolerance);
        if is_read { Ok(cash) } else { Err(self.not_as_specified(&target, "an amount is wrong")) }
    }

    /// `GET /v1/portfolio`: the client's guards apply, not those of `asked`. Every plan has an `evidence_url`, its figure
    /// file, which is not verified here.
    pub async fn portfolio(&self, asked: &PortfolioAsked) -> Result<Portfolio, ClientError> {
        let target = asked.target();
        let portfolio: Portfolio = self.get_guarded(target.clone()).await?;
        let is_of = |(told, asked): (&Position, &PositionAsked)| {
            let held = match &asked.held {
                Held::InPool { pool, .. } => told.pool == Some(pool.to_string()),
                Held::Token { chain, token } => told.token == Some(format!("{chain}/{token}")),
            };
            held && told.size_usd == Number::from(asked.size)
        };
        let is_listed = portfolio.positions.len() == asked.positions.len()
            && portfolio.positions.iter().zip(&asked.positions).all(is_of);
        let is_of_plan = |plan: &PortfolioPlan| {
            plan.into == asked.into.to_string()
                && plan
                    .result
                    .as_ref()
                    .is_none_or(|result| result.plan.tolerance_pct == Number::from(asked.tolerance))
        };
        if !is_listed || !portfolio.plans.iter().all(is_of_plan) {
            return Err(self.not_as_specified(&target, "the answer does not match the request"));
        }
        let is_read = |plan: &PortfolioPlan| {
            let result = plan.result.as_ref();
            plan.sold.iter().all(|sold| units(&sold.amount_in_raw).is_some())
                && result.is_none_or(|result| is_read(&result.plan, asked.tolerance))
        };
        if portfolio.plans.iter().all(is_read) {
            Ok(portfolio)
        } else {
            Err(self.not_as_specified(&target, "an amount is wrong"))
        }
    }

    /// The comparison with every figure recomputed here from the snapshots it names; an answer that does not follow
    /// from them is an error. That no other pool sells the token is only claimed by the service.
    pub async fn recomputed_routes(&self, asked: &RoutesAsked) -> Result<Routes, ClientError> {
        let routes = self.routes(asked).await?;
        let target = target(asked);
        let wrong = |why: String| self.not_as_specified(&target, why);
        if routes.split.alone.len() > MOST_VENUES {
            return Err(wrong(format!("it compares more than {MOST_VENUES} venues")));
        }
        let slot =
            Slot::new(routes.slot.into()).map_err(|_| wrong("its slot is invalid".to_owned()))?;
        let mut held: Vec<(Snapshot, Exit)> = Vec::new();
        for venue in &routes.split.alone {
            let pool = venue.pool.parse::<PoolId>();
            let hash = venue.snapshot_hash.as_deref().and_then(|hash| hash.parse().ok());
            let (Ok(pool), Some(hash)) = (pool, hash) else {
                return Err(wrong("a venue has no valid pool or snapshot".to_owned()));
            };
            let snapshot = self.snapshot(&pool, hash).await?;
            let observation = snapshot.observation();
            if *observation.pool() != pool
                || snapshot.slot() != slot
                || *pool.chain() != asked.chain
            {
                return Err(wrong(format!(
                    "the snapshot of {pool} belongs to another pool, chain or slot"
                )));
            }
            let direction = observation.direction_of(&asked.token.to_string());
            let direction =
                direction.map_err(|_| wrong(format!("{pool} does not sell the token")))?;
            let exit = Exit::from_pool(observation, direction);
            held.push((snapshot, exit));
        }
        let candidates: Vec<SplitCandidate<'_>> = held
            .iter()
            .map(|(snapshot, exit)| SplitCandidate {
                snapshot,
                hash: None,
                exit,
                fixed_cost: asked.fixed_cost,
            })
            .collect();
        let ours = BestSplit::from_candidates(&candidates, asked.size, |_, _| None)?;
        if figures(&ours) != figures(&routes.split) {
            return Err(wrong("the answer does not follow from its snapshots".to_owned()));
        }
        Ok(routes)
    }
}

/// Raw units in decimal digits.
fn units(raw: &str) -> Option<U256> {
    let is_plain = (1..=78).contains(&raw.len()) && raw.bytes().all(|digit| digit.is_ascii_digit());
    raw.parse().ok().filter(|_| is_plain)
}

/// Whether the amounts of a plan are numbers, and the least amounts follow from them: a caller sets its minimum to those.
fn is_read(plan: &CashPlan, tolerance: Percent) -> bool {
    let is_least = |one: &CashReceived| {
        let paid = units(&one.amount_out_raw)?;
        Some(least_accepted(paid, tolerance) == units(&one.amount_out_min_raw))
    };
    let mut legs = plan.legs.iter().flat_map(|leg| [&leg.amount_in_raw, &leg.amount_out_raw]);
    legs.all(|raw| units(raw).is_some())
        && plan.received.iter().all(|one| is_least(one) == Some(true))
}

fn target(asked: &RoutesAsked) -> Target {
    let RoutesAsked { chain, token, size, quote_group, fixed_cost, at, guards: _ } = asked;
    Operation::Routes
        .target_of(format_args!("{chain}/{token}"))
        .with(&SIZE, size)
        .maybe(&QUOTE_GROUP, quote_group.as_ref())
        .maybe(&FIXED_COST, (fixed_cost.0 > 0).then(|| Number::from(*fixed_cost)))
        .maybe(&AT, at.as_ref())
}

/// The parts that follow from snapshots: without URLs, and without venues that have no snapshot.
fn figures(split: &BestSplit) -> BestSplit {
    let mut split = split.clone();
    split.left_out.clear();
    for leg in &mut split.legs {
        leg.evidence_url = None;
    }
    for alone in &mut split.alone {
        (alone.evidence_url, alone.snapshot_hash) = (None, None);
    }
    split
}
