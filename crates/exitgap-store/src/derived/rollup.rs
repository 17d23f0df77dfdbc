//! Summaries of a pool's slots: of a day, as the store keeps them, or of any other range.

use exitgap_core::series::Slot;
use exitgap_core::units::{Percent, UsdMicros};

use crate::derived::figures::{Figures, Gap, NoGap, SnapshotFigures};
use crate::derived::points::{Held, Point};
use crate::model::Outcome;

/// The last and the worst values of a range of slots, over those that are recorded and not retracted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rollup {
    /// Slots that are recorded and not retracted.
    pub recorded_slots: u32,
    /// Slots that are missing.
    pub missing_slots: u32,
    /// Slots that were recorded and later retracted.
    pub retracted_slots: u32,
    /// The newest recorded slot.
    pub last: Option<Slot>,
    /// Selling token 0, selling token 1.
    pub directions: [DirectionRollup; 2],
}

/// The summary of one direction over a range of slots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirectionRollup {
    /// The lowest depth, with the earliest slot that has it.
    pub lowest: Option<(Slot, u64)>,
    /// By standard size; `None` if no slot is recorded.
    pub gaps: [Option<GapRollup>; 4],
}

/// The summary of one standard size over a range of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GapRollup {
    /// The gap of [`Rollup::last`].
    pub last: Gap,
    /// The worst gap, with the earliest slot that has it; `None` if every slot refused the size.
    pub worst: Option<(Slot, Percent)>,
    /// The number of slots in which the size has no gap.
    pub refused_slots: u32,
    /// Over slots that lacked liquidity, the smallest fillable amount, with the earliest slot that has it.
    pub least_fillable: Option<(Slot, UsdMicros)>,
}

/// A UTC day of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// The day, counted from 1970-01-01. Its first slot is `day × 288`.
    pub day: u32,
    /// Its slots so far.
    pub rollup: Rollup,
}

impl Rollup {
    /// Adds the next slot.
    pub fn add(&mut self, figures: &Figures) {
        match (figures.entry.outcome, &figures.snapshot) {
            (Outcome::Missing(_), _) => self.missing_slots += 1,
            (Outcome::Recorded(_), _) if figures.retraction.is_some() => self.retracted_slots += 1,
            (Outcome::Recorded(_), Some(snapshot)) => {
                self.add_snapshot(figures.entry.slot, snapshot);
            }
            (Outcome::Recorded(_) | Outcome::Retired, _) => {}
        }
    }

    /// Adds a later range of slots.
    pub fn join(&mut self, later: &Self) {
        self.recorded_slots += later.recorded_slots;
        self.missing_slots += later.missing_slots;
        self.retracted_slots += later.retracted_slots;
        self.last = later.last.or(self.last);
        for (total, later) in self.directions.iter_mut().zip(&later.directions) {
            total.lowest = extreme(total.lowest, later.lowest, |kept, new| new < kept);
            for (total, later) in total.gaps.iter_mut().zip(later.gaps) {
                *total = match (*total, later) {
                    (Some(kept), Some(new)) => Some(kept.join_later(new)),
                    (kept, new) => new.or(kept),
                };
            }
        }
    }

    /// Adds a missing slot.
    pub(crate) fn add_missing(&mut self) {
        self.missing_slots += 1;
    }

    /// Adds a recorded slot.
    pub(crate) fn add_snapshot(&mut self, slot: Slot, snapshot: &SnapshotFigures) {
        self.recorded_slots += 1;
        self.last = Some(slot);
        for (rollup, figures) in self.directions.iter_mut().zip(&snapshot.directions) {
            if let Some(depth) = figures.depth_usd
                && rollup.lowest.is_none_or(|(_, lowest)| depth < lowest)
            {
                rollup.lowest = Some((slot, depth));
            }
            for (rollup, gap) in rollup.gaps.iter_mut().zip(figures.gaps) {
                GapRollup::note(rollup, slot, gap);
            }
        }
    }

