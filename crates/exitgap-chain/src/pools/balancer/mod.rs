//! Pools of Balancer's second vault, which holds the tokens of all its pools: weighted pools, and
//! composable stable pools, whose own token is also one of their tokens.
//!
//! A pool is read if a factory that is known on the chain, or configured, confirms that the pool is
//! its own, and if the vault named by the pool has it registered under the pool's id. The pool's
//! version determines the release whose rules it uses. Its own token is left out: it cannot be sold
//! in the pool, and tokens are counted without it.
//!
//! All of the state is read at every slot (`state`), because rates, amplification, fees and pauses
//! change without a log of the pool.
//!
//! Pools of the third vault, which reports more about them itself, are in `third`.

mod state;
mod third;

use alloy::primitives::{B256, Bytes, I256};
use exitgap_core::U256;
use exitgap_core::ids::{Address, Pair, PoolId};
use exitgap_core::snapshot::Observation;
use serde::Deserialize;

use super::reader::{Candidate, Claim, DecodedState, PoolReader, Probe, RecognisedPool, data_of};
use crate::abi::{Answer, BalancerFactory, BalancerPool, BalancerVault, Call, own, wire};
use crate::config::{Factory, FactoryKind, NOBODY, PoolPlan};
use crate::read_failure::ReadFailure;
use crate::trial::{CALLER, Outcome, Sale, Verdict};

pub(super) use third::ThirdVaultReader;

/// The most tokens of a pool, including its own.
const MAX_TOKENS: usize = Pair::MAX_TOKENS as usize + 1;
/// The most words in a version's text.
const VERSION_WORDS: usize = 8;

/// The rules by which a pool computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Law {
    Weighted,
    ComposableStable,
}

/// A pool's version text, which is JSON.
#[derive(Debug, Deserialize)]
struct Version {
    name: String,
    version: u64,
}

impl Law {
    fn from_kind(kind: FactoryKind) -> Option<Self> {
        match kind {
            FactoryKind::BalancerV2Weighted => Some(Self::Weighted),
            FactoryKind::BalancerV2ComposableStable => Some(Self::ComposableStable),
            _ => None,
        }
    }

    /// The name that its pools report, and their versions whose arithmetic is known.
    fn releases(self) -> (&'static str, [u64; 2]) {
        match self {
            Self::Weighted => ("WeightedPool", [3, 4]),
            Self::ComposableStable => ("ComposableStablePool", [3, 6]),
        }
    }
}

/// The version that a pool reports, if its name matches and the version is known; otherwise why the pool is not read.
fn version_of(said: Option<&str>, name: &str, known: &[u64]) -> Result<u64, String> {
    let version = said.and_then(|said| serde_json::from_str::<Version>(said).ok());
    match version {
        Some(found) if found.name == name && known.contains(&found.version) => Ok(found.version),
        _ => {
            let found: String = said.unwrap_or_default().chars().take(48).collect();
            let known: Vec<String> = known.iter().map(u64::to_string).collect();
            Err(format!(
                "unverified_version: its version is {found:?}; the supported versions of {name} are {}",
                known.join(", ")
            ))
        }
    }
}

/// Reads one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BalancerReader {
    pool: Address,
    vault: Address,
    id: B256,
    law: Law,
    /// All tokens of the pool in the vault, including its own; empty until the vault was asked.
    held: Vec<Address>,
    /// The rate provider of each token of a stable pool; zero for a token without a rate.
    rate_providers: Vec<Address>,
}

fn factories(known: &[Factory]) -> impl Iterator<Item = (Address, Law)> {
    known.iter().filter_map(|factory| Some((factory.address, Law::from_kind(factory.kind)?)))
}

/// The calls to the pool itself.
fn own_probes(pool: Address) -> [Probe; 4] {
    let list = 2 + MAX_TOKENS;
    [
        Probe::new("getPoolId", pool, &BalancerPool::getPoolIdCall {}, 1),
        Probe::new("getVault", pool, &BalancerPool::getVaultCall {}, 1),
        // Curve's pools get the same call but return a shorter text.
        Probe::new("version", pool, &BalancerPool::versionCall {}, 3),
        Probe::new("getRateProviders", pool, &BalancerPool::getRateProvidersCall {}, list),
    ]
}

