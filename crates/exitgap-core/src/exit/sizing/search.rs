//! Bounds of a search, and its way through the segments.

use super::grid::Grid;
use crate::exit::terms::Threshold;
use crate::pools::{Curve, Segment};
use crate::wide::{U256, U1024};

/// The search was given up.
pub(super) struct Exhausted {
    /// Amounts tested until then.
    pub teeth: u32,
}

/// An amount and the segment that it lies in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub index: usize,
    pub amount: U256,
}

/// What a segment's descent ends with.
pub(super) enum Descent {
    /// Its largest passing amount.
    Found(U256),
    /// None of it passes, nor does any amount above this one.
    Below(U256),
}

/// One search for the largest passing amount.
pub(super) struct Search<'a> {
    pub(super) curve: &'a Curve,
    pub(super) threshold: &'a Threshold,
    /// Amounts tested one after the other so far.
    pub(super) walked: u32,
    /// Amounts tested so far that were singled out by their residues.
    pub(super) singled_out: u32,
}

impl<'a> Search<'a> {
    pub(super) fn new(curve: &'a Curve, threshold: &'a Threshold) -> Self {
        Self { curve, threshold, walked: 0, singled_out: 0 }
    }

    pub(super) fn passes(&self, amount_in: U256, amount_out: U256) -> bool {
        !amount_out.is_zero() && self.threshold.passes(amount_in, amount_out)
    }

    /// The largest amount that passes, or zero.
    pub(super) fn largest_amount(&mut self) -> Result<Bound, Exhausted> {
        let bound = self.bound();
        let largest = self.largest_on(&Grid::Units, bound)?;
        Ok(largest.unwrap_or(Bound { index: 0, amount: U256::ZERO }))
    }

    /// The largest amount of the grid that passes, given a bound that lies on it.
    pub(super) fn largest_on(
        &mut self,
        grid: &Grid<'_>,
        bound: Bound,
    ) -> Result<Option<Bound>, Exhausted> {
        let Bound { mut index, amount: mut ceiling } = bound;
        while !ceiling.is_zero() {
            match self.descend(grid, index, ceiling)? {
                Descent::Found(amount) => return Ok(Some(Bound { index, amount })),
                Descent::Below(amount) => ceiling = amount,
            }
            let Some(below) = self.last_bound(index, ceiling) else { break };
            Bound { index, amount: ceiling } = below;
        }
        Ok(None)
    }

    /// An amount at or above every passing one.
    pub(super) fn bound(&self) -> Bound {
        let (most, paid) = self.curve.most();
        if self.passes(most, paid) {
            return Bound { index: self.curve.segment_count() - 1, amount: most };
        }
        let bound = self.last_bound(self.segments_not_ruled_out(), most);
        bound.unwrap_or(Bound { index: 0, amount: U256::ZERO })
    }

    /// The largest amount of the grid within a bound; `None` where there is none.
    pub(super) fn bound_on(&self, grid: &Grid<'_>, bound: Bound) -> Option<Bound> {
        let amount = grid.amount(grid.index_within(bound.amount))?;
        let (mut low, mut high) = (0, bound.index);
        // The first segment that does not end before the amount.
        while low < high {
            let middle = low + (high - low) / 2;
            if self.curve.segment(middle).in_end < amount {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Some(Bound { index: low, amount })
    }

    /// An amount at or above every passing one of the segments before `end` and of the
    /// amounts up to `ceiling`.
    fn last_bound(&self, end: usize, ceiling: U256) -> Option<Bound> {
        (0..end).rev().find_map(|index| {
            let starts_below = self.curve.segment(index).in_start < ceiling;
            let amount = if starts_below { self.bound_of(index)? } else { return None };
            Some(Bound { index, amount: amount.min(ceiling) })
        })
    }

    /// How many segments, from the start of the sale, can hold a passing amount.
    fn segments_not_ruled_out(&self) -> usize {
        // Nothing rules out the first segment; `high` is ruled out or past the end.
        let (mut low, mut high) = (0, self.curve.segment_count());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.rules_out_from(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }

    /// Whether everything from the start of segment `index` on fails, by what is paid up to
    /// there alone; `index` may be one past the last segment.
    pub(super) fn rules_out_from(&self, index: usize) -> bool {
        let (amount, paid) = match index.checked_sub(1) {
            None => return false,
            Some(last) => (self.curve.segment(last).in_end, self.curve.segment(last).out_end),
        };
        let at_most = paid.saturating_add(self.curve.rounding_before(index));
        !self.threshold.passes(amount, at_most)
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
}
