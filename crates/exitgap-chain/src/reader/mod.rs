//! The reader of one chain, as called by the recorder and the command line.
//!
//! - `observe`: one pass over some pools at one block
//! - `follow`: parts of states remembered from slot to slot, updated from logs
//! - `logs`: the parts named by the pools' logs; `omitted`: logs that nodes left out
//! - `full`: the pools whose parts a pass reads in full, and the comparison with the followed parts
//! - `schedule`: when each pool's turn for a full reading is
//! - `links`: the blocks of the series that a node must have
//! - `facts`: what contracts other than the pools report at the block
//! - `taxes`: the tokens that take a fee on transfer, according to the logs of pools' swaps
//! - `check`: checks a configuration with its nodes; `needs`: what recording needs of a node
//!
//! How a pool's answers and its parts (ticks) are read is in `pools`, by kind. This module decides
//! when and at which block.

mod calendars;
mod check;
mod equities;
mod facts;
mod follow;
mod full;
mod links;
mod logs;
mod needs;
mod observe;
mod omitted;
mod schedule;
mod taxes;

use std::collections::BTreeMap;
use std::time::Duration;

use exitgap_core::ids::{BlockHash, ChainSlug, PoolId};
use exitgap_core::proof::TickRange;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{BlockRef, Observation, Snapshot};
use tokio::time::Instant;

pub use check::{CheckFinding, GenesisDisagreement, Severity};
pub use omitted::LogsChecked;

use crate::blocks::{self, BlockFinder, SeenHeads};
use crate::config::{ChainPlan, PoolPlan};
use crate::events::{Event, Events};
use crate::limits::{Limits, second_deadline};
use crate::multicall::Multicall;
use crate::pool_logs::{self, LogsRead, LogsSince};
use crate::pools::{PoolInfo, identify};
use crate::prove::{AnchoringError, ProveError, Proven, SnapshotProver, anchors, prove};
use crate::read_failure::ReadFailure;
use crate::rpc::{ClientError, RequestOutcomes, Rpc};
use follow::PartMemory;
use links::Links;
use observe::{Pass, PoolMemory, Results};
use omitted::LogsChecking;

/// Reads the pools of one chain. The data that it keeps between slots (recent headers, each pool's identity and ticks)
/// is only in memory, so a new reader reads everything. [`ChainReader::resume`] gives it the position of the series.
///
/// Several chains are read in parallel, each by its own reader.
#[derive(Debug)]
pub struct ChainReader {
    plan: ChainPlan,
    rpc: Rpc,
    /// The second node, whose headers and logs are compared.
    second: Option<Rpc>,
    finder: BlockFinder,
    links: Links,
    memory: Vec<PoolMemory>,
    checking: LogsChecking,
    proving: SnapshotProver,
}

/// The time within which a slot's reading checks that the node still has the series' blocks.
const LINK_CHECK_WITHIN: Duration = Duration::from_secs(4);

/// The result of reading one chain at one slot.
#[derive(Debug)]
pub struct SlotReading {
    /// The slot.
    pub slot: Slot,
    /// The chain.
    pub chain: ChainSlug,
    /// The slot's block, if it was found.
    pub block: Option<BlockRef>,
    /// Every pool of the chain, in the configured order, with its snapshot or the reason why it is missing.
    pub pools: Vec<(PoolId, Result<Snapshot, ReadFailure>)>,
    /// The events.
    pub events: Vec<Event>,
    /// The number of HTTP requests.
    pub requests: u64,
}

impl ChainReader {
    /// A reader of `plan`'s chain. Sends no requests yet.
    pub fn new(plan: ChainPlan, limits: Limits) -> Result<Self, ClientError> {
        let second = plan.second_url().map(|url| {
            // Answers that do not come at once are not waited for.
            let limits = Limits { outage_rounds: limits.rounds, ..limits.clone() };
            Rpc::new(&plan.with_only(url.clone()), limits)
        });
        let second = second.transpose()?;
        let rpc = Rpc::new(&plan, limits)?;
        let memory = vec![PoolMemory::default(); plan.pools().len()];
        let (finder, links) = (BlockFinder::default(), Links::default());
        let (checking, proving) = (LogsChecking::default(), SnapshotProver::default());
        Ok(Self { plan, rpc, second, finder, links, memory, checking, proving })
    }

