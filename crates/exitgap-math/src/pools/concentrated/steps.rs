//! The stops of the contract's swap loop. Source: `UniswapV3Pool.swap` and
//! `TickBitmap.nextInitializedTickWithinOneWord`.
//!
//! The loop stops at every initialised tick. In most contracts it *also* stops at the last tick of every bitmap word of
//! 256 ticks, initialised or not. A stop without a tick only changes the rounding, because amounts are rounded at each
//! stop.

use super::ranges::{Ranges, Tick};
use super::step_math;
use super::swap::{Loop, Stops};
use super::tick_math::{MAX_SQRT_RATIO, MAX_TICK, MIN_SQRT_RATIO, MIN_TICK, sqrt_ratio_at_tick};
use crate::pools::Direction;
use crate::pools::fill::PriceEnd;
use crate::wide::U256;

/// A full step: from one stop of the loop to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub sqrt_price_start_x96: U256,
    pub sqrt_price_end_x96: U256,
    /// The active liquidity during the step.
    pub liquidity: u128,
    /// The active liquidity after the step.
    pub liquidity_after: u128,
    /// The input of the whole step, including the fee. The step is full only if at least this much remains.
    pub amount_in: U256,
    pub fee: U256,
    pub amount_out: U256,
    pub crossed_tick: Option<i32>,
    /// The contract's tick before the step.
    pub tick_before: i32,
    /// The contract's tick after the step; `None` if the step ended at the price limit.
    pub tick_after: Option<i32>,
}

impl Step {
    pub(super) fn end(&self, ticks_crossed: u32) -> PriceEnd {
        PriceEnd {
            sqrt_price_x96: self.sqrt_price_end_x96,
            liquidity: self.liquidity_after,
            tick: self.tick_after,
            ticks_crossed,
        }
    }

    /// The end of a sale that stopped inside the step.
    pub(super) fn partial_end(&self, sqrt_price_x96: U256, ticks_crossed: u32) -> PriceEnd {
        // The contract recomputes its tick only if the price moved.
        let moved = sqrt_price_x96 != self.sqrt_price_start_x96;
        PriceEnd {
            sqrt_price_x96,
            liquidity: self.liquidity,
            tick: (!moved).then_some(self.tick_before),
            ticks_crossed,
        }
    }
}

/// The full steps from the pool's price to the price limit of the direction.
pub(super) struct Steps<'a> {
    direction: Direction,
    fee_pips: u32,
    stops: Stops,
    tick_spacing: i32,
    ticks: &'a [Tick],
    /// The number of ticks at or below the price.
    below: usize,
    sqrt_price_x96: U256,
    tick: i32,
    liquidity: u128,
    ended: bool,
}

impl<'a> Steps<'a> {
    pub(super) fn new(swap: Loop<'a>) -> Self {
        let Loop { ranges, direction, fee_pips, stops } = swap;
        let Ranges { sqrt_price_x96, tick, liquidity, tick_spacing, ref ticks } = *ranges;
        let below = ticks.partition_point(|other| other.tick <= tick);
        // The contract refuses a swap that starts at or beyond its price limit.
        let ended = match direction {
            Direction::ZeroForOne => sqrt_price_x96 <= limit(direction),
            Direction::OneForZero => sqrt_price_x96 >= limit(direction),
        };
        Self {
            direction,
            fee_pips,
            stops,
            tick_spacing,
            ticks,
            below,
            sqrt_price_x96,
            tick,
            liquidity,
            ended,
        }
    }

    /// The next initialised tick in the direction.
    fn next_initialised(&self) -> Option<Tick> {
        match self.direction {
            Direction::ZeroForOne => self.below.checked_sub(1).map(|index| self.ticks[index]),
            Direction::OneForZero => self.ticks.get(self.below).copied(),
        }
    }

    /// The last tick of the current bitmap word.
    fn word_edge(&self) -> i32 {
        let compressed = self.tick.div_euclid(self.tick_spacing);
        let edge = match self.direction {
            Direction::ZeroForOne => compressed & !255,
            Direction::OneForZero => (compressed + 1) | 255,
        };
        (edge * self.tick_spacing).clamp(MIN_TICK, MAX_TICK)
    }

    /// The next stop of the loop: its tick, and the tick's net liquidity if it is initialised. `None` if there is no
    /// stop before the price limit.
    fn next_stop(&self) -> Option<(i32, Option<i128>)> {
        let initialised = self.next_initialised();
        // Without liquidity every amount is zero, so word ends change nothing.
        if self.liquidity == 0 || self.stops == Stops::Ticks {
            // The lowest and the highest tick are beyond the price limit.
            return initialised.map(|tick| (tick.tick, Some(tick.liquidity_net)));
        }
        let edge = self.word_edge();
        let within = |tick: &Tick| match self.direction {
            Direction::ZeroForOne => tick.tick >= edge,
            Direction::OneForZero => tick.tick <= edge,
        };
        let found = initialised.filter(within).map(|tick| (tick.tick, Some(tick.liquidity_net)));
        Some(found.unwrap_or((edge, None)))
    }

    /// Moves past `stop`, which the price has reached.
    fn pass(&mut self, stop: i32, liquidity_net: Option<i128>) {
        let net = liquidity_net.unwrap_or(0);
        // The sums were checked when the pool was created, so nothing overflows.
        match self.direction {
            Direction::ZeroForOne => {
                self.liquidity = self.liquidity.wrapping_add_signed(net.wrapping_neg());
                self.below -= usize::from(liquidity_net.is_some());
                self.tick = stop - 1;
            }
            Direction::OneForZero => {
                self.liquidity = self.liquidity.wrapping_add_signed(net);
                self.below += usize::from(liquidity_net.is_some());
                self.tick = stop;
            }
        }
    }
}

/// The price limit of a swap that sets none: one inside the contract's bounds.
fn limit(direction: Direction) -> U256 {
    match direction {
        Direction::ZeroForOne => MIN_SQRT_RATIO + U256::ONE,
        Direction::OneForZero => MAX_SQRT_RATIO - U256::ONE,
    }
}

impl Iterator for Steps<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.ended {
            return None;
        }
        let limit = limit(self.direction);
        let stop = self.next_stop();
        let at_stop = stop.and_then(|(tick, _)| sqrt_ratio_at_tick(tick)).unwrap_or(limit);
        let target = match self.direction {
            Direction::ZeroForOne => at_stop.max(limit),
            Direction::OneForZero => at_stop.min(limit),
        };
        let (start, liquidity, tick_before) = (self.sqrt_price_x96, self.liquidity, self.tick);
        let without_fee = step_math::amount_in(self.direction, start, target, liquidity);
        let fee = step_math::fee_on(without_fee, self.fee_pips);
        let reached = stop.filter(|_| target == at_stop);
        match reached {
            Some((tick, net)) => self.pass(tick, net),
            None => self.ended = true,
        }
        self.sqrt_price_x96 = target;
        Some(Step {
            sqrt_price_start_x96: start,
            sqrt_price_end_x96: target,
            liquidity,
            liquidity_after: self.liquidity,
            amount_in: without_fee + fee,
            fee,
            amount_out: step_math::amount_out(self.direction, start, target, liquidity),
            crossed_tick: reached.and_then(|(tick, net)| net.map(|_| tick)),
            tick_before,
            tick_after: reached.map(|_| self.tick),
        })
    }
}
