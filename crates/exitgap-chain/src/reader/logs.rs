//! Determines which parts of pools changed since a block, from the pools' logs, with as few requests as possible.

use std::collections::{BTreeMap, BTreeSet};

use alloy::primitives::B256;
use alloy_rpc_types_eth::Log;
use exitgap_core::ids::{Address, Word};
use exitgap_core::snapshot::BlockRef;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::abi::own;
use crate::blocks::contradiction;
use crate::limits::MAX_NAMED;
use crate::narrowing::{LogsNarrowing, NextStep, halves};
use crate::pools::{PartReader, Watch};
use crate::rpc::{Failure, Measure, RetryPolicy, Rpc, RpcError, Weight, value};

/// Parts to read again, by the pool's index in the plan.
pub(super) type ChangedParts = BTreeMap<usize, BTreeSet<i32>>;

/// The contents of the logs of the requested pools.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// The parts that changed.
    pub(super) changed: ChangedParts,
    /// The blocks of the logs.
    pub(super) blocks: BTreeMap<usize, BTreeSet<u64>>,
    /// Pools whose own logs cannot be used, with the cause: it is unknown which of their parts changed.
    pub(super) unread: BTreeMap<usize, String>,
}

/// The pools whose logs are requested, by their index in the plan.
pub(super) type PartReaders<'a> = BTreeMap<usize, &'a dyn PartReader>;

/// The source of a log: its emitter, and the pool's id if the emitter manages many pools.
type Source = (Address, Option<Word>);

/// Pools whose logs are requested with one filter.
struct Together<'a> {
    pools: BTreeMap<Source, (usize, Watch, &'a dyn PartReader)>,
}

/// The parts named by logs of `waiting` in the blocks from `first` up to and including `last`. Uses as many requests as
/// [`crate::Limits::log_blocks`] requires. If nodes refuse that many blocks, the ranges are shortened, also in later
/// slots until the nodes accept more, as far as [`crate::Limits::log_requests`] allows.
pub(super) async fn changed_parts(
    rpc: &Rpc,
    waiting: &PartReaders<'_>,
    first: u64,
    last: BlockRef,
    deadline: Instant,
) -> Result<Named, Failure> {
    let mut named = Named::default();
    for together in by_filter(waiting) {
        together.add_changed_parts(rpc, &mut named, first, last, deadline).await?;
    }
    Ok(named)
}

/// Pools that emit their own logs share a filter, and so do pools of a manager, whose second topic has another meaning.
/// No filter names more than [`MAX_NAMED`] pools.
fn by_filter<'a>(waiting: &PartReaders<'a>) -> Vec<Together<'a>> {
    let mut groups: BTreeMap<(bool, usize), Together<'a>> = BTreeMap::new();
    let mut counts = [0; 2];
    for (place, followed) in waiting {
        let watch = followed.watch();
        let of_manager = watch.id.is_some();
        let count = &mut counts[usize::from(of_manager)];
        let group = groups
            .entry((of_manager, *count / MAX_NAMED))
            .or_insert_with(|| Together { pools: BTreeMap::new() });
        *count += 1;
        group.pools.insert((watch.emitter, watch.id), (*place, watch, *followed));
    }
    groups.into_values().collect()
}

/// A pool's index in the plan, with the block of one of its logs and the parts that the log names, or the fault in it.
type OfPool = (usize, Result<NamedParts, RpcError>);

/// The block of a log, and the parts that it names.
type NamedParts = (u64, Vec<i32>);

impl Named {
    fn add(&mut self, logs: Vec<OfPool>) {
        for (place, parts) in logs {
            match parts {
                Ok((block, parts)) => {
                    self.changed.entry(place).or_default().extend(parts);
                    self.blocks.entry(place).or_default().insert(block);
                }
                Err(error) => drop(self.unread.entry(place).or_insert_with(|| error.to_string())),
            }
        }
    }
}

