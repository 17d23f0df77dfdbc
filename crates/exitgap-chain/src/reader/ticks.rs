//! The ticks a reader remembers, what brings them up to date, and reading them in full.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::ids::Address;
use exitgap_core::pools::{Concentrated, ConcentratedError, PoolState, Tick};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{BlockRef, Snapshot};
use tokio::time::Instant;

use crate::abi::Call;
use crate::blocks;
use crate::events::{Event, Events, FullReadCause};
use crate::limits::Limits;
use crate::missing::Missing;
use crate::multicall::Multicall;
use crate::pools::{concentrated, logs};
use crate::rpc::Rpc;

/// A pool's ticks as they stood at a block.
#[derive(Debug, Clone)]
pub(super) struct TickMemory {
    pub(super) at: BlockRef,
    /// All initialised ticks, by their index.
    pub(super) ticks: BTreeMap<i32, Tick>,
    /// The slot from which on they are read in full again.
    pub(super) full_from: u32,
    /// The slot they were last read in full at; `None` where another process did, or outside the
    /// series.
    pub(super) full_at: Option<Slot>,
}

/// What is known, before reading, of the ticks that changed since they were remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reread {
    /// Only these have to be read again.
    Again(BTreeSet<i32>),
    /// All have to be read; the cause is worth a report.
    Full(FullReadCause),
    /// Two nodes gave different logs of the pool: it cannot be told what changed.
    Disagreed(String),
}

/// The slot at which the pool of this place among `pools` is next read in full after `slot`: pools
/// take turns over the whole interval, so that no slot has to read them all.
pub(super) fn next_full(slot: Slot, place: usize, pools: usize, every: u32) -> u32 {
    let every = every.max(1);
    let turn = u32::try_from(place * every as usize / pools.max(1)).unwrap_or(0);
    let now = slot.number();
    let since_turn = (now + every - turn % every) % every;
    now + every - since_turn
}

impl TickMemory {
    /// The ticks of a snapshot that another process recorded, to be compared as soon as may be.
    pub(super) fn of_snapshot(snapshot: &Snapshot) -> Option<Self> {
        let observation = snapshot.observation();
        let PoolState::Concentrated(pool) = observation.state() else { return None };
        let ticks = pool.ticks().iter().map(|tick| (tick.tick, *tick)).collect();
        Some(Self { at: observation.block(), ticks, full_from: 0, full_at: None })
    }

    /// Whether the next full reading may wait until the slot after this one.
    pub(super) fn may_wait(&self, slot: Slot, limits: &Limits) -> bool {
        self.full_at.is_some_and(|full_at| {
            slot.number() < full_at.number().saturating_add(limits.full_read_slots_most)
        })
    }

    /// These ticks with those read again in their place, ascending.
    pub(super) fn updated(&self, again: &[(i32, Option<Tick>)]) -> Vec<Tick> {
        let mut ticks = self.ticks.clone();
        for (tick, now) in again {
            match now {
                Some(now) => ticks.insert(*tick, *now),
                None => ticks.remove(tick),
            };
        }
        ticks.into_values().collect()
    }
}

/// How two sets of ticks differ: how many, and the lowest.
pub(super) fn difference(kept: &[Tick], full: &[Tick]) -> Option<(usize, i32)> {
    let by_tick = |ticks: &[Tick]| -> BTreeMap<i32, Tick> {
        ticks.iter().map(|tick| (tick.tick, *tick)).collect()
    };
    let (kept, full) = (by_tick(kept), by_tick(full));
    let all: BTreeSet<i32> = kept.keys().chain(full.keys()).copied().collect();
    let mut differing = all.into_iter().filter(|tick| kept.get(tick) != full.get(tick));
    let first = differing.next()?;
    Some((1 + differing.count(), first))
}

