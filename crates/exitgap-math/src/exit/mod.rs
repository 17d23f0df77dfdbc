//! The exit: the result of a sale of a given size, its difference from the oracle price, and the largest size within a
//! limit.
//!
//! - [`Exit`]: one direction of a pool with its oracle prices, prepared for computing
//! - [`Exits`]: both directions, prepared when needed
//! - [`PricedPool`]: a pool's state with decimals and prices, from which both are made
//! - `terms`: exact comparison of a fill with the oracle
//! - `estimate`, `ladder`, `max_size`, `orders`, `portfolio`: the computations
//! - `plan`: one sale over several pools in a row and side by side that ends in cash, with a bound on the best plan
//! - `realised_gap`: the received amount compared with the estimate
//! - `routes`: venues compared from ladders alone
//! - `split`: one exit over several venues of one slot, exactly, with a bound on the best split
//! - `concave`: the maximum of a concave function known at a few points, for both bounds
//!
//! Method 1.0.0. All of it is integer arithmetic on raw chain values. With
//! `realized ÷ oracle = (out · quote_usd) ÷ (in · base_usd)` in whole tokens,
//! `exit_gap_pct = 100 × (1 − realized ÷ oracle)`: **positive if the fill is worse than the oracle price, negative if
//! it is better**, rounded half-even to six decimals once, at the end. Limits are compared with the exact ratio.

mod concave;
mod estimate;
mod ladder;
mod max_size;
mod orders;
mod plan;
mod portfolio;
mod realised_gap;
mod routes;
mod split;
mod terms;

pub use estimate::{Estimate, Refusal, Split};
pub use ladder::{GapRow, SizeRow};
pub use max_size::{LimitedBy, MaxSize, NotSized, SearchExhausted};
pub use orders::{OrderPlan, OrderPlanError, OrdersRefused, PartFill, Simulation};
pub use plan::{
    LegOrder, MAX_CASH_TOKENS, MAX_HOPS, MAX_NETWORK_POOLS, MAX_SOLD_TOKENS, Network, NetworkError,
    NetworkPool, Plan, PlanBound, PlanError, PlanLeg, PlanResult, ReplayError, TokenPrice,
    find_plan, least_accepted,
};
pub use portfolio::{PortfolioPart, PortfolioTotal, worst_part};
pub use realised_gap::{estimate_error, gap_of, worth_of};
pub use routes::{
    MAX_ROUTE_VENUES, Route, RouteError, RouteLeg, RouteRanking, RouteRow, RouteVenue, rank_routes,
};
pub use split::{
    ExactSplit, SizedSplit, SplitError, SplitLeg, SplitVenue, gap_from_mids, largest_split,
    split_exit, split_size,
};

use std::sync::{Arc, OnceLock};

use crate::pools::{Direction, PoolState, SaleCurve};
use crate::units::{GapLimit, SizeUsd, UsdPrice};
use estimate::BeforeSale;
use terms::Terms;

/// The version of the rules in this module; every result names it.
pub const METHOD_VERSION: &str = "1.0.0";

/// A pool's state with the decimals and the oracle prices of its two tokens: everything that an exit depends on. An
/// observation can be used as one, and so can a modified state or a state at other prices.
#[derive(Debug, Clone, Copy)]
pub struct PricedPool<'p> {
    /// The pool's state.
    pub state: &'p PoolState,
    /// The decimals of token 0 and token 1. Values above 36 count as 36.
    pub decimals: [u8; 2],
    /// USD per whole token 0 and per whole token 1.
    pub usd: &'p [UsdPrice; 2],
}

/// A sale of one token of a pool for the other, at given oracle prices.
#[derive(Debug, Clone)]
pub struct Exit {
    state: PoolState,
    curve: SaleCurve,
    terms: Terms,
    before: BeforeSale,
}

impl Exit {
    /// An exit from `state`. `decimals` and `usd` are those of token 0 and token 1. Decimals above 36 count as 36.
    pub fn new(
        state: &PoolState,
        direction: Direction,
        decimals: [u8; 2],
        usd: [UsdPrice; 2],
    ) -> Self {
        let terms = Terms::for_direction(direction, decimals, usd);
        Self::with(state, state.curve(direction), terms)
    }

