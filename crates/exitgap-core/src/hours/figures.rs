//! Statistics of a pool's recorded slots while its markets are open, and in closures of each kind.
//!
//! `Q(p)` is the nearest rank of the values in ascending order: rank `⌈p·n÷100⌉`, without interpolation. A refused sale
//! counts as worse than any gap.

use super::market::ClosureKind;
use super::markets::{ClosureSpan, Markets};
use crate::analytics::{nearest_rank, nearest_rank_among};
use crate::stable_sort::sort;
use crate::units::Percent;

/// The number of closures of a kind that its statistics need.
pub const NEEDED_CLOSURES: u32 = 4;

/// A slot that is recorded and not retracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedSlot {
    /// Its block's timestamp, seconds UTC.
    pub at: u64,
    /// Its depth at 2 %, whole dollars; `None` if the search was given up.
    pub depth_usd: Option<u64>,
    /// Its gap at the requested size; `None` if the size was refused.
    pub gap: Option<Percent>,
}

/// The distribution of depths and gaps over some slots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spread {
    /// The number of slots.
    pub slots: u32,
    /// The number of those slots in which the size was refused.
    pub slots_refused: u32,
    /// The median depth, whole dollars.
    pub depth_usd_q50: Option<u64>,
    /// The lowest depth, whole dollars.
    pub depth_usd_lowest: Option<u64>,
    /// The median gap; `None` if the median slot refused the size.
    pub gap_q50: Option<Percent>,
    /// The 95th percentile of the gap; `None` if that slot refused the size.
    pub gap_q95: Option<Percent>,
}

/// The closures of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosureFigures {
    /// The kind.
    pub kind: ClosureKind,
    /// Closures that contain a recorded slot; at least [`NEEDED_CLOSURES`] are required.
    pub have: u32,
    /// The statistics of all their slots together.
    pub spread: Spread,
    /// Whether their median depth is less than half of the open market's; `None` if either is unknown, or if there are
    /// too few closures.
    pub thin: Option<bool>,
}

/// The statistics of a period's slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoursFigures {
    /// While all markets are open.
    pub open: Spread,
    /// In closures, by kind.
    pub closed: [ClosureFigures; 3],
    /// Slots for which the tables do not say whether a market was open.
    pub slots_unknown: u32,
}

/// The statistics of slots in ascending order, with the closures of their period in ascending order.
pub fn hours_figures(
    markets: &Markets,
    closures: &[ClosureSpan],
    slots: &[RecordedSlot],
) -> HoursFigures {
    let mut open = Vec::new();
    let mut by_kind = ClosureKind::ALL.map(|kind| (kind, 0, Vec::new()));
    let mut slots_unknown = 0;
    let mut rest = slots;
    for closed in closures {
        let (before, from_here) = split(rest, closed.from);
        let (within, after) = split(from_here, closed.to);
        rest = after;
        open.extend(before);
        if let Some((_, have, slots)) = by_kind.iter_mut().find(|(kind, ..)| *kind == closed.kind)
            && !within.is_empty()
        {
            *have += 1;
            slots.extend(within);
        }
    }
    for slot in rest {
        if markets.market(slot.at).is_open() {
            open.push(slot);
        } else {
            slots_unknown += 1;
        }
    }
    let open = Spread::from_slots(&open);
    let closed =
        by_kind.map(|(kind, have, slots)| ClosureFigures::from_slots(kind, have, &slots, &open));
    HoursFigures { open, closed, slots_unknown }
}

/// Splits the slots at an instant.
fn split(slots: &[RecordedSlot], at: u64) -> (&[RecordedSlot], &[RecordedSlot]) {
    slots.split_at(slots.partition_point(|slot| slot.at < at))
}

impl ClosureFigures {
    fn from_slots(kind: ClosureKind, have: u32, slots: &[&RecordedSlot], open: &Spread) -> Self {
        let all = Spread::from_slots(slots);
        if have < NEEDED_CLOSURES {
            let Spread { slots, slots_refused, .. } = all;
            let spread = Spread { slots, slots_refused, ..Spread::default() };
            return Self { kind, have, spread, thin: None };
        }
        let depths = all.depth_usd_q50.zip(open.depth_usd_q50);
        // Less than half, computed in whole dollars.
        let thin = depths.map(|(closed, open)| closed < open.div_ceil(2));
        Self { kind, have, spread: all, thin }
    }

    /// Whether there are enough closures.
    pub fn is_enough(&self) -> bool {
        self.have >= NEEDED_CLOSURES
    }
}

impl Spread {
    /// The statistics of these slots.
    pub fn from_slots(slots: &[&RecordedSlot]) -> Self {
        let mut depths: Vec<u64> = slots.iter().filter_map(|slot| slot.depth_usd).collect();
        let mut gaps: Vec<Percent> = slots.iter().filter_map(|slot| slot.gap).collect();
        sort(&mut depths, Ord::cmp);
        sort(&mut gaps, Ord::cmp);
        Self {
            slots: count(slots.len()),
            slots_refused: count(slots.len() - gaps.len()),
            depth_usd_q50: nearest_rank(&depths, 50),
            depth_usd_lowest: depths.first().copied(),
            // Refused slots are worse than any gap.
            gap_q50: nearest_rank_among(&gaps, slots.len(), 50),
            gap_q95: nearest_rank_among(&gaps, slots.len(), 95),
        }
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;
