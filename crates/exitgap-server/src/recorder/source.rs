//! What the recorder reads from: one reader per chain.

use std::error::Error;
use std::future::{Future, ready};

use exitgap_chain::config::{ChainPlan, Plan};
use exitgap_chain::{
    ChainReader, Limits, LogsRead, LogsSince, Proven, ReadFailure, RequestOutcomes, SeenHeads,
    SlotReading, Unproven,
};
use exitgap_core::ids::{BlockHash, ChainSlug, PoolId};
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{BlockRef, Snapshot};
use tokio::time::Instant;

/// Where a chain's series stand, for a reader that is made anew.
#[derive(Debug, Default)]
pub struct ResumePoint {
    /// At which blocks the last slots were recorded, newest first.
    pub blocks: Vec<BlockRef>,
    /// Each pool's newest snapshot that is not taken back.
    pub newest: Vec<Snapshot>,
}

/// Reads all pools of one chain at a slot.
pub trait SlotReader: Send + 'static {
    /// Reads them until `deadline`. What cannot be read is missing with its reason; never
    /// fails as a whole.
    fn read_slot(&mut self, slot: Slot, deadline: Instant) -> impl Future<Output = SlotReading>;

    /// Tells a new reader where the chain's series stand.
    fn resume(&mut self, _standing: ResumePoint) {}

    /// Begins a slot that others read, after one that they read at this block.
    fn follow(&mut self, _recorded: Option<BlockRef>) {}

    /// Requires, before the first slot, that the chain's nodes do not contradict each other about
    /// which chain it is; in words, where they do.
    fn check_nodes(&self, _deadline: Instant) -> impl Future<Output = Result<(), String>> {
        ready(Ok(()))
    }

    /// The hash of the block that is canonical at this number now. A reader that cannot tell
    /// leaves slots unchecked.
    fn canonical_hash(
        &self,
        number: u64,
        _deadline: Instant,
    ) -> impl Future<Output = Result<BlockHash, ReadFailure>> {
        let detail = format!("no source returned the hash of block {number}");
        ready(Err(ReadFailure { reason: MissingReason::BlockUnavailable, detail }))
    }

    /// The same, where it is about to be believed that another block gave way to it: the block
    /// after it must name it as its parent.
    fn linked_hash(
        &self,
        number: u64,
        deadline: Instant,
    ) -> impl Future<Output = Result<BlockHash, ReadFailure>> {
        self.canonical_hash(number, deadline)
    }

    /// The same of the chain's second node; `None` where there is none, or it does not answer.
    fn second_hash(
        &self,
        _number: u64,
        _deadline: Instant,
    ) -> impl Future<Output = Option<BlockHash>> {
        ready(None)
    }

    /// How many blocks later a slot's block is looked at again.
    fn confirmations(&self) -> u32 {
        64
    }

    /// Whether it tells what pools logged.
    const TELLS_LOGS: bool = false;

    /// What pools logged after a block each and up to `last`, or a nearer one.
    fn logs_since(
        &mut self,
        _since: &LogsSince,
        _last: u64,
        _deadline: Instant,
    ) -> impl Future<Output = LogsRead> {
        ready(LogsRead::new())
    }

    /// Holds snapshots that it read at a slot against the chain's own state; one answer each, in their order. A reader that
    /// cannot leaves them unproven.
    fn prove(
        &mut self,
        snapshots: &[&Snapshot],
        _deadline: Instant,
    ) -> impl Future<Output = Vec<Proven>> {
        ready(vec![Proven::Unproven(Unproven::NotServed); snapshots.len()])
    }

    /// The file of a proof of all of a snapshot's pool; in words, where there is none.
    fn prove_whole(
        &self,
        _snapshot: &Snapshot,
        _deadline: Instant,
    ) -> impl Future<Output = Result<Vec<u8>, String>> {
        ready(Err("no source proves it".to_owned()))
    }

    /// The file of a day's anchors, which leads from the block of number `from` to these older ones; in words, where there is
    /// none.
    fn anchors(
        &self,
        _day: u32,
        _from: u64,
        _blocks: &[u64],
        _deadline: Instant,
    ) -> impl Future<Output = Result<Vec<u8>, String>> {
        ready(Err("no source proves them".to_owned()))
    }

    /// The heads that nodes of the chain had while the last slot was read, which confirm that their time has come; `None`
    /// where the reader cannot tell.
    fn seen_heads(&self) -> Option<SeenHeads> {
        None
    }

    /// HTTP requests it sent so far.
    fn requests(&self) -> u64 {
        0
    }

    /// What its nodes answered since it was asked last, by node, method and outcome.
    fn take_outcomes(&self) -> Vec<RequestOutcomes> {
        Vec::new()
    }
}

