//! The pools of a slot that lie on a path from a token sold to cash.

use std::collections::BTreeMap;

use exitgap_api::operations::SnapshotAsked;
use exitgap_api::operations::parameters::{INTO, POSITION};
use exitgap_api::{CashPlan, Guards, Problem, ProblemCode, SplitLeftOut};
use exitgap_core::evidence::Base;
use exitgap_core::exit::{MAX_NETWORK_POOLS, MAX_SOLD_TOKENS};
use exitgap_core::ids::{Address, ChainSlug, Contract, PoolId};
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Observation;

use super::not_traded;
use super::paths::{Pair, choose, on_path};
use super::search::Search;
use crate::snapshot_cache::WeighedSnapshot;
use crate::{Current, FoundSnapshot, Service};

/// Why a pool takes no part: a code and a sentence.
type Why = (&'static str, &'static str);

const OTHER_BLOCK: Why =
    ("other_block", "the pool was read at another block than most pools of the slot");
const ORACLE_DIFFERS: Why = (
    "oracle_differs",
    "a token sold or a cash token has another oracle price in this pool than in most pools",
);
const RESERVED: Why = (
    "reserved",
    "a position of the portfolio is sold in this pool, or in one that every path through this pool needs",
);
const TOO_MANY: Why = ("too_many_venues", "24 pools are on deeper paths to cash");

/// The pools of a slot that lie on a path from a token sold to cash.
pub struct CashNetwork {
    /// Ascending.
    pub sold: Vec<Address>,
    /// Ascending.
    pub cash: Vec<Address>,
    /// Ascending by pool.
    pub pools: Vec<FoundSnapshot>,
    pub left_out: Vec<SplitLeftOut>,
}

/// Why there is no network.
pub struct NoNetwork {
    pub problem: Problem,
    /// The tokens sold from which no path leads to cash, each with its problem; empty if the cause is another one.
    pub tokens: BTreeMap<Address, Problem>,
}

impl From<Problem> for NoNetwork {
    fn from(problem: Problem) -> Self {
        Self { problem, tokens: BTreeMap::new() }
    }
}

impl From<NoNetwork> for Problem {
    fn from(refused: NoNetwork) -> Self {
        refused.problem
    }
}

impl NoNetwork {
    /// None of the tokens sold leads to cash, for this one reason.
    pub(crate) fn of_all(sold: &[Address], problem: Problem) -> Self {
        Self { tokens: sold.iter().map(|token| (*token, problem.clone())).collect(), problem }
    }

    /// Each of these tokens with its problem; `None` if there are none.
    pub(crate) fn of_tokens(
        tokens: &[Address],
        problem: impl Fn(&[Address]) -> Problem,
    ) -> Option<Self> {
        let each = tokens.iter().map(|token| (*token, problem(&[*token])));
        (!tokens.is_empty()).then(|| Self { problem: problem(tokens), tokens: each.collect() })
    }
}

/// What a network is for.
#[derive(Debug, Clone, Copy)]
pub struct NetworkAsked<'a> {
    pub chain: &'a ChainSlug,
    /// The tokens sold, ascending.
    pub sold: &'a [Address],
    /// The tokens that count as cash, ascending.
    pub cash: &'a [Address],
    /// The slot; default: the newest of the pools on a path.
    pub at: Option<Slot>,
    /// Contracts that are used elsewhere.
    pub reserved: &'a [Contract],
}

/// A pool of the chain.
struct Candidate {
    pool: PoolId,
    pair: Pair,
    newest: Option<Slot>,
}

