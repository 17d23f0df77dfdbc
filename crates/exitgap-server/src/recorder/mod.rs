//! The recorder: at every slot it reads all pools of all chains concurrently, then writes one transaction.
//!
//! [`Recorder::record_slot`] records one slot; [`Recorder::run`] records slots at the times of a [`Clock`]. If a chain
//! fails, is late or panics, its own pools get missing entries, and no other chain waits for it. Past slots are not
//! read: slots that passed while no recorder ran are `recorder_down`. If several recorders share the reading
//! ([`shared_reading`]), each reads a part, and one seals.
//!
//! # The pipeline
//!
//! A slot is recorded in five steps. Each step has its own file and takes the result of the previous step.
//!
//! | step | returns | changes |
//! |---|---|---|
//! | `slot_reading` | `ReadSlot`: entries, blocks, doubts, proofs | the chains in memory: readers, known blocks, gathered logs. Where the reading is shared, no later reading of the slot counts |
//! | `assemble` | `SlotDraft`: entries, other contents of the heads | the lists of pending retractions and receipts |
//! | `append` | `SealedSlot` | the slot in the store; then receipts, proofs, gathered logs, pools to retire |
//! | `publish` | `Publication` | the cosignatures in the store, the log's folder |
//! | `after` | nothing | the progress of rechecks, stored proofs, folder files that the log does not commit to |
//!
//! Between the first two steps, [`Recorder::run`] requires that the slot's time has certainly come (`confirmed`): a
//! slot that was sealed too early could never be recorded correctly.
//!
//! # Order of writes, and the state after a crash
//!
//! Each line is written before the next one begins. The slot is sealed once line 5 is durable. The later lines can be
//! repeated, or, if the list says so, their data may be lost. An error before line 6 fails the call, and unless line 5
//! was committed, nothing of the slot is stored. An error in a later line is logged, and its effects are repaired as
//! after a crash. An error in line 8 also fails the call, although the slot is sealed.
//!
//! 1. *`slot_reading`*: writes nothing. If several recorders share the reading, each recorder commits the readings of
//!    its shards, and then the slot is frozen. After a crash, the readings remain. The recorder that seals next seals
//!    their slot first, up to a day late.
//! 2. *assemble*: an orphaned slot that is too old to be retracted, or whose pool is retired, is deleted from the
//!    store's suspicions. A receipt that a head already commits to, or whose pool gets no more heads, is deleted from
//!    the list of payments. After a crash, the lists are shorter and correct. Other confirmed suspicions stay until a
//!    head has retracted their slots.
//! 3. *append*: a previous slot that still waits for cosignatures stops waiting, and the slots since the last one are
//!    filled with `recorder_down`, claimed and signed as in line 4. After a crash, the store contains complete slots,
//!    and the next append continues after them.
//! 4. *append*: once the transaction of line 5 contains everything except the seal, the slot is claimed: in the bucket
//!    if claims are stored there, then in a server's database. Only then is it signed. After a crash, the claim
//!    remains, and possibly a signature: the recorder that starts next or takes over seals the slot exactly as it was
//!    claimed, so that no other content is ever signed. A file store without such a bucket claims nothing: the
//!    signature exists only in memory, and a crash leaves nothing of the slot. The slot is then read again if there is
//!    time; otherwise it becomes `recorder_down`.
//! 5. *append*: one transaction commits entries, heads, bodies, logs, receipts and retractions, leaf, tree and signed
//!    checkpoint. If witnesses are asked, it also records that the slot waits for them. After a crash, either all or
//!    nothing of it is stored. If the result of a commit is unknown, the recorder ends or reopens a server's store,
//!    which then shows whether it contains the slot. After a commit, the write-ahead log is checkpointed from time to
//!    time. If that fails, the slot is sealed, but the recorder ends.
//! 6. *append*: the slot's receipts are deleted from the list of payments. After a crash, they are still in the list.
//!    The next slot finds them in the newest document of their pool, deletes them from the list, and does not commit to
//!    them again.
//! 7. *append*: the slot's state proofs are stored, and once an hour old ones are thinned out. A crash loses the
//!    proofs, but not the slot: a proof certifies itself, and an archive node can create it again. Data that is only in
//!    memory is restored from the store: the progress of log gathering from the documents, and the retired pools.
//! 8. *publish*: the witnesses' answers are committed. After an earlier crash, the slot still waits for them and is not
//!    published: the next start asks the witnesses again and then publishes the slot. If another slot is appended
//!    first, line 3 ends the wait.
//! 9. *publish*: the slot's parts and documents, its manifest, the tiles, and finally the checkpoint are written to the
//!    folder. After a crash, every file that the folder's checkpoint needs exists. The next start or the next slot
//!    writes the same bytes and continues. The same happens after an error, which does not fail the slot.
//! 10. *after*: the progress of block rechecks and the suspected blocks are committed, chain by chain. After a crash,
//!     the previous state remains, and the blocks are requested again after the next slot.
//! 11. *after*: proofs of the pools that the slot drew are stored permanently, one by one. A crash loses those not yet
//!     stored: they count as absent, and an archive node can create them again.
//! 12. *after*: permanently stored proofs are published, each before it is marked as published. After a crash, a
//!     published file may lack its mark. Publishing it again does not change it.
//! 13. *after*: a day's anchors are published, one file per chain. After a crash, the files are complete. Later slots
//!     publish the missing ones, for a day.
//!
//! A start repairs the state in this order: it compares the folder with the store and writes the missing slots to the
//! folder (line 9), seals and publishes claimed slots (line 4), asks the witnesses (line 8), and then records slots. If
//! claims are stored in a bucket, claimed slots are additionally sealed before all this, because the database may lack
//! published slots. A server's store that was lost and reopened is repaired in the same order.
//!
//! If a future of [`Recorder::record_slot`] is dropped while the store writes, the write finishes by itself, and the
//! recorder loses its store ([`RecorderError::Interrupted`]). The effect is that of a crash at that line.

