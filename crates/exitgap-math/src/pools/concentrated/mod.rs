//! Concentrated liquidity: the rules of Uniswap v3's pool and similar ones, for any fee and tick spacing, in both
//! directions.
//!
//! - `ranges`: price, liquidity and ticks, and the invariants between them
//! - `tick_math`: converts ticks to √prices and back (`TickMath.sol`)
//! - `step_math`: amounts of one step (`SqrtPriceMath.sol`, `SwapMath.sol`)
//! - `swap`: the contract's loop (`UniswapV3Pool.swap`); `steps`: its stops
//! - `table`: the sums of the loop's full steps, computed once for many fills
//! - `gain`: the most that a sale gains, if units have given values
//! - `form`: the states as canonical JSON
//! - `error`: why numbers are not a valid state
//!
//! Three kinds share this code: [`Concentrated`]; `managed`, Uniswap v4's, whose fee depends on the direction; and
//! `linked`, Algebra Integral's, whose loop has fewer stops.

mod error;
mod form;
mod gain;
mod linked;
mod managed;
mod ranges;
mod step_math;
mod steps;
mod swap;
mod table;
mod tick_math;

pub use error::ConcentratedError;
pub use linked::ConcentratedLinked;
pub use managed::ConcentratedV4;
pub use ranges::{Ranges, Tick};
pub use tick_math::{
    MAX_SQRT_RATIO, MAX_TICK, MIN_SQRT_RATIO, MIN_TICK, sqrt_ratio_at_tick, tick_at_sqrt_ratio,
};

use super::kind::{PoolKind, SaleVariant, StateForm};
use super::{
    Direction, FeeRate, Fill, FillError, MAX_STATE_BYTES, PoolFee, PoolState, RawPrice, SaleCurve,
    UnitValues,
};
use crate::wide::{U256, U1024};
use ranges::SpacingRule;
use steps::Steps;
use swap::{Loop, Stops};
use table::StepTable;

/// The state of a concentrated-liquidity pool: price, active liquidity and *all*
/// initialised ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concentrated {
    ranges: Ranges,
    fee_pips: u32,
}

impl Concentrated {
    /// One million: the unit of fees is a millionth.
    pub const FEE_DENOMINATOR: u32 = 1_000_000;
    /// The maximum number of initialised ticks.
    pub const MAX_TICKS: usize = Ranges::MAX_TICKS;
    const SPACING: SpacingRule = SpacingRule { most: 16_383, binds: true };

    /// A pool with this state. `ticks` are all initialised ticks in ascending order. Checks every invariant of the
    /// contract between them, the price and the active liquidity.
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

    /// √price, Q64.96, token 1 per token 0.
    pub fn sqrt_price_x96(&self) -> U256 {
        self.ranges.sqrt_price_x96
    }

    /// The tick that the contract stores. It is one below the price's tick if a falling price stopped exactly on a
    /// tick.
    pub fn tick(&self) -> i32 {
        self.ranges.tick
    }

    /// Active liquidity.
    pub fn liquidity(&self) -> u128 {
        self.ranges.liquidity
    }

    /// The fee in millionths.
    pub fn fee_pips(&self) -> u32 {
        self.fee_pips
    }

    /// The pool's tick spacing.
    pub fn tick_spacing(&self) -> i32 {
        self.ranges.tick_spacing
    }

    /// All initialised ticks in ascending order.
    pub fn ticks(&self) -> &[Tick] {
        &self.ranges.ticks
    }
}

/// A kind of concentrated-liquidity pool. The kinds differ in their fee and in the stops of their loop.
trait RangeKind: StateForm + Clone {
    const STOPS: Stops;

    fn ranges(&self) -> &Ranges;

    /// The fee of a direction in millionths, below one million.
    fn fee_pips_of(&self, direction: Direction) -> u32;

    /// The fee without a protocol's additional share.
    fn own_fee_pips(&self) -> u32 {
        self.fee_pips_of(Direction::ZeroForOne)
    }

    /// The same pool with these ranges.
    fn with(&self, ranges: Ranges) -> Self;

    fn swap_loop(&self, direction: Direction) -> Loop<'_> {
        let (ranges, fee_pips) = (self.ranges(), self.fee_pips_of(direction));
        Loop { ranges, direction, fee_pips, stops: Self::STOPS }
    }
}

impl RangeKind for Concentrated {
    const STOPS: Stops = Stops::Words;

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

impl<K: RangeKind> PoolKind for K {
    type Sale = StepTable;

    fn fee(&self) -> PoolFee {
        PoolFee::Flat(fee_of(self.own_fee_pips()))
    }

    fn sale(&self, direction: Direction) -> StepTable {
        StepTable::build(self.swap_loop(direction))
    }

