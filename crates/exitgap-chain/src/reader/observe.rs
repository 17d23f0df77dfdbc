//! Reads pools at one block, as few requests as there may be.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::ids::Address;
use exitgap_core::pools::{PoolState, Tick};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{BlockRef, Observation, OracleReading};
use tokio::time::Instant;

use super::ticks::{self, FullRead, TickMemory};
use crate::abi::{Answer, Call};
use crate::config::{ChainPlan, PoolPlan};
use crate::events::{Event, Events, FullReadCause};
use crate::missing::Missing;
use crate::multicall::Multicall;
use crate::oracles::{self, FEED_CALLS, FeedAnswer};
use crate::pools::concentrated::{self, PRICE_CALLS, Price};
use crate::pools::{Identity, Rules, constant_product, identify};
use crate::rpc::Rpc;
use crate::trial::{self, Verdict};

/// What a reader remembers of a pool.
#[derive(Debug, Clone, Default)]
pub(super) struct PoolMemory {
    pub(super) identity: Option<Identity>,
    pub(super) ticks: Option<TickMemory>,
    /// The slot from which on it is tried again whether its contract pays our fill.
    pub(super) try_from: u32,
}

/// One pass over some pools of a chain at one block.
pub(super) struct Pass<'a> {
    pub(super) rpc: &'a Rpc,
    /// A node whose logs are compared.
    pub(super) second: Option<&'a Rpc>,
    pub(super) plan: &'a ChainPlan,
    pub(super) memory: &'a mut [PoolMemory],
    pub(super) events: &'a mut Events,
    /// Says when ticks are next read in full; `None` outside the series.
    pub(super) slot: Option<Slot>,
}

/// The pools read, by their place in the plan.
pub(super) type Results = BTreeMap<usize, Result<Observation, Missing>>;

/// What was read of a pool before its ticks are complete.
enum State {
    Pair(PoolState),
    Priced { price: Price, spacing: i32, kept: Option<Vec<Tick>> },
}

/// What the chain's feeds said.
struct Feeds {
    prices: BTreeMap<Address, Result<FeedAnswer, Missing>>,
    sequencer: Option<Result<OracleReading, Missing>>,
}

