//! The recorder: every slot, all pools of all chains side by side, then one transaction.
//!
//! Where several recorders share the reading ([`shared`]), each reads a part, and one seals.
//!
//! [`Recorder::record_slot`] is one step; [`Recorder::run`] makes them at the instants a
//! [`Clock`] shows. A chain that fails, is late or panics gives its own pools missing
//! entries and never holds up another. Past slots are not read: what passed while nothing
//! ran is `recorder_down`.

mod anchors;
mod chains;
mod clock;
mod cosign;
mod draw;
mod fills;
mod issued;
mod keep;
mod proofs;
mod recheck;
mod report;
mod run;
pub mod shared;
mod source;

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use exitgap_chain::Missing;
use exitgap_core::ids::{BlockHash, PoolId};
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::payments::Payments;
use exitgap_store::proofs::Proofs as KeptProofs;
use exitgap_store::{
    Changes, LogFolder, NewDoubt, NewEntry, NewRetraction, PublishError, Published, Ready, Store,
    spread,
};
use tokio::sync::watch;
use tokio::time::Instant;

pub use clock::{Clock, ManualClock, SystemClock};
pub use report::{Drawn, RecorderError, SlotReport};
pub use run::Stop;
pub use source::{MakeReader, SlotReader, Source, Standing};

use crate::witness::Witnesses;
use chains::{Chain, ChainReading, ReadSnapshot, ReadTerms, ReadingPlan};
use fills::LogsRequest;
use proofs::Proofs;
use shared::Shard;

/// How far ahead of the store's last slot a slot may be that nothing but the clock vouches
/// for: one day. A slot that is written cannot be taken back, so a clock that jumped years
/// ahead must not end the series.
const MAX_UNCONFIRMED_SLOTS: u32 = Slot::PER_DAY;

/// How long earlier slots are looked at again, after each slot.
const RECHECK_WITHIN: Duration = Duration::from_secs(20);

/// How long the nodes may take to say which chain they serve, before the first slot.
const NODES_WITHIN: Duration = Duration::from_secs(10);

/// Is told of a slot once it is recorded.
type Told = dyn Fn(&SlotReport) + Send;

/// Records pools into a store.
pub struct Recorder<R> {
    /// Away while a blocking task writes with it.
    store: Option<Store>,
    chains: Vec<Chain<R>>,
    seal_after: Duration,
    folder: Option<LogFolder>,
    /// Slots that are published, as far as it knows.
    published: u64,
    /// Pools to retire with the next slot.
    retiring: Vec<PoolId>,
    /// What is read together, where several recorders share the reading.
    shards: Option<Vec<Shard>>,
    /// Whether what is read is held against the chain's own state.
    prove: bool,
    /// Where the proofs are kept.
    kept: Option<Arc<KeptProofs>>,
    /// What became of the proofs that the slot before drew.
    drawn: Drawn,
    /// Whether each day's anchors are published.
    anchors: bool,
    /// Who cosigns each slot before it is published.
    witnesses: Option<Arc<Witnesses>>,
    /// Where the receipts are that heads commit to.
    payments: Option<Arc<Payments>>,
    /// Who is told of each slot.
    told: Option<Box<Told>>,
    /// The newest slot that was sealed by this process.
    sealed: watch::Sender<Option<Slot>>,
}

impl<R: SlotReader> Recorder<R> {
    /// A recorder of these chains into this store, which seals each slot `seal_after` its
    /// instant.
    pub fn new(store: Store, sources: Vec<Source<R>>, seal_after: Duration) -> Self {
        let chains = sources.into_iter().map(Chain::new).collect();
        let (store, folder, retiring) = (Some(store), None, Vec::new());
        Self {
            store,
            chains,
            seal_after,
            folder,
            published: 0,
            retiring,
            shards: None,
            prove: false,
            kept: None,
            drawn: Drawn::default(),
            anchors: false,
            witnesses: None,
            payments: None,
            told: None,
            sealed: watch::Sender::new(None),
        }
    }

    /// Seals what all that share the reading read of these shards, and reads no pool itself.
    pub fn share_reading(&mut self, shards: Vec<Shard>) {
        self.shards = Some(shards);
    }

    /// Holds what it reads against the chain's own state before it signs it, and keeps the proofs where that is wanted.
    pub fn prove_states(&mut self, kept: Option<Arc<KeptProofs>>) {
        (self.prove, self.kept) = (true, kept);
    }

    /// Publishes each day's anchors beside the log, once the day is over and final.
    pub fn anchor_days(&mut self) {
        self.anchors = true;
    }

    /// Lets each pool's head commit to the receipts of its estimates that were paid for since the one before.
    pub fn commit_issued(&mut self, payments: Payments) {
        self.payments = Some(Arc::new(payments));
    }

