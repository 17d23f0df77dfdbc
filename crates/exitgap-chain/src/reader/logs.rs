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
use crate::rpc::{Failure, Rpc, RpcError, value};

/// Parts to read again, by the pool's place in the plan.
pub(super) type ChangedParts = BTreeMap<usize, BTreeSet<i32>>;

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
/// refuse that many, then and in later slots, as long as [`crate::Limits::log_requests`] allows.
pub(super) async fn changed_parts(
    rpc: &Rpc,
    waiting: &PartReaders<'_>,
    first: u64,
    last: BlockRef,
    deadline: Instant,
) -> Result<ChangedParts, Failure> {
    let mut changed = ChangedParts::new();
    for together in by_filter(waiting) {
        together.add_changed_parts(rpc, &mut changed, first, last, deadline).await?;
    }
    Ok(changed)
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

impl Together<'_> {
    async fn add_changed_parts(
        &self,
        rpc: &Rpc,
        changed: &mut ChangedParts,
        first: u64,
        last: BlockRef,
        deadline: Instant,
    ) -> Result<(), Failure> {
        let mut stretch = rpc.blocks_per_log_request();
        let (mut from, mut requests) = (first, 0);
        while from <= last.number {
            let to = last.number.min(from.saturating_add(stretch - 1));
            requests += 1;
            match self.request(rpc, from, to, last, deadline).await {
                Ok(more) => {
                    for (place, parts) in more {
                        changed.entry(place).or_default().extend(parts);
                    }
                    from = to + 1;
                }
                Err(failure) if failure.error.is_about_size() && to > from => {
                    stretch = rpc.ask_for_fewer_log_blocks((to - from).div_ceil(2));
                    let left = (last.number - from + 1).div_ceil(stretch);
                    if requests + left > rpc.limits().log_requests {
                        return Err(failure);
                    }
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    async fn request(
        &self,
        rpc: &Rpc,
        from: u64,
        to: u64,
        last: BlockRef,
        deadline: Instant,
    ) -> Result<Vec<(usize, Vec<i32>)>, Failure> {
        let params = json!([self.filter(from, to)]);
        let decode = |raw: &_| -> Result<Vec<(usize, Vec<i32>)>, RpcError> {
            let logs: Vec<Log> = value(raw)?;
            let named = logs.iter().map(|log| self.parts_of_log(log, from, to, last));
            named.filter_map(Result::transpose).collect()
        };
        rpc.request("eth_getLogs", &params, deadline, decode).await
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
    ) -> Result<Option<(usize, Vec<i32>)>, RpcError> {
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
            return Ok(Some((*place, followed.named_by(log)?)));
        }
        let known = |event| self.pools.values().any(|(_, watch, _)| watch.events.contains(event));
        if event.is_some_and(known) {
            return Ok(None);
        }
        Err(contradiction("a log's topics", "a requested event", log.topics().len()))
    }
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{B256, Bytes, LogData};
    use exitgap_core::ids::{BlockHash, PoolId};

    use super::*;
    use crate::abi::{Answer, Call};
    use crate::read_failure::ReadFailure;

    const POOL: Address = Address([8; 20]);
    const MANAGER: Address = Address([9; 20]);
    const ID: Word = Word([7; 32]);
    const OWN: B256 = B256::repeat_byte(1);
    const OF_MANAGER: B256 = B256::repeat_byte(2);
    const LAST: BlockRef = BlockRef { hash: BlockHash([2; 32]), number: 20, timestamp: 1 };

    /// A pool whose every log names this part.
    struct Names(Watch, i32);

    impl PartReader for Names {
        fn watch(&self) -> Watch {
            self.0.clone()
        }
        fn named_by(&self, _: &Log) -> Result<Vec<i32>, RpcError> {
            Ok(vec![self.1])
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
        assert_eq!(by_address.parts_of_log(&good, 11, 20, LAST), Ok(Some((0, vec![5]))));
        let of_id = log(MANAGER, vec![OF_MANAGER, B256::from(ID.0)]);
        assert_eq!(by_id.parts_of_log(&of_id, 11, 20, LAST), Ok(Some((3, vec![6]))));

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
}
