//! How large an exit may be within a gap limit.
//!
//! The contract's output is an integer, so the gap as a function of the amount is
//! a fine saw-tooth: an amount may fail while a larger one passes. The answer is
//! the largest amount that passes at all, found in three moves:
//!
//! 1. **Bound.** Without any rounding a swap's output is concave in its input and
//!    never below the contract's. Where even that output (the contract's plus the
//!    most that rounding can have taken) fails, every larger amount fails.
//! 2. **Bisect** the last segment that is not ruled out, by the same argument with
//!    the segment's own, much smaller, rounding.
//! 3. **Descend** the teeth below: an amount `n` that fails with output `y` rules
//!    out every amount above `y`'s largest passing input, because the output never
//!    falls. From above this ends exactly at the largest passing amount.

use super::Exit;
use super::terms::Threshold;
use crate::pools::{Curve, Segment};
use crate::units::{GapLimit, SizeUsd};
use crate::wide::U256;

/// The largest exit within a gap limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaxSize {
    /// The limit asked for.
    pub limit: GapLimit,
    /// The largest size in whole micro-dollars whose own exit passes, so that an
    /// estimate at it never contradicts it; `None`: no size from one cent on does.
    pub size: Option<SizeUsd>,
    /// The largest raw amount of the token sold that passes; zero where none does.
    /// Usually a little above what `size` stands for.
    pub max_amount_in: U256,
    /// What the contract pays for it.
    pub max_amount_out: U256,
    /// What keeps the exit from being larger.
    pub limited_by: LimitedBy,
}

/// What keeps an exit from being larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedBy {
    /// A larger one exceeds the gap.
    Gap,
    /// The pool's liquidity ends; all of it lies within the gap.
    Liquidity,
    /// The largest size there is.
    SizeBound,
}

impl LimitedBy {
    /// The stable code, e.g. `liquidity`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Liquidity => "liquidity",
            Self::SizeBound => "size_bound",
        }
    }
}

/// More teeth than a search may test. Only a limit within about `10^-14` of what
/// an infinitely small sale loses, on a pool of extreme depth, comes to this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no answer after testing {teeth} amounts: the limit {limit} % lies too close to the pool's own price"
)]
pub struct SearchExhausted {
    /// The limit asked for.
    pub limit: GapLimit,
    /// Amounts tested.
    pub teeth: u32,
}

impl Exit {
    /// The largest exit whose gap is at most `limit`.
    pub fn max_size_for(&self, limit: GapLimit) -> Result<MaxSize, SearchExhausted> {
        let threshold = self.terms.threshold(limit);
        let mut search = Search { curve: &self.curve, threshold: &threshold, teeth: 0 };
        let exhausted = |Exhausted| SearchExhausted { limit, teeth: Search::MAX_TEETH };
        let (most, _) = self.curve.most();
        let max_amount_in = search.largest_amount().map_err(exhausted)?;
        let max_amount_out =
            self.curve.fill(max_amount_in).map_or(U256::ZERO, |fill| fill.amount_out);
        let size = self.largest_size(&mut search, max_amount_in).map_err(exhausted)?;
        let limited_by = if size == Some(SizeUsd::MAX) {
            LimitedBy::SizeBound
        } else if max_amount_in == most && !most.is_zero() {
            LimitedBy::Liquidity
        } else {
            LimitedBy::Gap
        };
        Ok(MaxSize { limit, size, max_amount_in, max_amount_out, limited_by })
    }

    /// The largest size whose amount passes, given the largest amount that does.
    fn largest_size(
        &self,
        search: &mut Search<'_>,
        largest_amount: U256,
    ) -> Result<Option<SizeUsd>, Exhausted> {
        let mut ceiling = largest_amount;
        loop {
            let Ok(size) = SizeUsd::from_micros(self.terms.largest_size_within(ceiling)) else {
                return Ok(None);
            };
            let Some(amount) = self.terms.amount_in(size).filter(|amount| !amount.is_zero()) else {
                return Ok(None);
            };
            let Ok(fill) = self.curve.fill(amount) else {
                return Ok(None);
            };
            if search.passes(amount, fill.amount_out) {
                return Ok(Some(size));
            }
            ceiling = search.next_below(amount, fill.amount_out)?;
        }
    }
}

