//! A segment in which the gap may fall as the size grows: a larger sale may pay a lower fee rate, so an amount may fail
//! clearly although a larger one passes; or the formula has branches. The segment is divided into intervals. An upper
//! bound on the output of an interval rules out its upper part or all of it. The upper half is searched first, so the
//! first passing amount is the largest.

use super::grid::Grid;
use super::search::{BudgetExhausted, Descent, Search};
use crate::wide::{U256, U512, U1024};

impl Search<'_> {
    /// The largest passing grid amount in segment `index`, up to `ceiling`.
    pub(super) fn divide(
        &mut self,
        grid: &Grid<'_>,
        index: usize,
        ceiling: U256,
    ) -> Result<Descent, BudgetExhausted> {
        let segment = self.curve.segment(index);
        let start = segment.in_start;
        // Each interval is followed by the part below it, and is at most half as long as the previous one.
        let mut intervals = vec![(start + U256::ONE, ceiling)];
        while let Some((low, high)) = intervals.pop() {
            let top = grid.amount(grid.index_within(high));
            let Some(top) = top.filter(|top| *top >= low) else { continue };
            let out = self.curve.out_within(index, top);
            if self.passes(top, out)? {
                return Ok(Descent::Found(top));
            }
            self.count()?;
            // At a single fee, the lowest of all, the swap without rounding is concave: if an amount fails, all larger
            // ones fail.
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
