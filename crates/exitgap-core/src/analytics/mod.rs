//! Figures computed from many recorded snapshots: pure functions over slots and observations, in
//! integers, with each percentage rounded once, half-even, to six decimals.
//!
//! - `error`: why a figure cannot be computed
//! - `stats`: the slots that are evaluated, quantiles, shares
//! - `runs`: the longest run of consecutive slots
//! - [`accuracy`]: every real swap compared with its estimate
//! - [`decay`]: how depth shrinks after a price move, and how much of it was withdrawn
//! - [`depths`]: both readings of a pool's depth over a week, and how far the oracle was ahead of the pool
//! - [`equity`]: the state of a pool of a tokenized stock in each session, and the stock's corporate actions
//! - [`exposure`]: whether the market of any slot of a week could have absorbed a liquidation
//! - [`hours`]: the state of a pool while its markets are open, and in closures of each kind
//! - [`route`]: one sale that ends in cash, over several pools in a row, with a bound on the best plan
//! - [`stress`]: the result of an exit over several venues in each slot, with liquidity withdrawn and prices fallen
//! - `venues`: the shared code of figures of several venues
//! - [`redemption`]: selling now compared with redeeming later, as a model
//! - [`figure`]: the one file from which any figure is recomputed; its bytes are documented in `docs/figure-v1.md`
//!
//! In this code a slot *stands* if it is recorded and not retracted. Other slots are counted, never
//! filled in. A series too short for statistics has `null` in their place, and the length that
//! would be needed.

pub mod accuracy;
pub mod decay;
pub mod depths;
pub mod equity;
mod error;
pub mod exposure;
pub mod figure;
pub mod hours;
#[cfg(test)]
pub(crate) mod made_up;
pub mod redemption;
pub mod route;
mod runs;
mod stats;
pub mod stress;
mod venues;

pub use error::FigureError;
pub use stats::{
    ONE_HUNDRED_PERCENT, list_standing_slots, median, nearest_rank, nearest_rank_among, share_pct,
};
pub use venues::{FailureCauses, FigureVenue, LeftOutVenue, Reference};
