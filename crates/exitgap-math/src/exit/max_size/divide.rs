//! A segment in which the gap may fall where the size grows: a larger sale may pay a smaller share of
//! itself as fee, so an amount may fail by far while a larger one passes; or a formula has branches. The segment is divided into intervals,
//! and what no amount of an interval can pay rules out its upper part, or all of it. The upper
//! half is looked at first, so what is found is the largest.

use super::grid::Grid;
use super::search::{BudgetExhausted, Descent, Search};
use crate::wide::{U256, U512, U1024};

impl Search<'_> {
    /// The largest passing amount of the grid in segment `index`, up to `ceiling`.
    pub(super) fn divide(
        &mut self,
        grid: &Grid<'_>,
        index: usize,
        ceiling: U256,
    ) -> Result<Descent, BudgetExhausted> {
        let segment = self.curve.segment(index);
        let start = segment.in_start;
        // Each interval is followed by what lies below it; none is longer than half the one before.
        let mut intervals = vec![(start + U256::ONE, ceiling)];
        while let Some((low, high)) = intervals.pop() {
            let top = grid.amount(grid.index_within(high));
            let Some(top) = top.filter(|top| *top >= low) else { continue };
            let out = self.curve.out_within(index, top);
            if self.passes(top, out)? {
                return Ok(Descent::Found(top));
            }
            self.count()?;
            // At one fee, the least of them all, the swap without rounding is concave: what fails there
            // fails from there on.
            let fails = |ideal: U512| {
                let out = (U1024::from(segment.out_start) << 64) + U1024::from(ideal);
                !self.threshold.passes_wide(U1024::from(low) << 64, out)
            };
            let most = self.curve.most_between(index, (low, top), out, &fails);
            let Some(most) = most else { continue };
            self.count()?;
            let high = self.threshold.largest_input(most).min(top - U256::ONE);
            if most.is_zero() || high < low {
                continue;
            }
            if top - high > (top - low) >> 1 {
                intervals.push((low, high));
                continue;
            }
            let middle = low + ((high - low) >> 1);
            intervals.push((low, middle));
            if middle < high {
                intervals.push((middle + U256::ONE, high));
            }
        }
        Ok(Descent::Below(start))
    }
}
