//! The events of a stream for each sealed slot.

use exitgap_core::analytics::depths::{DepthCause, DepthLows, SlotDepths};
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

/// A pool in a sealed slot: the data of the event `pool`. All values are from the pool's head, except
/// for the second readings of its depths, to which heads do not commit.
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
    /// The depths at 2% from the pool's own mid price, in the same order.
    #[serde(default)]
    pub book_usd: [Option<Number>; 2],
    /// The lowest of them in seven days, in the same order.
    #[serde(default)]
    pub lowest_book_7d_usd: [Option<Number>; 2],
    /// Why the depth is low, in the same order: `oracle_led` or `thin_book`. `null` if neither
    /// applies.
    #[serde(default)]
    pub depth_cause: [Option<String>; 2],
    /// Why the lowest depth is low, in the same order.
    #[serde(default)]
    pub lowest_depth_7d_cause: [Option<String>; 2],
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

impl StreamedPool {
    /// The pool's head, with both depths of its snapshot and the lows of its week as far as they are computed.
    pub fn new(
        head: &Head,
        depths: Option<[SlotDepths; 2]>,
        week: Option<&[DepthLows; 2]>,
    ) -> Self {
        let code = |cause: Option<DepthCause>| cause.map(|cause| cause.code().to_owned());
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
            book_usd: depths.unwrap_or_default().map(|depths| depths.book_usd.map(Number::from)),
            lowest_book_7d_usd: [0, 1].map(|token| Some(week?[token].lowest_book?.1.into())),
            depth_cause: depths.unwrap_or_default().map(|depths| code(depths.cause())),
            lowest_depth_7d_cause: [0, 1].map(|token| code(week?[token].cause())),
            retracts: head.retracts.iter().map(|retracted| retracted.slot.number()).collect(),
        }
    }
}
