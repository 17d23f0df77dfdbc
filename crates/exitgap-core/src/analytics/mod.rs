//! Figures drawn from many recorded snapshots: pure functions over slots and observations, in
//! integers, each percentage rounded once, half-even, to six decimals.
//!
//! - `error`: why a figure cannot be computed
//! - `shared`: which slots stand, quantiles, shares
//! - [`accuracy`]: every real swap against what was estimated of it
//! - [`decay`]: how a book thins after a move of the price, and how much of it was withdrawn
//! - [`equity`]: what a pool of a share is like in each session, and what became of the share
//! - [`exposure`]: whether the market of any slot of a week could have absorbed a liquidation
//! - [`hours`]: what a pool is like while its markets are open, and in closures of each kind
//! - [`stress`]: what an exit over several venues would have filled at in each slot, with liquidity gone and prices fallen
//! - `venues`: what the figures of several venues share
//! - [`redemption`]: selling now beside redeeming later, modelled
//! - [`figure`]: the one file by which any of them is recomputed; its bytes are in `docs/figure-v1.md`
//!
//! A slot *stands* where it is recorded and not retracted. Others are counted, never filled.
//! A series too short for statistics has none: `null`, and what would be needed.

pub mod accuracy;
pub mod decay;
pub mod equity;
mod error;
pub mod exposure;
pub mod figure;
pub mod hours;
#[cfg(test)]
pub(crate) mod made_up;
pub mod redemption;
mod shared;
pub mod stress;
mod venues;

pub use error::FigureError;
pub use shared::{ONE_HUNDRED_PERCENT, nearest_rank, share_pct, standing};
pub use venues::FigureVenue;
