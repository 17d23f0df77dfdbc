//! The calls that read a pool's state, and the decoding of their answers.

use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::{PoolState, StableV2, VaultParts, Weighted};
use exitgap_core::series::MissingReason;

use super::{BalancerReader, Law};
use crate::abi::{Answer, BalancerPool, BalancerVault, Call, RateProvider, own, wire};
use crate::config::NOBODY;
use crate::pools::answer_cursor::{AnswerCursor, inconsistent};
use crate::pools::call_failure;
use crate::read_failure::ReadFailure;

/// One, with eighteen decimals.
const ONE: U256 = U256::from_limbs([1_000_000_000_000_000_000, 0, 0, 0]);
/// The factor by which amplification values are scaled.
const AMP_PRECISION: U256 = U256::from_limbs([1_000, 0, 0, 0]);

/// The number of words in an answer with this many tokens, their balances, and a block.
pub(super) const fn holdings_words(tokens: usize) -> usize {
    5 + 2 * tokens
}

/// Decodes the vault's tokens and balances of a pool, if there are `tokens` of them.
pub(super) fn holdings_of(
    answer: &Answer,
    tokens: usize,
) -> Option<BalancerVault::getPoolTokensReturn> {
    let told = answer.exact::<BalancerVault::getPoolTokensCall>(holdings_words(tokens))?;
    (told.tokens.len() == tokens && told.balances.len() == tokens).then_some(told)
}

impl BalancerReader {
    /// The tokens of a stable pool that have a rate provider, with the provider.
    fn rated_tokens(&self) -> impl Iterator<Item = (Address, Address)> {
        let tokens = self.held.iter().copied().zip(self.rate_providers.iter().copied());
        tokens.filter(|(token, provider)| self.is_rated(*token, *provider))
    }

    fn is_rated(&self, token: Address, provider: Address) -> bool {
        provider != NOBODY && token != self.pool
    }

    pub(super) fn calls_for_state(&self) -> Vec<Call> {
        let (pool, list) = (self.pool, 2 + self.held.len());
        let mut calls = vec![
            Call::new(self.vault, &BalancerVault::getPausedStateCall {}, 3),
            Call::new(pool, &BalancerPool::getPausedStateCall {}, 3),
            Call::new(pool, &BalancerPool::inRecoveryModeCall {}, 1),
            self.holdings_call(self.held.len()),
            Call::new(pool, &BalancerPool::getSwapFeePercentageCall {}, 1),
            Call::new(pool, &BalancerPool::getScalingFactorsCall {}, list),
        ];
        calls.push(match self.law {
            Law::Weighted => Call::new(pool, &BalancerPool::getNormalizedWeightsCall {}, list),
            Law::ComposableStable => {
                Call::new(pool, &BalancerPool::getAmplificationParameterCall {}, 3)
            }
        });
        for (token, provider) in self.rated_tokens() {
            let kept = BalancerPool::getTokenRateCacheCall { token: wire(token) };
            calls.push(Call::new(pool, &kept, 4));
            calls.push(Call::new(provider, &RateProvider::getRateCall {}, 1));
        }
        calls
    }

