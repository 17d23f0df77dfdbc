//! Stress over several venues: what one exit would have filled at in each slot of a week, after a shock.

use exitgap_core::analytics::stress::{STRESS, StressResult, StressSlot, StressTerms};
use exitgap_core::series::Slot;
use serde::{Deserialize, Serialize};

use crate::number::decimal;
use crate::{Number, SeriesMethod, Status, TimeAbove};

/// A pool that is sold in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StressedVenue {
    /// The pool.
    pub pool: String,
    /// `token0` or `token1`: the token sold.
    pub base: String,
    /// The least depth at two percent after the shock, whole USD; `null` where no slot was looked at.
    pub lowest_depth_usd: Option<Number>,
    /// The slot of it, RFC 3339, the first.
    pub lowest_depth_time: Option<String>,
}

/// One of the worst slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StressedSlot {
    /// The slot's number.
    pub slot: u32,
    /// The slot's instant, RFC 3339.
    pub time: String,
    /// The gap of the exact split, percent; `null` where the venues together did not take the size.
    pub exit_gap_pct: Option<Number>,
    /// What they took then, whole USD; `null` where they took all of it.
    pub max_fillable_usd: Option<Number>,
    /// The venues' depths at two percent from the oracle, summed, whole USD.
    pub depth_usd: Number,
    /// The same from the pools' own mid prices.
    pub book_usd: Number,
}

/// What a stress is of, beside what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VenueStressOf {
    /// The rules: `stress/1`.
    pub figure: String,
    /// The first slot looked at, RFC 3339.
    pub from: String,
    /// The last slot looked at, RFC 3339.
    pub to: String,
    /// What is sold, USD at the oracle price after the fall.
    pub size_usd: Number,
    /// How much of everybody's liquidity has gone in every slot looked at, percent.
    pub haircut_pct: Number,
    /// How far the price of the token sold has fallen, percent.
    pub fall_pct: Number,
    /// Only slots are looked at in which the mid price of a venue has moved by so much, percent; absent: every slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after_move_pct: Option<Number>,
    /// Since how many slots before it must have moved; likewise.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub within_slots: Option<u32>,
    /// The length of the venues' shortest series.
    pub days_observed: Number,
    /// The version of the rules behind each fill.
    pub method_version: String,
    /// The method, disclosed.
    pub method: SeriesMethod,
    /// The figure file: what anyone can recompute it from, with the snapshots that it names.
    pub figure_url: String,
}

/// `GET /v1/stress`. USD are whole. A slot in which the venues did not take the size is worse than any number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VenueStress {
    /// What it is of.
    #[serde(flatten)]
    pub of: VenueStressOf,
    /// Live or preview.
    pub status: Status,
    /// Slots looked at: every venue stands.
    pub have: u32,
    /// Slots of the period in which no venue stands.
    pub slots_missing: u32,
    /// Slots in which some venue stands and some does not: unknown, not empty.
    pub slots_incomplete: u32,
    /// Slots of which a search was given up.
    pub slots_unanswered: u32,
    /// Slots in which no venue's mid price had moved by `after_move_pct`: not looked at; absent without it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slots_unmoved: Option<u32>,
    /// Slots of which that is unknown, since so many slots before in the period not every venue stands; likewise.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slots_untestable: Option<u32>,
    /// Slots in which the venues together did not take it.
    pub slots_unfillable: u32,
    /// Slots in which not every venue stands, within an hour of the worst either way: outages come with storms.
    pub slots_missing_near_worst: u32,
    /// The median gap, percent, by nearest rank; `null` where that slot did not take it, or there is none.
    pub gap_q50_pct: Option<Number>,
    /// The gap that nineteen of twenty slots did not exceed, percent; `null` likewise.
    pub gap_q95_pct: Option<Number>,
    /// The ten worst slots, the worst first.
    pub worst_slots: Vec<StressedSlot>,
    /// How long the gap lay above `limit_pct`; `null` where that was not asked for.
    pub above: Option<TimeAbove>,
    /// The least sum over venues of the depth at two percent from the oracle.
    pub lowest_depth_usd: Option<Number>,
    /// Its slot, RFC 3339, the first.
    pub lowest_depth_time: Option<String>,
    /// The sum of books in that slot: whether liquidity had gone, or the price had moved away.
    pub lowest_depth_book_usd: Option<Number>,
    /// The median slot's depth.
    pub depth_q50_usd: Option<Number>,
    /// The least sum over venues of the depth at two percent from their own mid prices.
    pub lowest_book_usd: Option<Number>,
    /// Its slot, RFC 3339, the first.
    pub lowest_book_time: Option<String>,
    /// The median slot's.
    pub book_q50_usd: Option<Number>,
    /// By venue, as asked.
    pub venues: Vec<StressedVenue>,
}

impl VenueStressOf {
    /// The name and version of the rules.
    pub const FIGURE: &'static str = STRESS;
}

impl VenueStress {
    /// A result of the core as a document.
    pub fn new(of: VenueStressOf, terms: &StressTerms, result: &StressResult) -> Self {
        let usd = |text: &Option<String>| text.as_deref().map(Number::from_whole);
        let percent = |text: &Option<String>| text.as_deref().and_then(decimal);
        let time = |slot: &Option<Slot>| slot.map(|slot| slot.to_string());
        let above = terms.limit.map(|limit| TimeAbove {
            limit_pct: limit.into(),
            slots: result.above_slots.unwrap_or(0),
            longest_run_slots: result.above_longest_run_slots.unwrap_or(0),
            longest_run_from: time(&result.above_longest_run_from),
        });
        let venues = terms.venues.iter().zip(&result.venues);
        Self {
            of,
            status: if result.status == "live" { Status::Live } else { Status::Preview },
            have: result.have_slots,
            slots_missing: result.slots_missing,
            slots_incomplete: result.slots_incomplete,
            slots_unanswered: result.slots_unanswered,
            slots_unmoved: result.slots_unmoved,
            slots_untestable: result.slots_untestable,
            slots_unfillable: result.slots_unfillable,
            slots_missing_near_worst: result.slots_missing_near_worst,
            gap_q50_pct: percent(&result.gap_q50_pct),
            gap_q95_pct: percent(&result.gap_q95_pct),
            worst_slots: result.worst.iter().map(StressedSlot::from).collect(),
            above,
            lowest_depth_usd: usd(&result.depth_lowest_usd),
            lowest_depth_time: time(&result.depth_lowest_slot),
            lowest_depth_book_usd: usd(&result.depth_lowest_book_usd),
            depth_q50_usd: usd(&result.depth_q50_usd),
            lowest_book_usd: usd(&result.book_lowest_usd),
            lowest_book_time: time(&result.book_lowest_slot),
            book_q50_usd: usd(&result.book_q50_usd),
            venues: venues
                .map(|(asked, found)| StressedVenue {
                    pool: asked.pool.to_string(),
                    base: asked.base.code().to_owned(),
                    lowest_depth_usd: usd(&found.lowest_depth_usd),
                    lowest_depth_time: time(&found.lowest_slot),
                })
                .collect(),
        }
    }
}

impl From<&StressSlot> for StressedSlot {
    fn from(found: &StressSlot) -> Self {
        Self {
            slot: found.slot.number(),
            time: found.slot.to_string(),
            exit_gap_pct: found.gap_pct.as_deref().and_then(decimal),
            max_fillable_usd: found.fillable_usd.as_deref().map(Number::from_whole),
            depth_usd: Number::from_whole(&found.depth_usd),
            book_usd: Number::from_whole(&found.book_usd),
        }
    }
}
