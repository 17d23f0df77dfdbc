//! The remembered parts of states, and their updates from the logs since then.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{BlockRef, Snapshot};
use tokio::time::Instant;

use super::logs::{self, Named, PartReaders};
use super::omitted::{AskedPool, AskedPools, LogsChecking, Omitted};
use crate::blocks;
use crate::config::LogsCheck;
use crate::events::{Event, Events, FullReadCause};
use crate::limits::{logs_deadline, second_deadline};
use crate::pools::{Part, PartReader, Parts, parts_of};
use crate::rpc::Rpc;

/// A pool's parts at a block.
#[derive(Debug, Clone)]
pub(super) struct PartMemory {
    pub(super) at: BlockRef,
    pub(super) parts: Parts,
    /// The slot from which on they must be read in full again.
    pub(super) full_from: u32,
    /// The slot of the last full reading; `None` if another process made it, or if it was outside the series.
    pub(super) full_at: Option<Slot>,
}

/// The parts that must be read again, determined before reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reread {
    /// Only these parts must be read again.
    Again(BTreeSet<i32>),
    /// All parts must be read; the cause is reported.
    Full(FullReadCause),
    /// Two nodes returned different logs of the pool, so the changed parts are unknown.
    Disagreed(String),
}

/// A pool with its remembered parts at a block.
pub(super) struct RememberedParts<'a> {
    pub(super) pool: &'a PoolId,
    pub(super) at: BlockRef,
    pub(super) followed: &'a dyn PartReader,
}

impl PartMemory {
    /// The parts of a snapshot that another process recorded. They are compared with a full reading as soon as
    /// possible.
    pub(super) fn of_snapshot(snapshot: &Snapshot) -> Option<Self> {
        let observation = snapshot.observation();
        let parts = parts_of(observation.state())?;
        Some(Self { at: observation.block(), parts, full_from: 0, full_at: None })
    }

    /// The remembered parts, with those that were read again replaced.
    pub(super) fn merge_parts(&self, again: Vec<(i32, Option<Part>)>) -> Parts {
        let mut parts = self.parts.clone();
        for (key, now) in again {
            match now {
                Some(now) => parts.insert(key, now),
                None => parts.remove(&key),
            };
        }
        parts
    }
}

/// The difference between two sets of parts: the number of differing parts, and the lowest.
pub(super) fn difference(kept: &Parts, full: &Parts) -> Option<(usize, i32)> {
    let all: BTreeSet<i32> = kept.keys().chain(full.keys()).copied().collect();
    let mut differing = all.into_iter().filter(|key| kept.get(key) != full.get(key));
    let first = differing.next()?;
    Some((1 + differing.count(), first))
}

/// Plans how to update the parts of each pool, by its index in the plan, to `block`.
///
/// A second node gets the same requests for logs. Pools for which the two nodes disagree have no plan. Then logs that the
/// nodes left out are looked for.
pub(super) async fn plan(
    rpc: &Rpc,
    second: Option<&Rpc>,
    events: &mut Events,
    (checking, by, slot): (&mut LogsChecking, LogsCheck, Option<Slot>),
    remembered: &BTreeMap<usize, RememberedParts<'_>>,
    block: BlockRef,
    deadline: Instant,
) -> BTreeMap<usize, Reread> {
    let limits = rpc.limits();
    let furthest = limits.log_blocks.saturating_mul(limits.log_requests);
    let mut plans = BTreeMap::new();
    let mut by_block: BTreeMap<u64, Vec<(usize, BlockRef)>> = BTreeMap::new();
    for (place, RememberedParts { at, .. }) in remembered {
        if *at == block {
            plans.insert(*place, Reread::Again(BTreeSet::new()));
        } else if at.number < block.number && block.number - at.number <= furthest {
            by_block.entry(at.number).or_default().push((*place, *at));
        } else {
            let reorganised = at.number == block.number;
            let cause =
                if reorganised { FullReadCause::Reorganised } else { FullReadCause::TooFar };
            plans.insert(*place, Reread::Full(cause));
        }
    }
    let waiting: PartReaders<'_> = by_block
        .values()
        .flatten()
        .map(|(place, _)| (*place, remembered[place].followed))
        .collect();
    let Some(first) = by_block.keys().next().map(|number| number + 1) else {
        return plans;
    };
    let named = logs::changed_parts(rpc, &waiting, first, block, logs_deadline(deadline)).await;
    let Named { mut changed, mut blocks, unread } = match named {
        Ok(named) => named,
        Err(failure) => {
            let cause = FullReadCause::NoLogs(failure.detail);
            plans.extend(waiting.into_keys().map(|place| (place, Reread::Full(cause.clone()))));
            return plans;
        }
    };
    plans.extend(unread.into_iter().map(|(place, why)| {
        // Problems with a pool's own logs do not affect other pools.
        (place, Reread::Full(FullReadCause::NoLogs(why)))
    }));
    if let Some(second) = second {
        let until = second_deadline(deadline);
        match logs::changed_parts(second, &waiting, first, block, until).await {
            Ok(others) => {
                for place in waiting.keys() {
                    if plans.contains_key(place) {
                        continue;
                    }
                    let (ours, theirs) = (changed.get(place), others.changed.get(place));
                    if let Some(detail) = others.unread.get(place) {
                        let detail = format!("pool {}: {detail}", remembered[place].pool);
                        events.report(Event::NotCompared { what: "logs", detail });
                    } else if ours != theirs {
                        let detail = in_words(remembered[place].pool, ours, theirs);
                        plans.insert(*place, Reread::Disagreed(detail));
                    }
                }
            }
            Err(failure) => {
                events.report(Event::NotCompared { what: "logs", detail: failure.detail });
            }
        }
    }
    if let Some(slot) = slot {
        let mut pools = AskedPools::new();
        for (place, pool) in remembered {
            if waiting.contains_key(place) && !plans.contains_key(place) {
                let (after, followed) = (pool.at.number, pool.followed);
                let blocks = blocks.remove(place).unwrap_or_default();
                let named = changed.get(place).cloned().unwrap_or_default();
                pools.insert(*place, AskedPool { after, followed, blocks, named });
            }
        }
        let until = second_deadline(deadline);
        let Omitted { suspected, proven } =
            checking.check(rpc, by, slot, &pools, block, until).await;
        for (place, (block, parts)) in proven {
            let pool = remembered[&place].pool.clone();
            events.report(Event::LogOmitted { pool, block });
            changed.entry(place).or_default().extend(parts);
        }
        plans.extend(
            suspected
                .into_iter()
                .map(|(place, block)| (place, Reread::Full(FullReadCause::NamedByBloom(block)))),
        );
    }
    // Checked after the logs: if the chain reorganised in between, the logs would belong to two histories.
    for (number, pools) in by_block {
        let canonical = blocks::canonical_hash(rpc, number, deadline).await;
        for (place, at) in pools {
            let plan = match &canonical {
                Ok(hash) if *hash == at.hash => {
                    Reread::Again(changed.remove(&place).unwrap_or_default())
                }
                Ok(_) => Reread::Full(FullReadCause::Reorganised),
                Err(failure) => Reread::Full(FullReadCause::NoLogs(failure.detail.clone())),
            };
            plans.entry(place).or_insert(plan);
        }
    }
    plans
}

