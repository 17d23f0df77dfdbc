//! Ladders: the same computation for many gap limits or many sizes.

use core::iter::successors;

use super::max_size::{MaxSize, NotSized};
use super::{Estimate, Exit, Refusal};
use crate::units::{GapLimit, Percent, SizeUsd, UsdMicros};
use crate::wide::U256;

/// A row of a ladder by gap: the largest exit within the limit, and its estimate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapRow {
    /// The limit.
    pub limit: GapLimit,
    /// The depth at the limit, or why it is not available.
    pub depth: Result<MaxSize, NotSized>,
    /// The book at the limit: the same from the pool's own mid price, in whole dollars; `None` if its search was given
    /// up.
    pub book_usd: Option<u64>,
    /// How far the pool's mid price is below the oracle price; `None` if that is outside a percentage's bounds.
    pub basis: Option<Percent>,
    /// The estimate of exactly that size, or why no size has one; `None` if no size passes.
    pub estimate: Option<Result<Estimate, Refusal>>,
    /// A smaller size whose gap exceeds the limit: see [`SizeRow::worse_below`].
    pub worse_below: Option<SizeUsd>,
}

/// A row of a ladder by size: the estimate of a standard size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeRow {
    /// The size.
    pub size: SizeUsd,
    /// The estimate of that size, or why there is none.
    pub outcome: Result<Estimate, Refusal>,
    /// A smaller size with a larger gap: the largest such size among one half, one quarter and so on, if the difference
    /// is more than rounding. Only set for pools where this is possible: a fee that depends on the size may fall faster
    /// than the price.
    pub worse_below: Option<SizeUsd>,
}

impl Exit {
    /// The number of raw units by which rounding alone may reduce the output of a smaller sale.
    const ROUNDED_OFF: u8 = 2;

    /// One row per gap limit, in the given order.
    pub fn ladder_by_gap(&self, limits: &[GapLimit]) -> Vec<GapRow> {
        limits.iter().map(|limit| self.gap_row(*limit)).collect()
    }

    /// The largest exit within the limit, and its estimate.
    pub fn gap_row(&self, limit: GapLimit) -> GapRow {
        let depth = self.max_size_for(limit);
        let size = depth.as_ref().ok().and_then(|depth| depth.size);
        let estimate = match size {
            None if self.has_no_gap() => Some(Err(Refusal::GapOutOfRange)),
            size => size.map(|size| self.estimate(size)),
        };
        let worse_below = size.and_then(|size| self.worse_below(size, limit.into()));
        let (book_usd, basis) = (self.depth_from_mid_usd(limit), self.basis());
        GapRow { limit, depth, book_usd, basis, estimate, worse_below }
    }

    /// One row per size, in the given order.
    pub fn ladder_by_size(&self, sizes: &[SizeUsd]) -> Vec<SizeRow> {
        sizes.iter().map(|size| self.size_row(*size)).collect()
    }

    fn size_row(&self, size: SizeUsd) -> SizeRow {
        let outcome = self.estimate(size);
        let gap = outcome.as_ref().ok().map(|estimate| estimate.gap);
        let worse_below = gap.and_then(|gap| self.worse_below(size, gap));
        SizeRow { size, outcome, worse_below }
    }

    /// The largest of one half, one quarter and so on of a size whose gap is greater than this one.
    fn worse_below(&self, size: SizeUsd, gap: Percent) -> Option<SizeUsd> {
        if !self.curve.divides() {
            return None;
        }
        let halves = successors(Some(UsdMicros::from(size).0), |micros| Some(micros / 2));
        let sizes = halves.skip(1).map_while(|micros| SizeUsd::from_micros(micros).ok());
        let worse = |size: &SizeUsd| {
            let fill = self.amount_in(*size).and_then(|amount| self.fill(amount)).ok()?;
            let most = fill.amount_out.saturating_add(U256::from(Self::ROUNDED_OFF));
            Some(self.terms.gap(fill.amount_in, most)? > gap)
        };
        sizes
            .take_while(|size| self.amount_in(*size).is_ok())
            .find(|size| worse(size) == Some(true))
    }
}
