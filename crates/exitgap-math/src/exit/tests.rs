use super::*;
use crate::pools::{Concentrated, ConstantProduct, FeeRate, FillError, Tick, sqrt_ratio_at_tick};
use crate::units::{GapLimit, Percent, SizeUsd, UsdMicros};
use crate::wide::U256;
use proptest::prelude::*;

fn usd(answer: u64, decimals: u32) -> UsdPrice {
    UsdPrice::product(&[(U256::from(answer), decimals)]).unwrap()
}

/// 1,000 WETH (18 decimals) against 3,000,000 USDC (6 decimals), 0.3%.
fn pair() -> PoolState {
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    let reserves = [1_000 * 10_u128.pow(18), 3_000_000 * 10_u128.pow(6)];
    PoolState::ConstantProduct(ConstantProduct::new(reserves, fee).unwrap())
}

fn exit(direction: Direction) -> Exit {
    Exit::new(&pair(), direction, [18, 6], [usd(300_000_000_000, 8), usd(100_000_000, 8)])
}

fn size(text: &str) -> SizeUsd {
    text.parse().unwrap()
}

fn limit(text: &str) -> GapLimit {
    text.parse().unwrap()
}

#[test]
fn an_exit_at_the_oracles_price_loses_fee_and_impact() {
    // 10 WETH into 1,000: out = 9.97 · 3e12 ÷ 1009.97 = 29614.741031… USDC.
    let estimate = exit(Direction::ZeroForOne).estimate(size("30000")).unwrap();
    assert_eq!(estimate.amount_in, U256::from(10_u128.pow(19)));
    assert_eq!(estimate.amount_out, U256::from(29_614_741_031_u64));
    // 1 − 29614.741031 ÷ 30000 = 1.2841965633… %
    assert_eq!(estimate.gap.to_fixed(), "1.284197");
    assert_eq!(estimate.split.basis, Percent(0));
    assert_eq!(estimate.split.fee.to_fixed(), "0.300000");
    assert_eq!(estimate.split.impact.to_fixed(), "0.987158");
    assert_eq!(estimate.oracle_price.to_string(), "3000");
    assert_eq!(estimate.realized_price.to_string(), "2961.4741031");
    assert_eq!(estimate.mid_price.to_string(), "3000");
}

#[test]
fn the_gap_is_negative_where_the_fill_beats_the_oracle() {
    let low_oracle = [usd(290_000_000_000, 8), usd(100_000_000, 8)];
    let exit = Exit::new(&pair(), Direction::ZeroForOne, [18, 6], low_oracle);
    let estimate = exit.estimate(size("290")).unwrap();
    assert_eq!(estimate.gap.to_fixed(), "-3.127649");
    assert_eq!(estimate.split.basis.to_fixed(), "-3.448276");
    // No size passes at a limit below the best possible gap.
    let none = exit.max_size_for(limit("-3.2")).unwrap();
    assert_eq!((none.size, none.max_amount_in), (None, U256::ZERO));
    assert_eq!(none.limited_by, LimitedBy::Gap);
}

#[test]
fn sizes_that_cannot_be_filled_are_refused_by_name() {
    let dust = [usd(10_u64.pow(19), 0), usd(1, 0)];
    let expensive = Exit::new(&pair(), Direction::ZeroForOne, [0, 6], dust);
    assert_eq!(expensive.estimate(size("0.01")), Err(Refusal::NoInput));
    let expensive = Exit::new(&pair(), Direction::OneForZero, [18, 6], [usd(1, 0), usd(1, 6)]);
    assert!(expensive.estimate(size("0.01")).is_ok());
    let dear = [usd(10_u64.pow(15), 0), usd(10_u64.pow(18), 36)];
    let pair_dear = Exit::new(&pair(), Direction::ZeroForOne, [18, 6], dear);
    assert_eq!(pair_dear.estimate(size("0.01")), Err(Refusal::NoOutput));

    let ticks = vec![Tick::new(-60, 1_000_000_000), Tick::new(60, -1_000_000_000)];
    let price = sqrt_ratio_at_tick(0).unwrap();
    let pool = Concentrated::new(price, 0, 1_000_000_000, 3_000, 60, ticks).unwrap();
    let pool = PoolState::Concentrated(pool);
    let exit = Exit::new(&pool, Direction::ZeroForOne, [6, 6], [usd(1, 0), usd(1, 0)]);
    let Err(Refusal::BeyondLiquidity { max_fillable_usd, max_amount_in, .. }) =
        exit.estimate(size("1000000"))
    else {
        panic!("a pool of six dollars cannot take a million");
    };
    // The largest fillable size fills; one micro-dollar more does not.
    let most = SizeUsd::from_micros(max_fillable_usd.0).unwrap();
    assert_eq!(exit.estimate(most).unwrap().amount_in, max_amount_in);
    let more = SizeUsd::from_micros(max_fillable_usd.0 + 1).unwrap();
    assert!(matches!(exit.estimate(more), Err(Refusal::BeyondLiquidity { .. })));
    // All of the liquidity is within 10%.
    let all = exit.max_size_for(limit("10")).unwrap();
    assert_eq!((all.size, all.limited_by), (Some(most), LimitedBy::Liquidity));
}