struct Exhausted;

struct Search<'a> {
    curve: &'a Curve,
    threshold: &'a Threshold,
    /// Amounts tested one by one so far.
    teeth: u32,
}

impl Search<'_> {
    /// Some tens of milliseconds.
    const MAX_TEETH: u32 = 1 << 17;

    fn passes(&self, amount_in: U256, amount_out: U256) -> bool {
        !amount_out.is_zero() && self.threshold.passes(amount_in, amount_out)
    }

    /// The largest amount that passes, or zero.
    fn largest_amount(&mut self) -> Result<U256, Exhausted> {
        let (most, paid) = self.curve.most();
        if paid.is_zero() || self.passes(most, paid) {
            return Ok(if paid.is_zero() { U256::ZERO } else { most });
        }
        for index in (0..self.segments_not_ruled_out()).rev() {
            let segment = self.curve.segment(index);
            if segment.in_end == segment.in_start {
                continue;
            }
            if self.passes(segment.in_end, segment.out_end) {
                return Ok(segment.in_end);
            }
            // The output inside is at most the end's, the input at least this.
            if !self.passes(segment.in_start + U256::ONE, segment.out_end) {
                continue;
            }
            if let Some(amount) = self.largest_inside(index, &segment)? {
                return Ok(amount);
            }
        }
        Ok(U256::ZERO)
    }

    /// How many segments, from the start of the sale, can hold a passing amount.
    fn segments_not_ruled_out(&self) -> usize {
        let ruled_out_from = |index: usize| {
            let start = self.curve.segment(index);
            let at_most = start.out_start.saturating_add(self.curve.rounding_before(index));
            !self.threshold.passes(start.in_start, at_most)
        };
        // Nothing rules out the first segment; `high` is ruled out or past the end.
        let (mut low, mut high) = (0, self.curve.segment_count());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if ruled_out_from(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }

    /// The largest passing amount strictly inside a segment whose end fails.
    fn largest_inside(
        &mut self,
        index: usize,
        segment: &Segment,
    ) -> Result<Option<U256>, Exhausted> {
        let start_passes = segment.in_start.is_zero()
            || self.threshold.passes(segment.in_start, segment.out_start);
        let mut amount = if start_passes {
            self.bound_inside(index, segment)
        } else {
            let (price, fee) = (self.curve.mid_at_start(index), self.curve.fee());
            if !self.threshold.improves_at(price, fee) {
                // It starts below the limit and only falls further.
                return Ok(None);
            }
            segment.in_end - U256::ONE
        };
        while amount > segment.in_start {
            let out = self.curve.out_within(index, amount);
            if self.passes(amount, out) {
                return Ok(Some(amount));
            }
            amount = self.next_below(amount, out)?;
        }
        Ok(None)
    }

    /// An amount at or above every passing one inside a segment whose start passes:
    /// from a passing start, what fails by more than rounding fails from there on.
    fn bound_inside(&self, index: usize, segment: &Segment) -> U256 {
        let rounding = self.curve.rounding_within(index);
        let ruled_out_from = |amount: U256| {
            let at_most = self.curve.out_within(index, amount).saturating_add(rounding);
            !self.threshold.passes(amount, at_most)
        };
        let (mut low, mut high) = (segment.in_start, segment.in_end);
        if !ruled_out_from(high) {
            return high - U256::ONE;
        }
        while high - low > U256::ONE {
            let middle = low + ((high - low) >> 1);
            if ruled_out_from(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high - U256::ONE
    }

    /// The next amount worth testing below a failing one.
    fn next_below(&mut self, amount: U256, amount_out: U256) -> Result<U256, Exhausted> {
        if self.teeth == Self::MAX_TEETH {
            return Err(Exhausted);
        }
        self.teeth += 1;
        Ok(self.threshold.largest_input(amount_out).min(amount - U256::ONE))
    }
}
