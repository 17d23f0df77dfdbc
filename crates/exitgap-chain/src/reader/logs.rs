//! Which parts of pools changed since a block: what the pools' logs name, asked for as few times
//! as may be.

use std::collections::{BTreeMap, BTreeSet};

use alloy_rpc_types_eth::Log;
use exitgap_core::ids::{Address, Word};
use exitgap_core::snapshot::BlockRef;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::abi::own;
use crate::blocks::contradiction;
use crate::limits::MAX_NAMED;
use crate::pools::{PartReader, Watch};
use crate::rpc::{Failure, Manner, Measure, Rpc, RpcError, Weight, value};

/// Parts to read again, by the pool's place in the plan.
pub(super) type ChangedParts = BTreeMap<usize, BTreeSet<i32>>;

/// What the logs say of the pools that were asked for.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// The parts that changed.
    pub(super) changed: ChangedParts,
    /// Pools whose own logs cannot be read, and why: what changed of them is not known.
    pub(super) unread: BTreeMap<usize, String>,
}

/// Extra requests that one filter may take to isolate a pool whose logs of one block nodes refuse.
const MAX_SPLITS: usize = 64;

/// The pools whose logs are asked for, by their place in the plan.
pub(super) type PartReaders<'a> = BTreeMap<usize, &'a dyn PartReader>;

/// Whose a log is: its emitter, and the pool's id where that manages many.
type Source = (Address, Option<Word>);

/// Pools whose logs one filter asks for.
struct Together<'a> {
    pools: BTreeMap<Source, (usize, Watch, &'a dyn PartReader)>,
}

/// The parts that logs of `waiting` name in the blocks from `first` up to and including `last`.
/// In as many requests as [`crate::Limits::log_blocks`] asks for; shorter stretches where nodes
/// refuse that many, then and in later slots until they answer again, as long as [`crate::Limits::log_requests`] allows.
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

/// Pools that emit their logs themselves share a filter, and so do those that a manager names: the
/// second topic means another thing there. No filter names more than [`MAX_NAMED`].
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

/// A pool's place in the plan, and the parts that one of its logs names, or what is wrong with that log.
type OfPool = (usize, Result<Vec<i32>, RpcError>);

