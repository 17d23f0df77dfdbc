//! The events of a stream for each sealed slot.

use exitgap_core::evidence::{Head, HeadEntry};
use exitgap_core::series::Slot;
use exitgap_core::tlog::Checkpoint;
use serde::{Deserialize, Serialize};

use crate::Number;

/// A sealed slot: the data of the event `slot` of `GET /v1/stream`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StreamedSlot {
    /// The slot number.
    pub slot: u32,
    /// The time of the slot, RFC 3339.
    pub time: String,
    /// Pools with a head in the slot.
    pub pools: u32,
    /// The log.
    pub origin: String,
    /// Number of slots in the first checkpoint that covers this slot.
    pub size: u64,
    /// The root of that checkpoint, base64.
    pub root: String,
}

/// A pool in a sealed slot: the data of the event `pool`. All values are from the pool's head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StreamedPool {
    /// The pool.
    pub pool: String,
    /// The slot number.
    pub slot: u32,
    /// `recorded`, `missing` or `retired`.
    pub state: String,
    /// Why the slot is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_reason: Option<String>,
    /// The snapshot's hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The depths at 2%, whole USD: selling token0, selling token1. `null` if there is no depth.
    pub depth_usd: [Option<Number>; 2],
    /// The lowest depths of seven days, in the same order.
    pub lowest_depth_7d_usd: [Option<Number>; 2],
    /// Earlier slots that are retracted here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retracts: Vec<u32>,
}

impl StreamedSlot {
    /// A slot with its first checkpoint.
    pub fn new(slot: Slot, pools: u32, checkpoint: &Checkpoint) -> Self {
        Self {
            slot: slot.number(),
            time: slot.to_string(),
            pools,
            origin: checkpoint.origin.to_string(),
            size: checkpoint.size,
            root: checkpoint.root.to_string(),
        }
    }
}

impl From<&Head> for StreamedPool {
    fn from(head: &Head) -> Self {
        let (state, reason, snapshot, depth_usd) = match &head.entry {
            HeadEntry::Recorded { snapshot, depth_usd } => {
                ("recorded", None, Some(snapshot.to_string()), *depth_usd)
            }
            HeadEntry::Missing(reason) => {
                ("missing", Some(reason.code().to_owned()), None, [None; 2])
            }
            HeadEntry::Retired => ("retired", None, None, [None; 2]),
        };
        Self {
            pool: head.pool.to_string(),
            slot: head.slot.number(),
            state: state.to_owned(),
            missing_reason: reason,
            snapshot,
            depth_usd: depth_usd.map(|depth| depth.map(Number::from)),
            lowest_depth_7d_usd: head.lowest_depth_7d_usd.map(|depth| depth.map(Number::from)),
            retracts: head.retracts.iter().map(|retracted| retracted.slot.number()).collect(),
        }
    }
}
