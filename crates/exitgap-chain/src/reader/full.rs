//! Full readings of parts within a pass: for which pools, and the comparison with the remembered parts.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::ids::PoolId;
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::BlockRef;
use tokio::time::Instant;

use super::follow::{Reread, difference};
use super::observe::{Pass, State};
use crate::abi::Call;
use crate::events::{Event, FullReadCause};
use crate::multicall::Multicall;
use crate::narrowing::halves;
use crate::pools::{PartReader, Parts};
use crate::read_failure::ReadFailure;
use crate::rpc::Failure;

impl Pass<'_> {
    /// The pools whose parts must be read in full. Reports those that are not due by schedule.
    pub(super) fn due_in_full(
        &mut self,
        block: BlockRef,
        states: &BTreeMap<usize, Result<State, ReadFailure>>,
        plans: &BTreeMap<usize, Reread>,
    ) -> BTreeSet<usize> {
        let mut due = BTreeSet::new();
        for (place, state) in states {
            let Ok(State::Unfinished { unfinished, kept }) = state else { continue };
            let cause = match (kept, plans.get(place)) {
                (_, Some(Reread::Full(cause))) => Some(cause.clone()),
                (Some(kept), _) => match unfinished.join(kept) {
                    Err(unjoined) if unjoined.about_parts => {
                        Some(FullReadCause::Unbalanced(unjoined.detail))
                    }
                    // No parts can complete this state, so reading them is useless.
                    Err(_) => continue,
                    Ok(_) => None,
                },
                (None, _) => None,
            };
            let in_turn = match (&self.memory[*place].parts, self.slot) {
                (Some(memory), Some(slot)) => slot.number() >= memory.full_from,
                _ => kept.is_none(),
            };
            if cause.is_some() || in_turn || kept.is_none() {
                due.insert(*place);
            }
            if let Some(cause) = cause {
                let id = self.pool(*place).id.clone();
                self.events.report(Event::ReadInFull { pool: id, block: block.number, cause });
            }
        }
        due
    }

    /// Reads the parts of these pools in full, and compares them with remembered ones. Returns the pools that were
    /// read.
    pub(super) async fn read_parts(
        &mut self,
        multicall: &Multicall<'_>,
        due: &BTreeSet<usize>,
        states: &mut BTreeMap<usize, Result<State, ReadFailure>>,
    ) -> BTreeSet<usize> {
        let unfinished =
            |place: &&usize| matches!(states.get(*place), Some(Ok(State::Unfinished { .. })));
        let (places, reads): (Vec<usize>, Vec<FullRead<'_>>) = due
            .iter()
            .filter(unfinished)
            .filter_map(|place| {
                let followed = self.part_reader(*place)?;
                Some((*place, FullRead { pool: &self.pool(*place).id, followed }))
            })
            .unzip();
        let full = read_in_full(multicall, &reads).await;
        let schedule = self.schedule();
        let mut fresh = BTreeSet::new();
        for (place, full) in places.into_iter().zip(full) {
            let Some(Ok(State::Unfinished { unfinished, kept })) = states.get_mut(&place) else {
                continue;
            };
            let balanced = kept.as_ref().is_some_and(|kept| unfinished.join(kept).is_ok());
            let remembered = self.memory[place].parts.as_ref();
            let good_until = remembered.and_then(|parts| parts.full_at);
            let may_wait = self
                .slot
                .zip(remembered)
                .is_none_or(|(slot, parts)| schedule.may_wait(slot, parts.full_at));
            match full {
                Ok(full) => {
                    let before = kept.replace(full.clone());
                    let difference = before.and_then(|before| difference(&before, &full));
                    if let Some((differing, first_tick)) = difference {
                        self.events.report(Event::TicksDiffer {
                            pool: self.plan.pools()[place].id.clone(),
                            block: multicall.block().number,
                            differing,
                            first_tick,
                            good_until,
                        });
                    }
                    fresh.insert(place);
                }
                // The comparison can wait for the next slot, because the remembered parts are consistent.
                Err(missing) if balanced && may_wait => {
                    tracing::warn!(%missing, "a comparison of ticks was postponed");
                }
                Err(missing) => {
                    states.insert(place, Err(missing));
                }
            }
        }
        fresh
    }
}

/// A pool whose parts must be read in full.
struct FullRead<'a> {
    pool: &'a PoolId,
    followed: &'a dyn PartReader,
}

