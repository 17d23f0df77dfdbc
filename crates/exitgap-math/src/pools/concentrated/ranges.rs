//! Price, active liquidity and all initialised ticks, which every concentrated-liquidity pool has, and the invariants
//! between them.

use std::sync::Arc;

use super::form::bytes_above_most;
use super::tick_math::{
    MAX_SQRT_RATIO, MAX_TICK, MIN_SQRT_RATIO, MIN_TICK, sqrt_ratio_at_tick, tick_at_sqrt_ratio,
};
use super::{ConcentratedError, MAX_STATE_BYTES};
use crate::pools::fill::PriceEnd;
use crate::wide::{U256, mul_div};

/// An initialised tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// The tick's index, a multiple of the pool's tick spacing.
    pub tick: i32,
    /// `liquidityNet` of the contract: the liquidity that is added when the price rises through the tick and removed
    /// when it falls through it. It may be zero; the tick is still a stop of the contract's loop.
    pub liquidity_net: i128,
    /// `liquidityGross` of the contract: the sum over all positions that begin or end here. No fill depends on it.
    pub liquidity_gross: u128,
}

impl Tick {
    /// A tick at which positions either only begin or only end.
    pub fn new(tick: i32, liquidity_net: i128) -> Self {
        Self { tick, liquidity_net, liquidity_gross: liquidity_net.unsigned_abs() }
    }
}

/// The ranges of a concentrated-liquidity pool: price, active liquidity and *all* initialised ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranges {
    pub(super) sqrt_price_x96: U256,
    pub(super) tick: i32,
    pub(super) liquidity: u128,
    pub(super) tick_spacing: i32,
    /// Shared, because a sale does not change the ticks of a pool.
    pub(super) ticks: Arc<[Tick]>,
}

/// The contract's rule for its tick spacing.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpacingRule {
    pub(super) most: i32,
    /// Whether all ticks must be multiples of it. False if an owner may change the spacing.
    pub(super) binds: bool,
}

impl Ranges {
    /// The maximum number of initialised ticks: far above any pool on a live chain, but small enough that a malicious
    /// state costs only milliseconds.
    pub const MAX_TICKS: usize = 65_536;

    /// `ticks` are all initialised ticks in ascending order. Checks every invariant of the contract between them, the
    /// price and the active liquidity.
    pub(super) fn new(
        sqrt_price_x96: U256,
        tick: i32,
        liquidity: u128,
        tick_spacing: i32,
        ticks: Vec<Tick>,
        allowed: SpacingRule,
    ) -> Result<Self, ConcentratedError> {
        check_price(sqrt_price_x96, tick)?;
        if !(1..=allowed.most).contains(&tick_spacing) {
            let (found, most) = (tick_spacing, allowed.most);
            return Err(ConcentratedError::TickSpacingOutOfRange { found, most });
        }
        check_ticks(tick, liquidity, if allowed.binds { tick_spacing } else { 1 }, &ticks)?;
        Ok(Self { sqrt_price_x96, tick, liquidity, tick_spacing, ticks: ticks.into() })
    }

    /// √price, Q64.96, token 1 per token 0.
    pub fn sqrt_price_x96(&self) -> U256 {
        self.sqrt_price_x96
    }

    /// The tick that the contract stores. It is one below the price's tick if a falling price stopped exactly on a
    /// tick.
    pub fn tick(&self) -> i32 {
        self.tick
    }

    /// Active liquidity.
    pub fn liquidity(&self) -> u128 {
        self.liquidity
    }

    /// The pool's tick spacing.
    pub fn tick_spacing(&self) -> i32 {
        self.tick_spacing
    }

    /// All initialised ticks in ascending order.
    pub fn ticks(&self) -> &[Tick] {
        &self.ticks
    }

    /// The state after a sale that ended there.
    pub(super) fn at_end(&self, end: PriceEnd) -> Self {
        let PriceEnd { sqrt_price_x96, liquidity, tick, .. } = end;
        let tick = tick.unwrap_or_else(|| tick_at_sqrt_ratio(sqrt_price_x96));
        Self { sqrt_price_x96, tick, liquidity, ..self.clone() }
    }

    /// These ticks with the √price and the tick of another state.
    pub(super) fn under(&self, later: &Self) -> Self {
        let Self { sqrt_price_x96, tick, .. } = *later;
        let liquidity = active_liquidity(&self.ticks, tick);
        Self { sqrt_price_x96, tick, liquidity, ..self.clone() }
    }

