//! The teeth of one segment.
//!
//! If an amount fails with output `y`, every amount above the largest passing input for `y` fails as well, because the
//! output never falls. If the limit is close to the loss of an infinitely small sale, millions of consecutive teeth
//! still fail, each by a fraction of a unit. The descent then goes block by block, each block as long as all previous
//! ones together: because the segment's formula is concave, it bounds how far any amount of a block can be above the
//! limit, and only amounts with a matching residue ([`Residues`]) are tested.

use super::grid::Grid;
use super::residues::{FeeClasses, Residues, Row};
use super::search::{BudgetExhausted, Descent, Search};
use crate::pools::Segment;
use crate::wide::{U256, U1024, over};

/// The current state of a segment's descent.
struct Walk<'a> {
    grid: &'a Grid<'a>,
    index: usize,
    segment: Segment,
    /// No amount above this one passes.
    ceiling: U256,
}

impl Search<'_> {
    /// The number of teeth of a segment that are tested before it is worth setting up blocks.
    const FIRST_TEETH: u32 = 48;
    /// The number of last teeth of a segment that are tested one after the other.
    const LAST_TEETH: u32 = 64;
    /// A block with at most this many teeth is tested tooth by tooth instead of being shortened further.
    const WALKED_TEETH: u64 = 2_048;
    /// The number of amounts that are singled out in one block.
    const TESTS_OF_A_BLOCK: u32 = 64;

    /// The largest passing grid amount in segment `index`, up to `ceiling`.
    pub(super) fn descend(
        &mut self,
        grid: &Grid<'_>,
        index: usize,
        ceiling: U256,
    ) -> Result<Descent, BudgetExhausted> {
        if self.curve.divides() {
            return self.divide(grid, index, ceiling);
        }
        let segment = self.curve.segment(index);
        let walk = &mut Walk { grid, index, segment, ceiling };
        if let Some(end) = self.walk_to(walk, U256::ZERO, Self::FIRST_TEETH)? {
            return Ok(end);
        }
        let tooth = over(ceiling - walk.ceiling, U256::from(Self::FIRST_TEETH));
        let residues =
            if self.rows_left() > 0 { Residues::new(grid, self.threshold, tooth) } else { None };
        let Some(residues) = residues else { return self.walk_down(walk) };
        let fee = FeeClasses::new(self.curve).filter(|_| matches!(grid, Grid::Units));
        let taken = fee.as_ref().map_or(U256::ZERO, FeeClasses::most_taken);
        let mut shorter = 0_usize;
        loop {
            // As long as all previous blocks together, and the segment must continue at least as far below it.
            let room = walk.ceiling.saturating_sub(segment.in_start);
            let length = ((ceiling - walk.ceiling) >> shorter).max(taken + U256::from(2));
            let length = length.min(room >> 1);
            let teeth = grid.index_within(walk.ceiling)
                - grid.index_within(walk.ceiling.min(segment.in_start));
            let spent = self.rows_left() == 0;
            if spent || teeth <= U256::from(Self::LAST_TEETH) || length <= taken + U256::ONE {
                return self.walk_down(walk);
            }
            let (length, rows) = self.filter_rows(walk, &residues, fee.as_ref(), length);
            // The fee's rounding makes the block depend on up to `taken` units below an amount.
            let low = walk.ceiling - length + taken;
            let end = match rows {
                None => self.walk_to(walk, low, u32::MAX)?,
                Some(rows) => self.single_out(walk, &residues, rows, low)?,
            };
            if let Some(end) = end {
                return Ok(end);
            }
            shorter = if walk.ceiling > low { shorter + 1 } else { 0 };
        }
    }

    /// The rows of the block of `length` below the ceiling, or of its upper half, and so on, until they exclude enough
    /// amounts. `None` if the remaining block is short and should be tested tooth by tooth.
    fn filter_rows(
        &self,
        walk: &Walk<'_>,
        residues: &Residues,
        fee: Option<&FeeClasses>,
        mut length: U256,
    ) -> (U256, Option<Vec<Row>>) {
        loop {
            let rows = match self.headroom(walk, walk.ceiling - length, length) {
                // No amount of the block passes.
                None => Some(Vec::new()),
                Some(headroom) => residues.rows(fee, headroom, length),
            };
            if rows.is_some() || residues.teeth(length) <= Self::WALKED_TEETH {
                return (length, rows);
            }
            length >>= 1;
        }
    }

    /// Tests one tooth after the other.
    fn walk_down(&mut self, walk: &mut Walk<'_>) -> Result<Descent, BudgetExhausted> {
        loop {
            if let Some(end) = self.walk_to(walk, U256::ZERO, u32::MAX)? {
                return Ok(end);
            }
        }
    }

    /// Tests one tooth after the other down to `low`, exclusive, but at most `most` of them.
    fn walk_to(
        &mut self,
        walk: &mut Walk<'_>,
        low: U256,
        most: u32,
    ) -> Result<Option<Descent>, BudgetExhausted> {
        for _ in 0..most {
            let top = walk.grid.amount(walk.grid.index_within(walk.ceiling));
            let Some(amount) = top.filter(|amount| *amount > walk.segment.in_start) else {
                return Ok(Some(Descent::Below(top.unwrap_or(U256::ZERO))));
            };
            if amount <= low {
                walk.ceiling = amount;
                break;
            }
            if self.test(walk, amount)? {
                return Ok(Some(Descent::Found(amount)));
            }
        }
        Ok(None)
    }

    /// Tests the amounts of the rows down to `low`, exclusive, up to a limit: a shorter block leaves fewer amounts.
    fn single_out(
        &mut self,
        walk: &mut Walk<'_>,
        residues: &Residues,
        mut rows: Vec<Row>,
        low: U256,
    ) -> Result<Option<Descent>, BudgetExhausted> {
        for _ in 0..Self::TESTS_OF_A_BLOCK {
            let (start, range) = (walk.segment.in_start, (low, walk.ceiling));
            let looked = 1 + rows.iter().filter(|row| row.next > walk.ceiling).count();
            let looked = u32::try_from(looked).unwrap_or(u32::MAX);
            let too_many = looked > self.rows_left();
            self.singled_out = self.singled_out.saturating_add(looked);
            if too_many {
                break;
            }
            rows.retain_mut(|row| row.look(walk.grid, residues, start, range));
            let Some(amount) = rows.iter().map(|row| row.next).max() else {
                walk.ceiling = walk.ceiling.min(low);
                break;
            };
            if self.test(walk, amount)? {
                return Ok(Some(Descent::Found(amount)));
            }
            if walk.ceiling <= low {
                break;
            }
        }
        Ok(None)
    }

    /// Whether the amount passes. If not, lowers the ceiling to the next amount that can pass.
    fn test(&mut self, walk: &mut Walk<'_>, amount: U256) -> Result<bool, BudgetExhausted> {
        let out = self.curve.out_within(walk.index, amount);
        if self.passes(amount, out)? {
            return Ok(true);
        }
        // No smaller amount pays more. If this one pays nothing, none pays anything.
        let most = self.curve.out_at_most(walk.index, walk.segment.in_start, amount, out);
        walk.ceiling = if most.is_zero() {
            U256::ZERO
        } else {
            self.threshold.largest_input(most).min(amount - U256::ONE)
        };
        Ok(false)
    }

    /// The maximum by which the output of an amount between `low` and `low + length` can outweigh its input; `None` if
    /// it never does. The segment must continue equally far below `low`: because of concavity, this difference rises
    /// above `low` by at most as much as it rose before.
    fn headroom(&self, walk: &Walk<'_>, low: U256, length: U256) -> Option<U1024> {
        let (out_weight, in_weight) = self.threshold.weights();
        // In units of 2^-64. The output is rounded up by less than two of them.
        let weights = |amount: U256| {
            let ideal = self.curve.ideal_within(walk.index, amount - walk.segment.in_start);
            let out = (U1024::from(walk.segment.out_start) << 64) + U1024::from(ideal);
            (out * out_weight, (U1024::from(amount) << 64) * in_weight)
        };
        let (out, input) = weights(low);
        let (out_before, input_before) = weights(low - length);
        let rise = out + (out_weight << 1) + input_before;
        let rise = rise.checked_sub(input + out_before).unwrap_or(U1024::ZERO);
        let highest = out + rise;
        highest.checked_sub(input).map(|headroom| headroom >> 64)
    }
}
