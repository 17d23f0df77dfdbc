use super::*;
use crate::pools::kind::Sale;
use crate::pools::{PoolState, SaleCurve};
use crate::wide::mul_div;
use ConcentratedError as E;
use proptest::prelude::*;
use ranges::{active_liquidity, check_ticks};

fn pool(spacing: i32, fee_pips: u32, tick: i32, ranges: &[(i32, i32, u64)]) -> Concentrated {
    let mut nets = std::collections::BTreeMap::<i32, i128>::new();
    for &(low, high, liquidity) in ranges {
        *nets.entry(low * spacing).or_default() += i128::from(liquidity);
        *nets.entry(high * spacing).or_default() -= i128::from(liquidity);
    }
    let ticks: Vec<_> =
        nets.into_iter().map(|(tick, liquidity_net)| Tick::new(tick, liquidity_net)).collect();
    let liquidity = active_liquidity(&ticks, tick);
    let sqrt_price = sqrt_ratio_at_tick(tick).unwrap() + U256::from(12_345_u32);
    Concentrated::new(sqrt_price, tick, liquidity, fee_pips, spacing, ticks).unwrap()
}

#[test]
fn states_that_break_an_invariant_are_refused_by_name() {
    let good = pool(60, 3_000, 7, &[(-3, 4, 1_000)]);
    let make = |price, tick, liquidity, fee, spacing, ticks: &[(i32, i128)]| {
        let ticks =
            ticks.iter().map(|&(tick, liquidity_net)| Tick::new(tick, liquidity_net)).collect();
        Concentrated::new(price, tick, liquidity, fee, spacing, ticks).unwrap_err()
    };
    let price = good.sqrt_price_x96();
    let ticks = [(-180, 1_000), (240, -1_000)];
    assert_eq!(make(U256::ZERO, 7, 1_000, 3_000, 60, &ticks), E::NotInitialised);
    assert!(matches!(
        make(MAX_SQRT_RATIO, 7, 1_000, 3_000, 60, &ticks),
        E::SqrtPriceOutOfRange { .. }
    ));
    assert!(matches!(make(price, 6, 1_000, 3_000, 60, &ticks), E::TickNotAtPrice { tick: 6, .. }));
    assert!(matches!(make(price, i32::MAX, 1_000, 3_000, 60, &ticks), E::TickNotAtPrice { .. }));
    assert_eq!(make(price, 7, 1_000, 1_000_000, 60, &ticks), E::FeeOutOfRange { found: 1_000_000 });
    assert_eq!(
        make(price, 7, 1_000, 3_000, 0, &ticks),
        E::TickSpacingOutOfRange { found: 0, most: 16_383 }
    );
    assert_eq!(make(price, 7, 1_000, 3_000, 50, &ticks), E::TickOutOfPlace { tick: -180 });
    let swapped = [(240, -1_000), (-180, 1_000)];
    assert_eq!(make(price, 7, 1_000, 3_000, 60, &swapped), E::NetLiquidityOutOfRange { tick: 240 });
    assert_eq!(
        make(price, 7, 1_000, 3_000, 60, &[(-180, 1_000), (-180, -1_000)]),
        E::TicksOutOfOrder { tick: -180 }
    );
    assert_eq!(
        make(price, 7, 1_000, 3_000, 60, &ticks[..1]),
        E::NetLiquidityNotBalanced { found: 1_000 }
    );
    assert_eq!(
        make(price, 7, 999, 3_000, 60, &ticks),
        E::LiquidityMismatch { expected: 1_000, found: 999 }
    );
}

#[test]
fn a_price_that_fell_onto_a_tick_belongs_to_the_tick_below() {
    let ticks = vec![Tick::new(-60, 5), Tick::new(0, 5), Tick::new(60, -10)];
    let price = U256::ONE << 96;
    assert!(Concentrated::new(price, 0, 10, 500, 60, ticks.clone()).is_ok());
    assert!(Concentrated::new(price, -1, 5, 500, 60, ticks).is_ok());
}