/// The kind of pool according to the factories that confirm it; `Err` if they disagree.
fn law_of(known: &[Factory], answers: &[Answer]) -> Result<Option<Law>, ()> {
    let theirs = factories(known).zip(answers).filter_map(|((_, law), answer)| {
        let is_its = answer.exact::<BalancerFactory::isPoolFromFactoryCall>(1)?;
        is_its.then_some(law)
    });
    let mut theirs: Vec<Law> = theirs.collect();
    theirs.dedup();
    match theirs[..] {
        [] => Ok(None),
        [law] => Ok(Some(law)),
        _ => Err(()),
    }
}

impl PoolReader for BalancerReader {
    fn probes(plan: &PoolPlan, known: &[Factory]) -> Vec<Probe> {
        let Some(pool) = plan.id.contract().address() else { return Vec::new() };
        let asked = BalancerFactory::isPoolFromFactoryCall { pool: wire(pool) };
        let of_factories = factories(known)
            .map(|(factory, _)| Probe::new("isPoolFromFactory", factory, &asked, 1));
        own_probes(pool).into_iter().chain(of_factories).collect()
    }

    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self> {
        let plan = candidate.plan;
        let (Some(pool), [id, vault, version, providers, of_factories @ ..]) =
            (plan.id.contract().address(), answers)
        else {
            return Claim::Foreign;
        };
        let id = id.exact::<BalancerPool::getPoolIdCall>(1);
        let vault = vault.exact::<BalancerPool::getVaultCall>(1).map(own);
        let law = match (law_of(candidate.factories, of_factories), id, vault) {
            (Err(()), ..) => return Claim::Partly,
            (Ok(Some(law)), ..) => law,
            (Ok(None), Some(_), Some(_)) => {
                return Claim::Refused(
                    "it looks like a Balancer v2 pool, but no known Balancer v2 factory on this chain confirms \
                     it; name its factory under [[chain.factory]] with kind = \"balancer_v2_weighted\" or \
                     \"balancer_v2_composable_stable\""
                        .to_owned(),
                );
            }
            (Ok(None), ..) => return Claim::Foreign,
        };
        let version = version.decode_list::<BalancerPool::versionCall>(VERSION_WORDS);
        let (name, known) = law.releases();
        if let Err(why) = version_of(version.as_deref(), name, &known) {
            return Claim::Refused(why);
        }
        if plan.fee.is_some() {
            return Claim::Refused("a Balancer pool reports its own fee; remove `fee`".to_owned());
        }
        let providers = providers.decode_list::<BalancerPool::getRateProvidersCall>(MAX_TOKENS);
        let (Some(id), Some(vault)) = (id, vault) else { return Claim::Partly };
        let rate_providers = providers.unwrap_or_default().into_iter().map(own).collect();
        let reader = Self { pool, vault, id, law, held: Vec::new(), rate_providers };
        Claim::Is(RecognisedPool { reader, tokens: Vec::new(), proof: None })
    }

    /// Asks the vault whether the pool is registered under its id, and for its tokens.
    fn further(&self) -> Vec<Call> {
        let pool_id = self.id;
        let registered = BalancerVault::getPoolCall { poolId: pool_id };
        vec![Call::new(self.vault, &registered, 2), self.holdings_call(MAX_TOKENS)]
    }

