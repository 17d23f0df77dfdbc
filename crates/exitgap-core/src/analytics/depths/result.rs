//! The result of a pass.

use super::DepthsTerms;
use super::lows::{DepthCause, DepthLows, SlotDepths};
use crate::json::wire_struct;
use crate::series::Slot;
use crate::units::Percent;

/// The figure. Percentages are strings with six decimals; dollars are strings of whole dollars. A value that no slot
/// provides is `None`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DepthsResult {
    /// Slots with a recorded, unretracted snapshot.
    pub have_slots: u32,
    /// All other slots of the period.
    pub slots_missing: u32,
    /// `live`, or `preview` if any input is from a preview chain.
    pub status: String,
    /// Selling token 0.
    pub token0: DepthsSideResult,
    /// Selling token 1.
    pub token1: DepthsSideResult,
}

/// One direction.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DepthsSideResult {
    /// The book in the slot of the lowest depth.
    pub book_at_lowest_depth_usd: Option<String>,
    /// Why the lowest depth is low: `oracle_led` or `thin_book`.
    pub cause: Option<String>,
    /// The largest lead of the oracle price over the pool's mid price; 0 if it was never ahead.
    pub largest_lead_pct: String,
    /// The first slot with that lead.
    pub largest_lead_slot: Option<Slot>,
    /// The oracle's lead in the slot of the lowest depth.
    pub lead_at_lowest_depth_pct: Option<String>,
    /// The first slot of the longest run of consecutive slots with a lead above 2 %.
    pub led_longest_run_from: Option<Slot>,
    /// The length of that run.
    pub led_longest_run_slots: u32,
    /// Slots with a lead above 2 %.
    pub led_slots: u32,
    /// The first slot with the lowest book.
    pub lowest_book_slot: Option<Slot>,
    /// The lowest depth at 2 % from the pool's own mid price.
    pub lowest_book_usd: Option<String>,
    /// The first slot with the lowest depth.
    pub lowest_depth_slot: Option<Slot>,
    /// The lowest depth at 2 % from the oracle price.
    pub lowest_depth_usd: Option<String>,
    /// The median book by nearest rank.
    pub median_book_usd: Option<String>,
}

wire_struct!(DepthsSideResult {
    book_at_lowest_depth_usd,
    cause,
    largest_lead_pct,
    largest_lead_slot,
    lead_at_lowest_depth_pct,
    led_longest_run_from,
    led_longest_run_slots,
    led_slots,
    lowest_book_slot,
    lowest_book_usd,
    lowest_depth_slot,
    lowest_depth_usd,
    median_book_usd,
});
wire_struct!(DepthsResult { have_slots, slots_missing, status, token0, token1 });

impl DepthsResult {
    /// The figure of a period's recorded, unretracted slots.
    pub(super) fn of_slots(
        terms: &DepthsTerms,
        slots: &[(Slot, [SlotDepths; 2])],
        is_preview: bool,
    ) -> Self {
        let side = |token: usize| {
            let of_token = slots.iter().map(|(slot, depths)| (*slot, depths[token]));
            DepthsSideResult::from(&DepthLows::from_slots(of_token))
        };
        let have_slots = u32::try_from(slots.len()).unwrap_or(u32::MAX);
        let all = terms.to.number() - terms.from.number() + 1;
        Self {
            have_slots,
            slots_missing: all.saturating_sub(have_slots),
            status: if is_preview { "preview" } else { "live" }.to_owned(),
            token0: side(0),
            token1: side(1),
        }
    }
}

impl From<&DepthLows> for DepthsSideResult {
    fn from(lows: &DepthLows) -> Self {
        let dollars = |usd: u64| usd.to_string();
        let percent = |e6: u32| Percent(e6.into()).to_fixed();
        let at_lowest = lows.slot_of_lowest_depth().map(|(_, depths)| depths);
        Self {
            book_at_lowest_depth_usd: at_lowest.and_then(|at| at.book_usd).map(dollars),
            cause: lows.cause().map(DepthCause::code).map(str::to_owned),
            largest_lead_pct: percent(lows.lead.largest.map_or(0, |(_, lead)| lead)),
            largest_lead_slot: lows.lead.largest.map(|(slot, _)| slot),
            lead_at_lowest_depth_pct: at_lowest.map(|at| percent(at.lead_e6)),
            led_longest_run_from: lows.lead.longest_run.map(|(from, _)| from),
            led_longest_run_slots: lows.lead.longest_run.map_or(0, |(_, slots)| slots),
            led_slots: lows.lead.slots,
            lowest_book_slot: lows.lowest_book.map(|(slot, _)| slot),
            lowest_book_usd: lows.lowest_book.map(|(_, usd)| dollars(usd)),
            lowest_depth_slot: lows.lowest_depth.map(|(slot, _)| slot),
            lowest_depth_usd: lows.lowest_depth.map(|(_, usd)| dollars(usd)),
            median_book_usd: lows.median_book_usd.map(dollars),
        }
    }
}
