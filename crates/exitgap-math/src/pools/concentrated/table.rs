//! The step table. The loop's full steps depend only on the pool's state, so they are computed and summed once. A fill
//! is then one binary search and one partial step, however many ticks it crosses.

use super::steps::{Step, Steps};
use super::swap::{Loop, Stops};
use super::{fee_of, step_math};
use crate::pools::kind::Sale;
use crate::pools::{Direction, FeeRate, Fill, FillError, FillStep, RawPrice, Segment};
use crate::wide::{U256, U512, narrow, times};

/// The full steps of one direction of a pool, with running sums.
#[derive(Debug, Clone)]
pub(in crate::pools) struct StepTable {
    direction: Direction,
    fee_pips: u32,
    sqrt_price_x96: U256,
    /// The input up to and including each step. A fill searches this list.
    in_sums: Vec<U256>,
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    step: Step,
    /// The output up to and including the step.
    out_sum: U256,
    /// The number of initialised ticks crossed up to and including the step.
    ticks_crossed: u32,
}

impl StepTable {
    /// Goes through every stop of the contract's loop from the pool's price to the end of its liquidity.
    pub(super) fn build(swap: Loop<'_>) -> Self {
        let mut table = Self::empty(swap, most_stops(swap));
        table.extend(Steps::new(swap));
        // Few pools have as many steps, and the unused memory would be held as long as the table.
        table.in_sums.shrink_to_fit();
        table.rows.shrink_to_fit();
        table
    }

    /// A table without steps, with capacity for `room` steps.
    pub(super) fn empty(swap: Loop<'_>, room: usize) -> Self {
        Self {
            direction: swap.direction,
            fee_pips: swap.fee_pips,
            sqrt_price_x96: swap.ranges.sqrt_price_x96(),
            in_sums: Vec::with_capacity(room),
            rows: Vec::with_capacity(room),
        }
    }

    /// Adds the next steps.
    pub(super) fn extend(&mut self, steps: impl Iterator<Item = Step>) {
        let Sums { mut amount_in, mut amount_out, mut ticks_crossed } = self.before(self.len());
        for step in steps {
            // Both ends of each step are within the contract's price bounds: all steps together move less than 2^192
            // units before fees, and the fee multiplies that by at most 10^6.
            amount_in += step.amount_in;
            amount_out += step.amount_out;
            ticks_crossed += u32::from(step.crossed_tick.is_some());
            self.in_sums.push(amount_in);
            self.rows.push(Row { step, out_sum: amount_out, ticks_crossed });
        }
    }

    /// The maximum of [`Sale::held_bytes`], computed without building the table.
    pub(super) fn held_bytes_at_most(swap: Loop<'_>) -> usize {
        most_stops(swap) * (size_of::<U256>() + size_of::<Row>())
    }

    /// The number of full steps.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    fn sqrt_price_at_start(&self, index: usize) -> U256 {
        self.rows.get(index).map_or_else(
            || self.rows.last().map_or(self.sqrt_price_x96, |row| row.step.sqrt_price_end_x96),
            |row| row.step.sqrt_price_start_x96,
        )
    }

    fn price(&self, sqrt_price_x96: U256) -> RawPrice {
        RawPrice::of_sqrt(sqrt_price_x96, self.direction)
    }

    /// Output units per input unit at a √price, rounded up, at most `2^128`.
    fn price_rounded_up(&self, sqrt_price_x96: U256) -> U256 {
        let price = self.price(sqrt_price_x96);
        narrow(price.numerator / price.denominator).unwrap_or(U256::MAX >> 2) + U256::ONE
    }

    /// The sums before step `index`.
    fn before(&self, index: usize) -> Sums {
        match index.checked_sub(1) {
            None => Sums { amount_in: U256::ZERO, amount_out: U256::ZERO, ticks_crossed: 0 },
            Some(last) => Sums {
                amount_in: self.in_sums[last],
                amount_out: self.rows[last].out_sum,
                ticks_crossed: self.rows[last].ticks_crossed,
            },
        }
    }
}

impl Sale for StepTable {
    fn direction(&self) -> Direction {
        self.direction
    }

    fn mid(&self) -> RawPrice {
        self.price(self.sqrt_price_x96)
    }

    fn mid_after(&self, fill: &Fill) -> RawPrice {
        self.price(fill.sqrt_price_after_x96().unwrap_or(self.sqrt_price_x96))
    }

    fn least_fee(&self) -> FeeRate {
        fee_of(self.fee_pips)
    }

