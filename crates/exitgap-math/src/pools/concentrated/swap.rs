//! The loop of a contract's swap for one direction of a pool.

use super::ranges::Ranges;
use super::steps::Steps;
use super::{fee_of, step_math};
use crate::pools::{Direction, FeeRate, Fill, FillError};
use crate::wide::U256;

/// The stops of a contract's loop, in addition to the price limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stops {
    /// Initialised ticks, and the last tick of every bitmap word of 256 ticks.
    Words,
    /// Only initialised ticks.
    Ticks,
}

/// The loop of a contract's swap: its start state and its rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loop<'a> {
    pub(super) ranges: &'a Ranges,
    pub(super) direction: Direction,
    /// The fee of this direction in millionths, below one million.
    pub(super) fee_pips: u32,
    pub(super) stops: Stops,
}

impl Loop<'_> {
    fn fee(&self) -> FeeRate {
        fee_of(self.fee_pips)
    }

    /// Runs the loop once without a table.
    pub(super) fn fill(&self, amount_in: U256) -> Result<Fill, FillError> {
        if amount_in.is_zero() {
            return Err(FillError::ZeroInput);
        }
        let (mut consumed, mut paid, mut ticks_crossed) = (U256::ZERO, U256::ZERO, 0);
        for step in Steps::new(*self) {
            let remaining = amount_in - consumed;
            if step.amount_in > remaining {
                let (sqrt_price_x96, out) =
                    step_math::partial(self.direction, &step, self.fee_pips, remaining);
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
