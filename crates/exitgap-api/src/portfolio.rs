//! Several positions sold at once.

use serde::{Deserialize, Serialize};

use crate::{
    CashPlan, Exactness, Number, OracleState, Problem, Published, SeriesMethod, SplitLeftOut,
    Status, TokenLabel,
};

/// One position of a portfolio.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Position {
    /// The pool's identifier. Absent if a token is sold through all its pools.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pool: Option<String>,
    /// `token0` or `token1`: the token sold in that pool.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base: Option<String>,
    /// The token held, `<chain>/<token>`. It is sold for cash, together with the other tokens.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub token: Option<String>,
    /// The position's size, USD.
    pub size_usd: Number,
    /// The index in `exits` of the exit that sells this position, from 0, together with other
    /// positions in the pool. Empty if a token is held.
    pub exits: Vec<u32>,
    /// The index in `plans` of the plan that sells this token, from 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plan: Option<u32>,
    /// True if the token is one of those that the sale must end in: it is not sold.
    #[serde(skip_serializing_if = "core::ops::Not::not", default)]
    pub is_cash: bool,
    /// Why this token is not sold: no path of the recorded pools leads from it to what the sale must
    /// end in. The other positions are sold without it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub problem: Option<Problem>,
}

/// All positions in one pool and direction, sold together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PortfolioExit {
    /// The pool's identifier.
    pub pool: String,
    /// `token0` or `token1`: the token sold.
    pub base: String,
    /// The sum of the positions, USD.
    pub size_usd: Number,
    /// The exit. Absent if the size cannot be filled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<Box<Published<crate::Amounts>>>,
    /// Why there is no exit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub problem: Option<Problem>,
    /// The part that cannot be filled, USD.
    pub unfilled_usd: Number,
}

/// One plan for all tokens of a chain that are held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PortfolioPlan {
    /// The chain's slug.
    pub chain: String,
    /// What the sale must end in, as requested.
    pub into: String,
    /// `not_configured` if the request is for cash and the operator configured none for this chain.
    /// The sale then ends in any token in which a pool pays for a token sold, as with `any`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cash: Option<String>,
    /// The slot number. All pools are used as they were at this slot.
    pub slot: u32,
    /// The time of the slot, RFC 3339.
    pub slot_time: String,
    /// Seconds since the slot.
    pub snapshot_age_s: u64,
    /// The tokens held, ascending by address, each with all of its positions.
    pub sold: Vec<PlanSold>,
    /// The size of all of them, USD.
    pub size_usd: Number,
    /// The sale of what can be filled. Absent if nothing can.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<Box<PlanAnswer>>,
    /// Why not everything can be filled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub problem: Option<Problem>,
    /// The part that cannot be filled, USD.
    pub unfilled_usd: Number,
    /// Pools of the chain that are not part of the search or of its bound, and why.
    pub left_out: Vec<SplitLeftOut>,
    /// What is not counted.
    pub not_counted: Vec<String>,
}

/// A token held, and how much a plan sells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanSold {
    /// The token.
    pub token: TokenLabel,
    /// USD per whole token, according to the oracle.
    pub oracle_price_usd: Number,
    /// The size of all positions in it, USD.
    pub size_usd: Number,
    /// The amount that the plan sells, raw units: everything, or what the pools take.
    pub amount_in_raw: String,
    /// The part that the pools do not take, USD.
    pub unfilled_usd: Number,
}

/// The sale of several tokens, and what it brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanAnswer {
    /// The plan. Its `size_usd` is that of the part that can be filled.
    #[serde(flatten)]
    pub plan: CashPlan,
    /// How reliable the oracle answers of the legs' pools are: the worst of them.
    pub oracle_state: OracleState,
    /// Whether the amounts are what a holder sends and receives.
    #[serde(flatten)]
    pub exactness: Exactness,
    /// Whether the markets of the tokens of all legs are open.
    pub market_open: bool,
    /// The market session: of a leg whose market is closed, if there is one.
    pub session_note: String,
    /// URL of the figure file that proves the plan, what it brings, and the bound.
    pub evidence_url: String,
    /// The length of the shortest series of the legs' pools, days.
    pub days_observed: Number,
    /// The method, disclosed. Its window is that of the leg with the shortest series.
    pub method: SeriesMethod,
}

/// The totals over all exits and plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PortfolioTotal {
    /// All positions, USD.
    pub size_usd: Number,
    /// The mean of the gaps of exits and plans, weighted by size, percent. A token that is cash
    /// already has no gap and counts as 0. Null if something cannot be filled.
    pub exit_gap_pct: Option<Number>,
    /// The part that cannot be filled, USD.
    pub unfilled_usd: Number,
    /// The same mean over the part that can be filled. Null if nothing can be filled.
    pub filled_gap_pct: Option<Number>,
    /// Preview if any exit or plan is preview.
    pub status: Status,
    /// The length of the shortest series of all exits and legs. The totals are no more reliable than
    /// that one.
    pub days_observed: Number,
    /// The version of the method behind the figures.
    pub method_version: String,
    /// The method, disclosed. Its window is that of the shortest series.
    pub method: SeriesMethod,
    /// URLs of the evidence for the gaps behind the means and for the parts that cannot be filled:
    /// of every exit, in the order of `exits`, then the figure file of every plan.
    pub evidence_urls: Vec<String>,
}

/// `GET /v1/portfolio`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Portfolio {
    /// The positions, as requested.
    pub positions: Vec<Position>,
    /// The exits of positions that name a pool, in the order of their first position.
    pub exits: Vec<PortfolioExit>,
    /// The sales of tokens held, one plan for each chain, in the order of their first position.
    pub plans: Vec<PortfolioPlan>,
    /// The totals.
    pub total: PortfolioTotal,
    /// The index of the worst exit: one that cannot be filled, otherwise the one with the widest
    /// gap. Null if no position names a pool.
    pub worst_exit: Option<u32>,
}
