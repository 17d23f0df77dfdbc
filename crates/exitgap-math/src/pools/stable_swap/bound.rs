//! What an exchange would pay without roundings, from above: the root of the closed formula is never
//! above the contract's own, so what is paid is never below, and it is concave in what is sold.

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
    /// What there is of the coin bought, and the unit that is not kept of it, times `2^96`. Where the
    /// root beside what there is of the coin sold is above that, by a rounded invariant, the root:
    /// below it nothing would be paid, and what follows would not be concave.
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

    /// What `amount_in` raw units pay at this fee, in units of `2^-64` raw units, rounded up.
    pub(super) fn paid(&self, amount_in: U256, fee: u64) -> U512 {
        let added = U1024::from(product(amount_in, self.rate_in)) << BITS;
        let x = (U1024::from(self.x) << BITS) + added.div_ceil(U1024::from(RATE_ONE));
        let freed = U1024::from(self.most - self.root.beside(x).min(self.most));
        let kept = U1024::from(FEE_DENOMINATOR - fee);
        // One more than the contract pays: its fee is rounded down.
        let left = (freed * kept).div_ceil(U1024::from(FEE_DENOMINATOR)) + (U1024::ONE << BITS);
        let raw = left * U1024::from(RATE_ONE);
        let raw = raw.div_ceil(U1024::from(self.rate_out) << (BITS - 64));
        U512::low_bits_of(raw.as_limbs())
    }
}