/// The pools of a chain that are recorded at a slot, or now.
fn candidates(current: &Current, chain: &ChainSlug, at: Option<Slot>) -> Vec<Candidate> {
    let books: BTreeMap<&PoolId, u64> = current
        .board
        .iter()
        .filter_map(|row| {
            let (_, figures) = row.standing.newest.as_ref()?;
            let books = figures.directions.iter().filter_map(|direction| direction.book_usd);
            Some((&row.pool.id, books.max()?))
        })
        .collect();
    let of_chain = current.pools.iter().filter(|(id, now)| {
        let retired = now.pool.retired_slot;
        id.chain() == chain && retired.is_none_or(|retired| at.is_some_and(|at| at < retired))
    });
    of_chain
        .filter_map(|(id, now)| {
            let tokens = now.labels.as_ref()?.tokens.each_ref().map(|one| one.address.parse());
            let [Ok(one), Ok(other)] = tokens else { return None };
            let pair = Pair { tokens: [one, other], depth: books.get(id).copied().unwrap_or(0) };
            Some(Candidate {
                pool: id.clone(),
                pair,
                newest: now.latest.snapshot.map(|(slot, _)| slot),
            })
        })
        .collect()
}

impl Service {
    /// The pools on a path at a slot, or at the newest slot of any: at most as many as a plan takes, those on the
    /// deepest paths, and without those of reserved contracts.
    pub(crate) async fn cash_network(
        &self,
        asked: &NetworkAsked<'_>,
    ) -> Result<CashNetwork, NoNetwork> {
        let NetworkAsked { chain, sold, cash, at, reserved } = *asked;
        let mut candidates = candidates(&self.current(), chain, at);
        let is_traded =
            |token: &Address| candidates.iter().any(|one| one.pair.tokens.contains(token));
        let untraded: Vec<Address> =
            sold.iter().copied().filter(|token| !is_traded(token)).collect();
        let not_traded = |tokens: &[Address]| not_traded(chain, tokens[0]);
        if let Some(refused) = NoNetwork::of_tokens(&untraded, not_traded) {
            return Err(refused);
        }
        let pairs: Vec<Pair> = candidates.iter().map(|one| one.pair).collect();
        let mut is_on_path = on_path(&pairs, sold, cash).into_iter();
        candidates.retain(|_| is_on_path.next().unwrap_or(false));
        let is_reserved = |one: &Candidate| reserved.contains(one.pool.contract());
        let (taken, candidates): (Vec<Candidate>, Vec<Candidate>) =
            candidates.into_iter().partition(is_reserved);
        // A pool that leads to cash only through a reserved one takes no part, either.
        let pairs: Vec<Pair> = candidates.iter().map(|one| one.pair).collect();
        let mut is_left = on_path(&pairs, sold, cash).into_iter();
        let (candidates, cut_off): (Vec<Candidate>, Vec<Candidate>) =
            candidates.into_iter().partition(|_| is_left.next().unwrap_or(false));
        let pairs: Vec<Pair> = candidates.iter().map(|one| one.pair).collect();
        let no_path = |tokens: &[Address]| no_path(chain, tokens, None);
        if let Some(refused) = NoNetwork::of_tokens(&without_path(&pairs, sold, cash), no_path) {
            return Err(refused);
        }
        let newest = candidates.iter().filter_map(|one| one.newest).max();
        let Some(slot) = at.or(newest) else { return Err(NoNetwork::of_all(sold, no_path(sold))) };
        let chosen = choose(&pairs, sold, cash, MAX_NETWORK_POOLS);
        let chosen_pairs: Vec<Pair> = chosen.iter().map(|place| pairs[*place]).collect();
        if !without_path(&chosen_pairs, sold, cash).is_empty() {
            return Err(too_many_tokens(chain).into());
        }
        let (mut found, mut refused) = (Vec::new(), None);
        let mut left_out: Vec<SplitLeftOut> = taken
            .iter()
            .chain(&cut_off)
            .map(|one| SplitLeftOut::new(&one.pool, RESERVED.0, RESERVED.1))
            .collect();
        for (place, Candidate { pool, .. }) in candidates.into_iter().enumerate() {
            if !chosen.contains(&place) {
                left_out.push(SplitLeftOut::new(&pool, TOO_MANY.0, TOO_MANY.1));
                continue;
            }
            match self.find_pool(&pool, slot).await {
                Ok(one) => found.push(one),
                Err(problem) if problem.code.http_status() >= 500 => return Err(problem.into()),
                Err(problem) => {
                    left_out.push(SplitLeftOut::new(&pool, problem.code.as_str(), &problem.detail));
                    refused.get_or_insert(problem);
                }
            }
        }
        let (sold, cash) = (sold.to_vec(), cash.to_vec());
        let mut network = CashNetwork { sold, cash, pools: found, left_out };
        network.leave_out_off_path();
        network.leave_out_differing();
        network.leave_out_off_path();
        let unreached = without_path(&network.pairs(), &network.sold, &network.cash);
        match refused {
            Some(problem) if network.pools.is_empty() => {
                Err(NoNetwork::of_all(&network.sold, problem))
            }
            _ => {
                let no_path = |tokens: &[Address]| self::no_path(chain, tokens, Some(slot));
                NoNetwork::of_tokens(&unreached, no_path).map_or(Ok(network), Err)
            }
        }
    }

