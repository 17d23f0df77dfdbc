//! The recorder: every slot, all pools of all chains side by side, then one transaction.
//!
//! [`Recorder::record_slot`] records one slot; [`Recorder::run`] records slots at the instants that a
//! [`Clock`] shows. A chain that fails, is late or panics gives its own pools missing entries and
//! never holds up another. Past slots are not read: slots that passed while no recorder ran are
//! `recorder_down`. Where several recorders share the reading ([`shared_reading`]), each reads a part, and
//! one seals.
//!
//! # The pipeline
//!
//! A slot is recorded in five steps. Each has a file, and takes what the step before returned.
//!
//! | step | returns | changes |
//! |---|---|---|
//! | `slot_reading` | `ReadSlot`: entries, blocks, doubts, proofs | the chains in memory: readers, known blocks, gathered logs. Where the reading is shared, no later reading of the slot counts |
//! | `assemble` | `SlotDraft`: entries, and what else the heads say | retractions and receipts that no head can name any more leave their lists |
//! | `append` | `SealedSlot` | the store: the slot, sealed. Then the list of receipts, the kept proofs, and in memory the gathered logs and the pools to retire |
//! | `publish` | `Publication` | the cosignatures in the store, the log's folder |
//! | `after` | nothing | the notes of rechecked blocks in the store, the kept proofs, files in the folder that the log does not commit to |
//!
//! Between the first two steps, [`Recorder::run`] requires that the slot's time has certainly come
//! (`confirmed`): a slot that is sealed before its time could never be recorded.
//!
//! # Order of writes, and what a crash leaves
//!
//! Each line is written before the next one begins. The slot is sealed once line 5 is durable; the
//! lines after it can be repeated, or, where the list says so, lost. An error before line 6 fails
//! the call, and but for line 5 nothing of the slot is there. An error in a later line is logged,
//! and what it left is mended as after a crash; in line 8 it also fails the call, with the slot
//! sealed.
//!
//! 1. *`slot_reading`*: nothing. Where the reading is shared, each shard's reading is committed by the
//!    recorder that read it, and then the slot is frozen. A crash leaves the readings. The
//!    recorder that seals next seals their slot before any other, up to a day late.
//! 2. *assemble*: an orphaned slot that is too far back to be retracted, or whose pool is retired,
//!    is deleted from the store's suspicions; a receipt that a head has committed to, or whose
//!    pool gets no more heads, is deleted from the list of payments. A crash leaves shorter lists,
//!    which are right. Other confirmed suspicions stay until a head has retracted their slots.
//! 3. *append*: cosignatures that a slot before still awaits are given up, and the slots since the
//!    last one are filled with `recorder_down`, claimed and signed as in line 4. A crash leaves
//!    whole slots. The next append goes on after them.
//! 4. *append*: once the transaction of line 5 has all but its seal, the slot is claimed: in the
//!    bucket where claims are kept there, then in a server's database. Only then it is signed. A
//!    crash leaves the claim, and perhaps a signature: the recorder that starts next, or takes
//!    over, seals the slot as it was claimed, so that no other content is ever signed. A store in
//!    a file without such a bucket claims nothing: the signature is still in memory only, and a
//!    crash leaves nothing of the slot. It is read again if there is time, else it is
//!    `recorder_down`.
//! 5. *append*: one transaction commits entries, heads, bodies, logs, receipts and retractions,
//!    leaf, tree and signed checkpoint, and, where witnesses are asked, that the slot awaits them.
//!    A crash leaves all of it or nothing. A commit whose outcome is unknown ends the recorder, or
//!    has it open a server's store again; the store then has the slot or not. After the commit the
//!    write-ahead log is folded now and then. If that fails the slot is sealed, and the recorder
//!    ends all the same.
//! 6. *append*: its receipts leave the list of payments. A crash leaves them there. The next slot
//!    finds them in the newest document of their pool, takes them off, and does not commit to them
//!    twice.
//! 7. *append*: its state proofs are kept, and once an hour old ones are thinned. A crash loses
//!    the proofs, not the slot: a proof certifies itself, and an archive node makes it again. What
//!    is kept in memory only is found again: how far logs were gathered by the documents in the
//!    store, retired pools by the store too.
//! 8. *publish*: what witnesses answered is committed. A crash before that leaves a slot that
//!    awaits them, which is not published: the next start asks them again, and then publishes it.
//!    If a slot is appended before that, line 3 gives them up.
//! 9. *publish*: the folder gets the slot's parts and documents, its manifest, the tiles, and last
//!    the checkpoint. A crash leaves a checkpoint of which every file is there. The next start, or
//!    the next slot, writes the same bytes and goes on; so too after an error, which does not fail
//!    the slot.
//! 10. *after*: how far blocks were rechecked and which are suspected is committed, chain by
//!     chain. A crash leaves it as it was before. The blocks are asked for again after the next
//!     slot.
//! 11. *after*: proofs of the pools that the slot drew are kept permanently, one by one. A crash
//!     loses those that were not kept: they are counted as absent, and an archive node makes them
//!     again.
//! 12. *after*: proofs that are kept permanently are published, each before it is marked as
//!     published. A crash leaves a file without its mark. It stays as it is when it is published
//!     again.
//! 13. *after*: a day's anchors are published, one file a chain. A crash leaves whole files. Later
//!     slots publish those that are not there, for a day.
//!
//! A start mends in this order: the folder is held against the store and gets the slots that it
//! lacks (line 9), claimed slots are sealed and published (line 4), witnesses are asked (line 8),
//! and then slots are recorded. Where claims are kept in a bucket they are sealed before all this,
//! too: the database may lack slots that are published. A server's store that was lost and is
//! opened again is mended in the same order.
//!
//! A future of [`Recorder::record_slot`] that is dropped while the store writes leaves the write
//! to end by itself, and takes the store with it ([`RecorderError::Interrupted`]). That is a crash
//! at that line.

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

