//! Algebra Integral: initialised ticks form a linked list. Source: `SwapCalculation.sol` of integral-core.
//!
//! A step is computed like in v3, but the loop stops only at initialised ticks and at the lowest and the highest tick.
//! v3 also stops, and rounds, at the end of every bitmap word.

use super::ranges::{Ranges, SpacingRule, Tick};
use super::swap::Stops;
use super::{ConcentratedError, RangeKind, check_fee};
use crate::pools::Direction;
use crate::wide::U256;

/// The state of an Algebra Integral pool without plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcentratedLinked {
    pub(super) ranges: Ranges,
    pub(super) fee_pips: u32,
}

impl ConcentratedLinked {
    /// The owner may change the spacing; existing ticks stay at their positions.
    const SPACING: SpacingRule = SpacingRule { most: 16_383, binds: false };

    /// A pool with this state. `ticks` are all initialised ticks in ascending order. Checks every invariant of the
    /// contract.
    pub fn new(
        sqrt_price_x96: U256,
        tick: i32,
        liquidity: u128,
        fee_pips: u32,
        tick_spacing: i32,
        ticks: Vec<Tick>,
    ) -> Result<Self, ConcentratedError> {
        check_fee(fee_pips)?;
        let ranges =
            Ranges::new(sqrt_price_x96, tick, liquidity, tick_spacing, ticks, Self::SPACING)?;
        Ok(Self { ranges, fee_pips })
    }

    /// Price, liquidity and ticks.
    pub fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// The fee in millionths.
    pub fn fee_pips(&self) -> u32 {
        self.fee_pips
    }
}

impl RangeKind for ConcentratedLinked {
    const STOPS: Stops = Stops::Ticks;

    fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    fn fee_pips_of(&self, _direction: Direction) -> u32 {
        self.fee_pips
    }

    fn with(&self, ranges: Ranges) -> Self {
        Self { ranges, ..*self }
    }
}
