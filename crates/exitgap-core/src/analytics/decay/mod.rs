//! Depth decay, `decay/1`: how a pool's depth shrinks after its price has moved, split exactly into
//! the effect of the move itself and the liquidity withdrawn by providers.
//!
//! - `terms`: the parameters; `scan`: the one pass over the slots; `result`: the result
//!
//! `book(S)` is the depth at the given gap with the mid price of `S` instead of the oracle price, in whole dollars at
//! the oracle price. An **event** at slot `t` is a mid price that differs by at least `move_pct` from that of slot
//! `a = t − within_slots`. Both slots must be recorded and not retracted, and there is no event within 48 slots after
//! another. For a slot `t + h`: `B0 = book(S_a)`, `B2 = book(S_(t+h))`, and `B1` is the book of the liquidity of `S_a`
//! at the price and the oracle of `S_(t+h)`. `mechanical = B1 − B0`, `liquidity = B2 − B1`: **negative if the book
//! became smaller**. They sum to `B2 − B0` to the dollar.
//!
//! Who withdrew liquidity or why, and anything within five minutes, is not covered.

mod result;
mod scan;
mod terms;

pub use result::{DecayEvent, DecayHorizon, DecayResult, DecaySide, DecayStep};
pub use scan::DecayPass;
pub use terms::{DecayParameters, DecayTerms};

/// The name and version of these rules.
pub const DECAY: &str = "decay/1";

/// The slots after an event at which depth is listed and summarised.
pub const HORIZONS: [u32; 7] = [0, 1, 2, 6, 12, 24, 48];

/// The number of slots after an event in which no other event counts, and in which its half-life is searched.
pub const REACH_SLOTS: u32 = 48;

/// A baseline is measured from every slot whose number is divisible by this, unless an event is near.
pub const BASELINE_EVERY_SLOTS: u32 = 12;

#[cfg(test)]
mod tests;
