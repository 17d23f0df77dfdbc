//! The most that a sale gains. While the price moves through a range of liquidity `L` from the √price `a` to `b`, both
//! times `2^96`, a pool without roundings pays and takes amounts of closed formulas. The next unit gains until the
//! price is that of both values, which is the same price in every range: so the maximum is a sum over ranges.

use super::ranges::Ranges;
use super::tick_math::sqrt_ratio_at_tick;
use super::{Concentrated, Tick};
use crate::pools::{Direction, UnitValues};
use crate::wide::{U256, U1024, narrow, square_root};

/// The end of the sale, and what the formulas of a range have in common.
struct Ending {
    direction: Direction,
    /// The value of a unit bought, less the fee, and of a unit sold, in parts of the fee's denominator.
    bought: U1024,
    sold: U1024,
    /// The √price at which the next unit gains nothing lies between this and the next integer.
    price: U256,
    kept: u32,
}

/// At least the most that any sale in this direction gains, rounded up range by range.
pub(super) fn most_gain(
    ranges: &Ranges,
    direction: Direction,
    fee_pips: u32,
    values: UnitValues,
) -> U1024 {
    let kept = Concentrated::FEE_DENOMINATOR - fee_pips;
    let bought = U1024::from(values.bought) * U1024::from(kept);
    let sold = U1024::from(values.sold) * U1024::from(Concentrated::FEE_DENOMINATOR);
    let Some(price) = price_of_no_gain(direction, bought, sold) else { return U1024::ZERO };
    let ending = Ending { direction, bought, sold, price, kept };
    let (mut gain, mut at, mut liquidity) = (U1024::ZERO, ranges.sqrt_price_x96, ranges.liquidity);
    let first_above = ranges.ticks.partition_point(|tick| tick.tick <= ranges.tick);
    let (below, above) = ranges.ticks.split_at(first_above);
    let mut step = |tick: &Tick| {
        let Some(end) = sqrt_ratio_at_tick(tick.tick).filter(|_| ending.gains_at(at)) else {
            return false;
        };
        gain = gain + ending.gain(liquidity, at, end);
        at = end;
        // The constructor checked that the sums are within 128 bits.
        liquidity = match direction {
            Direction::ZeroForOne => liquidity.wrapping_sub_signed(tick.liquidity_net),
            Direction::OneForZero => liquidity.wrapping_add_signed(tick.liquidity_net),
        };
        true
    };
    match direction {
        Direction::ZeroForOne => below.iter().rev().all(&mut step),
        Direction::OneForZero => above.iter().all(&mut step),
    };
    gain
}

/// The √price, times `2^96`, at which the next unit gains nothing, rounded down and at most the largest word; `None` if
/// no price gains.
fn price_of_no_gain(direction: Direction, bought: U1024, sold: U1024) -> Option<U256> {
    let square = match direction {
        Direction::ZeroForOne => (sold << 192).checked_div(bought)?,
        Direction::OneForZero => {
            (bought << 192).checked_div(sold).unwrap_or(U1024::from(U256::MAX) << 256)
        }
    };
    Some(narrow(square_root(square)).unwrap_or(U256::MAX))
}

impl Ending {
    /// Whether the next unit gains at this √price.
    fn gains_at(&self, at: U256) -> bool {
        match self.direction {
            Direction::ZeroForOne => at > self.price,
            Direction::OneForZero => at < self.price,
        }
    }

    /// The gain of a range from `at`, where the next unit gains, to `end` or to where no unit gains any more. That
    /// √price is not an integer: of the two factors that contain it, each uses the integer for which it is larger.
    fn gain(&self, liquidity: u128, at: U256, end: U256) -> U1024 {
        let (wide, next) = (|price: U256| U1024::from(price), self.price.saturating_add(U256::ONE));
        let (width, product, per_unit) = match self.direction {
            Direction::ZeroForOne => {
                let (far, near) = (end.max(self.price), end.max(next));
                let product = wide(at) * wide(near);
                let gained = (self.bought * product).checked_sub(self.sold << 192);
                (at - far.min(at), product, gained)
            }
            Direction::OneForZero => {
                let (near, far) = (end.min(self.price), end.min(next));
                let product = wide(at) * wide(near);
                let gained = (self.bought << 192).checked_sub(self.sold * product);
                (far.max(at) - at, product, gained)
            }
        };
        // 128, 160 and 596 bits.
        let gained = wide(width) * U1024::from(liquidity) * per_unit.unwrap_or(U1024::ZERO);
        gained.div_ceil((product * U1024::from(self.kept)) << 96)
    }
}