    fn fill(&self, amount_in: U256) -> Result<Fill, FillError> {
        if amount_in.is_zero() {
            return Err(FillError::ZeroInput);
        }
        let index = self.in_sums.partition_point(|sum| *sum < amount_in);
        let Some(row) = self.rows.get(index) else {
            let (consumed, paid) = self.most();
            return Err(FillError::BeyondLiquidity { consumed, paid });
        };
        if self.in_sums[index] == amount_in {
            let end = Some(row.step.end(row.ticks_crossed));
            return Ok(Fill { amount_in, amount_out: row.out_sum, fee: self.least_fee(), end });
        }
        let before = self.before(index);
        let remaining = amount_in - before.amount_in;
        let (sqrt_price_x96, out) =
            step_math::partial(self.direction, &row.step, self.fee_pips, remaining);
        let end = Some(row.step.partial_end(sqrt_price_x96, before.ticks_crossed));
        let amount_out = before.amount_out + out;
        Ok(Fill { amount_in, amount_out, fee: self.least_fee(), end })
    }

    fn fill_steps(&self, amount_in: U256) -> Result<Vec<FillStep>, FillError> {
        let fill = self.fill(amount_in)?;
        let full = self.in_sums.partition_point(|sum| *sum < amount_in);
        let mut steps: Vec<FillStep> = self.rows[..full].iter().map(FillStep::from).collect();
        let (row, before) = (&self.rows[full], self.before(full));
        if self.in_sums[full] == amount_in {
            steps.push(FillStep::from(row));
        } else {
            let (taken, paid) = (amount_in - before.amount_in, fill.amount_out - before.amount_out);
            let end = fill.sqrt_price_after_x96().unwrap_or(row.step.sqrt_price_start_x96);
            let start = row.step.sqrt_price_start_x96;
            let moved = step_math::amount_in(self.direction, start, end, row.step.liquidity);
            steps.push(FillStep {
                amount_in: taken,
                // The part that did not move the price.
                fee: taken.saturating_sub(moved),
                amount_out: paid,
                sqrt_price_after_x96: Some(end),
                liquidity: Some(row.step.liquidity),
                crossed_tick: None,
            });
        }
        Ok(steps)
    }

    fn most(&self) -> (U256, U256) {
        let last = self.before(self.rows.len());
        (last.amount_in, last.amount_out)
    }

    fn segment_count(&self) -> usize {
        self.len()
    }

    fn segment(&self, index: usize) -> Segment {
        let before = self.before(index);
        Segment {
            in_start: before.amount_in,
            out_start: before.amount_out,
            in_end: self.in_sums[index],
            out_end: self.rows[index].out_sum,
        }
    }

    fn out_within(&self, index: usize, amount_in: U256) -> U256 {
        if self.in_sums[index] == amount_in {
            return self.rows[index].out_sum;
        }
        let before = self.before(index);
        let remaining = amount_in - before.amount_in;
        let step = &self.rows[index].step;
        before.amount_out + step_math::partial(self.direction, step, self.fee_pips, remaining).1
    }

    fn ideal_within(&self, index: usize, added: U256) -> U512 {
        step_math::ideal_out(self.direction, &self.rows[index].step, self.fee_pips, added)
    }

    fn fee_rounded_first(&self) -> Option<FeeRate> {
        Some(self.least_fee())
    }

    /// Each full step rounds its output down by less than one unit. It rounds its input up by less than one unit before
    /// the fee and by less than one unit after it: less than `1 ÷ (1 − fee) + 1` units, each worth at most `1 − fee`
    /// times the price at the end of the steps. In total this is less than twice that price.
    fn rounding_before(&self, index: usize) -> U256 {
        let price = self.price_rounded_up(self.sqrt_price_at_start(index));
        times(U256::from(index), (price << 1) + U256::ONE)
    }

    fn mid_at_start(&self, index: usize) -> RawPrice {
        self.price(self.sqrt_price_at_start(index))
    }

    /// The size of its rows in bytes.
    fn held_bytes(&self) -> usize {
        self.in_sums.capacity() * size_of::<U256>() + self.rows.capacity() * size_of::<Row>()
    }
}

/// The maximum number of stops. Growing a table would copy it and fragment memory. Every initialised tick is a stop,
/// and so is every end of a bitmap word up to the last tick.
fn most_stops(swap: Loop<'_>) -> usize {
    let ticks = swap.ranges.ticks();
    let end = match swap.direction {
        Direction::ZeroForOne => ticks.first(),
        Direction::OneForZero => ticks.last(),
    };
    let span = end.map_or(0, |end| swap.ranges.tick().abs_diff(end.tick));
    let words = match swap.stops {
        Stops::Words => span / swap.ranges.tick_spacing().unsigned_abs() / 256,
        Stops::Ticks => 0,
    };
    ticks.len() + usize::try_from(words).unwrap_or(0) + 2
}

struct Sums {
    amount_in: U256,
    amount_out: U256,
    ticks_crossed: u32,
}

impl From<&Row> for FillStep {
    fn from(Row { step, .. }: &Row) -> Self {
        Self {
            amount_in: step.amount_in,
            fee: step.fee,
            amount_out: step.amount_out,
            sqrt_price_after_x96: Some(step.sqrt_price_end_x96),
            liquidity: Some(step.liquidity),
            crossed_tick: step.crossed_tick,
        }
    }
}
