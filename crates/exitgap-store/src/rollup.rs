//! Slots of a pool put together: a day's, as the store keeps them, or any other run.

use exitgap_core::series::Slot;

use crate::figures::{Figures, Gap, SnapshotFigures};
use crate::model::Outcome;
use crate::points::{Held, Point};

/// The last and the worst of a run of slots: what is recorded and not retracted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rollup {
    /// Slots that are recorded and not retracted.
    pub recorded_slots: u32,
    /// Slots that are missing.
    pub missing_slots: u32,
    /// Slots that were recorded, and retracted later.
    pub retracted_slots: u32,
    /// The newest recorded slot.
    pub last: Option<Slot>,
    /// Selling token 0, selling token 1.
    pub directions: [DirectionRollup; 2],
}

/// One direction of a run of slots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirectionRollup {
    /// The lowest depth and the earliest slot that has it.
    pub lowest: Option<(Slot, u64)>,
    /// By standard size; `None` while nothing is recorded.
    pub gaps: [Option<GapRollup>; 4],
}

/// One standard size over a run of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GapRollup {
    /// The gap of [`Rollup::last`].
    pub last: Gap,
    /// The worst one: where a size could not be filled, that.
    pub worst: Gap,
    /// The earliest slot that has it.
    pub worst_slot: Slot,
}

/// A UTC day of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// Counted from 1970-01-01; its first slot is `day × 288`.
    pub day: u32,
    /// Its slots so far.
    pub rollup: Rollup,
}

impl Rollup {
    /// Adds a slot after those added before.
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

    /// Adds a slot after those added before, of which only `token` at the standard size of place
    /// `size` is known.
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
        let worst = rollup.filter(|before| gap.worse(before.worst).is_le());
        let (worst, worst_slot) =
            worst.map_or((gap, slot), |before| (before.worst, before.worst_slot));
        *rollup = Some(Self { last: gap, worst, worst_slot });
    }
}

/// The day of a slot, counted from 1970-01-01.
pub fn day_of(slot: Slot) -> u32 {
    slot.number() / Slot::PER_DAY
}