impl Together<'_> {
    async fn add_changed_parts(
        self,
        rpc: &Rpc,
        named: &mut Named,
        first: u64,
        last: BlockRef,
        deadline: Instant,
    ) -> Result<(), Failure> {
        let most = rpc.limits().log_requests.max(1);
        // Wide enough to reach the end within the limit, even if nodes refused that recently. Otherwise larger ranges
        // would never be tried again.
        let whole = (last.number + 1).saturating_sub(first);
        let mut narrowing = LogsNarrowing::new(rpc, Measure::TickBlocks, whole.div_ceil(most));
        // Each group of pools with the number of its requests: what one pool's logs cost is not taken from the others.
        let mut waiting = vec![(self, first, 0)];
        let mut refused = Vec::new();
        while let Some((together, from, requests)) = waiting.pop() {
            if from > last.number {
                continue;
            }
            let to = narrowing.last_block(from, last.number);
            let blocks = to - from + 1;
            let is_part = narrowing.is_part();
            let failure = match together.request(rpc, [from, to], last, is_part, deadline).await {
                Ok(more) => {
                    named.add(more);
                    narrowing.add_answer(blocks);
                    waiting.push((together, to + 1, requests + 1));
                    continue;
                }
                Err(failure) => failure,
            };
            let pools = together.pools.len();
            let mut step = narrowing.add_failure(&failure, blocks, pools);
            let mut requests = requests;
            if step == NextStep::FewerBlocks {
                requests += 1;
                let left = (last.number - from + 1).div_ceil(blocks / 2);
                if requests + left > most {
                    step = narrowing.lack_requests(blocks, pools);
                }
            }
            match step {
                NextStep::FewerBlocks => waiting.push((together, from, requests)),
                // If one pool has more logs than a node returns, the others are read without it.
                NextStep::HalfThePools => {
                    let halves = halves(together.pools).map_or_else(|one| vec![one], Vec::from);
                    let halves = halves.into_iter().rev();
                    waiting.extend(halves.map(|pools| (Together { pools }, from, requests)));
                }
                NextStep::LeaveUnread => {
                    let places = together.pools.values().map(|(place, ..)| *place);
                    refused.extend(places.map(|place| (place, failure.detail.clone())));
                }
                NextStep::GiveUp => return Err(failure),
            }
        }
        narrowing.require_answer()?;
        named.unread.extend(refused);
        Ok(())
    }

    async fn request(
        &self,
        rpc: &Rpc,
        [from, to]: [u64; 2],
        last: BlockRef,
        is_part: bool,
        deadline: Instant,
    ) -> Result<Vec<OfPool>, Failure> {
        let params = json!([self.filter(from, to)]);
        let decode = |raw: &_| -> Result<Vec<OfPool>, RpcError> {
            let logs: Vec<&RawValue> = value(raw)?;
            let named = logs.into_iter().map(|log| self.parts_of_raw(log, [from, to], last));
            Ok(named.collect::<Result<Vec<_>, _>>()?.concat())
        };
        let weight = Weight { of: Measure::TickBlocks, amount: to - from + 1 };
        // A node that lags behind the slot's block will have its logs soon.
        let narrows = to > from || self.pools.len() > 1;
        let policy = RetryPolicy { weight: Some(weight), narrows, is_part, ..RetryPolicy::PATIENT };
        rpc.request_by(policy, "eth_getLogs", &params, deadline, decode).await
    }

    fn filter(&self, from: u64, to: u64) -> Value {
        let emitters: BTreeSet<String> =
            self.pools.keys().map(|(emitter, _)| emitter.to_string()).collect();
        let watches = || self.pools.values().map(|(_, watch, _)| watch);
        let events: BTreeSet<String> =
            watches().flat_map(|watch| &watch.events).map(ToString::to_string).collect();
        let ids: BTreeSet<String> =
            watches().filter_map(|watch| watch.id).map(|id| id.to_string()).collect();
        let topics = if ids.is_empty() { json!([events]) } else { json!([events, ids]) };
        json!({
            "fromBlock": format!("{from:#x}"),
            "toBlock": format!("{to:#x}"),
            "address": emitters,
            "topics": topics,
        })
    }

    /// The pool of a log and the parts that it names, or why it cannot be read, which concerns that pool alone. None where
    /// the event is one that only another pool's kind has; all of a manager's where its log names no pool.
    fn parts_of_raw(
        &self,
        raw: &RawValue,
        blocks: [u64; 2],
        last: BlockRef,
    ) -> Result<Vec<OfPool>, RpcError> {
        let Emitted { address, topics } = value(raw)?;
        let emitter = own(address);
        let id = || Some(Word(serde_json::from_value::<B256>(topics.get(1)?.clone()).ok()?.0));
        let of = |id| self.pools.get(&(emitter, id));
        let log = value::<Log>(raw);
        if let Some((place, watch, followed)) = of(None).or_else(|| of(id())) {
            let parts = match log {
                Ok(log) => self.parts_of_log(&log, watch, *followed, blocks, last)?,
                Err(error) => Some(Err(error)),
            };
            return Ok(parts.map(|parts| (*place, parts)).into_iter().collect());
        }
        let managed = self.pools.iter().filter(|((other, _), _)| *other == emitter);
        let managed: Vec<usize> = managed.map(|(_, (place, ..))| *place).collect();
        match log {
            Err(error) if !managed.is_empty() => {
                Ok(managed.into_iter().map(|place| (place, Err(error.clone()))).collect())
            }
            _ => Err(contradiction("a log's address", "one of the requested pools", emitter)),
        }
    }

    /// The parts that a log of a pool names, or why it cannot be read; `None` where the event is one that only another
    /// pool's kind has. A log of another block in the place of the last one is of no pool: the node is on another branch.
    fn parts_of_log(
        &self,
        log: &Log,
        watch: &Watch,
        followed: &dyn PartReader,
        [from, to]: [u64; 2],
        last: BlockRef,
    ) -> Result<Option<Result<NamedParts, RpcError>>, RpcError> {
        if log.removed {
            return Ok(Some(Err(contradiction("a log's removed flag", false, true))));
        }
        let number = log.block_number.unwrap_or(0);
        if !(from..=to).contains(&number) {
            let expected = format!("from {from} to {to}");
            return Ok(Some(Err(contradiction("a log's block", expected, number))));
        }
        match log.block_hash {
            None => return Ok(Some(Err(contradiction("a log's block hash", "given", "null")))),
            Some(hash) if number == last.number && hash.0 != last.hash.0 => {
                return Err(contradiction("a log's block hash", last.hash, hash));
            }
            Some(_) => {}
        }
        let event = log.topics().first();
        if event.is_some_and(|event| watch.events.contains(event)) {
            return Ok(Some(followed.named_by(log).map(|parts| (number, parts))));
        }
        let is_known =
            |event| self.pools.values().any(|(_, watch, _)| watch.events.contains(event));
        if event.is_some_and(is_known) {
            return Ok(None);
        }
        let topics = log.topics().len();
        Ok(Some(Err(contradiction("a log's topics", "a requested event", topics))))
    }
}

/// Whose a log is, and its topics as the node wrote them.
#[derive(Deserialize)]
struct Emitted {
    address: alloy::primitives::Address,
    #[serde(default)]
    topics: Value,
}

#[cfg(test)]
pub(super) mod tests;
