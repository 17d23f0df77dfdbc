//! How large an exit may be within a gap limit.
//!
//! The contract's output is an integer, so the gap as a function of the amount is
//! a fine saw-tooth: an amount may fail while a larger one passes. The answer is
//! the largest amount that passes at all, found in three moves:
//!
//! 1. **Bound.** Without any rounding a swap's output is concave in its input and
//!    never below the contract's. Where even the contract's output plus the most that
//!    rounding can have taken fails, every larger amount fails: this rules out whole
//!    segments.
//! 2. **Bisect** the last segment that is not ruled out, on its exact formula without
//!    rounding (kept to `2^-64` of a unit): from a passing start, what fails there
//!    fails from there on.
//! 3. **Descend** the teeth below: an amount `n` that fails with output `y` rules
//!    out every amount above `y`'s largest passing input, because the output never
//!    falls. From above this ends exactly at the largest passing amount.

use super::Exit;
use super::terms::Threshold;
use crate::pools::{Curve, Segment};
use crate::units::{GapLimit, SizeUsd, UsdMicros};
use crate::wide::{U256, U1024};

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

/// More teeth than a search may test. How many there are grows as the limit comes
/// close to what an infinitely small sale loses, the pool's fee and basis. At or below
/// it there are none; on the deepest pools of tokens of 18 decimals there are more than
/// a million within about a ten-thousandth of a percent above it.
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
        let size = self.largest_size(&mut search, max_amount_in, 1).map_err(exhausted)?;
        let limited_by = if size == Some(SizeUsd::MAX) {
            LimitedBy::SizeBound
        } else if max_amount_in == most {
            LimitedBy::Liquidity
        } else {
            LimitedBy::Gap
        };
        Ok(MaxSize { limit, size, max_amount_in, max_amount_out, limited_by })
    }

    /// The depth at `limit` in whole dollars: the largest whole-dollar size whose own
    /// exit passes, 0 where none does. Found over dollars, not over token units, so
    /// that it meets few teeth where [`Exit::max_size_for`] meets many.
    pub fn depth_usd(&self, limit: GapLimit) -> Result<u64, SearchExhausted> {
        const DOLLAR: u64 = 1_000_000;
        let threshold = self.terms.threshold(limit);
        let mut search = Search { curve: &self.curve, threshold: &threshold, teeth: 0 };
        let bound = search.bound();
        let size = self
            .largest_size(&mut search, bound, DOLLAR)
            .map_err(|Exhausted| SearchExhausted { limit, teeth: Search::MAX_TEETH })?;
        Ok(size.map_or(0, |size| UsdMicros::from(size).whole_dollars()))
    }

    /// The largest size, a multiple of `step` micro-dollars, whose amount passes, given
    /// an amount at or above every passing one.
    fn largest_size(
        &self,
        search: &mut Search<'_>,
        bound: U256,
        step: u64,
    ) -> Result<Option<SizeUsd>, Exhausted> {
        let mut ceiling = bound;
        loop {
            let micros = self.terms.largest_size_within(ceiling);
            let Ok(size) = SizeUsd::from_micros(micros - micros % step) else {
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
    /// Some tenths of a second.
    const MAX_TEETH: u32 = 1 << 20;

    fn passes(&self, amount_in: U256, amount_out: U256) -> bool {
        !amount_out.is_zero() && self.threshold.passes(amount_in, amount_out)
    }

    /// The largest amount that passes, or zero.
    fn largest_amount(&mut self) -> Result<U256, Exhausted> {
        let (most, paid) = self.curve.most();
        if self.passes(most, paid) {
            return Ok(most);
        }
        for index in (0..self.segments_not_ruled_out()).rev() {
            let Some(mut amount) = self.bound_of(index) else { continue };
            let segment = self.curve.segment(index);
            while amount > segment.in_start {
                let out = self.curve.out_within(index, amount);
                if self.passes(amount, out) {
                    return Ok(amount);
                }
                amount = self.next_below(amount, out)?;
            }
        }
        Ok(U256::ZERO)
    }

    /// An amount at or above every passing one.
    fn bound(&self) -> U256 {
        let (most, paid) = self.curve.most();
        if self.passes(most, paid) {
            return most;
        }
        let mut segments = (0..self.segments_not_ruled_out()).rev();
        segments.find_map(|index| self.bound_of(index)).unwrap_or(U256::ZERO)
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

    /// An amount at or above every passing one of a segment, its start left out;
    /// `None` where none of it passes.
    fn bound_of(&self, index: usize) -> Option<U256> {
        let segment = self.curve.segment(index);
        // The output inside is at most the end's, the input more than the start's.
        let most = segment.out_end;
        if segment.in_end == segment.in_start || !self.passes(segment.in_start + U256::ONE, most) {
            return None;
        }
        if self.passes(segment.in_end, most) {
            return Some(segment.in_end);
        }
        let start_passes = segment.in_start.is_zero()
            || self.threshold.passes(segment.in_start, segment.out_start);
        let (price, fee) = (self.curve.mid_at_start(index), self.curve.fee());
        if !start_passes && !self.threshold.improves_at(price, fee) {
            // It starts below the limit and only falls further.
            return None;
        }
        let bound = self.bound_inside(index, &segment, start_passes);
        (bound > segment.in_start).then_some(bound)
    }

    /// The same for a segment whose end fails. May be the segment's start.
    ///
    /// Without rounding the segment's output is concave. Where its start passes, an
    /// amount at which it fails is followed by failing ones only. Where its start
    /// fails, the same holds of what the segment adds to the start, amounts and
    /// outputs alike: what adds less than the limit asks for does not make up for it.
    fn bound_inside(&self, index: usize, segment: &Segment, start_passes: bool) -> U256 {
        let ruled_out_from = |amount: U256| {
            if start_passes && self.passes(amount, self.curve.out_within(index, amount)) {
                return false;
            }
            let added = amount - segment.in_start;
            let ideal = U1024::from(self.curve.ideal_within(index, added));
            let (amount, out) = if start_passes {
                (amount, (U1024::from(segment.out_start) << 64) + ideal)
            } else {
                (added, ideal)
            };
            !self.threshold.passes_wide(U1024::from(amount) << 64, out)
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
        if amount_out.is_zero() {
            // No smaller amount pays more than nothing.
            return Ok(U256::ZERO);
        }
        if self.teeth == Self::MAX_TEETH {
            return Err(Exhausted);
        }
        self.teeth += 1;
        Ok(self.threshold.largest_input(amount_out).min(amount - U256::ONE))
    }
}