    fn start_of_sale(&self, direction: Direction, enough: &dyn Fn(&SaleCurve) -> bool) -> SaleCurve
    where
        Self: SaleVariant<StepTable>,
    {
        let swap = self.swap_loop(direction);
        let mut steps = Steps::new(swap);
        let table = StepTable::empty(swap, SaleCurve::FIRST_PIECE);
        let mut curve = SaleCurve(Self::wrap_sale(table));
        while let Some(table) = Self::sale_in(&mut curve.0) {
            let (had, piece) = (table.len(), table.len().max(SaleCurve::FIRST_PIECE));
            table.extend(steps.by_ref().take(piece));
            let whole = table.len() < had + piece;
            if whole || enough(&curve) {
                break;
            }
        }
        curve
    }

    fn fill_once(&self, direction: Direction, amount_in: U256) -> Result<Fill, FillError> {
        self.swap_loop(direction).fill(amount_in)
    }

    fn after(&self, _direction: Direction, fill: &Fill) -> Self {
        fill.end.map_or_else(|| self.clone(), |end| self.with(self.ranges().at_end(end)))
    }

    fn has_closed_gain(&self) -> bool {
        true
    }

    fn most_gain(&self, direction: Direction, values: UnitValues) -> Option<U1024> {
        Some(gain::most_gain(self.ranges(), direction, self.fee_pips_of(direction), values))
    }

    fn with_recovery(&self, start: &PoolState, _direction: Direction, recovered_e8: u32) -> Self {
        match ranges_of(start) {
            Some(start) => self.with(self.ranges().with_recovery(start, recovered_e8)),
            None => self.clone(),
        }
    }

    fn held_bytes(&self) -> usize {
        size_of_val(self.ranges().ticks())
    }

    fn sale_bytes_at_most(&self, direction: Direction) -> usize {
        StepTable::held_bytes_at_most(self.swap_loop(direction))
    }
}

/// The ranges of a state, if it is a concentrated-liquidity pool.
fn ranges_of(state: &PoolState) -> Option<&Ranges> {
    let managed = || ConcentratedV4::from_state(state).map(RangeKind::ranges);
    let linked = || ConcentratedLinked::from_state(state).map(RangeKind::ranges);
    Concentrated::from_state(state).map(RangeKind::ranges).or_else(managed).or_else(linked)
}

/// The mid price of a state, if it is a concentrated-liquidity pool.
pub(super) fn price_of(state: &PoolState, direction: Direction) -> Option<RawPrice> {
    ranges_of(state).map(|ranges| RawPrice::of_sqrt(ranges.sqrt_price_x96, direction))
}

/// The ticks of `earlier` with √price, tick and fee of `later`, if both are concentrated-liquidity pools of the same
/// kind.
pub(super) fn ticks_under(earlier: &PoolState, later: &PoolState) -> Option<PoolState> {
    let ranges = ranges_of(earlier)?.under(ranges_of(later)?);
    match (earlier, later) {
        (PoolState::Concentrated(_), PoolState::Concentrated(pool)) => {
            Some(pool.with(ranges).into())
        }
        (PoolState::ConcentratedV4(_), PoolState::ConcentratedV4(pool)) => {
            Some(pool.with(ranges).into())
        }
        (PoolState::ConcentratedLinked(_), PoolState::ConcentratedLinked(pool)) => {
            Some(pool.with(ranges).into())
        }
        _ => None,
    }
}

/// A state's ticks at the √price that `moved` computes from its own, limited to the contract's bounds.
pub(super) fn ticks_at(state: &PoolState, moved: &dyn Fn(U256) -> U256) -> Option<PoolState> {
    let ranges = ranges_of(state)?;
    with_ranges(state, ranges.at(moved(ranges.sqrt_price_x96)))
}

/// A state with `kept ÷ one` of the liquidity of each range.
pub(super) fn ticks_thinned(state: &PoolState, kept: u32, one: u32) -> Option<PoolState> {
    with_ranges(state, ranges_of(state)?.scale_liquidity(kept, one))
}

fn with_ranges(state: &PoolState, ranges: Ranges) -> Option<PoolState> {
    match state {
        PoolState::Concentrated(pool) => Some(pool.with(ranges).into()),
        PoolState::ConcentratedV4(pool) => Some(pool.with(ranges).into()),
        PoolState::ConcentratedLinked(pool) => Some(pool.with(ranges).into()),
        _ => None,
    }
}

fn fee_of(fee_pips: u32) -> FeeRate {
    FeeRate { numerator: fee_pips.into(), denominator: Concentrated::FEE_DENOMINATOR.into() }
}

fn check_fee(fee_pips: u32) -> Result<(), ConcentratedError> {
    if fee_pips < Concentrated::FEE_DENOMINATOR {
        return Ok(());
    }
    Err(ConcentratedError::FeeOutOfRange { found: fee_pips })
}

#[cfg(test)]
mod tests;
