//! Concentrated liquidity: the rules of Uniswap v3's pool, for any fee and tick
//! spacing, in both directions.
//!
//! - `tick_math`: √price at a tick and back (`TickMath.sol`)
//! - `step_math`: amounts of one step (`SqrtPriceMath.sol`, `SwapMath.sol`)
//! - `steps`: the stops of the contract's loop (`UniswapV3Pool.swap`)
//! - `table`: the loop's full steps summed up once, for many fills
//! - `form`: the state as canonical JSON

mod form;
mod step_math;
mod steps;
mod table;
mod tick_math;

pub use tick_math::{
    MAX_SQRT_RATIO, MAX_TICK, MIN_SQRT_RATIO, MIN_TICK, sqrt_ratio_at_tick, tick_at_sqrt_ratio,
};

use std::sync::Arc;

use super::fill::PriceEnd;
use super::kind::PoolKind;
use super::kinds::OneSale;
use super::{Direction, FeeRate, Fill, FillError, MAX_STATE_BYTES, PoolState, SaleCurve};
use crate::wide::{U256, mul_div};
use steps::Steps;
use table::StepTable;

/// An initialised tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// The tick's index, a multiple of the pool's tick spacing.
    pub tick: i32,
    /// `liquidityNet` of the contract: what becomes active when the price rises through the tick,
    /// and inactive when it falls through it. May be zero: the tick still is a stop of the
    /// contract's loop.
    pub liquidity_net: i128,
    /// `liquidityGross` of the contract: that of all positions that begin or end here. No fill
    /// depends on it.
    pub liquidity_gross: u128,
}

impl Tick {
    /// A tick at which positions only begin, or only end.
    pub fn new(tick: i32, liquidity_net: i128) -> Self {
        Self { tick, liquidity_net, liquidity_gross: liquidity_net.unsigned_abs() }
    }
}

/// The state of a concentrated-liquidity pool: price, active liquidity and *all*
/// initialised ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concentrated {
    sqrt_price_x96: U256,
    tick: i32,
    liquidity: u128,
    fee_pips: u32,
    tick_spacing: i32,
    /// Shared: a pool after a sale has the ticks it had before.
    ticks: Arc<[Tick]>,
}

/// Why numbers are not the state of a concentrated-liquidity pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConcentratedError {
    /// The pool was created but never given a price.
    #[error("the pool is not initialised: its sqrt price is zero")]
    NotInitialised,
    /// The √price lies outside the contract's bounds.
    #[error("sqrt price {found} lies outside the contract's bounds")]
    SqrtPriceOutOfRange {
        /// The √price found, Q64.96.
        found: U256,
    },
    /// The tick is not the one that holds the √price.
    #[error("tick {tick} does not hold sqrt price {sqrt_price_x96}")]
    TickNotAtPrice {
        /// The tick found.
        tick: i32,
        /// The √price found, Q64.96.
        sqrt_price_x96: U256,
    },
    /// The fee is 100 % or more.
    #[error("fee of {found} millionths is not below one million")]
    FeeOutOfRange {
        /// The fee found, in millionths.
        found: u32,
    },
    /// The tick spacing is not from 1 to 16383.
    #[error("tick spacing {found} is not from 1 to 16383")]
    TickSpacingOutOfRange {
        /// The spacing found.
        found: i32,
    },
    /// More initialised ticks than are accepted.
    #[error("{found} initialised ticks are more than the {most} accepted")]
    TooManyTicks {
        /// Ticks found.
        found: usize,
        /// Ticks accepted.
        most: usize,
    },
    /// The ticks' liquidity has so many digits that the state's body would be too long to be kept.
    #[error("a state of up to {found} bytes is longer than the {most} that are kept")]
    TooLong {
        /// Bytes of the state's body, at most.
        found: usize,
        /// Bytes accepted.
        most: usize,
    },
    /// An initialised tick is out of bounds or off the spacing.
    #[error("initialised tick {tick} is out of bounds or no multiple of the tick spacing")]
    TickOutOfPlace {
        /// The tick found.
        tick: i32,
    },
    /// The ticks are not strictly ascending.
    #[error("initialised tick {tick} does not come after the one before it")]
    TicksOutOfOrder {
        /// The tick found.
        tick: i32,
    },
    /// The gross liquidity of an initialised tick is zero, or below its net liquidity.
    #[error("gross liquidity of tick {tick} is zero or below its net liquidity")]
    GrossLiquidity {
        /// The tick found.
        tick: i32,
    },
    /// Summed from below, the ticks' net liquidity leaves the contract's 128 bits.
    #[error("net liquidity up to tick {tick} is negative or exceeds 128 bits")]
    NetLiquidityOutOfRange {
        /// The tick at which the sum left its range.
        tick: i32,
    },
    /// All ticks together do not sum to zero: a position has only one end.
    #[error("net liquidity of all ticks sums to {found}, not to zero")]
    NetLiquidityNotBalanced {
        /// The sum found.
        found: u128,
    },
    /// The active liquidity is not what the ticks at or below the price sum to.
    #[error("active liquidity is {found}, but the ticks at or below the price sum to {expected}")]
    LiquidityMismatch {
        /// The sum of the ticks at or below the current one.
        expected: u128,
        /// The pool's own figure.
        found: u128,
    },
}

