//! The venues of a token: the service's comparison, recomputed here from its snapshots.

use exitgap_api::operations::parameters::{AT, FIXED_COST, QUOTE_GROUP, SIZE};
use exitgap_api::operations::{
    AmountAsked, CashAsked, Held, Operation, PositionAsked, RoutesAsked, Target,
};
use exitgap_api::{BestSplit, CashExit, CashReceived, Number, Routes, SplitCandidate};
use exitgap_core::U256;
use exitgap_core::exit::{Exit, least_accepted};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::units::SizeUsd;
use serde::Deserialize;

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

    /// `GET /v1/cash/{chain}/{token}`: one sale that ends in cash; the client's guards apply, not those of `asked`. The
    /// answer's `evidence_url` is the figure file that proves it, which is not verified here.
    pub async fn cash(&self, asked: &CashAsked) -> Result<CashExit, ClientError> {
        let target = asked.target();
        let cash: CashExit = self.get_guarded(target.clone()).await?;
        let is_size = match &asked.amount {
            AmountAsked::Size(size) => cash.plan.size_usd == Number::from(*size),
            AmountAsked::Tokens(tokens) => tokens
                .in_units(cash.token.decimals)
                .is_some_and(|units| units.to_string() == cash.plan.amount_in_raw),
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
        // A caller sets its minimum to this, so it must follow from the amount.
        let is_least = |one: &CashReceived| {
            let paid = units(&one.amount_out_raw)?;
            Some(least_accepted(paid, asked.tolerance) == units(&one.amount_out_min_raw))
        };
        let legs = cash.plan.legs.iter().flat_map(|leg| [&leg.amount_in_raw, &leg.amount_out_raw]);
        let is_read = legs.chain([&cash.plan.amount_in_raw]).all(|raw| units(raw).is_some())
            && cash.plan.received.iter().all(|one| is_least(one) == Some(true));
        if is_read { Ok(cash) } else { Err(self.not_as_specified(&target, "an amount is wrong")) }
    }

    /// The legs of the service's split, as positions for separate requests: their sizes add up to the requested size,
    /// and nothing else of the answer is used.
    pub async fn split_legs(&self, asked: &RoutesAsked) -> Result<Vec<PositionAsked>, ClientError> {
        let target = target(asked);
        let Split { legs } = self.get_guarded(target.clone()).await?;
        let wrong = |why: &str| self.not_as_specified(&target, why);
        let read = |leg: Leg| {
            let pool =
                leg.pool.parse::<PoolId>().ok().filter(|pool| *pool.chain() == asked.chain)?;
            let size = leg.size_usd.as_str().parse::<SizeUsd>().ok()?;
            Some(PositionAsked { held: Held::InPool { pool, base: Some(leg.base) }, size })
        };
        let legs: Option<Vec<PositionAsked>> = legs.into_iter().map(read).collect();
        let legs = legs.ok_or_else(|| wrong("a leg has no valid pool of the chain or no size"))?;
        let sum = legs.iter().fold(0, |sum: u64, leg| sum.saturating_add(leg.size.micros()));
        if sum == asked.size.micros() {
            Ok(legs)
        } else {
            Err(wrong("its legs do not add up to the requested size"))
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

/// The parts of an answer that are needed to execute the split.
#[derive(Deserialize)]
struct Split {
    legs: Vec<Leg>,
}

#[derive(Deserialize)]
struct Leg {
    pool: String,
    base: String,
    size_usd: Number,
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