mod after;
mod anchors;
mod append;
mod assemble;
mod chains;
mod clock;
mod confirmed;
mod cosign;
mod draw;
mod fills;
mod keep;
mod proofs;
mod publish;
mod receipts;
mod recheck;
mod report;
mod run;
pub mod shared_reading;
mod slot_reading;
mod source;
mod store;

use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_store::payments::Payments;
use exitgap_store::proofs::Proofs as KeptProofs;
use exitgap_store::{LogFolder, Store};
use tokio::sync::watch;
use tokio::time::Instant;

pub use clock::{Clock, ManualClock, Moment, SystemClock};
pub use report::{Drawn, RecorderError, SlotReport};
pub use run::Stop;
pub use source::{MakeReader, ResumePoint, SlotReader, Source};

use crate::witness::Witnesses;
use assemble::{PendingChanges, assemble};
use chains::Chain;
use confirmed::ConfirmedTime;
use shared_reading::Shard;
use slot_reading::ReadSlot;
use store::BlockingStore;

/// Time limit for the nodes to report which chain they serve, before the first slot.
const NODES_WITHIN: Duration = Duration::from_secs(10);

/// Receives each slot's report once it is recorded.
type SlotCallback = dyn Fn(&SlotReport) + Send;

/// Records pools into a store.
pub struct Recorder<R> {
    // What the recorder works with.
    /// From a slot's instant to its sealing.
    seal_after: Duration,
    /// The shards to gather, if several recorders share the reading.
    shards: Option<Vec<Shard>>,
    /// Whether readings are checked against the chain's own state.
    prove: bool,
    /// Where proofs are stored.
    kept: Option<Arc<KeptProofs>>,
    /// Whether each day's anchors are published.
    anchors: bool,
    /// Who cosigns each slot before it is published.
    witnesses: Option<Arc<Witnesses>>,
    /// The receipts that heads commit to.
    payments: Option<Arc<Payments>>,
    /// Where the log is published.
    folder: Option<LogFolder>,
    /// Receives each slot's report.
    told: Option<Box<SlotCallback>>,

    // State that outlives a slot.
    store: BlockingStore,
    /// The chains' readers, with the rechecked blocks and gathered logs of earlier slots.
    chains: Vec<Chain<R>>,
    /// Number of published slots, as far as this process knows.
    published: u64,
    /// Pools to retire with the next slot.
    retiring: Vec<PoolId>,
    /// The result of the proofs that the previous slot drew.
    drawn: Drawn,
    /// The latest time that chains' blocks showed to have come.
    confirmed: ConfirmedTime,
    /// The newest slot sealed by this process.
    sealed: watch::Sender<Option<Slot>>,
}

impl<R: SlotReader> Recorder<R> {
    /// Creates a recorder that reads these chains into this store, and seals each slot `seal_after` its instant.
    pub fn new(store: Store, sources: Vec<Source<R>>, seal_after: Duration) -> Self {
        Self {
            seal_after,
            shards: None,
            prove: false,
            kept: None,
            anchors: false,
            witnesses: None,
            payments: None,
            folder: None,
            told: None,
            store: BlockingStore::new(store),
            chains: sources.into_iter().map(Chain::new).collect(),
            published: 0,
            retiring: Vec::new(),
            drawn: Drawn::default(),
            confirmed: ConfirmedTime::default(),
            sealed: watch::Sender::new(None),
        }
    }

    /// Seals the shards that the sharing recorders read, and reads no pool itself.
    pub fn share_reading(&mut self, shards: Vec<Shard>) {
        self.shards = Some(shards);
    }

    /// Checks readings against the chain's own state before signing, and stores the proofs in `kept`, if given.
    pub fn prove_states(&mut self, kept: Option<Arc<KeptProofs>>) {
        (self.prove, self.kept) = (true, kept);
    }

    /// Publishes each day's anchors next to the log once the day is over and final.
    pub fn anchor_days(&mut self) {
        self.anchors = true;
    }

