//! What a sale comes to.

use std::sync::OnceLock;

use super::FeeRate;
use crate::wide::{U256, mul_div_up};

/// A completed sale: all of `amount_in` was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fill {
    /// Raw units of the token sold, fee included.
    pub amount_in: U256,
    /// Raw units of the token bought.
    pub amount_out: U256,
    /// The fee that this sale paid, a share of `amount_in`.
    pub fee: FeeRate,
    /// `None` where the amounts alone say how the pool's state moved.
    pub(super) end: Option<PriceEnd>,
}

impl Fill {
    /// √price after the sale (Q64.96, token 1 per token 0); `None` for pools that
    /// keep reserves instead.
    pub fn sqrt_price_after_x96(&self) -> Option<U256> {
        self.end.map(|end| end.sqrt_price_x96)
    }

    /// Initialised ticks crossed; `None` for pools without ticks.
    pub fn ticks_crossed(&self) -> Option<u32> {
        self.end.map(|end| end.ticks_crossed)
    }
}

/// Where a sale left a pool whose liquidity lies in ranges of prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PriceEnd {
    pub sqrt_price_x96: U256,
    pub liquidity: u128,
    /// The contract's tick where the sale ended on a stop of its loop; else it follows from the
    /// √price.
    pub tick: Option<i32>,
    pub ticks_crossed: u32,
}

/// Why a sale does not go through.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// Nothing was offered.
    #[error("amount_in is zero")]
    ZeroInput,
    /// The contract reverts: the output rounds to nothing, or is less than the least it trades.
    #[error("the output rounds to zero units")]
    ZeroOutput,
    /// The pool cannot take all of it. The amounts are what the contract would
    /// have taken and paid at its limit.
    #[error("the pool takes only {consumed} units, for {paid}")]
    BeyondLiquidity {
        /// Raw units of the token sold that the pool would take.
        consumed: U256,
        /// Raw units of the token bought that it would pay for them.
        paid: U256,
    },
}

/// One step of a fill, as the contract's loop made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillStep {
    /// Raw units taken in this step, fee included.
    pub amount_in: U256,
    /// Of those, the fee.
    pub fee: U256,
    /// Raw units paid in this step.
    pub amount_out: U256,
    /// √price where the step ended (Q64.96); `None` for pools that keep reserves.
    pub sqrt_price_after_x96: Option<U256>,
    /// Active liquidity during the step; `None` for pools that keep reserves.
    pub liquidity: Option<u128>,
    /// The initialised tick crossed at the step's end, if one was.
    pub crossed_tick: Option<i32>,
}

impl FillStep {
    /// The one step of a fill that has no others. The fee is rounded up, as the pool keeps the
    /// rest of the division.
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

/// A stretch of a curve on which one formula holds. Amounts count from the start
/// of the sale. Segments of a curve follow each other without holes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Input before the segment, exclusive.
    pub in_start: U256,
    /// Output for `in_start`.
    pub out_start: U256,
    /// Input at the segment's end, inclusive.
    pub in_end: U256,
    /// Output for `in_end`.
    pub out_end: U256,
}

/// The one segment of a curve that has no others, each end once it was asked for: both take many
/// fills to find.
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

    /// The segment up to the largest input, and what nothing of it pays more than.
    pub(super) fn segment(&self, in_end: U256, paid_at_most: impl FnOnce() -> U256) -> Segment {
        let out_end = *self.paid.get_or_init(paid_at_most);
        Segment { in_start: U256::ZERO, out_start: U256::ZERO, in_end, out_end }
    }
}

/// The largest amount that is taken, where every smaller one is; zero where none is. Searched for
/// from `near` on.
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
