//! The result of a pass.

use core::cmp::Reverse;

use super::StressTerms;
use crate::analytics::runs::SlotRuns;
use crate::analytics::stats::nearest_rank;
use crate::analytics::venues::{
    CauseTally, FailureCauses, FigureVenue, LeftOutVenue, Reference, VenueSlots,
};
use crate::ids::PoolId;
use crate::json::wire_struct;
use crate::series::Slot;
use crate::stable_sort::sort;
use crate::units::{GapLimit, Percent};

/// The figure. Percentages are strings with six decimals; dollars are strings of whole dollars, rounded down. A value
/// that no slot provides is `None`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct StressResult {
    /// The first slot of the longest run above the limit. Of equally long runs the first counts.
    pub above_longest_run_from: Option<Slot>,
    /// The length of that run in consecutive slots; a slot that was not evaluated ends it. `None` if no limit was
    /// requested.
    pub above_longest_run_slots: Option<u32>,
    /// Slots above the limit, including those in which the venues could not fill the size.
    pub above_slots: Option<u32>,
    /// The first slot with the lowest sum of books.
    pub book_lowest_slot: Option<Slot>,
    /// The lowest sum over the venues of the depth at 2 % from their own mid prices.
    pub book_lowest_usd: Option<String>,
    /// The median over the evaluated slots.
    pub book_q50_usd: Option<String>,
    /// The slots above the limit by cause; `None` in version 1, and if no limit was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causes: Option<FailureCauses>,
    /// The sum of books in the slot with the lowest depth.
    pub depth_lowest_book_usd: Option<String>,
    /// The first slot with the lowest sum of depths.
    pub depth_lowest_slot: Option<Slot>,
    /// The lowest sum over the venues of the depth at 2 %.
    pub depth_lowest_usd: Option<String>,
    /// The median slot's.
    pub depth_q50_usd: Option<String>,
    /// The gap in the median slot; `None` if the venues could not fill the size there.
    pub gap_q50_pct: Option<String>,
    /// The 95th percentile of the gap; `None` if the venues could not fill the size in that slot.
    pub gap_q95_pct: Option<String>,
    /// Evaluated slots: those in which every venue has a recorded, unretracted snapshot.
    pub have_slots: u32,
    /// Venues whose kind cannot be shocked; empty in version 1, which refuses them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutVenue>,
    /// Slots in which only some of the venues have a snapshot.
    pub slots_incomplete: u32,
    /// Slots in which no venue has a snapshot.
    pub slots_missing: u32,
    /// Slots of the period that lack a venue's snapshot, within twelve slots before and after the worst one.
    pub slots_missing_near_worst: u32,
    /// Slots in which a search was given up.
    pub slots_unanswered: u32,
    /// Complete slots in which no venue's mid price had moved as required; `None` unless only slots after a move were
    /// requested.
    pub slots_unmoved: Option<u32>,
    /// Complete slots for which the move is unknown, because the earlier slot lacks a venue's snapshot; `None` as
    /// above.
    pub slots_untestable: Option<u32>,
    /// Slots in which the venues together could not fill the size.
    pub slots_unfillable: u32,
    /// `live`, or `preview` if any input is from a preview chain.
    pub status: String,
    /// The venues that take part, in the order of the request.
    pub venues: Vec<StressVenueResult>,
    /// The ten worst slots, worst first; of equal ones, the earlier first.
    pub worst: Vec<StressSlot>,
}

/// One venue.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct StressVenueResult {
    /// The lowest depth at 2 %, after the shock.
    pub lowest_depth_usd: Option<String>,
    /// The first slot with that depth.
    pub lowest_slot: Option<Slot>,
    /// The pool.
    pub pool: PoolId,
}

/// One slot.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct StressSlot {
    /// The sum of books.
    pub book_usd: String,
    /// The sum of depths.
    pub depth_usd: String,
    /// The amount that the venues together could fill, if that was less than the size.
    pub fillable_usd: Option<String>,
    /// The gap of the optimal split from the pools' own mid prices, in version 2 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_from_mid_pct: Option<String>,
    /// The same from the oracle price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_from_oracle_pct: Option<String>,
    /// The gap of the optimal split, if they could fill the size.
    pub gap_pct: Option<String>,
    /// The slot.
    pub slot: Slot,
}

