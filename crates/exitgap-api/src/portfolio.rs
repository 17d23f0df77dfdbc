//! Several positions sold at once.

use serde::{Deserialize, Serialize};

use crate::{Number, Problem, Published, SeriesMethod, Status};

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
    /// The token sold through all its pools, `<chain>/<token>`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub token: Option<String>,
    /// The position's size, USD.
    pub size_usd: Number,
    /// The indexes in `exits` that sell this position, from 0, together with other positions in the
    /// pool or token.
    pub exits: Vec<u32>,
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

/// The totals over all exits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PortfolioTotal {
    /// All positions, USD.
    pub size_usd: Number,
    /// The mean of the exits' gaps, weighted by size, percent. Null if something cannot be filled.
    pub exit_gap_pct: Option<Number>,
    /// The part that cannot be filled, USD.
    pub unfilled_usd: Number,
    /// The same mean over the part that can be filled. Null if nothing can be filled.
    pub filled_gap_pct: Option<Number>,
    /// Preview if any exit is preview.
    pub status: Status,
    /// The length of the shortest series of all exits. The totals are no more reliable than that
    /// exit.
    pub days_observed: Number,
    /// The version of the method behind the figures.
    pub method_version: String,
    /// The method, disclosed. Its window is that of the exit with the shortest series.
    pub method: SeriesMethod,
    /// URLs of the evidence for the gaps behind the means and for the parts that cannot be filled:
    /// of every exit, in the order of `exits`.
    pub evidence_urls: Vec<String>,
}

/// `GET /v1/portfolio`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Portfolio {
    /// The positions, as requested.
    pub positions: Vec<Position>,
    /// The exits, in the order of their first position.
    pub exits: Vec<PortfolioExit>,
    /// The totals.
    pub total: PortfolioTotal,
    /// The index of the worst exit: one that cannot be filled, otherwise the one with the widest
    /// gap.
    pub worst_exit: u32,
}
