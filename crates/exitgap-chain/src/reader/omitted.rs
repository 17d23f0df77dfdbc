//! Finds logs that nodes left out of their answers. The headers of the blocks since the last slot, which are linked to the
//! slot's block by their hashes, commit to all logs of these blocks: each has a bloom, which names every emitter and topic,
//! and the root of the receipts.
//!
//! A bloom can name what is not there, but never lacks what is. Where it names a pool and no log of that pool came, all of
//! the pool's parts are read again. Where blooms name too many pools, the receipts of these blocks are read instead.
//!
//! - `cost`: what the checks cost at a node, for `check`

mod cost;

use std::collections::{BTreeMap, BTreeSet};

use alloy::consensus::proofs::calculate_receipt_root;
use alloy::primitives::{B256, Bloom, BloomInput, keccak256};
use alloy_rpc_types_eth::{Log, TransactionReceipt};
use exitgap_core::ids::Address;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::BlockRef;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

pub(super) use cost::{ChecksCost, measure};

use crate::abi::own;
use crate::blocks::{self, LogsHeader, contradiction};
use crate::config::LogsCheck;
use crate::pools::{PartReader, Watch};
use crate::rpc::{Failure, Rpc, RpcError, value};

/// Blocks whose headers are read at most for one slot.
const MAX_HEADERS: u64 = 300;

/// Blocks since the last slot of which receipts are read, unless the configuration asks for them.
const MAX_RECEIPT_BLOCKS: u64 = 50;

/// The share of the pools that may be read in full because of blooms: one in so many.
const REREAD_SHARE: usize = 10;

/// After how many slots a way that did not work is tried again: an hour.
const TRIED_AGAIN: u32 = 12;

/// How a chain's logs of a slot were checked for being complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogsChecked {
    /// By the blooms of the blocks' headers.
    Blooms,
    /// By the blocks' receipts.
    Receipts,
    /// They were not, for this reason. A log that was left out is found by the next full reading.
    Unproven(String),
}

/// The checks of one chain's logs, from slot to slot.
#[derive(Debug, Default)]
pub(super) struct LogsChecking {
    /// The slot from which on a way that did not work is tried again, and why it did not.
    given_up: Option<(u32, String)>,
    /// The result of this slot; `None` if no pool's logs were asked for.
    pub(super) checked: Option<LogsChecked>,
}

/// A pool whose logs were asked for.
pub(super) struct AskedPool<'a> {
    /// The block after which they were asked for.
    pub(super) after: u64,
    pub(super) followed: &'a dyn PartReader,
    /// The blocks of the logs that came.
    pub(super) blocks: BTreeSet<u64>,
    /// The parts that they name.
    pub(super) named: BTreeSet<i32>,
}

/// The pools, by their index in the plan.
pub(super) type AskedPools<'a> = BTreeMap<usize, AskedPool<'a>>;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Omitted {
    /// Pools that a bloom names in a block of which no log of them came, with the first such block.
    pub(super) suspected: BTreeMap<usize, u64>,
    /// Pools with a log that was left out, with its block and all parts that the pool's logs name.
    pub(super) proven: BTreeMap<usize, (u64, BTreeSet<i32>)>,
}

/// Why logs were not checked, and whether that will be so for a while.
struct Unchecked {
    why: String,
    is_lasting: bool,
}

impl LogsChecking {
    /// Looks for logs of these pools that were left out, up to the slot's block.
    pub(super) async fn check(
        &mut self,
        rpc: &Rpc,
        by: LogsCheck,
        slot: Slot,
        pools: &AskedPools<'_>,
        last: BlockRef,
        deadline: Instant,
    ) -> Omitted {
        let Some(first) = pools.values().map(|pool| pool.after + 1).min() else {
            return Omitted::default();
        };
        if by == LogsCheck::Nothing {
            let why = "check_logs_by is \"nothing\"".to_owned();
            self.checked = Some(LogsChecked::Unproven(why));
            return Omitted::default();
        }
        if let Some((until, why)) = self.given_up.take_if(|(until, _)| slot.number() >= *until) {
            tracing::debug!(until, why, "the check of logs is tried again");
        }
        if let Some((_, why)) = &self.given_up {
            self.checked = Some(LogsChecked::Unproven(why.clone()));
            return Omitted::default();
        }
        let (checked, found) = match find_omitted(
            rpc,
            by,
            pools,
            [first, last.number],
            last,
            deadline,
        )
        .await
        {
            Ok(found) => found,
            Err(Unchecked { why, is_lasting }) => {
                if is_lasting {
                    tracing::warn!(%slot, why, "logs that nodes leave out are found only by full readings");
                    self.given_up = Some((slot.number() + TRIED_AGAIN, why.clone()));
                }
                (LogsChecked::Unproven(why), Omitted::default())
            }
        };
        self.checked = Some(checked);
        found
    }
}