    /// Tells a new reader where the series stands: at which blocks earlier slots were recorded,
    /// newest first, and each pool's newest snapshot. From then on only a node that has one of the
    /// blocks is used, and the first full reading of ticks is compared with the snapshots.
    pub fn resume(
        &mut self,
        blocks: impl IntoIterator<Item = BlockRef>,
        newest: impl IntoIterator<Item = Snapshot>,
    ) {
        self.links.resume(blocks);
        for snapshot in newest {
            let id = snapshot.observation().pool();
            let place = self.plan.pools().iter().position(|pool| pool.id == *id);
            if let Some(memory) = place.map(|place| &mut self.memory[place])
                && memory.parts.is_none()
            {
                memory.parts = PartMemory::of_snapshot(&snapshot);
                memory.transfers = taxes::remembered(snapshot.observation().facts());
            }
        }
    }

    /// The chain and its pools, as configured.
    pub fn plan(&self) -> &ChainPlan {
        &self.plan
    }

    /// HTTP requests sent so far, failed ones included.
    pub fn requests(&self) -> u64 {
        self.rpc.requests() + self.second.as_ref().map_or(0, Rpc::requests)
    }

    /// The outcomes of requests to its nodes since the last call, by node, method and outcome.
    pub fn take_outcomes(&self) -> Vec<RequestOutcomes> {
        let second = self.second.iter().flat_map(Rpc::take_outcomes);
        self.rpc.take_outcomes().into_iter().chain(second).collect()
    }

    /// Reads every pool of the chain at the slot's block.
    ///
    /// Never fails as a whole. A pool that cannot be read before `deadline`, or within the limits on requests, is
    /// missing with its reason.
    pub async fn read_slot(&mut self, slot: Slot, deadline: Instant) -> SlotReading {
        let before = self.requests();
        let mut events = Events::default();
        self.begin_slot();
        // A pool that takes all the time must leave some for the check of the node, without which no pool counts.
        let left = deadline.saturating_duration_since(Instant::now());
        let read_by = deadline - (left / 8).min(LINK_CHECK_WITHIN);
        let (block, mut results) = self.read_at(slot, read_by, &mut events).await;
        if results.iter().any(Result::is_ok) {
            match self.rpc.still_linked(deadline).await {
                Ok(()) => block.into_iter().for_each(|block| self.links.add_block(block)),
                Err(failure) => {
                    let missing = ReadFailure::from(failure);
                    results.iter_mut().filter(|result| result.is_ok()).for_each(|result| {
                        *result = Err(missing.clone());
                    });
                }
            }
        }
        let pools = self.plan.pools().iter().enumerate().zip(results).map(|((_, pool), result)| {
            let snapshot = result.and_then(|observation| {
                Snapshot::new(slot, observation)
                    .map_err(|error| ReadFailure::new(error.missing_reason(), error.to_string()))
            });
            (pool.id.clone(), snapshot)
        });
        SlotReading {
            slot,
            chain: self.plan.slug().clone(),
            block,
            pools: pools.collect(),
            events: events.0,
            requests: self.requests() - before,
        }
    }

    /// From now on uses only a node that has the blocks of the series.
    fn begin_slot(&mut self) {
        self.finder.begin_slot();
        self.checking.checked = None;
        let links = self.links.to_ask_for(self.plan.confirmations());
        if let Some(second) = &self.second {
            second.begin_slot(links.clone());
        }
        self.rpc.begin_slot(links);
    }

    /// Begins a slot that another reader reads, after one that was recorded at this block.
    pub fn follow_slot(&mut self, recorded: Option<BlockRef>) {
        if let Some(block) = recorded {
            self.links.add_block(block);
        }
        self.begin_slot();
    }

    /// The newest slot that can be read: a block later than its instant exists.
    pub async fn newest_slot(&self, deadline: Instant) -> Result<Slot, ReadFailure> {
        let head = blocks::head(&self.rpc, deadline).await?.block;
        Slot::at_or_before(head.timestamp.saturating_sub(1))
            .map_err(|error| ReadFailure::new(MissingReason::BlockUnavailable, error.to_string()))
    }

