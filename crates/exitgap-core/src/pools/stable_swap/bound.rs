//! What an exchange would pay without roundings, from above.
//!
//! The balance that keeps the invariant solves `y² + (b − D)·y = c`. Without roundings `c` is
//! `C ÷ x` and `b` grows with `x`, so the root is a closed formula, and convex in `x`: what is paid
//! is concave in what is sold. The contract's `c` is below `C ÷ x`, by what its chain of quotients
//! rounds off; that is largest where nothing was sold yet, and is taken off `c` here. So the root
//! is never above the contract's own (`rounded_down` of it is less than one below), and what is
//! paid never below.

use super::{FEE_DENOMINATOR, RATE_ONE, StableSwap};
use crate::wide::{U256, U512, U1024, product, square_root};

/// Roots are computed to `2^-96` of a scaled unit.
const BITS: usize = 96;
/// Invariants of more bits are left out: their squares fit no word.
const MOST_INVARIANT: usize = 128;
/// Where the coin sold has more, nothing is left of the other.
const MOST_BALANCE: usize = 150;

/// One direction's closed formula.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    /// What the constant is where the coin sold has one unit, times `2^96`; `None`: the formula
    /// does not fit, and all of the coin bought is the bound.
    constant: Option<U1024>,
    /// What the contract's constant can be less, whole units.
    rounded_off: U1024,
    /// `b − D` where the coin sold has nothing: what is added …
    added: U512,
    /// … and what is taken off, times `2^96`.
    taken: U512,
    x: U256,
    rate_in: U256,
    rate_out: U256,
    /// What there is of the coin bought, and the unit that is not kept of it.
    most: U512,
}

impl Bound {
    pub(super) fn new(pool: &StableSwap, sold: usize, bought: usize) -> Self {
        let d = pool.invariant.filter(|d| d.bit_len() <= MOST_INVARIANT);
        let constants = d.and_then(|d| constants(pool, d, sold, bought));
        let (constant, rounded_off) = constants.unzip();
        let others = pool.scaled.iter().enumerate().filter(|(k, _)| *k != sold && *k != bought);
        let sum = others.fold(U512::ZERO, |sum, (_, x)| sum + U512::from(*x));
        let d = U512::from(d.unwrap_or(U256::ZERO));
        let part = ((d * U512::from(u64::from(pool.form.a_precision))) << BITS)
            .div_ceil(U512::from(pool.form.ann));
        Self {
            constant,
            rounded_off: rounded_off.unwrap_or(U1024::ZERO),
            added: (sum << BITS) + part,
            taken: d << BITS,
            x: pool.scaled[sold],
            rate_in: pool.rates[sold],
            rate_out: pool.rates[bought],
            most: U512::from(pool.scaled[bought]) + U512::from(u64::from(!pool.less_one)),
        }
    }

    /// What `amount_in` raw units pay at this fee, in units of `2^-64` raw units, rounded up.
    pub(super) fn paid(&self, amount_in: U256, fee: u64) -> U512 {
        let one = U1024::ONE << BITS;
        let kept = U1024::from(FEE_DENOMINATOR - fee);
        // One more than the contract pays: its fee is rounded down.
        let freed = (U1024::from(self.most) << BITS) - U1024::from(self.root(amount_in));
        let left = (freed * kept).div_ceil(U1024::from(FEE_DENOMINATOR)) + one;
        let raw = left * U1024::from(RATE_ONE);
        let raw = raw.div_ceil(U1024::from(self.rate_out) << (BITS - 64));
        U512::low_bits_of(raw.as_limbs())
    }

    /// The root, or less, in units of `2^-96`.
    fn root(&self, amount_in: U256) -> U512 {
        let Some(constant) = self.constant else { return U512::ZERO };
        let added = U1024::from(product(amount_in, self.rate_in)) << BITS;
        let added = added.div_ceil(U1024::from(RATE_ONE));
        let x = (U1024::from(self.x) << BITS) + added;
        if x.bit_len() > MOST_BALANCE + BITS {
            return U512::ZERO;
        }
        let c = (constant << BITS) / x;
        let Some(c) = c.checked_sub(self.rounded_off << BITS) else { return U512::ZERO };
        let sum = self.added + U512::low_bits_of(x.as_limbs());
        // √(k² + 4c) ∓ k, for k = b − D of either sign.
        let (k, negative) =
            if sum < self.taken { (self.taken - sum, true) } else { (sum - self.taken, false) };
        let c = U512::low_bits_of(c.as_limbs());
        let root = square_root(k * k + (c << (BITS + 2)));
        let twice = if negative { root + k } else { root.checked_sub(k).unwrap_or(U512::ZERO) };
        (twice >> 1).min(self.most << BITS)
    }
}

/// The constant where the coin sold has one unit, rounded down, and what the contract's chain
/// rounds off where nothing was sold; `None` where they do not fit.
fn constants(pool: &StableSwap, d: U256, sold: usize, bought: usize) -> Option<(U1024, U1024)> {
    /// More bits than the contract's own chain can have.
    const MOST: usize = 500;
    let fits = |number: U1024| (number.bit_len() <= MOST).then_some(number);
    let (n, wide_d) = (U1024::from(pool.form.coins as u64), U1024::from(d));
    let (mut constant, mut off) = (wide_d << BITS, U1024::ZERO);
    for (coin, x) in pool.scaled.iter().enumerate() {
        if coin == bought {
            continue;
        }
        let divisor = U1024::from(*x) * n;
        off = fits((off * wide_d).div_ceil(divisor) + U1024::ONE)?;
        constant = fits(constant * wide_d / if coin == sold { n } else { divisor })?;
    }
    let last = wide_d * U1024::from(u64::from(pool.form.a_precision));
    let divisor = U1024::from(pool.form.ann) * n;
    Some((fits(constant * last / divisor)?, fits((off * last).div_ceil(divisor) + U1024::ONE)?))
}
