//! The recorder: every slot, all pools of all chains side by side, then one transaction.
//!
//! [`Recorder::record_slot`] is one step; [`Recorder::run`] makes them at the instants a
//! [`Clock`] shows. A chain that fails, is late or panics gives its own pools missing
//! entries and never holds up another. Past slots are not read: what passed while nothing
//! ran is `recorder_down`.

mod clock;
mod read;
mod run;
mod source;

use std::collections::BTreeMap;
use std::time::Duration;

use exitgap_chain::Missing;
use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;
use exitgap_store::{Appended, LogFolder, NewEntry, PublishError, Published, Store, StoreError};
use tokio::time::Instant;

pub use clock::{Clock, ManualClock, SystemClock};
pub use run::Stop;
pub use source::{MakeReader, SlotReader, Source};

use read::{Chain, ChainReading};

/// How far ahead of the store's last slot a slot may be that nothing but the clock vouches
/// for: one day. A slot that is written cannot be taken back, so a clock that jumped years
/// ahead must not end the series.
const MAX_UNCONFIRMED_SLOTS: u32 = Slot::PER_DAY;

/// Records pools into a store.
pub struct Recorder<R> {
    /// Away while a blocking task writes with it.
    store: Option<Store>,
    chains: Vec<Chain<R>>,
    seal_after: Duration,
    folder: Option<LogFolder>,
}

/// What became of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotReport {
    /// The slot.
    pub slot: Slot,
    /// Pools with a snapshot.
    pub recorded: u32,
    /// Pools without one, by reason code.
    pub missing: BTreeMap<&'static str, u32>,
    /// HTTP requests it took.
    pub requests: u64,
    /// Slots before it that were filled with `recorder_down`.
    pub filled_slots: u32,
    /// From the start of the reading to the end of the commit.
    pub elapsed: Duration,
    /// Why the slot is not published, where it should be. It is recorded all the same, and
    /// published with a later one.
    pub unpublished: Option<String>,
}

/// Why a slot was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// The slot is in the store, or lies before what is.
    #[error("slot {slot} is sealed; the store's last is {last}")]
    Sealed {
        /// The slot asked for.
        slot: Slot,
        /// The store's last.
        last: Slot,
    },
    /// The slot is more than a day after the last, and no pool could be read: nothing
    /// confirms that the clock is right.
    #[error(
        "slot {slot} is more than a day after the last, {last}, and no chain confirms the time; \
         it is not written, check the machine's clock and the nodes"
    )]
    ClockUnconfirmed {
        /// The slot by the clock.
        slot: Slot,
        /// The store's last.
        last: Slot,
    },
    /// No pool is configured and the store has none.
    #[error("there is no pool to record; configure at least one [[pool]]")]
    NoPool,
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An earlier call was interrupted while it wrote; the store went with it.
    #[error("the recorder was interrupted while it wrote; open the store again")]
    Interrupted,
}

impl<R: SlotReader> Recorder<R> {
    /// A recorder of these chains into this store, which seals each slot `seal_after` its
    /// instant.
    pub fn new(store: Store, sources: Vec<Source<R>>, seal_after: Duration) -> Self {
        let chains = sources.into_iter().map(Chain::new).collect();
        Self { store: Some(store), chains, seal_after, folder: None }
    }

    /// Publishes the log in `folder`, after each slot. Refused where the store may not go on
    /// with what is published there; else what is left of earlier slots is published now.
    pub fn publish_in(&mut self, folder: LogFolder) -> Result<Published, PublishError> {
        let published = match &self.store {
            Some(store) => {
                folder.check(store.reader())?;
                folder.publish(store.reader())?
            }
            None => Published { size: 0, slots: 0 },
        };
        self.folder = Some(folder);
        Ok(published)
    }

    /// The store, for reading.
    pub fn store(&self) -> Result<&Store, RecorderError> {
        self.store.as_ref().ok_or(RecorderError::Interrupted)
    }

    /// The store's last slot.
    pub fn last_slot(&self) -> Result<Option<Slot>, RecorderError> {
        Ok(self.store()?.reader().slots()?.map(|(_, last)| last))
    }