/// Plans how to bring the ticks of each pool (remembered at `at`) up to `block`.
///
/// A second node is asked for the same logs; the pools of which the two do not tell the same have
/// no plan.
pub(super) async fn plan(
    rpc: &Rpc,
    second: Option<&Rpc>,
    events: &mut Events,
    remembered: &BTreeMap<Address, BlockRef>,
    block: BlockRef,
    deadline: Instant,
) -> BTreeMap<Address, Reread> {
    let limits = rpc.limits();
    let furthest = limits.log_blocks.saturating_mul(limits.log_requests);
    let mut plans = BTreeMap::new();
    let mut by_block: BTreeMap<u64, Vec<(Address, BlockRef)>> = BTreeMap::new();
    for (pool, at) in remembered {
        if *at == block {
            plans.insert(*pool, Reread::Again(BTreeSet::new()));
        } else if at.number < block.number && block.number - at.number <= furthest {
            by_block.entry(at.number).or_default().push((*pool, *at));
        } else {
            let reorganised = at.number == block.number;
            let cause =
                if reorganised { FullReadCause::Reorganised } else { FullReadCause::TooFar };
            plans.insert(*pool, Reread::Full(cause));
        }
    }
    let waiting: BTreeSet<Address> = by_block.values().flatten().map(|(pool, _)| *pool).collect();
    let Some(first) = by_block.keys().next().map(|number| number + 1) else {
        return plans;
    };
    let changed = logs::changed_ticks(rpc, &waiting, first, block, deadline).await;
    let mut changed = match changed {
        Ok(changed) => changed,
        Err(failure) => {
            let cause = FullReadCause::NoLogs(failure.detail);
            plans.extend(waiting.into_iter().map(|pool| (pool, Reread::Full(cause.clone()))));
            return plans;
        }
    };
    if let Some(second) = second {
        let until = second_deadline(deadline);
        match logs::changed_ticks(second, &waiting, first, block, until).await {
            Ok(others) => {
                for pool in &waiting {
                    let (ours, theirs) = (changed.get(pool), others.get(pool));
                    if ours != theirs {
                        let detail = in_words(*pool, ours, theirs);
                        plans.insert(*pool, Reread::Disagreed(detail));
                    }
                }
            }
            Err(failure) => {
                events.report(Event::NotCompared { what: "logs", detail: failure.detail });
            }
        }
    }
    // Asked after the logs: had the chain turned in between, they would be of two histories.
    for (number, pools) in by_block {
        let canonical = blocks::canonical_hash(rpc, number, deadline).await;
        for (pool, at) in pools {
            let plan = match &canonical {
                Ok(hash) if *hash == at.hash => {
                    Reread::Again(changed.remove(&pool).unwrap_or_default())
                }
                Ok(_) => Reread::Full(FullReadCause::Reorganised),
                Err(failure) => Reread::Full(FullReadCause::NoLogs(failure.detail.clone())),
            };
            plans.entry(pool).or_insert(plan);
        }
    }
    plans
}

/// Until when a second node is asked: it must not use up the time that reading takes.
pub(super) fn second_deadline(deadline: Instant) -> Instant {
    let now = Instant::now();
    now + deadline.saturating_duration_since(now) / 4
}

/// What two nodes told of a pool.
fn in_words(pool: Address, ours: Option<&BTreeSet<i32>>, theirs: Option<&BTreeSet<i32>>) -> String {
    let none = BTreeSet::new();
    let (ours, theirs) = (ours.unwrap_or(&none), theirs.unwrap_or(&none));
    let first = ours.symmetric_difference(theirs).next().copied().unwrap_or_default();
    format!(
        "pool {pool}: the logs of the node name {} ticks and those of the second node {}; tick \
         {first} is named by one of them alone",
        ours.len(),
        theirs.len()
    )
}

/// A pool whose ticks are to be read in full.
#[derive(Debug, Clone, Copy)]
pub(super) struct FullRead {
    pub(super) pool: Address,
    pub(super) tick_spacing: i32,
}

/// Calls of pools that are read together. Enough to fill the requests in flight; few enough that
/// a deadline that passes loses little.
const CALLS_TOGETHER: usize = 16_000;

/// Reads all initialised ticks of these pools, in their order.
pub(super) async fn read_in_full(
    multicall: &Multicall<'_>,
    pools: &[FullRead],
) -> Vec<Result<Vec<Tick>, Missing>> {
    let mut results = Vec::with_capacity(pools.len());
    let mut rest = pools;
    while !rest.is_empty() {
        let mut calls = 0;
        let count = rest
            .iter()
            .take_while(|read| {
                calls += concentrated::words(read.tick_spacing).count();
                calls <= CALLS_TOGETHER
            })
            .count()
            .max(1);
        let (group, later) = rest.split_at(count);
        rest = later;
        match read_group(multicall, group).await {
            Ok(ticks) => results.extend(ticks),
            Err(failure) => {
                // The nodes fail: asking them for the other pools would fail as well.
                let missing = Missing::from(failure);
                results.resize(pools.len(), Err(missing));
                break;
            }
        }
    }
    results
}

