//! One direction of a pool: a single segment.

use super::Solidly;
use super::bound::Bound;
use super::curve::AmountRefusal;
use crate::pools::fill::WholeSegment;
use crate::pools::kind::{PoolKind, Sale};
use crate::pools::{Direction, FeeRate, Fill, FillError, RawPrice, Segment};
use crate::wide::{U256, U512};

/// One direction of a pool.
#[derive(Debug, Clone)]
pub(in crate::pools) struct SolidlySale {
    pool: Solidly,
    direction: Direction,
    bound: Box<Bound>,
    whole: WholeSegment,
}

/// A swap as a fill. `most` computes the largest accepted input, if it is needed.
pub(super) fn fill(
    pool: &Solidly,
    direction: Direction,
    amount_in: U256,
    most: impl FnOnce() -> U256,
) -> Result<Fill, FillError> {
    if amount_in.is_zero() {
        return Err(FillError::ZeroInput);
    }
    match pool.swap(direction, amount_in) {
        Ok(amount_out) => Ok(Fill { amount_in, amount_out, fee: pool.fee(), end: None }),
        Err(AmountRefusal::Here) => Err(FillError::ZeroOutput),
        Err(AmountRefusal::TooMuch) => {
            let consumed = most();
            let paid = pool.swap(direction, consumed).unwrap_or(U256::ZERO);
            Err(FillError::BeyondLiquidity { consumed, paid })
        }
    }
}

impl SolidlySale {
    pub(super) fn new(pool: Solidly, direction: Direction) -> Self {
        let bound = Box::new(Bound::new(&pool, direction));
        Self { pool, direction, bound, whole: WholeSegment::default() }
    }

    fn most_in(&self) -> U256 {
        self.whole.most_in(|| self.pool.most_taken(self.direction))
    }
}

impl Sale for SolidlySale {
    fn direction(&self) -> Direction {
        self.direction
    }

    fn mid(&self) -> RawPrice {
        self.pool.mid(self.direction)
    }

    fn mid_after(&self, fill: &Fill) -> RawPrice {
        self.pool.after(self.direction, fill).mid(self.direction)
    }

    fn least_fee(&self) -> FeeRate {
        self.pool.fee()
    }

    fn fill(&self, amount_in: U256) -> Result<Fill, FillError> {
        fill(&self.pool, self.direction, amount_in, || self.most_in())
    }

    fn most(&self) -> (U256, U256) {
        let most = self.most_in();
        (most, self.out_within(0, most))
    }

    fn segment(&self, _index: usize) -> Segment {
        let most = self.most_in();
        self.whole.segment(most, || self.bound.paid_at_most(most))
    }

    fn out_within(&self, _index: usize, amount_in: U256) -> U256 {
        self.pool.swap(self.direction, amount_in).unwrap_or(U256::ZERO)
    }

    /// Because of rounding, or if the contract refuses an amount, a smaller amount may pay more.
    fn out_at_most(&self, _index: usize, _low: U256, high: U256, _out: U256) -> U256 {
        self.bound.paid_at_most(high)
    }

    fn by_secants(&self) -> bool {
        true
    }

    fn ideal_within(&self, _index: usize, added: U256) -> U512 {
        self.bound.paid(added)
    }

    /// None: the amount after the fee is rounded up.
    fn fee_rounded_first(&self) -> Option<FeeRate> {
        None
    }

    fn held_bytes(&self) -> usize {
        size_of::<Bound>()
    }
}
