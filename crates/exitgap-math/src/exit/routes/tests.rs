use super::*;
use crate::exit::Exit;
use crate::pools::{ConstantProduct, Direction, FeeRate, PoolState};
use crate::units::UsdPrice;
use crate::wide::U256;
use proptest::prelude::*;

/// One cent, the grid step of the brute-force search.
const CENT: u64 = 10_000;

fn size(micros: u64) -> SizeUsd {
    SizeUsd::from_micros(micros).unwrap()
}

fn row(cents: u64, gap: i128) -> RouteRow {
    RouteRow { size: size(cents * CENT), gap: Percent(gap) }
}

fn venue(rows: &[(u64, i128)], fixed_cost: u64) -> RouteVenue {
    let rows = rows.iter().map(|(cents, gap)| row(*cents, *gap)).collect();
    RouteVenue::new(rows, Percent(0), UsdMicros(fixed_cost)).unwrap()
}

/// The best of all divisions of a size in whole cents, found by trying every cent. The optimum of piecewise linear
/// outputs with corners on the grid is on the grid.
fn by_trying_all(venues: &[RouteVenue], cents: u64) -> (u64, i128) {
    let mut best: Vec<Option<i128>> = vec![None; usize::try_from(cents).unwrap() + 1];
    best[0] = Some(0);
    for venue in venues {
        let cost = i128::from(venue.fixed_cost.0) * ONE_E8;
        for total in (1..best.len()).rev() {
            for sold in 1..=total {
                let micros = sold as u64 * CENT;
                if micros > venue.largest().0 {
                    break;
                }
                let with = best[total - sold].map(|rest| rest + venue.value(micros) - cost);
                best[total] = best[total].max(with);
            }
        }
    }
    let (filled, net) =
        best.iter().enumerate().rev().find_map(|(at, net)| Some((at, (*net)?))).unwrap();
    (filled as u64 * CENT, net)
}

prop_compose! {
    /// Rows at random sizes and gaps, concave or not.
    fn any_rows()(
        rows in prop::collection::btree_map(1_u64..50, -2_000_000_i128..30_000_000, 0..7),
    ) -> Vec<(u64, i128)> {
        rows.into_iter().collect()
    }
}