    /// The state in a block with this timestamp.
    pub(super) fn state_of(
        &self,
        pool: &PoolId,
        at: u64,
        answers: &[Answer],
    ) -> Result<PoolState, ReadFailure> {
        let mut told = AnswerCursor::new(pool, answers);
        self.refuse_stopped(&mut told)?;
        let count = self.held.len();
        let answer = told.answer();
        let holdings = holdings_of(answer, count)
            .ok_or_else(|| call_failure(pool, "its vault's getPoolTokens", answer))?;
        if holdings.tokens.iter().copied().map(own).ne(self.held.iter().copied()) {
            return Err(inconsistent(pool, "its vault lists different tokens than before"));
        }
        let fee = told.next::<BalancerPool::getSwapFeePercentageCall>("getSwapFeePercentage", 1)?;
        let factors =
            told.list::<BalancerPool::getScalingFactorsCall>("getScalingFactors", count)?;
        let of_law = match self.law {
            Law::Weighted => {
                told.list::<BalancerPool::getNormalizedWeightsCall>("getNormalizedWeights", count)?
            }
            Law::ComposableStable => vec![amplification(&mut told)?],
        };
        let mut parts = VaultParts {
            balances: Vec::new(),
            live_balances: None,
            scaling_factors: Vec::new(),
            rates: Vec::new(),
            // A fee with more than 64 bits is above one and will be refused.
            swap_fee: u64::try_from(fee).unwrap_or(u64::MAX),
        };
        for (place, token) in self.held.iter().enumerate() {
            let (kept, used) = if self.is_rated(*token, self.rate_providers[place]) {
                rate(&mut told, *token, at)?
            } else {
                (ONE, ONE)
            };
            if *token == self.pool {
                continue;
            }
            parts.balances.push(holdings.balances[place]);
            parts.scaling_factors.push(remove_rate(pool, *token, factors[place], kept)?);
            parts.rates.push(used);
        }
        let small = |found: &U256| u64::try_from(*found).unwrap_or(u64::MAX);
        let state = match self.law {
            Law::Weighted => {
                Weighted::new(parts, of_law.iter().map(small).collect(), None).map(Into::into)
            }
            Law::ComposableStable => StableV2::new(parts, small(&of_law[0])).map(Into::into),
        };
        state.map_err(|error| inconsistent(pool, error))
    }

    /// Refuses a pool that is paused, or could be.
    fn refuse_stopped(&self, told: &mut AnswerCursor<'_>) -> Result<(), ReadFailure> {
        let pool = told.pool();
        let vault =
            told.next::<BalancerVault::getPausedStateCall>("its vault's getPausedState", 3)?;
        let own = told.next::<BalancerPool::getPausedStateCall>("getPausedState", 3)?;
        let recovers = told.next::<BalancerPool::inRecoveryModeCall>("inRecoveryMode", 1)?;
        let why = if vault.paused {
            format!("paused: its vault {} allows no swaps", self.vault)
        } else if own.paused {
            "paused: the pool allows no swaps".to_owned()
        } else if recovers {
            "recovery_mode: the pool only returns its tokens, and has no price".to_owned()
        } else {
            return Ok(());
        };
        Err(ReadFailure::new(MissingReason::PoolUnsupported, format!("pool {pool}: {why}")))
    }
}

/// The current amplification, in thousandths.
pub(super) fn amplification(told: &mut AnswerCursor<'_>) -> Result<U256, ReadFailure> {
    let call = "getAmplificationParameter";
    let found = told.next::<BalancerPool::getAmplificationParameterCall>(call, 3)?;
    if found.precision == AMP_PRECISION {
        return Ok(found.value);
    }
    Err(inconsistent(
        told.pool(),
        format!("{call} has the unexpected precision {}", found.precision),
    ))
}

/// A token's cached rate, and the rate that a swap uses: the cached one until it expires, afterwards the provider's.
fn rate(told: &mut AnswerCursor<'_>, token: Address, at: u64) -> Result<(U256, U256), ReadFailure> {
    let kept = told.next::<BalancerPool::getTokenRateCacheCall>("getTokenRateCache", 4)?;
    let provided = told.answer();
    if U256::from(at) <= kept.expires {
        return Ok((kept.rate, kept.rate));
    }
    let Some(used) = provided.exact::<RateProvider::getRateCall>(1) else {
        let ReadFailure { reason, detail } = call_failure(told.pool(), "getRate", provided);
        let detail = format!("{detail}; rate_unreadable: the rate of token {token}");
        return Err(ReadFailure::new(reason, detail));
    };
    Ok((kept.rate, used))
}

/// Removes the cached rate from a scaling factor with eighteen decimals, which leaves `10^(18 − decimals)`.
fn remove_rate(
    pool: &PoolId,
    token: Address,
    factor: U256,
    kept: U256,
) -> Result<U256, ReadFailure> {
    let whole = factor.checked_div(kept).filter(|whole| whole.checked_mul(kept) == Some(factor));
    let is_power = |number: &U256| {
        (0..=18_u64).any(|decimals| U256::from(10).pow(U256::from(decimals)) == *number)
    };
    whole.filter(is_power).ok_or_else(|| {
        let what = format!("getScalingFactors returned {factor} for token {token}, which does not fit its rate {kept}");
        inconsistent(pool, what)
    })
}
