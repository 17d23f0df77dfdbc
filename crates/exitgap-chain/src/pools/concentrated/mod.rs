//! Concentrated liquidity as in Uniswap v3: price, active liquidity, and the ticks that a bitmap
//! marks as initialised. Covers Uniswap v3's own pools and its forks, `PancakeSwap` v3 and
//! Slipstream.
//!
//! - `dialect`: the differences between them
//! - `ticks`: reading ticks: which ticks exist, and their liquidity
//! - `logs`: the events that name changed ticks
//! - `price`: price and ticks combined into a state
//! - `swap_trial`: the trial of the pool's own `swap`
//!
//! A pool that responds like Uniswap's is accepted because its own `swap` pays the computed amount.
//! A pool of another dialect is read only if its factory is known on the chain, or configured, and
//! confirms that the pool is its own, because a similar contract may have a hook or another kind of
//! fee.

mod dialect;
pub(super) mod logs;
pub(super) mod price;
pub(super) mod swap_trial;
pub(super) mod ticks;

use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::{Concentrated, PoolState};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Observation;

use super::call_failure;
use super::pair::{self, Pair};
use super::reader::{
    Candidate, Claim, DecodedState, PartReader, Parts, PoolReader, Probe, RecognisedPool,
};
use crate::abi::{Answer, Call, V3Pool};
use crate::config::{Factory, PoolPlan};
use crate::read_failure::ReadFailure;
use crate::trial::{Outcome, Sale, Verdict};
use dialect::{Dialect, fee_module};
use price::Price;

/// Reads one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TickedReader {
    pool: Address,
    tick_spacing: i32,
    /// The pool's factory; `None` for a pool of Uniswap v3 or of a fork that behaves like it.
    factory: Option<Factory>,
}

impl TickedReader {
    fn dialect(&self) -> Dialect {
        let of_factory = self.factory.as_ref().and_then(|factory| Dialect::from_kind(factory.kind));
        of_factory.unwrap_or(Dialect::Uniswap)
    }

    /// Decodes the answers to the state calls.
    fn price(&self, pool: &PoolId, answers: &[Answer]) -> Result<Price, ReadFailure> {
        let [slot0, liquidity, fee, module @ ..] = answers else {
            return Err(call_failure(pool, "slot0", &Answer::Reverted));
        };
        let (sqrt_price_x96, tick) =
            self.dialect().slot0(slot0).ok_or_else(|| call_failure(pool, "slot0", slot0))?;
        let liquidity = liquidity
            .exact::<V3Pool::liquidityCall>(1)
            .ok_or_else(|| call_failure(pool, "liquidity", liquidity))?;
        let fee = fee.exact::<V3Pool::feeCall>(1).ok_or_else(|| call_failure(pool, "fee", fee))?;
        if let Some(module) = module.first() {
            self.check_fee_module(pool, module)?;
        }
        let (fee_pips, tick_spacing) = (fee.to(), self.tick_spacing);
        Ok(Price { sqrt_price_x96, tick, liquidity, fee_pips, tick_spacing })
    }

    /// Refuses a fee from a contract whose rules are unknown. The fee is read as for an ordinary sender, so a module's
    /// discounts for certain senders do not apply.
    fn check_fee_module(&self, pool: &PoolId, answer: &Answer) -> Result<(), ReadFailure> {
        let module =
            fee_module(answer).ok_or_else(|| call_failure(pool, "swapFeeModule", answer))?;
        let known = self.factory.as_ref().is_some_and(|own| own.fee_modules.contains(&module));
        if known || module == Address([0; 20]) {
            return Ok(());
        }
        let detail = format!(
            "pool {pool}: dynamic_fee: its factory takes fees from {module}, whose rules are unknown; if you know \
             them, name it under fee_modules of its [[chain.factory]]"
        );
        Err(ReadFailure::new(MissingReason::PoolUnsupported, detail))
    }
}

fn price_calls(pool: Address) -> [Call; 3] {
    [
        Call::new(pool, &V3Pool::slot0Call {}, 7),
        Call::new(pool, &V3Pool::liquidityCall {}, 1),
        Call::new(pool, &V3Pool::feeCall {}, 1),
    ]
}

