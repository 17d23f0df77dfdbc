//! The accuracy record, `accuracy/2`: every real swap of a pool compared with the estimate from the
//! newest slot before it. Files of `accuracy/1` are recomputed by the same pass.
//!
//! - `events`: what a pool's contract logged; `replay`: whether the logs are complete
//! - `fills`: the document in which a recorder stores the logs of some blocks, and to which its
//!   heads commit
//! - `receipts`: the document that names the receipts of paid estimates; `committed_document`: what both have
//!   in common; `requote`: such an estimate at a later slot
//! - `scan`: the one pass over slots and logs; `judge`: one swap and one estimate; `flags`: the
//!   conditions around a swap; `result`: the result; `rules`: the versions
//! - `terms`: the parameters; `pass`: a period, from snapshots and documents one at a time;
//!   `figure`: its part of a figure file
//!
//! Nothing is selected: each swap between two slots that are recorded and not retracted is
//! compared, or counted among those that could not be compared, with the reason. That no log is
//! missing is **checked by the snapshots themselves**: all logs between two slots are replayed on
//! the state of the first. Each swap must be one that the contract could have made there, with the
//! amounts, the price, the tick and the liquidity that it logged, and the last swap must leave the
//! state of the second slot, bit for bit. If one does not, no swap of that interval is compared
//! (`fills_incomplete`).
//!
//! `error_pct = 100 × (estimated − received) × quote ÷ (sold × base)` at the oracle prices of the
//! slot: the realised gap less the estimated gap, rounded half-even to six decimals. **Positive:
//! the real fill was worse.** An order for an output is not an amount sold that the trader fixed: the
//! contract takes the smallest amount that pays the output. Such a swap agrees with the estimate if the
//! output lies between the estimates for the amount sold and for one raw unit less. Its error is then 0,
//! and it is counted apart (`bracketed_n`). For pools of concentrated liquidity (Uniswap v3 and pools with the
//! same events) and of constant product.
//!
//! Reverted trades and orders that were never sent are not covered.

mod committed_document;
mod events;
mod figure;
mod fills;
mod flags;
mod judge;
mod pass;
mod receipts;
mod replay;
mod requote;
mod result;
mod rules;
mod scan;
mod terms;

use crate::analytics::FigureError;
use crate::pools::PoolState;

pub use committed_document::CommittedDocument;
pub use events::{PoolEvent, PoolLog, PriceAfter, SwapAmounts};
pub use figure::AccuracyFigure;
pub use fills::{Fills, FillsError, MAX_FILLS_BYTES, MAX_FILLS_LOGS, check_logs};
pub use flags::{SwapFlags, SwapsFlagged};
pub use judge::Agreement;
pub use pass::{AccuracyOfPeriod, AccuracyPass};
pub use receipts::{IssuedError, IssuedReceipts, MAX_ISSUED, MAX_ISSUED_BYTES};
pub use requote::{LATER_SLOTS, Requote, requote};
pub use result::{AccuracyAge, AccuracyResult, AccuracySize, ComparedSwap, NotCompared};
pub use rules::AccuracyRules;
pub use scan::AccuracyScan;
pub use terms::{AccuracyParameters, AccuracyTerms, AccuracyTermsOf};

/// Whether this kind of pool is supported: its logs are known and can be replayed.
pub fn is_told_of(state: &PoolState) -> bool {
    replay::Replay::from_state(state).is_some()
}

/// The refusal of a pool whose kind of logs is not supported.
fn unsupported_protocol(protocol: &'static str) -> FigureError {
    let supported = "concentrated liquidity with the events of Uniswap v3, and constant product";
    FigureError::UnsupportedKind { figure: "accuracy", protocol, supported }
}

/// The name and version of the rules of new records.
pub const ACCURACY: &str = AccuracyRules::Two.name();

/// The ages of the estimates that are compared, in slots older than the newest slot before a swap.
pub const OLDER_SLOTS: [u32; 7] = [0, 1, 2, 6, 12, 48, 288];

/// The most logs in a period.
pub const MAX_LOGS: usize = 1 << 21;

/// The most logs that are held while waiting for a slot whose block is not before theirs.
pub const MAX_LOGS_HELD: usize = 1 << 18;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod versions_tests;
