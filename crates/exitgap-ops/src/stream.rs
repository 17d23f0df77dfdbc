//! Streams of sealed slots.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use exitgap_api::{Problem, ProblemCode, StreamedPool, StreamedSlot};
use exitgap_core::ids::PoolId;
use exitgap_core::series::{LookupError, Slot};
use exitgap_core::tlog::Checkpoint;
use exitgap_store::{FindError, Reader, SnapshotFigures, StoreError};
use tokio::sync::{OnceCell, watch};

use super::{IntoProblem, Service};

/// The events of a slot for a client that watches some pools: the slot's own document, then one for each pool with a
/// head in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamedEvents {
    /// The slot's document, JSON.
    pub slot: String,
    /// The documents of the pools, by their indices among the watched pools.
    pub pools: Vec<(u32, String)>,
}

/// The progress of the log, for clients that wait for more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogProgress {
    /// The newest slot.
    pub newest: Option<Slot>,
    /// Whether no more slots will come, because the process ends.
    pub ends: bool,
}

/// Events that are computed once and shared by all clients with the same request.
type Made = Arc<OnceCell<Arc<StreamedEvents>>>;

/// Events of the newest slots, each computed once.
#[derive(Debug, Default)]
pub(super) struct EventCache {
    made: Mutex<BTreeMap<(Slot, Vec<PoolId>), Made>>,
    sealed: watch::Sender<LogProgress>,
}

/// The maximum number of different requests for the newest slots that are cached.
const KEPT: usize = 16_384;

impl EventCache {
    /// Notifies all waiting clients that a slot was sealed.
    pub fn announce_slot(&self, newest: Slot) {
        self.sealed.send_modify(|sealed| sealed.newest = Some(newest));
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|(slot, _), _| slot.number() + 1 >= newest.number());
    }

    fn cell(&self, slot: Slot, pools: &[PoolId]) -> Made {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.len() >= KEPT {
            made.clear();
        }
        made.entry((slot, pools.to_vec())).or_default().clone()
    }
}

impl Service {
    /// Watches the progress of the log.
    pub fn watch_slots(&self) -> watch::Receiver<LogProgress> {
        self.streamed.sealed.subscribe()
    }

    /// Notifies all clients that no more slots will come.
    pub fn end_streams(&self) {
        self.streamed.sealed.send_modify(|sealed| sealed.ends = true);
    }

    /// Requires that each pool is recorded.
    pub fn require_pools(&self, pools: &[PoolId]) -> Result<(), Problem> {
        let current = self.current();
        match pools.iter().find(|pool| !current.pools.contains_key(*pool)) {
            None => Ok(()),
            Some(pool) => {
                let pool = (*pool).clone();
                let nearest = Vec::new();
                Err(FindError::Lookup(LookupError::UnknownPool { pool, nearest }).into_problem())
            }
        }
    }

    /// The events of a sealed slot for a client that watches these pools.
    pub async fn slot_events(
        &self,
        slot: Slot,
        pools: &[PoolId],
    ) -> Result<Arc<StreamedEvents>, Problem> {
        let newest = self.current().last_slot;
        let make = || async {
            let pools = pools.to_vec();
            let read = move |reader: &Reader| events(reader, slot, &pools);
            self.read_store(read).await.map(Arc::new)
        };
        // Clients ask for different old slots, so caching them would not help.
        if newest.is_none_or(|newest| slot.number() + 1 < newest.number()) {
            return make().await;
        }
        self.streamed.cell(slot, pools).get_or_try_init(make).await.cloned()
    }
}

fn events(reader: &Reader, slot: Slot, pools: &[PoolId]) -> Result<StreamedEvents, FindError> {
    let corrupt =
        |what: &str| StoreError::CorruptRow { table: "sealed_slot", found: what.to_owned() };
    let leaf = reader.leaf(slot)?.ok_or_else(|| corrupt("no such slot"))?.leaf;
    let log = reader.log()?.ok_or_else(|| corrupt("no log"))?;
    let size = log.origin.index_of(slot).map_or(0, |index| index + 1);
    let note = reader.checkpoint(size)?.ok_or_else(|| corrupt("no checkpoint"))?;
    let (checkpoint, _) = Checkpoint::from_note(&note).map_err(|_| corrupt("no checkpoint"))?;
    let text = |document: serde_json::Result<String>| {
        document
            .map_err(|error| StoreError::CorruptRow { table: "entry", found: error.to_string() })
    };
    let slot_text = text(serde_json::to_string(&StreamedSlot::new(slot, leaf.pools, &checkpoint)))?;
    let mut told = Vec::with_capacity(pools.len());
    for (place, id) in (1..).zip(pools) {
        let Some(pool) = reader.pool(id)? else { continue };
        let Some(stored) = reader.head(&pool, slot)? else { continue };
        let figures = reader.figures_at(&pool, slot)?;
        let snapshot = figures.as_ref().and_then(|figures| figures.snapshot.as_ref());
        let week = figures.as_ref().and_then(|figures| figures.week.as_ref());
        let depths = snapshot.map(SnapshotFigures::slot_depths);
        let document = StreamedPool::new(&stored.head, depths, week);
        told.push((place, text(serde_json::to_string(&document))?));
    }
    Ok(StreamedEvents { slot: slot_text, pools: told })
}

/// Why a stream is refused.
pub fn too_many_streams(most: usize) -> Problem {
    Problem::new(ProblemCode::RateLimited, format!("the limit of {most} streams is reached"))
        .hint("one stream can cover 100 pools; close some streams, or ask again later")
}
