//! The recorded series: history and stress.

use exitgap_core::series::Slot;
use serde::{Deserialize, Serialize};

use crate::{DepthReading, Exactness, Number, ProblemCode, SeriesMethod, SlotState, Status};

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
    /// All intervals, shortest first.
    pub const ALL: [Self; 3] = [Self::FiveMinutes, Self::Hour, Self::Day];

    /// The code used in addresses and documents.
    pub const fn code(self) -> &'static str {
        match self {
            Self::FiveMinutes => "5m",
            Self::Hour => "1h",
            Self::Day => "1d",
        }
    }

    /// The interval with this code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|interval| interval.code() == code)
    }
}

/// The order of a history's rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RowOrder {
    /// The oldest row first.
    #[default]
    #[serde(rename = "asc")]
    Ascending,
    /// The newest row first.
    #[serde(rename = "desc")]
    Descending,
}

/// How a cursor of descending pages begins.
const DESCENDING: &str = "desc-";

impl RowOrder {
    /// Both orders.
    pub const ALL: [Self; 2] = [Self::Ascending, Self::Descending];

    /// The code used in addresses and documents.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Ascending => "asc",
            Self::Descending => "desc",
        }
    }

    /// The order with this code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.code() == code)
    }

    /// The cursor of a page that begins at a slot: its oldest slot, or its newest in descending order.
    pub fn cursor(self, slot: Slot) -> String {
        match self {
            Self::Ascending => slot.number().to_string(),
            Self::Descending => format!("{DESCENDING}{}", slot.number()),
        }
    }

    /// The order and the slot of a cursor; `None` if it is not a cursor of a history.
    pub fn of_cursor(cursor: &str) -> Option<(Self, Slot)> {
        let (order, digits) = match cursor.strip_prefix(DESCENDING) {
            Some(digits) => (Self::Descending, digits),
            None => (Self::Ascending, cursor),
        };
        let slot = digits.parse().ok().and_then(|number| Slot::new(number).ok())?;
        (order.cursor(slot) == cursor).then_some((order, slot))
    }
}

/// The gap of one slot, or why there is no gap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GapPoint {
    /// The slot number.
    pub slot: u32,
    /// The time of the slot, RFC 3339.
    pub time: String,
    /// The gap, percent. Absent if the size has no gap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_gap_pct: Option<Number>,
    /// Why the size has no gap: worse than any number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<ProblemCode>,
    /// The largest size that could be filled in that slot, USD, if the requested size exceeded the
    /// liquidity.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_fillable_usd: Option<Number>,
    /// URL of the evidence for the gap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
}

/// The largest size that could be filled in a slot whose liquidity the requested size exceeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FillablePoint {
    /// The slot number.
    pub slot: u32,
    /// The time of the slot, RFC 3339.
    pub time: String,
    /// The largest size that could be filled, USD.
    pub max_fillable_usd: Number,
}

/// The depth of one slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepthPoint {
    /// The slot number.
    pub slot: u32,
    /// The time of the slot, RFC 3339.
    pub time: String,
    /// Depth at 2%, whole USD.
    pub depth_usd: Number,
    /// Its second reading, from the pool's own price, and why it is low.
    #[serde(flatten)]
    pub reading: DepthReading,
    /// URL of the slot's head, which commits to this depth.
    pub window_url: String,
}

/// One row of a history. Slots that were not recorded are counted, not omitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HistoryRow {
    /// Start of the row, RFC 3339.
    pub time: String,
    /// The content of the slot. Only in rows of one slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub state: Option<SlotState>,
    /// Why the slot is missing. Only in rows of one slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub missing_reason: Option<String>,
    /// Slots with a snapshot that was not retracted.
    pub slots_recorded: u32,
    /// Slots without a snapshot.
    pub slots_missing: u32,
    /// Slots whose snapshot was retracted.
    pub slots_retracted: u32,
    /// The gap of the last recorded slot, or why there is no gap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last: Option<GapPoint>,
    /// How far the pool's mid price was below the oracle price in that slot, percent. An infinitely
    /// small sale would have lost this much before the fee.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_basis_pct: Option<Number>,
    /// The widest gap of the recorded slots that have a gap. Absent if none has a gap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst: Option<GapPoint>,
    /// Recorded slots in which the size had no gap: worse than any number.
    pub slots_refused: u32,
    /// Among the slots whose liquidity the size exceeded, the one that could fill the least.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub least_fillable: Option<FillablePoint>,
    /// The lowest depth.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_depth: Option<DepthPoint>,
}

