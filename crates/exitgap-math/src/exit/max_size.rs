//! Finds the largest exit within a gap limit.
//!
//! The contract's output is an integer, so the gap as a function of the amount is a fine saw-tooth: an amount may fail
//! although a larger one passes. The result is the largest passing amount, found in three steps:
//!
//! 1. **Bound.** Without rounding, a swap's output is concave in its input and never less than the contract's output.
//!    If even the contract's output plus the maximum rounding loss fails, every larger amount fails. This rules out
//!    whole segments.
//! 2. **Bisect** the last segment that is not ruled out, using its exact formula without rounding (to `2^-64` of a
//!    unit): from a passing start, if an amount fails, all larger ones fail.
//! 3. **Descend** the teeth below, and skip those that no whole output unit can lift to the limit. Because it starts
//!    from above, this ends exactly at the largest passing amount.
//!
//! - `search`: the bounds, segment by segment
//! - `secants`: the second step for formulas that are slow to compute
//! - `descent`: the teeth of one segment
//! - `divide`: the same if the fee depends on the size, so that the gap may fall again
//! - `grid`: the amounts that are searched: all of them, or only those of whole sizes
//! - `residues`: which teeth can pass at all
//! - `euclid`: the number theory that finds the next such tooth

mod descent;
mod divide;
mod euclid;
mod grid;
mod residues;
mod search;
mod secants;

use super::terms::{Terms, Threshold, threshold_from_mid};
use super::{Exit, PricedPool};
use crate::pools::{Direction, RawPrice, SaleCurve};
use crate::units::{GapLimit, SizeUsd, UsdMicros};
use crate::wide::U256;
use grid::Grid;
use search::{Bound, BudgetExhausted, Effort, Search, rules_out_from};

/// The largest exit within a gap limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaxSize {
    /// The requested limit.
    pub limit: GapLimit,
    /// The largest size in whole micro-dollars whose own exit passes, so an estimate of it never contradicts this
    /// result; `None` if no size from one cent up passes. An estimate
    /// is refused where the pool's own price is out of a percentage's range.
    pub size: Option<SizeUsd>,
    /// The largest raw amount of the token sold that passes; zero if none passes. Usually slightly more than the amount
    /// of `size`.
    pub max_amount_in: U256,
    /// The amount that the contract pays for it.
    pub max_amount_out: U256,
    /// What limits the exit.
    pub limited_by: LimitedBy,
}

/// What limits the size of an exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedBy {
    /// A larger exit exceeds the gap limit.
    Gap,
    /// The pool's liquidity ends, and all of it is within the gap limit.
    Liquidity,
    /// The largest allowed size.
    SizeBound,
}

impl LimitedBy {
    /// The stable code, for example `liquidity`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Liquidity => "liquidity",
            Self::SizeBound => "size_bound",
        }
    }
}

/// The search needed more comparisons of an amount and its output with the limit than are allowed.
///
/// For the largest amount this can only happen if the limit is within about a millionth of a percent above the loss of
/// an infinitely small sale (the pool's fee and basis), and only if the residue filter leaves too many amounts to test:
/// the fee's share has a long denominator (2777 millionths, not 3000), one step of √price moves the output by many
/// units, or the oracle prices have too many digits. If the limit is at or below the loss of an infinitely small sale,
/// nothing passes; that is a valid result.
///
/// For a depth it can also happen if a unit of the token bought is worth so much that thousands of consecutive
/// whole-dollar sizes miss the limit by less than one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no answer after {comparisons} comparisons, because the limit {limit}% is too close to the pool's price"
)]
pub struct SearchExhausted {
    /// The limit asked for.
    pub limit: GapLimit,
    /// The number of comparisons made.
    pub comparisons: u32,
}

/// Why the largest size is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotSized {
    /// The search reached its limit of comparisons.
    #[error(transparent)]
    Exhausted(#[from] SearchExhausted),
    /// This kind of pool can pay less for a larger amount, so no search finds the largest size.
    #[error(
        "the largest size is not computed for this kind of pool, because it could not be exact"
    )]
    NotExact,
}

impl NotSized {
    /// The stable code, for example `sizing_not_exact`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Exhausted(_) => "search_exhausted",
            Self::NotExact => "sizing_not_exact",
        }
    }
}

impl Effort {
    /// For interactive requests: some seconds at worst.
    const OF_A_QUESTION: Self = Self { comparisons: 1 << 20, singled_out: Some(1 << 18) };
    /// Same if each comparison takes some microseconds.
    const OF_A_COSTLY_QUESTION: Self = Self { comparisons: 1 << 16, ..Self::OF_A_QUESTION };
    /// For a depth: some milliseconds at worst, because verifiers of evidence compute it from states that an attacker
    /// may have made up. The value is part of the method, so that all verifiers give up on the same states.
    const OF_A_DEPTH: Self = Self { comparisons: 1 << 13, singled_out: None };
}

/// Whether no amount can pass after the end of this curve, which may be only the start of a whole curve.
pub(super) fn rules_out_the_rest(curve: &SaleCurve, threshold: &Threshold) -> bool {
    rules_out_from(curve, threshold, curve.segment_count())
}

