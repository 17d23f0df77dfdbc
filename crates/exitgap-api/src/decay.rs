//! Depth decay: how a pool's depth shrinks after its price has moved.

use exitgap_core::analytics::decay::{
    DECAY, DecayEvent, DecayHorizon, DecayResult, DecaySide, DecayStep,
};
use exitgap_core::snapshot::MAX_SNAPSHOT_FILE_BYTES;
use exitgap_core::units::Percent;
use serde::{Deserialize, Serialize};

use crate::{Exactness, Number, SeriesMethod, Status};

/// A page of snapshot files ends with the file in which it reaches this many bytes.
pub const SNAPSHOT_PAGE_BYTES: usize = 4 << 20;

/// The maximum size of such a page, in bytes.
pub const MAX_SNAPSHOT_PAGE_BYTES: usize = SNAPSHOT_PAGE_BYTES + MAX_SNAPSHOT_FILE_BYTES;

/// The depth some slots after an event. `book_before_usd + mechanical_usd + liquidity_usd =
/// book_usd`, to the dollar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepthDecayStep {
    /// Slots after the event.
    pub h_slots: u32,
    /// The depth before the event, whole USD.
    pub book_before_usd: Number,
    /// The depth of the earlier liquidity at the new price, whole USD.
    pub book_static_usd: Number,
    /// The depth now, whole USD.
    pub book_usd: Number,
    /// The change caused by the price move alone, whole USD. Negative if the depth became smaller.
    pub mechanical_usd: Number,
    /// The change caused by providers who added or removed liquidity, whole USD. Negative if they
    /// removed liquidity.
    pub liquidity_usd: Number,
}

/// One move of the price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepthDecayEvent {
    /// The slot number.
    pub slot: u32,
    /// The time of the slot, RFC 3339.
    pub time: String,
    /// How far the pool's mid price moved, percent. Positive if the token sold rose.
    pub move_pct: Number,
    /// Slots from the greatest deficit to the first of two consecutive slots with half of that
    /// deficit or less. `null` if it is censored or nothing was withdrawn.
    pub half_life_slots: Option<u32>,
    /// Whether liquidity was withdrawn and half had not returned within 48 slots.
    pub censored: bool,
    /// The depths after the event, at each horizon with a snapshot that was not retracted.
    pub at: Vec<DepthDecayStep>,
}

/// Statistics of one horizon. `null` if too little is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepthDecayHorizon {
    /// Slots after the event.
    pub h_slots: u32,
    /// Events measured.
    pub n: u32,
    /// Events whose depth was zero before the move or at the new price. They have no percentages.
    pub n_without_share: u32,
    /// Remaining depth ÷ depth before, median, percent.
    pub retained_pct_q50: Option<Number>,
    /// Remaining depth ÷ depth before, 5th percentile, percent.
    pub retained_pct_q5: Option<Number>,
    /// Depth that would remain if no one withdrew liquidity ÷ depth before, median, percent.
    pub static_pct_q50: Option<Number>,
    /// Share of the depth that providers withdrew, median, percent. Positive if liquidity was
    /// removed.
    pub withdrawn_pct_q50: Option<Number>,
    /// Baselines measured.
    pub baseline_n: u32,
    /// Share withdrawn over the same time without an event nearby, median, percent.
    pub baseline_withdrawn_pct_q50: Option<Number>,
}

/// Statistics of the events in one direction of the price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepthDecaySide {
    /// Events after which liquidity was withdrawn.
    pub half_life_n: u32,
    /// The median half-life of those events, slots. `null` if it is censored or there are too few
    /// events.
    pub half_life_slots_q50: Option<u32>,
    /// Statistics by slots after the event.
    pub horizons: Vec<DepthDecayHorizon>,
}

/// The parameters and sources of a decay report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepthDecayOf {
    /// The version of the method: `decay/1`.
    pub figure: String,
    /// The pool.
    pub pool: String,
    /// `token0` or `token1`: the token sold.
    pub base: String,
    /// The first slot used, RFC 3339.
    pub from: String,
    /// The last slot used, RFC 3339.
    pub to: String,
    /// The gap from the pool's own mid price at which depth is measured, percent.
    pub gap_pct: Number,
    /// How far the mid price must have moved, percent.
    pub move_pct: Number,
    /// The number of slots within which it must have moved.
    pub within_slots: u32,
    /// Whether the amounts are what a holder sends and receives.
    #[serde(flatten)]
    pub exactness: Exactness,
    /// The length of the series up to `to`.
    pub days_observed: Number,
    /// The version of the method behind each depth.
    pub method_version: String,
    /// The method, disclosed.
    pub method: SeriesMethod,
    /// URL of the figure file. Anyone can recompute the report from this file and the snapshots
    /// that it names.
    pub figure_url: String,
}

