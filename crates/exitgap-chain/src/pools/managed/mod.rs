//! Uniswap v4: pools in one manager contract, identified by the hash of their key. Their words are read from the
//! manager's storage, whose layout is in `storage`.
//!
//! The manager reports whether a pool exists. Its key, which is configured and proven by its id,
//! describes the pool. Two kinds are rejected with a code: `hook`, a contract that may change the
//! output of a swap, and `dynamic_fee`, a fee set by such a contract.

mod storage;

use alloy::primitives::{Bytes, I256};
use alloy::sol_types::{SolCall, SolEvent};
use alloy_rpc_types_eth::Log;
use exitgap_core::U256;
use exitgap_core::ids::{Address, Code, PoolId, Word};
use exitgap_core::pools::{ConcentratedV4, Direction, PoolState};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::{Fact, Observation};

use super::concentrated::{logs, price, swap_trial, ticks};
use super::reader::{
    Candidate, Claim, DecodedState, Part, PartReader, PartialState, Parts, PoolReader, Probe,
    RecognisedPool, StateJoinError, Watch, data_of,
};
use crate::abi::{Answer, Call, V4Manager, V4SwapParams};
use crate::blocks::contradiction;
use crate::config::{Factory, FactoryKind, NOBODY, PoolKey, PoolPlan};
use crate::read_failure::ReadFailure;
use crate::rpc::RpcError;
use crate::trial::{Outcome, Sale, Verdict};
use storage::{Storage, all_words, words_of};

/// Reads one pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ManagedReader {
    storage: Storage,
    id: Word,
    key: PoolKey,
}

/// The values that change with every swap, and the fees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Price {
    sqrt_price_x96: U256,
    tick: i32,
    liquidity: u128,
    lp_fee_pips: u32,
    protocol_fee: [u32; 2],
    tick_spacing: i32,
}

impl PartialState for Price {
    fn join(&self, parts: &Parts) -> Result<PoolState, StateJoinError> {
        let Self { sqrt_price_x96, tick, liquidity, lp_fee_pips, protocol_fee, tick_spacing } =
            *self;
        let ticks = ticks::unpack_ticks(parts);
        ConcentratedV4::new(
            sqrt_price_x96,
            tick,
            liquidity,
            lp_fee_pips,
            protocol_fee,
            tick_spacing,
            ticks,
        )
        .map(PoolState::from)
        .map_err(price::to_join_error)
    }
}

/// `count` bits of a word, starting at bit `from`.
fn bits(word: U256, from: usize, count: usize) -> u32 {
    (word >> from).wrapping_to::<u32>() & ((1 << count) - 1)
}

impl Price {
    fn from_words(slot0: U256, liquidity: U256, tick_spacing: i32) -> Self {
        // The tick's 24 bits, sign-extended.
        let tick = bits(slot0, 160, 24).cast_signed() << 8 >> 8;
        Self {
            sqrt_price_x96: slot0 & ((U256::ONE << 160) - U256::ONE),
            tick,
            liquidity: liquidity.wrapping_to(),
            lp_fee_pips: bits(slot0, 208, 24),
            // The low 12 bits apply when token 0 is sold.
            protocol_fee: [bits(slot0, 184, 12), bits(slot0, 196, 12)],
            tick_spacing,
        }
    }
}

/// The manager contract of this chain's pools.
fn manager_of(factories: &[Factory]) -> Option<Address> {
    factories.iter().find(|known| known.kind == FactoryKind::UniswapV4).map(|known| known.address)
}

impl PoolReader for ManagedReader {
    fn probes(plan: &PoolPlan, factories: &[Factory]) -> Vec<Probe> {
        let (Some(id), Some(manager)) = (plan.id.contract().id(), manager_of(factories)) else {
            return Vec::new();
        };
        let storage = Storage::for_pool(manager, id);
        let calls = storage.calls(&storage.price()).into_iter();
        calls.map(|call| Probe { name: "extsload", call }).collect()
    }

    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self> {
        let plan = candidate.plan;
        let (Some(id), Some(key)) = (plan.id.contract().id(), plan.key) else {
            return Claim::Foreign;
        };
        let Some(manager) = manager_of(candidate.factories) else {
            return Claim::Refused(
                "the Uniswap v4 pool manager of this chain is unknown; name it under [[chain.factory]] with kind \
                 = \"uniswap_v4\""
                    .to_owned(),
            );
        };
        if key.hooks != NOBODY {
            let hooks = key.hooks;
            return Claim::Refused(format!("hook: {hooks} may change the output of its swaps"));
        }
        if key.fee == PoolKey::DYNAMIC_FEE {
            return Claim::Refused("dynamic_fee: its key has no fixed fee".to_owned());
        }
        if plan.fee.is_some() {
            return Claim::Refused("a v4 pool reports its own fee; remove `fee`".to_owned());
        }
        let [answer] = answers else { return Claim::Partly };
        match words_of(&plan.id, answer) {
            Ok(words) if words.first() == Some(&U256::ZERO) => {
                Claim::Refused(format!("the manager {manager} has no pool with this id"))
            }
            Ok(words) if words.len() == 2 => {
                let reader = Self { storage: Storage::for_pool(manager, id), id, key };
                let tokens = vec![key.currency0, key.currency1];
                Claim::Is(RecognisedPool { reader, tokens, proof: None })
            }
            _ => Claim::Partly,
        }
    }