#[test]
fn the_largest_size_there_is_bounds_a_bottomless_pool() {
    let fee = FeeRate { numerator: 0, denominator: 1_000 };
    let reserves = [ConstantProduct::MAX_RESERVE / 2; 2];
    let pool = PoolState::ConstantProduct(ConstantProduct::new(reserves, fee).unwrap());
    let exit = Exit::new(&pool, Direction::OneForZero, [6, 6], [usd(1, 0), usd(1, 0)]);
    let depth = exit.max_size_for(GapLimit::DEPTH).unwrap();
    assert_eq!((depth.size, depth.limited_by), (Some(SizeUsd::MAX), LimitedBy::SizeBound));
    assert!(exit.estimate(SizeUsd::MAX).is_ok());
}

#[test]
fn where_no_size_pays_anything_there_is_no_largest_size() {
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    let pool = ConstantProduct::new([10_u128.pow(30), 1_000], fee).unwrap();
    let pool = PoolState::ConstantProduct(pool);
    let exit = Exit::new(&pool, Direction::ZeroForOne, [6, 6], [usd(1, 0), usd(1, 0)]);
    // Amounts far above the largest size have an output, and any gap is accepted.
    let all = exit.max_size_for(limit("100")).unwrap();
    assert_eq!((all.size, all.max_amount_in), (None, exit.curve().most().0));
}

#[test]
fn parts_without_recovery_fill_as_one_sale_up_to_rounding() {
    let exit = exit(Direction::ZeroForOne);
    let plan = |parts, recovery: &str| {
        OrderPlan::new(size("300000"), parts, Percent::parse(recovery).unwrap(), 60).unwrap()
    };
    let one = exit.simulate_orders(plan(1, "0")).unwrap();
    let at_once = one.at_once.clone().unwrap();
    assert_eq!((one.amount_out, one.gap), (at_once.amount_out, at_once.gap));
    let seven = exit.simulate_orders(plan(7, "0")).unwrap();
    // A constant-product pool keeps its fees in the reserves, so several parts do slightly better than one sale. Their
    // amounts add up to the total.
    let sum = seven.parts.iter().fold(U256::ZERO, |sum, part| sum + part.amount_in);
    assert_eq!(sum, at_once.amount_in);
    assert!(seven.parts[0].amount_in >= seven.parts[6].amount_in);
    let half = exit.simulate_orders(plan(7, "50")).unwrap();
    let full = exit.simulate_orders(plan(7, "100")).unwrap();
    assert!(full.gap < half.gap && half.gap < seven.gap);
}

#[test]
fn plans_out_of_bounds_are_refused_by_name() {
    let plan = |parts, recovery| OrderPlan::new(size("1"), parts, Percent(recovery), 0);
    assert_eq!(plan(0, 0), Err(OrderPlanError::Parts { found: 0 }));
    assert_eq!(plan(1_001, 0), Err(OrderPlanError::Parts { found: 1_001 }));
    assert!(matches!(plan(1, -1), Err(OrderPlanError::Recovery(_))));
    assert!(matches!(plan(1, 100_000_001), Err(OrderPlanError::Recovery(_))));
    let too_many = OrderPlan::new(size("0.01"), 1_000, Percent(0), 0).unwrap();
    let tiny = Exit::new(&pair(), Direction::OneForZero, [18, 6], [usd(3_000, 0), usd(1_000, 0)]);
    let refused = tiny.simulate_orders(too_many).unwrap_err();
    // Ten units cannot be divided into a thousand orders.
    assert_eq!((refused.part, refused.refusal), (11, Refusal::NoInput));
}