    /// The snapshot of a pool at exactly this slot. Guards apply to the pools of the plan, later.
    pub(super) async fn find_pool(
        &self,
        pool: &PoolId,
        slot: Slot,
    ) -> Result<FoundSnapshot, Problem> {
        let guards = Guards::default();
        self.find(&SnapshotAsked { pool: pool.clone(), base: None, at: Some(slot), guards }).await
    }
}

impl CashNetwork {
    pub(crate) fn observations(&self) -> Vec<&Observation> {
        self.pools.iter().map(|one| one.prepared.snapshot.observation()).collect()
    }

    /// Keeps the pools for which `is_kept` is true, and names the others.
    fn retain(&mut self, why: Why, is_kept: &[bool]) {
        let mut kept = is_kept.iter();
        let left_out = &mut self.left_out;
        self.pools.retain(|one| {
            let is_kept = *kept.next().unwrap_or(&false);
            if !is_kept {
                left_out.push(SplitLeftOut::new(&one.prepared.pool.id, why.0, why.1));
            }
            is_kept
        });
    }

    /// Leaves out pools that were read at another block than most, and pools with another price of a token sold or of a
    /// cash token than most.
    fn leave_out_differing(&mut self) {
        let blocks: Vec<_> = self.observations().iter().map(|one| Some(one.block())).collect();
        self.retain(OTHER_BLOCK, &as_most(&blocks));
        let tokens: Vec<Address> = self.cash.iter().chain(&self.sold).copied().collect();
        for token in tokens {
            let priced = |observation: &&Observation| {
                let index = observation.tokens().iter().position(|one| one.address == token)?;
                let price = observation.prices()[index];
                Some((price, observation.tokens()[index].decimals))
            };
            let prices: Vec<_> = self.observations().iter().map(priced).collect();
            self.retain(ORACLE_DIFFERS, &as_most(&prices));
        }
    }

    /// Forgets pools that lie on no path of the pools that are left, and cash tokens that no path reaches.
    fn leave_out_off_path(&mut self) {
        let pairs = self.pairs();
        let mut is_on_path = on_path(&pairs, &self.sold, &self.cash).into_iter();
        self.pools.retain(|_| is_on_path.next().unwrap_or(false));
        let pairs = self.pairs();
        self.cash.retain(|token| pairs.iter().any(|pair| pair.tokens.contains(token)));
    }

    fn pairs(&self) -> Vec<Pair> {
        let pair = |one: &&Observation| Pair {
            tokens: one.tokens().each_ref().map(|token| token.address),
            depth: 0,
        };
        self.observations().iter().map(pair).collect()
    }

    pub(crate) fn search(&self) -> Search {
        let pools = self.pools.iter().map(|one| one.prepared.clone()).collect();
        Search { sold: self.sold.clone(), cash: self.cash.clone(), pools }
    }

