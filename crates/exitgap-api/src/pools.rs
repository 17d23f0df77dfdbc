//! The list of monitored pools.

use serde::{Deserialize, Serialize};

use crate::{Number, Status, TokenLabel};

/// One monitored pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolEntry {
    /// The pool's identifier, `<chain>:<address>`.
    pub pool: String,
    /// The chain's slug.
    pub chain: String,
    /// Live or preview; absent before the first snapshot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<Status>,
    /// The token sold unless the caller asks for the other; absent before the
    /// first snapshot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base: Option<TokenLabel>,
    /// The other token; absent before the first snapshot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quote: Option<TokenLabel>,
    /// Instant at which the pool's series began, RFC 3339.
    pub series_start: String,
    /// Recorded slots ÷ 288.
    pub days_observed: Number,
    /// Slots with a snapshot.
    pub slots_recorded: u64,
    /// Slots without one.
    pub slots_missing: u64,
    /// Instant of the newest slot, RFC 3339.
    pub last_slot: String,
    /// Why the newest slot is missing; absent where it is recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_slot_missing: Option<String>,
}

/// All monitored pools, in the order of their identifiers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolList {
    /// The pools.
    pub pools: Vec<PoolEntry>,
    /// Where the next page begins; absent on the last, and where there are no pages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}