impl Pass<'_> {
    /// Reads the pools at these places of the plan at `block`.
    pub(super) async fn read(
        &mut self,
        block: BlockRef,
        places: &[usize],
        deadline: Instant,
    ) -> Results {
        let multicall = Multicall::new(self.rpc, self.plan, block, deadline);
        let mut results = self.identify(&multicall, places).await;
        let places: Vec<usize> =
            places.iter().copied().filter(|place| !results.contains_key(place)).collect();
        let plans = self.plan_ticks(&places, block, deadline).await;
        let (feeds, mut states) = match self.read_states(&multicall, &places, &plans).await {
            Ok(read) => read,
            Err(missing) => {
                results.extend(places.into_iter().map(|place| (place, Err(missing.clone()))));
                return results;
            }
        };
        let due = self.due_in_full(block, &states, &plans);
        let fresh = self.read_ticks(&multicall, &due, &mut states).await;
        for (place, state) in states {
            let fresh = fresh.contains(&place);
            let result = state.and_then(|state| self.observe(place, block, state, fresh, &feeds));
            results.insert(place, result);
        }
        self.try_fills(&multicall, &mut results).await;
        results
    }

    /// Tries, in turns as ticks are read in full, whether contracts pay what core's fills say. A
    /// pool whose contract does not is none of the kinds that are read.
    async fn try_fills(&mut self, multicall: &Multicall<'_>, results: &mut Results) {
        let Some(slot) = self.slot else { return };
        let due: Vec<(usize, Observation)> = results
            .iter()
            .filter(|(place, _)| slot.number() >= self.memory[**place].try_from)
            .filter_map(|(place, result)| Some((*place, result.as_ref().ok()?.clone())))
            .collect();
        if due.is_empty() {
            return;
        }
        let pools: Vec<&Observation> = due.iter().map(|(_, pool)| pool).collect();
        let verdicts = match trial::compare(multicall, &pools).await {
            Ok(verdicts) => verdicts,
            Err(failure) => vec![Verdict::Unknown(failure.detail); due.len()],
        };
        let (every, pools) = (self.rpc.limits().full_read_slots, self.plan.pools().len());
        for ((place, pool), verdict) in due.into_iter().zip(verdicts) {
            let pool = pool.pool().clone();
            match verdict {
                Verdict::Same => {}
                Verdict::Unknown(detail) => self.events.report(Event::NotTried { pool, detail }),
                Verdict::Other(detail) => {
                    let detail = format!("pool {pool}: {detail}");
                    let missing = Missing::new(MissingReason::PoolUnsupported, detail);
                    results.insert(place, Err(missing));
                    continue;
                }
            }
            self.memory[place].try_from = ticks::next_full(slot, place, pools, every);
        }
    }

    fn pool(&self, place: usize) -> &PoolPlan {
        &self.plan.pools()[place]
    }

    /// Identifies what was not yet; returns those that cannot be.
    async fn identify(&mut self, multicall: &Multicall<'_>, places: &[usize]) -> Results {
        let unknown: Vec<usize> =
            places.iter().copied().filter(|at| self.memory[*at].identity.is_none()).collect();
        if unknown.is_empty() {
            return Results::new();
        }
        let plans: Vec<&PoolPlan> = unknown.iter().map(|place| self.pool(*place)).collect();
        match identify(multicall, &plans).await {
            Ok(identities) => unknown
                .into_iter()
                .zip(identities)
                .filter_map(|(place, identity)| match identity {
                    Ok(identity) => {
                        self.memory[place].identity = Some(identity);
                        None
                    }
                    Err(missing) => Some((place, Err(missing))),
                })
                .collect(),
            Err(failure) => {
                let missing = Missing::from(failure);
                unknown.into_iter().map(|place| (place, Err(missing.clone()))).collect()
            }
        }
    }

    /// Learns from the logs which of the remembered ticks are to be read again.
    async fn plan_ticks(
        &mut self,
        places: &[usize],
        block: BlockRef,
        deadline: Instant,
    ) -> BTreeMap<Address, ticks::Reread> {
        let remembered = places
            .iter()
            .filter_map(|place| {
                let ticks = self.memory[*place].ticks.as_ref()?;
                Some((self.pool(*place).address, ticks.at))
            })
            .collect();
        ticks::plan(self.rpc, self.second, self.events, &remembered, block, deadline).await
    }

    /// Reads feeds, and of each pool what changes with every swap and the ticks that logs name.
    async fn read_states(
        &self,
        multicall: &Multicall<'_>,
        places: &[usize],
        plans: &BTreeMap<Address, ticks::Reread>,
    ) -> Result<(Feeds, BTreeMap<usize, Result<State, Missing>>), Missing> {
        let feeds = oracles::feeds_of(places.iter().map(|place| self.pool(*place)));
        let sequencer = self.plan.sequencer();
        let of_sequencer = sequencer.into_iter().flat_map(|plan| oracles::calls(plan.feed));
        let of_feeds = feeds.iter().flat_map(|feed| oracles::calls(*feed));
        let mut calls: Vec<Call> = of_sequencer.chain(of_feeds).collect();
        let mut spans = Vec::new();
        for &place in places {
            let Some(identity) = &self.memory[place].identity else { continue };
            let pool = self.pool(place).address;
            let start = calls.len();
            calls.extend(identity.rules.state_calls(pool));
            let again = match plans.get(&pool) {
                Some(ticks::Reread::Again(again)) => again.iter().copied().collect(),
                _ => Vec::new(),
            };
            calls.extend(again.iter().map(|tick| concentrated::tick_call(pool, *tick)));
            spans.push((place, identity.rules, start..calls.len(), again));
        }
        let answers = multicall.read(&calls).await?;
        let mut said = answers.chunks_exact(FEED_CALLS);
        let sequencer =
            sequencer.map(|plan| oracles::decode_sequencer(plan, said.next().unwrap_or_default()));
        let prices = feeds
            .into_iter()
            .zip(said)
            .map(|(feed, answers)| (feed, oracles::decode(feed, answers)))
            .collect();
        let feeds = Feeds { prices, sequencer };
        let states = spans
            .into_iter()
            .map(|(place, rules, span, again)| {
                let incremental =
                    matches!(plans.get(&self.pool(place).address), Some(ticks::Reread::Again(_)));
                let again = incremental.then_some(again);
                let state = match plans.get(&self.pool(place).address) {
                    Some(ticks::Reread::Disagreed(detail)) => {
                        Err(Missing::new(MissingReason::NodesDisagree, detail))
                    }
                    _ => self.state(place, rules, &answers[span], again),
                };
                (place, state)
            })
            .collect();
        Ok((feeds, states))
    }

    fn state(
        &self,
        place: usize,
        rules: Rules,
        answers: &[Answer],
        again: Option<Vec<i32>>,
    ) -> Result<State, Missing> {
        let pool = self.pool(place).address;
        match rules {
            Rules::ConstantProduct { fee } => {
                let reserves = answers.first().unwrap_or(&Answer::Reverted);
                constant_product::decode(pool, fee, reserves).map(State::Pair)
            }
            Rules::Concentrated { tick_spacing: spacing } => {
                let (price, changed) = answers.split_at(PRICE_CALLS.min(answers.len()));
                let price = concentrated::decode_price(pool, price)?;
                let kept = match (again, &self.memory[place].ticks) {
                    (Some(again), Some(memory)) => {
                        let again: Vec<(i32, Option<Tick>)> = again
                            .into_iter()
                            .zip(changed)
                            .map(|(tick, answer)| {
                                Ok((tick, concentrated::decode_tick(pool, tick, answer)?))
                            })
                            .collect::<Result<_, Missing>>()?;
                        Some(memory.updated(&again))
                    }
                    _ => None,
                };
                Ok(State::Priced { price, spacing, kept })
            }
        }
    }

    /// Which pools' ticks are read in full, and reports what is not as planned.
    fn due_in_full(
        &mut self,
        block: BlockRef,
        states: &BTreeMap<usize, Result<State, Missing>>,
        plans: &BTreeMap<Address, ticks::Reread>,
    ) -> BTreeSet<usize> {
        let mut due = BTreeSet::new();
        for (place, state) in states {
            let Ok(State::Priced { price, spacing, kept }) = state else { continue };
            let (id, address) = (self.pool(*place).id.clone(), self.pool(*place).address);
            let cause = match (kept, plans.get(&address)) {
                (_, Some(ticks::Reread::Full(cause))) => Some(cause.clone()),
                (Some(kept), _) => match concentrated::join(*price, *spacing, kept.clone()) {
                    Err(error) if concentrated::is_about_ticks(error) => {
                        Some(FullReadCause::Unbalanced(error.to_string()))
                    }
                    // No ticks would make a state of this price: there is nothing to read.
                    Err(_) => continue,
                    Ok(_) => None,
                },
                (None, _) => None,
            };
            let in_turn = match (&self.memory[*place].ticks, self.slot) {
                (Some(memory), Some(slot)) => slot.number() >= memory.full_from,
                _ => kept.is_none(),
            };
            if cause.is_some() || in_turn || kept.is_none() {
                due.insert(*place);
            }
            if let Some(cause) = cause {
                self.events.report(Event::ReadInFull { pool: id, block: block.number, cause });
            }
        }
        due
    }

    /// Reads the ticks of these pools in full, and compares where others were kept. Returns those
    /// that were read.
    async fn read_ticks(
        &mut self,
        multicall: &Multicall<'_>,
        due: &BTreeSet<usize>,
        states: &mut BTreeMap<usize, Result<State, Missing>>,
    ) -> BTreeSet<usize> {
        let reads: Vec<(usize, FullRead)> = due
            .iter()
            .filter_map(|place| match states.get(place) {
                Some(Ok(State::Priced { spacing, .. })) => {
                    let pool = self.pool(*place).address;
                    Some((*place, FullRead { pool, tick_spacing: *spacing }))
                }
                _ => None,
            })
            .collect();
        let wanted: Vec<FullRead> = reads.iter().map(|(_, read)| *read).collect();
        let full = ticks::read_in_full(multicall, &wanted).await;
        let mut fresh = BTreeSet::new();
        for ((place, _), full) in reads.into_iter().zip(full) {
            let Some(Ok(State::Priced { price, spacing, kept })) = states.get_mut(&place) else {
                continue;
            };
            let balanced = kept
                .as_ref()
                .is_some_and(|kept| concentrated::join(*price, *spacing, kept.clone()).is_ok());
            let remembered = self.memory[place].ticks.as_ref();
            let good_until = remembered.and_then(|ticks| ticks.full_at);
            let may_wait = self
                .slot
                .zip(remembered)
                .is_none_or(|(slot, ticks)| ticks.may_wait(slot, self.rpc.limits()));
            match full {
                Ok(full) => {
                    let before = kept.replace(full.clone());
                    let difference = before.and_then(|before| ticks::difference(&before, &full));
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
                    tracing::warn!(%missing, "a comparison of ticks was put off");
                }
                Err(missing) => {
                    states.insert(place, Err(missing));
                }
            }
        }
        fresh
    }

    /// Joins what was read of a pool, and remembers its ticks; `fresh`: they were read in full.
    fn observe(
        &mut self,
        place: usize,
        block: BlockRef,
        state: State,
        fresh: bool,
        feeds: &Feeds,
    ) -> Result<Observation, Missing> {
        let id = self.pool(place).id.clone();
        let state = match state {
            State::Pair(state) => state,
            State::Priced { price, spacing, kept } => {
                let remembered = self.memory[place].ticks.take();
                let ticks = kept.unwrap_or_default();
                let pool = concentrated::join(price, spacing, ticks).map_err(|error| {
                    let detail = format!("pool {id}: {error}");
                    Missing::new(MissingReason::StateInconsistent, detail)
                })?;
                let ticks = pool.ticks().iter().map(|tick| (tick.tick, *tick)).collect();
                let (full_from, full_at) = match (remembered, self.slot) {
                    (Some(memory), _) if !fresh => (memory.full_from, memory.full_at),
                    (_, None) => (0, None),
                    (_, Some(slot)) => {
                        let (pools, every) =
                            (self.plan.pools().len(), self.rpc.limits().full_read_slots);
                        (ticks::next_full(slot, place, pools, every), Some(slot))
                    }
                };
                self.memory[place].ticks =
                    Some(TickMemory { at: block, ticks, full_from, full_at });
                PoolState::Concentrated(pool)
            }
        };
        let mut oracles = oracles::readings(&self.pool(place).oracles, &feeds.prices)?;
        oracles.extend(feeds.sequencer.clone().transpose()?);
        let Some(identity) = &self.memory[place].identity else {
            let detail = format!("pool {id} was not identified");
            return Err(Missing::new(MissingReason::PoolUnsupported, detail));
        };
        let tokens = identity.tokens.clone();
        let tag = self.plan.tag();
        Observation::new(id, tag, block, tokens, state, oracles, Vec::new())
            .map_err(|error| Missing::new(error.missing_reason(), error.to_string()))
    }
}