    /// Tells `told` of each slot once it is recorded.
    pub fn tell(&mut self, told: impl Fn(&SlotReport) + Send + 'static) {
        self.told = Some(Box::new(told));
    }

    /// Follows which slot is the newest that was sealed.
    pub fn watch_sealed(&self) -> watch::Receiver<Option<Slot>> {
        self.sealed.subscribe()
    }

    /// Publishes the log in `folder`, after each slot. Refused where the store may not go on
    /// with what is published there; else what is left of earlier slots is published now.
    pub fn publish_in(&mut self, folder: LogFolder) -> Result<Published, PublishError> {
        let published = match &mut self.store {
            Some(store) => {
                store.read_days_from(folder.clone());
                folder.check(store.reader())?;
                folder.publish(store.reader())?
            }
            None => Published { size: 0, slots: 0 },
        };
        self.folder = Some(folder);
        self.published = published.size;
        Ok(published)
    }

    /// How many slots are published: in the folder, and synced.
    pub fn published(&self) -> u64 {
        self.published
    }

    /// Retires these pools with the next slot: their final head. Those that the store retired
    /// before, or never had, are passed over, and the others returned. Refused for pools that
    /// are configured.
    pub fn retire(&mut self, pools: &[PoolId]) -> Result<Vec<PoolId>, RecorderError> {
        for pool in pools {
            if self.chains.iter().any(|chain| chain.has(pool)) {
                return Err(RecorderError::RetiringConfigured { pool: pool.clone() });
            }
            let stored = self.store()?.reader().pool(pool)?;
            if stored.is_some_and(|stored| stored.retired_slot.is_none())
                && !self.retiring.contains(pool)
            {
                self.retiring.push(pool.clone());
            }
        }
        Ok(self.retiring.clone())
    }

    /// Requires that no configured pool is retired. [`Recorder::run`] asks it first.
    pub fn check_pools(&self) -> Result<(), RecorderError> {
        let configured = |id: &PoolId| self.chains.iter().any(|chain| chain.has(id));
        let pools = self.store()?.reader().pools()?;
        let retired = pools
            .into_iter()
            .filter(|pool| configured(&pool.id))
            .find_map(|pool| Some((pool.id, pool.retired_slot?)));
        match retired {
            Some((pool, slot)) => Err(RecorderError::Retired { pool, slot }),
            None => Ok(()),
        }
    }

    /// The store, for reading.
    pub fn store(&self) -> Result<&Store, RecorderError> {
        self.store.as_ref().ok_or(RecorderError::Interrupted)
    }

    /// Closes the store. What was recorded is safe before; an error says that the disk failed.
    pub fn close(self) -> Result<(), RecorderError> {
        Ok(self.store.ok_or(RecorderError::Interrupted)?.close()?)
    }

    /// The store's last slot.
    pub fn last_slot(&self) -> Result<Option<Slot>, RecorderError> {
        Ok(self.store()?.reader().slots()?.map(|(_, last)| last))
    }

