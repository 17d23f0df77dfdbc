//! The result of a sale.

use std::sync::OnceLock;

use super::FeeRate;
use crate::wide::{U256, mul_div_up};

/// A completed sale. The pool took all of `amount_in`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fill {
    /// Raw units of the token sold, including the fee.
    pub amount_in: U256,
    /// Raw units of the token bought.
    pub amount_out: U256,
    /// The fee of this sale, as a fraction of `amount_in`.
    pub fee: FeeRate,
    /// `None` if the amounts alone determine the new state of the pool.
    pub(super) end: Option<PriceEnd>,
}

impl Fill {
    /// The √price after the sale (Q64.96, token 1 per token 0); `None` for pools with reserves.
    pub fn sqrt_price_after_x96(&self) -> Option<U256> {
        self.end.map(|end| end.sqrt_price_x96)
    }

    /// The number of initialised ticks crossed; `None` for pools without ticks.
    pub fn ticks_crossed(&self) -> Option<u32> {
        self.end.map(|end| end.ticks_crossed)
    }
}

/// The end of a sale in a concentrated-liquidity pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PriceEnd {
    pub sqrt_price_x96: U256,
    pub liquidity: u128,
    /// The contract's tick if the sale ended on a stop of its loop; otherwise the tick follows from the √price.
    pub tick: Option<i32>,
    pub ticks_crossed: u32,
}

/// Why a sale is not possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// The amount is zero.
    #[error("amount_in is zero")]
    ZeroInput,
    /// The contract reverts: the output rounds to zero, or is less than its minimum trade.
    #[error("the output rounds to zero units")]
    ZeroOutput,
    /// The pool cannot take the whole amount. The amounts are what the contract would have taken and paid at its limit.
    #[error("the pool takes only {consumed} units, for {paid}")]
    BeyondLiquidity {
        /// Raw units of the token sold that the pool would take.
        consumed: U256,
        /// Raw units of the token bought that it would pay for them.
        paid: U256,
    },
}

/// One step of a fill in the contract's loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillStep {
    /// Raw units taken in this step, including the fee.
    pub amount_in: U256,
    /// The fee part of them.
    pub fee: U256,
    /// Raw units paid in this step.
    pub amount_out: U256,
    /// The √price at the end of the step (Q64.96); `None` for pools with reserves.
    pub sqrt_price_after_x96: Option<U256>,
    /// The active liquidity during the step; `None` for pools with reserves.
    pub liquidity: Option<u128>,
    /// The initialised tick crossed at the end of the step, if any.
    pub crossed_tick: Option<i32>,
}

impl FillStep {
    /// The only step of a fill that has a single step. The fee is rounded up, because the pool keeps the remainder of
    /// the division.
    pub(super) fn whole(fill: &Fill) -> Self {
        let Fill { amount_in, amount_out, fee: FeeRate { numerator, denominator }, .. } = *fill;
        Self {
            amount_in,
            fee: mul_div_up(amount_in, U256::from(numerator), U256::from(denominator))
                .unwrap_or(amount_in),
            amount_out,
            sqrt_price_after_x96: None,
            liquidity: None,
            crossed_tick: None,
        }
    }
}

/// A section of a curve with one formula. Amounts count from the start of the sale. The segments of a curve follow each
/// other without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The input before the segment, exclusive.
    pub in_start: U256,
    /// The output for `in_start`.
    pub out_start: U256,
    /// The input at the end of the segment, inclusive.
    pub in_end: U256,
    /// The output for `in_end`.
    pub out_end: U256,
}

/// The segment of a curve that has only one. Each end is computed on first use, because it takes many fills.
#[derive(Debug, Clone, Default)]
pub(super) struct WholeSegment {
    most: OnceLock<U256>,
    paid: OnceLock<U256>,
}

impl WholeSegment {
    /// The largest input taken.
    pub(super) fn most_in(&self, find: impl FnOnce() -> U256) -> U256 {
        *self.most.get_or_init(find)
    }

    /// The segment up to the largest input, with the maximum output of all its amounts.
    pub(super) fn segment(&self, in_end: U256, paid_at_most: impl FnOnce() -> U256) -> Segment {
        let out_end = *self.paid.get_or_init(paid_at_most);
        Segment { in_start: U256::ZERO, out_start: U256::ZERO, in_end, out_end }
    }
}

/// The largest amount such that it and every smaller one is accepted; zero if there is none. The search starts at
/// `near`.
pub(super) fn largest_taken(near: U256, taken: impl Fn(U256) -> bool) -> U256 {
    if !taken(U256::ONE) {
        return U256::ZERO;
    }
    let (mut low, mut high) = (U256::ONE, near.max(U256::from(2)));
    while taken(high) {
        if high == U256::MAX {
            return high;
        }
        low = high;
        high = high.saturating_add(high);
    }
    while high - low > U256::ONE {
        let middle = low + ((high - low) >> 1);
        if taken(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
