//! Ladders: the same question at many gaps, or at many sizes.

use core::iter::successors;

use super::max_size::{MaxSize, NotSized};
use super::{Estimate, Exit, Refusal};
use crate::units::{GapLimit, Percent, SizeUsd, UsdMicros};
use crate::wide::U256;

/// A ladder's row by gap: how much exits within the limit, and what that fills at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapRow {
    /// The limit.
    pub limit: GapLimit,
    /// The depth at the limit, or why none is told.
    pub depth: Result<MaxSize, NotSized>,
    /// The exit of exactly that size, or why no size has one; `None` where nothing passes.
    pub estimate: Option<Result<Estimate, Refusal>>,
    /// A smaller size whose exit exceeds the limit: see [`SizeRow::worse_below`].
    pub worse_below: Option<SizeUsd>,
}

/// A ladder's row by size: what a standard size fills at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeRow {
    /// The size.
    pub size: SizeUsd,
    /// The exit of that size, or why there is none.
    pub outcome: Result<Estimate, Refusal>,
    /// A smaller size whose gap is larger: the largest such among halves, quarters and so on, by
    /// more than roundings make it. Told only of pools where that can be: a fee that depends on
    /// the size may fall faster than the price.
    pub worse_below: Option<SizeUsd>,
}

impl Exit {
    /// Raw units by which roundings alone may make a smaller sale pay less.
    const ROUNDED_OFF: u8 = 2;

    /// One row per gap limit, in the order given.
    pub fn ladder_by_gap(&self, limits: &[GapLimit]) -> Vec<GapRow> {
        limits.iter().map(|limit| self.gap_row(*limit)).collect()
    }

    /// How much exits within the limit, and what that fills at.
    pub fn gap_row(&self, limit: GapLimit) -> GapRow {
        let depth = self.max_size_for(limit);
        let size = depth.as_ref().ok().and_then(|depth| depth.size);
        let estimate = match size {
            None if self.has_no_gap() => Some(Err(Refusal::GapOutOfRange)),
            size => size.map(|size| self.estimate(size)),
        };
        let worse_below = size.and_then(|size| self.worse_below(size, limit.into()));
        GapRow { limit, depth, estimate, worse_below }
    }

    /// One row per size, in the order given.
    pub fn ladder_by_size(&self, sizes: &[SizeUsd]) -> Vec<SizeRow> {
        sizes.iter().map(|size| self.size_row(*size)).collect()
    }

    fn size_row(&self, size: SizeUsd) -> SizeRow {
        let outcome = self.estimate(size);
        let gap = outcome.as_ref().ok().map(|estimate| estimate.gap);
        let worse_below = gap.and_then(|gap| self.worse_below(size, gap));
        SizeRow { size, outcome, worse_below }
    }

    /// The largest of a half, a quarter and so on of a size whose gap is above this one.
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