    /// The heads that nodes of the chain had while the last slot was read; `None`: none whose hash could be recomputed.
    pub fn seen_heads(&self) -> Option<SeenHeads> {
        self.finder.heads()
    }

    /// How the nodes' logs were checked for being complete when the last slot was read; `None`: no pool's logs were needed.
    pub fn logs_checked(&self) -> Option<&LogsChecked> {
        self.checking.checked.as_ref()
    }

    /// Reads one pool in full at the chain's newest block.
    pub async fn read_latest(
        &mut self,
        pool: &PoolId,
        deadline: Instant,
    ) -> Result<Observation, ReadFailure> {
        let Some(place) = self.plan.pools().iter().position(|plan| plan.id == *pool) else {
            let detail = format!("pool {pool} is not configured");
            return Err(ReadFailure::new(MissingReason::PoolUnsupported, detail));
        };
        let mut results = self.latest(&[place], deadline).await?;
        results.remove(&place).unwrap_or_else(|| Err(unread()))
    }

    /// Reads the pools with these indices in full at the newest block.
    async fn latest(
        &mut self,
        places: &[usize],
        deadline: Instant,
    ) -> Result<Results, ReadFailure> {
        let block = blocks::head(&self.rpc, deadline).await?.block;
        // Remembered ticks belong to slots, so they are not used here.
        let kept = self.memory.iter().map(|memory| PoolMemory {
            identity: memory.identity.clone(),
            transfers: memory.transfers.clone(),
            ..PoolMemory::default()
        });
        let mut memory: Vec<PoolMemory> = kept.collect();
        let mut pass = Pass {
            rpc: &self.rpc,
            second: None,
            plan: &self.plan,
            memory: &mut memory,
            events: &mut Events::default(),
            checking: &mut LogsChecking::default(),
            slot: None,
        };
        let results = pass.read_pools(block, places, deadline).await;
        for (kept, read) in self.memory.iter_mut().zip(memory) {
            kept.identity = read.identity;
        }
        Ok(results)
    }

    /// The kind and tokens of each pool, in the configured order, for display.
    pub async fn describe(
        &mut self,
        deadline: Instant,
    ) -> Vec<(PoolId, Result<PoolInfo, ReadFailure>)> {
        let all: Vec<&PoolPlan> = self.plan.pools().iter().collect();
        let identities = async {
            let block = blocks::head(&self.rpc, deadline).await?.block;
            let multicall = Multicall::new(&self.rpc, &self.plan, block, deadline);
            identify(&multicall, self.plan.factories(), &all).await
        };
        let identities = match identities.await {
            Ok(identities) => identities,
            Err(failure) => vec![Err(ReadFailure::from(failure)); all.len()],
        };
        all.into_iter()
            .zip(identities)
            .zip(&mut self.memory)
            .map(|((plan, identity), memory)| {
                let info = identity.and_then(|identity| {
                    let (id, base, kind) = (plan.id.clone(), plan.base, identity.reader.name());
                    let tokens = identity.pair(&id).ok_or_else(unread)?;
                    memory.identity = Some(identity);
                    Ok(PoolInfo { id, kind, tokens, base })
                });
                (plan.id.clone(), info)
            })
            .collect()
    }

    /// The pools' logs of swaps and state changes, for each pool after its block and up to `last`, or up to an earlier
    /// block if the nodes return no more within the limits on requests.
    ///
    /// Half of the remaining time is then used to compare swaps with the transfers of their tokens: a token that takes
    /// a fee on transfer becomes a fact in its pool's next snapshots.
    pub async fn logs_since(
        &mut self,
        since: &LogsSince,
        last: u64,
        deadline: Instant,
    ) -> LogsRead {
        let most = self.rpc.limits().log_requests;
        let read = pool_logs::read_since(&self.rpc, since, last, most, deadline).await;
        let left = deadline.saturating_duration_since(Instant::now());
        self.compare_transfers(&read, deadline - left / 2).await;
        read
    }

