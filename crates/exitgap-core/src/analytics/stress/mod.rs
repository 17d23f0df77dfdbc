//! Stress, `stress/1`: what an exit split over several venues would have filled at in each slot of a week, with a share of
//! everybody's liquidity gone and the price fallen, or with neither.
//!
//! - `terms`: what is asked; `scan`: the one pass over the slots; `result`: what comes of it; `recorded`: a shock as a
//!   recorded fall was one
//!
//! The haircut comes first: of each range `⌊L·(1 − k)⌋` stays, of each reserve likewise. Then the price falls, at the pools
//! and at the oracle alike. Whatever kind of pool is looked at as it was; only pools of liquidity in ranges and of
//! constant product can be shocked. A venue that is missing in a slot is unknown, not empty: the slot is counted and not
//! looked at. A slot in which the venues together did not take the size is worse than any number, and the worse the
//! less of it they took.
//!
//! Where only the slots after a move are asked for ([`AfterMove`]), those are looked at in which the mid of any venue has moved so far
//! since the slot so many before; a slot before which the venues do not all stand cannot be tested, and is counted.
//!
//! Beside each depth stands the **book**, the depth from the pool's own mid price: where an oracle moves away, the depth
//! falls and the book does not.

mod recorded;
mod result;
mod scan;
mod terms;

pub use result::{StressResult, StressSlot, StressVenueResult};
pub use scan::StressPass;
pub use terms::{AfterMove, Shock, StressParameters, StressTerms};

/// The name and version of these rules.
pub const STRESS: &str = "stress/1";

#[cfg(test)]
mod tests;
