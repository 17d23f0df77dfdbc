//! Version 2 of Aerodrome and Velodrome: pools of two tokens, volatile or stable, that ask their
//! factory for the fee and for pauses at every swap.
//!
//! Many contracts descend from Solidly and respond alike, but not all compute alike. A pool is read
//! only if its factory is known on the chain, or configured, and confirms that the pool is its own.

use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::{FeeRate, Solidly};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Observation;

use super::call_failure;
use super::pair::{self, Pair};
use super::reader::{Candidate, Claim, DecodedState, PoolReader, Probe, RecognisedPool, data_of};
use crate::abi::{Answer, Call, Solidly as Contract, SolidlyFactory, wire};
use crate::config::{Factory, FactoryKind, PoolPlan};
use crate::read_failure::ReadFailure;
use crate::trial::{Outcome, Sale, Verdict};

/// The number of words in the answer of `metadata`.
const METADATA_WORDS: usize = 7;

/// Reads one pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SolidlyReader {
    pool: Address,
    factory: Address,
    tokens: [Address; 2],
    stable: bool,
}

/// The calls that distinguish pools descended from Solidly from similar pairs.
pub(super) fn probes(pool: Address) -> [Probe; 2] {
    [
        Probe::new("stable", pool, &Contract::stableCall {}, 1),
        Probe::new("metadata", pool, &Contract::metadataCall {}, METADATA_WORDS),
    ]
}

/// Whether any of these calls was answered.
pub(super) fn answers_any(stable: &Answer, metadata: &Answer) -> bool {
    stable.exact::<Contract::stableCall>(1).is_some() || metadata_of(metadata).is_some()
}

fn metadata_of(answer: &Answer) -> Option<Contract::metadataReturn> {
    answer.exact::<Contract::metadataCall>(METADATA_WORDS)
}

impl PoolReader for SolidlyReader {
    fn probes(plan: &PoolPlan, _factories: &[Factory]) -> Vec<Probe> {
        let Some(pool) = plan.id.contract().address() else { return Vec::new() };
        let mut asked = pair::probes(pool);
        asked.extend(probes(pool));
        asked
    }

    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self> {
        let plan = candidate.plan;
        let (Some((pair, [stable, metadata])), Some(pool)) =
            (Pair::from_answers(answers), plan.id.contract().address())
        else {
            return Claim::Foreign;
        };
        if !answers_any(stable, metadata) {
            return Claim::Foreign;
        }
        let Pair { tokens, factory } = pair;
        let of_kind =
            |known: &Factory| known.address == factory && known.kind == FactoryKind::AerodromeV2;
        if !candidate.factories.iter().any(of_kind) {
            return Claim::Refused(format!(
                "it looks like a Solidly-type pair (such as Aerodrome's and Velodrome's), but its factory \
                 {factory} is unknown on this chain; if it is the factory of Aerodrome or Velodrome v2, name it \
                 under [[chain.factory]]"
            ));
        }
        if plan.fee.is_some() {
            return Claim::Refused(
                "the factory of a Solidly-type pair reports its fee; remove `fee`".to_owned(),
            );
        }
        let (Some(stable), Some(_)) =
            (stable.exact::<Contract::stableCall>(1), metadata_of(metadata))
        else {
            return Claim::Partly;
        };
        let [token0, token1] = tokens.map(wire);
        let asked = SolidlyFactory::getPoolCall { tokenA: token0, tokenB: token1, stable };
        let proof = Some(Call::new(factory, &asked, 1));
        let reader = Self { pool, factory, tokens, stable };
        Claim::Is(RecognisedPool { reader, tokens: tokens.to_vec(), proof })
    }

