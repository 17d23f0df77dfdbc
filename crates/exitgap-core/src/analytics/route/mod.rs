//! A route, `route/1`: one sale in one slot that ends in cash, over at most three pools in a row, with a bound on the
//! best plan. And a portfolio, `portfolio/1`: the same for several tokens that are sold in one plan.
//!
//! - `terms`: the parameters: the sale, the pools, the plan's legs and the prices of its bound
//! - `scan`: the snapshots of the slot, and the plan executed on them
//! - `result`: the result
//!
//! The plan is a parameter, and so are the prices: the figure is what this plan brings and how far it is from the best
//! one, and recomputing it needs no search. The pools are all those that count for the bound, used or not.

mod result;
mod scan;
mod terms;

pub use result::{RouteReceived, RouteResult};
pub use scan::{RoutePass, network_of};
pub use terms::{
    PortfolioParameters, PortfolioTerms, RouteParameters, RoutePlanLeg, RoutePrice, RouteTerms,
    SoldAmount,
};

/// The name and version of a route's rules.
pub const ROUTE: &str = "route/1";

/// The name and version of a portfolio's rules.
pub const PORTFOLIO: &str = "portfolio/1";

#[cfg(test)]
mod tests;
