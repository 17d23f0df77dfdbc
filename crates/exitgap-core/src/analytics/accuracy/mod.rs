//! The accuracy record, `accuracy/1`: every real swap of a pool against what was estimated of it from the newest slot
//! before.
//!
//! - `events`: what a pool's contract logged; `replay`: whether the logs are all of them
//! - `fills`: the document in which a recorder keeps the logs of some blocks, and to which its heads commit
//! - `issued`: the one that names the receipts of estimates that were paid for; `committed`: what both have in common;
//!   `requote`: such an estimate at a later slot
//! - `scan`: the one pass over slots and logs; `flags`: what stood around a swap; `result`: what comes of it
//! - `terms`: what is asked; `pass`: a period, from snapshots and documents one at a time; `figure`: what a figure file
//!   has of it
//!
//! Nothing is selected: each swap between two slots that stand is compared, or counted among those that could not be,
//! with the reason. That no log is absent is **checked by the snapshots themselves**: all logs between two slots are
//! replayed on the state of the first. Each swap must be one that the contract could have made there, with the amounts,
//! the price, the tick and the liquidity that it says, and the last must leave the state of the second slot, bit for bit.
//! Where one does not, none of that stretch's swaps is compared (`fills_incomplete`).
//!
//! `error_pct = 100 × (estimated − received) × quote ÷ (sold × base)` at the oracle prices of the slot: the realised gap
//! less the estimated one, half-even to six decimals. **Positive: reality was worse.** Of pools of concentrated liquidity
//! (Uniswap v3 and what logs as it does) and of constant product.
//!
//! It says nothing of reverted trades, nor of orders that were never sent.

mod committed;
mod events;
mod figure;
mod fills;
mod flags;
mod issued;
mod pass;
mod replay;
mod requote;
mod result;
mod scan;
mod terms;

use crate::analytics::FigureError;
use crate::pools::PoolState;

pub use committed::Committed;
pub use events::{PoolEvent, PoolLog, PriceAfter, SwapAmounts};
pub use figure::AccuracyFigure;
pub use fills::{Fills, FillsError, MAX_FILLS_BYTES, MAX_FILLS_LOGS};
pub use flags::{SwapFlags, SwapsFlagged};
pub use issued::{Issued, IssuedError, MAX_ISSUED, MAX_ISSUED_BYTES};
pub use pass::{AccuracyOfPeriod, AccuracyPass};
pub use requote::{LATER_SLOTS, Requote, requote};
pub use result::{AccuracyAge, AccuracyResult, AccuracySize, ComparedSwap, NotCompared};
pub use scan::AccuracyScan;
pub use terms::{AccuracyParameters, AccuracyTerms};

/// Whether swaps of a pool of this kind are compared: what it logs is known, and replayed.
pub fn is_told_of(state: &PoolState) -> bool {
    replay::Replay::of(state).is_some()
}

/// The refusal of a pool whose logs are not known.
fn unsupported(protocol: &'static str) -> FigureError {
    let supported = "concentrated liquidity with the events of Uniswap v3, and constant product";
    FigureError::UnsupportedKind { figure: "accuracy", protocol, supported }
}

/// The name and version of these rules.
pub const ACCURACY: &str = "accuracy/1";

/// How many slots older than the newest one before a swap estimates are compared, too.
pub const OLDER_SLOTS: [u32; 7] = [0, 1, 2, 6, 12, 48, 288];

/// The most logs of a period.
pub const MAX_LOGS: usize = 1 << 21;

/// The most of them that wait for a slot whose block is not before theirs.
pub const MAX_LOGS_HELD: usize = 1 << 18;

#[cfg(test)]
mod tests;
