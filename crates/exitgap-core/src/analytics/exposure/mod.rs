//! Liquidation exposure, `exposure/1` and `exposure/2`: whether the market could have absorbed a liquidation of a
//! given size in any slot of the last week, after a given price drop, at a profit for the
//! liquidator.
//!
//! - `terms`: the parameters; `scan`: the one pass over the slots; `result`: the result
//! - `cascade`: which positions a drop liquidates, and how much is sold
//!
//! A liquidator repays one dollar of debt and gets `F = 1 + bonus·(1 − protocol_fee)` dollars of
//! collateral. The liquidator profits if the seized collateral sells within the **break-even gap**
//! `1 − 1 ÷ F`. Every slot is evaluated **after the drop**: liquidity stays in place, and the price
//! of every venue and the oracle price of the token sold fall together. The sale is split over the
//! venues exactly. A venue that is missing in a slot is unknown, not empty, so the slot is counted
//! and not evaluated.
//!
//! Version 2 has a reference from which depths and gaps are measured, the oracle price or the pools' own mid prices. In
//! either case it counts the slots that failed by their cause: the oracle led, or the book was too thin. Venues of kinds
//! that cannot be moved to another price are left out by name.
//!
//! Liquidators' other ways to sell and their gas are not covered. Seven calm days are not a crash.

mod cascade;
mod result;
mod scan;
mod terms;

pub use cascade::{Cascade, CascadeError, CascadeTerms, Position, cascade};
pub use result::{ExposureBand, ExposureResult, ExposureVenueResult};
pub use scan::ExposurePass;
pub use terms::{ExposureParameters, ExposureTerms, Liquidation};

/// The name and the versions of these rules.
pub const EXPOSURE: [&str; 2] = ["exposure/1", "exposure/2"];

#[cfg(test)]
mod tests;
