use super::*;
use crate::exit::Exit;
use crate::exit::max_size::swept_tests::at_par;
use crate::exit::max_size::tests::any_pool;
use crate::pools::{ConstantProduct, Direction, FeeRate, PoolState};
use crate::units::{Percent, UsdPrice};
use proptest::prelude::*;

/// The price of a token that is worth a dollar.
fn dollar() -> UsdPrice {
    UsdPrice::product(&[(U256::from(100), 2)]).unwrap()
}

fn venues(exits: &[Exit], decimals: u8) -> Vec<SplitVenue<'_>> {
    let usd = [dollar(); 2];
    let venue = |exit| SplitVenue::new(exit, [decimals; 2], &usd, UsdMicros(0));
    exits.iter().map(venue).collect()
}

fn pair(reserve: u128, fee: u64) -> PoolState {
    let fee = FeeRate { numerator: fee, denominator: 1_000_000 };
    ConstantProduct::new([reserve, reserve], fee).unwrap().into()
}

/// Checks that the sizes add up, that each is a valid sale, and that no single venue is better.
fn holds(exits: &[Exit], sized: &SizedSplit, size: SizeUsd) {
    let sum: u64 = sized.sizes.iter().map(|size| size.micros()).sum();
    assert_eq!(sum, size.micros());
    assert_eq!(sized.sizes.len(), sized.split.legs.len());
    for (leg, own) in sized.split.legs.iter().zip(&sized.sizes) {
        let estimate = exits[leg.venue].estimate(*own).unwrap();
        assert_eq!((estimate.amount_in, estimate.amount_out), (leg.amount_in, leg.amount_out));
        assert_eq!(estimate.gap, leg.gap);
    }
    for alone in sized.split.alone.iter().flatten() {
        assert!(sized.split.gap <= *alone);
    }
    assert!(sized.split.optimality_gap >= Percent(0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_legs_of_any_split_are_sizes_that_add_up(
        pools in prop::collection::vec(any_pool(), 1..5),
        zero_for_one: bool,
        decimals in prop::sample::select(vec![0_u8, 2, 6, 12]),
        share in 1_u64..=1_000,
    ) {
        let direction = if zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero };
        let exits: Vec<_> =
            pools.iter().map(|pool| at_par(pool, direction, [decimals; 2])).collect();
        let venues = venues(&exits, decimals);
        let most = largest_split(&venues).0;
        let asked = u128::from(most) * u128::from(share) / 1_000;
        let Ok(size) = SizeUsd::from_micros(u64::try_from(asked).unwrap()) else { return Ok(()) };
        match split_size(&venues, size) {
            Ok(sized) => holds(&exits, &sized, size),
            Err(SplitError::NoInput | SplitError::NoOutput | SplitError::GapOutOfRange) => {}
            // A unit is worth more than a cent.
            Err(SplitError::BeyondLiquidity { .. }) => prop_assert!(decimals < 6),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}

#[test]
fn all_that_the_venues_take_is_split_and_a_cent_more_is_not() {
    let direction = Direction::ZeroForOne;
    let pool = |tick: i32, outer: i128| {
        use crate::pools::{Concentrated, Tick, sqrt_ratio_at_tick};
        let ticks = [(-600, outer), (600, -outer)].map(|(at, net)| Tick::new(at, net)).into();
        let price = sqrt_ratio_at_tick(tick).unwrap();
        let active = u128::try_from(outer).unwrap();
        PoolState::from(Concentrated::new(price, tick, active, 500, 60, ticks).unwrap())
    };
    let pools =
        [pool(3, 10_i128.pow(24)), pool(-7, 3 * 10_i128.pow(23)), pool(400, 10_i128.pow(23))];
    for decimals in [6_u8, 18] {
        let exits: Vec<_> =
            pools.iter().map(|pool| at_par(pool, direction, [decimals; 2])).collect();
        let venues = venues(&exits, decimals);
        let most = largest_split(&venues);
        let Ok(size) = SizeUsd::from_micros(most.0) else { panic!("{most:?}") };
        let capped = size == SizeUsd::MAX;
        let sized = split_size(&venues, size).unwrap();
        holds(&exits, &sized, size);
        assert_eq!(sized.split.legs.len() == 3, !capped);
        if !capped {
            let more = SizeUsd::from_micros(most.0 + 10_000).unwrap();
            let refused = split_size(&venues, more).unwrap_err();
            assert!(matches!(refused, SplitError::BeyondLiquidity { .. }), "{refused}");
        }
    }
}

#[test]
fn coarse_units_stay_whole_and_dust_is_no_leg() {
    let direction = Direction::ZeroForOne;
    // A unit is worth a cent, so no leg is a fraction of one.
    let exits =
        [pair(4_000_000, 3_000), pair(3_000_000, 500)].map(|pool| at_par(&pool, direction, [2; 2]));
    let size: SizeUsd = "1001.7575".parse().unwrap();
    let sized = split_size(&venues(&exits, 2), size).unwrap();
    holds(&exits, &sized, size);
    assert_eq!(sized.sizes.len(), 2);
    let sold: u64 = sized.split.legs.iter().map(|leg| leg.amount_in.saturating_to::<u64>()).sum();
    assert_eq!(sold, 100_175);
    // The small venue would take less than a cent.
    let unequal = [pair(10_u128.pow(15), 3_000), pair(10_u128.pow(5), 3_000)]
        .map(|pool| at_par(&pool, direction, [6; 2]));
    let size: SizeUsd = "0.5".parse().unwrap();
    let sized = split_size(&venues(&unequal, 6), size).unwrap();
    holds(&unequal, &sized, size);
    assert_eq!(sized.sizes, [size]);
}

#[test]
fn what_is_no_split_is_refused() {
    let exits = [pair(40_000, 3_000)].map(|pool| at_par(&pool, Direction::ZeroForOne, [0; 2]));
    let one = venues(&exits, 0);
    let size = |text: &str| text.parse::<SizeUsd>().unwrap();
    assert_eq!(split_size(&[], size("1")), Err(SplitError::Venues { found: 0 }));
    assert_eq!(split_size(&one, size("0.5")), Err(SplitError::NoInput));
    assert_eq!(largest_split(&[]), UsdMicros(0));
}

#[test]
fn a_venue_alone_is_told_with_its_cost() {
    let exits = [pair(40_000, 3_000)].map(|pool| at_par(&pool, Direction::ZeroForOne, [0; 2]));
    let of = |cost| SplitVenue::new(&exits[0], [0; 2], &[dollar(); 2], UsdMicros(cost));
    let size = |text: &str| text.parse::<SizeUsd>().unwrap();
    let estimate = exits[0].estimate(size("100")).unwrap();
    assert_eq!(of(0).alone(size("100")), Ok(estimate.gap));
    // One dollar of a hundred is one percent.
    assert_eq!(of(1_000_000).alone(size("100")), Ok(Percent(estimate.gap.0 + 1_000_000)));
    let split = split_size(&[of(1_000_000)], size("100")).unwrap().split;
    assert_eq!(split.alone, [of(1_000_000).alone(size("100")).ok()]);
    assert_eq!(of(0).alone(size("0.5")), Err(crate::exit::Refusal::NoInput));
}