impl Exit {
    /// The largest exit whose gap is at most `limit`. Amounts and outputs alone decide: also of a pool whose own price is out
    /// of a percentage's range, of which no estimate is made, an amount that passes is answered.
    pub fn max_size_for(&self, limit: GapLimit) -> Result<MaxSize, NotSized> {
        if !self.curve.is_sized() {
            return Err(NotSized::NotExact);
        }
        let threshold = self.terms.threshold(limit);
        let costly = self.curve.by_secants();
        let effort = if costly { Effort::OF_A_COSTLY_QUESTION } else { Effort::OF_A_QUESTION };
        let mut search = Search::new(&self.curve, &threshold, effort);
        let exhausted = |BudgetExhausted { comparisons }| SearchExhausted { limit, comparisons };
        let (most, _) = self.curve.most();
        let largest = search.largest_amount().map_err(exhausted)?;
        let max_amount_in = largest.amount;
        let max_amount_out =
            self.curve.fill(max_amount_in).map_or(U256::ZERO, |fill| fill.amount_out);
        let size = self.largest_size(&mut search, largest, 1).map_err(exhausted)?;
        let limited_by = if size == Some(SizeUsd::MAX) {
            LimitedBy::SizeBound
        } else if max_amount_in == most {
            LimitedBy::Liquidity
        } else {
            LimitedBy::Gap
        };
        Ok(MaxSize { limit, size, max_amount_in, max_amount_out, limited_by })
    }

    /// The depth at `limit` in whole dollars: the largest whole-dollar size whose own exit passes, 0 if none passes.
    /// The search goes over dollars instead of token units, so it meets fewer teeth than [`Exit::max_size_for`].
    pub fn depth_usd(&self, limit: GapLimit) -> Result<u64, NotSized> {
        if self.curve.is_sized() && self.has_no_gap() {
            return Ok(0);
        }
        self.whole_dollars(&self.terms.threshold(limit), limit)
    }

    /// The book depth at `limit` in whole dollars: like [`Exit::depth_usd`], but measured from the pool's own mid price
    /// instead of the oracle price, so the difference between the two has no effect. Dollars are still the oracle's.
    pub fn book_usd<'p>(
        pool: impl Into<PricedPool<'p>>,
        mid: RawPrice,
        direction: Direction,
        limit: GapLimit,
    ) -> Result<u64, NotSized> {
        Self::book(pool.into(), mid, direction, limit)
    }

    /// Same as [`Exit::book_usd`], measured from the mid price at which the pool's curve begins.
    pub fn book_from_own_mid_usd<'p>(
        pool: impl Into<PricedPool<'p>>,
        direction: Direction,
        limit: GapLimit,
    ) -> Result<u64, NotSized> {
        let pool = pool.into();
        let mid = pool.state.start_of_curve(direction, &|_| true).mid();
        Self::book(pool, mid, direction, limit)
    }

    fn book(
        pool: PricedPool<'_>,
        mid: RawPrice,
        direction: Direction,
        limit: GapLimit,
    ) -> Result<u64, NotSized> {
        let (state, terms) = (pool.state, Terms::of_priced(pool, direction));
        let threshold = threshold_from_mid(mid, limit);
        let curve = state.start_of_curve(direction, &|curve| rules_out_the_rest(curve, &threshold));
        Self::with(state, curve, terms).whole_dollars(&threshold, limit)
    }

    /// The depth at `limit` measured from the pool's own mid price, in whole dollars. If the oracle price moves away
    /// from the pool, [`Exit::depth_usd`] falls but this value does not. `None` if it cannot be computed.
    pub fn depth_from_mid_usd(&self, limit: GapLimit) -> Option<u64> {
        self.whole_dollars(&threshold_from_mid(self.curve.mid(), limit), limit).ok()
    }

    fn whole_dollars(&self, threshold: &Threshold, limit: GapLimit) -> Result<u64, NotSized> {
        const DOLLAR: u64 = 1_000_000;
        if !self.curve.is_sized() {
            return Err(NotSized::NotExact);
        }
        let mut search = Search::new(&self.curve, threshold, Effort::OF_A_DEPTH);
        let size = search
            .bound()
            .and_then(|bound| self.largest_size(&mut search, bound, DOLLAR))
            .map_err(|BudgetExhausted { comparisons }| SearchExhausted {
            limit,
            comparisons,
        })?;
        Ok(size.map_or(0, |size| UsdMicros::from(size).whole_dollars()))
    }

    /// The largest size, a multiple of `step` micro-dollars, whose amount passes. `bound` is at or above every passing
    /// amount.
    fn largest_size(
        &self,
        search: &mut Search<'_>,
        bound: Bound,
        step: u64,
    ) -> Result<Option<SizeUsd>, BudgetExhausted> {
        let sizes = Grid::sizes(&self.terms, step);
        // If every amount corresponds to a size, the largest passing amount gives the largest size.
        let grid = if sizes.holds_every_amount() { &Grid::Units } else { &sizes };
        let Some(bound) = search.bound_on(&sizes, bound) else { return Ok(None) };
        let largest = search.largest_on(grid, bound)?;
        Ok(largest.and_then(|largest| sizes.size_within(largest.amount)))
    }
}

#[cfg(test)]
pub(in crate::exit) mod swept_tests;
#[cfg(test)]
pub(in crate::exit) mod tests;
#[cfg(test)]
mod zero_tests;
