//! Liquidation exposure, `exposure/1`: could the market of any slot of the last week have absorbed a liquidation of a
//! stated size, after a stated fall of the price, at a profit of those who liquidate?
//!
//! - `terms`: what is asked; `scan`: the one pass over the slots; `result`: what comes of it
//! - `cascade`: which positions a fall liquidates, and how much is sold
//!
//! Whoever liquidates repays one dollar of debt and gets `F = 1 + bonus·(1 − protocol_fee)` dollars of collateral. They
//! profit where what they seized sells within the **break-even gap** `1 − 1 ÷ F`. Every slot is looked at **after the
//! fall**: liquidity stays where it is, the price of every venue and the oracle of the token sold fall together. What is
//! sold is split over the venues exactly. A venue that is missing in a slot is unknown, not empty: the slot is counted
//! and not looked at.
//!
//! It says nothing of liquidators' other ways out, nor of their gas; seven calm days are no crash.

mod cascade;
mod result;
mod scan;
mod terms;

pub use cascade::{Cascade, CascadeError, CascadeTerms, Position, cascade};
pub use result::{ExposureBand, ExposureResult, ExposureVenueResult};
pub use scan::ExposurePass;
pub use terms::{ExposureParameters, ExposureTerms, Liquidation};

/// The name and version of these rules.
pub const EXPOSURE: &str = "exposure/1";

#[cfg(test)]
mod tests;
