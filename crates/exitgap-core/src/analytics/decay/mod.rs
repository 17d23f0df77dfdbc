//! Depth decay, `decay/1`: how a pool's book thins after its price has moved, split exactly into
//! what the move itself did and what providers took out.
//!
//! - `terms`: what is asked; `scan`: the one pass over the slots; `result`: what comes of it
//!
//! `book(S)` is the depth at the asked gap with `S`'s own mid in place of the oracle's price, in
//! whole dollars of the oracle. An **event** at slot `t` is a mid at least `move_pct` away from that
//! of slot `a = t − within_slots`, both standing, and none within 48 slots after another. For a slot
//! `t + h`: `B0 = book(S_a)`, `B2 = book(S_(t+h))`, and `B1` the book of `S_a`'s liquidity under the
//! price and the oracle of `S_(t+h)`. `mechanical = B1 − B0`, `liquidity = B2 − B1`: **negative where
//! the book became smaller**, and they sum to `B2 − B0` to the dollar.
//!
//! It says nothing of who withdrew or why, nor of anything within five minutes.

mod result;
mod scan;
mod terms;

pub use result::{DecayEvent, DecayHorizon, DecayResult, DecaySide, DecayStep};
pub use scan::DecayPass;
pub use terms::{DecayParameters, DecayTerms};

/// The name and version of these rules.
pub const DECAY: &str = "decay/1";

/// Slots after an event that are listed and summed up.
pub const HORIZONS: [u32; 7] = [0, 1, 2, 6, 12, 24, 48];

/// Slots after an event in which no other one counts, and in which its half-life is looked for.
pub const REACH_SLOTS: u32 = 48;

/// A baseline is drawn from each slot whose number this divides, where no event is near.
pub const BASELINE_EVERY_SLOTS: u32 = 12;

#[cfg(test)]
mod tests;
