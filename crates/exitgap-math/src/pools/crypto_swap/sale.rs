//! One direction of a pair of coins: only fills, without the properties that a search requires.

use std::sync::OnceLock;

use super::{CryptoSwap, FEE_DENOMINATOR};
use crate::pools::kind::{PoolKind, Sale};
use crate::pools::{Direction, FeeRate, Fill, FillError, RawPrice, Segment};
use crate::wide::{U256, U512};

/// One direction of a pair of coins.
#[derive(Debug, Clone)]
pub(in crate::pools) struct CryptoSale {
    pool: CryptoSwap,
    direction: Direction,
    /// The largest accepted input, computed on first use.
    most: OnceLock<U256>,
}

impl CryptoSale {
    pub(super) fn new(pool: CryptoSwap, direction: Direction) -> Self {
        Self { pool, direction, most: OnceLock::new() }
    }

    fn most_in(&self) -> U256 {
        *self.most.get_or_init(|| self.pool.most_taken(self.direction))
    }
}

impl Sale for CryptoSale {
    fn direction(&self) -> Direction {
        self.direction
    }

    fn mid(&self) -> RawPrice {
        self.pool.mid(self.direction)
    }

    /// The price before the fill, because the price after it is not computed.
    fn mid_after(&self, _fill: &Fill) -> RawPrice {
        self.mid()
    }

    fn least_fee(&self) -> FeeRate {
        FeeRate { numerator: self.pool.parts.fees[0], denominator: FEE_DENOMINATOR }
    }

    fn fill(&self, amount_in: U256) -> Result<Fill, FillError> {
        self.pool.fill(self.direction, amount_in, || self.most_in())
    }

    fn is_sized(&self) -> bool {
        false
    }

    fn most(&self) -> (U256, U256) {
        let most = self.most_in();
        (most, self.out_within(0, most))
    }

    fn segment(&self, _index: usize) -> Segment {
        let (in_end, out_end) = self.most();
        Segment { in_start: U256::ZERO, out_start: U256::ZERO, in_end, out_end }
    }

    fn out_within(&self, _index: usize, amount_in: U256) -> U256 {
        self.pool.swap(self.direction, amount_in).map_or(U256::ZERO, |(out, _)| out)
    }

    /// At most the balance.
    fn ideal_within(&self, _index: usize, _added: U256) -> U512 {
        let (_, bought) = self.pool.coins_of(self.direction);
        U512::from(self.pool.parts.balances[bought]) << 64
    }

    fn fee_rounded_first(&self) -> Option<FeeRate> {
        None
    }

    fn held_bytes(&self) -> usize {
        self.pool.held_bytes()
    }
}
