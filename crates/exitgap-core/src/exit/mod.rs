//! The exit: what a sale of a stated size fills at, how far below the oracle that
//! is, and how large a sale may be.
//!
//! - [`Exit`]: one direction of a pool with its oracle prices, ready for questions
//! - `terms`: exact comparison of a fill with the oracle
//! - `estimate`, `ladder`, `sizing`, `orders`, `portfolio`: the questions
//! - `routes`: venues compared from ladders alone
//!
//! Method 1.0.0. All of it is integer arithmetic on raw chain values. With
//! `realized ÷ oracle = (out · quote_usd) ÷ (in · base_usd)` in whole-token terms,
//! `exit_gap_pct = 100 × (1 − realized ÷ oracle)`: **positive where the fill is
//! worse than the oracle, negative where it is better**, rounded half-even to six
//! decimals once, at the end. Limits are tested on the exact ratio.

mod estimate;
mod ladder;
mod orders;
mod portfolio;
mod routes;
mod sizing;
mod terms;

pub use estimate::{Estimate, Refusal, Split};
pub use ladder::{GapRow, SizeRow};
pub use orders::{OrderPlan, OrderPlanError, OrdersRefused, PartFill, Simulation};
pub use portfolio::{PortfolioPart, PortfolioTotal, worst_part};
pub use routes::{
    MAX_ROUTE_VENUES, Route, RouteError, RouteLeg, RouteRanking, RouteRow, RouteVenue, rank_routes,
};
pub use sizing::{LimitedBy, MaxSize, SearchExhausted};

use crate::pools::{Curve, Direction, PoolState};
use crate::snapshot::Observation;
use crate::units::UsdPrice;
use estimate::BeforeSale;
use terms::Terms;

/// The version of the rules in this module; every result names it.
pub const METHOD_VERSION: &str = "1.0.0";

/// Selling one token of a pool for the other, at given oracle prices.
#[derive(Debug, Clone)]
pub struct Exit {
    state: PoolState,
    curve: Curve,
    terms: Terms,
    before: BeforeSale,
}

impl Exit {
    /// An exit from `state`. `decimals` and `usd` are those of token 0 and token 1;
    /// decimals above 36 do not occur in an [`Observation`] and are taken as 36.
    pub fn new(
        state: &PoolState,
        direction: Direction,
        decimals: [u8; 2],
        usd: [UsdPrice; 2],
    ) -> Self {
        let (base, quote) = (direction.base_index(), direction.quote_index());
        let terms = Terms::new(usd[base], decimals[base], usd[quote], decimals[quote]);
        let curve = state.curve(direction);
        let before = BeforeSale::new(&curve, &terms);
        Self { state: state.clone(), curve, terms, before }
    }

    /// An exit from a pool as it was observed.
    pub fn of(observation: &Observation, direction: Direction) -> Self {
        let decimals = observation.tokens().each_ref().map(|token| token.decimals);
        Self::new(observation.state(), direction, decimals, *observation.prices())
    }

    /// The direction: which token is sold.
    pub fn direction(&self) -> Direction {
        self.curve.direction()
    }

    /// The pool's curve in this direction.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }
}

#[cfg(test)]
mod tests;
