//! The recorder's chains, each with its reader, and the results of reading them concurrently.
//!
//! - `readings`: a slot of all chains, until its deadline
//! - `later`: requests to the readers after the slot is published

mod later;
mod readings;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use exitgap_chain::{LogsChecked, ReadFailure, RequestOutcomes, SeenHeads};
use exitgap_core::ids::{ChainSlug, PoolId};
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{BlockRef, Snapshot};
use exitgap_store::{NewDoubt, Ready};
use tokio::time::Instant;

pub use later::{prove_anchors, prove_whole, read_canonical};
pub use readings::{ReadTerms, ask_logs, make_ready, read_all};

use super::anchors::AnchorProgress;
use super::fills::{Gatherer, LogsAnswer, LogsRequest};
use super::proofs::Proofs;
use super::recheck::Recheck;
use super::source::{ResumePoint, SlotReader, Source};

/// How long before the slot's deadline a reader must end, so that it can still report why each pool is missing. A
/// reader that does not end is abandoned at the deadline.
const MARGIN: Duration = Duration::from_secs(1);

/// A pool's snapshot, with its prepared form if that was ready before the slot's deadline.
pub struct ReadSnapshot {
    pub snapshot: Snapshot,
    /// `None`: there was no time left, and it is prepared when the slot is written.
    pub ready: Option<Ready>,
}

/// A pool's result in a slot, as read.
pub type PoolReading = Result<ReadSnapshot, ReadFailure>;

/// A chain with its reader.
pub struct Chain<R> {
    source: Source<R>,
    /// `None` before the first slot, and after the reader was lost: then a new one is created.
    reader: Option<R>,
    /// The rechecks of its earlier slots.
    pub recheck: Recheck,
    /// Gathers its pools' logs.
    pub fills: Gatherer,
    /// The progress of its daily anchors.
    pub anchoring: AnchorProgress,
    /// The block of the last slot that other recorders read.
    pub recorded: Option<BlockRef>,
}

/// The inputs of a chain's reader for a slot.
#[derive(Debug, Default)]
pub struct ReadingPlan {
    /// The newest recorded state of the chain, for a new reader.
    pub standing: ResumePoint,
    /// The requested logs of its pools.
    pub logs: Option<LogsRequest>,
}

/// The result of one chain at one slot.
pub struct ChainReading {
    /// For each of the chain's pools, in their order.
    pub pools: Vec<PoolReading>,
    /// Earlier slots that it puts in doubt.
    pub doubts: Vec<NewDoubt>,
    /// Number of HTTP requests.
    pub requests: u64,
    /// The pools' logs, if requested.
    pub logs: LogsAnswer,
    /// The chain's own proofs of the states.
    pub proofs: Proofs,
    /// The heads that its nodes had.
    pub heads: Option<SeenHeads>,
}

/// Readings of pools of a chain, in any order.
#[derive(Default)]
pub struct ChainPools {
    pub pools: Vec<(PoolId, PoolReading)>,
    pub doubts: Vec<NewDoubt>,
    pub requests: u64,
    pub logs: LogsAnswer,
    pub proofs: Proofs,
    pub heads: Option<SeenHeads>,
}

impl ChainReading {
    /// The block at which the chain's pools were read; `None` if no pool was read.
    pub fn block(&self) -> Option<BlockRef> {
        let read = self.pools.iter().flatten().next()?;
        Some(read.snapshot.observation().block())
    }
}

impl<R> Chain<R> {
    /// Creates a chain that has not been read yet.
    pub fn new(source: Source<R>) -> Self {
        Self {
            source,
            reader: None,
            recheck: Recheck::default(),
            fills: Gatherer::default(),
            anchoring: AnchorProgress::default(),
            recorded: None,
        }
    }

    /// Its pools and their default directions.
    pub fn pools(&self) -> &[(PoolId, Direction)] {
        &self.source.pools
    }

    /// Its name.
    pub fn slug(&self) -> &ChainSlug {
        &self.source.chain
    }

