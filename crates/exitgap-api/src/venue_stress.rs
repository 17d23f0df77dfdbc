//! Stress over several venues: the fills of one exit in each slot of a week, after a shock.

use exitgap_core::analytics::stress::{StressResult, StressSlot, StressTerms};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use serde::{Deserialize, Serialize};

use crate::number::decimal;
use crate::{Exactness, FailuresByCause, Number, SeriesMethod, Status, TimeAbove, VenueLeftOut};

/// A pool of the stress test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StressedVenue {
    /// The pool.
    pub pool: String,
    /// `token0` or `token1`: the token sold.
    pub base: String,
    /// The lowest depth at 2% after the shock, whole USD. `null` if no slot was used.
    pub lowest_depth_usd: Option<Number>,
    /// The first slot with that depth, RFC 3339.
    pub lowest_depth_time: Option<String>,
}

/// One of the worst slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StressedSlot {
    /// The slot number.
    pub slot: u32,
    /// The time of the slot, RFC 3339.
    pub time: String,
    /// The gap of the optimal split, percent. `null` if the venues together could not absorb the
    /// size.
    pub exit_gap_pct: Option<Number>,
    /// The same from the oracle price, whatever the reference. Absent in `stress/1`, and if
    /// `exit_gap_pct` is `null`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gap_from_oracle_pct: Option<Number>,
    /// The same from the pools' own mid prices. Absent in the same cases.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gap_from_mid_pct: Option<Number>,
    /// The amount that they could absorb, whole USD. `null` if they could absorb all of the size.
    pub max_fillable_usd: Option<Number>,
    /// The total depth of the venues at 2% from the oracle price, whole USD.
    pub depth_usd: Number,
    /// The total depth at 2% from the pools' own mid prices.
    pub book_usd: Number,
}

/// The parameters and sources of a stress test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VenueStressOf {
    /// The version of the method: `stress/2`, or `stress/1` from a service before it.
    pub figure: String,
    /// The price that gaps are measured from: `oracle`, or `mid`, the pools' own mid prices. Absent
    /// in `stress/1`, which knows the oracle price only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reference: Option<String>,
    /// The first slot used, RFC 3339.
    pub from: String,
    /// The last slot used, RFC 3339.
    pub to: String,
    /// The size sold, USD at the oracle price after the drop.
    pub size_usd: Number,
    /// The share of all liquidity that is withdrawn, applied in every slot, percent.
    pub haircut_pct: Number,
    /// The price drop of the token sold, percent.
    pub fall_pct: Number,
    /// Only slots are used in which the mid price of a venue has moved at least this much, percent.
    /// Absent: every slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after_move_pct: Option<Number>,
    /// The number of slots within which it must have moved. Absent in the same case.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub within_slots: Option<u32>,
    /// Whether the amounts are what a holder sends and receives.
    #[serde(flatten)]
    pub exactness: Exactness,
    /// The length of the shortest series of the venues.
    pub days_observed: Number,
    /// The version of the method behind each fill.
    pub method_version: String,
    /// The method, disclosed.
    pub method: SeriesMethod,
    /// URL of the figure file. Anyone can recompute the report from this file and the snapshots
    /// that it names.
    pub figure_url: String,
}

/// `GET /v1/stress`. USD are whole. A slot in which the venues could not absorb the size is worse
/// than any number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VenueStress {
    /// The parameters and sources.
    #[serde(flatten)]
    pub of: VenueStressOf,
    /// Live or preview.
    pub status: Status,
    /// Slots used: every venue has a snapshot that was not retracted.
    pub have: u32,
    /// Slots of the period without a snapshot of any venue.
    pub slots_missing: u32,
    /// Slots with a snapshot of some venues only. Their depth is unknown, not zero.
    pub slots_incomplete: u32,
    /// Slots in which a computation was given up.
    pub slots_unanswered: u32,
    /// Slots that were not used because no venue's mid price had moved by `after_move_pct`. Absent
    /// without it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slots_unmoved: Option<u32>,
    /// Slots in which the move is unknown, because not every venue has a snapshot that many slots
    /// before in the period. Absent in the same case.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slots_untestable: Option<u32>,
    /// Slots in which the venues together could not absorb the size.
    pub slots_unfillable: u32,
    /// Slots with a snapshot of some venues only, or of none, within an hour before or after the
    /// worst slot. Outages often coincide with market stress.
    pub slots_missing_near_worst: u32,
    /// The median gap, percent, by nearest rank. `null` if that slot could not absorb the size, or
    /// there is no slot.
    pub gap_q50_pct: Option<Number>,
    /// The 95th percentile of the gap, percent. `null` in the same cases.
    pub gap_q95_pct: Option<Number>,
    /// The ten worst slots, worst first.
    pub worst_slots: Vec<StressedSlot>,
    /// How long the gap was above `limit_pct`. `null` if no limit was given.
    pub above: Option<TimeAbove>,
    /// The slots above `limit_pct` by cause. The counts do not depend on `reference`. Absent in
    /// `stress/1`, and if no limit was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub causes: Option<FailuresByCause>,
    /// The lowest total depth of the venues at 2% from the oracle price.
    pub lowest_depth_usd: Option<Number>,
    /// The first slot with that depth, RFC 3339.
    pub lowest_depth_time: Option<String>,
    /// The total depth around the pools' own mid prices in that slot. Compare both to see whether
    /// liquidity was withdrawn or the price had moved away.
    pub lowest_depth_book_usd: Option<Number>,
    /// The median total depth.
    pub depth_q50_usd: Option<Number>,
    /// The lowest total depth of the venues at 2% from their own mid prices.
    pub lowest_book_usd: Option<Number>,
    /// The first slot with that depth, RFC 3339.
    pub lowest_book_time: Option<String>,
    /// The median of that total depth.
    pub book_q50_usd: Option<Number>,
    /// Venues that cannot take part, because their kind cannot be shocked.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left_out: Vec<VenueLeftOut>,
    /// One entry per venue that takes part, in the order of the request.
    pub venues: Vec<StressedVenue>,
}

impl VenueStress {
    /// Converts a core result to a document.
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
        let asked = |pool: &PoolId| terms.venues.iter().find(|venue| venue.pool == *pool);
        let venues = result.venues.iter().filter_map(|found| Some((asked(&found.pool)?, found)));
        let causes = result.causes.as_ref().zip(terms.limit).map(|(causes, limit)| {
            let failed = format!("the gap was above {}%", Number::from(limit));
            FailuresByCause::new(causes, result.have_slots, &failed)
        });
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
            causes,
            left_out: VenueLeftOut::list(&result.left_out, &terms.venues),
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
            gap_from_oracle_pct: found.gap_from_oracle_pct.as_deref().and_then(decimal),
            gap_from_mid_pct: found.gap_from_mid_pct.as_deref().and_then(decimal),
            max_fillable_usd: found.fillable_usd.as_deref().map(Number::from_whole),
            depth_usd: Number::from_whole(&found.depth_usd),
            book_usd: Number::from_whole(&found.book_usd),
        }
    }
}