    /// Pools of the store that are not configured (any more) and not retired: they get an entry
    /// per slot like all others, missing with `recorder_down`.
    pub fn unconfigured(&self) -> Result<Vec<(PoolId, Direction)>, RecorderError> {
        let configured = |id: &PoolId| self.chains.iter().any(|chain| chain.has(id));
        let pools = self.store()?.reader().pools()?;
        let others = pools.into_iter().filter(|pool| {
            let ends = pool.retired_slot.is_some() || self.retiring.contains(&pool.id);
            !ends && !configured(&pool.id)
        });
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
        let plans = self.reading_plans().await?;
        let requests: Vec<_> = plans.iter().map(|plan| plan.logs.clone()).collect();
        let mut readings = self.readings(slot, plans, started + budget).await?;
        let mut proofs = Proofs::default();
        for reading in &mut readings {
            proofs.add(take(&mut reading.proofs));
        }
        for ((chain, request), reading) in self.chains.iter_mut().zip(requests).zip(&mut readings) {
            let slug = chain.slug().clone();
            if let Some(request) = request {
                chain.fills.take(&slug, slot, &request, reading.logs.take());
            }
        }
        let block = |reading: &ChainReading| reading.block().map(|block| block.hash);
        let blocks: Vec<Option<BlockHash>> = readings.iter().map(block).collect();
        let doubts: Vec<NewDoubt> =
            readings.iter_mut().flat_map(|reading| take(&mut reading.doubts)).collect();
        let mut report = SlotReport {
            slot,
            recorded: 0,
            missing: BTreeMap::new(),
            retracted: 0,
            doubts: 0,
            proven: proofs.proven,
            oracles_proven: proofs.oracles_proven,
            unproven: proofs.unproven,
            drawn: take(&mut self.drawn),
            cosigned: 0,
            not_cosigned: Vec::new(),
            requests: readings.iter().map(|reading| reading.requests).sum(),
            filled_slots: 0,
            elapsed: Duration::ZERO,
            unpublished: None,
        };
        let entries = self.entries(slot, readings, unconfigured);
        if entries.is_empty() {
            return Err(RecorderError::NoPool);
        }
        for entry in &entries {
            match &entry.reading {
                Ok(_) => report.recorded += 1,
                Err(reason) => *report.missing.entry(*reason).or_default() += 1,
            }
        }
        if let Some(last) = last
            && report.recorded == 0
            && slot.number() - last.number() > MAX_UNCONFIRMED_SLOTS
        {
            return Err(RecorderError::ClockUnconfirmed { slot, last });
        }
        let retractions = self.blocking(move |store| recheck::retractions(store, slot)).await??;
        report.retracted = u32::try_from(retractions.len()).unwrap_or(u32::MAX);
        for NewRetraction { pool, slot: retracted, .. } in &retractions {
            tracing::warn!(%slot, %pool, %retracted, "retracted: its block was orphaned");
        }
        report.doubts = u32::try_from(doubts.len()).unwrap_or(u32::MAX);
        for NewDoubt { pool, first } in &doubts {
            tracing::error!(%slot, %pool, from = %first, "its slots up to this one are in doubt: a full reading found other ticks");
        }
        let fills = self.chains.iter().flat_map(|chain| chain.fills.due(slot)).collect();
        let issued = self.issued(slot, &entries).await?;
        let retirements = self.retiring.clone();
        let changes = Changes { retractions, retirements, doubts, fills, issued: issued.clone() };
        let append =
            move |store: &mut Store| store.append_ready(slot, all_ready(entries), &changes);
        report.filled_slots = self.blocking(append).await??.filled_slots;
        self.issued_written(slot, issued).await?;
        self.chains.iter_mut().for_each(|chain| chain.fills.written(slot));
        self.keep(slot, proofs.files).await?;
        for pool in self.retiring.drain(..) {
            tracing::warn!(%slot, %pool, "retired: this was its last entry");
        }
        report.elapsed = started.elapsed();
        (report.cosigned, report.not_cosigned) = self.cosign().await?;
        report.unpublished = self.publish().await?.err().map(|error| error.to_string());
        if let Some(told) = &self.told {
            told(&report);
        }
        self.sealed.send_replace(Some(slot));
        self.recheck(slot).await?;
        self.drawn = self.prove_drawn(slot, &blocks).await?;
        self.publish_proofs().await;
        self.publish_anchors(slot).await?;
        Ok(report)
    }

    /// What all chains' pools are at a slot: read here, or by all that share the reading.
    async fn readings(
        &mut self,
        slot: Slot,
        plans: Vec<ReadingPlan>,
        deadline: Instant,
    ) -> Result<Vec<ChainReading>, RecorderError> {
        if self.shards.is_some() {
            return self.gathered(slot, plans, deadline).await;
        }
        let terms = ReadTerms { slot, prove: self.prove, ready: true, deadline };
        Ok(chains::read_all(&mut self.chains, plans, terms).await)
    }

    /// Requires that no chain's nodes contradict each other about which chain it is.
    /// [`Recorder::run`] asks it first.
    pub async fn check_nodes(&self) -> Result<(), RecorderError> {
        let deadline = Instant::now() + NODES_WITHIN;
        for chain in &self.chains {
            chain.check_nodes(deadline).await.map_err(RecorderError::NodesDisagree)?;
        }
        Ok(())
    }

    /// What each chain's reader is given for the next slot.
    async fn reading_plans(&mut self) -> Result<Vec<ReadingPlan>, RecorderError> {
        let mut plans = Vec::with_capacity(self.chains.len());
        for place in 0..self.chains.len() {
            let standing = self.standing_of(place).await?;
            plans.push(ReadingPlan { standing, logs: None });
        }
        if R::TELLS_LOGS {
            for (place, plan) in plans.iter_mut().enumerate() {
                plan.logs = self.plan_logs(place).await?;
            }
        }
        Ok(plans)
    }

    /// Reads from the store where the series of a chain stand whose reader is made anew.
    async fn standing_of(&mut self, place: usize) -> Result<Standing, RecorderError> {
        if !self.chains[place].begins() {
            return Ok(Standing::default());
        }
        let chain = self.chains[place].slug().clone();
        let pools = self.chains[place].pools().iter().map(|(pool, _)| pool.clone());
        let pools: Option<Vec<PoolId>> = self.shards.is_none().then(|| pools.collect());
        let read =
            move |store: &mut Store| recheck::standing(store.reader(), &chain, pools.as_deref());
        Ok(self.blocking(read).await??)
    }

