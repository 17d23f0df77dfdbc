//! The arithmetic of pools, exactly as in their contracts.
//!
//! A [`PoolState`] contains everything that a contract needs to compute a swap. A [`SaleCurve`] is one direction of it,
//! prepared for many computations. Amounts are raw token units (`amount_in` of the token sold, `amount_out` of the
//! token bought).
//!
//! Each kind of pool has a folder that implements what `kind` requires; `kinds` lists them.

mod balancer;
mod concentrated;
mod constant_product;
mod counterfactual;
mod crypto_swap;
mod fill;
mod form;
mod gain;
mod kind;
mod kinds;
mod solidly;
mod stable_curve;
mod stable_swap;
#[cfg(any(test, feature = "vectors"))]
pub mod vectors;

pub use balancer::{
    BalancerError, StableRelease, StableRule, StableV2, StableV3, ThirdStableRule, VaultParts,
    VaultPool, Weighted, WeightedRule,
};
pub use concentrated::{
    Concentrated, ConcentratedError, ConcentratedLinked, ConcentratedV4, MAX_SQRT_RATIO, MAX_TICK,
    MIN_SQRT_RATIO, MIN_TICK, Ranges, Tick, sqrt_ratio_at_tick, tick_at_sqrt_ratio,
};
pub use constant_product::{ConstantProduct, ConstantProductError};
pub use crypto_swap::{CryptoSwap, CryptoSwapError, CryptoSwapParts};
pub use fill::{Fill, FillError, FillStep, Segment};
pub use form::{MAX_STATE_BYTES, StateError};
pub(crate) use gain::UnitValues;
pub use kinds::{PoolState, SaleCurve};
pub use solidly::{Solidly, SolidlyError};
pub use stable_swap::{DRule, NgParts, StableSwap, StableSwapError, StableSwapParts};

use crate::units::format_scaled;
use crate::wide::{U256, U512, U1024};

/// The direction of a sale. Token 0 is the one with the lower address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Sells token 0 for token 1; the pool's price of token 0 falls.
    ZeroForOne,
    /// Sells token 1 for token 0; the pool's price of token 0 rises.
    OneForZero,
}

impl Direction {
    /// Both directions, ordered by the token sold.
    pub const BOTH: [Self; 2] = [Self::ZeroForOne, Self::OneForZero];

    /// The index of the token sold: 0 or 1.
    pub fn base_index(self) -> usize {
        match self {
            Self::ZeroForOne => 0,
            Self::OneForZero => 1,
        }
    }

    /// The index of the token bought: 1 or 0.
    pub fn quote_index(self) -> usize {
        1 - self.base_index()
    }
}

/// The share of `amount_in` that a pool takes as fee for its liquidity providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FeeRate {
    /// The part that the pool takes …
    pub numerator: u64,
    /// … out of this many. Greater than the numerator.
    pub denominator: u64,
}

/// The fee of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolFee {
    /// The same share of every sale.
    Flat(FeeRate),
    /// A share that depends on the sale and the pool's state.
    Between {
        /// The minimum.
        least: FeeRate,
        /// An upper bound.
        most: FeeRate,
    },
}

impl FeeRate {
    /// The share in percent as plain text, rounded half up to eight decimals, without trailing zeros: `0.05`.
    ///
    /// ```
    /// use exitgap_math::pools::FeeRate;
    /// assert_eq!(FeeRate { numerator: 500, denominator: 1_000_000 }.percent(), "0.05");
    /// assert_eq!(FeeRate { numerator: 1, denominator: 3 }.percent(), "33.33333333");
    /// ```
    pub fn percent(self) -> String {
        const DECIMALS: u32 = 8;
        let denominator = i128::from(self.denominator.max(1));
        let rounded = (i128::from(self.numerator) * 10_i128.pow(2 + DECIMALS) + denominator / 2)
            / denominator;
        format_scaled(rounded, DECIMALS as usize, false)
    }
}

/// An exact price in raw units: `numerator ÷ denominator` raw units of the token bought per raw unit of the token sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawPrice {
    /// Raw units of the token bought; below `2^320`.
    pub(crate) numerator: U512,
    /// Raw units of the token sold; below `2^320`, never zero.
    pub(crate) denominator: U512,
}

impl RawPrice {
    /// Raw units of the token bought; below `2^320`.
    #[inline]
    pub fn numerator(self) -> U512 {
        self.numerator
    }

    /// Raw units of the token sold; below `2^320`, never zero.
    #[inline]
    pub fn denominator(self) -> U512 {
        self.denominator
    }

    /// A price with this ratio. If a number has more than 320 bits, only the leading bits of both are used, with an
    /// error of less than one part in `2^200`.
    pub(crate) fn of_ratio(numerator: U1024, denominator: U1024) -> Self {
        const MOST: usize = 320;
        let excess = numerator.bit_len().max(denominator.bit_len()).saturating_sub(MOST);
        let cut = |term: U1024| U512::low_bits_of((term >> excess).as_limbs());
        Self { numerator: cut(numerator), denominator: cut(denominator).max(U512::ONE) }
    }

    /// The price of a Q64.96 √price (token 1 per token 0).
    pub(crate) fn of_sqrt(sqrt_price_x96: U256, direction: Direction) -> Self {
        let square = crate::wide::product(sqrt_price_x96, sqrt_price_x96);
        let one = U512::ONE << 192;
        match direction {
            Direction::ZeroForOne => Self { numerator: square, denominator: one },
            Direction::OneForZero => Self { numerator: one, denominator: square },
        }
    }
}

#[cfg(test)]
mod tests;
