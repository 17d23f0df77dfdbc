//! The calls that read a pool's state, and the decoding of their answers.

use exitgap_core::ids::PoolId;
use exitgap_core::pools::{PoolState, StableV3, VaultParts, Weighted};

use super::{Law, ThirdVaultReader};
use crate::abi::{Answer, BalancerPool, BalancerV3Pool, BalancerV3Vault, Call, own, wire};
use crate::config::NOBODY;
use crate::pools::answer_cursor::{AnswerCursor, inconsistent, refuse_pool};
use crate::pools::balancer::state::amplification;
use crate::pools::call_failure;
use crate::read_failure::ReadFailure;

/// The number of words in an answer with this many tokens, three values for each, and two balances for each.
pub(super) const fn holdings_words(tokens: usize) -> usize {
    8 + 6 * tokens
}

/// Decodes the vault's tokens and balances of a pool, if there are `tokens` of them.
pub(super) fn holdings_of(
    answer: &Answer,
    tokens: usize,
) -> Option<BalancerV3Vault::getPoolTokenInfoReturn> {
    let told = answer.exact::<BalancerV3Vault::getPoolTokenInfoCall>(holdings_words(tokens))?;
    (told.tokens.len() == tokens && told.balancesRaw.len() == tokens).then_some(told)
}

impl ThirdVaultReader {
    pub(super) fn calls_for_state(&self) -> Vec<Call> {
        let (vault, pool, count) = (self.vault, wire(self.pool), self.tokens.len());
        let list = 2 + count;
        let mut calls = vec![
            Call::new(vault, &BalancerV3Vault::isVaultPausedCall {}, 1),
            Call::new(vault, &BalancerV3Vault::isPoolPausedCall { pool }, 1),
            Call::new(vault, &BalancerV3Vault::isPoolInRecoveryModeCall { pool }, 1),
            Call::new(vault, &BalancerV3Vault::getHooksConfigCall { pool }, 11),
            self.holdings_call(count),
            Call::new(vault, &BalancerV3Vault::getPoolTokenRatesCall { pool }, 2 + 2 * (1 + count)),
            Call::new(vault, &BalancerV3Vault::getCurrentLiveBalancesCall { pool }, list),
            Call::new(vault, &BalancerV3Vault::getStaticSwapFeePercentageCall { pool }, 1),
        ];
        let weights = Call::new(self.pool, &BalancerPool::getNormalizedWeightsCall {}, list);
        match self.law {
            Law::Weighted => calls.push(weights),
            Law::WeightedWithLeast => {
                let least = BalancerV3Pool::getMinTokenBalancesCall {};
                calls.extend([weights, Call::new(self.pool, &least, list)]);
            }
            Law::Stable(_) => {
                let amp = BalancerPool::getAmplificationParameterCall {};
                calls.push(Call::new(self.pool, &amp, 3));
            }
        }
        calls.extend(self.tokens.iter().map(|token| {
            let wrapped =
                BalancerV3Vault::isERC4626BufferInitializedCall { wrappedToken: wire(*token) };
            Call::new(vault, &wrapped, 1)
        }));
        calls
    }