async fn find_omitted(
    rpc: &Rpc,
    by: LogsCheck,
    pools: &AskedPools<'_>,
    [first, to]: [u64; 2],
    last: BlockRef,
    deadline: Instant,
) -> Result<(LogsChecked, Omitted), Unchecked> {
    let lasting = |why| Unchecked { why, is_lasting: true };
    let count = (to + 1).saturating_sub(first);
    if count > MAX_HEADERS {
        let why = format!("{count} blocks since the last slot, more than {MAX_HEADERS}");
        return Err(Unchecked { why, is_lasting: false });
    }
    let headers = linked_headers(rpc, first, last, deadline).await?;
    let blooms = PoolBlooms::of(pools);
    let suspected = blooms.suspected(pools, &headers);
    let by_blooms = match by {
        LogsCheck::Blooms => true,
        LogsCheck::Receipts => false,
        LogsCheck::Auto | LogsCheck::Nothing => suspected.len() <= most_reread(pools.len()),
    };
    if by_blooms {
        return Ok((LogsChecked::Blooms, Omitted { suspected, ..Omitted::default() }));
    }
    let share = format!("blooms name {} of {} pools without a log", suspected.len(), pools.len());
    if by == LogsCheck::Auto && count > MAX_RECEIPT_BLOCKS {
        let why = format!("{share}, and a slot has more than {MAX_RECEIPT_BLOCKS} blocks");
        return Err(lasting(why));
    }
    match by_receipts(rpc, pools, &blooms, &headers, deadline).await {
        Ok(found) => Ok((LogsChecked::Receipts, found)),
        Err(failure) => {
            let why = format!("{share}, and receipts are not served: {}", failure.detail);
            // Receipts of a form that is not known, as some chains have, will be of that form again.
            let is_lasting = failure.is_final() || matches!(failure.error, RpcError::Malformed(_));
            Err(Unchecked { why, is_lasting })
        }
    }
}

/// How many of so many pools may be read in full because of blooms.
fn most_reread(pools: usize) -> usize {
    (pools / REREAD_SHARE).max(1)
}

/// The headers of these blocks, each of which names the one before it as its parent, up to the slot's block.
async fn linked_headers(
    rpc: &Rpc,
    first: u64,
    last: BlockRef,
    deadline: Instant,
) -> Result<Vec<LogsHeader>, Unchecked> {
    let passing = |why| Unchecked { why, is_lasting: false };
    let asked = stream::iter(first..=last.number)
        .map(|number| blocks::logs_header_at(rpc, number, deadline))
        .buffered(rpc.limits().concurrency.max(1));
    let headers: Vec<LogsHeader> =
        asked.try_collect().await.map_err(|failure: Failure| Unchecked {
            why: format!("headers: {}", failure.detail),
            // The state that is read next needs the requests that the node still takes.
            is_lasting: failure.reason() == MissingReason::RpcRateLimited,
        })?;
    if let Some(other) = headers.iter().find(|one| !one.header.recomputed) {
        let number = other.header.block.number;
        let why = format!("the hash of block {number} cannot be recomputed from its header");
        return Err(Unchecked { why, is_lasting: true });
    }
    let mut expected = last.hash;
    for LogsHeader { header, .. } in headers.iter().rev() {
        let BlockRef { hash, number, .. } = header.block;
        if hash != expected {
            return Err(passing(format!("block {number} is {hash}, but {expected} is linked")));
        }
        expected = header.parent;
    }
    Ok(headers)
}

/// What a bloom has if it names a pool's logs.
struct PoolBloom {
    emitter: B256,
    /// One of these.
    events: Vec<B256>,
    id: Option<B256>,
}

/// The pools, by their index in the plan.
struct PoolBlooms(BTreeMap<usize, PoolBloom>);

impl PoolBloom {
    fn of(watch: &Watch) -> Self {
        Self {
            emitter: keccak256(watch.emitter.0),
            events: watch.events.iter().map(keccak256).collect(),
            id: watch.id.map(|id| keccak256(id.0)),
        }
    }

    fn is_named_by(&self, bloom: &Bloom) -> bool {
        let has = |hash: &B256| bloom.contains_input(BloomInput::Hash(*hash));
        has(&self.emitter) && self.id.as_ref().is_none_or(has) && self.events.iter().any(has)
    }
}