    /// Pools of the store that are not configured (any more): they get an entry per slot
    /// like all others, missing with `recorder_down`.
    pub fn unconfigured(&self) -> Result<Vec<(PoolId, Direction)>, RecorderError> {
        let configured = |id: &PoolId| self.chains.iter().any(|chain| chain.has(id));
        let pools = self.store()?.reader().pools()?;
        let others = pools.into_iter().filter(|pool| !configured(&pool.id));
        Ok(others.map(|pool| (pool.id, pool.default_base)).collect())
    }

    /// Records `slot` with the whole time from its instant to its sealing.
    pub async fn record_slot(&mut self, slot: Slot) -> Result<SlotReport, RecorderError> {
        self.record_slot_within(slot, self.seal_after).await
    }

    /// Reads all pools at `slot` within `budget` from now, and appends the slot. Dropping
    /// the future before it is ready leaves the slot out, or written whole.
    pub async fn record_slot_within(
        &mut self,
        slot: Slot,
        budget: Duration,
    ) -> Result<SlotReport, RecorderError> {
        let started = Instant::now();
        let last = self.last_slot()?;
        if let Some(last) = last.filter(|last| slot <= *last) {
            return Err(RecorderError::Sealed { slot, last });
        }
        let unconfigured = self.unconfigured()?;
        let readings = read::all(&mut self.chains, slot, started + budget).await;
        let mut report = SlotReport {
            slot,
            recorded: 0,
            missing: BTreeMap::new(),
            requests: readings.iter().map(|reading| reading.requests).sum(),
            filled_slots: 0,
            elapsed: Duration::ZERO,
            unpublished: None,
        };
        let entries = self.entries(readings, unconfigured);
        if entries.is_empty() {
            return Err(RecorderError::NoPool);
        }
        for entry in &entries {
            match &entry.reading {
                Ok(_) => report.recorded += 1,
                Err(reason) => *report.missing.entry(reason.code()).or_default() += 1,
            }
        }
        if let Some(last) = last
            && report.recorded == 0
            && slot.number() - last.number() > MAX_UNCONFIRMED_SLOTS
        {
            return Err(RecorderError::ClockUnconfirmed { slot, last });
        }
        report.filled_slots = self.append(slot, entries).await?.filled_slots;
        report.elapsed = started.elapsed();
        report.unpublished = self.publish().await?.err().map(|error| error.to_string());
        Ok(report)
    }

    /// One entry for each pool, configured or only stored.
    fn entries(
        &self,
        readings: Vec<ChainReading>,
        unconfigured: Vec<(PoolId, Direction)>,
    ) -> Vec<NewEntry> {
        let mut entries = Vec::new();
        for (chain, reading) in self.chains.iter().zip(readings) {
            for ((pool, default_base), result) in chain.pools().iter().zip(reading.pools) {
                let reading = result.map_err(|missing: Missing| missing.reason);
                entries.push(NewEntry { pool: pool.clone(), default_base: *default_base, reading });
            }
        }
        entries.extend(unconfigured.into_iter().map(|(pool, default_base)| NewEntry {
            pool,
            default_base,
            reading: Err(MissingReason::RecorderDown),
        }));
        entries
    }

    /// Appends on a thread that may block. A commit that fails is not tried again here: what
    /// the disk has not taken may look written to this process, but not to the next one.
    async fn append(
        &mut self,
        slot: Slot,
        entries: Vec<NewEntry>,
    ) -> Result<Appended, RecorderError> {
        Ok(self.blocking(move |store| store.append_slot(slot, &entries)).await??)
    }

    /// Publishes what the store has, where a folder is set.
    async fn publish(&mut self) -> Result<Result<(), PublishError>, RecorderError> {
        let Some(folder) = self.folder.clone() else { return Ok(Ok(())) };
        self.blocking(move |store| folder.publish(store.reader()).map(|_| ())).await
    }

    /// Does something with the store on a thread that may block.
    async fn blocking<T: Send + 'static>(
        &mut self,
        act: impl FnOnce(&mut Store) -> T + Send + 'static,
    ) -> Result<T, RecorderError> {
        let mut store = self.store.take().ok_or(RecorderError::Interrupted)?;
        let acting = move || {
            let done = act(&mut store);
            (store, done)
        };
        let ended = tokio::task::spawn_blocking(acting).await;
        let (store, done) = ended.map_err(|_| RecorderError::Interrupted)?;
        self.store = Some(store);
        Ok(done)
    }
}

/// A pool's result in a slot, as read.
type PoolReading = Result<Snapshot, Missing>;