    /// Compares snapshots that this reader read at a slot with the chain's own state, in order.
    pub async fn prove(&mut self, snapshots: &[&Snapshot], deadline: Instant) -> Vec<Proven> {
        self.proving.prove(&self.rpc, self.plan.slug(), snapshots, deadline).await
    }

    /// The proof file of a snapshot's whole pool with its feeds. The ticks are those on the chain, which can differ
    /// from the snapshot's.
    pub async fn prove_whole(
        &self,
        snapshot: &Snapshot,
        deadline: Instant,
    ) -> Result<Vec<u8>, ProveError> {
        prove(&self.rpc, snapshot, None, TickRange::ALL, deadline).await
    }

    /// The file of a day's anchors, from the block with number `from` to these older blocks.
    pub async fn anchors(
        &self,
        day: u32,
        from: u64,
        blocks: &[u64],
        deadline: Instant,
    ) -> Result<Vec<u8>, AnchoringError> {
        let chain = self.plan.tag().caip2;
        anchors(&self.rpc, chain, day, from, blocks.iter().copied(), deadline).await
    }

    /// The hash of the block that is now canonical at this number.
    pub async fn canonical_hash(
        &self,
        number: u64,
        deadline: Instant,
    ) -> Result<BlockHash, ReadFailure> {
        Ok(blocks::canonical_hash(&self.rpc, number, deadline).await?)
    }

    /// The same, if the next block names it as its parent, and the hashes of both headers are correct.
    pub async fn linked_hash(
        &self,
        number: u64,
        deadline: Instant,
    ) -> Result<BlockHash, ReadFailure> {
        let header = blocks::header_at(&self.rpc, number, deadline).await?;
        let later = blocks::header_at(&self.rpc, number + 1, deadline).await?;
        for header in [header, later] {
            if !header.recomputed {
                let (chain, hash) = (self.plan.slug(), header.block.hash);
                tracing::warn!(%chain, number = header.block.number, %hash, "a header's hash could not be recomputed, so the node's hash is used unverified");
            }
        }
        if later.parent == header.block.hash {
            return Ok(header.block.hash);
        }
        let detail = format!(
            "block {number} is {}, but block {} has {} as its parent",
            header.block.hash,
            number + 1,
            later.parent
        );
        Err(ReadFailure::new(MissingReason::RpcResponseInvalid, detail))
    }

    /// The second node's hash at this number; `None` if there is no second node or it does not answer.
    pub async fn second_hash(&self, number: u64, deadline: Instant) -> Option<BlockHash> {
        let second = self.second.as_ref()?;
        let hash = blocks::canonical_hash(second, number, second_deadline(deadline)).await;
        match hash {
            Ok(hash) => Some(hash),
            Err(error) => {
                let chain = self.plan.slug();
                tracing::warn!(%chain, number, %error, "the second node's data was not compared");
                None
            }
        }
    }

    /// Finds the slot's block and reads all pools at it. Retries once if the block vanished in the meantime, or if a
    /// node's state breaks a pool's invariants.
    async fn read_at(
        &mut self,
        slot: Slot,
        deadline: Instant,
        events: &mut Events,
    ) -> (Option<BlockRef>, Vec<Result<Observation, ReadFailure>>) {
        let all: Vec<usize> = (0..self.plan.pools().len()).collect();
        let block = match self.compared_block(slot, deadline, events).await {
            Ok(block) => block,
            Err(missing) => return (None, vec![Err(missing); all.len()]),
        };
        let mut results = self.pass(slot, block, &all, deadline, events).await;
        let failed = |results: &Results, reason| -> Vec<usize> {
            let with = |result: &Result<_, ReadFailure>| {
                result.as_ref().is_err_and(|missing| missing.reason == reason)
            };
            results.iter().filter(|(_, result)| with(result)).map(|(place, _)| *place).collect()
        };
        let vanished = failed(&results, MissingReason::BlockUnavailable);
        if !vanished.is_empty() {
            self.finder.forget();
            let now = self.compared_block(slot, deadline, events).await;
            if let Ok(now) = now
                && now != block
            {
                let results = self.pass(slot, now, &all, deadline, events).await;
                return (Some(now), in_order(results, all.len()));
            }
        }
        let inconsistent = failed(&results, MissingReason::StateInconsistent);
        if !inconsistent.is_empty() && self.rpc.nodes() > 1 {
            for place in &inconsistent {
                let pool = self.plan.pools()[*place].id.clone();
                if let Some(Err(missing)) = results.get(place) {
                    let detail = missing.detail.clone();
                    events.report(Event::ReadAtOtherNode { pool, detail });
                }
            }
            self.rpc.distrust_current();
            results.extend(self.pass(slot, block, &inconsistent, deadline, events).await);
        }
        (Some(block), in_order(results, all.len()))
    }