prop_compose! {
    /// Rows of which every section loses exactly more than the previous one.
    fn concave_rows()(
        stretches in prop::collection::vec((1_u64..12, 1_i128..3_000_000), 0..6),
    ) -> Vec<(u64, i128)> {
        let (mut cents, mut value, mut loss) = (0_u64, 0_i128, 0_i128);
        let mut rows = Vec::new();
        for (width, more) in stretches {
            loss += more;
            cents += width;
            value += i128::from(width) * (ONE_E8 - loss);
            // The row is exact only if the mean is an integer.
            if value % i128::from(cents) == 0 {
                rows.push((cents, ONE_E8 - value / i128::from(cents)));
            }
        }
        rows
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_split_of_concave_venues_is_the_best_there_is(
        venues in prop::collection::vec((concave_rows(), prop::sample::select(vec![0, 0, 9_000, 70_000])), 1..5),
        cents in 1_u64..80,
    ) {
        let venues: Vec<_> = venues.iter().map(|(rows, cost)| venue(rows, *cost)).collect();
        let ranking = rank_routes(&venues, size(cents * CENT)).unwrap();
        prop_assert_eq!(ranking.split.rank(), by_trying_all(&venues, cents));
    }

    #[test]
    fn any_split_adds_up_and_is_never_worse_than_one_venue(
        venues in prop::collection::vec((any_rows(), 0_u64..90_000), 1..6),
        cents in 1_u64..200,
    ) {
        let venues: Vec<_> = venues.iter().map(|(rows, cost)| venue(rows, *cost)).collect();
        let asked = size(cents * CENT);
        let RouteRanking { alone, split, .. } = rank_routes(&venues, asked).unwrap();
        prop_assert_eq!(alone.len(), venues.len());
        prop_assert!(alone.windows(2).all(|pair| pair[0].rank() >= pair[1].rank()));
        prop_assert!(split.rank() >= alone[0].rank());
        prop_assert!(split.rank() <= by_trying_all(&venues, cents));
        // The whole size covered by the ladders is filled.
        let told: u64 = venues.iter().map(|venue| venue.largest().0).sum();
        prop_assert_eq!(split.filled.0, told.min(asked.micros()));
        for route in alone.iter().chain([&split]) {
            prop_assert_eq!(route.filled.0, route.legs.iter().map(|leg| leg.size.0).sum::<u64>());
            prop_assert_eq!(route.filled.0 + route.unfilled.0, asked.micros());
            prop_assert_eq!(route.gap.is_some(), route.filled.0 > 0);
            prop_assert!(route.least_gap <= route.gap);
            for leg in &route.legs {
                let [below, above] = leg.between;
                prop_assert!(below <= leg.size && leg.size <= above && leg.least_gap <= leg.gap);
                prop_assert!(above <= venues[leg.venue].largest());
            }
        }
    }

    #[test]
    fn a_real_pools_fill_lies_between_the_two_gaps_of_its_leg(
        reserves in (20_u32..40, 10_u128.pow(20)..10_u128.pow(23)),
        fee_pips in prop::sample::select(vec![0_u32, 500, 3_000]),
        cents in prop::collection::btree_set(100_u64..10_000_000, 2..8),
        share in 0_u64..1_000_000,
    ) {
        let fee = FeeRate { numerator: fee_pips.into(), denominator: 1_000_000 };
        let quote = reserves.1 / 1_000 * u128::from(reserves.0) * 30;
        let pool = PoolState::ConstantProduct(ConstantProduct::new([reserves.1, quote], fee).unwrap());
        let one = UsdPrice::product(&[(U256::ONE, 0)]).unwrap();
        let exit = Exit::new(&pool, Direction::ZeroForOne, [18, 18], [one, one]);
        let gap = |micros: u64| exit.estimate(size(micros)).map(|estimate| (estimate.gap, estimate.split));
        let mut rows = Vec::new();
        for cents in cents {
            if let Ok((gap, _)) = gap(cents * CENT) {
                rows.push(RouteRow { size: size(cents * CENT), gap });
            }
        }
        prop_assume!(rows.iter().all(|row| row.gap.0.abs() <= ONE_E8) && !rows.is_empty());
        let split = gap(rows[0].size.micros()).unwrap().1;
        let kept = (ONE_E8 - split.basis.0) * (ONE_E8 - split.fee.0) / ONE_E8;
        prop_assume!(kept <= 2 * ONE_E8);
        let venue = RouteVenue::new(rows, Percent(ONE_E8 - kept), UsdMicros(0)).unwrap();
        let asked = (venue.largest().0 / 1_000_000 * share).max(CENT);
        let ranking = rank_routes(std::slice::from_ref(&venue), size(asked)).unwrap();
        let leg = &ranking.split.legs[0];
        let real = gap(asked).unwrap().0;
        prop_assert!(leg.least_gap.0 - 1 <= real.0 && real.0 <= leg.gap.0 + 1, "{} {leg:?}", real.0);
    }
}

#[test]
fn a_split_sells_where_the_next_dollar_loses_least() {
    // The first venue pays the full value of 10 cents and half of the next 10; the second pays four fifths of 20.
    let venues = [venue(&[(10, 0), (20, 25_000_000)], 0), venue(&[(20, 20_000_000)], 0)];
    let RouteRanking { alone, split, .. } = rank_routes(&venues, size(20 * CENT)).unwrap();
    let legs: Vec<_> = split.legs.iter().map(|leg| (leg.venue, leg.size.0 / CENT)).collect();
    assert_eq!(legs, [(0, 10), (1, 10)]);
    assert_eq!((split.gap, split.received), (Some(Percent(10_000_000)), UsdMicros(180_000)));
    assert_eq!(alone.iter().map(|route| route.legs[0].venue).collect::<Vec<_>>(), [1, 0]);
    // A leg at a row is exact. The uncertainty of a leg between two rows depends on their distance.
    assert_eq!(split.legs[0].between, [UsdMicros(100_000); 2]);
    assert_eq!(split.legs[0].least_gap, split.legs[0].gap);
    assert_eq!(split.legs[1].between, [UsdMicros(0), UsdMicros(200_000)]);
    assert!(split.legs[1].least_gap < split.legs[1].gap);
    // Using the second venue costs more than it saves.
    let costly = [venues[0].clone(), venue(&[(20, 20_000_000)], 40_000)];
    let split = rank_routes(&costly, size(20 * CENT)).unwrap().split;
    assert_eq!((split.legs.len(), split.fixed_cost), (1, UsdMicros(0)));
    // A size beyond the ladders stays unfilled, and a venue without rows fills nothing.
    let few = [venue(&[], 0), venue(&[(3, 0)], 5)];
    let RouteRanking { alone, split, .. } = rank_routes(&few, size(5 * CENT)).unwrap();
    assert_eq!((split.filled.0, split.unfilled.0), (3 * CENT, 2 * CENT));
    assert_eq!((alone[1].legs.len(), alone[1].gap), (0, None));
}

#[test]
fn what_is_no_ladder_is_refused_by_name() {
    let new = |rows, first, cost| RouteVenue::new(rows, Percent(first), UsdMicros(cost));
    let rows = vec![row(1, 0); 257];
    assert_eq!(new(rows, 0, 0), Err(RouteError::TooManyRows { found: 257 }));
    let found = Percent(100_000_001);
    assert_eq!(new(vec![row(1, found.0)], 0, 0), Err(RouteError::Gap { found }));
    let found = Percent(-100_000_001);
    assert_eq!(new(vec![], found.0, 0), Err(RouteError::Gap { found }));
    let (first, second) = (Percent(1), Percent(2));
    let twice = Err(RouteError::Contradiction { size: size(CENT), first, second });
    assert_eq!(new(vec![row(1, 1), row(1, 2)], 0, 0), twice);
    assert_eq!(new(vec![row(1, 1), row(1, 1)], 0, 0).unwrap().points.len(), 2);
    let found = UsdMicros(1_000_000_000_001);
    assert_eq!(new(vec![], 0, found.0), Err(RouteError::FixedCost { found }));
    let one = venue(&[(1, 0)], 1);
    for found in [0, 13] {
        let venues = vec![one.clone(); found];
        assert_eq!(rank_routes(&venues, size(CENT)), Err(RouteError::Venues { found }));
    }
    assert!(rank_routes(&vec![one; 12], size(12 * CENT)).is_ok());
}

#[test]
fn the_largest_numbers_fit() {
    let all = SizeUsd::MAX.micros() / CENT;
    let rows = [(1, -ONE_E8), (2, ONE_E8), (all - 1, -ONE_E8), (all, ONE_E8)];
    let venues: Vec<_> = (0..12).map(|_| venue(&rows, 1_000_000_000_000)).collect();
    for micros in [CENT, 3 * CENT / 2, SizeUsd::MAX.micros() / 2, SizeUsd::MAX.micros()] {
        let ranking = rank_routes(&venues, size(micros)).unwrap();
        assert_eq!(ranking.split.filled.0, micros);
        assert!(ranking.split.least_gap <= ranking.split.gap);
    }
}
