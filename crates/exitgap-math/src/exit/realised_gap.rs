//! What was received against what was estimated.

use super::PricedPool;
use super::terms::Terms;
use crate::pools::Direction;
use crate::units::{Percent, UsdMicros};
use crate::wide::U256;

/// `100 × (estimated − received) × quote ÷ (sold × base)` at a pool's oracle prices, half-even to six decimals: the
/// realised gap less the estimated one. **Positive: reality was worse.** `None` out of a percentage's bounds.
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

/// How far below a pool's oracle prices a sale fills that pays so much, half-even to six decimals. `None` out of a
/// percentage's bounds.
pub fn gap_of<'p>(
    pool: impl Into<PricedPool<'p>>,
    direction: Direction,
    [amount_in, amount_out]: [U256; 2],
) -> Option<Percent> {
    Terms::of_priced(pool.into(), direction).gap(amount_in, amount_out)
}

/// What raw units of the token sold are worth at a pool's oracle price, rounded down; capped.
pub fn worth_of<'p>(
    pool: impl Into<PricedPool<'p>>,
    direction: Direction,
    amount: U256,
) -> UsdMicros {
    UsdMicros(Terms::of_priced(pool.into(), direction).worth(amount))
}
