//! Blocks: the head, the block of a slot, and the canonical hash at a block number.

mod header;
mod search;

use std::collections::BTreeMap;

use exitgap_core::ids::BlockHash;
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::BlockRef;
use serde_json::json;
use tokio::time::{Instant, sleep};

pub(crate) use header::{Header, LogsHeader, contradiction};
use search::{Search, Step};

use crate::read_failure::ReadFailure;
use crate::rpc::{Failure, RetryPolicy, Rpc, RpcError};

/// A block that a node has returned, and when: its time has therefore passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenBlock {
    /// The block's timestamp, seconds UTC.
    pub timestamp: u64,
    /// When a node returned it, by this process's monotonic clock.
    pub at: Instant,
}

/// The heads that a chain's nodes had while one slot was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenHeads {
    /// The latest of them.
    pub latest: SeenBlock,
    /// Whether a node's head went on meanwhile, by about as much as time passed: the chain produces blocks now.
    pub is_live: bool,
}

/// Whether a head went on from one block to another as time does. A chain that stands still does not, and neither does a
/// node that catches up.
fn keeps_pace(first: SeenBlock, later: SeenBlock) -> bool {
    /// A slow chain may have made no block before, and several at once.
    const AT_ONCE_S: u64 = 30;
    let passed = later.at.saturating_duration_since(first.at).as_secs();
    let shown = later.timestamp.saturating_sub(first.timestamp);
    (1..=2 * passed + AT_ONCE_S).contains(&shown)
}

/// Finds blocks, and caches recent headers so that the next search starts from the last one.
#[derive(Debug, Default)]
pub(crate) struct BlockFinder {
    /// By number. These are only starting points: a result is always linked to a header that was read again.
    recent: BTreeMap<u64, Header>,
    /// The heads that were seen in this slot, whether or not they were late enough for it.
    heads: Option<SeenHeads>,
    /// The first head of each node in this slot.
    first_heads: BTreeMap<usize, SeenBlock>,
}

impl BlockFinder {
    /// The maximum number of cached headers.
    const MAX_RECENT: usize = 64;

    /// Clears the cache, because a cached header contradicted the chain.
    pub(crate) fn forget(&mut self) {
        self.recent.clear();
    }

    /// The block with this number, if its header is cached.
    pub(crate) fn known(&self, number: u64) -> Option<BlockRef> {
        self.recent.get(&number).map(|header| header.block)
    }

    /// Begins a slot: what heads showed before says nothing about it.
    pub(crate) fn begin_slot(&mut self) {
        self.heads = None;
        self.first_heads.clear();
    }

    /// The heads that nodes had in this slot.
    pub(crate) fn heads(&self) -> Option<SeenHeads> {
        self.heads
    }

    /// Takes in the head of a node. One whose hash could not be recomputed shows no time.
    fn note_head(&mut self, node: usize, head: &Header) {
        if !head.recomputed {
            return;
        }
        let seen = SeenBlock { timestamp: head.block.timestamp, at: Instant::now() };
        let first = *self.first_heads.entry(node).or_insert(seen);
        let is_live = keeps_pace(first, seen);
        self.heads = Some(match self.heads {
            None => SeenHeads { latest: seen, is_live },
            Some(before) => SeenHeads {
                latest: if before.latest.timestamp < seen.timestamp { seen } else { before.latest },
                is_live: before.is_live || is_live,
            },
        });
    }

    /// The last block with a timestamp at or before `instant` (seconds UTC). The next block proves this: it is later
    /// and names this one as its parent.
    pub(crate) async fn last_at(
        &mut self,
        rpc: &Rpc,
        instant: u64,
        deadline: Instant,
    ) -> Result<Header, ReadFailure> {
        let mut missing = None;
        for _ in 0..=rpc.nodes() {
            let head =
                later_head(rpc, instant, deadline, |node, head| self.note_head(node, head)).await?;
            missing = Some(match self.search(rpc, instant, head, deadline).await {
                Ok(Ok(found)) => return Ok(found),
                // The nodes' headers contradict each other or the cached ones.
                Ok(Err(contradiction)) => {
                    ReadFailure::new(contradiction.reason(), contradiction.to_string())
                }
                // No node has what comes before this head, so it may be another chain's.
                Err(failure) if matches!(failure.error, RpcError::NoBlock(_)) => failure.into(),
                Err(failure) => return Err(failure.into()),
            });
            tracing::debug!(?missing, "no block found for a time");
            self.forget();
            rpc.distrust_current();
        }
        Err(missing.unwrap_or_else(|| {
            ReadFailure::new(MissingReason::RpcUnavailable, "no node was asked")
        }))
    }

    async fn search(
        &mut self,
        rpc: &Rpc,
        instant: u64,
        head: Header,
        deadline: Instant,
    ) -> Result<Result<Header, search::SearchError>, Failure> {
        let mut below = self.recent.range(..head.block.number).map(|(_, header)| *header);
        let known = below.rfind(|header| header.block.timestamp <= instant);
        let mut search = Search::new(instant, head, known);
        self.remember(head);
        loop {
            let number = match search.next() {
                Ok(Step::Found(found)) => return Ok(Ok(found)),
                Ok(Step::Read(number)) => number,
                Err(error) => return Ok(Err(error)),
            };
            let header = awaited_header_at(rpc, number, deadline).await?;
            if let Err(error) = search.learn(header) {
                return Ok(Err(error));
            }
            self.remember(header);
        }
    }

    fn remember(&mut self, header: Header) {
        self.recent.insert(header.block.number, header);
        if self.recent.len() > Self::MAX_RECENT {
            self.recent.pop_first();
        }
    }
}

