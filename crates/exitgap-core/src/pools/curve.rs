//! One direction of a pool, prepared for many questions.

use super::concentrated::{Concentrated, StepTable, Steps};
use super::{ConstantProduct, Direction, FeeRate, RawPrice};
use crate::wide::{U256, U512, over_up, times};

/// A completed sale: all of `amount_in` was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fill {
    /// Raw units of the token sold, fee included.
    pub amount_in: U256,
    /// Raw units of the token bought.
    pub amount_out: U256,
    pub(super) end: FillEnd,
}

impl Fill {
    /// √price after the sale (Q64.96, token 1 per token 0); `None` for pools that
    /// keep reserves instead.
    pub fn sqrt_price_after_x96(&self) -> Option<U256> {
        match self.end {
            FillEnd::Reserves => None,
            FillEnd::SqrtPrice { sqrt_price_x96, .. } => Some(sqrt_price_x96),
        }
    }

    /// Initialised ticks crossed; `None` for pools without ticks.
    pub fn ticks_crossed(&self) -> Option<u32> {
        match self.end {
            FillEnd::Reserves => None,
            FillEnd::SqrtPrice { ticks_crossed, .. } => Some(ticks_crossed),
        }
    }
}

/// Where a sale left the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FillEnd {
    /// The reserves moved by the amounts.
    Reserves,
    /// The √price moved; `tick` is the contract's where the sale ended on a stop
    /// of its loop, else it follows from the √price.
    SqrtPrice { sqrt_price_x96: U256, liquidity: u128, tick: Option<i32>, ticks_crossed: u32 },
}

/// Why a sale does not go through.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// Nothing was offered.
    #[error("amount_in is zero")]
    ZeroInput,
    /// The contract reverts: the output rounds to nothing.
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

/// One direction of a pool: `amount_in → amount_out`, never falling, and what is
/// needed to invert it.
#[derive(Debug, Clone)]
pub struct Curve {
    direction: Direction,
    shape: Shape,
}

#[derive(Debug, Clone)]
enum Shape {
    ConstantProduct(ConstantProduct),
    Concentrated(StepTable),
}

impl Curve {
    /// Segments of the first piece of a curve of which only the start is wanted; each further
    /// piece doubles it.
    pub(crate) const FIRST_PIECE: usize = 16;

    pub(super) fn constant_product(pool: ConstantProduct, direction: Direction) -> Self {
        Self { direction, shape: Shape::ConstantProduct(pool) }
    }

    pub(super) fn concentrated(pool: &Concentrated, direction: Direction) -> Self {
        Self { direction, shape: Shape::Concentrated(StepTable::build(pool, direction)) }
    }

    /// The start of the same curve, as much of it as `enough` asks for: it is shown ever
    /// longer pieces, the last of which may be the whole.
    pub(super) fn start_of(
        pool: &Concentrated,
        direction: Direction,
        enough: &dyn Fn(&Self) -> bool,
    ) -> Self {
        let mut steps = Steps::new(pool, direction);
        let table = StepTable::empty(pool, direction, Self::FIRST_PIECE);
        let mut curve = Self { direction, shape: Shape::Concentrated(table) };
        while let Shape::Concentrated(table) = &mut curve.shape {
            let (had, piece) = (table.len(), table.len().max(Self::FIRST_PIECE));
            table.extend(steps.by_ref().take(piece));
            let whole = table.len() < had + piece;
            if whole || enough(&curve) {
                break;
            }
        }
        curve
    }

    /// The bytes it holds beside itself, which are most of what a pool with many stops weighs.
    pub fn held_bytes(&self) -> usize {
        match &self.shape {
            Shape::ConstantProduct(_) => 0,
            Shape::Concentrated(table) => table.held_bytes(),
        }
    }

    /// The direction this curve was prepared for.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The pool's fee.
    pub fn fee(&self) -> FeeRate {
        match &self.shape {
            Shape::ConstantProduct(pool) => pool.fee(),
            Shape::Concentrated(table) => table.fee(),
        }
    }

    /// The mid price before anything is sold.
    pub fn mid(&self) -> RawPrice {
        match &self.shape {
            Shape::ConstantProduct(pool) => pool.mid(self.direction),
            Shape::Concentrated(table) => RawPrice::of_sqrt(table.sqrt_price_x96(), self.direction),
        }
    }

