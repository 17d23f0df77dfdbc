//! Compares the largest size with a test of every amount, for kinds whose output may dip by a unit or whose fee depends
//! on the size.

use proptest::prelude::*;

use super::*;
use crate::pools::{
    DRule, Direction, FeeRate, NgParts, PoolState, Solidly, StableRelease, StableSwap,
    StableSwapError, StableSwapParts, StableV2, StableV3, VaultParts, Weighted,
};
use crate::units::UsdPrice;

/// An exit with tokens that have no decimals and are worth a dollar each.
pub(in crate::exit) fn at_par(pool: &PoolState, direction: Direction, decimals: [u8; 2]) -> Exit {
    let dollar = UsdPrice::product(&[(U256::ONE, 0)]).unwrap();
    Exit::new(pool, direction, decimals, [dollar; 2])
}

/// The largest passing amount, found by testing every amount downwards from `all`, above which none passes because the
/// pool does not have that much.
fn swept(exit: &Exit, limit: GapLimit, all: u64) -> U256 {
    let threshold = exit.terms.threshold(limit);
    let most = threshold.largest_input(U256::from(all)).saturating_to::<u64>();
    let passes = |amount: &u64| {
        let fill = exit.curve.fill(U256::from(*amount));
        let out = fill.map_or(U256::ZERO, |fill| fill.amount_out);
        !out.is_zero() && threshold.passes(U256::from(*amount), out)
    };
    U256::from((1..=most).rev().find(passes).unwrap_or(0))
}