    /// Adds the next slot, of which only `token` at the standard size with index `size` is known.
    pub fn add_point(&mut self, [token, size]: [usize; 2], point: &Point) {
        let slot = point.slot;
        match point.held {
            Held::Missing => self.missing_slots += 1,
            Held::Retracted => self.retracted_slots += 1,
            Held::Retired => {}
            Held::Recorded(depth, gap) => {
                self.recorded_slots += 1;
                self.last = Some(slot);
                let rollup = &mut self.directions[token];
                if let Some(depth) = depth
                    && rollup.lowest.is_none_or(|(_, lowest)| depth < lowest)
                {
                    rollup.lowest = Some((slot, depth));
                }
                GapRollup::note(&mut rollup.gaps[size], slot, gap);
            }
        }
    }
}

impl GapRollup {
    /// Adds the gap of a later slot.
    fn note(rollup: &mut Option<Self>, slot: Slot, gap: Gap) {
        let mut later = Self { last: gap, worst: None, refused_slots: 0, least_fillable: None };
        match gap {
            Gap::Filled(percent) => later.worst = Some((slot, percent)),
            Gap::Refused(none) => {
                later.refused_slots = 1;
                if let NoGap::BeyondLiquidity(most) = none {
                    later.least_fillable = Some((slot, most));
                }
            }
        }
        *rollup = Some(rollup.map_or(later, |before| before.join_later(later)));
    }

    /// This range followed by a later one.
    #[must_use]
    pub fn join_later(self, later: Self) -> Self {
        Self {
            last: later.last,
            worst: extreme(self.worst, later.worst, |kept, new| new > kept),
            refused_slots: self.refused_slots + later.refused_slots,
            least_fillable: extreme(self.least_fillable, later.least_fillable, |kept, new| {
                new < kept
            }),
        }
    }
}

/// The more extreme of two values; if equal, the earlier.
fn extreme<T: Copy>(
    kept: Option<(Slot, T)>,
    later: Option<(Slot, T)>,
    further: impl Fn(T, T) -> bool,
) -> Option<(Slot, T)> {
    match (kept, later) {
        (Some(kept), Some(new)) if !further(kept.1, new.1) => Some(kept),
        (kept, new) => new.or(kept),
    }
}

/// The day of a slot, counted from 1970-01-01.
pub fn day_of(slot: Slot) -> u32 {
    slot.day()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(n: u64) -> Slot {
        Slot::new(5_957_856 + n).unwrap()
    }

    #[test]
    fn refusals_are_counted_apart_from_the_worst_number_however_a_run_is_cut() {
        let beyond = |most| Gap::Refused(NoGap::BeyondLiquidity(UsdMicros(most)));
        let gaps = [
            Gap::Filled(Percent(5)),
            beyond(900),
            Gap::Refused(NoGap::GapOutOfRange),
            Gap::Filled(Percent(-3)),
            Gap::Filled(Percent(7)),
            beyond(400),
            beyond(400),
            Gap::Filled(Percent(7)),
            beyond(500),
        ];
        let held = |gap| Held::Recorded(Some(10), gap);
        let mut points: Vec<_> = gaps.map(held).into();
        points.insert(1, Held::Missing);
        points.insert(4, Held::Retracted);
        let points: Vec<_> = (0..)
            .zip(points)
            .map(|(n, held)| Point { slot: slot(n), held, basis: None, book_usd: None })
            .collect();
        let of = |points: &[Point]| {
            let mut rollup = Rollup::default();
            for point in points {
                rollup.add_point([1, 2], point);
            }
            rollup
        };
        let whole = of(&points);
        let expected = GapRollup {
            last: beyond(500),
            worst: Some((slot(6), Percent(7))),
            refused_slots: 5,
            least_fillable: Some((slot(7), UsdMicros(400))),
        };
        assert_eq!(whole.directions[1].gaps, [None, None, Some(expected), None]);
        assert_eq!((whole.recorded_slots, whole.missing_slots, whole.retracted_slots), (9, 1, 1));
        for cut in 0..=points.len() {
            let mut joined = of(&points[..cut]);
            joined.join(&of(&points[cut..]));
            assert_eq!(joined, whole, "cut at {cut}");
        }
    }
}