    /// The mid price after `fill`, which came from this curve.
    pub fn mid_after(&self, fill: &Fill) -> RawPrice {
        match (&self.shape, fill.end) {
            (_, FillEnd::SqrtPrice { sqrt_price_x96, .. }) => {
                RawPrice::of_sqrt(sqrt_price_x96, self.direction)
            }
            (Shape::ConstantProduct(pool), FillEnd::Reserves) => {
                pool.after(self.direction, fill).mid(self.direction)
            }
            (Shape::Concentrated(_), FillEnd::Reserves) => self.mid(),
        }
    }

    /// Sells `amount_in` raw units: what the contract would pay, to the unit.
    pub fn fill(&self, amount_in: U256) -> Result<Fill, FillError> {
        match &self.shape {
            Shape::ConstantProduct(pool) => pool.fill(self.direction, amount_in),
            Shape::Concentrated(table) => table.fill(amount_in),
        }
    }

    /// The same sale, step by step; the steps' amounts add up to the fill's.
    pub fn fill_steps(&self, amount_in: U256) -> Result<Vec<FillStep>, FillError> {
        match &self.shape {
            Shape::ConstantProduct(pool) => {
                let fill = pool.fill(self.direction, amount_in)?;
                let FeeRate { numerator, denominator } = pool.fee();
                // Rounded up, as the pool keeps the rest of the division.
                let fee = over_up(times(amount_in, U256::from(numerator)), U256::from(denominator));
                Ok(vec![FillStep {
                    amount_in,
                    fee,
                    amount_out: fill.amount_out,
                    sqrt_price_after_x96: None,
                    liquidity: None,
                    crossed_tick: None,
                }])
            }
            Shape::Concentrated(table) => table.fill_steps(amount_in),
        }
    }

    /// The largest input the pool takes whole, and what it pays for it.
    pub fn most(&self) -> (U256, U256) {
        match &self.shape {
            Shape::ConstantProduct(pool) => {
                let most = pool.max_amount_in(self.direction);
                (most, pool.amount_out(self.direction, most))
            }
            Shape::Concentrated(table) => table.most(),
        }
    }

    /// How many segments the curve has.
    pub fn segment_count(&self) -> usize {
        match &self.shape {
            Shape::ConstantProduct(_) => 1,
            Shape::Concentrated(table) => table.len(),
        }
    }

    /// Segment `index`, counted from the start of the sale.
    pub fn segment(&self, index: usize) -> Segment {
        match &self.shape {
            Shape::ConstantProduct(_) => {
                let (in_end, out_end) = self.most();
                Segment { in_start: U256::ZERO, out_start: U256::ZERO, in_end, out_end }
            }
            Shape::Concentrated(table) => table.segment(index),
        }
    }

    /// Output for an input inside segment `index`: after its start and not past
    /// its end.
    pub(crate) fn out_within(&self, index: usize, amount_in: U256) -> U256 {
        match &self.shape {
            Shape::ConstantProduct(pool) => pool.amount_out(self.direction, amount_in),
            Shape::Concentrated(table) => table.out_within(index, amount_in),
        }
    }

    /// What `added` to the start of segment `index` pays by the segment's formula
    /// without any rounding, in units of `2^-64`, rounded up. Concave in `added`, and
    /// never below what [`Curve::out_within`] adds to the segment's `out_start`.
    pub(crate) fn ideal_within(&self, index: usize, added: U256) -> U512 {
        match &self.shape {
            Shape::ConstantProduct(pool) => pool.ideal_out(self.direction, added),
            Shape::Concentrated(table) => table.ideal_within(index, added),
        }
    }

    /// Whether what the fee leaves of an input inside a segment is rounded down to whole
    /// units before it moves the price.
    pub(crate) fn rounds_fee(&self) -> bool {
        matches!(self.shape, Shape::Concentrated(_))
    }

    /// How far, in raw output units, all roundings up to the start of segment `index`
    /// can have kept the output below the real swap's, which is concave: that pays,
    /// for the segment's `in_start`, less than its `out_start` plus this.
    pub(crate) fn rounding_before(&self, index: usize) -> U256 {
        match &self.shape {
            Shape::ConstantProduct(_) => U256::ZERO,
            Shape::Concentrated(table) => table.rounding_before(index),
        }
    }

    /// The mid price at the start of segment `index`.
    pub(crate) fn mid_at_start(&self, index: usize) -> RawPrice {
        match &self.shape {
            Shape::ConstantProduct(pool) => pool.mid(self.direction),
            Shape::Concentrated(table) => {
                RawPrice::of_sqrt(table.sqrt_price_at_start(index), self.direction)
            }
        }
    }
}
