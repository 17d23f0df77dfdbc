//! Compares the received amount with the estimated one.

use super::PricedPool;
use super::terms::Terms;
use crate::pools::Direction;
use crate::units::{Percent, UsdMicros};
use crate::wide::U256;

/// `100 × (estimated − received) × quote ÷ (sold × base)` at a pool's oracle prices, rounded half-even to six decimals:
/// the realised gap minus the estimated one. **Positive: the result was worse than the estimate.** `None` if it is
/// outside a percentage's bounds.
pub fn estimate_error<'p>(
    pool: impl Into<PricedPool<'p>>,
    direction: Direction,
    amount_in: U256,
    [estimated, received]: [U256; 2],
) -> Option<Percent> {
    let terms = Terms::of_priced(pool.into(), direction);
    let magnitude = terms.share(amount_in, estimated.abs_diff(received))?;
    Some(if received > estimated { Percent(-magnitude.0) } else { magnitude })
}

/// The gap of a sale that pays this amount, measured at a pool's oracle prices and rounded half-even to six decimals.
/// `None` if it is outside a percentage's bounds.
pub fn gap_of<'p>(
    pool: impl Into<PricedPool<'p>>,
    direction: Direction,
    [amount_in, amount_out]: [U256; 2],
) -> Option<Percent> {
    Terms::of_priced(pool.into(), direction).gap(amount_in, amount_out)
}

/// The value of raw units of the token sold at a pool's oracle price, rounded down and capped.
pub fn worth_of<'p>(
    pool: impl Into<PricedPool<'p>>,
    direction: Direction,
    amount: U256,
) -> UsdMicros {
    UsdMicros(Terms::of_priced(pool.into(), direction).worth(amount))
}
