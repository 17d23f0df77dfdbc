//! The result of a pass.

use super::scan::ClosureFound;
use crate::hours::{ClosureFigures, HoursFigures, NEEDED_CLOSURES, Spread};
use crate::json::wire_struct;
use crate::series::Slot;
use crate::units::Percent;

/// The figure. Percentages are strings with six decimals; dollars are strings of whole dollars.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct HoursResult {
    /// The statistics while a market was closed: nights, weekends, holidays.
    pub closed: Vec<HoursKindResult>,
    /// The closures of the period that contain a recorded, unretracted slot, ascending.
    pub closures: Vec<HoursClosureResult>,
    /// Slots that are recorded and not retracted.
    pub have_slots: u32,
    /// The statistics while the markets of both tokens were open.
    pub open: HoursSpreadResult,
    /// Slots of the period that are missing or retracted.
    pub slots_missing: u32,
    /// Recorded, unretracted slots for which no calendar table says whether a market was open.
    pub slots_unknown: u32,
    /// `live`, or `preview` if any input is from a preview chain.
    pub status: String,
}

/// The distribution of depths and gaps over some slots, by nearest rank.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct HoursSpreadResult {
    /// The lowest depth at 2 %; `null` if no search found one, or if there are too few closures.
    pub depth_lowest_usd: Option<String>,
    /// The median depth; `null` in the same cases.
    pub depth_q50_usd: Option<String>,
    /// The median gap; `null` if the median slot refused the size, or if there are too few closures.
    pub gap_q50_pct: Option<String>,
    /// The 95th percentile of the gap; `null` in the same cases.
    pub gap_q95_pct: Option<String>,
    /// The number of slots.
    pub slots: u32,
    /// The number of those slots in which the size was refused.
    pub slots_refused: u32,
}

/// The closures of one kind.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct HoursKindResult {
    /// `night`, `weekend` or `holiday`.
    pub closure_kind: String,
    /// Whether there are enough closures. If not, the statistics are `null`.
    pub enough: bool,
    /// Closures of this kind that contain a recorded, unretracted slot.
    pub have: u32,
    /// The number of closures that the statistics need.
    pub needed: u32,
    /// The largest reopening gap of these closures.
    pub reopening_gap_pct_worst: Option<String>,
    /// The statistics of all their slots together.
    pub spread: HoursSpreadResult,
    /// Whether their median depth is less than half of the open market's median depth.
    pub thin_when_closed: Option<bool>,
}

/// One closure.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct HoursClosureResult {
    /// When the market closed, seconds UTC.
    pub closed_at_s: u64,
    /// `night`, `weekend` or `holiday`.
    pub closure_kind: String,
    /// The lowest depth at 2 % during the closure.
    pub depth_lowest_usd: Option<String>,
    /// The last recorded, unretracted slot during the closure.
    pub last_closed_slot: Slot,
    /// When the market opens again, seconds UTC.
    pub opens_at_s: u64,
    /// The first recorded, unretracted slot in which every feed of a token with a calendar has a round since the
    /// opening.
    pub reopened_slot: Option<Slot>,
    /// The proceeds of the size in the last closed slot, compared with its oracle value in the reopened slot:
    /// **positive if selling before the opening was worse**.
    pub reopening_gap_pct: Option<String>,
    /// The number of its recorded, unretracted slots.
    pub slots: u32,
}

wire_struct!(HoursResult {
    closed,
    closures,
    have_slots,
    open,
    slots_missing,
    slots_unknown,
    status,
});
wire_struct!(HoursSpreadResult {
    depth_lowest_usd,
    depth_q50_usd,
    gap_q50_pct,
    gap_q95_pct,
    slots,
    slots_refused,
});
wire_struct!(HoursKindResult {
    closure_kind,
    enough,
    have,
    needed,
    reopening_gap_pct_worst,
    spread,
    thin_when_closed,
});
wire_struct!(HoursClosureResult {
    closed_at_s,
    closure_kind,
    depth_lowest_usd,
    last_closed_slot,
    opens_at_s,
    reopened_slot,
    reopening_gap_pct,
    slots,
});

impl HoursResult {
    /// The result for a period of `asked` slots, `have` of which are recorded and not retracted.
    pub(super) fn from_figures(
        figures: &HoursFigures,
        closures: &[ClosureFound],
        have: usize,
        asked: u64,
        is_live: bool,
    ) -> Self {
        let have_slots = u32::try_from(have).unwrap_or(u32::MAX);
        let missing = asked.saturating_sub(have_slots.into());
        Self {
            closed: figures
                .closed
                .iter()
                .map(|kind| HoursKindResult::from_figures(kind, closures))
                .collect(),
            closures: closures.iter().map(HoursClosureResult::from_closure).collect(),
            have_slots,
            open: HoursSpreadResult::from_spread(&figures.open),
            slots_missing: u32::try_from(missing).unwrap_or(u32::MAX),
            slots_unknown: figures.slots_unknown,
            status: if is_live { "live" } else { "preview" }.to_owned(),
        }
    }
}

impl HoursSpreadResult {
    pub(in crate::analytics) fn from_spread(spread: &Spread) -> Self {
        Self {
            depth_lowest_usd: spread.depth_usd_lowest.map(|usd| usd.to_string()),
            depth_q50_usd: spread.depth_usd_q50.map(|usd| usd.to_string()),
            gap_q50_pct: spread.gap_q50.map(Percent::to_fixed),
            gap_q95_pct: spread.gap_q95.map(Percent::to_fixed),
            slots: spread.slots,
            slots_refused: spread.slots_refused,
        }
    }
}

impl HoursKindResult {
    fn from_figures(figures: &ClosureFigures, closures: &[ClosureFound]) -> Self {
        let enough = figures.is_enough();
        let of_kind = closures.iter().filter(|found| found.closed.kind == figures.kind);
        let worst = of_kind.filter_map(|found| found.reopened?.1).max();
        Self {
            closure_kind: figures.kind.as_str().to_owned(),
            enough,
            have: figures.have,
            needed: NEEDED_CLOSURES,
            reopening_gap_pct_worst: worst.filter(|_| enough).map(Percent::to_fixed),
            spread: HoursSpreadResult::from_spread(&figures.spread),
            thin_when_closed: figures.thin,
        }
    }
}

impl HoursClosureResult {
    fn from_closure(found: &ClosureFound) -> Self {
        Self {
            closed_at_s: found.closed.from,
            closure_kind: found.closed.kind.as_str().to_owned(),
            depth_lowest_usd: found.lowest.map(|usd| usd.to_string()),
            last_closed_slot: found.last,
            opens_at_s: found.closed.to,
            reopened_slot: found.reopened.map(|(slot, _)| slot),
            reopening_gap_pct: found.reopened.and_then(|(_, gap)| gap).map(Percent::to_fixed),
            slots: found.slots,
        }
    }
}
