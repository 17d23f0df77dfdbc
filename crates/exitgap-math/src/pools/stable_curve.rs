//! The closed formula, without rounding, of the invariant that all amplified pools share.
//!
//! Let `x` be the `n` balances, `D` their invariant, and `Ann = amp·n` in units of `1 ÷ p`. The balance `y` of one coin
//! solves `y² + (b − D)·y = c`, where `b` is the sum of the other balances and `D·p ÷ Ann`, and `c` is `D·p ÷ (Ann·n)`
//! times `D` times `D ÷ (x·n)` for each other coin. If one of the other balances grows, `c` falls inversely, and the
//! root is convex in it.

use super::RawPrice;
use crate::wide::{U256, U512, U1024, over, square_root, times};

/// The precision of roots: `2^-96` of a unit.
pub(super) const BITS: usize = 96;
/// Invariants with more bits are not supported, because their squares do not fit.
const MOST_INVARIANT: usize = 128;
/// If the balance of the coin sold has more bits, nothing of the other coin is left.
const MOST_BALANCE: usize = 150;

/// Balances with eighteen decimals, all positive, with their invariant.
#[derive(Debug, Clone, Copy)]
pub(super) struct StableCurve<'a> {
    pub balances: &'a [U256],
    pub invariant: U256,
    /// `amp × n`, positive …
    pub ann: u64,
    /// … in units of one part of this many.
    pub precision: u64,
}

/// The root as a function of the balance of the coin sold.
#[derive(Debug, Clone)]
pub(super) struct RootBelow {
    /// `c` if that balance is one unit, times `2^96`; `None` if the formula does not fit.
    constant: Option<U1024>,
    /// The amount subtracted from `c`, in integer units.
    rounded_off: U1024,
    /// The positive part of `b − D` without that balance …
    added: U512,
    /// … and the negative part, both times `2^96`.
    taken: U512,
}

impl StableCurve<'_> {
    /// The root for a balance of coin `sold` that is at least the current one. With `chain_rounds_down`, a bound below
    /// the result of a contract that computes `c` as a chain of quotients, coin by coin, each rounded down. The
    /// rounding reduces `c` most if nothing has been sold yet.
    pub fn root_below(&self, sold: usize, bought: usize, chain_rounds_down: bool) -> RootBelow {
        let fits = self.invariant.bit_len() <= MOST_INVARIANT;
        let constants = if fits { self.constants(sold, bought) } else { None };
        let (constant, rounded_off) = constants.unzip();
        let others = self.balances.iter().enumerate().filter(|(k, _)| *k != sold && *k != bought);
        let sum = others.fold(U512::ZERO, |sum, (_, x)| sum + U512::from(*x));
        let d = U512::from(self.invariant) << if fits { BITS } else { 0 };
        let part = (d * U512::from(self.precision)).div_ceil(U512::from(self.ann));
        let off = rounded_off.filter(|_| chain_rounds_down).unwrap_or(U1024::ZERO);
        RootBelow { constant, rounded_off: off, added: (sum << BITS) + part, taken: d }
    }

    /// `c` if the coin sold has one unit, rounded down, and the rounding loss of a chain of quotients if nothing has
    /// been sold; `None` if they do not fit.
    fn constants(&self, sold: usize, bought: usize) -> Option<(U1024, U1024)> {
        /// More bits than a contract's own chain can have.
        const MOST: usize = 500;
        let fits = |number: U1024| (number.bit_len() <= MOST).then_some(number);
        let (n, d) = (U1024::from(self.balances.len() as u64), U1024::from(self.invariant));
        let (mut constant, mut off) = (d << BITS, U1024::ZERO);
        for (coin, x) in self.balances.iter().enumerate() {
            if coin == bought {
                continue;
            }
            let divisor = U1024::from(*x) * n;
            off = fits((off * d).div_ceil(divisor) + U1024::ONE)?;
            constant = fits(constant * d / if coin == sold { n } else { divisor })?;
        }
        let last = d * U1024::from(self.precision);
        let divisor = U1024::from(self.ann) * n;
        let off = (off * last).div_ceil(divisor) + U1024::ONE;
        Some((fits(constant * last / divisor)?, fits(off)?))
    }

    /// The output rate of an infinitely small exchange without fee, for coins whose raw units are worth `weights`:
    /// `wᵢ·xⱼ·(Ann·xᵢ + p·Dr) ÷ (wⱼ·xᵢ·(Ann·xⱼ + p·Dr))`.
    pub fn mid(&self, sold: usize, bought: usize, weights: [U256; 2]) -> RawPrice {
        let product = self.product();
        let wide = |number: U256| U1024::from(number);
        let slope = |coin: usize| {
            let along = U1024::from(self.ann) * wide(self.balances[coin]);
            along + U1024::from(self.precision) * product
        };
        let [of_sold, of_bought] = weights.map(wide);
        let common = of_sold.gcd(of_bought);
        RawPrice::of_ratio(
            of_sold / common * wide(self.balances[bought]) * slope(sold),
            of_bought / common * wide(self.balances[sold]) * slope(bought),
        )
    }

    /// `D ÷ nⁿ · D ÷ x₁ · D ÷ x₂ …`, with each quotient rounded down. At most `2^400`, because above that it alone
    /// determines the price; also `2^400` if a balance is zero after a sale.
    fn product(&self) -> U1024 {
        let d = U1024::from(self.invariant);
        let start = U1024::from(over(self.invariant, n_pow_n(self.balances.len())));
        let most = U1024::ONE << 400;
        let next = |product: U1024, x: &U256| (product * d).checked_div(U1024::from(*x));
        let product = |product, x| next(product, x).map_or(most, |next| next.min(most));
        self.balances.iter().fold(start, product)
    }
}

impl RootBelow {
    /// A number at or below the root if the coin sold has balance `x`. Both are in units of `2^-96`.
    pub fn beside(&self, x: U1024) -> U512 {
        let Some(constant) = self.constant else { return U512::ZERO };
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
        twice >> 1
    }
}

/// `n^n` for at most eight coins.
pub(super) fn n_pow_n(coins: usize) -> U256 {
    let n = U256::from(coins);
    (0..coins).fold(U256::ONE, |power, _| times(power, n))
}