impl DepthDecayOf {
    /// The name and version of the rules.
    pub const FIGURE: &'static str = DECAY;
}

/// `GET /v1/decay/{pool}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepthDecay {
    /// The parameters and sources.
    #[serde(flatten)]
    pub of: DepthDecayOf,
    /// Live or preview.
    pub status: Status,
    /// Whether the series is long enough for statistics. Events are listed in any case.
    pub enough: bool,
    /// Slots of the period with a snapshot that was not retracted.
    pub have: u32,
    /// The number of slots needed.
    pub needed: u32,
    /// The number of events needed for the statistics of a horizon.
    pub needed_events: u32,
    /// Slots of the period without such a snapshot. They are never interpolated.
    pub slots_missing: u32,
    /// Recorded slots without a recorded slot `within_slots` earlier to compare with.
    pub slots_untestable: u32,
    /// Moves within 48 slots after an event. They do not count as separate events.
    pub events_suppressed: u32,
    /// Depths whose computation was given up. Their slots are in no list.
    pub books_unanswered: u32,
    /// Statistics after the price of the token sold fell.
    pub down: DepthDecaySide,
    /// Statistics after it rose.
    pub up: DepthDecaySide,
    /// The events, ascending.
    pub events: Vec<DepthDecayEvent>,
}

impl DepthDecay {
    /// Converts a core result to a document.
    pub fn new(of: DepthDecayOf, result: &DecayResult) -> Self {
        Self {
            of,
            status: if result.status == "live" { Status::Live } else { Status::Preview },
            enough: result.enough,
            have: result.have_slots,
            needed: result.needed_slots,
            needed_events: result.needed_events,
            slots_missing: result.slots_missing,
            slots_untestable: result.slots_untestable,
            events_suppressed: result.events_suppressed,
            books_unanswered: result.books_unanswered,
            down: (&result.down).into(),
            up: (&result.up).into(),
            events: result.events.iter().map(DepthDecayEvent::from).collect(),
        }
    }
}

/// A percentage from the core's text.
fn percent(text: &str) -> Number {
    Percent::parse(text).unwrap_or(Percent(0)).into()
}

fn maybe(text: Option<&String>) -> Option<Number> {
    text.map(|text| percent(text))
}

impl From<&DecaySide> for DepthDecaySide {
    fn from(side: &DecaySide) -> Self {
        Self {
            half_life_n: side.half_life_n,
            half_life_slots_q50: side.half_life_slots_q50,
            horizons: side.horizons.iter().map(DepthDecayHorizon::from).collect(),
        }
    }
}

impl From<&DecayHorizon> for DepthDecayHorizon {
    fn from(horizon: &DecayHorizon) -> Self {
        Self {
            h_slots: horizon.h_slots,
            n: horizon.n,
            n_without_share: horizon.n_without_share,
            retained_pct_q50: maybe(horizon.retained_pct_q50.as_ref()),
            retained_pct_q5: maybe(horizon.retained_pct_q5.as_ref()),
            static_pct_q50: maybe(horizon.static_pct_q50.as_ref()),
            withdrawn_pct_q50: maybe(horizon.withdrawn_pct_q50.as_ref()),
            baseline_n: horizon.baseline_n,
            baseline_withdrawn_pct_q50: maybe(horizon.baseline_withdrawn_pct_q50.as_ref()),
        }
    }
}

impl From<&DecayEvent> for DepthDecayEvent {
    fn from(event: &DecayEvent) -> Self {
        Self {
            slot: event.slot.number(),
            time: event.slot.to_string(),
            move_pct: percent(&event.move_pct),
            half_life_slots: event.half_life_slots,
            censored: event.censored,
            at: event.at.iter().map(DepthDecayStep::from).collect(),
        }
    }
}

impl From<&DecayStep> for DepthDecayStep {
    fn from(step: &DecayStep) -> Self {
        Self {
            h_slots: step.h_slots,
            book_before_usd: Number::from_whole(&step.book_before_usd),
            book_static_usd: Number::from_whole(&step.book_static_usd),
            book_usd: Number::from_whole(&step.book_usd),
            mechanical_usd: Number::from_whole(&step.mechanical_usd),
            liquidity_usd: Number::from_whole(&step.liquidity_usd),
        }
    }
}