async fn read_group(
    multicall: &Multicall<'_>,
    pools: &[FullRead],
) -> Result<Vec<Result<Vec<Tick>, Missing>>, crate::rpc::Failure> {
    let calls: Vec<Call> = pools
        .iter()
        .flat_map(|read| {
            concentrated::words(read.tick_spacing)
                .map(|word| concentrated::word_call(read.pool, word))
        })
        .collect();
    let words = multicall.read(&calls).await?;
    let mut answers = words.iter();
    let initialised: Vec<Result<Vec<i32>, Missing>> = pools
        .iter()
        .map(|read| {
            let words = concentrated::words(read.tick_spacing);
            let here: Vec<_> = words.clone().zip(answers.by_ref().take(words.count())).collect();
            let mut ticks = Vec::new();
            for (word, answer) in here {
                ticks.extend(concentrated::ticks_of_word(
                    read.pool,
                    word,
                    read.tick_spacing,
                    answer,
                )?);
            }
            within_bound(read.pool, ticks)
        })
        .collect();
    let calls: Vec<Call> = pools
        .iter()
        .zip(&initialised)
        .flat_map(|(read, ticks)| {
            ticks.iter().flatten().map(|tick| concentrated::tick_call(read.pool, *tick))
        })
        .collect();
    let answers = multicall.read(&calls).await?;
    let mut answers = answers.iter();
    Ok(pools
        .iter()
        .zip(initialised)
        .map(|(read, ticks)| {
            let ticks = ticks?;
            let here: Vec<_> = answers.by_ref().take(ticks.len()).collect();
            ticks
                .into_iter()
                .zip(here)
                .map(|(tick, answer)| {
                    concentrated::decode_tick(read.pool, tick, answer)?.ok_or_else(|| {
                        let detail = format!(
                            "pool {}: tick {tick} is set in the bitmap and not initialised",
                            read.pool
                        );
                        Missing::new(MissingReason::StateInconsistent, detail)
                    })
                })
                .collect()
        })
        .collect())
}

/// Refuses more ticks than core accepts before they are read one by one.
fn within_bound(pool: Address, ticks: Vec<i32>) -> Result<Vec<i32>, Missing> {
    let (found, most) = (ticks.len(), Concentrated::MAX_TICKS);
    if found <= most {
        return Ok(ticks);
    }
    let error = ConcentratedError::TooManyTicks { found, most };
    Err(Missing::new(MissingReason::StateInconsistent, format!("pool {pool}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pool_has_its_turn_once_per_interval() {
        let slot = Slot::FIRST;
        let turns: BTreeSet<u32> = (0..100).map(|place| next_full(slot, place, 100, 288)).collect();
        assert_eq!(turns.len(), 100);
        let range = slot.number() + 1..=slot.number() + 288;
        assert!(turns.iter().all(|turn| range.contains(turn)));
        for place in [0, 7, 99] {
            let turn = next_full(slot, place, 100, 288);
            let then = Slot::new(turn.into()).unwrap();
            assert_eq!(next_full(then, place, 100, 288), turn + 288);
        }
        assert_eq!(next_full(slot, 0, 1, 1), slot.number() + 1);
    }

    #[test]
    fn a_difference_is_counted_and_located() {
        let ticks = |list: &[(i32, i128)]| -> Vec<Tick> {
            list.iter().map(|&(tick, liquidity_net)| Tick::new(tick, liquidity_net)).collect()
        };
        let kept = ticks(&[(-10, 5), (0, 1), (10, -6)]);
        assert_eq!(difference(&kept, &kept), None);
        assert_eq!(difference(&kept, &ticks(&[(-10, 5), (10, -5), (20, 0)])), Some((3, 0)));
        let at = BlockRef { hash: exitgap_core::ids::BlockHash([0; 32]), number: 1, timestamp: 1 };
        let by_tick = kept.iter().map(|tick| (tick.tick, *tick)).collect();
        let memory = TickMemory { at, ticks: by_tick, full_from: 0, full_at: None };
        let again = [(0, None), (-10, Some(Tick::new(-10, 7))), (20, Some(Tick::new(20, -1)))];
        assert_eq!(memory.updated(&again), ticks(&[(-10, 7), (10, -6), (20, -1)]));
    }
}