#[test]
fn selling_past_the_last_tick_says_what_the_pool_would_take() {
    let pool = pool(60, 3_000, 7, &[(-3, 4, 1_000_000_000)]);
    for direction in Direction::BOTH {
        let (most, paid) = StepTable::build(pool.swap_loop(direction)).most();
        assert_eq!(pool.fill_once(direction, most).unwrap().amount_out, paid);
        assert_eq!(
            pool.fill_once(direction, most + U256::ONE),
            Err(FillError::BeyondLiquidity { consumed: most, paid })
        );
    }
}

#[test]
fn amounts_above_160_bits_move_the_price_by_their_whole_worth() {
    // The maximum liquidity that the contract allows in one tick at spacing 1, near the highest price.
    let liquidity = 191_757_530_477_355_301_479_181_766_273_477_u128;
    let net = i128::try_from(liquidity).unwrap();
    let ticks = vec![Tick::new(-887_272, net), Tick::new(887_272, -net)];
    // The step to the end of the bitmap word takes more than 2^161 units.
    let start = sqrt_ratio_at_tick(866_560).unwrap();
    let pool = Concentrated::new(start, 866_560, liquidity, 0, 1, ticks).unwrap();
    let amount: U256 = (U256::ONE << 161) + U256::from(7);
    let fill = pool.fill_once(Direction::OneForZero, amount).unwrap();
    let moved = mul_div(amount, U256::ONE << 96, U256::from(liquidity)).unwrap();
    assert_eq!(fill.sqrt_price_after_x96(), Some(start + moved));
}

/// `count` ticks from the lowest one up, with alternating sign of the net liquidity.
fn many_ticks(count: i32, net: i128, gross: u128) -> Vec<Tick> {
    let at = |index: i32| Tick {
        tick: MIN_TICK + index,
        liquidity_net: if index % 2 == 0 { net } else { -net },
        liquidity_gross: gross,
    };
    (0..count).map(at).collect()
}

#[test]
fn a_state_that_could_not_be_written_is_refused() {
    let price = sqrt_ratio_at_tick(887_000).unwrap();
    let make = |ticks: Vec<Tick>| Concentrated::new(price, 887_000, 0, 3_000, 1, ticks);
    let written =
        |ticks: Vec<Tick>| PoolState::from(make(ticks).unwrap()).to_canonical().unwrap().len();
    // The maximum number of ticks with high liquidity, and as many of the longest numbers as fit.
    let live = 10_i128.pow(21);
    assert!(written(many_ticks(65_536, live, live.unsigned_abs() + 1)) <= MAX_STATE_BYTES);
    let longest = written(many_ticks(44_000, i128::MAX, u128::MAX));
    assert!((4_000_000..=MAX_STATE_BYTES).contains(&longest), "{longest}");
    let refused = make(many_ticks(65_536, i128::MAX, u128::MAX)).unwrap_err();
    let ConcentratedError::TooLong { found, most } = refused else { panic!("{refused}") };
    assert_eq!(most, MAX_STATE_BYTES);
    // The bound is tight: it counts exactly the bytes that are written for a tick.
    let more = make(many_ticks(65_534, i128::MAX, u128::MAX)).unwrap_err();
    let ConcentratedError::TooLong { found: less, .. } = more else { panic!("{more}") };
    let two = written(many_ticks(44_000, i128::MAX, u128::MAX))
        - written(many_ticks(43_998, i128::MAX, u128::MAX));
    assert_eq!(found - less, two);
}

