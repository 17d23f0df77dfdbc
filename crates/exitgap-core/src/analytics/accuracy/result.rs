//! The result of a pass.

use std::collections::VecDeque;

use super::flags::{SwapFlags, SwapsFlagged};
use super::{AccuracyRules, Agreement, OLDER_SLOTS};
use crate::analytics::stats::nearest_rank;
use crate::pools::Direction;
use crate::series::Slot;
use crate::stable_sort::sort;
use crate::units::{Percent, UsdMicros};
use crate::wide::U256;

/// The figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccuracyResult {
    /// The rules.
    pub rules: AccuracyRules,
    /// Slots that are recorded and not retracted.
    pub slots: u32,
    /// Slots that the logs since the slot before led to: each swap in between was judged.
    pub judged_slots: u32,
    /// Intervals between consecutive such slots that were replayed …
    pub stretches: u32,
    /// … and the number of those whose logs did not lead to the later state.
    pub stretches_incomplete: u32,
    /// Swaps logged between the first slot's block and the last one's.
    pub swaps: u32,
    /// Swaps compared with the newest slot before them.
    pub compared: u32,
    /// Swaps that were not compared, by reason. Together with `compared` they are all swaps.
    pub not_compared: NotCompared,
    /// Compared swaps by flag.
    pub flagged: SwapsFlagged,
    /// Errors by the age of the estimate: how many slots older it is than the newest slot before the swap; see
    /// [`OLDER_SLOTS`].
    pub ages: Vec<AccuracyAge>,
    /// Errors by size and direction, for estimates from the newest slot before the swap.
    pub sizes: Vec<AccuracySize>,
    /// The swaps with the largest absolute errors, at most ten, largest first.
    pub worst: Vec<ComparedSwap>,
    /// The newest compared swaps, at most a hundred, newest last.
    pub newest: Vec<ComparedSwap>,
    /// Whether there is enough data for a full record: 200 compared swaps and 2,016 judged slots; in version 1, 2,016
    /// slots of any kind.
    pub enough: bool,
    /// Whether every snapshot is of a live chain.
    pub live: bool,
}

/// Swaps that were not compared, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NotCompared {
    /// The interval's logs did not lead to the later state.
    pub fills_incomplete: u32,
    /// The estimate is refused: the pool at that slot cannot fill that amount.
    pub estimate_refused: u32,
    /// Both tokens went in, or both came out.
    pub two_sided: u32,
    /// Nothing went in, or nothing came out.
    pub zero: u32,
    /// The error is out of a percentage's bounds.
    pub out_of_range: u32,
}

/// Errors of many swaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccuracyAge {
    /// How many slots older than the newest slot before the swap.
    pub older_slots: u32,
    /// Swaps compared.
    pub n: u32,
    /// Of these, the swaps that received exactly the estimate: in raw units; in version 1, those whose error rounds
    /// to zero.
    pub exact_n: u32,
    /// Orders for an output that agree with the estimate by their bracket: see [`Agreement::Bracketed`].
    pub bracketed_n: u32,
    /// The median absolute error.
    pub abs_error_q50: Option<Percent>,
    /// The 95th percentile of the absolute error.
    pub abs_error_q95: Option<Percent>,
    /// The error farthest from zero; of two equally far, the positive one. In version 1, the same as
    /// `worst_for_seller`.
    pub worst: Option<Percent>,
    /// The largest error in the direction in which the real fill was worse.
    pub worst_for_seller: Option<Percent>,
    /// The signed mean, rounded half-even.
    pub mean: Option<Percent>,
}

/// Errors of the swaps of one direction and one decade of sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccuracySize {
    /// The lower bound in dollars. The next decade begins at ten times this.
    pub from_usd: u64,
    /// Which token was sold.
    pub direction: Direction,
    /// The errors; `older_slots` is 0.
    pub errors: AccuracyAge,
}

/// A swap and its estimate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedSwap {
    /// Its block.
    pub block: u64,
    /// Its log's index in the block.
    pub index: u32,
    /// The hash of its transaction.
    pub transaction: [u8; 32],
    /// The slot of the estimate.
    pub slot: Slot,
    /// Which token was sold.
    pub direction: Direction,
    /// The amount sold, in raw units.
    pub amount_in: U256,
    /// The amount received, in raw units.
    pub amount_out: U256,
    /// The estimated amount, in raw units.
    pub estimated_out: U256,
    /// The value sold, at the slot's oracle price.
    pub size_usd: UsdMicros,
    /// The estimated gap to the oracle.
    pub estimated_gap: Percent,
    /// The realised gap minus the estimated gap, and zero for a bracketed order. Positive: the real fill was worse.
    pub error: Percent,
    /// Whether it agrees with the estimate.
    pub agreement: Agreement,
    /// The surroundings of the swap.
    pub flags: SwapFlags,
}

