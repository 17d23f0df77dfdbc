//! Bounds a search and goes through the segments.

use super::grid::Grid;
use crate::exit::terms::Threshold;
use crate::pools::{SaleCurve, Segment};
use crate::wide::{U256, U1024};

/// The search reached its limit of comparisons.
#[derive(Debug)]
pub(super) struct BudgetExhausted {
    /// The number of comparisons with the limit so far.
    pub comparisons: u32,
}

/// An amount and its segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub index: usize,
    pub amount: U256,
}

/// The result of a segment's descent.
pub(super) enum Descent {
    /// Its largest passing amount.
    Found(U256),
    /// No amount of the segment passes, and none above this amount.
    Below(U256),
}

/// One search for the largest passing amount.
pub(super) struct Search<'a> {
    pub(super) curve: &'a SaleCurve,
    pub(super) threshold: &'a Threshold,
    /// The number of segments to search from the start of the sale. No later amount passes.
    segments: usize,
    effort: Effort,
    /// The number of amounts and outputs compared with the limit so far.
    comparisons: u32,
    /// The number of rows searched so far for amounts with a matching residue.
    pub(super) singled_out: u32,
}

/// When a search is given up. It counts comparisons instead of time, so that every machine gives up on the same
/// requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// The maximum number of comparisons of an amount and an output with the limit.
    pub comparisons: u32,
    /// The maximum number of rows that are searched by residues; after that, every tooth is tested. `None`: residues
    /// are not used.
    pub singled_out: Option<u32>,
}

impl<'a> Search<'a> {
    pub(super) fn new(curve: &'a SaleCurve, threshold: &'a Threshold, effort: Effort) -> Self {
        let segments = segments_to_search(curve, threshold);
        Self { curve, threshold, segments, effort, comparisons: 0, singled_out: 0 }
    }

    /// Counts one comparison; fails if the maximum is reached.
    pub(super) fn count(&mut self) -> Result<(), BudgetExhausted> {
        if self.comparisons == self.effort.comparisons {
            return Err(BudgetExhausted { comparisons: self.comparisons });
        }
        self.comparisons += 1;
        Ok(())
    }

    /// The number of rows that may still be searched.
    pub(super) fn rows_left(&self) -> u32 {
        self.effort.singled_out.unwrap_or(0).saturating_sub(self.singled_out)
    }

    pub(super) fn passes(
        &mut self,
        amount_in: U256,
        amount_out: U256,
    ) -> Result<bool, BudgetExhausted> {
        self.count()?;
        Ok(!amount_out.is_zero() && self.threshold.passes(amount_in, amount_out))
    }

    /// The largest passing amount, or zero.
    pub(super) fn largest_amount(&mut self) -> Result<Bound, BudgetExhausted> {
        let bound = self.bound()?;
        let largest = self.largest_on(&Grid::Units, bound)?;
        Ok(largest.unwrap_or(Bound { index: 0, amount: U256::ZERO }))
    }

    /// The largest passing grid amount, given a bound that is on the grid.
    pub(super) fn largest_on(
        &mut self,
        grid: &Grid<'_>,
        bound: Bound,
    ) -> Result<Option<Bound>, BudgetExhausted> {
        let Bound { mut index, amount: mut ceiling } = bound;
        while !ceiling.is_zero() {
            match self.descend(grid, index, ceiling)? {
                Descent::Found(amount) => return Ok(Some(Bound { index, amount })),
                Descent::Below(amount) => ceiling = amount,
            }
            let Some(below) = self.last_bound(index, ceiling)? else { break };
            Bound { index, amount: ceiling } = below;
        }
        Ok(None)
    }

    /// An amount at or above every passing one.
    pub(super) fn bound(&mut self) -> Result<Bound, BudgetExhausted> {
        let none = Bound { index: 0, amount: U256::ZERO };
        let Some(last) = self.segments.checked_sub(1) else { return Ok(none) };
        let Segment { in_end: most, out_end: paid, .. } = self.curve.segment(last);
        if self.passes(most, paid)? {
            return Ok(Bound { index: last, amount: most });
        }
        let end = self.segments_not_ruled_out()?;
        Ok(self.last_bound(end, most)?.unwrap_or(none))
    }

