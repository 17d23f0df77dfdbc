//! Ladders: the same question at many gaps, or at many sizes.

use super::sizing::{MaxSize, NotSized};
use super::{Estimate, Exit, Refusal};
use crate::units::{GapLimit, SizeUsd};

/// A ladder's row by gap: how much exits within the limit, and what that fills at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapRow {
    /// The limit.
    pub limit: GapLimit,
    /// The depth at the limit, or why none is told.
    pub depth: Result<MaxSize, NotSized>,
    /// The exit of exactly that size, or why no size has one; `None` where nothing passes.
    pub estimate: Option<Result<Estimate, Refusal>>,
}

/// A ladder's row by size: what a standard size fills at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeRow {
    /// The size.
    pub size: SizeUsd,
    /// The exit of that size, or why there is none.
    pub outcome: Result<Estimate, Refusal>,
}

impl Exit {
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
        GapRow { limit, depth, estimate }
    }

    /// One row per size, in the order given.
    pub fn ladder_by_size(&self, sizes: &[SizeUsd]) -> Vec<SizeRow> {
        sizes.iter().map(|size| SizeRow { size: *size, outcome: self.estimate(*size) }).collect()
    }
}