    fn name(&self) -> &'static str {
        "concentrated_v4 of Uniswap v4"
    }

    fn state_calls(&self) -> Vec<Call> {
        self.storage.calls(&self.storage.price())
    }

    fn decode(
        &self,
        pool: &PoolId,
        _at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure> {
        let words = all_words(pool, 2, answers)?;
        let [slot0, liquidity] = words[..] else {
            return Err(inconsistent(pool, "its price was not queried"));
        };
        if liquidity.bit_len() > 128 {
            return Err(inconsistent(pool, "its liquidity has more than 128 bits"));
        }
        let price = Price::from_words(slot0, liquidity, self.key.tick_spacing);
        let (found, expected) = (price.lp_fee_pips, self.key.fee);
        if found != expected {
            let what = format!("its fee is {found}, but its key has {expected}");
            return Err(inconsistent(pool, what));
        }
        Ok(DecodedState::Unfinished(Box::new(price)))
    }

    fn part_reader(&self) -> Option<&dyn PartReader> {
        Some(self)
    }

    fn parts_of(state: &PoolState) -> Option<Parts> {
        ConcentratedV4::from_state(state).map(|pool| ticks::pack_ticks(pool.ranges().ticks()))
    }

    /// The key that the manager got when the pool was created. The manager does not return it, but its hash is the
    /// pool's id.
    fn facts(&self) -> Vec<Fact> {
        let name = Fact::POOL_KEY.parse::<Code>().ok();
        let fact = name.zip(self.key.words()).map(|(name, words)| {
            let call = Bytes::from(V4Manager::initializeCall::SELECTOR).to_string();
            Fact { name, contract: self.storage.manager(), call, words }
        });
        fact.into_iter().collect()
    }

    /// The two directions use different ticks.
    const TRIED_AT_ONCE: usize = 2;

    fn swapped_by(&self) -> Address {
        self.storage.manager()
    }

    /// The manager calls back the contract that unlocks it, which then swaps.
    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>> {
        let Some(key) = self.key.wire() else { return Vec::new() };
        let swap = V4Manager::swapCall {
            key,
            params: V4SwapParams {
                zeroForOne: sale.direction == Direction::ZeroForOne,
                // A negative amount specifies the amount sold.
                amountSpecified: I256::from_raw(sale.amount_in.wrapping_neg()),
                sqrtPriceLimitX96: swap_trial::limit_of(sale.direction),
            },
            hookData: Bytes::new(),
        };
        vec![data_of(&V4Manager::unlockCall { data: data_of(&swap).into() })]
    }

    fn judge(&self, _pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict {
        let [outcome] = outcomes else {
            return Verdict::Unknown("the trial was set up incorrectly".to_owned());
        };
        let delta: Result<[u8; 32], _> = outcome.data[..].try_into();
        let Some(delta) = delta.ok().filter(|_| !outcome.success) else {
            return Verdict::Unknown(format!("swap {}", outcome.in_words()));
        };
        // The caller's balance changes: token 0 in the high half, token 1 in the low half.
        let half = |index: usize| {
            let bytes: [u8; 16] = delta[16 * index..16 * index + 16].try_into().unwrap_or_default();
            i128::from_be_bytes(bytes)
        };
        let taken = U256::from(half(sale.direction.base_index()).unsigned_abs());
        let paid = U256::from(half(sale.direction.quote_index()).unsigned_abs());
        swap_trial::compare(sale, taken, paid)
    }
}

impl PartReader for ManagedReader {
    fn watch(&self) -> Watch {
        let events = vec![V4Manager::ModifyLiquidity::SIGNATURE_HASH];
        Watch { emitter: self.storage.manager(), events, id: Some(self.id) }
    }

    /// The first two words of the log's data.
    fn named_by(&self, log: &Log) -> Result<Vec<i32>, RpcError> {
        let data = &log.data().data;
        let [lower, upper, ..] = data.as_chunks::<32>().0 else {
            return Err(contradiction("a log's data", "at least two ticks", data.len()));
        };
        [lower, upper].into_iter().map(|word| logs::tick_of((*word).into())).collect()
    }

    fn part_calls(&self, parts: &[i32]) -> Vec<Call> {
        let slots: Vec<_> = parts.iter().map(|tick| self.storage.tick(*tick)).collect();
        self.storage.calls(&slots)
    }

    /// A tick's word has the same packing as ours. A tick at which no position ends has an empty word.
    fn decode_parts(
        &self,
        pool: &PoolId,
        parts: &[i32],
        answers: &[Answer],
    ) -> Result<Vec<(i32, Option<Part>)>, ReadFailure> {
        let words = all_words(pool, parts.len(), answers)?;
        let part = |(tick, word): (&i32, U256)| (*tick, (!word.is_zero()).then_some(word));
        Ok(parts.iter().zip(words).map(part).collect())
    }

    fn index_calls(&self) -> Vec<Call> {
        let words = ticks::words(self.key.tick_spacing);
        self.storage.calls(&words.map(|word| self.storage.bitmap(word)).collect::<Vec<_>>())
    }

    fn decode_index(&self, pool: &PoolId, answers: &[Answer]) -> Result<Vec<i32>, ReadFailure> {
        let asked = ticks::words(self.key.tick_spacing).count();
        let bits = all_words(pool, asked, answers)?;
        ticks::ticks_of_words(pool, self.key.tick_spacing, bits.into_iter().map(Ok))
    }
}

fn inconsistent(pool: &PoolId, what: impl core::fmt::Display) -> ReadFailure {
    ReadFailure::new(MissingReason::StateInconsistent, format!("pool {pool}: {what}"))
}

#[cfg(test)]
mod tests;
