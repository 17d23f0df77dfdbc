//! The fields that the service adds to an answer: its age, and the URL of its evidence.

use serde::{Deserialize, Serialize};

use crate::{
    Amounts, Answer, DepthWeek, GapRung, LadderRows, Number, RedemptionWindow, Simulation,
};

/// An answer, as published by the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Published<F> {
    /// Figures, pool, oracle, method.
    #[serde(flatten)]
    pub answer: Answer<F>,
    /// The lowest depth at 2% of the 2,016 slots (7 days) up to the result's slot, USD, in the
    /// result's direction. Absent if no slot has a depth.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_depth_7d_usd: Option<Number>,
    /// Its second reading, from the pool's own price, and why it is low.
    #[serde(flatten)]
    pub week: DepthWeek,
    /// Seconds from the slot's time to this answer.
    pub snapshot_age_s: u64,
    /// URL of the evidence for this number: for a simulation, the sale at once; for a largest size,
    /// its exit. Absent if rows have their own, or nothing can be proven.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
    /// URL of the snapshot behind the answer, canonical bytes.
    pub snapshot_url: String,
    /// URL of the pool's heads of the seven days up to the slot. They confirm `days_observed`, the
    /// window and `lowest_depth_7d_usd`. They do not commit to `lowest_book_7d_usd`.
    pub window_url: String,
    /// If slots after the result's are missing or retracted: URL of the pool's heads up to the
    /// newest sealed slot, which show that. `exitgap verify --window` takes them together with the
    /// evidence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub newer_heads_url: Option<String>,
}

/// `GET /v1/exit/{pool}`.
pub type PublishedExit = Published<Amounts>;

/// `GET /v1/size/{pool}`.
pub type PublishedMaxSize = Published<GapRung>;

/// `GET /v1/simulate/{pool}`.
pub type PublishedSimulation = Published<Simulation>;

/// `GET /v1/redemption/{pool}`.
pub type PublishedRedemption = Published<RedemptionWindow>;

/// `GET /v1/ladder/{pool}`.
pub type PublishedLadder = Published<LadderRows>;

/// The current status of a sealed slot, separate from its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SlotStatus {
    /// The pool's identifier.
    pub pool: String,
    /// The slot number.
    pub slot: u32,
    /// The time of the slot, RFC 3339.
    pub slot_time: String,
    /// The content of the series at the slot.
    pub state: SlotState,
    /// Why the slot is missing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub missing_reason: Option<String>,
    /// The retraction, if the slot was retracted because its block was orphaned or its ticks were
    /// misread.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retraction: Option<RetractionNotice>,
    /// If the ticks are in doubt: the slot whose full reading of the pool differed from the state
    /// followed until then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub doubted_by_slot: Option<u32>,
    /// How the logs that name changed ticks were checked for being complete. Only from the service that recorded the slot, for
    /// about a day and until it is started again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub logs: Option<LogsStatus>,
}

/// How the logs of a slot were checked for being complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LogsStatus {
    /// The check.
    pub checked_by: LogsCheckedBy,
    /// Why they are unproven: until the next full reading, at most an hour later, a log that the node left out is not found.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unproven_because: Option<String>,
}

/// The check of whether logs are complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum LogsCheckedBy {
    /// The blooms of the blocks' headers: pools that they name without a log were read in full.
    Blooms,
    /// The blocks' receipts, which the headers commit to.
    Receipts,
    /// None.
    Unproven,
}

/// The content of a series at a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SlotState {
    /// A snapshot.
    Recorded,
    /// No snapshot, with a reason.
    Missing,
    /// A snapshot that was retracted later because its block was orphaned or its ticks were
    /// misread. Figures do not use it.
    Retracted,
    /// The pool's series ended with this slot.
    Retired,
}

/// A retraction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RetractionNotice {
    /// The slot whose head retracts it.
    pub by_slot: u32,
    /// `orphaned`: its block is not on the final chain; `misread`: a later full reading proved its
    /// ticks wrong.
    pub code: String,
    /// The hash of the snapshot's block, if it was orphaned.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub orphaned_block_hash: Option<String>,
    /// The hash of the block in its place, if it was orphaned.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub canonical_block_hash: Option<String>,
}