impl PoolReader for TickedReader {
    fn probes(plan: &PoolPlan, _factories: &[Factory]) -> Vec<Probe> {
        let Some(pool) = plan.id.contract().address() else { return Vec::new() };
        let mut probes = pair::probes(pool);
        let price = ["slot0", "liquidity", "fee"].into_iter().zip(price_calls(pool));
        probes.extend(price.map(|(name, call)| Probe { name, call }));
        probes.push(Probe::new("tickSpacing", pool, &V3Pool::tickSpacingCall {}, 1));
        probes.push(Probe { name: "tickBitmap", call: ticks::word_call(pool, 0) });
        probes
    }

    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self> {
        let Some((pair, [slot0, liquidity, fee, spacing, bitmap])) = Pair::from_answers(answers)
        else {
            return Claim::Foreign;
        };
        let Some(pool) = candidate.plan.id.contract().address() else { return Claim::Foreign };
        let spacing = spacing.exact::<V3Pool::tickSpacingCall>(1);
        let answers_as = |dialect: &Dialect| dialect.slot0(slot0).is_some();
        let has_bitmap = bitmap.exact::<V3Pool::tickBitmapCall>(1).is_some();
        if !(spacing.is_some() && has_bitmap || Dialect::ALL.iter().any(answers_as)) {
            return Claim::Foreign;
        }
        let address = pair.factory;
        let own =
            |known: &&Factory| known.address == address && Dialect::from_kind(known.kind).is_some();
        let factory = candidate.factories.iter().find(own).cloned();
        let fee = fee.exact::<V3Pool::feeCall>(1);
        let ticked = liquidity.exact::<V3Pool::liquidityCall>(1).is_some() && has_bitmap;
        let (Some(spacing), Some(fee), true) = (spacing, fee, ticked) else {
            return Claim::Partly;
        };
        let tick_spacing = spacing.as_i32();
        let reader = Self { pool, tick_spacing, factory };
        let dialect = reader.dialect();
        if !answers_as(&dialect) {
            let other = Dialect::ALL.into_iter().find(|dialect| answers_as(dialect));
            return match (&reader.factory, other) {
                (Some(_), _) => Claim::Refused(format!(
                    "its factory belongs to {}, but it does not respond like a pool of that factory",
                    dialect.owner()
                )),
                (None, Some(other)) => Claim::Refused(format!(
                    "it looks like a pool of {}, but its factory {address} is unknown on this chain; if the \
                     factory belongs to {0}, name it under [[chain.factory]]",
                    other.owner()
                )),
                (None, None) => Claim::Partly,
            };
        }
        if candidate.plan.fee.is_some() {
            return Claim::Refused("a v3 pool reports its own fee; remove `fee`".to_owned());
        }
        if !(1..16_384).contains(&tick_spacing) {
            let words = format!(
                "its tick spacing is {tick_spacing}, which is outside the range 1 to 16,383"
            );
            return Claim::Refused(words);
        }
        // A pool of an unknown factory is checked only by a trial of its own swap.
        let proof = (reader.factory.as_ref())
            .and_then(|_| dialect.proof(address, pair.tokens, fee.to(), tick_spacing));
        Claim::Is(RecognisedPool { reader, tokens: pair.tokens.to_vec(), proof })
    }

    fn name(&self) -> &'static str {
        match self.dialect() {
            Dialect::Uniswap if self.factory.is_some() => "concentrated_liquidity of Uniswap v3",
            Dialect::Uniswap => Concentrated::PROTOCOL,
            Dialect::Sushi => "concentrated_liquidity of SushiSwap v3",
            Dialect::Pancake => "concentrated_liquidity of PancakeSwap v3",
            Dialect::Slipstream => "concentrated_liquidity of Slipstream",
        }
    }

    fn state_calls(&self) -> Vec<Call> {
        let mut calls = price_calls(self.pool).to_vec();
        let module =
            self.factory.as_ref().and_then(|own| self.dialect().fee_module_call(own.address));
        calls.extend(module);
        calls
    }

    fn decode(
        &self,
        pool: &PoolId,
        _at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure> {
        Ok(DecodedState::Unfinished(Box::new(self.price(pool, answers)?)))
    }

    fn part_reader(&self) -> Option<&dyn PartReader> {
        Some(self)
    }

    fn parts_of(state: &PoolState) -> Option<Parts> {
        Concentrated::from_state(state).map(|pool| ticks::pack_ticks(pool.ticks()))
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

#[cfg(test)]
mod tests;
