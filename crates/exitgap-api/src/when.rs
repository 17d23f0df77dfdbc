//! When to sell: the gap of a size by hour of the week, and where the newest slot ranks.

use serde::{Deserialize, Serialize};

use crate::{GapPoint, Number, SeriesOf};

/// `GET /v1/when/{pool}`: the gap of a size by hour of the week, and where the newest slot ranks.
/// Percentiles are nearest ranks over single slots. A slot that could not fill the size is worse
/// than any gap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WhenToSell {
    /// The parameters and sources.
    #[serde(flatten)]
    pub of: SeriesOf,
    /// Slots with a snapshot that was not retracted.
    pub slots: u32,
    /// Of these, slots in which the size had no gap.
    pub slots_refused: u32,
    /// Slots without a snapshot, or with a retracted one. What happened in them is unknown.
    pub slots_missing: u32,
    /// The newest recorded slot of the period, ranked among the others. `null` if there is none.
    pub now: Option<RankedSlot>,
    /// Whether the period covers four weeks. A best hour is only named if it does.
    pub enough: bool,
    /// The hour with the lowest 95th percentile, of the hours recorded in at least four weeks; of
    /// equal ones, the one with the lower median, then the earlier. `null` if the period is shorter
    /// than four weeks, or if no such hour could fill the size at its 95th percentile.
    pub best_hour: Option<u32>,
    /// The hours of the week with a recorded slot, from Monday 00:00 UTC.
    pub hours: Vec<HourOfWeek>,
}

/// A slot, and how many of the other recorded slots of the period were worse and better.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankedSlot {
    /// The gap, or why there is none.
    #[serde(flatten)]
    pub point: GapPoint,
    /// Other slots with a wider gap, or that could fill less.
    pub slots_worse: u32,
    /// Other slots with the same gap.
    pub slots_equal: u32,
    /// Other slots with a smaller gap.
    pub slots_better: u32,
    /// The worse ones in percent of the others. `null` if there are no others.
    pub worse_pct: Option<Number>,
}

/// The slots of one hour of the week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HourOfWeek {
    /// The hour, from 0 (Monday 00:00 to 01:00 UTC) to 167.
    pub hour: u32,
    /// Slots with a snapshot that was not retracted.
    pub slots: u32,
    /// The number of weeks that these slots are from, counted back from the end of the period.
    pub weeks: u32,
    /// Slots in which the size had no gap.
    pub slots_refused: u32,
    /// The median gap, percent. `null` if that slot could not fill the size.
    pub exit_gap_pct_q50: Option<Number>,
    /// The 95th percentile of the gap, percent. `null` in the same case.
    pub exit_gap_pct_q95: Option<Number>,
    /// The worst slot; of equal ones, the earlier.
    pub worst: GapPoint,
}
