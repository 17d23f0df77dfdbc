//! The list of monitored pools.

use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot, days_observed_hundredths};
use serde::{Deserialize, Serialize};

use crate::{Number, PoolLabels, Status, TokenLabel};

/// One monitored pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolEntry {
    /// The pool's identifier, `<chain>:<address>`.
    pub pool: String,
    /// The chain's slug.
    pub chain: String,
    /// Live or preview. Absent before the first snapshot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<Status>,
    /// The token sold unless the caller chooses the other. Absent before the first snapshot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base: Option<TokenLabel>,
    /// The other token. Absent before the first snapshot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quote: Option<TokenLabel>,
    /// Venue and fee, `Uniswap v3 0.05%`. No two pools of one chain and pair have the same name.
    /// Absent before the first snapshot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// The venue. Absent if the pool's factory is not known, or before the first snapshot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub venue: Option<String>,
    /// The fee that the pool charges on a sale in the newest snapshot, percent. Absent if it
    /// depends on the sale; `name` then shows how.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fee_pct: Option<Number>,
    /// Start of the pool's series, RFC 3339.
    pub series_start: String,
    /// Recorded slots ÷ 288.
    pub days_observed: Number,
    /// Slots with a snapshot.
    pub slots_recorded: u64,
    /// Slots without a snapshot.
    pub slots_missing: u64,
    /// Time of the newest slot, RFC 3339.
    pub last_slot: String,
    /// Why the newest slot is missing. Absent if it is recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_slot_missing: Option<String>,
}

/// The inputs of a pool's entry in the list.
#[derive(Debug, Clone)]
pub struct PoolFacts<'a> {
    /// The pool.
    pub pool: &'a PoolId,
    /// The direction of the sale if no base is given.
    pub default_base: Direction,
    /// The slot of its first entry.
    pub first_slot: Slot,
    /// The slot of its newest entry.
    pub last_slot: Slot,
    /// The reason why the newest entry is missing, if it is.
    pub last_missing: Option<MissingReason>,
    /// Slots with a snapshot, excluding retracted ones.
    pub recorded: u32,
    /// The labels from its snapshots, and its name in the list; `None` before its first snapshot.
    pub labels: Option<(&'a PoolLabels, String)>,
}

impl From<PoolFacts<'_>> for PoolEntry {
    fn from(facts: PoolFacts<'_>) -> Self {
        let slots = facts.last_slot.number().saturating_sub(facts.first_slot.number());
        let (slots, recorded) = (u64::from(slots) + 1, u64::from(facts.recorded));
        let token =
            |index: usize| facts.labels.as_ref().map(|(labels, _)| labels.tokens[index].clone());
        Self {
            pool: facts.pool.to_string(),
            chain: facts.pool.chain().to_string(),
            status: facts.labels.as_ref().map(|(labels, _)| labels.status),
            base: token(facts.default_base.base_index()),
            quote: token(facts.default_base.quote_index()),
            venue: facts.labels.as_ref().and_then(|(labels, _)| labels.naming.venue.clone()),
            fee_pct: facts.labels.as_ref().and_then(|(labels, _)| labels.naming.fee_pct.clone()),
            name: facts.labels.map(|(_, name)| name),
            series_start: facts.first_slot.to_string(),
            days_observed: Number::from_hundredths(days_observed_hundredths(recorded)),
            slots_recorded: recorded,
            slots_missing: slots.saturating_sub(recorded),
            last_slot: facts.last_slot.to_string(),
            last_slot_missing: facts.last_missing.map(|reason| reason.code().to_owned()),
        }
    }
}

/// All monitored pools, in the order of their identifiers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolList {
    /// The pools.
    pub pools: Vec<PoolEntry>,
    /// The cursor of the next page. Absent on the last page and if there are no pages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}