prop_compose! {
    /// A random pool: up to 12 ranges around the price, any spacing, some far away.
    fn any_pool()(
        spacing in prop::sample::select(vec![1_i32, 10, 60, 200]),
        fee_pips in prop::sample::select(vec![0_u32, 100, 500, 3_000, 10_000]),
        tick in -200_000_i32..200_000,
        ranges in prop::collection::vec((-300_i32..300, 1_i32..400, 1_u64..u64::MAX), 1..12),
    ) -> Concentrated {
        let centre = tick.div_euclid(spacing);
        let ranges: Vec<_> = ranges
            .into_iter()
            .map(|(low, width, liquidity)| (centre + low, centre + low + width, liquidity))
            .collect();
        pool(spacing, fee_pips, tick, &ranges)
    }
}

proptest! {
    #[test]
    fn the_table_fills_as_the_plain_loop_does(
        pool in any_pool(),
        zero_for_one: bool,
        share in 0_u64..=1_050,
        nudge in -1_i8..=1,
        at_step: prop::sample::Index,
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let state = PoolState::Concentrated(pool.clone());
        let curve = state.curve(direction);
        let (most, _) = curve.most();
        let spread = most / U256::from(1_000) * U256::from(share);
        let mut amounts = vec![spread, U256::ONE, most, most + U256::ONE];
        if curve.segment_count() > 0 {
            // Exactly at a stop, and one unit before and after it.
            let edge = curve.segment(at_step.index(curve.segment_count())).in_end;
            amounts.push(match nudge {
                -1 => edge.saturating_sub(U256::ONE),
                0 => edge,
                _ => edge + U256::ONE,
            });
        }
        for amount in amounts {
            let table = curve.fill(amount);
            prop_assert_eq!(&table, &state.fill_once(direction, amount));
            if let Ok(fill) = table {
                check_steps(&curve, &fill)?;
                let after = state.after(direction, &fill);
                let PoolState::Concentrated(after) = after else { unreachable!() };
                // The state after a sale is valid.
                prop_assert!(Concentrated::new(
                    after.sqrt_price_x96(), after.tick(), after.liquidity(),
                    after.fee_pips(), after.tick_spacing(), after.ticks().to_vec(),
                ).is_ok());
            }
        }
    }

    #[test]
    fn recovery_moves_back_and_never_past_the_start(pool in any_pool(), part in 1_u32..100_000_000) {
        let start = PoolState::Concentrated(pool.clone());
        for direction in Direction::BOTH {
            let (most, _) = start.curve(direction).most();
            let amount = most / U256::from(3);
            let Ok(fill) = start.fill_once(direction, amount) else { continue };
            let after = start.after(direction, &fill);
            prop_assert_eq!(&after.with_recovery(&start, direction, 0), &after);
            let PoolState::Concentrated(back) = after.with_recovery(&start, direction, part) else { unreachable!() };
            let (low, high) = (pool.sqrt_price_x96(), fill.sqrt_price_after_x96().unwrap());
            let (low, high) = (low.min(high), low.max(high));
            prop_assert!(low <= back.sqrt_price_x96() && back.sqrt_price_x96() <= high);
            prop_assert!(check_ticks(back.tick(), back.liquidity(), back.tick_spacing(), back.ticks()).is_ok());
        }
    }
}

fn check_steps(curve: &SaleCurve, fill: &Fill) -> Result<(), TestCaseError> {
    let steps = curve.fill_steps(fill.amount_in).unwrap();
    let sum = |amount: fn(&crate::pools::FillStep) -> U256| {
        steps.iter().map(amount).fold(U256::ZERO, |sum, amount| sum + amount)
    };
    prop_assert_eq!(sum(|step| step.amount_in), fill.amount_in);
    prop_assert_eq!(sum(|step| step.amount_out), fill.amount_out);
    prop_assert!(sum(|step| step.fee) <= fill.amount_in);
    let crossed = steps.iter().filter(|step| step.crossed_tick.is_some()).count();
    prop_assert_eq!(Some(u32::try_from(crossed).unwrap()), fill.ticks_crossed());
    prop_assert_eq!(steps.last().unwrap().sqrt_price_after_x96, fill.sqrt_price_after_x96());
    Ok(())
}
