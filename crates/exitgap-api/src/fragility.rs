//! The fragility board: all pools in one ranking.

use serde::{Deserialize, Serialize};

use crate::{DepthWeek, Number, ProblemCode, SeriesMethod, Status, TokenLabel};

/// The gap at one standard size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StandardGap {
    /// The size, USD.
    pub size_usd: Number,
    /// The gap, percent. Absent if the size has no gap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_gap_pct: Option<Number>,
    /// Why the size has no gap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<ProblemCode>,
    /// The largest size that can be filled, USD, if the requested size exceeds the liquidity.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_fillable_usd: Option<Number>,
    /// URL of the evidence for the gap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
}

/// The slot of the last seven days with the lowest depth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LowestDepth {
    /// Depth at 2%, whole USD.
    pub depth_usd: Number,
    /// The slot number.
    pub slot: u32,
    /// The time of the slot, RFC 3339.
    pub time: String,
    /// How far the pool's mid price was below the oracle price at that time, percent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub basis_pct: Option<Number>,
    /// Slots without a snapshot in the seven days up to this slot.
    pub slots_missing_7d: u32,
}

/// A pool on the board, selling its default base token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FragilityRow {
    /// The pool's identifier.
    pub pool: String,
    /// The chain's slug.
    pub chain: String,
    /// Live or preview.
    pub status: Status,
    /// The token sold.
    pub base: TokenLabel,
    /// The token bought.
    pub quote: TokenLabel,
    /// Venue and fee, `Uniswap v3 0.05%`. No two rows of one chain and pair have the same name.
    pub name: String,
    /// The venue. Absent if the pool's factory is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub venue: Option<String>,
    /// The fee that the pool charges on a sale in the newest snapshot, percent. Absent if it
    /// depends on the sale; `name` then shows how.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fee_pct: Option<Number>,
    /// Time of the slot behind the row, RFC 3339.
    pub slot_time: String,
    /// Slots after it that are missing.
    pub newer_slots_missing: u64,
    /// The gap at each standard size, ascending.
    pub gaps: Vec<StandardGap>,
    /// Depth at 2% in that slot, whole USD.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth_usd: Option<Number>,
    /// The depth at 2% from the pool's own mid price instead of the oracle price in that slot,
    /// whole USD. If only the oracle moved away, `depth_usd` falls and this value does not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub book_usd: Option<Number>,
    /// Why `depth_usd` is low: `oracle_led` or `thin_book`, as in `lowest_depth_7d_cause`. Absent if
    /// neither applies.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth_cause: Option<String>,
    /// The same as a sentence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth_note: Option<String>,
    /// The median depth of seven days by nearest rank, whole USD.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub median_depth_7d_usd: Option<Number>,
    /// The lowest depth of seven days.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_depth_7d: Option<LowestDepth>,
    /// Its second reading, from the pool's own price, and why it is low.
    #[serde(flatten)]
    pub week: DepthWeek,
    /// The median of the depths at 2% from the pool's own mid price over seven days, whole USD, by
    /// nearest rank.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub median_book_7d_usd: Option<Number>,
    /// The lowest depth of each of the last eight UTC days, whole USD, newest last. Null if the day
    /// has no depth.
    #[serde(default)]
    pub daily_lowest_depth_usd: Vec<Option<Number>>,
    /// Slots of those seven days without a snapshot.
    pub slots_missing_7d: u32,
    /// `1 − lowest ÷ median`: the share of the median depth that was missing in the slot with the
    /// lowest depth, 0 to 1. Null with less than one day of recorded slots, or if the median is 0.
    pub fragility_score: Option<Number>,
    /// `1 − lowest_book_7d_usd ÷ median_book_7d_usd`: the same of the pool's own book, on which the
    /// oracle has no effect. Absent in the cases in which `fragility_score` is null, and if the week
    /// is not computed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub book_fragility_score: Option<Number>,
    /// Recorded slots ÷ 288.
    pub days_observed: Number,
    /// The version of the method behind gaps and depths.
    pub method_version: String,
    /// The method, disclosed. The sizes are those of `gaps`, and the window is the seven days.
    pub method: SeriesMethod,
    /// URL of the heads of those seven days. They commit to `days_observed` and the lowest depth.
    pub window_url: String,
    /// Whether an oracle answer behind the row is older than its heartbeat.
    pub oracle_stale: bool,
}

/// `GET /v1/fragility`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Fragility {
    /// The formula of `fragility_score`, in one sentence.
    pub score_method: String,
    /// The formula of `book_fragility_score`, in one sentence.
    #[serde(default)]
    pub book_score_method: String,
    /// The version of the method behind gaps and depths.
    pub method_version: String,
    /// Pools with a snapshot in this selection.
    pub pools: u64,
    /// Pools of the selection without a snapshot. They have no row yet.
    pub pools_without_snapshot: u64,
    /// The rows of this page.
    pub rows: Vec<FragilityRow>,
    /// The cursor of the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}