prop_compose! {
    /// A pool small enough to try every amount.
    fn tiny_pool()(
        constant_product: bool,
        reserves in (1_u128..3_000, 1_u128..3_000),
        fee_pips in prop::sample::select(vec![0_u32, 500, 3_000, 10_000]),
        tick in -6_000_i32..6_000,
        spacing in prop::sample::select(vec![1_i32, 10, 60, 200]),
        ranges in prop::collection::vec((-40_i32..40, 1_i32..300, 1_u32..20_000), 1..6),
    ) -> PoolState {
        if constant_product {
            let fee = FeeRate { numerator: fee_pips.into(), denominator: 1_000_000 };
            let reserves = [reserves.0, reserves.1];
            return PoolState::ConstantProduct(ConstantProduct::new(reserves, fee).unwrap());
        }
        let mut nets = std::collections::BTreeMap::<i32, i128>::new();
        let centre = tick.div_euclid(spacing);
        for (low, width, liquidity) in ranges {
            *nets.entry((centre + low) * spacing).or_default() += i128::from(liquidity);
            *nets.entry((centre + low + width) * spacing).or_default() -= i128::from(liquidity);
        }
        let ticks: Vec<_> =
            nets.into_iter().map(|(tick, liquidity_net)| Tick::new(tick, liquidity_net)).collect();
        let active = ticks.iter().filter(|net| net.tick <= tick).map(|net| net.liquidity_net).sum::<i128>();
        let price = sqrt_ratio_at_tick(tick).unwrap();
        let active = u128::try_from(active).unwrap();
        PoolState::Concentrated(
            Concentrated::new(price, tick, active, fee_pips, spacing, ticks).unwrap(),
        )
    }
}

/// The largest passing amount, found by trying all candidates.
fn by_trying_all(exit: &Exit, limit: GapLimit) -> Option<U256> {
    let threshold = exit.terms.threshold(limit);
    let (most, paid) = exit.curve.most();
    let last = threshold.largest_input(paid).min(most);
    if last > U256::from(60_000) {
        return None;
    }
    let passes = |amount: &u64| match exit.curve.fill(U256::from(*amount)) {
        Ok(fill) => !fill.amount_out.is_zero() && threshold.passes(fill.amount_in, fill.amount_out),
        Err(FillError::BeyondLiquidity { .. } | FillError::ZeroInput | FillError::ZeroOutput) => {
            false
        }
    };
    Some((1..=last.to::<u64>()).rev().find(passes).map_or(U256::ZERO, U256::from))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_largest_amount_is_the_one_that_trying_all_finds(
        pool in tiny_pool(),
        zero_for_one: bool,
        prices in (1_u64..400, 1_u64..400),
        limit_millionths in prop_oneof![-100_000_000_i64..=100_000_000, 0_i64..20_000_000],
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let exit = Exit::new(&pool, direction, [0, 0], [usd(prices.0, 2), usd(prices.1, 2)]);
        let limit = GapLimit::from_millionths(limit_millionths).unwrap();
        if let Some(expected) = by_trying_all(&exit, limit) {
            let found = exit.max_size_for(limit).unwrap();
            prop_assert_eq!(found.max_amount_in, expected);
        }
    }

    #[test]
    fn no_size_above_the_largest_passes_and_estimate_agrees(
        pool in tiny_pool(),
        zero_for_one: bool,
        prices in (1_u64..400, 1_u64..400),
        limit_millionths in -5_000_000_i64..50_000_000,
        above in 1_u64..5_000_000,
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let exit = Exit::new(&pool, direction, [3, 3], [usd(prices.0, 2), usd(prices.1, 2)]);
        let limit = GapLimit::from_millionths(limit_millionths).unwrap();
        let threshold = exit.terms.threshold(limit);
        let passes = |size: SizeUsd| exit.estimate(size).is_ok_and(|estimate| {
            threshold.passes(estimate.amount_in, estimate.amount_out)
        });
        let depth = exit.max_size_for(limit).unwrap();
        if let Some(size) = depth.size {
            prop_assert!(passes(size));
            prop_assert!(exit.estimate(size).unwrap().amount_in <= depth.max_amount_in);
        }
        let dollars = exit.depth_usd(limit).unwrap();
        prop_assert!(dollars <= depth.size.map_or(0, |size| UsdMicros::from(size).whole_dollars()));
        for more in 0..3 {
            if let Ok(size) = SizeUsd::from_micros((dollars + more) * 1_000_000) {
                prop_assert_eq!(passes(size), more == 0, "{} of {}", size, dollars);
            }
        }
        let floor = depth.size.map_or(9_999, SizeUsd::micros);
        for more in [1, 2, 3, above] {
            if let Ok(size) = SizeUsd::from_micros(floor + more) {
                prop_assert!(!passes(size), "{size} passes above {:?}", depth.size);
            }
        }
    }

    #[test]
    fn a_gaps_factors_multiply_back_to_it(
        pool in tiny_pool(),
        zero_for_one: bool,
        prices in (1_u64..400, 1_u64..400),
        micros in 10_000_u64..10_000_000_000,
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let exit = Exit::new(&pool, direction, [0, 0], [usd(prices.0, 2), usd(prices.1, 2)]);
        let Ok(estimate) = exit.estimate(SizeUsd::from_micros(micros).unwrap()) else {
            return Ok(());
        };
        let kept = |part: Percent| 100_000_000 - part.0;
        let Split { basis, fee, impact } = estimate.split;
        let product = kept(basis) * kept(fee) / 100_000_000 * kept(impact) / 100_000_000;
        // Each factor is rounded to half a millionth of a percent.
        let scale = kept(basis).abs().max(100_000_000);
        prop_assert!((product - kept(estimate.gap)).abs() <= 4 * (scale / 100_000_000 + 1));
    }
}