/// The header of the newest block.
pub(crate) async fn head(rpc: &Rpc, deadline: Instant) -> Result<Header, Failure> {
    let (latest, read) = (json!(["latest", false]), |raw: &_| Header::from_json(raw, None));
    rpc.request_by(RetryPolicy::PATIENT, "eth_getBlockByNumber", &latest, deadline, read).await
}

/// The header of the newest block that is final according to the node.
pub(crate) async fn finalized_header(rpc: &Rpc, deadline: Instant) -> Result<Header, Failure> {
    let finalized = json!(["finalized", false]);
    rpc.request("eth_getBlockByNumber", &finalized, deadline, |raw| Header::from_json(raw, None))
        .await
}

/// The header of the canonical block of this number.
pub(crate) async fn header_at(
    rpc: &Rpc,
    number: u64,
    deadline: Instant,
) -> Result<Header, Failure> {
    let params = json!([format!("{number:#x}"), false]);
    let read = |raw: &_| Header::from_json(raw, Some(number));
    rpc.request("eth_getBlockByNumber", &params, deadline, read).await
}

/// The same with what the header commits to of the block's logs.
pub(crate) async fn logs_header_at(
    rpc: &Rpc,
    number: u64,
    deadline: Instant,
) -> Result<LogsHeader, Failure> {
    let params = json!([format!("{number:#x}"), false]);
    let read = |raw: &_| LogsHeader::from_json(raw, number);
    rpc.request("eth_getBlockByNumber", &params, deadline, read).await
}

/// The same as [`header_at`] for a block that is known to exist. Nodes that do not have it yet are asked again.
async fn awaited_header_at(rpc: &Rpc, number: u64, deadline: Instant) -> Result<Header, Failure> {
    let params = json!([format!("{number:#x}"), false]);
    let read = |raw: &_| Header::from_json(raw, Some(number));
    rpc.request_by(RetryPolicy::PATIENT, "eth_getBlockByNumber", &params, deadline, read).await
}

/// The hash of the canonical block of this number.
pub(crate) async fn canonical_hash(
    rpc: &Rpc,
    number: u64,
    deadline: Instant,
) -> Result<BlockHash, Failure> {
    Ok(header_at(rpc, number, deadline).await?.block.hash)
}

/// A head later than `instant`; asks all nodes, and again a bounded number of times. Passes each
/// head that it sees, and whose it is, to `note`.
async fn later_head(
    rpc: &Rpc,
    instant: u64,
    deadline: Instant,
    mut note: impl FnMut(usize, &Header),
) -> Result<Header, ReadFailure> {
    let limits = rpc.limits();
    let mut newest: Option<Header> = None;
    for poll in 0..=limits.lag_polls {
        if poll > 0 {
            if Instant::now() + limits.lag_pause >= deadline {
                break;
            }
            sleep(limits.lag_pause).await;
        }
        for _ in 0..rpc.nodes() {
            let head = head(rpc, deadline).await?;
            note(rpc.current(), &head);
            if head.block.timestamp > instant {
                return Ok(head);
            }
            if newest.is_none_or(|newest| newest.block.number < head.block.number) {
                newest = Some(head);
            }
            rpc.prefer_next();
        }
    }
    let seen = newest.map_or_else(
        || "no head block was seen".to_owned(),
        |head| {
            format!("the newest block seen is {} at {}", head.block.number, head.block.timestamp)
        },
    );
    let detail = format!("no block after {instant} yet; {seen}");
    Err(ReadFailure::new(MissingReason::ChainLagging, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(timestamp: u64) -> Header {
        let hash = BlockHash([1; 32]);
        let block = BlockRef { number: 7, hash, timestamp };
        Header { block, parent: hash, recomputed: true }
    }

    #[test]
    fn the_latest_head_is_kept_with_when_it_was_seen_first() {
        let mut finder = BlockFinder::default();
        assert_eq!(finder.heads(), None);
        let mut noted = |timestamp| {
            finder.note_head(0, &head(timestamp));
            finder.heads().unwrap().latest
        };
        let first = noted(1_000);
        assert_eq!(first.timestamp, 1_000);
        // A chain that has stopped, or a node that lags, is not evidence of a later time.
        assert_eq!([noted(1_000), noted(990)], [first; 2]);
        let later = noted(1_012);
        assert!(later.timestamp == 1_012 && later.at >= first.at, "{later:?}");
    }

    #[test]
    fn a_head_counts_in_its_slot_and_only_if_its_hash_is_its_own() {
        let mut finder = BlockFinder::default();
        finder.note_head(0, &head(9_999));
        finder.begin_slot();
        assert_eq!(finder.heads(), None, "a head of the slot before");
        finder.note_head(0, &Header { recomputed: false, ..head(9_999) });
        assert_eq!(finder.heads(), None, "a head that may be any");
        finder.note_head(0, &head(1_000));
        assert_eq!(finder.heads().map(|heads| heads.latest.timestamp), Some(1_000));
    }

    #[test]
    fn a_chain_is_live_where_one_nodes_head_goes_on_as_time_does() {
        let is_live = |heads: &[(usize, u64)]| {
            let mut finder = BlockFinder::default();
            for (node, time) in heads {
                finder.note_head(*node, &head(*time));
            }
            finder.heads().unwrap().is_live
        };
        assert!(is_live(&[(0, 1_000), (1, 990), (0, 1_012)]));
        // It stands still; another node is behind; a node catches up.
        assert!(!is_live(&[(0, 1_000), (0, 1_000)]));
        assert!(!is_live(&[(0, 1_000), (1, 1_012), (0, 1_000)]));
        assert!(!is_live(&[(0, 1_000), (0, 90_000)]));
    }
}
