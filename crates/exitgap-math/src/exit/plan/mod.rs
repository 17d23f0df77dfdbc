//! A plan: sales of one or several tokens over the pools of one slot that end in cash, over at most three pools in a
//! row.
//!
//! - `network`: the pools, the tokens between them, and the directions that lie on a path
//! - `values`: the values of raw units of the tokens sold and of cash
//! - `paths`: the paths that a search tries
//! - `allot`: the search, in equal steps that shrink
//! - `directions`: which way it flows between two tokens
//! - `settle`: a search's result as legs whose amounts fit together to the unit
//! - `replay`: what a plan's legs bring, as the contracts fill them
//! - `dual`: an upper bound for every plan, computed from prices of the intermediate tokens; `gain`: the contribution of
//!   one pool to this bound
//!
//! A plan is executed pool by pool. Each pool, and each contract, is used once and in one direction, so that every leg
//! is the contract's own fill of the recorded state. A cash token is never sold. Of several tokens that are sold, a route
//! of one may pass through another, and none returns to the token in which it began.
//!
//! The search is not necessarily optimal. The bound states how close its plan is, and needs nothing from the search: it
//! holds for any prices, and a verifier computes it from the prices in the plan.

mod allot;
mod directions;
mod dual;
mod gain;
mod network;
mod paths;
mod replay;
mod settle;
mod values;

use core::cell::Cell;

use dual::NEAR;
pub use dual::{PlanBound, TokenPrice};
use network::ValuedToken;
pub use network::{Network, NetworkError, NetworkPool};
pub use replay::{LegOrder, PlanLeg, PlanResult, ReplayError};

use crate::ids::Address;
use crate::units::Percent;
use crate::wide::{U256, mul_div};

/// The most pools of a network.
pub const MAX_NETWORK_POOLS: usize = 24;

/// The most tokens that a plan sells.
pub const MAX_SOLD_TOKENS: usize = 24;

/// The most cash tokens of a network.
pub const MAX_CASH_TOKENS: usize = 8;

/// The most pools in a row.
pub const MAX_HOPS: usize = 3;

/// Why there is no plan for an amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The amount is zero.
    #[error("the amount is zero")]
    NoInput,
    /// No path of recorded pools leads from a token to cash.
    #[error("no path of at most {MAX_HOPS} pools leads from {token} to a cash token")]
    NoPath {
        /// The token sold.
        token: Address,
    },
    /// The paths that were tried take less than the amounts.
    #[error("the pools together take less than the amount")]
    BeyondLiquidity {
        /// What they take, in raw units of each token sold, in the order of the amounts.
        max_amounts_in: Vec<U256>,
    },
    /// The amount brings no unit of cash.
    #[error("the pools would pay less than one unit of cash")]
    NoOutput,
    /// The gap, or the distance of the bound, is too large for a percentage.
    #[error(
        "the oracle price and the pool prices are too far apart for a percentage; one of them must be wrong"
    )]
    GapOutOfRange,
}

impl PlanError {
    /// The stable code, for example `no_path`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoInput => "rounds_to_no_input",
            Self::NoPath { .. } => "no_path",
            Self::BeyondLiquidity { .. } => "beyond_liquidity",
            Self::NoOutput => "rounds_to_no_output",
            Self::GapOutOfRange => "gap_out_of_range",
        }
    }
}

/// A plan that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The legs in an order in which they can be executed.
    pub legs: Vec<LegOrder>,
    /// The prices that the bound was computed at, ascending by token; none without a bound.
    pub prices: Vec<TokenPrice>,
    /// What the legs bring.
    pub result: PlanResult,
    /// The bound; `None` if the law of one of the pools is not known to be concave.
    pub bound: Option<PlanBound>,
}

/// The least that someone accepts who was told `amount_out`, rounded down; `None` for a tolerance outside 0 to 100%.
pub fn least_accepted(amount_out: U256, tolerance: Percent) -> Option<U256> {
    let whole = 100_000_000;
    let kept = u64::try_from(whole - tolerance.0).ok().filter(|_| tolerance.0 >= 0)?;
    mul_div(amount_out, U256::from(kept), U256::from(100_000_000_u64))
}

/// The fills that a search has made, and after how many it is not repeated.
#[derive(Debug, Default)]
struct Work(Cell<usize>);

impl Work {
    const MOST_FILLS: usize = 200_000;

    fn add(&self, fills: usize) {
        self.0.set(self.0.get().saturating_add(fills));
    }

    fn is_spent(&self) -> bool {
        self.0.get() > Self::MOST_FILLS
    }
}

/// Searches a plan for these raw units of the tokens sold, in the network's order of them. A plan of one token brings at
/// least what any single path brings that takes the whole amount.
///
/// The work is bounded. For each token sold: about 13,000 fills for the paths of 24 pools, and one pass over the step sizes,
/// in which its paths take some 200 steps of at most three fills, each of which makes other paths be filled anew. Further
/// passes, and searches with other ways between two tokens, begin only while less than 200,000 fills were made. And 1,500
/// closed formulas for each of at most two bounds.
pub fn find_plan(network: &Network<'_>, amounts_in: &[U256]) -> Result<Plan, PlanError> {
    if amounts_in.len() != network.sold.len() || amounts_in.iter().any(U256::is_zero) {
        return Err(PlanError::NoInput);
    }
    let work = Work::default();
    let first = directions::search(network, amounts_in, &[], &work);
    let plan = first.clone().and_then(|legs| bounded(network, legs, amounts_in));
    let is_near = |plan: &Plan| plan.bound.is_some_and(|bound| bound.optimality_gap <= NEAR);
    if matches!(&plan, Err(PlanError::NoPath { .. })) || plan.as_ref().is_ok_and(is_near) {
        return plan;
    }
    match directions::search_other_ways(network, amounts_in, first.clone(), &work) {
        Ok(legs) if first.as_ref() != Ok(&legs) => {
            tighter(network, amounts_in, bounded(network, legs, amounts_in), plan)
        }
        Ok(_) => plan,
        Err(error) => Err(error),
    }
}

/// The better plan at the prices of the two plans that bound it more tightly: a bound holds at any prices. The other plan
/// if the better one has no bound where there is one.
fn tighter(
    network: &Network<'_>,
    amounts_in: &[U256],
    better: Result<Plan, PlanError>,
    other: Result<Plan, PlanError>,
) -> Result<Plan, PlanError> {
    let (mut better, other) = match (better, other) {
        (Ok(better), Ok(other)) => (better, other),
        (better, other) => return better.or(other),
    };
    let bound = network.bound(&other.prices, amounts_in, &better.result);
    if let Some((at_other, own)) = bound.zip(better.bound)
        && at_other.optimality_gap < own.optimality_gap
    {
        (better.prices, better.bound) = (other.prices, Some(at_other));
    }
    Ok(better)
}

/// A plan of these legs, with its bound.
fn bounded(
    network: &Network<'_>,
    legs: Vec<LegOrder>,
    amounts_in: &[U256],
) -> Result<Plan, PlanError> {
    let result = network.replay(&legs, amounts_in).map_err(|_| PlanError::NoOutput)?;
    if result.received.is_empty() {
        return Err(PlanError::NoOutput);
    }
    if result.gap.is_none() {
        return Err(PlanError::GapOutOfRange);
    }
    let prices = dual::prices_at(network, &legs, amounts_in, &result);
    let bound = network.bound(&prices, amounts_in, &result);
    if bound.is_none() && network.has_bound() {
        return Err(PlanError::GapOutOfRange);
    }
    Ok(Plan { legs, prices, result, bound })
}

#[cfg(test)]
mod tests;
