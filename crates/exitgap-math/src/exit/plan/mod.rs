//! A plan: one sale over the pools of one slot that ends in cash, over at most three pools in a row.
//!
//! - `network`: the pools, the tokens between them, and the directions that lie on a path
//! - `values`: the values of raw units of the token sold and of cash
//! - `paths`: the paths that a search tries
//! - `allot`: the search, in equal steps that shrink
//! - `settle`: a search's result as legs whose amounts fit together to the unit
//! - `replay`: what a plan's legs bring, as the contracts fill them
//! - `dual`: an upper bound for every plan, computed from prices of the intermediate tokens; `gain`: the contribution of
//!   one pool to this bound
//!
//! A plan is executed pool by pool. Each pool, and each contract, is used once and in one direction, so that every leg
//! is the contract's own fill of the recorded state. A cash token is never sold, and the token sold is never bought.
//!
//! The search is not necessarily optimal. The bound states how close its plan is, and needs nothing from the search: it
//! holds for any prices, and a verifier computes it from the prices in the plan.

mod allot;
mod dual;
mod gain;
mod network;
mod paths;
mod replay;
mod settle;
mod values;

pub use dual::{PlanBound, TokenPrice};
use network::CashToken;
pub use network::{Network, NetworkError, NetworkPool};
pub use replay::{LegOrder, PlanLeg, PlanResult, ReplayError};

use crate::units::Percent;
use crate::wide::{U256, mul_div};

/// The most pools of a network.
pub const MAX_NETWORK_POOLS: usize = 24;

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
    /// No path of recorded pools leads to cash.
    #[error("no path of at most {MAX_HOPS} pools leads from the token sold to a cash token")]
    NoPath,
    /// The paths that were tried take less than the amount.
    #[error("the pools together take at most {max_amount_in} units")]
    BeyondLiquidity {
        /// What they take, in raw units of the token sold.
        max_amount_in: U256,
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
            Self::NoPath => "no_path",
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

/// Searches a plan for `amount_in` raw units of the token sold. It brings at least what any single path brings that
/// takes the whole amount.
///
/// The work is bounded: about 13,000 fills for the paths of 24 pools; at most seven passes of up to seven step sizes,
/// in each of which at most 24 paths take some 200 steps of at most three fills; and 1,500 closed formulas for the
/// bound.
pub fn find_plan(network: &Network<'_>, amount_in: U256) -> Result<Plan, PlanError> {
    if amount_in.is_zero() {
        return Err(PlanError::NoInput);
    }
    let found = paths::find(network, amount_in);
    if found.is_empty() {
        return Err(PlanError::NoPath);
    }
    let legs = allot::allot(network, &found, amount_in)?;
    let result = network.replay(&legs, amount_in).map_err(|_| PlanError::NoOutput)?;
    if result.received.is_empty() {
        return Err(PlanError::NoOutput);
    }
    if result.gap.is_none() {
        return Err(PlanError::GapOutOfRange);
    }
    let prices = dual::prices_at(network, &legs, amount_in, &result);
    let bound = network.bound(&prices, amount_in, &result);
    if bound.is_none() && network.has_bound() {
        return Err(PlanError::GapOutOfRange);
    }
    Ok(Plan { legs, prices, result, bound })
}

#[cfg(test)]
mod tests;