/// The lower bounds of the decades of sizes, in dollars.
const DECADES: [u64; 7] = [0, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

const WORST: usize = 10;

const NEWEST: usize = 100;

/// The number of swaps and slots that a full record needs: 200 swaps and one week of slots.
const NEEDED: (u32, u32) = (200, 2_016);

/// Running totals of a pass.
#[derive(Debug, Default)]
pub(super) struct AccuracyTally {
    pub rules: AccuracyRules,
    pub slots: u32,
    pub stretches: u32,
    pub stretches_incomplete: u32,
    pub swaps: u32,
    pub not_compared: NotCompared,
    pub flagged: SwapsFlagged,
    /// Errors by age.
    pub by_age: [ErrorTally; OLDER_SLOTS.len()],
    /// Errors of estimates from the newest slot before, by decade and direction.
    pub by_size: [[ErrorTally; 2]; DECADES.len()],
    pub worst: Vec<ComparedSwap>,
    pub newest: VecDeque<ComparedSwap>,
    pub any_preview: bool,
}

/// The errors of many swaps.
#[derive(Debug, Default)]
pub(super) struct ErrorTally {
    errors: Vec<Percent>,
    exact: u32,
    bracketed: u32,
}

impl ErrorTally {
    pub fn add(&mut self, error: Percent, agreement: Agreement) {
        self.errors.push(error);
        self.exact += u32::from(agreement == Agreement::Exact);
        self.bracketed += u32::from(agreement == Agreement::Bracketed);
    }
}

impl AccuracyTally {
    /// Adds a swap that was compared with the newest slot before it.
    pub fn add_swap(&mut self, swap: ComparedSwap) {
        self.flagged.count(swap.flags);
        let usd = swap.size_usd.whole_dollars();
        let decade = DECADES.iter().rposition(|from| usd >= *from).unwrap_or(0);
        self.by_size[decade][swap.direction.base_index()].add(swap.error, swap.agreement);
        self.by_age[0].add(swap.error, swap.agreement);
        let larger = |held: &ComparedSwap| held.error.0.abs() >= swap.error.0.abs();
        let place = self.worst.iter().position(|held| !larger(held)).unwrap_or(self.worst.len());
        self.newest.push_back(swap.clone());
        if self.newest.len() > NEWEST {
            self.newest.pop_front();
        }
        self.worst.insert(place, swap);
        self.worst.truncate(WORST);
    }

    pub fn summed_up(self) -> AccuracyResult {
        let rules = self.rules;
        let compared = u32::try_from(self.by_age[0].errors.len()).unwrap_or(u32::MAX);
        let judged_slots = self.stretches.saturating_sub(self.stretches_incomplete);
        let counted_slots = match rules {
            AccuracyRules::One => self.slots,
            AccuracyRules::Two => judged_slots,
        };
        let ages = OLDER_SLOTS.iter().zip(self.by_age);
        let sizes = DECADES.iter().zip(self.by_size).flat_map(|(from_usd, by_direction)| {
            Direction::BOTH.into_iter().zip(by_direction).map(|(direction, errors)| AccuracySize {
                from_usd: *from_usd,
                direction,
                errors: summarize_errors(rules, 0, &errors),
            })
        });
        AccuracyResult {
            rules,
            slots: self.slots,
            judged_slots,
            stretches: self.stretches,
            stretches_incomplete: self.stretches_incomplete,
            swaps: self.swaps,
            compared,
            not_compared: self.not_compared,
            flagged: self.flagged,
            ages: ages.map(|(older, errors)| summarize_errors(rules, *older, &errors)).collect(),
            sizes: sizes.filter(|size| size.errors.n > 0).collect(),
            worst: self.worst,
            newest: self.newest.into(),
            enough: compared >= NEEDED.0 && counted_slots >= NEEDED.1,
            live: !self.any_preview && self.slots > 0,
        }
    }
}

fn summarize_errors(rules: AccuracyRules, older_slots: u32, tally: &ErrorTally) -> AccuracyAge {
    let errors = &tally.errors;
    let worst_for_seller = errors.iter().copied().max();
    let farthest = errors.iter().copied().max_by_key(|error| (error.0.abs(), error.0));
    let mut sizes: Vec<Percent> = errors.iter().map(|error| Percent(error.0.abs())).collect();
    sort(&mut sizes, Ord::cmp);
    let sum: i128 = errors.iter().map(|error| error.0).sum();
    AccuracyAge {
        older_slots,
        n: u32::try_from(errors.len()).unwrap_or(u32::MAX),
        exact_n: tally.exact,
        bracketed_n: tally.bracketed,
        abs_error_q50: nearest_rank(&sizes, 50),
        abs_error_q95: nearest_rank(&sizes, 95),
        worst: match rules {
            AccuracyRules::One => worst_for_seller,
            AccuracyRules::Two => farthest,
        },
        worst_for_seller,
        mean: mean(sum, errors.len()),
    }
}

/// Half-even.
fn mean(sum: i128, n: usize) -> Option<Percent> {
    let n = i128::try_from(n).ok().filter(|n| *n > 0)?;
    let (whole, rest) = (sum.div_euclid(n), sum.rem_euclid(n));
    let up = 2 * rest > n || (2 * rest == n && whole % 2 != 0);
    Some(Percent(whole + i128::from(up)))
}