/// A small `StableSwap` pool: raw units are scaled units, or a thousand of them.
pub(in crate::exit) fn small_stable_swap(
    varying: bool,
) -> impl Strategy<Value = (StableSwap, u64)> {
    let balances = prop::collection::vec(prop_oneof![2_u64..60, 60_u64..3_000], 2..4);
    let rules = prop::sample::select(vec![DRule::EachN, DRule::EachNPlusOne, DRule::NPowN]);
    let fee = prop::sample::select(vec![0_u64, 1_000_000, 4_000_000, 40_000_000, 400_000_000]);
    let multiplier = prop::sample::select(vec![20_000_000_000_u64, 100_000_000_000, 1]);
    (balances, rules, fee, multiplier, 1_u64..5_000, any::<[bool; 4]>()).prop_filter_map(
        "an invariant",
        move |(units, d_rule, fee, multiplier, amp, [precise, less_one, fine, coarse])| {
            let one = 10_u64.pow(18);
            let rates: Vec<_> = (0..units.len())
                .map(|coin| if coin == 0 && fine { one / 7 } else { one })
                .map(|rate| U256::from(if coarse { rate.saturating_mul(3) } else { rate }))
                .collect();
            let balances: Vec<_> = units.iter().map(|units| U256::from(*units)).collect();
            let ng = varying.then(|| NgParts {
                offpeg_fee_multiplier: multiplier,
                admin_balances: vec![U256::ZERO; units.len()],
                asset_types: vec![0; units.len()],
            });
            let precise = precise || varying;
            let parts = StableSwapParts {
                balances,
                rates,
                amp: if precise { amp * 100 } else { amp },
                a_precision: if precise { 100 } else { 1 },
                d_rule: if varying { DRule::NPowN } else { d_rule },
                less_one: less_one || varying,
                fee,
                admin_fee: 5_000_000_000,
                ng,
            };
            match StableSwap::new(parts) {
                Ok(pool) => Some((pool, units[0].max(units[1]))),
                Err(StableSwapError::NotConverged | StableSwapError::Empty { .. }) => None,
                Err(other) => panic!("{other}"),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_largest_exit_of_a_small_stable_pool_is_what_testing_every_amount_finds(
        (pool, all) in any::<bool>().prop_flat_map(small_stable_swap),
        zero_for_one: bool,
        limit in prop_oneof![-60_000_000_i64..95_000_000, -200_000_i64..2_000_000],
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let exit = at_par(&pool.into(), direction, [0, 0]);
        let limit = GapLimit::from_millionths(limit).unwrap();
        let found = exit.max_size_for(limit).unwrap();
        prop_assert_eq!(found.max_amount_in, swept(&exit, limit, all));
    }
}

/// A pool of coins with these decimals.
pub(in crate::exit) fn live_stable_swap(
    whole: [u64; 2],
    decimals: [u32; 2],
    amp: u64,
    ng: Option<u64>,
) -> StableSwap {
    let ten = |exponent: u32| U256::from(10).pow(U256::from(exponent));
    let balance = |coin: usize| U256::from(whole[coin]) * ten(decimals[coin]);
    StableSwap::new(StableSwapParts {
        balances: vec![balance(0), balance(1)],
        rates: decimals.map(|decimals| ten(36 - decimals)).to_vec(),
        amp: amp * 100,
        a_precision: 100,
        d_rule: DRule::NPowN,
        less_one: true,
        fee: 4_000_000,
        admin_fee: 5_000_000_000,
        ng: ng.map(|offpeg_fee_multiplier| NgParts {
            offpeg_fee_multiplier,
            admin_balances: vec![U256::ZERO; 2],
            asset_types: vec![0; 2],
        }),
    })
    .unwrap()
}

#[test]
fn no_amount_above_the_largest_exit_of_a_live_stable_pool_passes() {
    let mut answered = 0;
    for decimals in [[18, 6], [6, 18], [18, 18], [6, 6]] {
        for whole in [[1_000_000, 2_000_000], [5_000_000, 1_300_000], [40_000_000, 41_000_000]] {
            for ng in [None, Some(50_000_000_000)] {
                let pool = live_stable_swap(whole, decimals, 200, ng);
                let decimals = decimals.map(|decimals| u8::try_from(decimals).unwrap());
                for direction in Direction::BOTH {
                    let exit = at_par(&pool.clone().into(), direction, decimals);
                    for limit in ["0.1", "0.25", "1", "5"] {
                        answered += usize::from(holds_above(&exit, limit.parse().unwrap()));
                    }
                }
            }
        }
    }
    assert!(answered > 150, "{answered}");
}

/// The pool has too little of the coin sold, so every sale balances it: its fee falls faster than its price.
#[test]
fn a_ladder_says_where_a_smaller_size_is_worse() {
    let exit = |ng: Option<u64>, direction: Direction| {
        let pool = live_stable_swap([9_500_000, 500_000], [18, 6], 50_000, ng);
        at_par(&pool.into(), direction, [18, 6])
    };
    let varying = exit(Some(200_000_000_000), Direction::OneForZero);
    let gap = |size: SizeUsd| varying.estimate(size).unwrap().gap;
    let by_size = varying.ladder_by_size(&SizeUsd::STANDARD);
    let last = by_size.last().unwrap();
    let half = SizeUsd::from_micros(UsdMicros::from(last.size).0 / 2).unwrap();
    assert_eq!(last.worse_below, Some(half));
    assert!(gap(half) > gap(last.size));
    // At the limit that the largest size just meets, half of that size does not pass.
    let row = varying.gap_row(gap(last.size).to_fixed().parse().unwrap());
    let (depth, worse) = (row.depth.unwrap().size.unwrap(), row.worse_below.unwrap());
    assert!(depth >= last.size && worse < depth && gap(worse) > row.limit.into());
    // No smaller size is worse if the fee is fixed, or if every sale makes the balances less equal.
    let fixed = exit(None, Direction::OneForZero);
    let apart = exit(Some(200_000_000_000), Direction::ZeroForOne);
    for exit in [fixed, apart] {
        let by_size = exit.ladder_by_size(&SizeUsd::STANDARD);
        let by_gap = exit.ladder_by_gap(&GapLimit::LADDER);
        assert!(by_size.iter().all(|row| row.worse_below.is_none()));
        assert!(by_gap.iter().all(|row| row.worse_below.is_none()));
    }
}

/// Whether some amount passes. Asserts that no amount above the result passes, near it or far from it.
fn holds_above(exit: &Exit, limit: GapLimit) -> bool {
    let threshold = exit.terms.threshold(limit);
    let found = exit.max_size_for(limit).unwrap().max_amount_in;
    let passes = |amount: U256| {
        let fill = exit.curve.fill(amount);
        fill.is_ok_and(|fill| {
            !fill.amount_out.is_zero() && threshold.passes(amount, fill.amount_out)
        })
    };
    assert!(found.is_zero() || passes(found));
    for step in 1..200_u32 {
        assert!(!passes(found + U256::from(step)), "{found} and {step}");
        let far = (found / U256::from(50)).max(U256::from(7)) * U256::from(step);
        assert!(!passes(found + far + U256::from(step)), "{found} and {far}");
    }
    !found.is_zero()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_largest_exit_of_a_small_solidly_pool_is_what_testing_every_amount_finds(
        stable: bool,
        reserves in [2_u64..3_000, 2_u64..3_000],
        decimals in [0_u8..4, 0_u8..4],
        numerator in prop::sample::select(vec![0_u64, 1, 5, 30, 100, 300]),
        zero_for_one: bool,
        limit in prop_oneof![-60_000_000_i64..95_000_000, -200_000_i64..2_000_000],
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let fee = FeeRate { numerator, denominator: Solidly::FEE_DENOMINATOR };
        let pool = Solidly::new(stable, reserves.map(U256::from), decimals, fee).unwrap();
        let exit = at_par(&pool.into(), direction, [0, 0]);
        let limit = GapLimit::from_millionths(limit).unwrap();
        let found = exit.max_size_for(limit).unwrap();
        prop_assert_eq!(found.max_amount_in, swept(&exit, limit, reserves[0].max(reserves[1])));
    }
}

#[test]
fn no_amount_above_the_largest_exit_of_a_live_solidly_pool_passes() {
    let mut answered = 0;
    for decimals in [[18, 6], [6, 18], [18, 18], [6, 8]] {
        for whole in [[1_000_000_u64, 2_000_000], [5_000_000, 1_300_000], [40_000, 41_000]] {
            for stable in [true, false] {
                let reserves = [0, 1].map(|token: usize| {
                    U256::from(whole[token]) * U256::from(10).pow(U256::from(decimals[token]))
                });
                let fee = FeeRate { numerator: 5, denominator: Solidly::FEE_DENOMINATOR };
                let pool = Solidly::new(stable, reserves, decimals, fee).unwrap();
                for direction in Direction::BOTH {
                    let exit = at_par(&pool.into(), direction, decimals);
                    for limit in ["0.1", "0.25", "1", "5"] {
                        answered += usize::from(holds_above(&exit, limit.parse().unwrap()));
                    }
                }
            }
        }
    }
    assert!(answered > 80, "{answered}");
}

/// A small pool of a vault, whose units are a hundredth or a thousandth of a whole token.
fn small_vault(units: [u64; 2], rate: u64, swap_fee: u64, third: bool) -> VaultParts {
    let one = U256::from(10_u64.pow(18));
    let scaling_factors = vec![U256::from(10_u64.pow(16)), U256::from(10_u64.pow(15))];
    let rates = vec![one, U256::from(rate)];
    let balances = units.map(U256::from).to_vec();
    let live = balances.iter().zip(scaling_factors.iter().zip(&rates));
    let live = live.map(|(raw, (scaling, rate))| *raw * *scaling * *rate / one).collect();
    let live_balances = third.then_some(live);
    VaultParts { balances, live_balances, scaling_factors, rates, swap_fee }
}

/// A pool of either rule in either vault.
pub(in crate::exit) fn small_balancer() -> impl Strategy<Value = (PoolState, u64)> {
    let fee = prop::sample::select(vec![1_000_000_000_000_u64, 100_000_000_000_000, 3 << 50]);
    let weight = prop::sample::select(vec![10_u64, 20, 33, 50, 67, 80, 95]);
    let rate = prop::sample::select(vec![10_u64.pow(18), 1_100_000_000_000_000_007]);
    let units = [2_u64..3_000, 2_u64..3_000];
    (units, fee, weight, rate, 1_u64..5_000, any::<[bool; 2]>()).prop_filter_map(
        "an invariant",
        |(units, fee, weight, rate, amp, [stable, third])| {
            let rate = if stable || third { rate } else { 10_u64.pow(18) };
            let vault = small_vault(units, rate, fee, third);
            let weight = weight * 10_u64.pow(16);
            let state = match (stable, third) {
                (true, true) => {
                    StableV3::new(vault, amp * 1_000, StableRelease::Third).ok()?.into()
                }
                (true, false) => StableV2::new(vault, amp * 1_000).ok()?.into(),
                (false, _) => {
                    let weights = vec![weight, 10_u64.pow(18) - weight];
                    PoolState::from(Weighted::new(vault, weights, None).unwrap())
                }
            };
            Some((state, units[0].max(units[1])))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_largest_exit_of_a_small_balancer_pool_is_what_testing_every_amount_finds(
        (pool, all) in small_balancer(),
        zero_for_one: bool,
        limit in prop_oneof![-60_000_000_i64..95_000_000, -200_000_i64..2_000_000],
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let exit = at_par(&pool, direction, [0, 0]);
        let limit = GapLimit::from_millionths(limit).unwrap();
        let found = exit.max_size_for(limit).unwrap();
        prop_assert_eq!(found.max_amount_in, swept(&exit, limit, all));
    }
}

#[test]
fn no_amount_above_the_largest_exit_of_a_live_balancer_pool_passes() {
    let one = U256::from(10_u64.pow(18));
    let mut answered = 0;
    for decimals in [[18, 6], [6, 18], [18, 18], [6, 8]] {
        let ten = |exponent: u8| U256::from(10).pow(U256::from(exponent));
        for third in [false, true] {
            for share in [None, Some(500_000_000_000_000_000_u64), Some(800_000_000_000_000_000)] {
                let base = U256::from(4_000_000);
                // The balances are proportional to the weights, so the price is at par.
                let whole = share.map_or(base, |share| base * U256::from(share) / one);
                let other = share.map_or(base, |share| base * (one - U256::from(share)) / one);
                let balances = vec![whole * ten(decimals[0]), other * ten(decimals[1])];
                let live = vec![whole * one, other * one];
                let vault = VaultParts {
                    balances,
                    live_balances: third.then_some(live),
                    scaling_factors: decimals.map(|decimals| ten(18 - decimals)).to_vec(),
                    rates: vec![one; 2],
                    swap_fee: 400_000_000_000_000,
                };
                let pool: PoolState = match (share, third) {
                    (None, false) => StableV2::new(vault, 200_000).unwrap().into(),
                    (None, true) => {
                        StableV3::new(vault, 200_000, StableRelease::First).unwrap().into()
                    }
                    (Some(share), _) => {
                        let weights = vec![share, 1_000_000_000_000_000_000 - share];
                        Weighted::new(vault, weights, None).unwrap().into()
                    }
                };
                for direction in Direction::BOTH {
                    let exit = at_par(&pool, direction, decimals);
                    for limit in ["0.3", "1", "5"] {
                        answered += usize::from(holds_above(&exit, limit.parse().unwrap()));
                    }
                }
            }
        }
    }
    assert!(answered > 120, "{answered}");
}