    /// The state according to the answers.
    pub(super) fn state_of(
        &self,
        pool: &PoolId,
        answers: &[Answer],
    ) -> Result<PoolState, ReadFailure> {
        let count = self.tokens.len();
        let mut told = AnswerCursor::new(pool, answers);
        self.refuse_stopped(&mut told)?;
        refuse_hooks(&mut told)?;
        let answer = told.answer();
        let holdings = holdings_of(answer, count)
            .ok_or_else(|| call_failure(pool, "its vault's getPoolTokenInfo", answer))?;
        if holdings.tokens.iter().copied().map(own).ne(self.tokens.iter().copied()) {
            return Err(inconsistent(pool, "its vault lists different tokens than before"));
        }
        let rates = told.answer();
        if *rates == Answer::Reverted {
            let ReadFailure { reason, detail } =
                call_failure(pool, "its vault's getPoolTokenRates", rates);
            return Err(ReadFailure::new(reason, format!("{detail}; rate_unreadable")));
        }
        let rates = rates
            .exact::<BalancerV3Vault::getPoolTokenRatesCall>(2 + 2 * (1 + count))
            .ok_or_else(|| call_failure(pool, "its vault's getPoolTokenRates", rates))?;
        let live = told.list::<BalancerV3Vault::getCurrentLiveBalancesCall>(
            "its vault's getCurrentLiveBalances",
            count,
        )?;
        let fee = told.next::<BalancerV3Vault::getStaticSwapFeePercentageCall>(
            "its vault's getStaticSwapFeePercentage",
            1,
        )?;
        let small = |found: &exitgap_core::U256| u64::try_from(*found).unwrap_or(u64::MAX);
        let parts = VaultParts {
            balances: holdings.balancesRaw,
            live_balances: Some(live),
            scaling_factors: told.of_each(
                "getPoolTokenRates",
                rates.decimalScalingFactors,
                count,
            )?,
            rates: told.of_each("getPoolTokenRates", rates.tokenRates, count)?,
            // A fee with more than 64 bits is above one and will be refused.
            swap_fee: small(&fee),
        };
        let state = match self.law {
            Law::Weighted | Law::WeightedWithLeast => {
                let weights = told.list::<BalancerPool::getNormalizedWeightsCall>(
                    "getNormalizedWeights",
                    count,
                )?;
                let least = (self.law == Law::WeightedWithLeast)
                    .then(|| {
                        told.list::<BalancerV3Pool::getMinTokenBalancesCall>(
                            "getMinTokenBalances",
                            count,
                        )
                    })
                    .transpose()?;
                self.refuse_boosted(&mut told)?;
                Weighted::new(parts, weights.iter().map(small).collect(), least).map(Into::into)
            }
            Law::Stable(release) => {
                let amp = small(&amplification(&mut told)?);
                self.refuse_boosted(&mut told)?;
                StableV3::new(parts, amp, release).map(Into::into)
            }
        };
        state.map_err(|error| inconsistent(pool, error))
    }

    /// Refuses a pool that is paused, or could be.
    fn refuse_stopped(&self, told: &mut AnswerCursor<'_>) -> Result<(), ReadFailure> {
        let all =
            told.next::<BalancerV3Vault::isVaultPausedCall>("its vault's isVaultPaused", 1)?;
        let it = told.next::<BalancerV3Vault::isPoolPausedCall>("its vault's isPoolPaused", 1)?;
        let recovers = told.next::<BalancerV3Vault::isPoolInRecoveryModeCall>(
            "its vault's isPoolInRecoveryMode",
            1,
        )?;
        if all {
            let why = format!("paused: its vault {} allows no swaps", self.vault);
            return Err(refuse_pool(told.pool(), why));
        }
        if it {
            return Err(refuse_pool(told.pool(), "paused: its vault allows no swaps in the pool"));
        }
        if recovers {
            let why = "recovery_mode: its vault only returns its tokens, and no longer maintains its live balances";
            return Err(refuse_pool(told.pool(), why));
        }
        Ok(())
    }

    /// Refuses a pool of tokens that the vault wraps and unwraps itself. Traders sell and buy the underlying tokens
    /// there, through buffers whose state is not read here.
    fn refuse_boosted(&self, told: &mut AnswerCursor<'_>) -> Result<(), ReadFailure> {
        for token in &self.tokens {
            let wrapped = told.next::<BalancerV3Vault::isERC4626BufferInitializedCall>(
                "its vault's isERC4626BufferInitialized",
                1,
            )?;
            if wrapped {
                let why = format!(
                    "boosted: its token {token} has a buffer in the vault, which trades the underlying token"
                );
                return Err(refuse_pool(told.pool(), why));
            }
        }
        Ok(())
    }
}

/// Refuses a pool with hooks, which call another contract during its operations.
fn refuse_hooks(told: &mut AnswerCursor<'_>) -> Result<(), ReadFailure> {
    let hooks =
        told.next::<BalancerV3Vault::getHooksConfigCall>("its vault's getHooksConfig", 11)?;
    let contract = own(hooks.hooksContract);
    if hooks.shouldCallComputeDynamicSwapFee {
        let why = format!("dynamic_fee: its hooks contract {contract} sets the fee of every swap");
        return Err(refuse_pool(told.pool(), why));
    }
    if contract != NOBODY {
        let why =
            format!("hook: the pool calls the hooks contract {contract} during its operations");
        return Err(refuse_pool(told.pool(), why));
    }
    Ok(())
}
