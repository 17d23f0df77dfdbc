//! One direction of a pair of coins: a single segment, in which each amount is a separate exchange.

use std::sync::Arc;

use super::{AmountRefusal, Bound, FEE_DENOMINATOR, StableSwap};
use crate::pools::fill::WholeSegment;
use crate::pools::kind::{PoolKind, Sale};
use crate::pools::{Direction, FeeRate, Fill, FillError, RawPrice, Segment};
use crate::wide::{U256, U512};

/// One direction of a pair of coins.
#[derive(Debug, Clone)]
pub(in crate::pools) struct StableSale {
    pool: Arc<StableSwap>,
    direction: Direction,
    sold: usize,
    bought: usize,
    bound: Box<Bound>,
    whole: WholeSegment,
}

/// An exchange as a fill. `most` computes the largest accepted input, if it is needed.
pub(super) fn fill(
    pool: &StableSwap,
    direction: Direction,
    amount_in: U256,
    most: impl FnOnce() -> U256,
) -> Result<Fill, FillError> {
    if amount_in.is_zero() {
        return Err(FillError::ZeroInput);
    }
    let (sold, bought) = pool.coins_of(direction);
    match pool.exchange(sold, bought, amount_in) {
        Ok(done) => {
            let fee = FeeRate { numerator: done.fee, denominator: FEE_DENOMINATOR };
            Ok(Fill { amount_in, amount_out: done.out, fee, end: None })
        }
        Err(AmountRefusal::TooLittle) => Err(FillError::ZeroOutput),
        Err(AmountRefusal::TooMuch) => {
            let consumed = most();
            let paid = pool.exchange(sold, bought, consumed).map_or(U256::ZERO, |done| done.out);
            Err(FillError::BeyondLiquidity { consumed, paid })
        }
    }
}

impl StableSale {
    pub(super) fn new(pool: Arc<StableSwap>, direction: Direction) -> Self {
        let (sold, bought) = pool.coins_of(direction);
        let bound = Box::new(Bound::new(&pool, sold, bought));
        Self { pool, direction, sold, bought, bound, whole: WholeSegment::default() }
    }

    fn most_in(&self) -> U256 {
        self.whole.most_in(|| self.pool.most_taken(self.sold, self.bought))
    }
}

impl Sale for StableSale {
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
        FeeRate { numerator: self.pool.fee, denominator: FEE_DENOMINATOR }
    }

    fn fill(&self, amount_in: U256) -> Result<Fill, FillError> {
        fill(&self.pool, self.direction, amount_in, || self.most_in())
    }

    fn most(&self) -> (U256, U256) {
        let most = self.most_in();
        (most, self.out_within(0, most))
    }

    fn segment(&self, index: usize) -> Segment {
        let most = self.most_in();
        self.whole.segment(most, || self.out_at_most(index, U256::ONE, most, U256::ZERO))
    }

    fn out_within(&self, _index: usize, amount_in: U256) -> U256 {
        let done = self.pool.exchange(self.sold, self.bought, amount_in);
        done.map_or(U256::ZERO, |done| done.out)
    }

    fn out_at_most(&self, _index: usize, low: U256, high: U256, _out: U256) -> U256 {
        self.pool.paid_in(&self.pool.range(self.sold, self.bought, low, high), self.bought)
    }

    fn divides(&self) -> bool {
        self.pool.fee_varies()
    }

    fn by_secants(&self) -> bool {
        true
    }

    fn ideal_within(&self, _index: usize, added: U256) -> U512 {
        self.bound.paid(added, self.pool.fee)
    }

    fn most_between(
        &self,
        _index: usize,
        (low, high): (U256, U256),
        _out: U256,
        fails: &dyn Fn(U512) -> bool,
    ) -> Option<U256> {
        let range = self.pool.range(self.sold, self.bought, low, high);
        (!fails(self.bound.paid(low, range.fee))).then(|| self.pool.paid_in(&range, self.bought))
    }

    /// None: the fee is deducted from the output.
    fn fee_rounded_first(&self) -> Option<FeeRate> {
        None
    }

    fn held_bytes(&self) -> usize {
        self.pool.held_bytes()
    }
}
