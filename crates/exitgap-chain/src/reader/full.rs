//! Reading parts in full within a pass: of which pools, and what comes of the comparison.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::ids::PoolId;
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::BlockRef;

use super::follow::{Reread, difference};
use super::observe::{Pass, State};
use crate::abi::Call;
use crate::events::{Event, FullReadCause};
use crate::multicall::Multicall;
use crate::pools::{PartReader, Parts};
use crate::read_failure::ReadFailure;
use crate::rpc::Failure;

impl Pass<'_> {
    /// Which pools' parts are read in full, and reports what is not as planned.
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
                    // No parts would make a state of the rest: there is nothing to read.
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

    /// Reads the parts of these pools in full, and compares where others were kept. Returns those
    /// that were read.
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
                // The comparison waits for the next slot; what was kept stands on its own.
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

/// A pool whose parts are to be read in full.
struct FullRead<'a> {
    pool: &'a PoolId,
    followed: &'a dyn PartReader,
}

/// Calls of pools that are read together. Enough to fill the requests in flight; few enough that
/// a deadline that passes loses little.
const CALLS_TOGETHER: usize = 16_000;

/// Reads all parts of these pools, in their order.
async fn read_in_full(
    multicall: &Multicall<'_>,
    pools: &[FullRead<'_>],
) -> Vec<Result<Parts, ReadFailure>> {
    let mut results = Vec::with_capacity(pools.len());
    let mut rest = pools.iter().map(|read| (read, read.followed.index_calls())).peekable();
    while rest.peek().is_some() {
        let (mut group, mut calls) = (Vec::new(), 0);
        while let Some((_, index)) = rest.peek()
            && (group.is_empty() || calls + index.len() <= CALLS_TOGETHER)
        {
            calls += index.len();
            group.extend(rest.next());
        }
        match read_group(multicall, &group).await {
            Ok(parts) => results.extend(parts),
            Err(failure) => {
                // The nodes fail: asking them for the other pools would fail as well.
                let missing = ReadFailure::from(failure);
                results.resize(pools.len(), Err(missing));
                break;
            }
        }
    }
    results
}

async fn read_group(
    multicall: &Multicall<'_>,
    pools: &[(&FullRead<'_>, Vec<Call>)],
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

/// Requires that every part that is listed is there.
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
