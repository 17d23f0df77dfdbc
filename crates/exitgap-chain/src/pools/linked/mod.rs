//! Algebra Integral: concentrated liquidity whose initialised ticks are linked to each other. Its
//! bitmap counts ticks themselves, not multiples of the spacing.
//!
//! A pool is read only if its factory is known on the chain, or configured, and confirms that the
//! pool is its own, because older versions of Algebra respond similarly but stop elsewhere. A pool
//! with a plugin is rejected with a code: `dynamic_fee` if the plugin is called before a swap or
//! sets the fee, otherwise `hook`.

use alloy::primitives::aliases::I24;
use alloy_rpc_types_eth::Log;
use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::{ConcentratedLinked, PoolState, Tick};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Observation;

use super::call_failure;
use super::concentrated::{logs, price, swap_trial, ticks};
use super::pair::{self, Pair};
use super::reader::{
    Candidate, Claim, DecodedState, Part, PartReader, PartialState, Parts, PoolReader, Probe,
    RecognisedPool, StateJoinError, Watch,
};
use crate::abi::{AlgebraFactory, AlgebraPool, Answer, Call, own, wire};
use crate::config::{Factory, FactoryKind, NOBODY, PoolPlan};
use crate::read_failure::ReadFailure;
use crate::rpc::RpcError;
use crate::trial::{Outcome, Sale, Verdict};

/// The number of words in the answers of `globalState` and `ticks`.
const STATE_WORDS: usize = 6;
const TICK_WORDS: usize = 6;

/// A plugin's flags: it is called before a swap; it sets the fee.
const BEFORE_SWAP: u8 = 1;
const DYNAMIC_FEE: u8 = 1 << 7;

/// Reads one pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinkedReader {
    pool: Address,
}

/// The values that change with every swap, and those that an owner can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Price {
    sqrt_price_x96: U256,
    tick: i32,
    liquidity: u128,
    fee_pips: u32,
    tick_spacing: i32,
}

impl PartialState for Price {
    fn join(&self, parts: &Parts) -> Result<PoolState, StateJoinError> {
        let Self { sqrt_price_x96, tick, liquidity, fee_pips, tick_spacing } = *self;
        let ticks = ticks::unpack_ticks(parts);
        ConcentratedLinked::new(sqrt_price_x96, tick, liquidity, fee_pips, tick_spacing, ticks)
            .map(PoolState::from)
            .map_err(price::to_join_error)
    }
}

