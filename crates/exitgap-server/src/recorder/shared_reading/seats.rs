//! The shards that a recorder holds, and their readers: each shard is read once per slot, and its readings are stored
//! for the sealing recorder.

use std::collections::HashMap;
use std::path::Path;
use std::slice::from_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use exitgap_core::ids::ChainSlug;
use exitgap_core::series::Slot;
use exitgap_store::shards::{HeldShard, Put, Share, SharingError};
use exitgap_store::{Reader, StoreError};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep, timeout_at};

use super::super::chains::{self, Chain, ReadTerms, ReadingPlan};
use super::super::clock::Clock;
use super::super::recheck;
use super::super::run::{MIN_BUDGET, READ_AFTER};
use super::super::source::{ResumePoint, SlotReader};
use super::{READ_WITHIN, ShareConfig, SharedSource, document};

/// Polling interval for due shards: one may be assigned while a slot is read.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How many shards of a chain are read concurrently: each reader requests as much from the nodes as a chain's only
/// reader would.
const SIDE_BY_SIDE: usize = 4;

/// How long after its time a reading may still be stored.
const PUT_WITHIN: Duration = Duration::from_secs(2);

/// A shard held by this recorder.
struct Seat<R> {
    held: HeldShard,
    /// Absent while it is being read.
    chain: Option<Chain<R>>,
    /// The last slot for which reading began.
    begun: Option<Slot>,
}

/// The result of reading a shard.
struct Back<R> {
    held: HeldShard,
    chain: Chain<R>,
}

pub struct Seats<R> {
    sharing: Arc<ShareConfig>,
    sources: HashMap<String, SharedSource<R>>,
    held: watch::Receiver<Vec<HeldShard>>,
    /// Whether a shard is being read.
    reading: Arc<AtomicBool>,
    /// By shard.
    taken: HashMap<String, Seat<R>>,
    side_by_side: HashMap<ChainSlug, Arc<Semaphore>>,
    /// The connection for storing readings: opened when first needed, and again if it was lost.
    share: Arc<Mutex<Option<Share>>>,
}

impl<R: SlotReader> Seats<R> {
    pub fn new(
        sharing: ShareConfig,
        sources: Vec<SharedSource<R>>,
        held: watch::Receiver<Vec<HeldShard>>,
        reading: Arc<AtomicBool>,
    ) -> Self {
        let side_by_side = |source: &SharedSource<R>| {
            (source.shard.chain.clone(), Arc::new(Semaphore::new(SIDE_BY_SIDE)))
        };
        Self {
            sharing: Arc::new(sharing),
            side_by_side: sources.iter().map(side_by_side).collect(),
            sources: sources.into_iter().map(|of| (of.shard.name.clone(), of)).collect(),
            held,
            reading,
            taken: HashMap::new(),
            share: Arc::default(),
        }
    }

    /// Reads the held shards, slot by slot, until stopped.
    pub async fn run(mut self, clock: &impl Clock, mut stop: watch::Receiver<bool>) {
        let mut tasks = JoinSet::new();
        loop {
            self.sit();
            if let Some((slot, budget)) = self.due(clock.now()) {
                self.begin(slot, Instant::now() + budget, &mut tasks);
            }
            self.reading.store(!tasks.is_empty(), Ordering::Relaxed);
            tokio::select! {
                Some(ended) = tasks.join_next() => {
                    // A reader that panicked is replaced by a new one.
                    if let Ok(Back { held, chain }) = ended
                        && let Some(seat) = self.taken.get_mut(&held.shard)
                    {
                        seat.chain = Some(chain);
                    }
                }
                () = sleep(LOOK_EVERY) => {}
                stopped = stop.wait_for(|stop| *stop) => {
                    drop(stopped);
                    return;
                }
            }
        }
    }

    /// Adds newly assigned shards, and drops those that were taken away.
    fn sit(&mut self) {
        let held = self.held.borrow_and_update().clone();
        self.taken.retain(|shard, _| held.iter().any(|held| held.shard == *shard));
        for held in held {
            match self.taken.get_mut(&held.shard) {
                Some(seat) if seat.held == held => {}
                // It was taken away and assigned again: a reading in progress from before does not count.
                Some(seat) => (seat.held, seat.begun) = (held, None),
                None => {
                    let seat = Seat { held: held.clone(), chain: None, begun: None };
                    self.taken.insert(held.shard, seat);
                }
            }
        }
    }

    /// The slot to read now, and the time available.
    fn due(&self, now: Duration) -> Option<(Slot, Duration)> {
        let slot = Slot::at_or_before(now.as_secs()).ok()?;
        let instant = Duration::from_secs(slot.unix_s());
        let (of, all) = READ_WITHIN;
        let end = instant + self.sharing.seal_after * of / all;
        let budget = end.checked_sub(now)?;
        let start = instant + READ_AFTER;
        let worth = MIN_BUDGET.min(end.saturating_sub(start) / 2);
        let is_due = now >= start && budget >= worth;
        is_due.then_some((slot, budget))
    }