/// How long the nodes may take to say which chain they serve, before the first slot.
const NODES_WITHIN: Duration = Duration::from_secs(10);

/// Is told of a slot once it is recorded.
type SlotCallback = dyn Fn(&SlotReport) + Send;

/// Records pools into a store.
pub struct Recorder<R> {
    // What it works with.
    /// From a slot's instant to its sealing.
    seal_after: Duration,
    /// What is read together, where several recorders share the reading.
    shards: Option<Vec<Shard>>,
    /// Whether what is read is held against the chain's own state.
    prove: bool,
    /// Where the proofs are kept.
    kept: Option<Arc<KeptProofs>>,
    /// Whether each day's anchors are published.
    anchors: bool,
    /// Who cosigns each slot before it is published.
    witnesses: Option<Arc<Witnesses>>,
    /// Where the receipts are that heads commit to.
    payments: Option<Arc<Payments>>,
    /// Where the log is published.
    folder: Option<LogFolder>,
    /// Who is told of each slot.
    told: Option<Box<SlotCallback>>,

    // What outlives a slot.
    store: BlockingStore,
    /// The chains' readers, and what was gathered of blocks and logs of earlier slots.
    chains: Vec<Chain<R>>,
    /// Slots that are published, as far as it knows.
    published: u64,
    /// Pools to retire with the next slot.
    retiring: Vec<PoolId>,
    /// What became of the proofs that the slot before drew.
    drawn: Drawn,
    /// The latest time that chains' blocks showed to have come.
    confirmed: ConfirmedTime,
    /// The newest slot that was sealed by this process.
    sealed: watch::Sender<Option<Slot>>,
}

impl<R: SlotReader> Recorder<R> {
    /// A recorder of these chains into this store, which seals each slot `seal_after` its
    /// instant.
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
        self.store.get()
    }

    /// Closes the store. What was recorded is safe before; an error says that the disk failed.
    pub fn close(self) -> Result<(), RecorderError> {
        Ok(self.store.into_inner()?.close()?)
    }

    /// The store's last slot.
    pub fn last_slot(&self) -> Result<Option<Slot>, RecorderError> {
        Ok(self.store()?.reader().slots()?.map(|(_, last)| last))
    }

    /// Pools of the store that are not configured (any more) and not retired: they get an entry
    /// per slot like all others, missing with `recorder_down`.
    pub fn unconfigured_pools(&self) -> Result<Vec<(PoolId, Direction)>, RecorderError> {
        let configured = |id: &PoolId| self.chains.iter().any(|chain| chain.has(id));
        let pools = self.store()?.reader().pools()?;
        let others = pools.into_iter().filter(|pool| {
            let ends = pool.retired_slot.is_some() || self.retiring.contains(&pool.id);
            !ends && !configured(&pool.id)
        });
        Ok(others.map(|pool| (pool.id, pool.default_base)).collect())
    }

    /// Records `slot` with the whole time from its instant to its sealing. The caller guarantees
    /// that its time has come.
    pub async fn record_slot(&mut self, slot: Slot) -> Result<SlotReport, RecorderError> {
        self.record_slot_within(slot, self.seal_after).await
    }

    /// Records `slot`: reads all pools within `budget` from now, then appends and publishes the
    /// slot. The caller guarantees that its time has come. Dropping the future before it is ready
    /// leaves the slot out, or written whole. The order of writes stands at the head of this module.
    pub async fn record_slot_within(
        &mut self,
        slot: Slot,
        budget: Duration,
    ) -> Result<SlotReport, RecorderError> {
        let started = Instant::now();
        let read = self.read_slot(slot, started + budget).await?;
        self.seal(read, started).await
    }

    /// The same by a clock, which may be wrong: nothing is written of a slot unless a chain's block or the monotonic clock
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

    /// Appends and publishes what was read of a slot.
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
        self.announce(&report);
        self.after(&sealed).await?;
        Ok(report)
    }

    /// What earlier slots left for the heads of `slot` to say.
    fn pending_changes(&self, slot: Slot) -> PendingChanges {
        PendingChanges {
            retirements: self.retiring.clone(),
            fills: self.chains.iter().flat_map(|chain| chain.fills.due(slot)).collect(),
        }
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
}