    /// The pools of a plan's legs.
    pub(crate) fn legs(&self, plan: &CashPlan) -> Vec<(&FoundSnapshot, Direction)> {
        let leg = |leg: &exitgap_api::CashLeg| {
            let is_its = |one: &&FoundSnapshot| one.prepared.pool.id.to_string() == leg.pool;
            let base = Base::from_code(&leg.base)?;
            Some((self.pools.iter().find(is_its)?, Direction::from(base)))
        };
        plan.legs.iter().filter_map(leg).collect()
    }

    /// Requires what all pools of a slot have in common: its age and the status of the chain.
    pub(crate) fn check_guards(&self, guards: Guards) -> Result<(), Problem> {
        let guards = Guards { min_days_observed: None, ..guards };
        self.pools.first().map_or(Ok(()), |first| guards.check(&first.guard_inputs()))
    }

    /// Keeps the curves that the search has prepared.
    pub(crate) fn keep(&self, service: &Service) {
        for found in self.pools.iter().filter(|found| found.kept) {
            let weighed = WeighedSnapshot::from_prepared(&found.prepared);
            let _ = service.prepared.replace(found.prepared.key(), weighed, true);
        }
    }
}

/// The tokens sold from which no path of the pools leads to cash.
fn without_path(pairs: &[Pair], sold: &[Address], cash: &[Address]) -> Vec<Address> {
    let leads = |token: &Address| on_path(pairs, &[*token], cash).contains(&true);
    sold.iter().copied().filter(|token| !leads(token)).collect()
}

/// Refuses more tokens than the pools of one plan can lead to cash.
pub fn too_many_tokens(chain: &ChainSlug) -> Problem {
    let detail = format!(
        "a plan sells at most {MAX_SOLD_TOKENS} tokens of a chain over at most {MAX_NETWORK_POOLS} pools, which do not lead all of these tokens of {chain} to cash"
    );
    Problem::new(ProblemCode::InvalidParameter, detail)
        .field(POSITION.name)
        .hint("divide the portfolio into several requests")
}

/// Which values are nothing or the most common one; of several, the first.
fn as_most<T: PartialEq>(values: &[Option<T>]) -> Vec<bool> {
    let count = |value: &T| values.iter().filter(|one| one.as_ref() == Some(value)).count();
    let mut most: Option<(usize, &T)> = None;
    for value in values.iter().flatten() {
        let found = count(value);
        if most.is_none_or(|(before, _)| found > before) {
            most = Some((found, value));
        }
    }
    let is_most = |value: &Option<T>| {
        value.as_ref().is_none_or(|value| most.is_some_and(|(_, most)| most == value))
    };
    values.iter().map(is_most).collect()
}

/// The refusal of tokens from which no path leads to cash: of the recorded pools, or of those that count in a slot.
pub(super) fn no_path(chain: &ChainSlug, sold: &[Address], slot: Option<Slot>) -> Problem {
    let sold: Vec<String> = sold.iter().map(ToString::to_string).collect();
    let pools = match slot {
        None => format!("recorded pools of {chain}"),
        Some(slot) => format!("pools of {chain} that count in slot {slot}"),
    };
    let detail = format!(
        "no path of at most three {pools} leads from {} to the requested tokens",
        sold.join(" or ")
    );
    Problem::new(ProblemCode::UnknownToken, detail)
        .field(INTO.name)
        .hint("give into=any, or a token that the recorded pools trade; pools that positions name take no part")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_common_value_is_kept_and_nothing_is_no_value() {
        assert_eq!(as_most(&[Some(1), Some(2), None, Some(2)]), [false, true, true, true]);
        assert_eq!(as_most(&[Some(1), Some(2)]), [true, false]);
        assert_eq!(as_most::<u8>(&[None, None]), [true, true]);
    }
}
