//! Reads pools at one block with as few requests as possible.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::ids::{Address, Contract, PoolId};
use exitgap_core::pools::PoolState;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{BlockRef, Observation, OracleReading, Token, TokenSession};
use tokio::time::Instant;

use super::facts;
use super::follow::{self, PartMemory, RememberedParts, Reread};
use super::omitted::LogsChecking;
use super::schedule::Schedule;
use super::taxes::{self, TransferRecords};
use crate::abi::{Answer, Call};
use crate::config::{Calendars, ChainPlan, FactPlan, PoolPlan};
use crate::events::{Event, Events};
use crate::limits::second_deadline;
use crate::multicall::Multicall;
use crate::oracles::{self, FEED_CALLS, FeedAnswer, Readings};
use crate::pools::{DecodedState, Identity, PartReader, PartialState, Parts, Reader, identify};
use crate::read_failure::ReadFailure;
use crate::rpc::{Failure, Rpc};
use crate::trial::{self, TrialPool, Verdict};

/// The data that a reader keeps about a pool.
#[derive(Debug, Clone, Default)]
pub(super) struct PoolMemory {
    pub(super) identity: Option<Identity>,
    pub(super) parts: Option<PartMemory>,
    /// The slot from which on a trial of the contract's payment is due again.
    pub(super) try_from: u32,
    /// The transfer records of its tokens.
    pub(super) transfers: TransferRecords,
}

/// One pass over some pools of a chain at one block.
pub(super) struct Pass<'a> {
    pub(super) rpc: &'a Rpc,
    /// The second node, whose logs are compared.
    pub(super) second: Option<&'a Rpc>,
    pub(super) plan: &'a ChainPlan,
    pub(super) memory: &'a mut [PoolMemory],
    pub(super) events: &'a mut Events,
    /// The checks of whether logs are complete.
    pub(super) checking: &'a mut LogsChecking,
    /// The slot; `None` outside the series.
    pub(super) slot: Option<Slot>,
}

/// The results, by the pool's index in the plan.
pub(super) type Results = BTreeMap<usize, Result<Observation, ReadFailure>>;

/// What a contract says of itself, or why that was not read.
type Identified = Result<Identity, ReadFailure>;

/// A pool's state before its parts are complete.
pub(super) enum State {
    /// The state has no parts to complete.
    Whole(PoolState),
    /// The state needs parts; `kept` has the remembered ones, updated.
    Unfinished { unfinished: Box<dyn PartialState>, kept: Option<Parts> },
}

/// The range of a pool's calls in a request: the start of its own calls, the start of those for parts, and the end.
struct Span<'a> {
    place: usize,
    reader: &'a Reader,
    start: usize,
    of_parts: usize,
    end: usize,
    /// The parts that are read again.
    again: Vec<i32>,
}

/// The contracts of the pools that are read. One pool of each contract is read, because the others share its state.
struct Contracts<'a> {
    /// For each index that is read, the indices of all requested pools of its contract.
    places: BTreeMap<usize, Vec<usize>>,
    /// All pools of each contract, including those that were not requested, because their prices are part of its
    /// snapshot.
    pools: BTreeMap<&'a Contract, Vec<&'a PoolPlan>>,
}

impl<'a> Contracts<'a> {
    fn for_places(plan: &'a ChainPlan, places: &[usize]) -> Self {
        let mut of_contract: BTreeMap<&Contract, Vec<usize>> = BTreeMap::new();
        for place in places {
            let contract = plan.pools()[*place].id.contract();
            of_contract.entry(contract).or_default().push(*place);
        }
        let mut pools = plan.contracts();
        pools.retain(|contract, _| of_contract.contains_key(contract));
        let places = of_contract.into_values().map(|places| (places[0], places)).collect();
        Self { places, pools }
    }
}

/// The answers of the chain's feeds, and of the contracts with facts.
struct Feeds {
    prices: BTreeMap<Address, Result<FeedAnswer, ReadFailure>>,
    sequencer: Option<Result<OracleReading, ReadFailure>>,
    facts: facts::FactAnswers,
}

