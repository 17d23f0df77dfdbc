use super::*;
use crate::exit::max_size::swept_tests::{
    at_par, live_stable_swap, small_balancer, small_stable_swap,
};
use crate::exit::max_size::tests::any_pool;
use crate::pools::{
    Concentrated, ConstantProduct, Direction, FeeRate, PoolState, Solidly, Tick, sqrt_ratio_at_tick,
};
use proptest::prelude::*;

const MILLION: u64 = 1_000_000;

fn pair(reserves: [u64; 2], numerator: u64) -> PoolState {
    let fee = FeeRate { numerator, denominator: MILLION };
    ConstantProduct::new(reserves.map(u128::from), fee).unwrap().into()
}

/// Two ranges around a price of one, one inside the other.
fn ranged(tick: i32, liquidity: [u64; 2], fee_pips: u32) -> PoolState {
    let [outer, inner] = liquidity.map(i128::from);
    let nets = [(-6_000, outer), (-60, inner), (60, -inner), (6_000, -outer)];
    let ticks: Vec<_> = nets.map(|(tick, net)| Tick::new(tick, net)).into();
    let active = ticks.iter().filter(|at| at.tick <= tick).map(|at| at.liquidity_net).sum::<i128>();
    let active = u128::try_from(active).unwrap();
    let price = sqrt_ratio_at_tick(tick).unwrap();
    Concentrated::new(price, tick, active, fee_pips, 60, ticks).unwrap().into()
}

/// A small pool of every kind that can be part of a split.
fn small_pool() -> impl Strategy<Value = PoolState> {
    let fee = prop::sample::select(vec![0_u64, 500, 3_000, 30_000]);
    let reserves = || [2_u64..3_000, 2_u64..3_000];
    let solidly = (any::<bool>(), reserves(), [0_u8..4, 0_u8..4], 0_u64..100);
    prop_oneof![
        (reserves(), fee).prop_map(|(reserves, fee)| pair(reserves, fee)),
        (
            -90_i32..90,
            [1_u64..3_000, 1_u64..90_000],
            prop_oneof![0_u32..30_000, 30_000_u32..990_000]
        )
            .prop_map(|(tick, liquidity, fee)| ranged(tick, liquidity, fee)),
        small_stable_swap(false).prop_map(|(pool, _)| pool.into()),
        solidly.prop_map(|(stable, reserves, decimals, numerator)| {
            let fee = FeeRate { numerator, denominator: Solidly::FEE_DENOMINATOR };
            Solidly::new(stable, reserves.map(U256::from), decimals, fee).unwrap().into()
        }),
        small_balancer()
            .prop_map(|(pool, _)| pool)
            .prop_filter("no branches", |pool| { !pool.curve(Direction::ZeroForOne).divides() }),
    ]
}

fn dollar(answer: u64) -> UsdPrice {
    UsdPrice::product(&[(U256::from(answer), 2)]).unwrap()
}

/// Venues whose token bought is worth this many cents. The token sold is worth a dollar.
fn venues<'a>(exits: &'a [Exit], cents: &[u64], costs: &[u64]) -> Vec<SplitVenue<'a>> {
    let of = |at: usize| {
        let mut usd = [dollar(cents[at]); 2];
        usd[exits[at].direction().base_index()] = dollar(100);
        SplitVenue::new(&exits[at], [0, 0], &usd, UsdMicros(costs[at]))
    };
    (0..exits.len()).map(of).collect()
}

/// The maximum output of any split, in micro-dollars × 100 after costs, found by trying all. A leg must pay at least
/// `least` units.
fn by_trying_all(
    exits: &[Exit],
    cents: &[u64],
    costs: &[u64],
    amount: u64,
    least: i128,
) -> Option<i128> {
    let mut best: Vec<Option<i128>> = vec![None; usize::try_from(amount).unwrap() + 1];
    best[0] = Some(0);
    for (at, exit) in exits.iter().enumerate() {
        let brought: Vec<Option<i128>> = (0..best.len())
            .map(|sold| {
                let fill = exit.curve().fill(U256::from(sold as u64)).ok()?;
                let out = i128::from(fill.amount_out.saturating_to::<u64>());
                (out >= least).then_some(
                    out * i128::from(cents[at]) * 1_000_000 - i128::from(costs[at]) * 100,
                )
            })
            .collect();
        for total in (1..best.len()).rev() {
            for sold in 1..=total {
                let with = best[total - sold].zip(brought[sold]).map(|(rest, own)| rest + own);
                best[total] = best[total].max(with);
            }
        }
    }
    best.pop().flatten()
}

/// The output of a split, in the same unit.
fn brought(split: &ExactSplit, cents: &[u64]) -> i128 {
    let leg = |leg: &SplitLeg| {
        i128::from(leg.amount_out.saturating_to::<u64>()) * i128::from(cents[leg.venue]) * 1_000_000
    };
    split.legs.iter().map(leg).sum::<i128>() - i128::from(split.fixed_cost.0) * 100
}

