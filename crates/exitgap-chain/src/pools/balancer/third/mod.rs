//! Pools of Balancer's third vault: weighted pools and stable pools.
//!
//! A pool is read if a factory that is known on the chain, or configured, confirms that the pool is
//! its own, and if the vault named by the factory has it registered. The vault stores and reports
//! its tokens, balances, rates, fee and pauses. The pool reports its version, which determines the
//! release whose rules it uses, and its weights or amplification.
//!
//! All of the state is read at every slot (`state`), because rates, fees and pauses change without
//! a log of the pool, and live balances with them.

mod state;

use alloy::primitives::Bytes;
use alloy::sol_types::SolCall;
use exitgap_core::U256;
use exitgap_core::ids::{Address, Pair, PoolId};
use exitgap_core::pools::StableRelease;
use exitgap_core::snapshot::Observation;

use super::{VERSION_WORDS, Version, version_of};
use crate::abi::{
    Answer, BalancerFactory, BalancerPool, BalancerV3Vault, Call, UnlockCallback, own, wire,
};
use crate::config::{Factory, FactoryKind, PoolPlan};
use crate::pools::reader::{
    Candidate, Claim, DecodedState, PoolReader, Probe, RecognisedPool, data_of,
};
use crate::read_failure::ReadFailure;
use crate::trial::{Outcome, Sale, Verdict};

/// The maximum number of tokens of a pool.
const MAX_TOKENS: usize = Pair::MAX_TOKENS as usize;

/// The kind of pools that a factory makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Weighted,
    Stable,
}

/// The rules by which a pool computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Law {
    /// The release of December 2024.
    Weighted,
    /// The release of January 2026, which has minimum balances.
    WeightedWithLeast,
    Stable(StableRelease),
}

impl Family {
    fn from_kind(kind: FactoryKind) -> Option<Self> {
        match kind {
            FactoryKind::BalancerV3Weighted => Some(Self::Weighted),
            FactoryKind::BalancerV3Stable => Some(Self::Stable),
            _ => None,
        }
    }

    /// The rules of pools with this version text, or why such a pool is not read.
    fn law(self, said: Option<&str>) -> Result<Law, String> {
        match self {
            Self::Weighted => Ok(match version_of(said, "WeightedPool", &[1, 2])? {
                1 => Law::Weighted,
                _ => Law::WeightedWithLeast,
            }),
            Self::Stable => Ok(Law::Stable(match version_of(said, "StablePool", &[1, 2, 3])? {
                1 => StableRelease::First,
                2 => StableRelease::Second,
                _ => StableRelease::Third,
            })),
        }
    }
}

/// Reads one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThirdVaultReader {
    pool: Address,
    vault: Address,
    law: Law,
    /// In the vault's order; empty until the vault was asked.
    tokens: Vec<Address>,
}

fn factories(known: &[Factory]) -> impl Iterator<Item = (Address, Family)> {
    known.iter().filter_map(|factory| Some((factory.address, Family::from_kind(factory.kind)?)))
}

impl PoolReader for ThirdVaultReader {
    fn probes(plan: &PoolPlan, known: &[Factory]) -> Vec<Probe> {
        let Some(pool) = plan.id.contract().address() else { return Vec::new() };
        let of_pool = [
            // Pools of the second vault get the same calls, and only they have an id.
            Probe::new("getPoolId", pool, &BalancerPool::getPoolIdCall {}, 1),
            Probe::new("getVault", pool, &BalancerPool::getVaultCall {}, 1),
            Probe::new("version", pool, &BalancerPool::versionCall {}, 3),
        ];
        let asked = BalancerFactory::isPoolFromFactoryCall { pool: wire(pool) };
        let of_factories = factories(known).flat_map(|(factory, _)| {
            [
                Probe::new("isPoolFromFactory", factory, &asked, 1),
                Probe::new(
                    "getVault of its factory",
                    factory,
                    &BalancerFactory::getVaultCall {},
                    1,
                ),
            ]
        });
        of_pool.into_iter().chain(of_factories).collect()
    }

    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self> {
        let plan = candidate.plan;
        let (Some(pool), [id, vault, version, of_factories @ ..]) =
            (plan.id.contract().address(), answers)
        else {
            return Claim::Foreign;
        };
        let said = version.decode_list::<BalancerPool::versionCall>(VERSION_WORDS);
        let said = said.as_deref();
        let theirs = factories(candidate.factories).zip(of_factories.as_chunks::<2>().0);
        let mut theirs = theirs.filter_map(|((_, family), [is_its, vault])| {
            let is_its = is_its.exact::<BalancerFactory::isPoolFromFactoryCall>(1)?;
            let vault = vault.exact::<BalancerFactory::getVaultCall>(1).map(own);
            is_its.then_some((family, vault))
        });
        let (family, vault) = match (theirs.next(), theirs.next()) {
            (None, _) => {
                let vault = vault.exact::<BalancerPool::getVaultCall>(1);
                let second = id.exact::<BalancerPool::getPoolIdCall>(1).is_some();
                return match said.filter(|_| vault.is_some() && !second) {
                    Some(said) if serde_json::from_str::<Version>(said).is_ok() => {
                        Claim::Refused(of_nobody(said))
                    }
                    _ => Claim::Foreign,
                };
            }
            (Some((family, Some(vault))), None) => (family, vault),
            _ => return Claim::Partly,
        };
        if plan.fee.is_some() {
            return Claim::Refused("a Balancer pool reports its own fee; remove `fee`".to_owned());
        }
        match family.law(said) {
            Ok(law) => {
                let reader = Self { pool, vault, law, tokens: Vec::new() };
                Claim::Is(RecognisedPool { reader, tokens: Vec::new(), proof: None })
            }
            Err(why) => Claim::Refused(why),
        }
    }