/// The number of calls of pools that are read together. Enough to fill the parallel requests, and few enough that
/// little is lost if the deadline passes.
const CALLS_TOGETHER: usize = 16_000;

/// Pools that may fail one by one before any is read: then the nodes fail, and not the pools.
const MAX_FAILED: usize = 4;

/// Reads all parts of these pools, in order. Where pools that are read together fail, each half is read by itself, down
/// to the pool that fails: only that one is missing. Each reading may take half of the time that is left.
async fn read_in_full(
    multicall: &Multicall<'_>,
    pools: &[FullRead<'_>],
) -> Vec<Result<Parts, ReadFailure>> {
    let mut results = Vec::with_capacity(pools.len());
    let mut waiting = groups(pools.iter().map(|read| (read, read.followed.index_calls())));
    waiting.reverse();
    let (mut failed, mut is_any_read) = (0, false);
    while let Some(group) = waiting.pop() {
        let now = Instant::now();
        let left = multicall.deadline().saturating_duration_since(now);
        let is_last = group.len() == 1 && waiting.is_empty();
        let share = if is_last { left } else { left / 2 };
        let failure = match read_group(&multicall.until(now + share), &group).await {
            Ok(parts) => {
                is_any_read |= parts.iter().any(Result::is_ok);
                results.extend(parts);
                continue;
            }
            Err(failure) => failure,
        };
        match halves(group) {
            Ok([first, second]) if Instant::now() < multicall.deadline() => {
                waiting.extend([second, first]);
                continue;
            }
            Ok(both) => results.extend(both.iter().flatten().map(|_| Err(failure.clone().into()))),
            Err(_) => results.push(Err(failure.clone().into())),
        }
        failed += 1;
        if !is_any_read && failed >= MAX_FAILED {
            results.resize(pools.len(), Err(failure.into()));
            break;
        }
    }
    results
}

/// A pool, and the calls that find out which parts it has.
type IndexedRead<'a> = (&'a FullRead<'a>, Vec<Call>);

/// Pools that are read together, in their order.
fn groups<'a>(pools: impl Iterator<Item = IndexedRead<'a>>) -> Vec<Vec<IndexedRead<'a>>> {
    let mut groups: Vec<Vec<IndexedRead<'a>>> = Vec::new();
    let mut calls = 0;
    for read in pools {
        calls += read.1.len();
        match groups.last_mut() {
            Some(group) if calls <= CALLS_TOGETHER => group.push(read),
            _ => {
                calls = read.1.len();
                groups.push(vec![read]);
            }
        }
    }
    groups
}