#[test]
fn a_limit_of_one_hundred_percent_passes_everything_fillable() {
    let exit = exit(Direction::ZeroForOne);
    let all = exit.max_size_for(limit("100")).unwrap();
    assert_eq!(all.max_amount_in, exit.curve().most().0);
    assert_eq!(all.limited_by, LimitedBy::SizeBound);
    assert_eq!(all.size.map(UsdMicros::from), Some(UsdMicros(1_000_000_000_000_000)));
}

#[test]
fn ladders_answer_row_by_row() {
    let exit = exit(Direction::OneForZero);
    let rows = exit.ladder_by_gap(&GapLimit::LADDER);
    assert_eq!(rows.len(), 8);
    // The fee alone is 0.3%, so nothing passes at 0.1%.
    let size = |row: &GapRow| row.depth.as_ref().unwrap().size;
    assert_eq!((size(&rows[0]), &rows[0].estimate), (None, &None));
    for row in &rows[2..] {
        let estimate = row.estimate.as_ref().unwrap().as_ref().unwrap();
        assert_eq!(Some(estimate.size), size(row));
        assert!(estimate.gap <= Percent::from(row.limit));
    }
    assert!(rows.windows(2).all(|pair| size(&pair[0]) <= size(&pair[1])));
    let sizes = exit.ladder_by_size(&SizeUsd::STANDARD);
    assert!(sizes.iter().all(|row| row.outcome.is_ok()));
}

/// A pair or a pool with two tokens of 18 decimals, whose mid price equals the oracle price.
fn at_par(depth: u128, fee_pips: u32, concentrated: bool) -> Exit {
    let pool = if concentrated {
        let net = i128::try_from(depth).unwrap();
        let ticks = vec![Tick::new(-887_200, net), Tick::new(887_200, -net)];
        let price = sqrt_ratio_at_tick(0).unwrap();
        PoolState::Concentrated(Concentrated::new(price, 0, depth, fee_pips, 200, ticks).unwrap())
    } else {
        let fee = FeeRate { numerator: fee_pips.into(), denominator: 1_000_000 };
        PoolState::ConstantProduct(ConstantProduct::new([depth; 2], fee).unwrap())
    };
    Exit::new(&pool, Direction::ZeroForOne, [18, 18], [usd(1, 0), usd(1, 0)])
}

#[test]
fn limits_close_to_the_fee_are_answered() {
    let depth = 5_000_000 * 10_u128.pow(18);
    for concentrated in [false, true] {
        for fee_pips in [100, 500, 1_000, 2_500, 3_000, 10_000] {
            let exit = at_par(depth, fee_pips, concentrated);
            let fee = i64::from(fee_pips) * 100;
            let largest = |above: i64| {
                exit.max_size_for(GapLimit::from_millionths(fee + above).unwrap()).unwrap()
            };
            // At or below the loss of an infinitely small sale, nothing passes.
            for none in [-100_000, -100, -1, 0] {
                let max = largest(none);
                assert_eq!((max.size, max.max_amount_in), (None, U256::ZERO), "{fee_pips} {none}");
            }
            let found: Vec<_> = [1_000, 10_000, 100_000].map(largest).into();
            assert!(found.windows(2).all(|pair| pair[0].max_amount_in < pair[1].max_amount_in));
            // For whole dollars there is a result however close the limit is.
            for close in [1, 10, 100, 1_000] {
                let limit = GapLimit::from_millionths(fee + close).unwrap();
                let dollars = exit.depth_usd(limit).unwrap();
                let at = |dollars: u64| {
                    exit.estimate(SizeUsd::from_micros(dollars * 1_000_000).unwrap())
                };
                assert!(dollars == 0 || at(dollars).unwrap().gap <= Percent::from(limit));
                assert!(at(dollars + 1).unwrap().gap >= Percent::from(limit));
            }
            for max in found {
                let estimate = exit.estimate(max.size.unwrap()).unwrap();
                assert!(estimate.gap <= Percent::from(max.limit), "{fee_pips} {:?}", max.limit);
            }
        }
    }
}

