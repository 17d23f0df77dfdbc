//! Prepares readings for writing: all of a slot's work that needs neither the store nor earlier slots, so that it can
//! be done while other pools are still being read.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{ScopedJoinHandle, available_parallelism, scope};

use exitgap_core::ids::{PoolId, SnapshotHash, StateHash};
use exitgap_core::pools::PoolState;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Snapshot, SnapshotError};

use crate::bodies::codec;
use crate::derived::figures::SnapshotFigures;
use crate::error::StoreError;
use crate::model::NewEntry;

/// A snapshot with everything that can be computed from it alone: its canonical bytes, their hashes, its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    pub(crate) pool: PoolId,
    pub(crate) slot: Slot,
    pub(crate) hash: SnapshotHash,
    pub(crate) state: StateHash,
    /// The number of bytes of the snapshot within `joined`.
    pub(crate) snapshot_bytes: usize,
    /// The snapshot's canonical bytes, then its state's.
    pub(crate) joined: Vec<u8>,
    pub(crate) figures: SnapshotFigures,
}

impl Ready {
    /// Prepares a snapshot. Fails if it has no canonical bytes that a reader would accept, for example because it is
    /// too large.
    pub fn from_snapshot(snapshot: &Snapshot) -> Result<Self, SnapshotError> {
        let documents = snapshot.to_canonical()?;
        Ok(Self {
            pool: snapshot.observation().pool().clone(),
            slot: snapshot.slot(),
            hash: documents.hash(),
            state: PoolState::hash_of(&documents.state),
            snapshot_bytes: documents.snapshot.len(),
            joined: codec::join(&documents),
            figures: SnapshotFigures::from_snapshot(snapshot),
        })
    }

    /// Prepares the entries' snapshots in parallel.
    pub fn prepare_entries(entries: &[NewEntry]) -> Result<Vec<NewEntry<Self>>, StoreError> {
        let ready = spread(entries, |entry| {
            let reading = match &entry.reading {
                Ok(snapshot) => Ok(Self::from_snapshot(snapshot).map_err(|error| {
                    let pool = entry.pool.clone();
                    StoreError::Snapshot { pool, error }
                })?),
                Err(reason) => Err(*reason),
            };
            let (pool, default_base) = (entry.pool.clone(), entry.default_base);
            Ok(NewEntry { pool, default_base, reading })
        });
        ready.into_iter().collect()
    }
}

/// The number of items that a processor takes at once.
const AT_ONCE: usize = 8;

/// Calls `act` for every item, on all processors, and returns the results in the order of the items.
pub fn spread<T: Sync, R: Send>(items: &[T], act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = available_parallelism().map_or(1, usize::from);
    let threads = processors.min(items.len().div_ceil(AT_ONCE));
    if threads <= 1 {
        return items.iter().map(act).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let from = next.fetch_add(AT_ONCE, Ordering::Relaxed);
            if from >= items.len() {
                return done;
            }
            let to = items.len().min(from + AT_ONCE);
            done.push((from, items[from..to].iter().map(&act).collect::<Vec<_>>()));
        }
    };
    let mut parts = scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(ScopedJoinHandle::join);
        ended.flat_map(|done| done.unwrap_or_else(|panic| resume_unwind(panic))).collect::<Vec<_>>()
    });
    parts.sort_unstable_by_key(|(from, _)| *from);
    parts.into_iter().flat_map(|(_, done)| done).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spread_comes_back_in_order() {
        for length in [0, 1, 7, 8, 9, 1_000] {
            let items: Vec<usize> = (0..length).collect();
            let expected: Vec<usize> = items.iter().map(|item| item * 3).collect();
            assert_eq!(spread(&items, |item| item * 3), expected);
        }
    }
}