    /// Asks the vault whether the pool is registered, and for its tokens.
    fn further(&self) -> Vec<Call> {
        vec![self.holdings_call(MAX_TOKENS)]
    }

    fn confirm_registration(
        mut self,
        _plan: &PoolPlan,
        answers: &[Answer],
    ) -> Result<(Self, Vec<Address>), String> {
        let answer = answers.first().unwrap_or(&Answer::Reverted);
        let told = (2..=MAX_TOKENS).find_map(|tokens| state::holdings_of(answer, tokens));
        let told = told.ok_or_else(|| {
            let (vault, words) = (self.vault, answer.in_words());
            format!("it is not registered in its factory's vault {vault}: getPoolTokenInfo {words}")
        })?;
        self.tokens = told.tokens.into_iter().map(own).collect();
        let tokens = self.tokens.clone();
        Ok((self, tokens))
    }

    fn name(&self) -> &'static str {
        match self.law {
            Law::Weighted | Law::WeightedWithLeast => "weighted of Balancer v3",
            Law::Stable(_) => "stable_v3 of Balancer v3",
        }
    }

    fn state_calls(&self) -> Vec<Call> {
        self.calls_for_state()
    }

    fn decode(
        &self,
        pool: &PoolId,
        _at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure> {
        self.state_of(pool, answers).map(DecodedState::Whole)
    }

    /// Each trial is reverted.
    const TRIED_AT_ONCE: usize = 2;

    fn swapped_by(&self) -> Address {
        self.vault
    }

    /// A swap in the unlocked vault, which calls its caller back to run it. The call reverts before tokens are owed,
    /// and moves none.
    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>> {
        let [first, second] = sale.pair.indices();
        let (Some(first), Some(second)) = (self.tokens.get(first), self.tokens.get(second)) else {
            return Vec::new();
        };
        let pair = [*first, *second];
        let [sold, bought] = [sale.direction.base_index(), sale.direction.quote_index()];
        let swap = BalancerV3Vault::swapCall {
            vaultSwapParams: BalancerV3Vault::VaultSwapParams {
                kind: 0,
                pool: wire(self.pool),
                tokenIn: wire(pair[sold]),
                tokenOut: wire(pair[bought]),
                amountGivenRaw: sale.amount_in,
                limitRaw: U256::ZERO,
                userData: Bytes::new(),
            },
        };
        let called_back = UnlockCallback::unlockCallbackCall { data: data_of(&swap).into() };
        let unlock = BalancerV3Vault::unlockCall { data: data_of(&called_back).into() };
        vec![data_of(&unlock)]
    }

    /// Rates often come from the token contracts themselves.
    const MOVES_TOKENS: bool = false;

    /// The trial's caller reverts with the swap's return values: the calculated, taken and paid amounts.
    fn judge(&self, _pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict {
        let Some(outcome) = outcomes.first() else {
            return Verdict::Unknown("the trial was not run".to_owned());
        };
        let told = BalancerV3Vault::swapCall::abi_decode_returns_validate(&outcome.data).ok();
        let whole = outcome.data.len() == 96 && !outcome.success;
        let (amount_in, amount_out) = (sale.amount_in, sale.amount_out);
        match told.filter(|told| whole && told.amountInRaw == amount_in) {
            Some(told) if told.amountOutRaw == amount_out => Verdict::Same,
            Some(told) => Verdict::Other(format!(
                "its vault pays {} for {amount_in}, but the computed fill is {amount_out}",
                told.amountOutRaw
            )),
            None => Verdict::Unknown(format!("swap {}", outcome.in_words())),
        }
    }
}

/// Why a pool that no factory confirms is not read.
fn of_nobody(said: &str) -> String {
    let said: String = said.chars().take(48).collect();
    format!(
        "unverified_version: it looks like a Balancer v3 pool with version {said:?}, but no known factory of \
         weighted or stable Balancer v3 pools on this chain confirms it; if it is such a pool, name its factory \
         under [[chain.factory]] with kind = \"balancer_v3_weighted\" or \"balancer_v3_stable\""
    )
}

impl ThirdVaultReader {
    /// The call for the vault's data of a pool with this many tokens.
    fn holdings_call(&self, tokens: usize) -> Call {
        let call = BalancerV3Vault::getPoolTokenInfoCall { pool: wire(self.pool) };
        Call::new(self.vault, &call, state::holdings_words(tokens))
    }
}

#[cfg(test)]
mod tests;
