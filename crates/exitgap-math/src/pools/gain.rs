//! The most that a sale gains if a unit of each token has a given value: the pool's part of a bound for plans over
//! several pools.
//!
//! Without roundings a pool pays a concave `F(d)` for `d` units. If a unit bought is worth `p` and a unit sold `q`, no
//! amount gains more than `max p·F(d) − q·d`. Where a kind has a closed formula, the maximum is one, too.

use super::FeeRate;
use crate::wide::{U256, U1024, square_root};

/// The values of a raw unit of the token sold and of the token bought, in one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnitValues {
    pub sold: U256,
    pub bought: U256,
}

impl UnitValues {
    /// For `F(d) = y·k ÷ (x + k)`, `k` being what the fee leaves of `d`: `(√A − √B)²` with `A = p·y` and
    /// `B = q·x ÷ (1 − fee)`, or nothing if `B` is not below `A`. `reserves` are those of the token sold and the token
    /// bought, whose product has at most 256 bits.
    pub fn most_gain_of_product(self, [x, y]: [U256; 2], fee: FeeRate) -> U1024 {
        let all = U1024::from(self.bought) * U1024::from(y);
        let kept = fee.denominator - fee.numerator;
        let sold = U1024::from(self.sold) * U1024::from(x) * U1024::from(fee.denominator);
        // The gain falls as `B` grows, so this is rounded down.
        let start = sold / U1024::from(kept);
        if start >= all {
            return U1024::ZERO;
        }
        all + start - (square_root(all * start) << 1)
    }

    /// What one unit that the fee leaves costs, rounded up.
    pub fn unit_after_fee(self, fee: FeeRate) -> U1024 {
        let cost = U1024::from(self.sold) * U1024::from(fee.denominator);
        cost.div_ceil(U1024::from(fee.denominator - fee.numerator))
    }
}