impl SlotReader for ChainReader {
    fn read_slot(&mut self, slot: Slot, deadline: Instant) -> impl Future<Output = SlotReading> {
        Self::read_slot(self, slot, deadline)
    }

    fn resume(&mut self, standing: ResumePoint) {
        Self::resume(self, standing.blocks, standing.newest);
    }

    fn follow(&mut self, recorded: Option<BlockRef>) {
        self.follow_slot(recorded);
    }

    async fn check_nodes(&self, deadline: Instant) -> Result<(), String> {
        self.agree_on_genesis(deadline).await.map_err(|error| error.to_string())
    }

    fn canonical_hash(
        &self,
        number: u64,
        deadline: Instant,
    ) -> impl Future<Output = Result<BlockHash, ReadFailure>> {
        Self::canonical_hash(self, number, deadline)
    }

    fn linked_hash(
        &self,
        number: u64,
        deadline: Instant,
    ) -> impl Future<Output = Result<BlockHash, ReadFailure>> {
        Self::linked_hash(self, number, deadline)
    }

    fn second_hash(
        &self,
        number: u64,
        deadline: Instant,
    ) -> impl Future<Output = Option<BlockHash>> {
        Self::second_hash(self, number, deadline)
    }

    fn confirmations(&self) -> u32 {
        self.plan().confirmations()
    }

    const TELLS_LOGS: bool = true;

    fn logs_since(
        &mut self,
        since: &LogsSince,
        last: u64,
        deadline: Instant,
    ) -> impl Future<Output = LogsRead> {
        Self::logs_since(self, since, last, deadline)
    }

    fn prove(
        &mut self,
        snapshots: &[&Snapshot],
        deadline: Instant,
    ) -> impl Future<Output = Vec<Proven>> {
        Self::prove(self, snapshots, deadline)
    }

    async fn prove_whole(&self, snapshot: &Snapshot, deadline: Instant) -> Result<Vec<u8>, String> {
        Self::prove_whole(self, snapshot, deadline).await.map_err(|error| error.to_string())
    }

    async fn anchors(
        &self,
        day: u32,
        from: u64,
        blocks: &[u64],
        deadline: Instant,
    ) -> Result<Vec<u8>, String> {
        let made = Self::anchors(self, day, from, blocks, deadline).await;
        made.map_err(|error| error.to_string())
    }

    fn seen_heads(&self) -> Option<SeenHeads> {
        Self::seen_heads(self)
    }

    fn requests(&self) -> u64 {
        Self::requests(self)
    }

    fn take_outcomes(&self) -> Vec<RequestOutcomes> {
        Self::take_outcomes(self)
    }
}

/// Makes a chain's reader: at the start, and again where one was lost.
pub type MakeReader<R> = Box<dyn Fn() -> Result<R, Box<dyn Error + Send + Sync>> + Send>;

/// One chain of the recorder.
pub struct Source<R> {
    /// The chain, for logs.
    pub chain: ChainSlug,
    /// Its pools, each with its default direction.
    pub pools: Vec<(PoolId, Direction)>,
    /// Its reader, made when needed.
    pub make: MakeReader<R>,
}

impl Source<ChainReader> {
    /// The chains of a plan, read from their nodes.
    pub fn of_plan(plan: &Plan, limits: &Limits) -> Vec<Self> {
        plan.chains().iter().map(|chain| Self::of_chain(chain, limits)).collect()
    }

    /// One chain of them.
    pub fn of_chain(chain: &ChainPlan, limits: &Limits) -> Self {
        let (plan, limits) = (chain.clone(), limits.clone());
        Self {
            chain: chain.slug().clone(),
            pools: chain.pools().iter().map(|pool| (pool.id.clone(), pool.base)).collect(),
            make: Box::new(move || Ok(ChainReader::new(plan.clone(), limits.clone())?)),
        }
    }
}