    /// These ticks at another √price, limited to the contract's bounds. At the same price, the same state.
    pub(super) fn at(&self, sqrt_price_x96: U256) -> Self {
        if sqrt_price_x96 == self.sqrt_price_x96 {
            return self.clone();
        }
        let sqrt_price_x96 = sqrt_price_x96.clamp(MIN_SQRT_RATIO, MAX_SQRT_RATIO - U256::ONE);
        let tick = tick_at_sqrt_ratio(sqrt_price_x96);
        let liquidity = active_liquidity(&self.ticks, tick);
        Self { sqrt_price_x96, tick, liquidity, ..self.clone() }
    }

    /// The same price with `kept ÷ one` of each range's liquidity, rounded down. The net liquidity of a tick is then
    /// the liquidity above it minus the liquidity below it; a tick without a difference remains a stop of the
    /// contract's loop.
    pub(super) fn scale_liquidity(&self, kept: u32, one: u32) -> Self {
        let left = |liquidity: u128| {
            let (kept, one) = (U256::from(kept.min(one)), U256::from(one.max(1)));
            // At most the liquidity itself, so the result exists and fits.
            mul_div(U256::from(liquidity), kept, one).map_or(0, |left| left.saturating_to::<u128>())
        };
        let (mut whole, mut below) = (0_u128, 0_u128);
        let ticks = self.ticks.iter().map(|tick| {
            whole = whole.saturating_add_signed(tick.liquidity_net);
            let above = left(whole);
            // A net liquidity is at most the total liquidity.
            let size = i128::try_from(above.abs_diff(below)).unwrap_or(i128::MAX);
            let liquidity_net = if above < below { -size } else { size };
            below = above;
            let liquidity_gross =
                left(tick.liquidity_gross).max(liquidity_net.unsigned_abs()).max(1);
            Tick { tick: tick.tick, liquidity_net, liquidity_gross }
        });
        let ticks = ticks.collect();
        Self { liquidity: left(self.liquidity), ticks, ..*self }
    }

    /// The price moved back towards `start` by `recovered_e8 ÷ 10^8` of the distance, rounded down.
    pub(super) fn with_recovery(&self, start: &Self, recovered_e8: u32) -> Self {
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
}

fn check_price(sqrt_price_x96: U256, tick: i32) -> Result<(), ConcentratedError> {
    if sqrt_price_x96.is_zero() {
        return Err(ConcentratedError::NotInitialised);
    }
    if sqrt_price_x96 < MIN_SQRT_RATIO || sqrt_price_x96 >= MAX_SQRT_RATIO {
        return Err(ConcentratedError::SqrtPriceOutOfRange { found: sqrt_price_x96 });
    }
    let wrong = ConcentratedError::TickNotAtPrice { tick, sqrt_price_x96 };
    // A price that fell exactly onto a tick leaves the contract one tick below it, so both ends belong to a tick.
    let low = ratio_or(tick, wrong)?;
    let high = ratio_or(tick.saturating_add(1), wrong)?;
    if low <= sqrt_price_x96 && sqrt_price_x96 <= high { Ok(()) } else { Err(wrong) }
}

fn ratio_or(tick: i32, error: ConcentratedError) -> Result<U256, ConcentratedError> {
    sqrt_ratio_at_tick(tick).ok_or(error)
}

/// `step`: every tick must be a multiple of this.
pub(super) fn check_ticks(
    current: i32,
    liquidity: u128,
    step: i32,
    ticks: &[Tick],
) -> Result<(), ConcentratedError> {
    if ticks.len() > Ranges::MAX_TICKS {
        let (found, most) = (ticks.len(), Ranges::MAX_TICKS);
        return Err(ConcentratedError::TooManyTicks { found, most });
    }
    if let Some(found) = bytes_above_most(ticks) {
        return Err(ConcentratedError::TooLong { found, most: MAX_STATE_BYTES });
    }
    let (mut sum, mut active, mut previous) = (0_u128, 0_u128, None);
    for &Tick { tick, liquidity_net, liquidity_gross } in ticks {
        if !(MIN_TICK..=MAX_TICK).contains(&tick) || tick % step != 0 {
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

/// The net liquidity of all ticks at or below `current`. The ticks must have been checked.
pub(super) fn active_liquidity(ticks: &[Tick], current: i32) -> u128 {
    ticks
        .iter()
        .take_while(|tick| tick.tick <= current)
        .fold(0, |sum: u128, tick| sum.wrapping_add_signed(tick.liquidity_net))
}