async fn read_group(
    multicall: &Multicall<'_>,
    pools: &[IndexedRead<'_>],
) -> Result<Vec<Result<Parts, ReadFailure>>, Failure> {
    let calls: Vec<Call> = pools.iter().flat_map(|(_, index)| index).cloned().collect();
    let answers = multicall.read_calls(&calls).await?;
    let mut answers = &answers[..];
    let mut listed = Vec::with_capacity(pools.len());
    for (read, index) in pools {
        let (own, rest) = answers.split_at(index.len());
        answers = rest;
        listed.push(read.followed.decode_index(read.pool, own));
    }
    let calls: Vec<Vec<Call>> = pools
        .iter()
        .zip(&listed)
        .map(|((read, _), parts)| match parts {
            Ok(parts) => read.followed.part_calls(parts),
            Err(_) => Vec::new(),
        })
        .collect();
    let answers = multicall.read_calls(&calls.concat()).await?;
    let mut answers = &answers[..];
    let mut results = Vec::with_capacity(pools.len());
    for (((read, _), listed), calls) in pools.iter().zip(listed).zip(calls) {
        let (own, rest) = answers.split_at(calls.len());
        answers = rest;
        let parts = listed.and_then(|parts| read.followed.decode_parts(read.pool, &parts, own));
        results.push(parts.and_then(|parts| all_there(read.pool, parts)));
    }
    Ok(results)
}

/// Requires that every listed part exists.
fn all_there(
    pool: &PoolId,
    parts: Vec<(i32, Option<crate::pools::Part>)>,
) -> Result<Parts, ReadFailure> {
    let there = |(key, part): (i32, Option<_>)| {
        let missing = || {
            let detail = format!("pool {pool}: {key} is set in the bitmap but not initialised");
            ReadFailure::new(MissingReason::StateInconsistent, detail)
        };
        Ok((key, part.ok_or_else(missing)?))
    };
    parts.into_iter().map(there).collect()
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use alloy::primitives::Bytes;
    use alloy_rpc_types_eth::Log;
    use exitgap_core::ids::Address;
    use serde_json::json;

    use super::*;
    use crate::Limits;
    use crate::abi::Answer;
    use crate::multicall::tests::{BLOCK, aggregated};
    use crate::pools::{Part, Watch};
    use crate::rpc::{Rpc, RpcError};
    use crate::trial_node::{Reply, TrialNode, plan, short_limits};

    /// A pool that says itself which parts it has: none.
    struct Lists(Address);

    impl PartReader for Lists {
        fn watch(&self) -> Watch {
            Watch { emitter: self.0, events: Vec::new(), id: None }
        }
        fn named_by(&self, _: &Log) -> Result<Vec<i32>, RpcError> {
            Ok(Vec::new())
        }
        fn part_calls(&self, _: &[i32]) -> Vec<Call> {
            Vec::new()
        }
        fn decode_parts(
            &self,
            _: &PoolId,
            _: &[i32],
            _: &[Answer],
        ) -> Result<Vec<(i32, Option<Part>)>, ReadFailure> {
            Ok(Vec::new())
        }
        fn index_calls(&self) -> Vec<Call> {
            vec![Call { target: self.0, data: Bytes::from_static(&[1]), answer_bytes: 32 }]
        }
        fn decode_index(&self, _: &PoolId, answers: &[Answer]) -> Result<Vec<i32>, ReadFailure> {
            match answers {
                [Answer::Returned(_)] => Ok(Vec::new()),
                _ => Err(ReadFailure::new(MissingReason::CallReverted, "refused")),
            }
        }
    }

    /// Which of eight pools are read by a node that treats requests with the calls of some of them so, and how many requests
    /// that took.
    async fn read_by(guilty: &'static [u8], reply: &'static Reply) -> (Vec<bool>, usize) {
        let node = TrialNode::start(move |request| {
            let data = request["params"][0]["data"].as_str().unwrap();
            let has =
                |pool: &u8| data.contains(&format!("{:0>64}", format!("{pool:02x}").repeat(20)));
            if guilty.iter().any(has) {
                reply.clone()
            } else {
                Reply::Result(aggregated(request).1)
            }
        });
        let plan = plan(&[&node]).into_chains().remove(0);
        let limits = Limits { request_timeout: Duration::from_millis(400), ..short_limits() };
        let rpc = Rpc::new(&plan, limits).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        let multicall = Multicall::new(&rpc, &plan, BLOCK, deadline);
        let lists: Vec<Lists> = (1..=8).map(|pool| Lists(Address([pool; 20]))).collect();
        let ids: Vec<PoolId> =
            lists.iter().map(|list| PoolId::new("anvil".parse().unwrap(), list.0)).collect();
        let pools: Vec<FullRead<'_>> =
            ids.iter().zip(&lists).map(|(pool, followed)| FullRead { pool, followed }).collect();
        let read = read_in_full(&multicall, &pools).await;
        (read.iter().map(Result::is_ok).collect(), node.asked("eth_call").len())
    }

    #[tokio::test]
    async fn a_pool_that_fails_is_missing_alone() {
        const GUILTY: [&[u8]; 4] = [&[1], &[4], &[8], &[3, 6]];
        // An answer that no contract gives, and none at all.
        static NOTHING: std::sync::LazyLock<Reply> =
            std::sync::LazyLock::new(|| Reply::Result(json!("0x")));
        static HANGS: Reply = Reply::Hang(Duration::from_secs(2));
        for reply in [&*NOTHING, &HANGS] {
            for guilty in GUILTY {
                let (read, asked) = read_by(guilty, reply).await;
                let expected: Vec<bool> = (1..=8).map(|pool| !guilty.contains(&pool)).collect();
                assert_eq!(read, expected, "{guilty:?} {reply:?}");
                assert!(asked > 1, "the control: it fired");
            }
        }
        // Nodes that fail at all pools are given up.
        let (read, asked) = read_by(&[1, 2, 3, 4, 5, 6, 7, 8], &NOTHING).await;
        assert_eq!(read, [false; 8]);
        assert!(asked <= 3 * 10, "{asked}");
    }
}
