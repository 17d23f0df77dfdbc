//! An estimate that was given, quoted again at a later slot: what became of the promise.

use crate::exit::{estimate_error, gap_of};
use crate::pools::{Direction, FillError};
use crate::snapshot::Observation;
use crate::units::Percent;
use crate::wide::U256;

/// How many slots later an estimate that was issued is quoted again.
pub const LATER_SLOTS: [u32; 4] = [1, 2, 6, 12];

/// The same sale at a later slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requote {
    /// What the pool would have paid there, raw units.
    pub amount_out: U256,
    /// `100 × (estimated − paid) × quote ÷ (sold × base)` at the oracle prices of the slot that was estimated from.
    /// Positive: the pool paid less than was estimated. `None` out of a percentage's bounds.
    pub error: Option<Percent>,
    /// The gap at the later slot's own oracle prices, so that what the oracle did stands apart. `None` likewise.
    pub gap: Option<Percent>,
}

/// Quotes a sale of `amount_in`, of which `estimated` paid `estimated_out`, again at `later`; or why that pool would not
/// fill it any more. Of every kind of pool.
pub fn requote(
    estimated: &Observation,
    direction: Direction,
    [amount_in, estimated_out]: [U256; 2],
    later: &Observation,
) -> Result<Requote, FillError> {
    let amount_out = later.state().fill_once(direction, amount_in)?.amount_out;
    let amounts = [estimated_out, amount_out];
    Ok(Requote {
        amount_out,
        error: estimate_error(estimated, direction, amount_in, amounts),
        gap: gap_of(later, direction, [amount_in, amount_out]),
    })
}
