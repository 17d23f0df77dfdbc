//! What was received against what was estimated.

use super::terms::Terms;
use crate::pools::Direction;
use crate::snapshot::Observation;
use crate::units::{Percent, UsdMicros};
use crate::wide::U256;

/// `100 × (estimated − received) × quote ÷ (sold × base)` at an observation's oracle prices, half-even to six decimals: the
/// realised gap less the estimated one. **Positive: reality was worse.** `None` out of a percentage's bounds.
pub fn estimate_error(
    observation: &Observation,
    direction: Direction,
    amount_in: U256,
    [estimated, received]: [U256; 2],
) -> Option<Percent> {
    let terms = Terms::of_observed(observation, direction);
    let magnitude = terms.share(amount_in, estimated.abs_diff(received))?;
    Some(if received > estimated { Percent(-magnitude.0) } else { magnitude })
}

/// How far below an observation's oracle prices a sale fills that pays so much, half-even to six decimals. `None` out of a
/// percentage's bounds.
pub fn gap_of(
    observation: &Observation,
    direction: Direction,
    [amount_in, amount_out]: [U256; 2],
) -> Option<Percent> {
    Terms::of_observed(observation, direction).gap(amount_in, amount_out)
}

/// What raw units of the token sold are worth at an observation's oracle price, rounded down; capped.
pub fn worth_of(observation: &Observation, direction: Direction, amount: U256) -> UsdMicros {
    UsdMicros(Terms::of_observed(observation, direction).worth(amount))
}
