//! One direction of a pair: a single segment with one formula, which is rounded once.

use super::ConstantProduct;
use crate::pools::kind::{PoolKind, Sale};
use crate::pools::{Direction, FeeRate, Fill, FillError, RawPrice, Segment};
use crate::wide::{U256, U512};

/// One direction of a pair.
#[derive(Debug, Clone, Copy)]
pub(in crate::pools) struct PairSale {
    pub(super) pair: ConstantProduct,
    pub(super) direction: Direction,
}

impl Sale for PairSale {
    fn direction(&self) -> Direction {
        self.direction
    }

    fn mid(&self) -> RawPrice {
        self.pair.mid(self.direction)
    }

    fn mid_after(&self, fill: &Fill) -> RawPrice {
        self.pair.after(self.direction, fill).mid(self.direction)
    }

    fn least_fee(&self) -> FeeRate {
        self.pair.fee
    }

    fn fill(&self, amount_in: U256) -> Result<Fill, FillError> {
        self.pair.fill(self.direction, amount_in)
    }

    fn most(&self) -> (U256, U256) {
        let most = self.pair.max_amount_in(self.direction);
        (most, self.pair.amount_out(self.direction, most))
    }

    fn segment(&self, _index: usize) -> Segment {
        let (in_end, out_end) = self.most();
        Segment { in_start: U256::ZERO, out_start: U256::ZERO, in_end, out_end }
    }

    fn out_within(&self, _index: usize, amount_in: U256) -> U256 {
        self.pair.amount_out(self.direction, amount_in)
    }

    fn ideal_within(&self, _index: usize, added: U256) -> U512 {
        self.pair.ideal_out(self.direction, added)
    }

    /// None: the fee is part of the single division.
    fn fee_rounded_first(&self) -> Option<FeeRate> {
        None
    }
}
