//! An upper bound for the output of a sale without rounding.
//!
//! The amount after the fee is at most one unit more than the exact share. The quotient of a volatile pool is then a
//! single formula. The iteration of a stable pool ends at a `y` whose invariant without rounding is at least the
//! target: if it stopped below, one step along the slope would reach it, and the invariant is convex in `y`. So the
//! root of `x·y·(x² + y²) = k` is never above that `y`, it decreases with `x`, and the resulting output is concave in
//! the amount sold.

use super::Solidly;
use super::curve::ONE;
use crate::pools::Direction;
use crate::wide::{U256, U512, U1024, narrow, product};

/// The precision of roots: `2^-96` of a scaled unit.
const BITS: usize = 96;
/// Balances with more bits are not supported, because the product of four of them would not fit.
const MOST: usize = 158;
/// More rounds than the iteration needs from any start that fits.
const ROUNDS: usize = 600;

/// One direction without roundings.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    /// The raw reserves of the token sold and the token bought.
    reserves: [U256; 2],
    /// The share after the fee, in parts of its denominator.
    kept: u64,
    curve: Curve,
}

#[derive(Debug, Clone)]
enum Curve {
    Volatile,
    Stable(Stable),
    /// A stable pool whose formula does not fit. The bound is then its whole balance.
    Unbounded,
}

/// A stable pool's formula.
#[derive(Debug, Clone)]
struct Stable {
    /// The scaled reserves of the token sold and the token bought, times `2^96`.
    scaled: [U256; 2],
    /// Their raw units, `10^decimals`.
    units: [U256; 2],
    /// The invariant in scaled units, as the formula computes it.
    target: U512,
}

impl Bound {
    pub(super) fn new(pool: &Solidly, direction: Direction) -> Self {
        let tokens = [direction.base_index(), direction.quote_index()];
        let kept = Solidly::FEE_DENOMINATOR - pool.fee_numerator;
        let curve = match pool.scaled {
            None => Curve::Volatile,
            Some(scaled) if scaled.iter().any(|balance| balance.bit_len() > MOST) => {
                Curve::Unbounded
            }
            Some(scaled) => {
                let one = U512::from(ONE);
                // 256 bits and three times 60.
                let target = U512::from(pool.invariant) * one * one * one;
                let scaled = tokens.map(|token| scaled[token] << BITS);
                let units = tokens.map(|token| pool.unit(token));
                Curve::Stable(Stable { scaled, units, target })
            }
        };
        Self { reserves: tokens.map(|token| pool.reserves[token]), kept, curve }
    }

    /// The output for `amount_in`, in units of `2^-64`, rounded up.
    pub(super) fn paid(&self, amount_in: U256) -> U512 {
        let denominator = U512::from(Solidly::FEE_DENOMINATOR);
        let left = product(amount_in, U256::from(self.kept)) + denominator;
        let [of_base, of_quote] = self.reserves.map(U512::from);
        let all = of_quote << 64;
        match &self.curve {
            Curve::Volatile => {
                let sum = U1024::from(of_base * denominator + left);
                let paid = (U1024::from(left) * U1024::from(of_quote)) << 64;
                U512::low_bits_of(paid.div_ceil(sum).as_limbs())
            }
            Curve::Stable(stable) => stable.paid(left).unwrap_or(all),
            Curve::Unbounded => all,
        }
    }

    /// The maximum output of this and every smaller amount, in integer units. The contract never pays all that it has.
    pub(super) fn paid_at_most(&self, amount_in: U256) -> U256 {
        let [_, bought] = self.reserves;
        narrow(self.paid(amount_in) >> 64).unwrap_or(U256::MAX).min(bought - U256::ONE)
    }
}

impl Stable {
    /// The output for an amount after the fee, which is in parts of the fee's denominator; `None` if the formula does
    /// not fit.
    fn paid(&self, left: U512) -> Option<U512> {
        let [[x, beside], [sold, bought]] = [self.scaled, self.units];
        // The fee's denominator, the decimals and `2^-96` add 170 bits to the amount.
        let per = U512::from(Solidly::FEE_DENOMINATOR) * U512::from(sold);
        let added = ((left * U512::from(ONE)) << BITS).div_ceil(per);
        let x = narrow(U512::from(x) + added).filter(|x| x.bit_len() <= MOST + BITS)?;
        let root = self.root_below(x, beside)?;
        let paid = product(beside.saturating_sub(root), bought);
        Some(paid.div_ceil(U512::from(ONE) << (BITS - 64)))
    }

    /// A number at or just below the root for `x`, computed by Newton's iteration from `start`, which must not be below
    /// the root. The invariant is convex in `y`, so each round stays above it. All numbers are times `2^96`.
    fn root_below(&self, x: U256, start: U256) -> Option<U256> {
        let squared = product(x, x);
        let target = U1024::from(self.target) << (4 * BITS);
        let value = |y: U256| U1024::from(product(x, y)) * U1024::from(squared + product(y, y));
        let mut y = start;
        for _ in 0..ROUNDS {
            let above = value(y).checked_sub(target).unwrap_or(U1024::ZERO);
            let square = product(y, y);
            let slope = U1024::from(squared + square + (square << 1)) * U1024::from(x);
            let step = narrow(above / slope)?;
            if step.is_zero() {
                let back = y.saturating_sub(U256::from(2));
                return (value(back) <= target).then_some(back);
            }
            y = y.saturating_sub(step);
        }
        None
    }
}