    /// Whether the pool is one of the chain's.
    pub fn has(&self, id: &PoolId) -> bool {
        self.source.pools.iter().any(|(pool, _)| pool == id)
    }

    /// A reading in which every pool is missing for the same reason.
    fn all_missing(&self, reason: MissingReason, detail: &str) -> ChainReading {
        let missing = ReadFailure { reason, detail: detail.to_owned() };
        let pools = self.source.pools.iter().map(|_| Err(missing.clone())).collect();
        ChainReading {
            pools,
            doubts: Vec::new(),
            requests: 0,
            logs: None,
            proofs: Proofs::default(),
            heads: None,
        }
    }

    /// Orders a reading by the chain's pools, and discards results for other pools or slots.
    pub fn sort(&self, slot: Slot, reading: ChainPools) -> ChainReading {
        let mut by_pool: HashMap<PoolId, PoolReading> = reading.pools.into_iter().collect();
        let missing = |reason, detail: &str| ReadFailure { reason, detail: detail.to_owned() };
        let pools = self.source.pools.iter().map(|(id, _)| match by_pool.remove(id) {
            Some(Ok(read))
                if read.snapshot.slot() != slot || read.snapshot.observation().pool() != id =>
            {
                let detail = "the reading is for another pool or slot";
                Err(missing(MissingReason::RpcResponseInvalid, detail))
            }
            Some(result) => result,
            None => Err(missing(MissingReason::DeadlineExceeded, "the pool was not read")),
        });
        let ChainPools { doubts, requests, logs, proofs, heads, .. } = reading;
        ChainReading { pools: pools.collect(), doubts, requests, logs, proofs, heads }
    }
}

impl<R: SlotReader> Chain<R> {
    /// Whether it has no reader, so that the next one starts from the state in the store.
    pub fn begins(&self) -> bool {
        self.reader.is_none()
    }

    /// The nodes' answers since the last call, by node, method and outcome.
    pub fn take_outcomes(&self) -> Vec<RequestOutcomes> {
        self.reader.as_ref().map(SlotReader::take_outcomes).unwrap_or_default()
    }

    /// How its nodes' logs were checked for being complete when the last slot was read.
    pub fn logs_checked(&self) -> Option<&LogsChecked> {
        self.reader.as_ref().and_then(SlotReader::logs_checked)
    }

    /// Creates the reader if there is none, and passes it the newest recorded state.
    fn make_reader(&mut self, standing: ResumePoint) -> Result<(), String> {
        if self.reader.is_none() {
            let mut reader = (self.source.make)().map_err(|error| error.to_string())?;
            reader.resume(standing);
            self.reader = Some(reader);
        }
        Ok(())
    }

    /// Requires that its nodes agree on which chain they serve.
    pub async fn check_nodes(&self, deadline: Instant) -> Result<(), String> {
        // If the reader cannot be created, its pools are missing with that reason.
        let Ok(reader) = (self.source.make)() else { return Ok(()) };
        reader.check_nodes(deadline).await
    }

    /// The number of blocks after which a slot's block is rechecked; `None` while there is no reader.
    pub fn confirmations(&self) -> Option<u32> {
        self.reader.as_ref().map(SlotReader::confirmations)
    }
}

/// Logs one line per reason and chain, so that an unreachable node is not reported for each pool.
pub fn warn_of_missing<R>(slot: Slot, chain: &Chain<R>, reading: &ChainReading) {
    let mut causes: BTreeMap<(&str, &str), Vec<&PoolId>> = BTreeMap::new();
    for ((pool, _), result) in chain.pools().iter().zip(&reading.pools) {
        if let Err(missing) = result {
            tracing::debug!(slot = %slot, pool = %pool, "{missing}");
            let cause = (missing.reason.code(), missing.detail.as_str());
            causes.entry(cause).or_default().push(pool);
        }
    }
    for ((reason, detail), pools) in causes {
        let chain = &chain.source.chain;
        tracing::warn!(slot = %slot, chain = %chain, reason, pools = pools.len(), first = %pools[0], "{detail}");
    }
}
