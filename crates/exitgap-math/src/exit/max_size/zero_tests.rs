//! Zero is answered only where no amount passes: pools of few units of every kind, at oracle prices as far from the
//! pool's own as prices can be, and limits up to 100%.

use proptest::prelude::*;

use super::swept_tests::{at_par, small_balancer, small_stable_swap};
use super::*;
use crate::pools::{
    Concentrated, ConstantProduct, Direction, FeeRate, PoolState, Solidly, Tick, sqrt_ratio_at_tick,
};
use crate::units::UsdPrice;

/// A pool of few units, and at least what it has of the token that it has most of.
fn few_units() -> impl Strategy<Value = (PoolState, u64)> {
    let reserve = || prop_oneof![2_u64..60, 60_u64..30_000];
    let fees = prop::sample::select(vec![0_u64, 1, 5, 30, 100, 300]);
    let pair = (reserve(), reserve(), fees.clone()).prop_map(|(first, second, numerator)| {
        let fee = FeeRate { numerator, denominator: 10_000 };
        let pool = ConstantProduct::new([first.into(), second.into()], fee).unwrap();
        (PoolState::from(pool), first.max(second))
    });
    // One side has few units, the other up to billions.
    let solidly = (any::<bool>(), reserve(), 1_u64..60_000_000_000, any::<bool>(), fees);
    let decimals = [0_u8..9, 0_u8..9];
    let solidly = (solidly, decimals).prop_filter_map(
        "a pool that the contract can compute with",
        |((stable, few, many, flipped, numerator), decimals)| {
            let reserves = if flipped { [many, few] } else { [few, many] };
            let fee = FeeRate { numerator, denominator: Solidly::FEE_DENOMINATOR };
            let pool = Solidly::new(stable, reserves.map(U256::from), decimals, fee).ok()?;
            Some((PoolState::from(pool), few.max(many)))
        },
    );
    let ranges = (1_i128..30_000, -20_i32..20, prop::sample::select(vec![100_u32, 500, 10_000]));
    let ranges = ranges.prop_map(|(liquidity, tick, fee_pips)| {
        let ticks = [(-6_000, liquidity), (6_000, -liquidity)];
        let ticks = ticks.map(|(tick, liquidity_net)| Tick::new(tick, liquidity_net)).to_vec();
        let price = sqrt_ratio_at_tick(tick * 60).unwrap();
        let active = liquidity.unsigned_abs();
        let pool = Concentrated::new(price, tick * 60, active, fee_pips, 60, ticks).unwrap();
        (PoolState::from(pool), 60_000)
    });
    let curve = any::<bool>().prop_flat_map(small_stable_swap);
    let curve = curve.prop_map(|(pool, all)| (PoolState::from(pool), all));
    prop_oneof![pair, solidly, ranges, curve, small_balancer()]
}

/// Prices from a billionth of a dollar to a trillion dollars.
fn any_price() -> impl Strategy<Value = UsdPrice> {
    (1_u64..1_000_000_000_000, 0_u32..22).prop_map(|(answer, decimals)| {
        UsdPrice::product(&[(U256::from(answer), decimals)]).unwrap()
    })
}

/// An amount that passes, if there is one: for each output the largest amount that the limit lets pass with it, and
/// the least that pays it.
fn passing(exit: &Exit, limit: GapLimit, all: u64) -> Option<U256> {
    let threshold = exit.terms.threshold(limit);
    let out = |amount: U256| exit.curve.fill(amount).map_or(U256::ZERO, |fill| fill.amount_out);
    let passes = |amount: U256| {
        let out = out(amount);
        !out.is_zero() && threshold.passes(amount, out)
    };
    let most = exit.curve.most().0;
    let outputs = (1..=all.min(400)).chain(all.saturating_sub(400)..=all);
    for output in outputs.map(U256::from) {
        let largest = threshold.largest_input(output).min(most);
        if passes(largest) {
            return Some(largest);
        }
        let (mut low, mut high) = (U256::ZERO, largest);
        while high.saturating_sub(low) > U256::ONE {
            let middle = low + ((high - low) >> 1);
            if out(middle) >= output { high = middle } else { low = middle }
        }
        if passes(high) {
            return Some(high);
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn zero_is_answered_only_where_no_amount_passes(
        (pool, all) in few_units(),
        zero_for_one: bool,
        decimals in [0_u8..19, 0_u8..19],
        usd in [any_price(), any_price()],
        below in prop_oneof![0_i64..3, 0_i64..1_000, 0_i64..60_000_000, Just(100_000_000)],
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let exit = Exit::new(&pool, direction, decimals, usd);
        let limit = GapLimit::from_millionths(100_000_000 - below).unwrap();
        let Ok(found) = exit.max_size_for(limit) else { return Ok(()) };
        let amount = found.max_amount_in;
        if amount.is_zero() {
            prop_assert_eq!(passing(&exit, limit, all), None);
        } else {
            let threshold = exit.terms.threshold(limit);
            prop_assert!(threshold.passes(amount, exit.curve.fill(amount).unwrap().amount_out));
        }
    }
}

/// Reserves of 41,000,000,000 and 27,000 units, at prices by which the pool's own is out of a percentage's range.
#[test]
fn a_pool_of_27_000_units_has_sizes_at_limits_near_100_percent() {
    let fee = FeeRate { numerator: 5, denominator: Solidly::FEE_DENOMINATOR };
    let (mut answered, mut given_up, mut asked) = (0, 0, 0);
    for stable in [false, true] {
        let reserves = [41_000_000_000_u64, 27_000].map(U256::from);
        let pool = PoolState::from(Solidly::new(stable, reserves, [6, 6], fee).unwrap());
        for direction in Direction::BOTH {
            for exponent in [0_u32, 8, 16, 24, 30] {
                let cheap = UsdPrice::product(&[(U256::ONE, exponent)]).unwrap();
                let dear = UsdPrice::product(&[(U256::from(10).pow(U256::from(6)), 0)]).unwrap();
                let mut usd = [dear; 2];
                usd[direction.base_index()] = cheap;
                let exit = Exit::new(&pool, direction, [6, 6], usd);
                for below in [0_i64, 1, 7, 500, 40_000, 9_000_000] {
                    let limit = GapLimit::from_millionths(100_000_000 - below).unwrap();
                    asked += 1;
                    // Of the largest amounts a contract may refuse one here and one there, and at the highest prices teeth are too
                    // many to be tested: such a search is given up, and says so.
                    let Ok(found) = exit.max_size_for(limit) else {
                        given_up += 1;
                        continue;
                    };
                    if found.max_amount_in.is_zero() {
                        assert_eq!(passing(&exit, limit, 41_000_000_000), None);
                    } else {
                        answered += 1;
                    }
                }
            }
        }
        // The control: at par a limit that nothing meets is answered with zero.
        let exit = at_par(&pool, Direction::ZeroForOne, [6, 6]);
        let nothing = exit.max_size_for("99".parse().unwrap()).unwrap();
        assert!(nothing.max_amount_in.is_zero() && nothing.size.is_none());
    }
    assert_eq!(answered + given_up, asked);
    assert!(answered >= 60, "{answered} of {asked}");
}