impl Named {
    fn add(&mut self, logs: Vec<OfPool>) {
        for (place, parts) in logs {
            match parts {
                Ok(parts) => self.changed.entry(place).or_default().extend(parts),
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
        // Wide enough to come to the end, also where nodes refused that lately: else it would never be tried again.
        let whole = (last.number + 1).saturating_sub(first);
        let mut stretch = rpc.most_of(Measure::TickBlocks).max(whole.div_ceil(most)).max(1);
        let (mut requests, mut splits) = (0, 0);
        let mut waiting = vec![(self, first)];
        while let Some((together, from)) = waiting.pop() {
            if from > last.number {
                continue;
            }
            let to = last.number.min(from.saturating_add(stretch - 1));
            requests += 1;
            match together.request(rpc, from, to, last, deadline).await {
                Ok(more) => {
                    named.add(more);
                    waiting.push((together, to + 1));
                }
                Err(failure) if failure.may_narrow() && to > from => {
                    stretch = (to - from).div_ceil(2);
                    let left = (last.number - from + 1).div_ceil(stretch);
                    if requests + left > most {
                        return Err(failure);
                    }
                    waiting.push((together, from));
                }
                // One pool may have more in a block than a node serves: the others are read without it.
                Err(failure) if failure.is_about_size() && splits < MAX_SPLITS => {
                    (splits, requests) = (splits + 1, requests - 1);
                    match together.halves() {
                        Ok([first, second]) => waiting.extend([(second, from), (first, from)]),
                        Err(alone) => {
                            let places = alone.pools.values().map(|(place, ..)| *place);
                            named
                                .unread
                                .extend(places.map(|place| (place, failure.detail.clone())));
                        }
                    }
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// Both halves of pools that are more than one.
    fn halves(mut self) -> Result<[Self; 2], Self> {
        let middle = self.pools.keys().nth(self.pools.len() / 2).copied();
        match middle.filter(|_| self.pools.len() > 1) {
            Some(middle) => {
                let second = Together { pools: self.pools.split_off(&middle) };
                Ok([self, second])
            }
            None => Err(self),
        }
    }

    async fn request(
        &self,
        rpc: &Rpc,
        from: u64,
        to: u64,
        last: BlockRef,
        deadline: Instant,
    ) -> Result<Vec<OfPool>, Failure> {
        let params = json!([self.filter(from, to)]);
        let decode = |raw: &_| -> Result<Vec<OfPool>, RpcError> {
            let logs: Vec<Log> = value(raw)?;
            let named = logs.iter().map(|log| self.parts_of_log(log, from, to, last));
            named.filter_map(Result::transpose).collect()
        };
        let weight = Weight { of: Measure::TickBlocks, amount: to - from + 1 };
        // A node that lags behind the slot's block has its logs soon.
        let manner = Manner { weight: Some(weight), narrows: to > from, ..Manner::PATIENT };
        rpc.request_in(manner, "eth_getLogs", &params, deadline, decode).await
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

    /// The pool and the parts of a log, if it is one of those asked for; `None` where the event is
    /// one that only another pool's kind has.
    fn parts_of_log(
        &self,
        log: &Log,
        from: u64,
        to: u64,
        last: BlockRef,
    ) -> Result<Option<OfPool>, RpcError> {
        let emitter = own(log.address());
        let id = || Some(Word(log.topics().get(1)?.0));
        let of = |id| self.pools.get(&(emitter, id));
        let Some((place, watch, followed)) = of(None).or_else(|| of(id())) else {
            return Err(contradiction("a log's address", "one of the requested pools", emitter));
        };
        if log.removed {
            return Err(contradiction("a log's removed flag", false, true));
        }
        let number = log.block_number.unwrap_or(0);
        if !(from..=to).contains(&number) {
            return Err(contradiction("a log's block", format!("from {from} to {to}"), number));
        }
        let hash = log.block_hash.unwrap_or_default();
        if number == last.number && hash.0 != last.hash.0 {
            return Err(contradiction("a log's block hash", last.hash, hash));
        }
        let event = log.topics().first();
        if event.is_some_and(|event| watch.events.contains(event)) {
            return Ok(Some((*place, followed.named_by(log))));
        }
        let known = |event| self.pools.values().any(|(_, watch, _)| watch.events.contains(event));
        if event.is_some_and(known) {
            return Ok(None);
        }
        Err(contradiction("a log's topics", "a requested event", log.topics().len()))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use alloy::primitives::{B256, Bytes, LogData};
    use exitgap_core::ids::{BlockHash, PoolId};

    use super::*;
    use crate::abi::{Answer, Call};
    use crate::read_failure::ReadFailure;
    use crate::trial_node::{Reply, TrialNode, rpc, short_limits};

    const POOL: Address = Address([8; 20]);
    const MANAGER: Address = Address([9; 20]);
    const ID: Word = Word([7; 32]);
    const OWN: B256 = B256::repeat_byte(1);
    const OF_MANAGER: B256 = B256::repeat_byte(2);
    const LAST: BlockRef = BlockRef { hash: BlockHash([2; 32]), number: 20, timestamp: 1 };

    /// A pool whose every log names this part.
    pub(in crate::reader) struct Names(pub(in crate::reader) Watch, pub(in crate::reader) i32);

    impl PartReader for Names {
        fn watch(&self) -> Watch {
            self.0.clone()
        }
        fn named_by(&self, log: &Log) -> Result<Vec<i32>, RpcError> {
            match log.topics() {
                [_, garbled] if *garbled == OF_MANAGER => Err(contradiction("a log's tick", 1, 2)),
                _ => Ok(vec![self.1]),
            }
        }
        fn part_calls(&self, _: &[i32]) -> Vec<Call> {
            Vec::new()
        }
        fn decode_parts(
            &self,
            _: &PoolId,
            _: &[i32],
            _: &[Answer],
        ) -> Result<Vec<(i32, Option<crate::pools::Part>)>, ReadFailure> {
            Ok(Vec::new())
        }
        fn index_calls(&self) -> Vec<Call> {
            Vec::new()
        }
        fn decode_index(&self, _: &PoolId, _: &[Answer]) -> Result<Vec<i32>, ReadFailure> {
            Ok(Vec::new())
        }
    }

    fn log(emitter: Address, topics: Vec<B256>) -> Log {
        let data = LogData::new_unchecked(topics, Bytes::new());
        Log {
            inner: alloy::primitives::Log { address: crate::abi::wire(emitter), data },
            block_number: Some(20),
            block_hash: Some(B256::repeat_byte(2)),
            ..Log::default()
        }
    }

    #[test]
    fn a_filter_names_no_more_than_nodes_take() {
        let of = |n: usize, id: bool| {
            let mut bytes = [0; 20];
            bytes[..8].copy_from_slice(&(n as u64).to_be_bytes());
            let id = id.then(|| Word([u8::try_from(n % 256).unwrap(); 32]));
            Names(Watch { emitter: Address(bytes), events: vec![OWN], id }, 0)
        };
        let pools: Vec<Names> = (0..=2 * MAX_NAMED).map(|n| of(n, n == 0)).collect();
        let waiting =
            pools.iter().enumerate().map(|(place, pool)| (place, pool as &dyn PartReader));
        let filters = by_filter(&waiting.collect());
        let named = |together: &Together<'_>| together.pools.len();
        assert_eq!(filters.iter().map(named).collect::<Vec<_>>(), [MAX_NAMED, MAX_NAMED, 1]);
    }

    #[test]
    fn a_log_is_a_pools_or_is_refused() {
        let own = Names(Watch { emitter: POOL, events: vec![OWN], id: None }, 5);
        let (events, id) = (vec![OF_MANAGER], Some(ID));
        let managed = Names(Watch { emitter: MANAGER, events, id }, 6);
        let waiting: PartReaders<'_> =
            BTreeMap::from([(0, &own as &dyn PartReader), (3, &managed)]);
        let [by_address, by_id] = &by_filter(&waiting)[..] else { panic!("two filters") };
        assert_eq!(by_address.filter(1, 2)["topics"], json!([[OWN]]));
        assert_eq!(by_id.filter(1, 2)["topics"], json!([[OF_MANAGER], [ID.to_string()]]));
        assert_eq!(by_id.filter(1, 2)["address"], json!([MANAGER.to_string()]));

        let good = log(POOL, vec![OWN, B256::ZERO]);
        assert_eq!(by_address.parts_of_log(&good, 11, 20, LAST), Ok(Some((0, Ok(vec![5])))));
        let of_id = log(MANAGER, vec![OF_MANAGER, B256::from(ID.0)]);
        assert_eq!(by_id.parts_of_log(&of_id, 11, 20, LAST), Ok(Some((3, Ok(vec![6])))));

        let what =
            |together: &Together<'_>, log: &Log| match together.parts_of_log(log, 11, 20, LAST) {
                Err(RpcError::Contradiction { what, .. }) => what,
                other => panic!("{other:?}"),
            };
        let changed = |change: fn(&mut Log)| {
            let mut log = log(POOL, vec![OWN, B256::ZERO]);
            change(&mut log);
            what(by_address, &log)
        };
        assert_eq!(changed(|log| log.removed = true), "a log's removed flag");
        assert_eq!(changed(|log| log.block_number = Some(21)), "a log's block");
        assert_eq!(changed(|log| log.block_number = None), "a log's block");
        assert_eq!(changed(|log| log.block_hash = None), "a log's block hash");
        assert_eq!(what(by_address, &log(MANAGER, vec![OWN])), "a log's address");
        assert_eq!(what(by_address, &log(POOL, vec![OF_MANAGER])), "a log's topics");
        assert_eq!(what(by_id, &log(MANAGER, vec![OF_MANAGER, OWN])), "a log's address");
    }

    const OTHER: Address = Address([10; 20]);

    fn own_pools() -> [Names; 2] {
        [(POOL, 5), (OTHER, 6)]
            .map(|(emitter, part)| Names(Watch { emitter, events: vec![OWN], id: None }, part))
    }

    async fn parts_of_log(rpc: &Rpc, first: u64) -> Result<Named, Failure> {
        let pools = own_pools();
        let waiting =
            pools.iter().enumerate().map(|(place, pool)| (place, pool as &dyn PartReader));
        let deadline = Instant::now() + core::time::Duration::from_secs(20);
        changed_parts(rpc, &waiting.collect(), first, LAST, deadline).await
    }

    fn in_wire(log: &Log) -> Value {
        serde_json::to_value(log).unwrap()
    }

    #[tokio::test]
    async fn one_pools_garbled_log_leaves_the_other_pool_known() {
        let garbled = in_wire(&log(POOL, vec![OWN, OF_MANAGER]));
        let good = in_wire(&log(OTHER, vec![OWN, B256::ZERO]));
        let node = TrialNode::start(move |_| Reply::Result(json!([garbled, good, garbled])));
        let named = parts_of_log(&rpc(&[&node], short_limits()), 11).await.unwrap();
        assert_eq!(named.changed, ChangedParts::from([(1, BTreeSet::from([6]))]));
        assert!(named.unread[&0].contains("a log's tick"), "{:?}", named.unread);
        assert_eq!(named.unread.len(), 1);
    }

    #[tokio::test]
    async fn a_pool_with_more_logs_in_a_block_than_a_node_serves_holds_up_no_other() {
        let good = in_wire(&log(OTHER, vec![OWN, B256::ZERO]));
        let node = TrialNode::start(move |request| {
            let named = request["params"][0]["address"].as_array().unwrap();
            if named.contains(&json!(POOL.to_string())) {
                return Reply::Error(json!({ "code": -32_008, "message": "Response is too big" }));
            }
            Reply::Result(json!([good]))
        });
        let named = parts_of_log(&rpc(&[&node], short_limits()), 20).await.unwrap();
        assert_eq!(named.changed, ChangedParts::from([(1, BTreeSet::from([6]))]));
        assert_eq!(named.unread.into_keys().collect::<Vec<_>>(), [0]);
    }

    #[tokio::test]
    async fn logs_that_were_refused_for_a_while_are_asked_for_again() {
        let is_out = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let out = is_out.clone();
        let node = TrialNode::start(move |_| {
            if out.load(std::sync::atomic::Ordering::SeqCst) {
                let message = "exceed maximum block range: 1";
                return Reply::Error(json!({ "code": -32_000, "message": message }));
            }
            Reply::Result(json!([]))
        });
        let rpc = rpc(&[&node], short_limits());
        for _ in 0..5 {
            assert!(parts_of_log(&rpc, 1).await.unwrap_err().is_about_size());
        }
        assert!(rpc.most_of(Measure::TickBlocks) < 3, "the control: it was lowered");
        is_out.store(false, std::sync::atomic::Ordering::SeqCst);
        let before = node.asked("eth_getLogs").len();
        parts_of_log(&rpc, 1).await.unwrap();
        assert!(node.asked("eth_getLogs").len() - before <= 8);
        for _ in 0..6 {
            parts_of_log(&rpc, 1).await.unwrap();
        }
        assert!(rpc.most_of(Measure::TickBlocks) >= 20, "{}", rpc.most_of(Measure::TickBlocks));
        let before = node.asked("eth_getLogs").len();
        parts_of_log(&rpc, 1).await.unwrap();
        assert_eq!(node.asked("eth_getLogs").len() - before, 1);
    }
}
