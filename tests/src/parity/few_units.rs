//! Pools of few units: a largest exit of zero is answered only where no amount passes.
//!
//! Pools, prices and limits are drawn; whether an amount passes is decided by [`Oracle`]'s own arithmetic. An answer of zero is
//! held against, for each output that the pool can pay, the largest amount that the limit lets pass with it and the least
//! amount that pays it.

use alloy::primitives::U256;
use exitgap_core::exit::Exit;
use exitgap_core::pools::{
    Concentrated, ConstantProduct, DRule, Direction, FeeRate, PoolState, SaleCurve, Solidly,
    StableSwap, StableSwapParts, StableV2, Tick, VaultParts, Weighted, sqrt_ratio_at_tick,
};
use exitgap_core::units::GapLimit;

use super::VectorError;
use super::oracle::Oracle;
use crate::devchain::Rng;

/// Outputs tried from each end of what a pool can pay.
const OUTPUTS: u64 = 60;

/// What was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ZeroSizes {
    /// Limits asked.
    pub cases: u64,
    /// Of those, answered with zero.
    pub zeros: u64,
    /// Of those, wrongly: the question, and an amount that passes.
    pub wrong: Vec<String>,
}

/// Asks so many limits of random pools of few units.
pub fn run(seed: u64, cases: u64) -> Result<ZeroSizes, VectorError> {
    let (mut rng, mut asked) = (Rng::new(seed), ZeroSizes::default());
    while asked.cases < cases {
        let Some(state) = few_units(&mut rng) else { continue };
        for direction in Direction::BOTH {
            let Some(oracle) = Oracle::near(&mut rng, &state, direction) else { continue };
            let curve = state.curve(direction);
            let limit = if rng.once_in(2) {
                oracle.limit(&mut rng, &curve)
            } else {
                let below = i64::try_from(rng.below(1_000)).unwrap_or_default();
                GapLimit::from_millionths(100_000_000 - below).unwrap_or(GapLimit::DEPTH)
            };
            let exit = Exit::new(&state, direction, oracle.decimals, oracle.usd()?);
            asked.cases += 1;
            // A search that is given up says so, and answers no zero.
            let is_zero = exit.max_size_for(limit).is_ok_and(|found| found.max_amount_in.is_zero());
            if !is_zero {
                continue;
            }
            asked.zeros += 1;
            if let Some(amount) = passing(&curve, &oracle, limit) {
                let question = format!("{state:?} {oracle:?}, within {limit}%");
                asked.wrong.push(format!("zero is answered, and {amount} passes: {question}"));
            }
        }
    }
    Ok(asked)
}

fn passing(curve: &SaleCurve, oracle: &Oracle, limit: GapLimit) -> Option<U256> {
    let definition = oracle.definition(limit);
    let out = |amount: U256| curve.fill(amount).map_or(U256::ZERO, |fill| fill.amount_out);
    let passes = |amount: U256| {
        let out = out(amount);
        !out.is_zero() && definition.passes(amount, out)
    };
    let (most, paid) = curve.most();
    let paid = paid.saturating_to::<u64>();
    let outputs = (1..=paid.min(OUTPUTS)).chain(paid.saturating_sub(OUTPUTS).max(1)..=paid);
    for output in outputs.map(U256::from) {
        let largest = definition.largest_input(output).min(most);
        let (mut low, mut high) = (U256::ZERO, largest);
        while high.saturating_sub(low) > U256::ONE {
            let middle: U256 = low + ((high - low) >> 1);
            if out(middle) >= output {
                high = middle;
            } else {
                low = middle;
            }
        }
        if let Some(found) = [largest, high].into_iter().find(|amount| passes(*amount)) {
            return Some(found);
        }
    }
    None
}

/// A pool of any kind that is sized, at least one of whose balances is a few units; `None` where what was drawn is no pool.
fn few_units(rng: &mut Rng) -> Option<PoolState> {
    let few = rng.between(2, 30_000);
    let many = if rng.once_in(2) { rng.between(2, 30_000) } else { rng.between(2, 60_000_000_000) };
    let balances = if rng.once_in(2) { [few, many] } else { [many, few] };
    let units = balances.map(U256::from);
    let one = U256::from(1_000_000_000_000_000_000_u64);
    let part = rng.below(6);
    let fee = |denominator: u64, rng: &mut Rng| FeeRate {
        numerator: rng.below(301) * (denominator / 10_000),
        denominator,
    };
    let vault = |rng: &mut Rng| VaultParts {
        balances: units.to_vec(),
        live_balances: None,
        scaling_factors: vec![U256::from(10_u64.pow(16)), U256::from(10_u64.pow(15))],
        rates: vec![one; 2],
        swap_fee: rng.between(1, 300) * 1_000_000_000_000,
    };
    match part {
        0 => Some(ConstantProduct::new(balances.map(u128::from), fee(10_000, rng)).ok()?.into()),
        1 | 2 => {
            let decimals = [rng.below(13), rng.below(13)];
            let decimals = decimals.map(|decimals| u8::try_from(decimals).unwrap_or_default());
            Some(Solidly::new(part == 1, units, decimals, fee(10_000, rng)).ok()?.into())
        }
        3 => {
            let tick = i32::try_from(rng.below(81)).ok()? - 40;
            let price = sqrt_ratio_at_tick(tick * 60)?;
            let net = i128::from(few);
            let ticks = vec![Tick::new(-6_000, net), Tick::new(6_000, -net)];
            Some(Concentrated::new(price, tick * 60, few.into(), 500, 60, ticks).ok()?.into())
        }
        4 => {
            let parts = StableSwapParts {
                balances: units.to_vec(),
                rates: vec![one; 2],
                amp: rng.between(1, 5_000) * 100,
                a_precision: 100,
                d_rule: DRule::NPowN,
                less_one: true,
                fee: rng.between(0, 400) * 1_000_000,
                admin_fee: 5_000_000_000,
                ng: None,
            };
            Some(StableSwap::new(parts).ok()?.into())
        }
        _ if rng.once_in(2) => {
            let weight = rng.between(10, 90) * 10_u64.pow(16);
            let weights = vec![weight, 10_u64.pow(18) - weight];
            Some(Weighted::new(vault(rng), weights, None).ok()?.into())
        }
        _ => {
            let amp = rng.between(1, 5_000) * 1_000;
            Some(StableV2::new(vault(rng), amp).ok()?.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_answered_only_where_no_amount_passes() {
        let asked = run(20_261_130, 200).unwrap();
        assert!(asked.zeros > 0 && asked.cases - asked.zeros > 50, "{asked:?}");
        assert_eq!(asked.wrong, Vec::<String>::new());
    }
}