    async fn pass(
        &mut self,
        slot: Slot,
        block: BlockRef,
        places: &[usize],
        deadline: Instant,
        events: &mut Events,
    ) -> Results {
        let (rpc, plan, memory) = (&self.rpc, &self.plan, self.memory.as_mut_slice());
        let (second, checking) = (self.second.as_ref(), &mut self.checking);
        let mut pass = Pass { rpc, second, plan, memory, events, checking, slot: Some(slot) };
        pass.read_pools(block, places, deadline).await
    }

    /// The slot's block, if the second node, if there is one, has the same block and the same next block.
    async fn compared_block(
        &mut self,
        slot: Slot,
        deadline: Instant,
        events: &mut Events,
    ) -> Result<BlockRef, ReadFailure> {
        let block = self.slot_block(slot, deadline, events).await?;
        let Some(second) = &self.second else { return Ok(block) };
        let until = second_deadline(deadline);
        let later = self.finder.known(block.number + 1);
        for ours in core::iter::once(block).chain(later) {
            match blocks::canonical_hash(second, ours.number, until).await {
                Ok(theirs) if theirs == ours.hash => {}
                Ok(theirs) => {
                    self.finder.forget();
                    let detail = format!(
                        "block {} is {} on the node, but {theirs} on the second node",
                        ours.number, ours.hash
                    );
                    return Err(ReadFailure::new(MissingReason::NodesDisagree, detail));
                }
                Err(failure) => {
                    let (what, detail) = ("headers", failure.detail);
                    events.report(Event::NotCompared { what, detail });
                    break;
                }
            }
        }
        Ok(block)
    }

    /// The slot's block according to the block rule. A chain that has stopped is not read.
    async fn slot_block(
        &mut self,
        slot: Slot,
        deadline: Instant,
        events: &mut Events,
    ) -> Result<BlockRef, ReadFailure> {
        let header = self.finder.last_at(&self.rpc, slot.unix_s(), deadline).await?;
        let block = header.block;
        if !header.recomputed {
            events.report(Event::HashNotRecomputed { block: block.number });
        }
        let age_s = slot.unix_s().saturating_sub(block.timestamp);
        if age_s > Snapshot::MAX_BLOCK_AGE_S {
            let detail = format!("block {} is {age_s} s older than the slot", block.number);
            return Err(ReadFailure::new(MissingReason::ChainStalled, detail));
        }
        if !self.links.has_base() {
            let back = u64::from(self.plan.confirmations());
            // Block 0 can be the same on many chains.
            let number = block.number.saturating_sub(back).max(1).min(block.number);
            // A node that does not keep such old blocks is linked only by the series' own blocks.
            if let Ok(base) = blocks::header_at(&self.rpc, number, deadline).await {
                self.links.set_base(base.block);
                self.rpc.link_to(base.block);
            }
        }
        Ok(block)
    }
}

/// The results in order, one for each index.
fn in_order(mut results: Results, places: usize) -> Vec<Result<Observation, ReadFailure>> {
    (0..places).map(|place| results.remove(&place).unwrap_or_else(|| Err(unread()))).collect()
}

fn unread() -> ReadFailure {
    ReadFailure::new(MissingReason::DeadlineExceeded, "the pool was not read")
}

/// A reader for each chain of a plan.
pub fn readers(
    plan: crate::config::Plan,
    limits: &Limits,
) -> Result<BTreeMap<ChainSlug, ChainReader>, ClientError> {
    plan.into_chains()
        .into_iter()
        .map(|chain| Ok((chain.slug().clone(), ChainReader::new(chain, limits.clone())?)))
        .collect()
}