    /// Starts every shard that was not started for this slot.
    fn begin(&mut self, slot: Slot, deadline: Instant, tasks: &mut JoinSet<Back<R>>) {
        for (shard, seat) in &mut self.taken {
            if seat.begun == Some(slot) {
                continue;
            }
            let Some(source) = self.sources.get(shard) else { continue };
            // Do not wait for a reader that is still busy with an earlier slot: create a new one.
            let chain = seat.chain.take().unwrap_or_else(|| Chain::new((source.make)()));
            seat.begun = Some(slot);
            let reading = ShardTask {
                sharing: self.sharing.clone(),
                shard: source.shard.clone(),
                held: seat.held.clone(),
                share: self.share.clone(),
                slot,
                deadline,
            };
            let permits = self.side_by_side.get(&source.shard.chain).cloned();
            let permits = permits.unwrap_or_else(|| Arc::new(Semaphore::new(SIDE_BY_SIDE)));
            tasks.spawn(async move {
                let mut chain = chain;
                // Shards that wait too long find no time left, and report that.
                let _turn = timeout_at(deadline, permits.acquire_owned()).await;
                reading.read_shard(&mut chain).await;
                Back { held: reading.held, chain }
            });
        }
    }
}

/// One shard at one slot.
struct ShardTask {
    sharing: Arc<ShareConfig>,
    shard: super::Shard,
    held: HeldShard,
    share: Arc<Mutex<Option<Share>>>,
    slot: Slot,
    deadline: Instant,
}

impl ShardTask {
    async fn read_shard<R: SlotReader>(&self, chain: &mut Chain<R>) {
        let (started, slot, deadline) = (Instant::now(), self.slot, self.deadline);
        let mut plan = ReadingPlan::default();
        if chain.begins() {
            plan.standing = self.find_resume_point().await;
        }
        let terms = ReadTerms { slot, prove: self.sharing.prove, ready: false, deadline };
        let Some(reading) = chains::read_all(from_mut(chain), vec![plan], terms).await.pop() else {
            return;
        };
        let recorded = reading.pools.iter().filter(|read| read.is_ok()).count();
        let pools = reading.pools.len();
        let put = self.put(document::encode_reading(slot, &self.shard, &reading)).await;
        let shard = &self.shard.name[..];
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        match put {
            Ok(Put::Counts) => tracing::info!(%slot, shard, pools, recorded, ms, "shard read"),
            Ok(Put::TakenOver) => {
                tracing::warn!(%slot, shard, ms, "its reading is ignored: another recorder reads the shard now");
            }
            Ok(Put::Frozen) => {
                tracing::warn!(%slot, shard, ms, "its reading is ignored: the slot was completed without it");
            }
            Err(error) => tracing::error!(%slot, shard, ms, error, "its reading is lost"),
        }
    }

    /// The newest recorded state of the shard; if it cannot be read, the shard is read like a new one.
    async fn find_resume_point(&self) -> ResumePoint {
        let (store, shard) = (self.sharing.store.clone(), self.shard.clone());
        let read = move || read_resume_point(&store, &shard);
        let read = spawn_blocking(read).await;
        match read {
            Ok(Ok(standing)) => standing,
            Ok(Err(error)) => {
                let shard = &self.shard.name[..];
                tracing::warn!(shard, %error, "the shard's state is unknown: the whole shard is read");
                ResumePoint::default()
            }
            Err(_) => ResumePoint::default(),
        }
    }

    /// Stores a reading, with retries if the server is lost, until the slot's time for it is over.
    async fn put(&self, bytes: Vec<u8>) -> Result<Put, String> {
        let bytes = Arc::new(bytes);
        let again = Duration::from_millis(500);
        loop {
            let (share, store) = (self.share.clone(), self.sharing.store.clone());
            let (slot, held, bytes) = (self.slot, self.held.clone(), bytes.clone());
            let deadline = self.deadline;
            let putting = spawn_blocking(move || {
                let mut share = share.lock().unwrap_or_else(PoisonError::into_inner);
                // Other writers came first, and the server may have delayed this one.
                if Instant::now() > deadline + PUT_WITHIN {
                    return Ok(None);
                }
                put(&mut share, &store, slot, &held, &bytes).map(Some)
            });
            match putting.await {
                Ok(Ok(Some(put))) => return Ok(put),
                Ok(Ok(None)) => return Err("no time was left to store it".to_owned()),
                Ok(Err(SharingError::Store(error))) if Instant::now() + again < self.deadline => {
                    tracing::warn!(slot = %self.slot, shard = &self.shard.name[..], %error, "its reading is stored again");
                    sleep(again).await;
                }
                Ok(Err(error)) => return Err(error.to_string()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

fn read_resume_point(store: &Path, shard: &super::Shard) -> Result<ResumePoint, StoreError> {
    let reader = Reader::open(store)?;
    recheck::find_resume_point(&reader, &shard.chain, Some(&shard.pools))
}

fn put(
    share: &mut Option<Share>,
    store: &Path,
    slot: Slot,
    held: &HeldShard,
    bytes: &[u8],
) -> Result<Put, SharingError> {
    let open = match share.take() {
        Some(open) if open.is_open() => open,
        _ => Share::open(store)?,
    };
    share.insert(open).put(slot, held, bytes)
}