    /// The largest grid amount within a bound; `None` if there is none.
    pub(super) fn bound_on(&self, grid: &Grid<'_>, bound: Bound) -> Option<Bound> {
        let amount = grid.amount(grid.index_within(bound.amount))?;
        let (mut low, mut high) = (0, bound.index);
        // The first segment that ends at or after the amount.
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

    /// An amount at or above every passing amount up to `ceiling` in the segments before `end`.
    fn last_bound(&mut self, end: usize, ceiling: U256) -> Result<Option<Bound>, BudgetExhausted> {
        for index in (0..end).rev() {
            if self.curve.segment(index).in_start >= ceiling {
                continue;
            }
            if let Some(amount) = self.bound_of(index)? {
                return Ok(Some(Bound { index, amount: amount.min(ceiling) }));
            }
        }
        Ok(None)
    }

    /// The number of segments from the start of the sale that can contain a passing amount.
    fn segments_not_ruled_out(&mut self) -> Result<usize, BudgetExhausted> {
        // The first segment is never ruled out; `high` is ruled out or after the last segment.
        let (mut low, mut high) = (0, self.segments);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            self.count()?;
            if rules_out_from(self.curve, self.threshold, middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(high)
    }

    /// An amount at or above every passing amount of a segment, excluding its start; `None` if no amount of it passes.
    fn bound_of(&mut self, index: usize) -> Result<Option<U256>, BudgetExhausted> {
        let segment = self.curve.segment(index);
        // Inside the segment the output is at most that of its end, and the input is more than that of its start.
        let most = segment.out_end;
        if segment.in_end == segment.in_start || !self.passes(segment.in_start + U256::ONE, most)? {
            return Ok(None);
        }
        if self.passes(segment.in_end, most)? {
            return Ok(Some(segment.in_end));
        }
        let start_passes = segment.in_start.is_zero()
            || self.threshold.passes(segment.in_start, segment.out_start);
        let (price, fee) = (self.curve.mid_at_start(index), self.curve.least_fee());
        if !start_passes && !self.threshold.improves_at(price, fee) {
            // The start is already below the limit, and the price only falls further.
            return Ok(None);
        }
        let bound = self.bound_inside(index, &segment, start_passes)?;
        Ok((bound > segment.in_start).then_some(bound))
    }

    /// Same for a segment whose end fails. The result may be the segment's start.
    ///
    /// Without rounding, the segment's output is concave. If its start passes, all amounts after a failing amount fail.
    /// If its start fails, the same applies to the amounts and outputs added to the start: an addition that is below
    /// the limit cannot compensate.
    fn bound_inside(
        &mut self,
        index: usize,
        segment: &Segment,
        start_passes: bool,
    ) -> Result<U256, BudgetExhausted> {
        // An amount that would need more than the whole output of the segment fails.
        let most = self.threshold.largest_input(segment.out_end).saturating_add(U256::ONE);
        if self.curve.by_secants() && segment.in_start.is_zero() {
            return self.bound_by_secants(index, segment.in_end.min(most));
        }
        let mut ruled_out_from = |amount: U256| {
            if start_passes && self.passes(amount, self.curve.out_within(index, amount))? {
                return Ok(false);
            }
            self.count()?;
            let added = amount - segment.in_start;
            let ideal = U1024::from(self.curve.ideal_within(index, added));
            let (amount, out) = if start_passes {
                (amount, (U1024::from(segment.out_start) << 64) + ideal)
            } else {
                (added, ideal)
            };
            Ok(!self.threshold.passes_wide(U1024::from(amount) << 64, out))
        };
        let (mut low, mut high) = (segment.in_start, segment.in_end.min(most));
        if !ruled_out_from(high)? {
            return Ok(high - U256::ONE);
        }
        while high - low > U256::ONE {
            let middle = low + ((high - low) >> 1);
            if ruled_out_from(middle)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(high - U256::ONE)
    }
}

/// The number of segments of the shortest piece of a curve after which nothing passes. The result does not depend on
/// how much more of the curve is available, so a search gives up in the same cases.
fn segments_to_search(curve: &SaleCurve, threshold: &Threshold) -> usize {
    let whole = curve.segment_count();
    let pieces = core::iter::successors(Some(SaleCurve::FIRST_PIECE), |piece| piece.checked_mul(2));
    let mut shorter = pieces.take_while(|piece| *piece < whole);
    shorter.find(|piece| rules_out_from(curve, threshold, *piece)).unwrap_or(whole)
}

/// Whether everything from the start of segment `index` fails, judged only by the output up to that point. `index` may
/// be one after the last segment.
pub(super) fn rules_out_from(curve: &SaleCurve, threshold: &Threshold, index: usize) -> bool {
    let (amount, paid) = match index.checked_sub(1) {
        None => return false,
        Some(last) => (curve.segment(last).in_end, curve.segment(last).out_end),
    };
    let at_most = paid.saturating_add(curve.rounding_before(index));
    !threshold.passes(amount, at_most)
}