/// A pool whose price is 65 million times the oracle's, where next to nothing lies; all else lies at
/// the oracle's. A sale of some size fills well all the same: it has no estimate, because the basis has none, and it is within
/// limits.
#[test]
fn a_pool_priced_out_of_range_has_no_estimate_at_any_size_and_amounts_within_limits() {
    let (dust, deep) = (1_000_i128, 10_i128.pow(24));
    let ticks = [(-2_000, deep), (2_000, -deep), (179_990, dust), (180_010, -dust)];
    let ticks = ticks.map(|(tick, liquidity_net)| Tick::new(tick, liquidity_net)).into();
    let price = sqrt_ratio_at_tick(180_000).unwrap();
    let pool = Concentrated::new(price, 180_000, dust.unsigned_abs(), 500, 10, ticks).unwrap();
    let pool = PoolState::Concentrated(pool);
    let exit = Exit::new(&pool, Direction::ZeroForOne, [18, 18], [usd(1, 0), usd(1, 0)]);
    assert_eq!(exit.basis(), None);
    // The fill itself is near the oracle price.
    let sold = U256::from(200_000 * 10_u128.pow(18));
    let fill = exit.fill(sold).unwrap();
    let gap = exit.gap(&fill).unwrap();
    assert!((-5_000_000..5_000_000).contains(&gap.0), "{gap}");
    for text in ["0.01", "1000", "200000", "1000000000"] {
        match exit.estimate(size(text)) {
            Err(Refusal::GapOutOfRange) => {}
            Err(Refusal::BeyondLiquidity { max_fillable_usd, .. }) => {
                assert_eq!(max_fillable_usd, UsdMicros(0));
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    for text in ["-100", "-2", "0", "5", "100"] {
        let row = exit.gap_row(limit(text));
        let depth = row.depth.unwrap();
        let share = exit.gap(&exit.fill(depth.max_amount_in).unwrap()).unwrap();
        assert!(share <= limit(text).into(), "{text}: {depth:?}");
        if ["5", "100"].contains(&text) {
            assert!(depth.max_amount_in >= sold && depth.size.is_some(), "{text}: {depth:?}");
        }
        assert_eq!(row.estimate, Some(Err(Refusal::GapOutOfRange)), "{text}");
        assert_eq!(exit.depth_usd(limit(text)), Ok(0));
    }
}

/// The fillable size of a refusal can be filled.
#[test]
fn the_size_that_a_refusal_names_is_filled_or_none_is() {
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    let most = ConstantProduct::MAX_RESERVE;
    // The first two pools take only one more raw unit and pay nothing for it; it is worth 5 USD, or less than the
    // smallest size. The last pool is an ordinary one.
    for (reserves, decimals, fills) in [
        ([most - 1, 10], 0, false),
        ([most - 1, 10], 18, false),
        ([most - 5, most], 0, true),
        ([most - 10_u128.pow(24), 10_u128.pow(24)], 18, true),
    ] {
        let pool = PoolState::ConstantProduct(ConstantProduct::new(reserves, fee).unwrap());
        let worth = [usd(5, 0), usd(5, 0)];
        let exit = Exit::new(&pool, Direction::ZeroForOne, [decimals; 2], worth);
        let refusal = exit.estimate(SizeUsd::MAX).unwrap_err();
        let Refusal::BeyondLiquidity { max_fillable_usd, .. } = refusal else {
            panic!("{refusal:?}")
        };
        assert_eq!(max_fillable_usd != UsdMicros(0), fills, "{reserves:?}");
        if fills {
            let named = SizeUsd::from_micros(max_fillable_usd.0).unwrap();
            assert_eq!(exit.estimate(named).unwrap().size, named);
            let more = SizeUsd::from_micros(max_fillable_usd.0 + 1).unwrap();
            assert!(matches!(exit.estimate(more), Err(Refusal::BeyondLiquidity { .. })));
        }
    }
}
