//! The ticks a reader remembers, and what brings them up to date: the logs since.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::ids::Address;
use exitgap_core::pools::{Concentrated, Tick};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{BlockRef, Snapshot};
use tokio::time::Instant;

use super::schedule::second_deadline;
use crate::blocks;
use crate::events::{Event, Events, FullReadCause};
use crate::pools::concentrated::logs;
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

impl TickMemory {
    /// The ticks of a snapshot that another process recorded, to be compared as soon as may be.
    pub(super) fn of_snapshot(snapshot: &Snapshot) -> Option<Self> {
        let observation = snapshot.observation();
        let pool = Concentrated::of(observation.state())?;
        Some(Self::of(pool, observation.block(), 0, None))
    }

    /// The ticks of a pool at a block.
    pub(super) fn of(
        pool: &Concentrated,
        at: BlockRef,
        full_from: u32,
        full_at: Option<Slot>,
    ) -> Self {
        let ticks = pool.ticks().iter().map(|tick| (tick.tick, *tick)).collect();
        Self { at, ticks, full_from, full_at }
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

#[cfg(test)]
mod tests {
    use super::*;

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
