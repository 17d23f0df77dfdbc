//! Which amounts are worth testing, for what their inputs weigh alone.

use super::euclid::first_multiple_within;
use super::grid::Grid;
use crate::exit::terms::Threshold;
use crate::pools::SaleCurve;
use crate::wide::{U256, U512, U1024, narrow, product, remainder};

/// Which indices of a grid can pass for what their inputs weigh alone.
///
/// With `ow`, `iw` the threshold's weights, an amount `n` passes with an output that is
/// at least the least whole `y` with `y·ow ≥ n·iw`. Where the output weighs at most `T`
/// more than the input, `y·ow − n·iw ≤ T` too, so the residue of `−n·iw` by `ow` is at
/// most `T`. For an amount `n = (i·scale − ρ) ÷ per` with some `0 ≤ ρ < per` the same
/// says: `slack − i·scale·iw`, by `per·ow`, is at most `per·T + slack`, where
/// `slack = (per − 1)·iw`.
pub(super) struct Residues {
    per: U1024,
    in_weight: U1024,
    out_weight: U1024,
    /// What one index more takes off the residue, below the modulus.
    factor: U1024,
    modulus: U1024,
    slack: U1024,
    /// How many times as wide teeth are as the weights alone make them, rounded down, at
    /// least 1: a price that moves in coarse steps makes them wider.
    coarseness: u64,
}

impl Residues {
    /// So that the product of two stays within 1024 bits.
    const MODULUS_BITS: usize = 510;
    /// Where no more than one of `2^6` indices is left, the search for it is worth it …
    const LEAST_LEFT_OUT: usize = 6;
    /// … and with so many teeth wherever any is left out: the weights may be such that
    /// far fewer are left than by chance.
    const MANY_TEETH: u64 = 4_096;

    /// For a segment whose teeth were found to be `tooth` wide; `None` where the weights
    /// are too wide.
    pub(super) fn new(grid: &Grid<'_>, threshold: &Threshold, tooth: U256) -> Option<Self> {
        let (scale, per) = grid.scale();
        let divisor = scale.gcd(per);
        let [scale, per] = [scale / divisor, per / divisor].map(U1024::from);
        let (out_weight, in_weight) = threshold.weights();
        let modulus = per.checked_mul(out_weight)?;
        if modulus.is_zero() || modulus.bit_len() > Self::MODULUS_BITS {
            return None;
        }
        let slack = (per - U1024::ONE).checked_mul(in_weight)?;
        let factor = (scale % modulus) * (in_weight % modulus) % modulus;
        let expected = (out_weight / in_weight.max(U1024::ONE)).max(scale / per).max(U1024::ONE);
        let coarseness = (U1024::from(tooth) / expected).saturating_to_u64().max(1);
        Some(Self { per, in_weight, out_weight, factor, modulus, slack, coarseness })
    }

    /// About how many teeth there are in a block of this length.
    pub(super) fn teeth(&self, length: U256) -> u64 {
        // At most one for each amount, and one for each output.
        let outputs = U1024::from(length) * self.in_weight / self.out_weight;
        outputs.min(U1024::from(length)).saturating_to_u64() / self.coarseness
    }

    /// The rows to look through for the amounts of a block of `length` whose outputs weigh
    /// at most `headroom` more than their inputs; `None` where testing one after the other
    /// is no more work.
    pub(super) fn rows(
        &self,
        fee: Option<&FeeClasses>,
        headroom: U1024,
        length: U256,
    ) -> Option<Vec<Row>> {
        let teeth = self.teeth(length);
        let most = headroom.checked_mul(self.per)?.checked_add(self.slack)?;
        let left_out = most < self.modulus;
        if let Some(rows) = fee.and_then(|fee| fee.rows(self, headroom, teeth, left_out)) {
            return Some(rows);
        }
        let worth_it =
            most < self.modulus >> Self::LEAST_LEFT_OUT || left_out && teeth >= Self::MANY_TEETH;
        let row = Row { stride: U256::ONE, phase: U256::ZERO, most, next: U256::MAX };
        worth_it.then(|| vec![row])
    }

    /// The largest of the indices `last`, `last − stride` and so on whose residue is at
    /// most `most`, a number not below the slack.
    fn last_within(&self, last: U256, stride: U256, most: U1024) -> Option<U256> {
        if most >= self.modulus {
            return Some(last);
        }
        let weight = self.factor * U1024::from(last) % self.modulus;
        let residue = if self.slack >= weight {
            self.slack - weight
        } else {
            self.modulus - weight + self.slack
        };
        if residue <= most {
            return Some(last);
        }
        // Each stride down adds this to the residue, until it wraps into 0..=most.
        let factor = self.factor * U1024::from(stride) % self.modulus;
        let low = self.modulus - residue;
        let high = low + most;
        let strides = if self.modulus.bit_len() <= 256 {
            let half = |n: U1024| U512::low_bits_of(n.as_limbs());
            narrow(first_multiple_within(half(factor), half(self.modulus), half(low), half(high))?)
        } else {
            narrow(first_multiple_within(factor, self.modulus, low, high)?)
        };
        last.checked_sub(narrow(product(strides?, stride))?)
    }
}

