//! The recorded series: history and stress.

use serde::{Deserialize, Serialize};

use crate::{Number, ProblemCode, SeriesMethod, SlotState, Status};

/// The length of a history's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Interval {
    /// Each slot.
    #[serde(rename = "5m")]
    FiveMinutes,
    /// Each hour, UTC.
    #[serde(rename = "1h")]
    Hour,
    /// Each day, UTC.
    #[serde(rename = "1d")]
    Day,
}

impl Interval {
    /// All of them, the shortest first.
    pub const ALL: [Self; 3] = [Self::FiveMinutes, Self::Hour, Self::Day];

    /// As addresses and documents spell it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::FiveMinutes => "5m",
            Self::Hour => "1h",
            Self::Day => "1d",
        }
    }

    /// Reads a code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|interval| interval.code() == code)
    }
}

/// The gap of one slot, or why it has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GapPoint {
    /// The slot's number.
    pub slot: u32,
    /// The slot's instant, RFC 3339.
    pub time: String,
    /// The gap, percent; absent where the size has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_gap_pct: Option<Number>,
    /// Why the size has no gap: worse than any number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<ProblemCode>,
    /// Where the size lies beyond liquidity: the most that could be filled in that slot, USD.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_fillable_usd: Option<Number>,
    /// What anyone can check the gap with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
}

/// The most that could be filled in one slot, in which the size lies beyond liquidity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FillablePoint {
    /// The slot's number.
    pub slot: u32,
    /// The slot's instant, RFC 3339.
    pub time: String,
    /// The most that could be filled, USD.
    pub max_fillable_usd: Number,
}

/// The depth of one slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepthPoint {
    /// The slot's number.
    pub slot: u32,
    /// The slot's instant, RFC 3339.
    pub time: String,
    /// Depth at 2 %, whole USD.
    pub depth_usd: Number,
    /// The slot's head commits to it.
    pub window_url: String,
}

/// One row of a history. Slots that were not recorded are counted in it, not left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HistoryRow {
    /// Where the row begins, RFC 3339.
    pub time: String,
    /// What the slot holds; of rows of one slot only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub state: Option<SlotState>,
    /// Why the slot is missing; of rows of one slot only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub missing_reason: Option<String>,
    /// Slots with a snapshot that stands.
    pub slots_recorded: u32,
    /// Slots without one.
    pub slots_missing: u32,
    /// Slots whose snapshot was retracted.
    pub slots_retracted: u32,
    /// The last recorded slot's gap, or why it has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last: Option<GapPoint>,
    /// How far the pool's mid price lay below the oracle in that slot, percent: what an infinitely
    /// small sale would have lost before the fee.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_basis_pct: Option<Number>,
    /// The worst number: the widest gap of the recorded slots that have one. Absent where none
    /// has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst: Option<GapPoint>,
    /// Recorded slots in which the size had no gap: worse than any number.
    pub slots_refused: u32,
    /// Of the slots in which the size lay beyond liquidity, the one that could fill the least.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub least_fillable: Option<FillablePoint>,
    /// The lowest depth.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_depth: Option<DepthPoint>,
}

/// What a series' figures are of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SeriesOf {
    /// The pool's identifier.
    pub pool: String,
    /// Live or preview.
    pub status: Status,
    /// `token0` or `token1`: the token sold.
    pub base: String,
    /// The standard size, USD.
    pub size_usd: Number,
    /// Recorded slots ÷ 288, of the pool's whole series up to `to`: how long the series is that
    /// the period is a part of.
    pub days_observed: Number,
    /// The version of the rules behind the figures.
    pub method_version: String,
    /// The method, disclosed; its window counts the slots of these figures only.
    pub method: SeriesMethod,
    /// Instant of the first slot looked at, RFC 3339.
    pub from: String,
    /// Instant of the last slot looked at, RFC 3339.
    pub to: String,
}

/// `GET /v1/history/{pool}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct History {
    /// What the rows are of.
    #[serde(flatten)]
    pub of: SeriesOf,
    /// The length of a row.
    pub interval: Interval,
    /// What anyone can check the newest gap of these rows with; every gap and depth of a row has
    /// its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
    /// The rows, ascending, without a hole.
    pub rows: Vec<HistoryRow>,
    /// Where the next page begins; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}

/// `GET /v1/stress/{pool}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stress {
    /// What the figures are of.
    #[serde(flatten)]
    pub of: SeriesOf,
    /// Slots with a snapshot that stands.
    pub slots_recorded: u32,
    /// Slots without one: what happened in them nobody knows.
    pub slots_missing: u32,
    /// Slots whose snapshot was retracted.
    pub slots_retracted: u32,
    /// The worst number: the widest gap of the recorded slots that have one. Absent where none
    /// has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst_gap: Option<GapPoint>,
    /// Recorded slots in which the size had no gap: worse than any number.
    pub slots_refused: u32,
    /// Of the slots in which the size lay beyond liquidity, the one that could fill the least.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub least_fillable: Option<FillablePoint>,
    /// What anyone can check the worst gap with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
    /// The lowest depth.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_depth: Option<DepthPoint>,
    /// What the pool held around its own price in the slot of the worst gap …
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst_gap_book: Option<PoolBook>,
    /// … and of the lowest depth: whether liquidity had gone, or the price had moved away.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_depth_book: Option<PoolBook>,
    /// More of the period's slots; absent of a period of more than 31 days.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<StressDetail>,
}

/// A pool's own price in a slot, and what it held around that: depth without the distance from the oracle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolBook {
    /// How far the pool's mid price lay below the oracle, percent; negative: above. `null` where that is out of bounds.
    pub basis_pct: Option<Number>,
    /// The depth at 2 % from the pool's own mid price, whole USD at the oracle's price; `null` where the search for it was
    /// given up.
    pub book_usd: Option<Number>,
}

/// The slots of a period, one by one. A slot that refused the size is worse than any number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StressDetail {
    /// The median gap, percent, by nearest rank; `null` where that slot refused the size, or there is none.
    pub gap_q50_pct: Option<Number>,
    /// The gap that nineteen of twenty slots did not exceed, percent; `null` likewise.
    pub gap_q95_pct: Option<Number>,
    /// The ten worst slots, the worst first.
    pub worst_slots: Vec<GapPoint>,
    /// Slots without a snapshot that stands, within an hour of the worst slot either way: outages come with storms.
    pub slots_missing_near_worst: u32,
    /// How long the gap lay above `limit_pct`, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub above: Option<TimeAbove>,
}

/// How long a gap lay above a limit. A slot that refused the size did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimeAbove {
    /// The limit, percent.
    pub limit_pct: Number,
    /// Slots above it.
    pub slots: u32,
    /// The longest run of such slots, one after the other: a slot without a snapshot ends it.
    pub longest_run_slots: u32,
    /// Its first slot, RFC 3339; `null` where there is none.
    pub longest_run_from: Option<String>,
}