impl Concentrated {
    /// One million: fees are counted in millionths.
    pub const FEE_DENOMINATOR: u32 = 1_000_000;
    /// The most initialised ticks accepted: far above any pool on a live chain,
    /// small enough that a hostile state costs milliseconds.
    pub const MAX_TICKS: usize = 65_536;

    /// A pool with this state. `ticks` are all initialised ticks, ascending; every
    /// invariant of the contract between them, the price and the active liquidity
    /// is checked.
    pub fn new(
        sqrt_price_x96: U256,
        tick: i32,
        liquidity: u128,
        fee_pips: u32,
        tick_spacing: i32,
        ticks: Vec<Tick>,
    ) -> Result<Self, ConcentratedError> {
        check_price(sqrt_price_x96, tick)?;
        if fee_pips >= Self::FEE_DENOMINATOR {
            return Err(ConcentratedError::FeeOutOfRange { found: fee_pips });
        }
        if !(1..16_384).contains(&tick_spacing) {
            return Err(ConcentratedError::TickSpacingOutOfRange { found: tick_spacing });
        }
        check_ticks(tick, liquidity, tick_spacing, &ticks)?;
        Ok(Self { sqrt_price_x96, tick, liquidity, fee_pips, tick_spacing, ticks: ticks.into() })
    }

    /// √price, Q64.96, token 1 per token 0.
    pub fn sqrt_price_x96(&self) -> U256 {
        self.sqrt_price_x96
    }

    /// The tick the contract holds; one below the price's own where a falling
    /// price stopped exactly on a tick.
    pub fn tick(&self) -> i32 {
        self.tick
    }

    /// Active liquidity.
    pub fn liquidity(&self) -> u128 {
        self.liquidity
    }

    /// The fee in millionths.
    pub fn fee_pips(&self) -> u32 {
        self.fee_pips
    }

    /// The pool's tick spacing.
    pub fn tick_spacing(&self) -> i32 {
        self.tick_spacing
    }

    /// All initialised ticks, ascending.
    pub fn ticks(&self) -> &[Tick] {
        &self.ticks
    }

    fn fee(&self) -> FeeRate {
        fee_of(self.fee_pips)
    }

    /// The contract's swap loop, run once without a table.
    fn fill(&self, direction: Direction, amount_in: U256) -> Result<Fill, FillError> {
        if amount_in.is_zero() {
            return Err(FillError::ZeroInput);
        }
        let (mut consumed, mut paid, mut ticks_crossed) = (U256::ZERO, U256::ZERO, 0);
        for step in Steps::new(self, direction) {
            let remaining = amount_in - consumed;
            if step.amount_in > remaining {
                let (sqrt_price_x96, out) =
                    step_math::partial(direction, &step, self.fee_pips, remaining);
                let end = Some(step.partial_end(sqrt_price_x96, ticks_crossed));
                let (amount_out, fee) = (paid + out, self.fee());
                return Ok(Fill { amount_in, amount_out, fee, end });
            }
            consumed += step.amount_in;
            paid += step.amount_out;
            ticks_crossed += u32::from(step.crossed_tick.is_some());
            if consumed == amount_in {
                let (end, fee) = (Some(step.end(ticks_crossed)), self.fee());
                return Ok(Fill { amount_in, amount_out: paid, fee, end });
            }
        }
        Err(FillError::BeyondLiquidity { consumed, paid })
    }
}

impl PoolKind for Concentrated {
    type Sale = StepTable;

    fn sale(&self, direction: Direction) -> StepTable {
        StepTable::build(self, direction)
    }