/// The two nodes' answers about a pool.
fn in_words(pool: &PoolId, ours: Option<&BTreeSet<i32>>, theirs: Option<&BTreeSet<i32>>) -> String {
    let none = BTreeSet::new();
    let (ours, theirs) = (ours.unwrap_or(&none), theirs.unwrap_or(&none));
    let first = ours.symmetric_difference(theirs).next().copied().unwrap_or_default();
    format!(
        "pool {pool}: the node's logs have {} ticks and the second node's logs have {}; only one of them has tick \
         {first}",
        ours.len(),
        theirs.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_counted_and_located() {
        let parts = |list: &[(i32, u32)]| -> Parts {
            list.iter().map(|&(key, part)| (key, Part::from(part))).collect()
        };
        let kept = parts(&[(-10, 5), (0, 1), (10, 6)]);
        assert_eq!(difference(&kept, &kept), None);
        assert_eq!(difference(&kept, &parts(&[(-10, 5), (10, 5), (20, 0)])), Some((3, 0)));
        let at = BlockRef { hash: exitgap_core::ids::BlockHash([0; 32]), number: 1, timestamp: 1 };
        let memory = PartMemory { at, parts: kept, full_from: 0, full_at: None };
        let again = vec![(0, None), (-10, Some(Part::from(7))), (20, Some(Part::from(1)))];
        assert_eq!(memory.merge_parts(again), parts(&[(-10, 7), (10, 6), (20, 1)]));
    }

    #[tokio::test]
    async fn logs_that_hang_leave_the_time_of_a_full_reading() {
        use core::time::Duration;

        use exitgap_core::ids::{Address, BlockHash};

        use crate::pools::Watch;
        use crate::reader::logs::tests::Names;
        use crate::trial_node::{Reply, TrialNode, rpc, short_limits};

        let node = TrialNode::start(|request| match request["method"].as_str() {
            Some("eth_getLogs") => Reply::Hang(Duration::from_secs(8)),
            _ => Reply::Result(serde_json::Value::Null),
        });
        let emitter = Address([8; 20]);
        let followed =
            Names(Watch { emitter, events: vec![alloy::primitives::B256::ZERO], id: None }, 5);
        let block = |number: u64| {
            let hash = BlockHash([u8::try_from(number).unwrap(); 32]);
            BlockRef { hash, number, timestamp: number }
        };
        let pool = PoolId::new("anvil".parse().unwrap(), emitter);
        let remembered = BTreeMap::from([(
            0,
            RememberedParts { pool: &pool, at: block(10), followed: &followed },
        )]);
        let (begun, whole) = (Instant::now(), Duration::from_secs(6));
        let rpc = rpc(&[&node], short_limits());
        let mut events = Events::default();
        let mut checking = LogsChecking::default();
        let checking = (&mut checking, LogsCheck::Auto, Some(Slot::FIRST));
        let plans =
            plan(&rpc, None, &mut events, checking, &remembered, block(30), begun + whole).await;
        assert!(matches!(plans[&0], Reread::Full(FullReadCause::NoLogs(_))), "{plans:?}");
        assert!(!node.asked("eth_getLogs").is_empty(), "the control: it was asked");
        assert!(begun.elapsed() < whole / 2, "{:?}", begun.elapsed());
    }
}