    /// Plans which logs of a chain's pools are asked for with the next slot.
    async fn plan_logs(&mut self, place: usize) -> Result<Option<LogsRequest>, RecorderError> {
        let chain = self.chains[place].slug().clone();
        let pools: Vec<PoolId> =
            self.chains[place].pools().iter().map(|(pool, _)| pool.clone()).collect();
        let mut gatherer = take(&mut self.chains[place].fills);
        let plan = move |store: &mut Store| {
            let planned = gatherer.plan(store.reader(), &chain, &pools);
            (gatherer, planned)
        };
        let (gatherer, planned) = self.blocking(plan).await?;
        self.chains[place].fills = gatherer;
        Ok(planned?)
    }

    /// Looks at the blocks of earlier slots again, after `last` was recorded. What is found
    /// orphaned is retracted with the next slot.
    async fn recheck(&mut self, last: Slot) -> Result<(), RecorderError> {
        let deadline = Instant::now() + RECHECK_WITHIN;
        let mut rechecks: Vec<_> = self
            .chains
            .iter_mut()
            .map(|chain| (chain.slug().clone(), chain.confirmations(), take(&mut chain.recheck)))
            .collect();
        let (rechecks, due) = self
            .blocking(move |store| {
                let due = rechecks.iter_mut().map(|(chain, confirmations, recheck)| {
                    let Some(confirmations) = *confirmations else { return Vec::new() };
                    let due = recheck.due(store.reader(), chain, last, confirmations);
                    due.unwrap_or_else(|error| {
                        tracing::error!(%chain, %error, "earlier slots are not checked again");
                        Vec::new()
                    })
                });
                let due: Vec<_> = due.collect();
                (rechecks, due)
            })
            .await?;
        for (chain, (_, _, recheck)) in self.chains.iter_mut().zip(rechecks) {
            chain.recheck = recheck;
        }
        let compared = chains::read_canonical(&mut self.chains, due, deadline).await;
        for (place, compared) in compared.into_iter().enumerate() {
            let chain = self.chains[place].slug().clone();
            let settle = move |store: &mut Store| recheck::settle(store, &chain, last, &compared);
            match self.blocking(settle).await? {
                Ok(next) => {
                    if let Some(next) = next {
                        self.chains[place].recheck.compared_until(next);
                    }
                }
                Err(error) => {
                    let chain = self.chains[place].slug();
                    tracing::error!(%chain, %error, "what was checked again is not noted yet");
                }
            }
        }
        Ok(())
    }

    /// One entry for each pool, configured or only stored.
    fn entries(
        &mut self,
        slot: Slot,
        readings: Vec<ChainReading>,
        unconfigured: Vec<(PoolId, Direction)>,
    ) -> Vec<NewEntry<ReadSnapshot>> {
        let mut entries = Vec::new();
        for (chain, reading) in self.chains.iter_mut().zip(readings) {
            let read = reading.pools.iter().flatten();
            chain.recheck.note(slot, read.clone().map(|read| &read.snapshot));
            if R::TELLS_LOGS {
                chain.fills.note(slot, read.map(|read| &read.snapshot));
            }
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

    /// Publishes what the store has, where a folder is set.
    async fn publish(&mut self) -> Result<Result<(), PublishError>, RecorderError> {
        let Some(folder) = self.folder.clone() else { return Ok(Ok(())) };
        let published = self.blocking(move |store| folder.publish_newest(store)).await?;
        Ok(published.map(|published| self.published = published.size))
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

/// The entries to be written. What there was no time to make ready before is made now; what cannot
/// be stored at all is missing.
fn all_ready(entries: Vec<NewEntry<ReadSnapshot>>) -> Vec<NewEntry<Ready>> {
    let made = spread(&entries, |entry| match &entry.reading {
        Ok(ReadSnapshot { snapshot, ready: None }) => Some(chains::make_ready(snapshot)),
        _ => None,
    });
    let entries = entries.into_iter().zip(made);
    let ready = entries.map(|(NewEntry { pool, default_base, reading }, made)| {
        let reading = match (made, reading) {
            (Some(Ok(ready)), _) | (None, Ok(ReadSnapshot { ready: Some(ready), .. })) => Ok(ready),
            (_, Err(reason)) => Err(reason),
            (made, Ok(_)) => {
                let error = made.and_then(Result::err).map(|missing| missing.detail);
                tracing::error!(%pool, error, "missing");
                Err(MissingReason::PoolUnsupported)
            }
        };
        NewEntry { pool, default_base, reading }
    });
    ready.collect()
}