fn state_calls(pool: Address) -> [(&'static str, Call); 5] {
    [
        ("globalState", Call::new(pool, &AlgebraPool::globalStateCall {}, STATE_WORDS)),
        ("liquidity", Call::new(pool, &AlgebraPool::liquidityCall {}, 1)),
        ("fee", Call::new(pool, &AlgebraPool::feeCall {}, 1)),
        ("tickSpacing", Call::new(pool, &AlgebraPool::tickSpacingCall {}, 1)),
        ("plugin", Call::new(pool, &AlgebraPool::pluginCall {}, 1)),
    ]
}

/// Decodes the answers to these calls. If there is a plugin, its description is returned as well.
fn price_of(pool: &PoolId, answers: &[Answer]) -> Result<(Price, Option<String>), ReadFailure> {
    let [state, liquidity, fee, spacing, plugin] = answers else {
        return Err(call_failure(pool, "globalState", &Answer::Reverted));
    };
    let wrong = |call: &str, answer: &Answer| call_failure(pool, call, answer);
    let told = state
        .exact::<AlgebraPool::globalStateCall>(STATE_WORDS)
        .ok_or_else(|| wrong("globalState", state))?;
    let liquidity = liquidity
        .exact::<AlgebraPool::liquidityCall>(1)
        .ok_or_else(|| wrong("liquidity", liquidity))?;
    let fee = fee.exact::<AlgebraPool::feeCall>(1).ok_or_else(|| wrong("fee", fee))?;
    let spacing = spacing
        .exact::<AlgebraPool::tickSpacingCall>(1)
        .ok_or_else(|| wrong("tickSpacing", spacing))?;
    let plugin =
        plugin.exact::<AlgebraPool::pluginCall>(1).ok_or_else(|| wrong("plugin", plugin))?;
    let price = Price {
        sqrt_price_x96: U256::from(told.price),
        tick: told.tick.as_i32(),
        liquidity,
        fee_pips: fee.into(),
        tick_spacing: spacing.as_i32(),
    };
    let plugin = own(plugin);
    let refused = (plugin != NOBODY).then(|| {
        let sets_fee = told.pluginConfig & (BEFORE_SWAP | DYNAMIC_FEE) != 0;
        let name = if sets_fee { "dynamic_fee" } else { "hook" };
        format!("{name}: its plugin {plugin} may change the output of its swaps")
    });
    Ok((price, refused))
}

impl PoolReader for LinkedReader {
    fn probes(plan: &PoolPlan, _factories: &[Factory]) -> Vec<Probe> {
        let Some(pool) = plan.id.contract().address() else { return Vec::new() };
        let mut probes = pair::probes(pool);
        probes.extend(state_calls(pool).map(|(name, call)| Probe { name, call }));
        probes
    }

    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self> {
        let plan = candidate.plan;
        let (Some((pair, answers)), Some(pool)) =
            (Pair::from_answers(answers), plan.id.contract().address())
        else {
            return Claim::Foreign;
        };
        let is_state =
            |answer: &Answer| answer.exact::<AlgebraPool::globalStateCall>(STATE_WORDS).is_some();
        if !answers.first().is_some_and(is_state) {
            return Claim::Foreign;
        }
        let factory = pair.factory;
        let of_kind = |known: &Factory| {
            known.address == factory && known.kind == FactoryKind::AlgebraIntegral
        };
        if !candidate.factories.iter().any(of_kind) {
            return Claim::Refused(format!(
                "it looks like an Algebra pool, but its factory {factory} is unknown on this chain; if the \
                 factory belongs to Algebra Integral, name it under [[chain.factory]]"
            ));
        }
        if plan.fee.is_some() {
            return Claim::Refused("an Algebra pool reports its own fee; remove `fee`".to_owned());
        }
        match price_of(&plan.id, answers) {
            Err(_) => Claim::Partly,
            Ok((_, Some(plugin))) => Claim::Refused(plugin),
            Ok((_, None)) => {
                let [token0, token1] = pair.tokens.map(wire);
                let asked = AlgebraFactory::poolByPairCall { tokenA: token0, tokenB: token1 };
                let proof = Some(Call::new(factory, &asked, 1));
                Claim::Is(RecognisedPool {
                    reader: Self { pool },
                    tokens: pair.tokens.to_vec(),
                    proof,
                })
            }
        }
    }

    fn name(&self) -> &'static str {
        "concentrated_linked of Algebra Integral"
    }

    fn state_calls(&self) -> Vec<Call> {
        state_calls(self.pool).map(|(_, call)| call).to_vec()
    }

    fn decode(
        &self,
        pool: &PoolId,
        _at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure> {
        match price_of(pool, answers)? {
            (price, None) => Ok(DecodedState::Unfinished(Box::new(price))),
            // An owner can add a plugin at any time.
            (_, Some(plugin)) => {
                let detail = format!("pool {pool}: {plugin}");
                Err(ReadFailure::new(MissingReason::PoolUnsupported, detail))
            }
        }
    }

    fn part_reader(&self) -> Option<&dyn PartReader> {
        Some(self)
    }

    fn parts_of(state: &PoolState) -> Option<Parts> {
        ConcentratedLinked::from_state(state).map(|pool| ticks::pack_ticks(pool.ranges().ticks()))
    }

    /// The two directions use different ticks.
    const TRIED_AT_ONCE: usize = 2;

    fn swapped_by(&self) -> Address {
        self.pool
    }

    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>> {
        swap_trial::calls(sale)
    }

    fn judge(&self, _pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict {
        swap_trial::judge(sale, outcomes)
    }
}

/// The spacing of the bitmap, which counts ticks without dividing them.
const RAW: i32 = 1;

impl PartReader for LinkedReader {
    /// `Mint` and `Burn` have the same form as v3's.
    fn watch(&self) -> Watch {
        logs::watch(self.pool)
    }

    fn named_by(&self, log: &Log) -> Result<Vec<i32>, RpcError> {
        logs::bounds_of(log)
    }

    fn part_calls(&self, parts: &[i32]) -> Vec<Call> {
        let call = |tick: &i32| {
            let tick = I24::try_from(*tick).unwrap_or(I24::MAX);
            Call::new(self.pool, &AlgebraPool::ticksCall { tick }, TICK_WORDS)
        };
        parts.iter().map(call).collect()
    }

    /// A tick at which no position ends has no liquidity at all.
    fn decode_parts(
        &self,
        pool: &PoolId,
        parts: &[i32],
        answers: &[Answer],
    ) -> Result<Vec<(i32, Option<Part>)>, ReadFailure> {
        let decode = |(tick, answer): (&i32, &Answer)| {
            let told = answer.exact::<AlgebraPool::ticksCall>(TICK_WORDS);
            let told = told.ok_or_else(|| call_failure(pool, &format!("ticks({tick})"), answer))?;
            let gross = u128::try_from(told.liquidityTotal).map_err(|_| {
                let what =
                    format!("pool {pool}: tick {tick} has a liquidity of more than 128 bits");
                ReadFailure::new(MissingReason::StateInconsistent, what)
            })?;
            let there =
                Tick { tick: *tick, liquidity_net: told.liquidityDelta, liquidity_gross: gross };
            Ok((*tick, (gross != 0).then(|| ticks::part_of(&there))))
        };
        parts.iter().zip(answers).map(decode).collect()
    }

    fn index_calls(&self) -> Vec<Call> {
        let call =
            |word| Call::new(self.pool, &AlgebraPool::tickTableCall { wordPosition: word }, 1);
        ticks::words(RAW).map(call).collect()
    }

    fn decode_index(&self, pool: &PoolId, answers: &[Answer]) -> Result<Vec<i32>, ReadFailure> {
        let bits = answers.iter().map(|answer| {
            let bits = answer.exact::<AlgebraPool::tickTableCall>(1);
            bits.ok_or_else(|| call_failure(pool, "tickTable", answer))
        });
        ticks::ticks_of_words(pool, RAW, bits)
    }
}

#[cfg(test)]
mod tests;