    fn start_of_sale(
        &self,
        direction: Direction,
        enough: &dyn Fn(&SaleCurve) -> bool,
    ) -> SaleCurve {
        let mut steps = Steps::new(self, direction);
        let table = StepTable::empty(self, direction, SaleCurve::FIRST_PIECE);
        let mut curve = SaleCurve(table.into());
        while let OneSale::Concentrated(table) = &mut curve.0 {
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
        self.fill(direction, amount_in)
    }

    fn after(&self, _direction: Direction, fill: &Fill) -> Self {
        let Some(PriceEnd { sqrt_price_x96, liquidity, tick, .. }) = fill.end else {
            return self.clone();
        };
        let tick = tick.unwrap_or_else(|| tick_at_sqrt_ratio(sqrt_price_x96));
        Self { sqrt_price_x96, tick, liquidity, ..self.clone() }
    }

    /// The distance recovered is rounded down.
    fn recovered(&self, start: &PoolState, _direction: Direction, recovered_e8: u32) -> Self {
        let Some(start) = Self::of(start) else { return self.clone() };
        let distance = self.sqrt_price_x96.abs_diff(start.sqrt_price_x96);
        let (share, scale) = (U256::from(recovered_e8), U256::from(100_000_000_u32));
        let step = mul_div(distance, share, scale).unwrap_or(distance).min(distance);
        if step.is_zero() {
            return self.clone();
        }
        let sqrt_price_x96 = if start.sqrt_price_x96 > self.sqrt_price_x96 {
            self.sqrt_price_x96 + step
        } else {
            self.sqrt_price_x96 - step
        };
        let tick = tick_at_sqrt_ratio(sqrt_price_x96);
        let liquidity = active_liquidity(&self.ticks, tick);
        Self { sqrt_price_x96, tick, liquidity, ..self.clone() }
    }

    fn held_bytes(&self) -> usize {
        size_of_val(self.ticks())
    }

    fn sale_bytes_at_most(&self, direction: Direction) -> usize {
        StepTable::held_bytes_at_most(self, direction)
    }
}

fn fee_of(fee_pips: u32) -> FeeRate {
    FeeRate { numerator: fee_pips.into(), denominator: Concentrated::FEE_DENOMINATOR.into() }
}

fn check_price(sqrt_price_x96: U256, tick: i32) -> Result<(), ConcentratedError> {
    if sqrt_price_x96.is_zero() {
        return Err(ConcentratedError::NotInitialised);
    }
    if sqrt_price_x96 < MIN_SQRT_RATIO || sqrt_price_x96 >= MAX_SQRT_RATIO {
        return Err(ConcentratedError::SqrtPriceOutOfRange { found: sqrt_price_x96 });
    }
    let wrong = ConcentratedError::TickNotAtPrice { tick, sqrt_price_x96 };
    // A price that fell exactly onto a tick leaves the contract one tick below it,
    // so both of a tick's ends belong to it.
    let low = ratio_or(tick, wrong)?;
    let high = ratio_or(tick.saturating_add(1), wrong)?;
    if low <= sqrt_price_x96 && sqrt_price_x96 <= high { Ok(()) } else { Err(wrong) }
}

fn ratio_or(tick: i32, error: ConcentratedError) -> Result<U256, ConcentratedError> {
    sqrt_ratio_at_tick(tick).ok_or(error)
}

fn check_ticks(
    current: i32,
    liquidity: u128,
    tick_spacing: i32,
    ticks: &[Tick],
) -> Result<(), ConcentratedError> {
    if ticks.len() > Concentrated::MAX_TICKS {
        let (found, most) = (ticks.len(), Concentrated::MAX_TICKS);
        return Err(ConcentratedError::TooManyTicks { found, most });
    }
    if let Some(found) = form::bytes_above_most(ticks) {
        return Err(ConcentratedError::TooLong { found, most: MAX_STATE_BYTES });
    }
    let (mut sum, mut active, mut previous) = (0_u128, 0_u128, None);
    for &Tick { tick, liquidity_net, liquidity_gross } in ticks {
        if !(MIN_TICK..=MAX_TICK).contains(&tick) || tick % tick_spacing != 0 {
            return Err(ConcentratedError::TickOutOfPlace { tick });
        }
        if previous.is_some_and(|previous| previous >= tick) {
            return Err(ConcentratedError::TicksOutOfOrder { tick });
        }
        previous = Some(tick);
        if liquidity_gross < liquidity_net.unsigned_abs().max(1) {
            return Err(ConcentratedError::GrossLiquidity { tick });
        }
        sum = sum
            .checked_add_signed(liquidity_net)
            .ok_or(ConcentratedError::NetLiquidityOutOfRange { tick })?;
        if tick <= current {
            active = sum;
        }
    }
    if sum != 0 {
        return Err(ConcentratedError::NetLiquidityNotBalanced { found: sum });
    }
    if active != liquidity {
        return Err(ConcentratedError::LiquidityMismatch { expected: active, found: liquidity });
    }
    Ok(())
}

/// The net liquidity of all ticks at or below `current`. The ticks were checked.
fn active_liquidity(ticks: &[Tick], current: i32) -> u128 {
    ticks
        .iter()
        .take_while(|tick| tick.tick <= current)
        .fold(0, |sum: u128, tick| sum.wrapping_add_signed(tick.liquidity_net))
}

#[cfg(test)]
mod tests;
