//! An upper bound for the output of an exchange without rounding. The root of the closed formula is never above the
//! contract's own root, so the bound is never below the output, and it is concave in the amount sold.

use super::{FEE_DENOMINATOR, RATE_ONE, StableSwap};
use crate::pools::stable_curve::{BITS, RootBelow};
use crate::wide::{U256, U512, U1024, product};

/// One direction's closed formula.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    root: RootBelow,
    x: U256,
    rate_in: U256,
    rate_out: U256,
    /// The balance of the coin bought, plus the unit that the oldest contracts do not keep, times `2^96`. If the root
    /// for the current balance of the coin sold is above that because of a rounded invariant, the root: otherwise the
    /// smallest amounts would pay nothing, and the bound would not be concave.
    most: U512,
}

impl Bound {
    pub(super) fn new(pool: &StableSwap, sold: usize, bought: usize) -> Self {
        let root = pool.stable_curve().root_below(sold, bought, true);
        let most = U512::from(pool.scaled[bought]) + U512::from(u64::from(!pool.less_one));
        let most = (most << BITS).max(root.beside(U1024::from(pool.scaled[sold]) << BITS));
        let (rate_in, rate_out) = (pool.rates[sold], pool.rates[bought]);
        Self { root, x: pool.scaled[sold], rate_in, rate_out, most }
    }

    /// The output for `amount_in` raw units at this fee, in units of `2^-64` raw units, rounded up.
    pub(super) fn paid(&self, amount_in: U256, fee: u64) -> U512 {
        let added = U1024::from(product(amount_in, self.rate_in)) << BITS;
        let x = (U1024::from(self.x) << BITS) + added.div_ceil(U1024::from(RATE_ONE));
        let freed = U1024::from(self.most - self.root.beside(x).min(self.most));
        let kept = U1024::from(FEE_DENOMINATOR - fee);
        // One more than the contract pays, because it rounds its fee down.
        let left = (freed * kept).div_ceil(U1024::from(FEE_DENOMINATOR)) + (U1024::ONE << BITS);
        let raw = left * U1024::from(RATE_ONE);
        let raw = raw.div_ceil(U1024::from(self.rate_out) << (BITS - 64));
        U512::low_bits_of(raw.as_limbs())
    }
}
