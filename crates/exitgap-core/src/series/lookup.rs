//! Why a pool's series has no snapshot to answer from.

use super::{MissingReason, Slot};
use crate::ids::PoolId;

/// Why there is no recorded snapshot for what was asked. A refusal with its reason, never
/// another slot's figures.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No such pool is recorded.
    #[error("{pool} is not among the recorded pools")]
    UnknownPool {
        /// The pool asked for.
        pool: PoolId,
        /// The pools with the most similar names, the most similar first.
        nearest: Vec<PoolId>,
    },
    /// The pool has no snapshot yet.
    #[error("{pool}: no slot has been recorded yet")]
    NothingRecorded {
        /// The pool asked for.
        pool: PoolId,
        /// Why its newest slot is missing.
        reason: Option<MissingReason>,
    },
    /// The slot lies before the pool's first.
    #[error("{pool}: slot {slot} is before the start of its series")]
    BeforeSeries {
        /// The pool asked for.
        pool: PoolId,
        /// The slot asked for.
        slot: Slot,
        /// The pool's first slot.
        first: Slot,
    },
    /// The slot lies after the pool's newest.
    #[error("{pool}: slot {slot} is after the newest slot")]
    AfterSeries {
        /// The pool asked for.
        pool: PoolId,
        /// The slot asked for.
        slot: Slot,
        /// The pool's newest slot.
        last: Slot,
    },
    /// The slot is missing.
    #[error("{pool}: slot {slot} is missing ({reason})")]
    Missing {
        /// The pool asked for.
        pool: PoolId,
        /// The slot asked for.
        slot: Slot,
        /// Why there is no snapshot.
        reason: MissingReason,
        /// The newest recorded slot before it.
        before: Option<Slot>,
    },
    /// The slot was recorded, and taken back: its block was orphaned.
    #[error("{pool}: slot {slot} was retracted at {by} because its block was orphaned")]
    Retracted {
        /// The pool asked for.
        pool: PoolId,
        /// The slot asked for.
        slot: Slot,
        /// The slot whose head takes it back.
        by: Slot,
        /// The newest recorded slot before it.
        before: Option<Slot>,
    },
    /// The slot is the one in which the pool's series ended.
    #[error("{pool}: the pool retired in slot {slot}")]
    Retired {
        /// The pool asked for.
        pool: PoolId,
        /// The slot asked for.
        slot: Slot,
        /// The newest recorded slot before it.
        before: Option<Slot>,
    },
}