    fn confirm_registration(
        mut self,
        plan: &PoolPlan,
        answers: &[Answer],
    ) -> Result<(Self, Vec<Address>), String> {
        let vault = self.vault;
        let [registered, held] = answers else {
            return Err(format!("its vault {vault} was not queried"));
        };
        let named = registered.exact::<BalancerVault::getPoolCall>(2).map(|told| own(told.pool));
        if named != Some(self.pool) {
            let words =
                named.map_or_else(|| registered.in_words(), |other| format!("it returned {other}"));
            return Err(format!(
                "its vault {vault} does not confirm that the pool is registered under {}: {words}",
                self.id
            ));
        }
        let told = (2..=MAX_TOKENS)
            .find_map(|held_words| state::holdings_of(held, held_words))
            .ok_or_else(|| format!("its vault {vault}: getPoolTokens {}", held.in_words()))?;
        self.held = told.tokens.into_iter().map(own).collect();
        if self.law == Law::Weighted {
            // Only the protocol's fees depend on these rates.
            self.rate_providers = vec![NOBODY; self.held.len()];
        }
        let tokens = self.tokens();
        let own_token = self.held.len() - tokens.len();
        if own_token != usize::from(self.law == Law::ComposableStable)
            || self.rate_providers.len() != self.held.len()
            || !(2..MAX_TOKENS).contains(&tokens.len())
        {
            return Err(format!(
                "its vault {vault} lists {} tokens for it, {own_token} of them its own, and the pool lists {} \
                 rate providers",
                self.held.len(),
                self.rate_providers.len()
            ));
        }
        let count = tokens.len();
        if plan.id.pair().is_some_and(|pair| pair.indices()[1] == count) && own_token == 1 {
            return Err(format!(
                "pool_token: the pool's own token cannot be sold here and is not counted; its other {count} \
                 tokens are numbered from 0 in the order of its vault"
            ));
        }
        Ok((self, tokens))
    }

    fn name(&self) -> &'static str {
        match self.law {
            Law::Weighted => "weighted of Balancer v2",
            Law::ComposableStable => "stable_v2 of Balancer's composable stable pools",
        }
    }

    fn state_calls(&self) -> Vec<Call> {
        self.calls_for_state()
    }

    fn decode(
        &self,
        pool: &PoolId,
        at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure> {
        self.state_of(pool, at, answers).map(DecodedState::Whole)
    }

    /// Each trial is reverted.
    const TRIED_AT_ONCE: usize = 2;

    fn swapped_by(&self) -> Address {
        self.vault
    }

    /// The vault's own query: it runs the pool's code as in a swap, reverts, and moves no tokens.
    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>> {
        let tokens = self.tokens();
        let [first, second] = sale.pair.indices();
        let (Some(first), Some(second)) = (tokens.get(first), tokens.get(second)) else {
            return Vec::new();
        };
        let pair = [*first, *second];
        let [sold, bought] = [sale.direction.base_index(), sale.direction.quote_index()];
        let step = BalancerVault::BatchSwapStep {
            poolId: self.id,
            assetInIndex: U256::ZERO,
            assetOutIndex: U256::ONE,
            amount: sale.amount_in,
            userData: Bytes::new(),
        };
        let funds = BalancerVault::FundManagement {
            sender: wire(CALLER),
            fromInternalBalance: false,
            recipient: wire(CALLER),
            toInternalBalance: false,
        };
        vec![data_of(&BalancerVault::queryBatchSwapCall {
            kind: 0,
            swaps: vec![step],
            assets: vec![wire(pair[sold]), wire(pair[bought])],
            funds,
        })]
    }

    /// Rates often come from the token contracts themselves.
    const MOVES_TOKENS: bool = false;

    fn judge(&self, _pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict {
        let Some(outcome) = outcomes.first() else {
            return Verdict::Unknown("the trial was not run".to_owned());
        };
        let told = Answer::Returned(outcome.data.clone());
        let told = told.exact::<BalancerVault::queryBatchSwapCall>(4).filter(|_| outcome.success);
        let (amount_in, amount_out) = (sale.amount_in, sale.amount_out);
        match told.as_deref() {
            // The vault's deltas are positive for tokens that it receives, and negative for those that it pays.
            Some([given, paid]) if *given == I256::from_raw(amount_in) => {
                let paid = paid.wrapping_neg().into_raw();
                if paid == amount_out {
                    return Verdict::Same;
                }
                Verdict::Other(format!(
                    "its vault pays {paid} for {amount_in}, but the computed fill is {amount_out}"
                ))
            }
            _ => Verdict::Unknown(format!("queryBatchSwap {}", outcome.in_words())),
        }
    }
}

impl BalancerReader {
    /// The tokens without the pool's own.
    fn tokens(&self) -> Vec<Address> {
        self.held.iter().copied().filter(|token| *token != self.pool).collect()
    }

    /// The call for the vault's balances of `tokens` tokens.
    fn holdings_call(&self, tokens: usize) -> Call {
        let call = BalancerVault::getPoolTokensCall { poolId: self.id };
        Call::new(self.vault, &call, state::holdings_words(tokens))
    }
}

#[cfg(test)]
mod tests;