wire_struct!(StressVenueResult { lowest_depth_usd, lowest_slot, pool });
wire_struct!(StressSlot {
    book_usd,
    depth_usd,
    fillable_usd,
    gap_pct,
    slot;
    optional gap_from_mid_pct, gap_from_oracle_pct,
});
wire_struct!(StressResult {
    above_longest_run_from,
    above_longest_run_slots,
    above_slots,
    book_lowest_slot,
    book_lowest_usd,
    book_q50_usd,
    depth_lowest_book_usd,
    depth_lowest_slot,
    depth_lowest_usd,
    depth_q50_usd,
    gap_q50_pct,
    gap_q95_pct,
    have_slots,
    slots_incomplete,
    slots_missing,
    slots_missing_near_worst,
    slots_unanswered,
    slots_unfillable,
    slots_unmoved,
    slots_untestable,
    status,
    venues,
    worst;
    optional causes, left_out,
});

const DOLLAR: u64 = 1_000_000;

/// The number of worst slots that are listed.
const WORST: usize = 10;

/// The slots in an hour.
const HOUR: u32 = 12;

/// A slot's result for the size, ordered from best to worst: not filling the size is worse than any gap, and the
/// smaller the fillable amount, the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SlotGap {
    Filled(Percent),
    /// The micro-dollars that the venues together can fill.
    Beyond(Reverse<u64>),
}

impl SlotGap {
    fn percent(self) -> Option<Percent> {
        match self {
            Self::Filled(gap) => Some(gap),
            Self::Beyond(_) => None,
        }
    }

    fn is_above(self, limit: GapLimit) -> bool {
        self.percent().is_none_or(|gap| gap > Percent::from(limit))
    }
}

/// A slot's gaps from both prices, if the venues filled the size; from the mids in version 2 only.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SlotGaps {
    pub from_oracle: Option<Percent>,
    pub from_mid: Option<Percent>,
}

/// A slot that was evaluated.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotFound {
    pub slot: Slot,
    /// The gap from the reference.
    pub gap: SlotGap,
    pub gaps: SlotGaps,
    pub depth_usd: u64,
    pub book_usd: u64,
}

/// Running totals of a pass.
#[derive(Debug, Default)]
pub(super) struct StressTally {
    /// Slots in which every venue has a snapshot, ascending.
    pub whole: Vec<Slot>,
    /// Those of them that were evaluated, ascending.
    pub slots: Vec<SlotFound>,
    /// The lowest depth of each venue, with its slot.
    pub lowest: Vec<Option<(u64, Slot)>>,
    pub unanswered: u32,
    pub unmoved: u32,
    pub untestable: u32,
}

