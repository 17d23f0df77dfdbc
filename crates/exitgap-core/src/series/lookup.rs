//! Why a request finds no snapshot in a pool's series.

use super::{MissingReason, Slot};
use crate::ids::PoolId;

/// Why there is no recorded snapshot for a request. The request is refused with this reason, and never answered from
/// another slot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// The pool is not recorded.
    #[error("{pool} is not among the recorded pools")]
    UnknownPool {
        /// The requested pool.
        pool: PoolId,
        /// The pools with the most similar names, most similar first.
        nearest: Vec<PoolId>,
    },
    /// The pool has no snapshot yet.
    #[error("{pool}: no slot has been recorded yet")]
    NothingRecorded {
        /// The requested pool.
        pool: PoolId,
        /// The reason why its newest slot is missing.
        reason: Option<MissingReason>,
    },
    /// The slot is before the pool's first.
    #[error("{pool}: slot {slot} is before the start of its series")]
    BeforeSeries {
        /// The requested pool.
        pool: PoolId,
        /// The requested slot.
        slot: Slot,
        /// The pool's first slot.
        first: Slot,
    },
    /// The slot is after the pool's newest.
    #[error("{pool}: slot {slot} is after the newest slot")]
    AfterSeries {
        /// The requested pool.
        pool: PoolId,
        /// The requested slot.
        slot: Slot,
        /// The pool's newest slot.
        last: Slot,
    },
    /// The slot is missing.
    #[error("{pool}: slot {slot} is missing ({reason})")]
    Missing {
        /// The requested pool.
        pool: PoolId,
        /// The requested slot.
        slot: Slot,
        /// Why there is no snapshot.
        reason: MissingReason,
        /// The newest recorded slot before it.
        before: Option<Slot>,
    },
    /// The slot was recorded and later retracted, because its block was orphaned.
    #[error("{pool}: slot {slot} was retracted at {by} because its block was orphaned")]
    Retracted {
        /// The requested pool.
        pool: PoolId,
        /// The requested slot.
        slot: Slot,
        /// The slot whose head retracts it.
        by: Slot,
        /// The newest recorded slot before it.
        before: Option<Slot>,
    },
    /// The slot is the last one of the pool's series.
    #[error("{pool}: the pool retired in slot {slot}")]
    Retired {
        /// The requested pool.
        pool: PoolId,
        /// The requested slot.
        slot: Slot,
        /// The newest recorded slot before it.
        before: Option<Slot>,
    },
}