/// Amounts `stride` apart, and the residue that they can pass with.
pub(super) struct Row {
    stride: U256,
    /// How far above the segment's start they begin.
    phase: U256,
    most: U1024,
    /// The next one worth testing, once it was looked for.
    pub next: U256,
}

impl Row {
    /// Looks for the largest amount of the row that is above `low`, at most `ceiling` and
    /// worth testing, unless that is known; whether there is one.
    pub(super) fn look(
        &mut self,
        grid: &Grid<'_>,
        residues: &Residues,
        start: U256,
        (low, ceiling): (U256, U256),
    ) -> bool {
        if self.next <= ceiling {
            return true;
        }
        let top = grid.index_within(ceiling);
        let past = if self.stride == U256::ONE {
            U256::ZERO
        } else {
            remainder(top - start + self.stride - self.phase, self.stride)
        };
        let index = top
            .checked_sub(past)
            .and_then(|last| residues.last_within(last, self.stride, self.most));
        let next = index.and_then(|index| grid.amount(index)).filter(|amount| *amount > low);
        self.next = next.unwrap_or(U256::MAX);
        next.is_some()
    }
}

/// What the rounding of the fee takes from the amounts of a segment.
///
/// With `kept ÷ period` the share that the fee leaves, in lowest terms, an input `n` moves
/// the price like `n − j ÷ kept`, where `j = n·kept mod period`. So it passes only with a
/// residue below the headroom by `j·iw ÷ kept`: where the headroom is small, few `j` can.
pub(super) struct FeeClasses {
    kept: u64,
    period: u64,
}

impl FeeClasses {
    /// Few rows are looked through at once …
    const FEW_ROWS: u64 = 64;
    /// … if of so many amounts at most one lies on a row.
    const LEAST_PERIOD_PER_ROW: u64 = 16;
    /// More rows only where so many teeth for each are left out at one go …
    const LEAST_TEETH_PER_ROW: u64 = 16;
    /// … and never more than so many: all there are for a fee of 0.01% and larger ones.
    const MOST_ROWS: u64 = 10_000;

    /// `None` where nothing is rounded, or the fee takes more than half.
    pub(super) fn new(curve: &SaleCurve) -> Option<Self> {
        let fee = curve.fee_rounded_first()?;
        let (kept, period) = (fee.denominator - fee.numerator, fee.denominator);
        let divisor = U512::from(kept).gcd(U512::from(period)).saturating_to_u64();
        let (kept, period) = (kept / divisor, period / divisor);
        (period <= 2 * kept).then_some(Self { kept, period })
    }

    /// An amount moves the price like one less by less than this, which is 1 or 2.
    pub(super) fn most_taken(&self) -> U256 {
        U256::from(self.period.div_ceil(self.kept))
    }

    fn rows(
        &self,
        residues: &Residues,
        headroom: U1024,
        teeth: u64,
        left_out: bool,
    ) -> Option<Vec<Row>> {
        let Residues { in_weight, coarseness, .. } = *residues;
        let [kept, period] = [self.kept, self.period].map(U256::from);
        let last = headroom.checked_mul(U1024::from(kept))?.checked_div(in_weight)?;
        let rows = last.saturating_to_u64().saturating_add(1);
        let few =
            rows <= Self::FEW_ROWS && rows <= self.period / Self::LEAST_PERIOD_PER_ROW / coarseness;
        let many = rows <= Self::MOST_ROWS.min(teeth / Self::LEAST_TEETH_PER_ROW);
        // Where every remainder can pass, the fee leaves out next to nothing.
        if rows >= self.period || !(few || many && left_out) {
            return None;
        }
        let row = |j: u64| {
            let j = U256::from(j);
            // kept and period have no common divisor: every residue is met.
            let wide = [kept, period, j].map(U512::from);
            let phase = narrow(first_multiple_within(wide[0], wide[1], wide[2], wide[2])?)?;
            let taken = U1024::from(j) * in_weight / U1024::from(kept);
            Some(Row { stride: period, phase, most: headroom - taken, next: U256::MAX })
        };
        (0..rows).map(row).collect()
    }
}