impl StressTally {
    /// The figure.
    pub fn summed_up(self, terms: &StressTerms, slots: &VenueSlots) -> StressResult {
        let seen = slots.seen;
        let left_out = slots.left_out(terms.reference.unwrap_or(Reference::Oracle));
        let takes_part = |venue: &FigureVenue| left_out.iter().all(|out| out.pool != venue.pool);
        let taking = terms.venues.iter().zip(&self.lowest);
        let venues = taking
            .filter(|(venue, _)| takes_part(venue))
            .map(|(venue, lowest)| StressVenueResult {
                lowest_depth_usd: lowest.map(|(usd, _)| usd.to_string()),
                lowest_slot: lowest.map(|(_, slot)| slot),
                pool: venue.pool.clone(),
            })
            .collect();
        let text = |usd: u64| usd.to_string();
        let least = |of: fn(&SlotFound) -> u64| self.slots.iter().min_by_key(|found| of(found));
        let median = |of: fn(&SlotFound) -> u64| {
            let mut all: Vec<u64> = self.slots.iter().map(of).collect();
            sort(&mut all, Ord::cmp);
            nearest_rank(&all, 50).map(text)
        };
        let (book, depth) = (least(|found| found.book_usd), least(|found| found.depth_usd));
        let mut ascending = self.slots.clone();
        // Of equal gaps, the earlier slot counts as worse.
        sort(&mut ascending, |a, b| a.gap.cmp(&b.gap).then(b.slot.cmp(&a.slot)));
        let gap = |p: usize| nearest_rank(&ascending, p)?.gap.percent().map(Percent::to_fixed);
        let above = terms.limit.map(|limit| self.above(limit));
        let unfillable = self.slots.iter().filter(|found| found.gap.percent().is_none());
        StressResult {
            above_longest_run_from: above.and_then(|above| above.longest).map(|(from, _)| from),
            above_longest_run_slots: above.map(|above| above.longest.map_or(0, |(_, slots)| slots)),
            above_slots: above.map(|above| above.slots),
            book_lowest_slot: book.map(|found| found.slot),
            book_lowest_usd: book.map(|found| text(found.book_usd)),
            book_q50_usd: median(|found| found.book_usd),
            causes: terms.reference.and(terms.limit).map(|limit| self.causes(limit)),
            depth_lowest_book_usd: depth.map(|found| text(found.book_usd)),
            depth_lowest_slot: depth.map(|found| found.slot),
            depth_lowest_usd: depth.map(|found| text(found.depth_usd)),
            depth_q50_usd: median(|found| found.depth_usd),
            gap_q50_pct: gap(50),
            gap_q95_pct: gap(95),
            have_slots: count(self.slots.len()),
            slots_incomplete: seen.incomplete,
            slots_missing: seen.count_missing(terms.from, terms.to),
            slots_missing_near_worst: ascending
                .last()
                .map_or(0, |worst| self.missing_near(worst.slot, terms)),
            slots_unanswered: self.unanswered,
            slots_unfillable: count(unfillable.count()),
            slots_unmoved: terms.after.map(|_| self.unmoved),
            slots_untestable: terms.after.map(|_| self.untestable),
            status: seen.status(),
            venues,
            left_out,
            worst: ascending.iter().rev().take(WORST).map(StressSlot::from).collect(),
        }
    }

    /// The number of slots around this one that lack a venue's snapshot.
    fn missing_near(&self, slot: Slot, terms: &StressTerms) -> u32 {
        let from = terms.from.number().max(slot.number().saturating_sub(HOUR));
        let to = terms.to.number().min(slot.number().saturating_add(HOUR));
        let near = |slot: &&Slot| (from..=to).contains(&slot.number());
        (to - from + 1).saturating_sub(count(self.whole.iter().filter(near).count()))
    }

    fn above(&self, limit: GapLimit) -> SlotRuns {
        let mut above = SlotRuns::default();
        let found = self.slots.iter().filter(|found| found.gap.is_above(limit));
        found.for_each(|found| above.add(found.slot));
        above
    }

    fn causes(&self, limit: GapLimit) -> FailureCauses {
        let mut causes = CauseTally::default();
        for found in &self.slots {
            match (found.gaps.from_oracle, found.gaps.from_mid) {
                (Some(oracle), Some(mid)) => causes.add_filled(found.slot, oracle, mid, limit),
                _ => causes.add_unfillable(),
            }
        }
        causes.summed_up()
    }
}

impl From<&SlotFound> for StressSlot {
    fn from(found: &SlotFound) -> Self {
        Self {
            book_usd: found.book_usd.to_string(),
            depth_usd: found.depth_usd.to_string(),
            fillable_usd: match found.gap {
                SlotGap::Beyond(Reverse(micros)) => Some((micros / DOLLAR).to_string()),
                SlotGap::Filled(_) => None,
            },
            gap_from_mid_pct: found.gaps.from_mid.map(Percent::to_fixed),
            // Version 1 has one gap, the one from the oracle.
            gap_from_oracle_pct: found
                .gaps
                .from_mid
                .and(found.gaps.from_oracle)
                .map(Percent::to_fixed),
            gap_pct: found.gap.percent().map(Percent::to_fixed),
            slot: found.slot,
        }
    }
}

fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
