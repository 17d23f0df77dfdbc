//! What a sale would pay without roundings, from above.
//!
//! The fee leaves less than one unit more than its share says. A volatile pool's quotient is then
//! one formula. A stable pool's iteration ends at a `y` whose invariant without roundings is not
//! below the target: where it stops below, one step along the slope would reach it, and the
//! invariant is convex in `y`. So the root of `x·y·(x² + y²) = k` is never above that `y`, it falls
//! with `x`, and what it leaves is concave in what is sold.

use super::Solidly;
use super::curve::ONE;
use crate::pools::Direction;
use crate::wide::{U256, U512, U1024, narrow};

/// Roots are computed to `2^-96` of a scaled unit.
const BITS: usize = 96;
/// Balances of more bits are left out: the invariant of four of them would not fit.
const MOST: usize = 158;
/// More rounds than the iteration takes from any start that fits.
const ROUNDS: usize = 600;

impl Solidly {
    /// What `amount_in` pays, in units of `2^-64`, rounded up.
    pub(super) fn paid_without_rounding(&self, direction: Direction, amount_in: U256) -> U512 {
        let (base, quote) = (direction.base_index(), direction.quote_index());
        let denominator = U1024::from(Self::FEE_DENOMINATOR);
        let kept = U1024::from(Self::FEE_DENOMINATOR - self.fee_numerator);
        let left = U1024::from(amount_in) * kept + denominator;
        let reserve = U1024::from(self.reserves[quote]);
        if !self.stable {
            let sum = U1024::from(self.reserves[base]) * denominator + left;
            return low(((left * reserve) << 64).div_ceil(sum));
        }
        let all = low(reserve << 64);
        let Some([x, beside]) = self.scaled_pair(base, quote) else { return all };
        let added = ((left * U1024::from(ONE)) << BITS)
            .div_ceil(denominator * U1024::from(self.unit(base)));
        let x = (U1024::from(x) << BITS) + added;
        let near = self.contracts_root(x, beside);
        let beside = U1024::from(beside) << BITS;
        let root = if x.bit_len() > MOST + BITS { None } else { self.root_below(x, beside, near) };
        let Some(root) = root else { return all };
        let freed = beside.checked_sub(root).unwrap_or(U1024::ZERO);
        let paid = freed * U1024::from(self.unit(quote));
        low(paid.div_ceil(U1024::from(ONE) << (BITS - 64)))
    }

    /// No smaller amount pays more than this; whole units.
    pub(super) fn paid_at_most(&self, direction: Direction, amount_in: U256) -> U256 {
        let ideal = self.paid_without_rounding(direction, amount_in);
        narrow(ideal >> 64).unwrap_or(U256::MAX)
    }

    /// The scaled reserves, where the formula fits them.
    fn scaled_pair(&self, base: usize, quote: usize) -> Option<[U256; 2]> {
        let [base, quote] = [base, quote].map(|token| self.scaled(token, self.reserves));
        Some([base?, quote?]).filter(|[x, y]| x.bit_len().max(y.bit_len()) <= MOST)
    }

    /// A number just above what the contract's iteration ends at, times `2^96`, or about it.
    fn contracts_root(&self, x: U1024, beside: U256) -> Option<U1024> {
        let y = self.root(narrow(low(x >> BITS))?, beside).ok()?;
        Some((U1024::from(y) + U1024::from(2_u32)) << BITS)
    }

    /// A number at or just below the root beside `x`, by Newton's iteration from `near`, where that is
    /// not below it, else from `start`, which never is: the invariant is convex in `y`, so each round
    /// stays above. All times `2^96`.
    fn root_below(&self, x: U1024, start: U1024, near: Option<U1024>) -> Option<U1024> {
        let one = U1024::from(ONE);
        let target = (U1024::from(self.invariant(self.reserves)?) * one * one * one) << (4 * BITS);
        let squared = x * x;
        let value = |y: U1024| x * y * (squared + y * y);
        let near = near.filter(|near| *near < start && value(*near) >= target);
        let mut y = near.unwrap_or(start);
        for _ in 0..ROUNDS {
            let above = value(y).checked_sub(target).unwrap_or(U1024::ZERO);
            let step = above / (x * (squared + y * y + ((y * y) << 1)));
            if step.is_zero() {
                let back = y.checked_sub(U1024::from(2_u32)).unwrap_or(U1024::ZERO);
                return (value(back) <= target).then_some(back);
            }
            y = y - step;
        }
        None
    }
}

/// The low 512 bits; the caller knows that no more are set.
fn low(wide: U1024) -> U512 {
    U512::low_bits_of(wide.as_limbs())
}
