//! Finds the recorded snapshot that answers a request about a pool.

use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::series::{LookupError, Slot};

use crate::derived::figures::SlotRetraction;
use crate::error::StoreError;
use crate::model::{Outcome, Pool};
use crate::reader::Reader;

/// A recorded slot that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotLookup {
    /// The pool.
    pub pool: Pool,
    /// The slot.
    pub slot: Slot,
    /// Its snapshot's name.
    pub hash: SnapshotHash,
    /// The number of recorded slots of the pool, up to and including this one.
    pub recorded_count: u32,
    /// The number of missing slots after it, if the request was for the newest slot.
    pub newer_slots_missing: Option<u32>,
}

/// Why no slot was found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// There is no such snapshot.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The store could not be read, or is damaged.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The number of similar names that are suggested for an unknown one.
const NEAREST: usize = 3;

impl Reader {
    /// The pool's slot `at` exactly, or its newest recorded one.
    pub fn find(&self, id: &PoolId, at: Option<Slot>) -> Result<SlotLookup, FindError> {
        let Some(pool) = self.pool(id)? else {
            return Err(unknown_pool(id, self.pools()?).into());
        };
        let newest = self.latest(&pool, None)?;
        let nothing = |reason| LookupError::NothingRecorded { pool: id.clone(), reason };
        let Some(newest) = newest else { return Err(nothing(None).into()) };
        let Some(at) = at else {
            let reason = match newest.entry.outcome {
                Outcome::Missing(reason) => Some(reason),
                Outcome::Recorded(_) | Outcome::Retired => None,
            };
            let (slot, hash) = newest.snapshot.ok_or_else(|| nothing(reason))?;
            let newer_slots_missing = Some(newest.newer_missing + newest.newer_retracted);
            let recorded_count = newest.entry.recorded_count;
            return Ok(SlotLookup { pool, slot, hash, recorded_count, newer_slots_missing });
        };
        if at < pool.first_slot {
            let first = pool.first_slot;
            return Err(LookupError::BeforeSeries { pool: pool.id, slot: at, first }.into());
        }
        let Some(entry) = self.entry(&pool, at)? else {
            let last = newest.entry.slot;
            return Err(LookupError::AfterSeries { pool: pool.id, slot: at, last }.into());
        };
        let retraction = self.retraction_of(&pool, at)?;
        if let (Outcome::Recorded(hash), None) = (entry.outcome, &retraction) {
            let recorded_count = entry.recorded_count;
            let newer_slots_missing = None;
            return Ok(SlotLookup { pool, slot: at, hash, recorded_count, newer_slots_missing });
        }
        let before = self.latest(&pool, Some(at))?.and_then(|latest| latest.snapshot);
        let before = before.map(|(slot, _)| slot).filter(|slot| *slot < at);
        let (pool, slot) = (pool.id, at);
        Err(match (entry.outcome, retraction) {
            (_, Some(SlotRetraction { by, .. })) => {
                LookupError::Retracted { pool, slot, by, before }
            }
            (Outcome::Missing(reason), None) => LookupError::Missing { pool, slot, reason, before },
            _ => LookupError::Retired { pool, slot, before },
        }
        .into())
    }
}

/// Adds the most similar pool names, because a mistyped address is hard to recognize.
fn unknown_pool(id: &PoolId, pools: Vec<Pool>) -> LookupError {
    let wanted = id.to_string();
    let mut near: Vec<(f64, PoolId)> = pools
        .into_iter()
        .map(|pool| (strsim::jaro_winkler(&wanted, &pool.id.to_string()), pool.id))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let nearest = near.into_iter().take(NEAREST).map(|(_, id)| id).collect();
    LookupError::UnknownPool { pool: id.clone(), nearest }
}
