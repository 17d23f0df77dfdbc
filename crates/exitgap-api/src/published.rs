//! What the service adds to an answer: how old it is, and where its evidence is.

use serde::{Deserialize, Serialize};

use crate::{Amounts, Answer, GapRung, LadderRows, Number, RedemptionWindow, Simulation};

/// An answer as the service publishes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Published<F> {
    /// Figures, pool, oracle, method.
    #[serde(flatten)]
    pub answer: Answer<F>,
    /// The lowest depth at 2 % of the 2,016 slots (7 days) up to the result's, USD, in the
    /// result's direction; absent where no slot tells one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_depth_7d_usd: Option<Number>,
    /// Seconds from the slot's instant to this answer.
    pub snapshot_age_s: u64,
    /// What anyone can check this number with: of a simulation what the size fills at at once, of a
    /// largest size its own exit. Absent where rows carry their own, and where nothing can be proven.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
    /// The snapshot behind the answer, canonical bytes.
    pub snapshot_url: String,
    /// The pool's heads of the seven days up to the slot: bears out `days_observed`, the window
    /// and `lowest_depth_7d_usd`.
    pub window_url: String,
    /// Where slots after the result's are missing or retracted: the pool's heads up to the newest
    /// sealed slot, which say so. `exitgap verify --window` takes them with the evidence.
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

/// What became of a slot since it was sealed: told beside its evidence, never inside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SlotStatus {
    /// The pool's identifier.
    pub pool: String,
    /// The slot's number.
    pub slot: u32,
    /// The slot's instant, RFC 3339.
    pub slot_time: String,
    /// What the series holds for it.
    pub state: SlotState,
    /// Why it is missing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub missing_reason: Option<String>,
    /// Where the slot was taken back, because its block was orphaned or its ticks were misread.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retraction: Option<RetractionNotice>,
    /// Where its ticks are in doubt: the slot whose full reading of the pool was not what had been
    /// followed until then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub doubted_by_slot: Option<u32>,
}

/// What a series holds for a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SlotState {
    /// A snapshot.
    Recorded,
    /// None, with a reason.
    Missing,
    /// A snapshot that was taken back later, as its block was orphaned or its ticks misread: no
    /// figure counts it.
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
    /// `orphaned`: its block is not on the chain that became final; `misread`: a later full reading
    /// proved its ticks wrong.
    pub code: String,
    /// The hash of the block the snapshot was read at, where that was orphaned.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub orphaned_block_hash: Option<String>,
    /// The hash of the block that stands in its place, where it was orphaned.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub canonical_block_hash: Option<String>,
}
