//! The arithmetic of pools, exactly as their contracts do it.
//!
//! A [`PoolState`] is what a contract needs to answer a swap; a [`SaleCurve`] is one
//! direction of it, prepared for many questions. Amounts are raw token units
//! (`amount_in` of the token sold, `amount_out` of the token bought).
//!
//! A folder for each kind of pool states what `kind` asks of it; `kinds` lists them.

mod concentrated;
mod constant_product;
mod fill;
mod form;
mod kind;
mod kinds;

pub use concentrated::{
    Concentrated, ConcentratedError, ConcentratedLinked, ConcentratedV4, MAX_SQRT_RATIO, MAX_TICK,
    MIN_SQRT_RATIO, MIN_TICK, Ranges, Tick, sqrt_ratio_at_tick, tick_at_sqrt_ratio,
};
pub use constant_product::{ConstantProduct, ConstantProductError};
pub use fill::{Fill, FillError, FillStep, Segment};
pub use form::{MAX_STATE_BYTES, StateError};
pub use kinds::{PoolState, SaleCurve};

use crate::wide::{U256, U512};

/// Which token is sold. Token 0 is the one with the lower address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Token 0 is sold for token 1; the pool's price of token 0 falls.
    ZeroForOne,
    /// Token 1 is sold for token 0; the pool's price of token 0 rises.
    OneForZero,
}

impl Direction {
    /// Both directions, in the order of the token sold.
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

/// The share of `amount_in` that a pool keeps for its liquidity providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FeeRate {
    /// Parts kept …
    pub numerator: u64,
    /// … of this many. Greater than the numerator.
    pub denominator: u64,
}

/// An exact price in raw units: `numerator ÷ denominator` raw units of the token
/// bought for one raw unit of the token sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawPrice {
    /// Raw units of the token bought; below `2^320`.
    pub(crate) numerator: U512,
    /// Raw units of the token sold; below `2^320`, never zero.
    pub(crate) denominator: U512,
}

impl RawPrice {
    /// The price that a Q64.96 √price (token 1 per token 0) stands for.
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
