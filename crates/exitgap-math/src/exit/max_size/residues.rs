//! Filters the amounts to test by the residues of their input weights.

use super::euclid::first_multiple_within;
use super::grid::Grid;
use crate::exit::terms::Threshold;
use crate::pools::SaleCurve;
use crate::wide::{U256, U512, U1024, narrow, product, remainder};

/// The indices of a grid that can pass according to their input weights alone.
///
/// With the threshold's weights `ow` and `iw`, an amount `n` passes if its output is at least the smallest integer `y`
/// with `y·ow ≥ n·iw`. If the output outweighs the input by at most `T`, then `y·ow − n·iw ≤ T`, so the residue of
/// `−n·iw` modulo `ow` is at most `T`. For an amount `n = (i·scale − ρ) ÷ per` with `0 ≤ ρ < per` this becomes: the
/// residue of `slack − i·scale·iw` modulo `per·ow` is at most `per·T + slack`, where `slack = (per − 1)·iw`.
pub(super) struct Residues {
    per: U1024,
    in_weight: U1024,
    out_weight: U1024,
    /// The decrease of the residue per index, less than the modulus.
    factor: U1024,
    modulus: U1024,
    slack: U1024,
    /// How many times wider the teeth are than the weights alone imply, rounded down, at least 1. A price that moves in
    /// coarse steps makes them wider.
    coarseness: u64,
}

impl Residues {
    /// The maximum, so that the product of two moduli fits in 1024 bits.
    const MODULUS_BITS: usize = 510;
    /// The search for the remaining indices is worthwhile if at most one of `2^6` is left …
    const LEAST_LEFT_OUT: usize = 6;
    /// … or, with this many teeth, if any are excluded: the weights may leave far fewer than expected by chance.
    const MANY_TEETH: u64 = 4_096;

    /// For a segment whose teeth are `tooth` wide; `None` if the weights have too many bits.
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

    /// The approximate number of teeth in a block of this length.
    pub(super) fn teeth(&self, length: U256) -> u64 {
        // At most one for each amount and one for each output.
        let outputs = U1024::from(length) * self.in_weight / self.out_weight;
        outputs.min(U1024::from(length)).saturating_to_u64() / self.coarseness
    }

    /// The rows to search for the amounts of a block of `length` whose outputs outweigh their inputs by at most
    /// `headroom`; `None` if testing one after the other is no more work.
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

    /// The largest of the indices `last`, `last − stride` and so on whose residue is at most `most`, which must not be
    /// less than the slack.
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
        // Each stride down adds this to the residue, until the residue wraps into 0..=most.
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

/// Amounts that are `stride` apart, and the residue with which they can pass.
pub(super) struct Row {
    stride: U256,
    /// The offset of the first amount from the segment's start.
    phase: U256,
    most: U1024,
    /// The next amount worth testing, once it has been computed.
    pub next: U256,
}

impl Row {
    /// Computes the largest amount of the row that is above `low`, at most `ceiling` and worth testing, unless it is
    /// known. Returns whether there is one.
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

/// The loss from rounding the fee, by class of amounts in a segment.
///
/// Let `kept ÷ period` be the share that the fee leaves, in lowest terms. An input `n` then moves the price like
/// `n − j ÷ kept`, where `j = n·kept mod period`. So it passes only with a residue at least `j·iw ÷ kept` below the
/// headroom. If the headroom is small, this is possible only for few values of `j`.
pub(super) struct FeeClasses {
    kept: u64,
    period: u64,
}

impl FeeClasses {
    /// A few rows are searched at once …
    const FEW_ROWS: u64 = 64;
    /// … if at most one of this many amounts is on a row.
    const LEAST_PERIOD_PER_ROW: u64 = 16;
    /// More rows are searched only if this many teeth per row are excluded at once …
    const LEAST_TEETH_PER_ROW: u64 = 16;
    /// … and never more than this: enough for fees of 0.01% and higher.
    const MOST_ROWS: u64 = 10_000;

    /// `None` if nothing is rounded, or if the fee takes more than half.
    pub(super) fn new(curve: &SaleCurve) -> Option<Self> {
        let fee = curve.fee_rounded_first()?;
        let (kept, period) = (fee.denominator - fee.numerator, fee.denominator);
        let divisor = U512::from(kept).gcd(U512::from(period)).saturating_to_u64();
        let (kept, period) = (kept / divisor, period / divisor);
        (period <= 2 * kept).then_some(Self { kept, period })
    }

    /// Rounding reduces the effect of an amount on the price by less than this many units (1 or 2).
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
        // If every remainder can pass, the fee excludes almost nothing.
        if rows >= self.period || !(few || many && left_out) {
            return None;
        }
        let row = |j: u64| {
            let j = U256::from(j);
            // `kept` and `period` are coprime, so every residue occurs.
            let wide = [kept, period, j].map(U512::from);
            let phase = narrow(first_multiple_within(wide[0], wide[1], wide[2], wide[2])?)?;
            let taken = U1024::from(j) * in_weight / U1024::from(kept);
            Some(Row { stride: period, phase, most: headroom - taken, next: U256::MAX })
        };
        (0..rows).map(row).collect()
    }
}