impl Pass<'_> {
    /// Reads the pools with these indices in the plan at `block`.
    pub(super) async fn read_pools(
        &mut self,
        block: BlockRef,
        places: &[usize],
        deadline: Instant,
    ) -> Results {
        let multicall = Multicall::new(self.rpc, self.plan, block, deadline);
        let mut results = self.identify(&multicall, places).await;
        let places: Vec<usize> =
            places.iter().copied().filter(|place| !results.contains_key(place)).collect();
        let contracts = Contracts::for_places(self.plan, &places);
        let own: Vec<usize> = contracts.places.keys().copied().collect();
        let plans = self.plan_parts(&own, block, deadline).await;
        let feeds = contracts.pools.values().flatten().copied();
        let read = self.read_states(&multicall, &own, feeds, &plans).await;
        let (feeds, mut states) = match read {
            Ok(read) => read,
            Err(missing) => {
                results.extend(places.into_iter().map(|place| (place, Err(missing.clone()))));
                return results;
            }
        };
        self.report_untold(&feeds.facts);
        let due = self.due_in_full(block, &states, &plans);
        let fresh = self.read_parts(&multicall, &due, &mut states).await;
        for (place, state) in states {
            let fresh = fresh.contains(&place);
            let state = state.and_then(|state| self.complete(place, block, state, fresh));
            results.extend(self.observe(&contracts, place, block, state, &feeds));
        }
        self.try_fills(&multicall, &mut results).await;
        results
    }

    /// Tries whether contracts pay the computed fills, each pool in its turn, as with full readings. A pool whose
    /// contract does not pay them is not of a supported kind.
    async fn try_fills(&mut self, multicall: &Multicall<'_>, results: &mut Results) {
        let Some(slot) = self.slot else { return };
        // Only one pool of a contract at a time, because trials that sell the same token use the same balance.
        let mut tried = BTreeSet::new();
        let due: Vec<(usize, Reader, Observation)> = results
            .iter()
            .filter(|(place, _)| self.is_due_for_trial(slot, **place))
            .filter(|(place, _)| tried.insert(self.pool(**place).id.contract()))
            .filter_map(|(place, result)| {
                let reader = self.memory[*place].identity.as_ref()?.reader.clone();
                Some((*place, reader, result.as_ref().ok()?.clone()))
            })
            .collect();
        if due.is_empty() {
            return;
        }
        let tried: Vec<TrialPool<'_>> =
            due.iter().map(|(_, reader, pool)| TrialPool { reader, pool }).collect();
        // What was read does not wait for nodes that refuse trials: they have a quarter of the time.
        let until = second_deadline(multicall.deadline());
        let verdicts = match trial::compare(&multicall.until(until), &tried).await {
            Ok(verdicts) => verdicts,
            Err(failure) => vec![Verdict::Unknown(failure.detail); due.len()],
        };
        let schedule = self.schedule();
        for ((place, _, pool), verdict) in due.into_iter().zip(verdicts) {
            let pool = pool.pool().clone();
            match verdict {
                Verdict::Same => {}
                Verdict::Unknown(detail) => self.events.report(Event::NotTried { pool, detail }),
                Verdict::Other(detail) => {
                    let detail = format!("pool {pool}: {detail}");
                    let missing = ReadFailure::new(MissingReason::PoolUnsupported, detail);
                    // A wrong payment applies to all pools of the contract.
                    for (other, result) in results.iter_mut() {
                        if self.pool(*other).id.contract() == pool.contract() && result.is_ok() {
                            *result = Err(missing.clone());
                        }
                    }
                    continue;
                }
            }
            self.memory[place].try_from = schedule.next_turn(slot, place);
        }
    }

    /// Whether a pool's trial is due; immediately if it was never tried. Pools whose trials move tokens and the other
    /// pools use separate requests, in alternating slots.
    fn is_due_for_trial(&self, slot: Slot, place: usize) -> bool {
        let PoolMemory { identity, try_from, .. } = &self.memory[place];
        let moves_tokens = identity.as_ref().is_some_and(|known| known.reader.moves_tokens());
        let is_turn = *try_from == 0 || moves_tokens == slot.number().is_multiple_of(2);
        slot.number() >= *try_from && is_turn
    }

    pub(super) fn schedule(&self) -> Schedule {
        Schedule::new(self.plan, self.rpc.limits())
    }

    pub(super) fn pool(&self, place: usize) -> &PoolPlan {
        &self.plan.pools()[place]
    }

    /// Identifies pools that are not yet identified. Returns the failures.
    async fn identify(&mut self, multicall: &Multicall<'_>, places: &[usize]) -> Results {
        let unknown: Vec<usize> =
            places.iter().copied().filter(|at| self.memory[*at].identity.is_none()).collect();
        if unknown.is_empty() {
            return Results::new();
        }
        let plans: Vec<&PoolPlan> = unknown.iter().map(|place| self.pool(*place)).collect();
        // Pools that were identified before do not wait for those that were not: these have half of the time.
        let now = Instant::now();
        let left = multicall.deadline().saturating_duration_since(now);
        let time = if unknown.len() < places.len() { left / 2 } else { left };
        let multicall = multicall.until(now + time);
        match identify(&multicall, self.plan.factories(), &plans).await {
            Ok(identities) => {
                let mut found: Vec<(usize, Identified)> =
                    unknown.into_iter().zip(identities).collect();
                self.compare_identities(&multicall, &mut found).await;
                found
                    .into_iter()
                    .filter_map(|(place, identity)| match identity {
                        Ok(identity) => {
                            self.memory[place].identity = Some(identity);
                            None
                        }
                        Err(missing) => Some((place, Err(missing))),
                    })
                    .collect()
            }
            Err(failure) => {
                let missing = ReadFailure::from(failure);
                unknown.into_iter().map(|place| (place, Err(missing.clone()))).collect()
            }
        }
    }

    /// Compares what contracts say of themselves with the second node's answers: it is read once, and kept.
    async fn compare_identities(
        &mut self,
        multicall: &Multicall<'_>,
        found: &mut [(usize, Identified)],
    ) {
        let Some(second) = self.second else { return };
        let places: Vec<usize> =
            found.iter().filter(|(_, one)| one.is_ok()).map(|(place, _)| *place).collect();
        if places.is_empty() {
            return;
        }
        let until = second_deadline(multicall.deadline());
        let theirs = Multicall::new(second, self.plan, multicall.block(), until);
        let plans: Vec<&PoolPlan> = places.iter().map(|place| self.pool(*place)).collect();
        let theirs = match identify(&theirs, self.plan.factories(), &plans).await {
            Ok(theirs) => theirs,
            Err(Failure { detail, .. }) => {
                self.events.report(Event::NotCompared { what: "contracts and tokens", detail });
                return;
            }
        };
        let theirs: BTreeMap<usize, Identified> = places.into_iter().zip(theirs).collect();
        for (place, ours) in found {
            let detail = match (&*ours, theirs.get(place)) {
                (Ok(own), Some(Ok(other))) if own != other => format!(
                    "pool {}: its contract or tokens are not the same on the second node",
                    self.pool(*place).id
                ),
                // What the second node does not have, or does not answer for, contradicts nothing.
                _ => continue,
            };
            *ours = Err(ReadFailure::new(MissingReason::NodesDisagree, detail));
        }
    }

    /// The reader of a pool's remembered parts; `None` if it has none.
    pub(super) fn part_reader(&self, place: usize) -> Option<&dyn PartReader> {
        self.memory[place].identity.as_ref()?.reader.part_reader()
    }

    /// Determines from the logs which remembered parts must be read again.
    async fn plan_parts(
        &mut self,
        places: &[usize],
        block: BlockRef,
        deadline: Instant,
    ) -> BTreeMap<usize, Reread> {
        let (memory, pools) = (&*self.memory, self.plan.pools());
        let remembered = places
            .iter()
            .filter_map(|place| {
                let at = memory[*place].parts.as_ref()?.at;
                let followed = memory[*place].identity.as_ref()?.reader.part_reader()?;
                Some((*place, RememberedParts { pool: &pools[*place].id, at, followed }))
            })
            .collect();
        let checking = (&mut *self.checking, self.plan.check_logs_by(), self.slot);
        let (rpc, second) = (self.rpc, self.second);
        follow::plan(rpc, second, self.events, checking, &remembered, block, deadline).await
    }

    /// Reads feeds, and for each pool the values that change with every swap and the parts that logs name.
    async fn read_states(
        &self,
        multicall: &Multicall<'_>,
        places: &[usize],
        with_feeds: impl Iterator<Item = &PoolPlan>,
        plans: &BTreeMap<usize, Reread>,
    ) -> Result<(Feeds, BTreeMap<usize, Result<State, ReadFailure>>), ReadFailure> {
        let feeds = oracles::feeds_of(with_feeds);
        let sequencer = self.plan.sequencer();
        let of_sequencer = sequencer.into_iter().flat_map(|plan| oracles::calls(plan.feed));
        let of_feeds = feeds.iter().flat_map(|feed| oracles::calls(*feed));
        let mut calls: Vec<Call> = of_sequencer.chain(of_feeds).collect();
        let spans = self.spans(places, plans, &mut calls);
        // Facts come last, so that a fact that uses up the gas does not affect the pools.
        let (of_facts, asked) = (calls.len(), self.facts_of(places));
        calls.extend(facts::calls(&asked));
        let answers = multicall.read_calls(&calls).await?;
        let facts = facts::decode_answers(&asked, &answers[of_facts..]);
        let mut said = answers.chunks_exact(FEED_CALLS);
        let sequencer =
            sequencer.map(|plan| oracles::decode_sequencer(plan, said.next().unwrap_or_default()));
        let prices = feeds
            .into_iter()
            .zip(said)
            .map(|(feed, answers)| (feed, oracles::decode(feed, answers)))
            .collect();
        let feeds = Feeds { prices, sequencer, facts };
        let states = spans
            .into_iter()
            .map(|span| {
                let state = match plans.get(&span.place) {
                    Some(Reread::Disagreed(detail)) => {
                        Err(ReadFailure::new(MissingReason::NodesDisagree, detail))
                    }
                    plan => {
                        let logs_tell = matches!(plan, Some(Reread::Again(_)));
                        self.state(&span, multicall.block().timestamp, &answers, logs_tell)
                    }
                };
                (span.place, state)
            })
            .collect();
        Ok((feeds, states))
    }

    /// The facts of the tokens of these pools' contracts.
    fn facts_of(&self, places: &[usize]) -> Vec<(Address, &FactPlan)> {
        let identities = places.iter().filter_map(|at| self.memory[*at].identity.as_ref());
        let tokens = identities.flat_map(|identity| &identity.tokens).map(|token| token.address);
        facts::select_facts(self.plan.facts(), tokens)
    }

    /// Reports the facts that could not be read.
    fn report_untold(&mut self, told: &facts::FactAnswers) {
        for (token, of_token) in told {
            for (fact, words) in of_token {
                let Err(detail) = words.clone() else { continue };
                self.events.report(Event::FactNotRead { token: *token, name: fact.name, detail });
            }
        }
    }

    /// Adds the calls of each pool.
    fn spans<'p>(
        &'p self,
        places: &[usize],
        plans: &BTreeMap<usize, Reread>,
        calls: &mut Vec<Call>,
    ) -> Vec<Span<'p>> {
        let mut spans = Vec::new();
        for &place in places {
            let Some(identity) = &self.memory[place].identity else { continue };
            let (reader, start) = (&identity.reader, calls.len());
            calls.extend(reader.state_calls());
            let of_parts = calls.len();
            let again: Vec<i32> = match plans.get(&place) {
                Some(Reread::Again(again)) => again.iter().copied().collect(),
                _ => Vec::new(),
            };
            calls.extend(reader.part_reader().into_iter().flat_map(|it| it.part_calls(&again)));
            spans.push(Span { place, reader, start, of_parts, end: calls.len(), again });
        }
        spans
    }

    /// A pool's state from its answers, with its remembered parts updated, if the logs show which ones changed.
    fn state(
        &self,
        span: &Span<'_>,
        at: u64,
        answers: &[Answer],
        logs_tell: bool,
    ) -> Result<State, ReadFailure> {
        let Span { place, reader, start, of_parts, end, ref again } = *span;
        let pool = &self.pool(place).id;
        let unfinished = match reader.decode(pool, at, &answers[start..of_parts])? {
            DecodedState::Whole(state) => return Ok(State::Whole(state)),
            DecodedState::Unfinished(unfinished) => unfinished,
        };
        let kept = match (reader.part_reader(), &self.memory[place].parts) {
            (Some(followed), Some(memory)) if logs_tell => {
                let again = followed.decode_parts(pool, again, &answers[of_parts..end])?;
                Some(memory.merge_parts(again))
            }
            _ => None,
        };
        Ok(State::Unfinished { unfinished, kept })
    }

    /// Combines the data of a pool, and remembers its parts. `fresh`: they were read in full.
    fn complete(
        &mut self,
        place: usize,
        block: BlockRef,
        state: State,
        fresh: bool,
    ) -> Result<PoolState, ReadFailure> {
        match state {
            State::Whole(state) => Ok(state),
            State::Unfinished { unfinished, kept } => {
                let id = self.pool(place).id.clone();
                let remembered = self.memory[place].parts.take();
                let parts = kept.unwrap_or_default();
                let state = unfinished.join(&parts).map_err(|unjoined| {
                    let detail = format!("pool {id}: {}", unjoined.detail);
                    ReadFailure::new(MissingReason::StateInconsistent, detail)
                })?;
                let (full_from, full_at) = match (remembered, self.slot) {
                    (Some(memory), _) if !fresh => (memory.full_from, memory.full_at),
                    (_, None) => (0, None),
                    (_, Some(slot)) => (self.schedule().next_turn(slot, place), Some(slot)),
                };
                let memory = PartMemory { at: block, parts, full_from, full_at };
                self.memory[place].parts = Some(memory);
                Ok(state)
            }
        }
    }

    /// The observations of all requested pools of this index's contract, in its state.
    fn observe(
        &self,
        contracts: &Contracts<'_>,
        place: usize,
        block: BlockRef,
        state: Result<PoolState, ReadFailure>,
        feeds: &Feeds,
    ) -> Results {
        let places = contracts.places.get(&place).map(Vec::as_slice).unwrap_or_default();
        let state = match state {
            Ok(state) => state,
            Err(missing) => return places.iter().map(|at| (*at, Err(missing.clone()))).collect(),
        };
        let tag = self.plan.tag();
        let check = |reading: &OracleReading| reading.check(tag.kind, block.timestamp);
        let pools = contracts.pools.get(self.pool(place).id.contract());
        let readings =
            Readings::from_answers(pools.into_iter().flatten().copied(), &feeds.prices, check);
        let observed = |place: usize| {
            let pool = self.pool(place);
            let mut oracles = readings.for_pool(pool)?;
            oracles.extend(feeds.sequencer.clone().transpose()?);
            let identity = self.memory[place].identity.as_ref();
            let identity = identity.ok_or_else(|| unidentified_pool(&pool.id))?;
            let tokens = identity.tokens.clone();
            let mut own = identity.facts.clone();
            own.extend(taxes::facts_of(&self.memory[place].transfers));
            let facts = facts::of_tokens(&own, &tokens, &feeds.facts);
            let sessions = sessions_of(self.plan.calendars(), &tokens);
            Observation::new(pool.id.clone(), tag, block, tokens, state.clone(), oracles, facts)
                .and_then(|observation| observation.with_sessions(sessions))
                .map_err(|error| ReadFailure::new(error.missing_reason(), error.to_string()))
        };
        places.iter().map(|place| (*place, observed(*place))).collect()
    }
}

/// The calendars of a contract's tokens, by index.
fn sessions_of(calendars: &Calendars, tokens: &[Token]) -> Vec<TokenSession> {
    let calendar = |token: &Token| calendars.get(&token.address).copied();
    (0..)
        .zip(tokens)
        .filter_map(|(token, own)| Some(TokenSession { token, calendar: calendar(own)? }))
        .collect()
}

fn unidentified_pool(pool: &PoolId) -> ReadFailure {
    let detail = format!("pool {pool} was not identified");
    ReadFailure::new(MissingReason::PoolUnsupported, detail)
}