/// The parameters and sources of a series.
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
    /// Recorded slots ÷ 288 of the pool's whole series up to `to`. The period is a part of that
    /// series.
    pub days_observed: Number,
    /// Whether the amounts are what a holder sends and receives.
    #[serde(flatten)]
    pub exactness: Exactness,
    /// The version of the method behind the figures.
    pub method_version: String,
    /// The method, disclosed. Its window counts only the slots of these figures.
    pub method: SeriesMethod,
    /// Time of the first slot used, RFC 3339.
    pub from: String,
    /// Time of the last slot used, RFC 3339.
    pub to: String,
}

/// `GET /v1/history/{pool}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct History {
    /// The parameters and sources.
    #[serde(flatten)]
    pub of: SeriesOf,
    /// The length of a row.
    pub interval: Interval,
    /// The order of the rows.
    #[serde(default)]
    pub order: RowOrder,
    /// URL of the evidence for the newest gap in these rows. Every gap and depth of a row has its
    /// own URL.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
    /// The rows in this order, without omissions.
    pub rows: Vec<HistoryRow>,
    /// The cursor of the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}

/// `GET /v1/stress/{pool}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stress {
    /// The parameters and sources.
    #[serde(flatten)]
    pub of: SeriesOf,
    /// Slots with a snapshot that was not retracted.
    pub slots_recorded: u32,
    /// Slots without a snapshot. What happened in them is unknown.
    pub slots_missing: u32,
    /// Slots whose snapshot was retracted.
    pub slots_retracted: u32,
    /// The widest gap of the recorded slots that have a gap. Absent if none has a gap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst_gap: Option<GapPoint>,
    /// Recorded slots in which the size had no gap: worse than any number.
    pub slots_refused: u32,
    /// Among the slots whose liquidity the size exceeded, the one that could fill the least.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub least_fillable: Option<FillablePoint>,
    /// URL of the evidence for the worst gap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
    /// The lowest depth.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_depth: Option<DepthPoint>,
    /// The pool's depth around its own price in the slot of the worst gap …
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst_gap_book: Option<PoolBook>,
    /// … and in the slot of the lowest depth. Compare both to see whether liquidity was withdrawn
    /// or the price had moved away.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_depth_book: Option<PoolBook>,
    /// More details of the period's slots. Absent for a period of more than 31 days.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<StressDetail>,
}

/// A pool's own price in a slot and the depth around that price, independent of the oracle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolBook {
    /// How far the pool's mid price was below the oracle price, percent. Negative: above. `null` if
    /// it is out of bounds.
    pub basis_pct: Option<Number>,
    /// The depth at 2% from the pool's own mid price, whole USD at the oracle price. `null` if its
    /// computation was given up.
    pub book_usd: Option<Number>,
}

/// Statistics over the single slots of a period. A slot that could not fill the size is worse than
/// any number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StressDetail {
    /// The median gap, percent, by nearest rank. `null` if that slot could not fill the size, or
    /// there is no slot.
    pub gap_q50_pct: Option<Number>,
    /// The 95th percentile of the gap, percent. `null` in the same cases.
    pub gap_q95_pct: Option<Number>,
    /// The ten worst slots, worst first.
    pub worst_slots: Vec<GapPoint>,
    /// Slots without a snapshot (or with a retracted one) within an hour before or after the worst
    /// slot. Outages often coincide with market stress.
    pub slots_missing_near_worst: u32,
    /// How long the gap was above `limit_pct`, if a limit was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub above: Option<TimeAbove>,
}

/// How long a gap was above a limit. A slot that could not fill the size counts as above.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimeAbove {
    /// The limit, percent.
    pub limit_pct: Number,
    /// Slots above the limit.
    pub slots: u32,
    /// The longest run of consecutive slots above the limit. A slot without a snapshot ends the
    /// run.
    pub longest_run_slots: u32,
    /// The first slot of that run, RFC 3339. `null` if there is no such slot.
    pub longest_run_from: Option<String>,
}
