//! Several positions, exited at once.

use serde::{Deserialize, Serialize};

use crate::{Number, Problem, Published, SeriesMethod, Status};

/// One position of a portfolio.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Position {
    /// The pool's identifier; absent where a token is sold through all its pools.
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
    /// Which of `exits` sell it, counted from 0; with other positions of the pool or token.
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
    /// What it fills at; absent where it cannot be filled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<Box<Published<crate::Amounts>>>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub problem: Option<Problem>,
    /// What of it cannot be filled, USD.
    pub unfilled_usd: Number,
}

/// The sums over all exits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PortfolioTotal {
    /// All positions, USD.
    pub size_usd: Number,
    /// The mean of the exits' gaps, weighted by size, percent; null where something cannot
    /// be filled.
    pub exit_gap_pct: Option<Number>,
    /// What cannot be filled, USD.
    pub unfilled_usd: Number,
    /// The same mean over what can be filled; null where nothing can.
    pub filled_gap_pct: Option<Number>,
    /// Preview where any exit is.
    pub status: Status,
    /// That of the exit with the shortest series: the sums are no stronger than it.
    pub days_observed: Number,
    /// The version of the rules that produced the figures.
    pub method_version: String,
    /// The method, disclosed; its window is that of the exit with the shortest series.
    pub method: SeriesMethod,
    /// What anyone can check with the gaps behind the means, and what cannot be filled: of every
    /// exit, in the order of `exits`.
    pub evidence_urls: Vec<String>,
}

/// `GET /v1/portfolio`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Portfolio {
    /// The positions, as asked.
    pub positions: Vec<Position>,
    /// The exits, in the order of their first position.
    pub exits: Vec<PortfolioExit>,
    /// The sums.
    pub total: PortfolioTotal,
    /// Which exit is the worst: one that cannot be filled, else the one of the widest gap.
    pub worst_exit: u32,
}
