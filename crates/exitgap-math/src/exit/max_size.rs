//! How large an exit may be within a gap limit.
//!
//! The contract's output is an integer, so the gap as a function of the amount is
//! a fine saw-tooth: an amount may fail while a larger one passes. The answer is
//! the largest amount that passes at all, found in three moves:
//!
//! 1. **Bound.** Without any rounding a swap's output is concave in its input and
//!    never below the contract's. Where even the contract's output plus the most that
//!    rounding can have taken fails, every larger amount fails: this rules out whole
//!    segments.
//! 2. **Bisect** the last segment that is not ruled out, on its exact formula without
//!    rounding (kept to `2^-64` of a unit): from a passing start, what fails there
//!    fails from there on.
//! 3. **Descend** the teeth below, skipping those that no whole output unit can lift to
//!    the limit. From above this ends exactly at the largest passing amount.
//!
//! - `search`: the bounds, segment by segment
//! - `secants`: the second move where the formula takes long
//! - `descent`: the teeth of one segment
//! - `divide`: the same where the fee depends on the size, so that the gap may fall again
//! - `grid`: which amounts are asked about: all of them, or those of whole sizes
//! - `residues`: which teeth are worth testing
//! - `euclid`: the number theory that finds the next one

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
    /// The limit asked for.
    pub limit: GapLimit,
    /// The largest size in whole micro-dollars whose own exit passes, so that an
    /// estimate at it never contradicts it; `None`: no size from one cent on does. An estimate
    /// is refused where the pool's own price is out of a percentage's range.
    pub size: Option<SizeUsd>,
    /// The largest raw amount of the token sold that passes; zero where none does.
    /// Usually a little above what `size` stands for.
    pub max_amount_in: U256,
    /// What the contract pays for it.
    pub max_amount_out: U256,
    /// What keeps the exit from being larger.
    pub limited_by: LimitedBy,
}

/// What keeps an exit from being larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedBy {
    /// A larger one exceeds the gap.
    Gap,
    /// The pool's liquidity ends; all of it lies within the gap.
    Liquidity,
    /// The largest size there is.
    SizeBound,
}

impl LimitedBy {
    /// The stable code, e.g. `liquidity`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Liquidity => "liquidity",
            Self::SizeBound => "size_bound",
        }
    }
}

/// More comparisons of an amount and its output with the limit than a search may make.
///
/// The largest amount: only a limit within about a millionth of a percent above what an
/// infinitely small sale loses, the pool's fee and basis, can come to this, and only where
/// what singles out the amounts worth testing leaves too many: a fee whose share has no
/// short denominator (2777 millionths, not 3000), a √price that moves by many units of
/// output at a step, or oracle prices too wide for it. At or below what such a sale loses
/// nothing passes, and that is an answer.
///
/// A depth: the same, where a unit of the token bought is worth so much that thousands of
/// whole dollars in a row miss the limit by less than one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no answer after {comparisons} comparisons, because the limit {limit}% is too close to the pool's price"
)]
pub struct SearchExhausted {
    /// The limit asked for.
    pub limit: GapLimit,
    /// Comparisons made.
    pub comparisons: u32,
}

/// Why there is no largest size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotSized {
    /// The search was given up.
    #[error(transparent)]
    Exhausted(#[from] SearchExhausted),
    /// The kind of pool pays less for more in places, so that no search finds the largest size.
    #[error(
        "the largest size is not computed for this kind of pool, because it could not be exact"
    )]
    NotExact,
}

impl NotSized {
    /// The stable code, e.g. `sizing_not_exact`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Exhausted(_) => "search_exhausted",
            Self::NotExact => "sizing_not_exact",
        }
    }
}

impl Effort {
    /// For whoever waits for an answer: some seconds at worst.
    const OF_A_QUESTION: Self = Self { comparisons: 1 << 20, singled_out: Some(1 << 18) };
    /// The same where each comparison takes some microseconds.
    const OF_A_COSTLY_QUESTION: Self = Self { comparisons: 1 << 16, ..Self::OF_A_QUESTION };
    /// For a depth, which whoever checks evidence computes of states that anybody may have
    /// made up: some milliseconds at worst. It belongs to the method: all verifiers give up
    /// on the same states.
    const OF_A_DEPTH: Self = Self { comparisons: 1 << 13, singled_out: None };
}

/// Whether nothing past the end of a curve, or of the start of one, can pass.
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

    /// The depth at `limit` in whole dollars: the largest whole-dollar size whose own
    /// exit passes, 0 where none does. Found over dollars, not over token units, so
    /// that it meets few teeth where [`Exit::max_size_for`] meets many.
    pub fn depth_usd(&self, limit: GapLimit) -> Result<u64, NotSized> {
        if self.curve.is_sized() && self.has_no_gap() {
            return Ok(0);
        }
        self.whole_dollars(&self.terms.threshold(limit), limit)
    }

    /// The book at `limit` in whole dollars: [`Exit::depth_usd`] with the pool's own mid price in
    /// place of the oracle's, so that the distance between the two drops out. Dollars are the
    /// oracle's still.
    pub fn book_usd<'p>(
        pool: impl Into<PricedPool<'p>>,
        mid: RawPrice,
        direction: Direction,
        limit: GapLimit,
    ) -> Result<u64, NotSized> {
        Self::book(pool.into(), mid, direction, limit)
    }

    /// The same from the mid price that the pool's curve begins at.
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

    /// What the pool holds around its own price: the depth at `limit` from its mid price, whole dollars. Where the
    /// oracle has moved away, [`Exit::depth_usd`] falls and this does not. `None` where it cannot be sized.
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

    /// The largest size, a multiple of `step` micro-dollars, whose amount passes, given
    /// an amount at or above every passing one.
    fn largest_size(
        &self,
        search: &mut Search<'_>,
        bound: Bound,
        step: u64,
    ) -> Result<Option<SizeUsd>, BudgetExhausted> {
        let sizes = Grid::sizes(&self.terms, step);
        // Where every amount is some size's, the largest amount has the largest size.
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