    fn name(&self) -> &'static str {
        if self.stable {
            "solidly of Aerodrome v2, stable"
        } else {
            "solidly of Aerodrome v2, volatile"
        }
    }

    fn state_calls(&self) -> Vec<Call> {
        let fee = SolidlyFactory::getFeeCall { pool: wire(self.pool), stable: self.stable };
        vec![
            Call::new(self.pool, &Contract::metadataCall {}, METADATA_WORDS),
            Call::new(self.factory, &fee, 1),
            Call::new(self.factory, &SolidlyFactory::isPausedCall {}, 1),
        ]
    }

    fn decode(
        &self,
        pool: &PoolId,
        _at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure> {
        let [metadata, fee, paused] = answers else {
            return Err(call_failure(pool, "metadata", &Answer::Reverted));
        };
        let told = metadata_of(metadata).ok_or_else(|| call_failure(pool, "metadata", metadata))?;
        let fee = fee
            .exact::<SolidlyFactory::getFeeCall>(1)
            .ok_or_else(|| call_failure(pool, "its factory's getFee", fee))?;
        let paused = paused
            .exact::<SolidlyFactory::isPausedCall>(1)
            .ok_or_else(|| call_failure(pool, "its factory's isPaused", paused))?;
        if paused {
            let detail =
                format!("pool {pool}: paused: its factory {} allows no swaps", self.factory);
            return Err(ReadFailure::new(MissingReason::PoolUnsupported, detail));
        }
        let inconsistent = |what: String| {
            ReadFailure::new(MissingReason::StateInconsistent, format!("pool {pool}: {what}"))
        };
        if (told.st, [told.t0, told.t1]) != (self.stable, self.tokens.map(wire)) {
            return Err(inconsistent(
                "metadata names a different pair than the pool was made for".to_owned(),
            ));
        }
        let [Some(of_0), Some(of_1)] = [told.dec0, told.dec1].map(decimals_of) else {
            let (first, second) = (told.dec0, told.dec1);
            return Err(inconsistent(format!("units {first} and {second} are not powers of ten")));
        };
        // A fee with more than 64 bits is above one and will be refused.
        let numerator = u64::try_from(fee).unwrap_or(u64::MAX);
        let fee = FeeRate { numerator, denominator: Solidly::FEE_DENOMINATOR };
        let state = Solidly::new(self.stable, [told.r0, told.r1], [of_0, of_1], fee)
            .map_err(|error| inconsistent(error.to_string()))?;
        Ok(DecodedState::Whole(state.into()))
    }

    /// The pool can be paid for only one trial at a time.
    const TRIED_AT_ONCE: usize = 1;

    fn swapped_by(&self) -> Address {
        self.pool
    }

    /// After the pool was paid, it must quote and pay exactly the fill; and one unit, which shows that a trial is
    /// possible at all. How much more than its quote it would pay depends only on its rounding.
    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>> {
        let token = wire(self.tokens[sale.direction.base_index()]);
        let quote = Contract::getAmountOutCall { amountIn: sale.amount_in, tokenIn: token };
        vec![data_of(&quote), pair::swap(sale, sale.amount_out), pair::swap(sale, U256::ONE)]
    }

    /// The reserves plus the payment to the pool.
    fn trial_balance(&self, pool: &Observation, sale: &Sale, token: usize) -> Option<U256> {
        let reserves = Solidly::from_state(pool.state())?.reserves();
        let paid = if token == sale.direction.base_index() { sale.amount_in } else { U256::ZERO };
        reserves[token].checked_add(paid)
    }

    fn judge(&self, _pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict {
        let [quote, fill, least] = outcomes else {
            return Verdict::Unknown("the trial was set up incorrectly".to_owned());
        };
        if !least.success {
            return Verdict::Unknown(format!("swap {}", least.in_words()));
        }
        let told = quote.data.as_ref().try_into().map(U256::from_be_bytes::<32>);
        let (amount_in, amount_out) = (sale.amount_in, sale.amount_out);
        let base = sale.direction.base_index();
        match told {
            Ok(told) if quote.success && told != amount_out => Verdict::Other(format!(
                "for {amount_in} of token{base} it quotes {told}, but its kind and fee give {amount_out}"
            )),
            Ok(_) if quote.success && fill.success => Verdict::Same,
            Ok(_) if quote.success => Verdict::Other(format!(
                "for {amount_in} of token{base} it does not pay the {amount_out} that it quotes: swap {}",
                fill.in_words()
            )),
            _ => Verdict::Unknown(format!("getAmountOut {}", quote.in_words())),
        }
    }
}

/// The exponent `n` if the number is `10^n`.
fn decimals_of(unit: U256) -> Option<u8> {
    let mut power = U256::ONE;
    for decimals in 0..=77 {
        if power == unit {
            return Some(decimals);
        }
        power = power.checked_mul(U256::from(10))?;
    }
    None
}

#[cfg(test)]
mod tests;
