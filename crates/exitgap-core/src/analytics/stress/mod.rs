//! Stress, `stress/1` and `stress/2`: the result of an exit split over several venues in each slot of a week, with a share of all
//! liquidity withdrawn and the price fallen, or without either.
//!
//! - `terms`: the parameters; `scan`: the one pass over the slots; `result`: the result;
//!   `recorded_shock`: a shock as in a recorded drop
//!
//! The withdrawal comes first: `⌊L·(1 − k)⌋` of each range remains, and likewise of each reserve.
//! Then the price falls, at the pools and at the oracle alike. Without a shock every kind of pool
//! is evaluated; only pools of liquidity in ranges and of constant product can be shocked. A venue
//! that is missing in a slot is unknown, not empty, so the slot is counted and not evaluated. A
//! slot in which the venues together could not take the size is worse than any number, and worse
//! the less they could take.
//!
//! If only the slots after a move are requested ([`AfterMove`]), a slot is evaluated if the mid
//! price of any venue has moved that far since the slot that many slots before. A slot cannot be
//! tested unless all venues have a snapshot in that earlier slot that was not retracted; such slots
//! are counted.
//!
//! Next to each depth is the **book**, the depth from the pool's own mid price: when an oracle
//! moves away, the depth falls and the book does not.
//!
//! Version 2 has a reference from which gaps are measured, the oracle price or the pools' own mid prices. In either case it
//! counts the slots above the limit by their cause. Venues of kinds that cannot be shocked are left out by name.

mod recorded_shock;
mod result;
mod scan;
mod terms;

pub use result::{StressResult, StressSlot, StressVenueResult};
pub use scan::StressPass;
pub use terms::{AfterMove, Shock, StressParameters, StressTerms};

/// The name and the versions of these rules.
pub const STRESS: [&str; 2] = ["stress/1", "stress/2"];

#[cfg(test)]
mod tests;
