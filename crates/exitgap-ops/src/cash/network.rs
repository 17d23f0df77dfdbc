//! The pools of a slot that lie on a path from the token sold to cash.

use std::collections::BTreeMap;

use exitgap_api::operations::SnapshotAsked;
use exitgap_api::operations::parameters::INTO;
use exitgap_api::{CashPlan, Guards, Problem, ProblemCode, SplitLeftOut};
use exitgap_core::evidence::Base;
use exitgap_core::exit::MAX_NETWORK_POOLS;
use exitgap_core::ids::{Address, ChainSlug, PoolId};
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
    "the token sold or a cash token has another oracle price in this pool than in most pools",
);
const TOO_MANY: Why = ("too_many_venues", "24 pools are on deeper paths to cash");

/// The pools of a slot that lie on a path from the token sold to cash.
pub struct CashNetwork {
    pub token: Address,
    /// Ascending.
    pub cash: Vec<Address>,
    /// Ascending by pool.
    pub pools: Vec<FoundSnapshot>,
    pub left_out: Vec<SplitLeftOut>,
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
    /// deepest paths.
    pub(super) async fn cash_network(
        &self,
        chain: &ChainSlug,
        token: Address,
        cash: &[Address],
        at: Option<Slot>,
    ) -> Result<CashNetwork, Problem> {
        let mut candidates = candidates(&self.current(), chain, at);
        if !candidates.iter().any(|one| one.pair.tokens.contains(&token)) {
            return Err(not_traded(chain, token));
        }
        let pairs: Vec<Pair> = candidates.iter().map(|one| one.pair).collect();
        let mut is_on_path = on_path(&pairs, token, cash).into_iter();
        candidates.retain(|_| is_on_path.next().unwrap_or(false));
        let newest = candidates.iter().filter_map(|one| one.newest).max();
        let Some(slot) = at.or(newest) else { return Err(no_path(chain, token)) };
        let pairs: Vec<Pair> = candidates.iter().map(|one| one.pair).collect();
        let chosen = choose(&pairs, token, cash, MAX_NETWORK_POOLS);
        let (mut found, mut left_out, mut refused) = (Vec::new(), Vec::new(), None);
        for (place, Candidate { pool, .. }) in candidates.into_iter().enumerate() {
            if !chosen.contains(&place) {
                left_out.push(SplitLeftOut::new(&pool, TOO_MANY.0, TOO_MANY.1));
                continue;
            }
            match self.find_pool(&pool, slot).await {
                Ok(one) => found.push(one),
                Err(problem) if problem.code.http_status() >= 500 => return Err(problem),
                Err(problem) => {
                    left_out.push(SplitLeftOut::new(&pool, problem.code.as_str(), &problem.detail));
                    refused.get_or_insert(problem);
                }
            }
        }
        let mut network = CashNetwork { token, cash: cash.to_vec(), pools: found, left_out };
        network.leave_out_off_path();
        network.leave_out_differing();
        network.leave_out_off_path();
        match refused {
            Some(problem) if network.pools.is_empty() => Err(problem),
            None if network.pools.is_empty() => Err(no_path(chain, token)),
            _ => Ok(network),
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
    pub(super) fn observations(&self) -> Vec<&Observation> {
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

    /// Leaves out pools that were read at another block than most, and pools with another price of the token sold or of
    /// a cash token than most.
    fn leave_out_differing(&mut self) {
        let blocks: Vec<_> = self.observations().iter().map(|one| Some(one.block())).collect();
        self.retain(OTHER_BLOCK, &as_most(&blocks));
        let tokens: Vec<Address> = self.cash.iter().copied().chain([self.token]).collect();
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
        let mut is_on_path = on_path(&pairs, self.token, &self.cash).into_iter();
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

    pub(super) fn search(&self) -> Search {
        let pools = self.pools.iter().map(|one| one.prepared.clone()).collect();
        Search { token: self.token, cash: self.cash.clone(), pools }
    }

    /// The pools of a plan's legs.
    pub(super) fn legs(&self, plan: &CashPlan) -> Vec<(&FoundSnapshot, Direction)> {
        let leg = |leg: &exitgap_api::CashLeg| {
            let is_its = |one: &&FoundSnapshot| one.prepared.pool.id.to_string() == leg.pool;
            let base = Base::from_code(&leg.base)?;
            Some((self.pools.iter().find(is_its)?, Direction::from(base)))
        };
        plan.legs.iter().filter_map(leg).collect()
    }

    /// Requires what all pools of a slot have in common: its age and the status of the chain.
    pub(super) fn check_guards(&self, guards: Guards) -> Result<(), Problem> {
        let guards = Guards { min_days_observed: None, ..guards };
        self.pools.first().map_or(Ok(()), |first| guards.check(&first.guard_inputs()))
    }

    /// Keeps the curves that the search has prepared.
    pub(super) fn keep(&self, service: &Service) {
        for found in self.pools.iter().filter(|found| found.kept) {
            let weighed = WeighedSnapshot::from_prepared(&found.prepared);
            let _ = service.prepared.replace(found.prepared.key(), weighed, true);
        }
    }
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

fn no_path(chain: &ChainSlug, token: Address) -> Problem {
    let detail = format!(
        "no path of at most three recorded pools of {chain} leads from {token} to the requested tokens"
    );
    Problem::new(ProblemCode::UnknownToken, detail)
        .field(INTO.name)
        .hint("give into=any, or a token that the recorded pools trade")
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