fn holds(exits: &[Exit], split: &ExactSplit, amount: U256) -> Result<(), TestCaseError> {
    let sold = split.legs.iter().fold(U256::ZERO, |sum, leg| sum + leg.amount_in);
    prop_assert_eq!(sold, amount);
    prop_assert!(split.optimality_gap >= Percent(0));
    for alone in split.alone.iter().flatten() {
        prop_assert!(split.gap <= *alone);
    }
    for leg in &split.legs {
        let fill = exits[leg.venue].curve().fill(leg.amount_in).unwrap();
        prop_assert_eq!(fill.amount_out, leg.amount_out);
        prop_assert!(!leg.amount_out.is_zero());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_split_of_small_pools_brings_more_than_the_certificate_allows(
        pools in prop::collection::vec((small_pool(), 80_u64..120, prop::sample::select(vec![0_u64, 0, 700_000, 3_000_000])), 1..5),
        zero_for_one: bool,
        amount in 1_u64..160,
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let exits: Vec<_> = pools.iter().map(|(pool, _, _)| at_par(pool, direction, [0, 0])).collect();
        let cents: Vec<_> = pools.iter().map(|(_, cents, _)| *cents).collect();
        let costs: Vec<_> = pools.iter().map(|(_, _, cost)| *cost).collect();
        let best = by_trying_all(&exits, &cents, &costs, amount, 0);
        match split_exit(&venues(&exits, &cents, &costs), U256::from(amount)) {
            Ok(split) => {
                holds(&exits, &split, U256::from(amount))?;
                let (ours, best) = (brought(&split, &cents), best.unwrap());
                prop_assert!(ours <= best);
                // A share of the amount sold, in millionths of a percent. It is an integer because a unit is worth a
                // dollar.
                let allowed = split.optimality_gap.0 * i128::from(amount);
                prop_assert!(ours + allowed >= best, "{best} of {ours} and {allowed}");
            }
            Err(SplitError::BeyondLiquidity { max_amount_in }) => {
                prop_assert!(best.is_none() || max_amount_in >= U256::from(amount));
            }
            // A leg that pays nothing is not allowed.
            Err(SplitError::NoOutput) => {
                let paying = by_trying_all(&exits, &cents, &costs, amount, 1);
                prop_assert!(paying.is_none_or(|best| best <= 0), "{paying:?}");
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn a_split_over_pools_of_any_depth_adds_up_and_its_certificate_is_sound_for_others(
        pools in prop::collection::vec(any_pool(), 1..5),
        zero_for_one: bool,
        share in 1_u64..100,
        moved in 1_u64..1_000,
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let exits: Vec<_> = pools.iter().map(|pool| at_par(pool, direction, [0, 0])).collect();
        let all = exits.iter().fold(U256::ZERO, |sum, exit| sum.saturating_add(exit.curve().most().0));
        let amount = crate::wide::over(all, U256::from(100)).min(U256::ONE << 120);
        let amount = crate::wide::times(amount, U256::from(share));
        let (cents, costs) = (vec![100; exits.len()], vec![0; exits.len()]);
        let Ok(split) = split_exit(&venues(&exits, &cents, &costs), amount) else { return Ok(()) };
        holds(&exits, &split, amount)?;
        // Other splits: a part of one leg moved to each other venue.
        let of_leg = &split.legs[0];
        let part = crate::wide::mul_div(of_leg.amount_in, U256::from(moved), U256::from(1_000)).unwrap();
        let out = |venue: usize, amount: U256| allot::paid(exits[venue].curve(), amount);
        let total = split.legs.iter().fold(U256::ZERO, |sum, leg| sum + leg.amount_out);
        for to in (0..exits.len()).filter(|to| *to != of_leg.venue) {
            let had = split.legs.iter().find(|leg| leg.venue == to);
            let (sold, paid) = had.map_or((U256::ZERO, U256::ZERO), |leg| (leg.amount_in, leg.amount_out));
            let Some(more) = out(to, sold + part) else { continue };
            let left = out(of_leg.venue, of_leg.amount_in - part).unwrap();
            let other = total - paid - of_leg.amount_out + more + left;
            let gained = U1024::from(other.saturating_sub(total)) * U1024::from(100_000_000_u64);
            let allowed = U1024::from(amount) * U1024::from(u64::try_from(split.optimality_gap.0).unwrap());
            prop_assert!(gained <= allowed);
        }
    }
}

#[test]
fn eight_deep_venues_are_split_to_a_hundred_thousandth_of_a_percent() {
    let ten = |exponent: u32| U256::from(10).pow(U256::from(exponent));
    let deep = |depth: u64, fee: u64| {
        let fee = FeeRate { numerator: fee, denominator: MILLION };
        let reserve = u128::from(depth) * 10_u128.pow(18);
        PoolState::from(ConstantProduct::new([reserve, reserve], fee).unwrap())
    };
    let range = |tick: i32, fee: u32| {
        let outer = 10_i128.pow(24);
        let ticks = [(-6_000, outer), (-60, outer * 40), (60, -outer * 40), (6_000, -outer)];
        let ticks = ticks.map(|(tick, net)| Tick::new(tick, net)).into();
        let price = sqrt_ratio_at_tick(tick).unwrap();
        let active = u128::try_from(outer * 41).unwrap();
        PoolState::from(Concentrated::new(price, tick, active, fee, 60, ticks).unwrap())
    };
    let pools = [
        deep(4_000_000, 3_000),
        deep(900_000, 2_500),
        range(3, 100),
        range(-12, 500),
        range(40, 3_000),
        live_stable_swap([5_000_000, 5_200_000], [18, 18], 200, None).into(),
        live_stable_swap([1_000_000, 900_000], [18, 18], 50, None).into(),
        deep(20_000, 500),
    ];
    let exits: Vec<_> =
        pools.iter().map(|pool| at_par(pool, Direction::ZeroForOne, [18, 18])).collect();
    let usd = [dollar(100); 2];
    let venues: Vec<_> =
        exits.iter().map(|exit| SplitVenue::new(exit, [18, 18], &usd, UsdMicros(0))).collect();
    for dollars in [1_u64, 1_000, 100_000, 1_000_000, 10_000_000] {
        let amount = crate::wide::times(U256::from(dollars), ten(18));
        let split = split_exit(&venues, amount).unwrap();
        holds(&exits, &split, amount).unwrap();
        assert!(split.optimality_gap <= Percent(10), "{dollars}: {}", split.optimality_gap);
        assert_eq!(split.legs.len() > 3, dollars >= 1_000_000, "{dollars}");
    }
}

#[test]
fn what_cannot_be_split_is_refused_by_name() {
    let exit = |pool: PoolState| at_par(&pool, Direction::ZeroForOne, [0, 0]);
    let exits = [exit(pair([1_000, 1_000], 3_000)), exit(pair([500, 500], 0))];
    let [one, two] = [0, 1].map(|at| venues(&exits, &[100, 100], &[0, 0]).remove(at));
    for found in [0, 13] {
        let refused = split_exit(&vec![one.clone(); found], U256::ONE);
        assert_eq!(refused, Err(SplitError::Venues { found }));
    }
    let refused = split_exit(&[one.clone(), two], U256::ZERO);
    assert_eq!(refused, Err(SplitError::NoInput));
    let dearer = SplitVenue::new(&exits[1], [0, 0], &[dollar(101), dollar(100)], UsdMicros(0));
    let refused = split_exit(&[one.clone(), dearer], U256::ONE);
    assert_eq!(refused, Err(SplitError::BaseDiffers { venue: 1 }));
    // A fee that increases as the balances become unequal.
    let varying = live_stable_swap([1_000, 1_000], [0, 0], 200, Some(50_000_000_000));
    let varying = exit(varying.into());
    let varying = SplitVenue::new(&varying, [0, 0], &[dollar(100); 2], UsdMicros(0));
    assert!(!varying.is_concave());
    let refused = split_exit(&[one.clone(), varying], U256::ONE).unwrap_err();
    assert_eq!((refused.code(), refused), ("not_concave", SplitError::NotConcave { venue: 1 }));
    let narrow = exit(ranged(0, [5, 7], 0));
    let narrow = SplitVenue::new(&narrow, [0, 0], &[dollar(100); 2], UsdMicros(0));
    let refused = split_exit(&[narrow], U256::from(1_000)).unwrap_err();
    assert!(
        matches!(refused, SplitError::BeyondLiquidity { max_amount_in } if max_amount_in < U256::from(9))
    );
}

/// The corners of the lowest concave curve from zero that is nowhere below the output for up to `most` units.
fn hull(exit: &Exit, most: u64) -> Vec<[i128; 2]> {
    let mut hull: Vec<[i128; 2]> = vec![[0, 0]];
    for sold in 1..=most {
        let Ok(fill) = exit.curve().fill(U256::from(sold)) else { continue };
        let corner = [i128::from(sold), i128::from(fill.amount_out.saturating_to::<u64>())];
        while let [.., a, b] = hull[..] {
            let rises = [(b[1] - a[1]) * (corner[0] - a[0]), (corner[1] - a[1]) * (b[0] - a[0])];
            if rises[0] > rises[1] {
                break;
            }
            hull.pop();
        }
        hull.push(corner);
    }
    hull
}

proptest! {
    #![proptest_config(ProptestConfig { max_local_rejects: 1 << 24, ..ProptestConfig::with_cases(2_000) })]

    /// The requirement of the certificate: a concave curve lies between the output and its bound.
    #[test]
    fn a_concave_curve_lies_between_what_a_pool_pays_and_its_bound(pool in small_pool(), zero_for_one: bool) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let exit = at_par(&pool, direction, [0, 0]);
        for corners in hull(&exit, 160).windows(2) {
            let [[from, paid_from], [to, paid_to]] = [corners[0], corners[1]];
            for sold in from..=to {
                let paid = paid_from * (to - sold) + paid_to * (sold - from);
                let paid = (U1024::from(u128::try_from(paid).unwrap()) << 64) / U1024::from(u128::try_from(to - from).unwrap());
                let bound = bound::unrounded_output(exit.curve(), U256::from(u128::try_from(sold).unwrap()));
                prop_assert!(bound >= paid, "{sold} between {corners:?}");
            }
        }
    }
}
