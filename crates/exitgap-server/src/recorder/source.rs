//! The recorder's input: one reader per chain.

use std::error::Error;
use std::future::{Future, ready};

use exitgap_chain::config::{ChainPlan, Plan};
use exitgap_chain::{
    ChainReader, Limits, LogsChecked, LogsRead, LogsSince, Proven, ReadFailure, RequestOutcomes,
    SeenHeads, SlotReading, Unproven,
};
use exitgap_core::ids::{BlockHash, ChainSlug, PoolId};
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{BlockRef, Snapshot};
use tokio::time::Instant;

/// The newest recorded state of a chain, from which a new reader resumes.
#[derive(Debug, Default)]
pub struct ResumePoint {
    /// The blocks of the last recorded slots, newest first.
    pub blocks: Vec<BlockRef>,
    /// Each pool's newest snapshot that is not retracted.
    pub newest: Vec<Snapshot>,
}

/// Reads all pools of one chain at a slot.
pub trait SlotReader: Send + 'static {
    /// Reads all pools until `deadline`. A pool that cannot be read is missing with its reason; the call itself never
    /// fails.
    fn read_slot(&mut self, slot: Slot, deadline: Instant) -> impl Future<Output = SlotReading>;

    /// Passes the newest recorded state to a new reader.
    fn resume(&mut self, _standing: ResumePoint) {}

    /// Starts a slot that other recorders read, after one that they read at this block.
    fn follow(&mut self, _recorded: Option<BlockRef>) {}

    /// Requires, before the first slot, that the chain's nodes agree on which chain they serve; the error is a message.
    fn check_nodes(&self, _deadline: Instant) -> impl Future<Output = Result<(), String>> {
        ready(Ok(()))
    }

    /// The hash of the currently canonical block with this number. With a reader that does not support this, slots are
    /// not rechecked.
    fn canonical_hash(
        &self,
        number: u64,
        _deadline: Instant,
    ) -> impl Future<Output = Result<BlockHash, ReadFailure>> {
        let detail = format!("no source returned the hash of block {number}");
        ready(Err(ReadFailure { reason: MissingReason::BlockUnavailable, detail }))
    }

    /// The same, for a block that appears to replace another one: its successor must name it as its parent.
    fn linked_hash(
        &self,
        number: u64,
        deadline: Instant,
    ) -> impl Future<Output = Result<BlockHash, ReadFailure>> {
        self.canonical_hash(number, deadline)
    }

    /// The same from the chain's second node; `None` if there is none, or it does not answer.
    fn second_hash(
        &self,
        _number: u64,
        _deadline: Instant,
    ) -> impl Future<Output = Option<BlockHash>> {
        ready(None)
    }

    /// The number of blocks after which a slot's block is rechecked.
    fn confirmations(&self) -> u32 {
        64
    }

    /// Whether it can return the pools' logs.
    const TELLS_LOGS: bool = false;

    /// The pools' logs, each after a given block and up to `last` or an earlier block.
    fn logs_since(
        &mut self,
        _since: &LogsSince,
        _last: u64,
        _deadline: Instant,
    ) -> impl Future<Output = LogsRead> {
        ready(LogsRead::new())
    }

    /// Checks the snapshots that it read at a slot against the chain's own state; one answer each, in their order. A
    /// reader that does not support this leaves them unproven.
    fn prove(
        &mut self,
        snapshots: &[&Snapshot],
        _deadline: Instant,
    ) -> impl Future<Output = Vec<Proven>> {
        ready(vec![Proven::Unproven(Unproven::NotServed); snapshots.len()])
    }

    /// The file of a whole-pool proof for a snapshot; the error is a message.
    fn prove_whole(
        &self,
        _snapshot: &Snapshot,
        _deadline: Instant,
    ) -> impl Future<Output = Result<Vec<u8>, String>> {
        ready(Err("no source proves it".to_owned()))
    }

    /// The file of a day's anchors, which links the block with number `from` to these older ones; the error is a
    /// message.
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

    /// How the nodes' logs were checked for being complete when the last slot was read; `None` where none was needed.
    fn logs_checked(&self) -> Option<&LogsChecked> {
        None
    }

    /// Number of HTTP requests sent so far.
    fn requests(&self) -> u64 {
        0
    }

    /// The nodes' answers since the last call, by node, method and outcome.
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

    fn logs_checked(&self) -> Option<&LogsChecked> {
        Self::logs_checked(self)
    }

    fn requests(&self) -> u64 {
        Self::requests(self)
    }

    fn take_outcomes(&self) -> Vec<RequestOutcomes> {
        Self::take_outcomes(self)
    }
}

/// Creates a chain's reader: at the start, and again if one was lost.
pub type MakeReader<R> = Box<dyn Fn() -> Result<R, Box<dyn Error + Send + Sync>> + Send>;

/// One chain of the recorder.
pub struct Source<R> {
    /// The chain, for log messages.
    pub chain: ChainSlug,
    /// Its pools, each with its default direction.
    pub pools: Vec<(PoolId, Direction)>,
    /// Creates its reader when needed.
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