impl PoolBlooms {
    fn of(pools: &AskedPools<'_>) -> Self {
        let of = |pool: &AskedPool<'_>| PoolBloom::of(&pool.followed.watch());
        Self(pools.iter().map(|(place, pool)| (*place, of(pool))).collect())
    }

    /// Pools that a bloom names in a block of which no log of them came.
    fn suspected(&self, pools: &AskedPools<'_>, headers: &[LogsHeader]) -> BTreeMap<usize, u64> {
        let first = |(place, bloom): (&usize, &PoolBloom)| {
            let pool = pools.get(place)?;
            let number = |one: &&LogsHeader| one.header.block.number;
            let is_silent = |one: &&LogsHeader| {
                number(one) > pool.after
                    && !pool.blocks.contains(&number(one))
                    && bloom.is_named_by(&one.bloom)
            };
            headers.iter().find(is_silent).map(|one| (*place, number(&one)))
        };
        self.0.iter().filter_map(first).collect()
    }

    /// Whether a header's bloom names any of the pools.
    fn are_named_by(&self, header: &LogsHeader) -> bool {
        self.0.values().any(|pool| pool.is_named_by(&header.bloom))
    }
}

/// Reads the receipts of the blocks whose blooms name a pool, and compares their logs with those that came.
async fn by_receipts(
    rpc: &Rpc,
    pools: &AskedPools<'_>,
    blooms: &PoolBlooms,
    headers: &[LogsHeader],
    deadline: Instant,
) -> Result<Omitted, Failure> {
    let emitters: BTreeSet<Address> =
        pools.values().map(|pool| pool.followed.watch().emitter).collect();
    let named = headers.iter().filter(|header| blooms.are_named_by(header));
    let asked = stream::iter(named)
        .map(|header| logs_by_receipts(rpc, header, &emitters, deadline))
        .buffered(rpc.limits().concurrency.max(1));
    let blocks: Vec<BlockLogs> = asked.try_collect().await?;
    let mut found = Omitted::default();
    let logs = blocks.iter().flat_map(|block| block.logs.iter().map(|log| (block.number, log)));
    for (number, log) in logs {
        let is_of =
            |pool: &AskedPool<'_>| number > pool.after && is_logged_by(&pool.followed.watch(), log);
        for (place, pool) in pools.iter().filter(|(_, pool)| is_of(pool)) {
            match pool.followed.named_by(log) {
                Ok(parts) if parts.iter().all(|part| pool.named.contains(part)) => {}
                Ok(parts) => {
                    let proven = found.proven.entry(*place);
                    proven.or_insert_with(|| (number, BTreeSet::new())).1.extend(parts);
                }
                Err(_) => drop(found.suspected.entry(*place).or_insert(number)),
            }
        }
    }
    Ok(found)
}

fn is_logged_by(watch: &Watch, log: &Log) -> bool {
    let topics = log.topics();
    let has_event = topics.first().is_some_and(|event| watch.events.contains(event));
    let has_id = watch.id.is_none_or(|id| topics.get(1).is_some_and(|topic| topic.0 == id.0));
    own(log.address()) == watch.emitter && has_event && has_id
}

/// Logs of a block, by its receipts.
struct BlockLogs {
    number: u64,
    logs: Vec<Log>,
    /// The length of the node's answer.
    answer_bytes: usize,
}

/// The logs of these emitters in a block, whose receipts are those that its header commits to.
async fn logs_by_receipts(
    rpc: &Rpc,
    header: &LogsHeader,
    emitters: &BTreeSet<Address>,
    deadline: Instant,
) -> Result<BlockLogs, Failure> {
    let number = header.header.block.number;
    let params = json!([format!("{number:#x}")]);
    let read = |raw: &RawValue| {
        let receipts = value::<Option<Vec<TransactionReceipt>>>(raw)?;
        let receipts = receipts.ok_or_else(|| RpcError::NoBlock(format!("{number}: receipts")))?;
        let logs = receipts.iter().flat_map(TransactionReceipt::logs);
        let logs: Vec<Log> =
            logs.filter(|log| emitters.contains(&own(log.address()))).cloned().collect();
        let receipts: Vec<_> =
            receipts.into_iter().map(|one| one.into_primitives_receipt().inner).collect();
        let root = calculate_receipt_root(&receipts);
        if root != header.receipts_root {
            return Err(contradiction("the root of the receipts", header.receipts_root, root));
        }
        Ok(BlockLogs { number, logs, answer_bytes: raw.get().len() })
    };
    rpc.request("eth_getBlockReceipts", &params, deadline, read).await
}

#[cfg(test)]
mod tests;