    /// An exit from a pool with its prices, for example an observed one.
    pub fn from_pool<'p>(pool: impl Into<PricedPool<'p>>, direction: Direction) -> Self {
        let PricedPool { state, decimals, usd } = pool.into();
        Self::new(state, direction, decimals, *usd)
    }

    /// Same as [`Exit::estimate`] for a single request: computes the pool's curve only as far as the result requires.
    /// For several requests use one [`Exit`].
    pub fn estimate_once<'p>(
        pool: impl Into<PricedPool<'p>>,
        direction: Direction,
        size: SizeUsd,
    ) -> Result<Estimate, Refusal> {
        Self::of_size(pool, direction, size).estimate(size)
    }

    /// For the estimate of one size: computes the pool's curve only as far as that size.
    pub fn of_size<'p>(
        pool: impl Into<PricedPool<'p>>,
        direction: Direction,
        size: SizeUsd,
    ) -> Self {
        let pool = pool.into();
        Self::for_size(pool.state, direction, Terms::of_priced(pool, direction), size)
    }

    /// For the depth at one limit, and for the estimate of a size if given: computes the pool's curve once, and only as
    /// far as the results require.
    pub fn of_start<'p>(
        pool: impl Into<PricedPool<'p>>,
        direction: Direction,
        limit: GapLimit,
        size: Option<SizeUsd>,
    ) -> Self {
        let pool = pool.into();
        Self::for_depth(pool.state, direction, Terms::of_priced(pool, direction), limit, size)
    }

    /// With the part of the pool's curve that the estimate of one size depends on.
    fn for_size(state: &PoolState, direction: Direction, terms: Terms, size: SizeUsd) -> Self {
        let enough = |curve: &SaleCurve| takes(curve, &terms, size);
        let curve = state.start_of_curve(direction, &enough);
        Self::with(state, curve, terms)
    }

    /// With the part of the pool's curve that its depth at one limit depends on, and the estimate of a size if given.
    fn for_depth(
        state: &PoolState,
        direction: Direction,
        terms: Terms,
        limit: GapLimit,
        size: Option<SizeUsd>,
    ) -> Self {
        let threshold = terms.threshold(limit);
        let enough = |curve: &SaleCurve| {
            size.is_none_or(|size| takes(curve, &terms, size))
                && max_size::rules_out_the_rest(curve, &threshold)
        };
        let curve = state.start_of_curve(direction, &enough);
        Self::with(state, curve, terms)
    }

    fn with(state: &PoolState, curve: SaleCurve, terms: Terms) -> Self {
        let before = BeforeSale::new(&curve, &terms);
        Self { state: state.clone(), curve, terms, before }
    }

    /// The direction, which determines the token sold.
    pub fn direction(&self) -> Direction {
        self.curve.direction()
    }

    /// The pool's curve in this direction.
    pub fn curve(&self) -> &SaleCurve {
        &self.curve
    }
}

/// Whether this part of a curve takes a size. No pool takes more than 256 bits, and only the end of a whole curve shows
/// how much the pool takes.
fn takes(curve: &SaleCurve, terms: &Terms, size: SizeUsd) -> bool {
    terms.amount_in(size).is_some_and(|amount| curve.most().0 >= amount)
}

/// Both directions of a pool with its prices. Each is prepared when it is first used. Copies share the prepared data.
#[derive(Debug, Clone, Default)]
pub struct Exits(Arc<[OnceLock<Exit>; 2]>);

impl Exits {
    /// One direction of the pool. `pool` must be the same each time.
    pub fn get_or_prepare<'p>(
        &self,
        pool: impl Into<PricedPool<'p>>,
        direction: Direction,
    ) -> &Exit {
        self.0[direction.base_index()].get_or_init(|| Exit::from_pool(pool, direction))
    }

    /// Whether a direction was already prepared.
    pub fn is_ready(&self, direction: Direction) -> bool {
        self.0[direction.base_index()].get().is_some()
    }

    /// The size of the prepared data in bytes, without the ticks, which belong to the pool's state.
    pub fn held_bytes(&self) -> usize {
        let curves = self.0.iter().filter_map(OnceLock::get);
        size_of_val(&*self.0) + curves.map(|exit| exit.curve.held_bytes()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