    /// Makes each pool's head commit to the receipts of its paid estimates since the previous head.
    pub fn commit_issued(&mut self, payments: Payments) {
        self.payments = Some(Arc::new(payments));
    }

    /// Calls `told` with each slot's report once it is recorded.
    pub fn tell(&mut self, told: impl Fn(&SlotReport) + Send + 'static) {
        self.told = Some(Box::new(told));
    }

    /// Watches the newest sealed slot.
    pub fn watch_sealed(&self) -> watch::Receiver<Option<Slot>> {
        self.sealed.subscribe()
    }

    /// Retires these pools with the next slot, which has their final head. Skips pools that the store retired before or
    /// never had, and returns the pools that will retire. Fails for pools that are configured.
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

    /// Requires that no configured pool is retired. [`Recorder::run`] calls it first.
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
        self.store.get()
    }

    /// Closes the store. All recorded slots are already safe; an error means that the disk failed.
    pub fn close(self) -> Result<(), RecorderError> {
        Ok(self.store.into_inner()?.close()?)
    }

    /// The store's last slot.
    pub fn last_slot(&self) -> Result<Option<Slot>, RecorderError> {
        Ok(self.store()?.reader().slots()?.map(|(_, last)| last))
    }

    /// Pools of the store that are not configured (any more) and not retired: they still get an entry per slot, missing
    /// with `recorder_down`.
    pub fn unconfigured_pools(&self) -> Result<Vec<(PoolId, Direction)>, RecorderError> {
        let configured = |id: &PoolId| self.chains.iter().any(|chain| chain.has(id));
        let pools = self.store()?.reader().pools()?;
        let others = pools.into_iter().filter(|pool| {
            let ends = pool.retired_slot.is_some() || self.retiring.contains(&pool.id);
            !ends && !configured(&pool.id)
        });
        Ok(others.map(|pool| (pool.id, pool.default_base)).collect())
    }

    /// Records `slot` with the full time from its instant to its sealing. The caller guarantees that its time has come.
    pub async fn record_slot(&mut self, slot: Slot) -> Result<SlotReport, RecorderError> {
        self.record_slot_within(slot, self.seal_after).await
    }

    /// Records `slot`: reads all pools within `budget` from now, then appends and publishes the slot. The caller
    /// guarantees that its time has come. If the future is dropped early, the slot is either absent or completely
    /// written. See the order of writes in the module documentation.
    pub async fn record_slot_within(
        &mut self,
        slot: Slot,
        budget: Duration,
    ) -> Result<SlotReport, RecorderError> {
        let started = Instant::now();
        let read = self.read_slot(slot, started + budget).await?;
        self.seal(read, started).await
    }

    /// The same with a clock that may be wrong: the slot is not written unless a chain's block or the monotonic clock
    /// confirms that its time has come.
    async fn record_slot_by(
        &mut self,
        clock: &impl Clock,
        slot: Slot,
        budget: Duration,
    ) -> Result<SlotReport, RecorderError> {
        let started = Instant::now();
        let read = self.read_slot(slot, started + budget).await?;
        self.confirmed.note_reading(clock, &read);
        if !self.confirmed.wait_for(clock, slot, started + budget).await {
            return Err(RecorderError::ClockUnconfirmed { slot });
        }
        self.seal(read, started).await
    }

    /// Appends and publishes a slot's readings.
    async fn seal(
        &mut self,
        read: ReadSlot,
        started: Instant,
    ) -> Result<SlotReport, RecorderError> {
        let slot = read.slot;
        let drawn_before = take(&mut self.drawn);
        let pending = self.pending_changes(slot);
        let draft = assemble(&mut self.store, self.payments.as_ref(), pending, read).await?;
        let sealed = self.append(draft).await?;
        let elapsed = started.elapsed();
        let publication = self.publish().await?;
        let mut report = SlotReport::from_sealed(&sealed, publication, drawn_before, elapsed);
        report.node_outcomes = self.chains.iter().flat_map(Chain::take_outcomes).collect();
        let checked =
            |chain: &Chain<R>| Some((chain.slug().clone(), chain.logs_checked()?.clone()));
        report.logs_checked = self.chains.iter().filter_map(checked).collect();
        self.announce(&report);
        self.after(&sealed).await?;
        Ok(report)
    }

    /// The pending changes of earlier slots for the heads of `slot`.
    fn pending_changes(&self, slot: Slot) -> PendingChanges {
        PendingChanges {
            retirements: self.retiring.clone(),
            fills: self.chains.iter().flat_map(|chain| chain.fills.due(slot)).collect(),
        }
    }

    /// Requires that each chain's nodes agree on which chain they serve. [`Recorder::run`] calls it first.
    pub async fn check_nodes(&self) -> Result<(), RecorderError> {
        let deadline = Instant::now() + NODES_WITHIN;
        for chain in &self.chains {
            chain.check_nodes(deadline).await.map_err(RecorderError::NodesDisagree)?;
        }
        Ok(())
    }
}
