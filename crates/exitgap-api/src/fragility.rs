//! The fragility board: every pool beside the others.

use serde::{Deserialize, Serialize};

use crate::{Number, ProblemCode, SeriesMethod, Status, TokenLabel};

/// The gap at one standard size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StandardGap {
    /// The size, USD.
    pub size_usd: Number,
    /// The gap, percent; absent where the size has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_gap_pct: Option<Number>,
    /// Why it has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<ProblemCode>,
    /// Where the size lies beyond liquidity: the most that can be filled, USD.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_fillable_usd: Option<Number>,
    /// What anyone can check the gap with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
}

/// The slot of the last seven days with the lowest depth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LowestDepth {
    /// Depth at 2 %, whole USD.
    pub depth_usd: Number,
    /// The slot's number.
    pub slot: u32,
    /// The slot's instant, RFC 3339.
    pub time: String,
    /// How far the pool's mid price lay below the oracle then, percent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub basis_pct: Option<Number>,
    /// Slots without a snapshot of the seven days up to it.
    pub slots_missing_7d: u32,
}

/// A pool of the board, selling its default base.
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
    /// Venue and fee in words, `Uniswap v3 0.05 %`: no two rows of one chain and one pair have the same name.
    pub name: String,
    /// The venue; absent where the pool's factory is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub venue: Option<String>,
    /// What a sale pays to the pool as fee, percent, in the newest snapshot; absent where it depends on the sale,
    /// which `name` says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fee_pct: Option<Number>,
    /// Instant of the slot behind the row, RFC 3339.
    pub slot_time: String,
    /// Slots after it that are missing.
    pub newer_slots_missing: u64,
    /// The gap at each standard size, ascending.
    pub gaps: Vec<StandardGap>,
    /// Depth at 2 % in that slot, whole USD.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth_usd: Option<Number>,
    /// The book of that slot: the depth at 2 % from the pool's own mid price in place of the oracle's, whole USD. Where
    /// only the oracle moved away, `depth_usd` falls and this does not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub book_usd: Option<Number>,
    /// The median depth of seven days, whole USD.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub median_depth_7d_usd: Option<Number>,
    /// The lowest depth of seven days.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_depth_7d: Option<LowestDepth>,
    /// The lowest depth of each of the last eight UTC days, whole USD, the newest last; null
    /// where the day has none.
    #[serde(default)]
    pub daily_lowest_depth_usd: Vec<Option<Number>>,
    /// Slots of those seven days without a snapshot.
    pub slots_missing_7d: u32,
    /// `1 − lowest ÷ median`: the share of the median depth that was gone at the lowest
    /// slot, 0 to 1. Null under one day of recorded slots, or where the median is 0.
    pub fragility_score: Option<Number>,
    /// Recorded slots ÷ 288.
    pub days_observed: Number,
    /// The version of the rules behind gaps and depths.
    pub method_version: String,
    /// The method, disclosed: the sizes are those of `gaps`, the window the seven days.
    pub method: SeriesMethod,
    /// The heads of those seven days, which commit to `days_observed` and the lowest depth.
    pub window_url: String,
    /// Whether an oracle answer behind the row is older than its heartbeat.
    pub oracle_stale: bool,
}

/// `GET /v1/fragility`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Fragility {
    /// How the score is made, in one sentence.
    pub score_method: String,
    /// The version of the rules behind gaps and depths.
    pub method_version: String,
    /// Pools with a snapshot, in this selection.
    pub pools: u64,
    /// Pools of the selection that have no snapshot yet, and no row.
    pub pools_without_snapshot: u64,
    /// The rows of this page.
    pub rows: Vec<FragilityRow>,
    /// Where the next page begins; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}
