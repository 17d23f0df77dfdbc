//! Slots evaluated after a price drop, and cascades, over synthetic and random states.

use proptest::prelude::*;

use super::*;
use crate::analytics::Reference;
use crate::analytics::figure::{Figure, FigurePass};
use crate::analytics::made_up::{observation_of, pair, pool_of, ranges, slot, some_state, venue};
use crate::exit::{Exit, SplitVenue, split_size};
use crate::ids::{Address, PoolId};
use crate::pools::{Direction, FeeRate, PoolState, Solidly};
use crate::snapshot::Observation;
use crate::units::{GapLimit, Percent, SizeUsd, UsdMicros, UsdPrice};
use crate::wide::{U256, U1024};

const SELL: Direction = Direction::ZeroForOne;

fn liquidation(bonus_e8: u32, fall_e8: u32) -> Liquidation {
    Liquidation { bonus_e8, protocol_fee_e8: 0, fall_e8 }
}

fn terms(venues: u8, slots: u32, cascade: &str, liquidation: Liquidation) -> ExposureTerms {
    let (from, to) = (slot(0), slot(slots - 1));
    let venues = (1..=venues).map(venue).collect();
    let cascade = cascade.parse().unwrap();
    ExposureTerms { venues, from, to, cascade, liquidation, reference: None }
}

/// The figure of these slots, each with the states of all venues.
fn figure(terms: &ExposureTerms, slots: &[Vec<Option<PoolState>>]) -> ExposureResult {
    let mut scan = ExposurePass::new(terms.clone()).unwrap();
    for (at, states) in (0..).zip(slots) {
        for (number, state) in (1..).zip(states) {
            let Some(state) = state else { continue };
            let observed = observation_of(&pool_of(number), slot(at), state.clone());
            scan.add_snapshot(&pool_of(number), slot(at), observed).unwrap();
        }
    }
    scan.finish().unwrap()
}

fn number(text: Option<&String>) -> u64 {
    text.unwrap().parse().unwrap()
}

/// The mid price after a drop divided by the mid price before it, in millionths of a percent.
fn kept(state: &PoolState, fallen: &PoolState, direction: Direction) -> u64 {
    let [was, is] = [state, fallen].map(|one| one.mid_of_reserves_or_ticks(direction).unwrap());
    let is = U1024::from(is.numerator())
        * U1024::from(was.denominator())
        * U1024::from(1_000_000_000_u64)
        / (U1024::from(is.denominator()) * U1024::from(was.numerator()));
    crate::wide::narrow(is).unwrap().saturating_to()
}

#[test]
fn a_fall_moves_the_price_by_what_it_says_and_no_liquidity() {
    let wide = ranges(17, 5_000_000_000_000, 90_000_000_000_000);
    let reserves = pair(80_000_000_000_000, 90_000_000_000_000);
    for direction in Direction::BOTH {
        for (fall_e8, left) in
            [(20_000_000, 800_000_000), (1_500_000, 985_000_000), (90_000_000, 100_000_000)]
        {
            for state in [&wide, &reserves] {
                let fallen = state.fallen(direction, fall_e8).unwrap();
                let found = kept(state, &fallen, direction);
                assert!(found.abs_diff(left) <= 1, "{found} of {left}");
            }
        }
        for state in [&wide, &reserves] {
            assert_eq!(state.fallen(direction, 0).as_ref(), Some(state));
            assert_eq!(state.fallen(direction, 100_000_000), None);
        }
    }
    // Below the narrow position only the wide one remains.
    let fallen = wide.fallen(SELL, 20_000_000).unwrap();
    let own = ranges(0, 5_000_000_000_000, 90_000_000_000_000).fallen(SELL, 50_000_000).unwrap();
    assert_eq!(fallen.protocol(), own.protocol());
    let depth = |state: &PoolState| {
        let mid = state.mid_of_reserves_or_ticks(SELL).unwrap();
        let observed = observation_of(&pool_of(1), slot(0), state.clone());
        Exit::book_usd(&observed, mid, SELL, GapLimit::DEPTH).unwrap()
    };
    assert!(depth(&fallen) < depth(&wide) / 4);
}

#[test]
fn a_fallen_price_is_exact_or_none() {
    let price = UsdPrice::product(&[(U256::from(250_000_u32), 2)]).unwrap();
    let told = |fall_e8| price.fallen(fall_e8).map(|price| price.to_decimal().to_string());
    assert_eq!(told(0).as_deref(), Some("2500"));
    assert_eq!(told(20_000_000).as_deref(), Some("2000"));
    assert_eq!(told(12_345_678).as_deref(), Some("2191.35805"));
    assert_eq!((told(100_000_000), told(100_000_001)), (None, None));
    let longest = U256::from(10_u128.pow(36));
    let longest = UsdPrice::product(&[(longest, 0), (longest, 0)]).unwrap();
    assert_eq!(longest.fallen(50_000_000), None);
    assert!(longest.fallen(0).is_some());
}

#[test]
fn at_the_break_even_gap_a_liquidator_does_not_lose() {
    let told = |bonus_e8, protocol_fee_e8| {
        let rules = Liquidation { bonus_e8, protocol_fee_e8, fall_e8: 0 };
        Percent::from(rules.break_even()).to_fixed()
    };
    assert_eq!(told(0, 0), "0.000000");
    assert_eq!(told(5_000_000, 0), "4.761904");
    assert_eq!(told(5_000_000, 10_000_000), "4.306220");
    assert_eq!(told(100_000_000, 0), "50.000000");
    assert_eq!(told(100_000_000, 100_000_000), "0.000000");
    // If the whole sale stays within the break-even gap, there is no shortfall. With one dollar of depth less, there is
    // one.
    let states = vec![vec![Some(ranges(0, 5_000_000_000_000, 0))]];
    let rules = liquidation(5_000_000, 0);
    let depth = figure(&terms(1, 1, "1000", rules), &states).lowest_break_even_depth_usd.unwrap();
    let within = figure(&terms(1, 1, &depth, rules), &states);
    assert_eq!(
        (within.shortfall_usd.as_deref(), within.stranded_usd.as_deref()),
        (Some("0"), Some("0"))
    );
    assert_eq!(within.coverage_break_even.as_deref(), Some("1.000000"));
    let more = (depth.parse::<u64>().unwrap() + 1_000).to_string();
    let beyond = figure(&terms(1, 1, &more, rules), &states);
    assert!(number(beyond.shortfall_usd.as_ref()) > 0);
    assert_eq!(beyond.stranded_usd.as_deref(), Some("1000"));
    assert!(beyond.coverage_break_even.unwrap().starts_with("0.99"));
}

/// A week with the same state in every slot, except where `other` returns another.
fn week(
    state: &PoolState,
    other: impl Fn(usize) -> Option<Option<PoolState>>,
) -> Vec<Vec<Option<PoolState>>> {
    (0..2_016).map(|at| vec![other(at).unwrap_or_else(|| Some(state.clone()))]).collect()
}

#[test]
fn a_band_is_of_the_worst_slot_of_a_week() {
    let (deep, thin) = (pair(1 << 52, 1 << 52), pair(1 << 40, 1 << 40));
    let rules = liquidation(8_000_000, 10_000_000);
    let depth = |cascade: &str, states: &[Vec<Option<PoolState>>]| {
        figure(&terms(1, 2_016, cascade, rules), states)
    };
    let told = depth("1000000", &week(&deep, |_| None));
    assert_eq!((told.band, told.enough, told.have_slots), (ExposureBand::Covered, true, 2_016));
    assert_eq!(
        (told.depth_now_usd.clone(), told.status.as_str()),
        (told.venues[0].lowest_depth_usd.clone(), "preview")
    );
    // One thin slot of 2,016 determines the rating.
    let once = week(&deep, |at| (at == 700).then(|| Some(thin.clone())));
    let worse = depth("200000", &once);
    assert_eq!((worse.band, worse.worst_slot), (ExposureBand::Exposed, Some(slot(700))));
    assert_eq!(
        (worse.venues[0].lowest_slot, worse.lowest_break_even_slot),
        (Some(slot(700)), Some(slot(700)))
    );
    assert_eq!(worse.break_even_depth_q50_usd, told.break_even_depth_q50_usd);
    let between = (number(worse.venues[0].lowest_depth_usd.as_ref()) + 1).to_string();
    assert_eq!(depth(&between, &once).band, ExposureBand::Strained);
    // With too many missing slots there is no rating, but the recorded data is still reported.
    let holes = week(&deep, |at| (at < 101).then_some(None));
    let short = depth("200000", &holes);
    assert_eq!((short.band, short.enough, short.have_slots), (ExposureBand::Unrated, false, 1_915));
    assert_eq!((short.slots_missing, short.slots_incomplete), (101, 0));
    assert!(short.coverage.is_some());
    // A sale that the venues cannot fill has no gap.
    let bounded = week(&deep, |at| (at == 3).then(|| Some(ranges(0, 1_000_000_000, 0))));
    let beyond = depth("900000", &bounded);
    assert_eq!((beyond.band, beyond.slots_unfillable), (ExposureBand::Unfillable, 1));
    assert!(number(beyond.least_fillable_usd.as_ref()) < 900_000);
}

#[test]
fn a_venue_that_is_missing_is_unknown_and_not_empty() {
    let state = ranges(0, 5_000_000_000_000, 0);
    let both = vec![Some(state.clone()), Some(state.clone())];
    let slots = [both.clone(), vec![Some(state.clone()), None], vec![None, None], both];
    let told = figure(&terms(2, 4, "100000", liquidation(5_000_000, 20_000_000)), &slots);
    assert_eq!((told.have_slots, told.slots_incomplete, told.slots_missing), (2, 1, 1));
    let one = figure(
        &terms(1, 4, "100000", liquidation(5_000_000, 20_000_000)),
        &slots.map(|mut states| vec![states.remove(0)]),
    );
    assert_eq!(number(told.depth_now_usd.as_ref()), 2 * number(one.depth_now_usd.as_ref()));
    assert!(told.worst_gap_pct < one.worst_gap_pct, "two venues take it better than one");
}

#[test]
fn what_is_no_question_is_refused() {
    let good = terms(2, 2_016, "1000", liquidation(5_000_000, 20_000_000));
    let code = |change: &dyn Fn(&mut ExposureTerms)| {
        let mut terms = good.clone();
        change(&mut terms);
        terms.validate().map_err(|error| error.code())
    };
    assert!(code(&|_| ()).is_ok());
    assert_eq!(code(&|terms| terms.venues.clear()), Err("figure_venues"));
    assert_eq!(code(&|terms| terms.venues = (1..=13).map(venue).collect()), Err("figure_venues"));
    assert_eq!(code(&|terms| terms.venues[1] = venue(1)), Err("figure_venues"));
    let elsewhere = PoolId::new("base".parse().unwrap(), Address([2; 20]));
    assert_eq!(code(&|terms| terms.venues[1].pool = elsewhere.clone()), Err("figure_venues"));
    assert_eq!(code(&|terms| terms.to = slot(2_016)), Err("figure_period"));
    assert_eq!(code(&|terms| terms.from = slot(2_017)), Err("figure_period"));
    assert_eq!(code(&|terms| terms.liquidation.bonus_e8 = 100_000_001), Err("figure_parameter"));
    assert_eq!(
        code(&|terms| terms.liquidation.protocol_fee_e8 = 100_000_001),
        Err("figure_parameter")
    );
    assert_eq!(code(&|terms| terms.liquidation.fall_e8 = 99_000_001), Err("figure_parameter"));
    let read = ExposureTerms::from_parameters(&good.parameters()).unwrap();
    assert_eq!(read, good);

    let mut scan = ExposurePass::new(good).unwrap();
    let observed = |number| observation_of(&pool_of(number), slot(1), pair(1 << 50, 1 << 50));
    scan.add_snapshot(&pool_of(2), slot(1), observed(2)).unwrap();
    for (number, at) in [(1, 1), (2, 1), (1, 0), (3, 2), (1, 2_016)] {
        let refused = scan.add_snapshot(&pool_of(number), slot(at), observed(1)).unwrap_err();
        assert_eq!(refused.code(), "figure_slot_order");
    }
    let fee = FeeRate { numerator: 5, denominator: 10_000 };
    let stable = Solidly::new(true, [U256::from(1_u64 << 50); 2], [6, 6], fee).unwrap();
    let other = observation_of(&pool_of(1), slot(0), PoolState::Solidly(stable));
    let mut scan = ExposurePass::new(terms(1, 1, "1", liquidation(0, 0))).unwrap();
    scan.add_snapshot(&pool_of(1), slot(0), other).unwrap();
    assert_eq!(scan.finish().unwrap_err().code(), "figure_unsupported_kind");
}

const DEEP: u128 = 10_000_000_000_000;

/// The whole part of a decimal.
fn whole(text: Option<&String>) -> u64 {
    text.unwrap().split('.').next().unwrap().parse().unwrap()
}

/// Slots of one venue: deep at the oracle price, deep with the oracle 6 % ahead, or thin at the oracle price.
fn slots_of(kinds: &str) -> Vec<Vec<Option<PoolState>>> {
    let state = |kind: char| match kind {
        'd' => Some(pair(DEEP, DEEP)),
        'l' => Some(pair(DEEP / 100 * 106, DEEP)),
        't' => Some(pair(DEEP / 100, DEEP / 100)),
        _ => None,
    };
    kinds.chars().map(|kind| vec![state(kind)]).collect()
}

#[test]
fn failures_are_counted_by_cause_and_the_reference_decides_what_is_rated() {
    let slots = slots_of("dlldt-ld");
    let count = u32::try_from(slots.len()).unwrap();
    let of = |reference| ExposureTerms {
        reference,
        ..terms(1, count, "10000", liquidation(5_000_000, 20_000_000))
    };
    let first = figure(&of(None), &slots);
    let oracle = figure(&of(Some(Reference::Oracle)), &slots);
    let mid = figure(&of(Some(Reference::Mid)), &slots);
    let causes = oracle.causes.clone().unwrap();
    assert_eq!((causes.oracle_led_slots, causes.thin_book_slots), (3, 1));
    assert_eq!(causes.oracle_led_longest_run_from, Some(slot(1)));
    assert_eq!(causes.oracle_led_longest_run_slots, 2);
    assert_eq!(causes.oracle_led_worst_gap_pct, oracle.worst_gap_pct);
    assert_eq!(mid.causes, oracle.causes, "they do not depend on the reference");
    // From the oracle, version 2 has the numbers of version 1, and the causes.
    assert_eq!(ExposureResult { causes: None, ..oracle.clone() }, first);
    // From the pool's own price, the thin slot is the worst, and the slots of the oracle's lead are as good as any.
    assert_eq!(
        (oracle.coverage.as_deref(), oracle.venues[0].lowest_slot),
        (Some("0.000000"), Some(slot(1)))
    );
    assert_eq!((mid.worst_slot, mid.venues[0].lowest_slot), (Some(slot(4)), Some(slot(4))));
    let calm = figure(&ExposureTerms { to: slot(3), ..of(Some(Reference::Mid)) }, &slots[..4]);
    assert!(whole(calm.coverage.as_ref()) > 10);
    assert_eq!(calm.causes.unwrap().thin_book_slots, 0);
    let [oracle, mid] = [Reference::Oracle, Reference::Mid].map(|reference| of(Some(reference)));
    assert_eq!(
        (of(None).name(), oracle.name(), mid.name()),
        (EXPOSURE[0], EXPOSURE[1], EXPOSURE[1])
    );
    for terms in [of(None), oracle, mid] {
        assert_eq!(ExposureTerms::from_parameters(&terms.parameters()).unwrap(), terms);
    }
}

#[test]
fn a_venue_that_cannot_fall_is_left_out_by_name_with_its_share() {
    let fee = FeeRate { numerator: 5, denominator: 10_000 };
    let stable = Solidly::new(true, [U256::from(1_u64 << 43); 2], [6, 6], fee).unwrap();
    let stable = || Some(PoolState::Solidly(stable));
    let deep = || Some(pair(DEEP, DEEP));
    // Until its first snapshot its kind is not known, so the first slot is incomplete.
    let slots = [
        vec![deep(), None],
        vec![deep(), stable()],
        vec![deep(), None],
        vec![None, stable()],
        vec![deep(), stable()],
    ];
    let of = |reference, fall| ExposureTerms {
        reference,
        ..terms(2, 5, "10000", liquidation(5_000_000, fall))
    };
    let told = figure(&of(Some(Reference::Mid), 20_000_000), &slots);
    assert_eq!((told.have_slots, told.slots_incomplete, told.slots_missing), (3, 1, 1));
    assert_eq!(told.venues.iter().map(|venue| &venue.pool).collect::<Vec<_>>(), [&pool_of(1)]);
    let [out] = told.left_out.as_slice() else { panic!("{told:?}") };
    assert_eq!((&out.pool, out.protocol.as_str()), (&pool_of(2), "solidly"));
    let share = whole(out.depth_share_pct.as_ref());
    assert!((50..100).contains(&share), "{share}");
    assert!(told.coverage.is_some());
    // Without a fall every kind takes part.
    let still = figure(&of(Some(Reference::Mid), 0), &slots);
    assert_eq!((still.left_out.len(), still.venues.len(), still.have_slots), (0, 2, 2));
    // If none is left, there is no figure.
    let mut scan = ExposurePass::new(ExposureTerms {
        reference: Some(Reference::Oracle),
        ..terms(1, 1, "1", liquidation(0, 1))
    })
    .unwrap();
    let alone = observation_of(&pool_of(1), slot(0), stable().unwrap());
    let refused = scan.add_snapshot(&pool_of(1), slot(0), alone).unwrap_err();
    assert_eq!(refused.code(), "figure_unsupported_kind");
}

fn position(collateral: u64, debt: u64) -> Position {
    Position { collateral: U256::from(collateral), debt: UsdMicros(debt), threshold_e8: 80_000_000 }
}

fn rules(fall_e8: u32, follow_e8: u32) -> CascadeTerms {
    CascadeTerms { liquidation: liquidation(5_000_000, fall_e8), close_e8: 100_000_000, follow_e8 }
}

#[test]
fn a_cascade_takes_in_who_falls_with_the_price_it_makes() {
    let observed = observation_of(&pool_of(1), slot(0), pair(1_000_000_000_000, 1_000_000_000_000));
    // The positions are worth 200,000 dollars at 2 dollars each, and are liquidated below a price of 1.6 and of 1.5.
    let positions =
        [position(100_000_000_000, 128_000_000_000), position(100_000_000_000, 120_000_000_000)];
    let told = |fall_e8, follow_e8| {
        cascade(&[(&observed, SELL)], &positions, &rules(fall_e8, follow_e8)).unwrap()
    };
    let nothing = told(19_000_000, 100_000_000);
    assert_eq!(
        (nothing.liquidated.len(), nothing.cascade_usd, nothing.gap),
        (0, UsdMicros(0), None)
    );
    let alone = told(21_000_000, 0);
    assert_eq!((alone.liquidated.as_slice(), alone.fall), (&[0][..], Percent(21_000_000)));
    let both = told(21_000_000, 100_000_000);
    assert_eq!(both.liquidated, [0, 1]);
    assert!(both.rounds > 1 && both.fall > alone.fall && both.gap > alone.gap);
    // The collateral is below debt × 1.05: all of it is seized, and some of the debt remains.
    let deep = told(40_000_000, 0);
    assert_eq!(deep.sold, U256::from(200_000_000_000_u64));
    assert_eq!(deep.repaid_usd.0 + deep.residual_debt_usd.0, 248_000_000_000);
    let half = CascadeTerms { close_e8: 50_000_000, ..rules(21_000_000, 0) };
    let half = cascade(&[(&observed, SELL)], &positions, &half).unwrap();
    assert_eq!(half.residual_debt_usd, UsdMicros(0));
    assert!(half.repaid_usd.0.abs_diff(64_000_000_000) < 3);
}

#[test]
fn positions_that_are_none_are_refused() {
    let observed = observation_of(&pool_of(1), slot(0), ranges(0, 1_000_000_000, 0));
    let ask = |positions: &[Position], rules: &CascadeTerms| {
        cascade(&[(&observed, SELL)], positions, rules)
    };
    assert_eq!(ask(&[], &rules(0, 0)), Err(CascadeError::Positions { found: 0 }));
    let many = vec![position(1, 1); 10_001];
    assert_eq!(ask(&many, &rules(0, 0)), Err(CascadeError::Positions { found: 10_001 }));
    let wrong = Position { threshold_e8: 0, ..position(1, 1) };
    assert_eq!(
        ask(&[position(1, 1), wrong], &rules(0, 0)),
        Err(CascadeError::Threshold { position: 1 })
    );
    let endless = Position { collateral: U256::MAX, ..position(1, 1) };
    assert_eq!(ask(&[endless], &rules(0, 0)), Err(CascadeError::Worth { position: 0 }));
    let none = CascadeTerms { close_e8: 0, ..rules(0, 0) };
    assert!(matches!(ask(&[position(1, 1)], &none), Err(CascadeError::Exposure(_))));
    // The result says that the venues cannot fill the sale.
    let large = [position(1_000_000_000_000_000, 2_000_000_000_000_000)];
    let told = ask(&large, &rules(30_000_000, 100_000_000)).unwrap();
    assert!(told.unfillable && told.gap.is_none() && told.cascade_usd.0 > 0);
}

fn fallen(observed: &Observation, fall_e8: u32) -> Exit {
    let prices = observed.prices();
    let prices = [prices[0].fallen(fall_e8).unwrap(), prices[1]];
    let state = observed.state().fallen(SELL, fall_e8).unwrap();
    Exit::new(&state, SELL, [6, 6], prices)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The pass equals a slot-by-slot computation from complete curves.
    #[test]
    fn the_pass_is_what_its_parts_say(
        slots in prop::collection::vec((some_state(), some_state()), 1..5),
        cascade in 1_000_u64..3_000_000,
        bonus_e8 in 0_u32..20_000_000,
        fall_e8 in 0_u32..60_000_000,
    ) {
        let rules = liquidation(bonus_e8, fall_e8);
        let size: SizeUsd = cascade.to_string().parse().unwrap();
        let states: Vec<_> = slots.iter().map(|(a, b)| vec![Some(a.clone()), Some(b.clone())]).collect();
        let told = figure(&terms(2, u32::try_from(slots.len()).unwrap(), &cascade.to_string(), rules), &states);
        let (mut worst, mut least, mut own, mut unfillable) = (None, u64::MAX, [u64::MAX; 2], 0);
        for (at, (a, b)) in (0..).zip(&slots) {
            let observed = [(1, a), (2, b)].map(|(number, state)| observation_of(&pool_of(number), slot(at), state.clone()));
            let exits = observed.each_ref().map(|one| fallen(one, fall_e8));
            let prices = [UsdPrice::product(&[(U256::from(2_u32), 0)]).unwrap(); 2];
            let prices = [prices[0].fallen(fall_e8).unwrap(), prices[1]];
            let venues = exits.each_ref().map(|exit| SplitVenue::new(exit, [6, 6], &prices, UsdMicros(0)));
            match split_size(&venues, size) {
                Ok(split) => worst = worst.max(Some(split.split.gap)),
                Err(_) => unfillable += 1,
            }
            least = least.min(exits.iter().map(|exit| exit.depth_usd(rules.break_even()).unwrap()).sum());
            for (own, one) in own.iter_mut().zip(&observed) {
                *own = (*own).min(Exit::from_pool(one, SELL).depth_usd(GapLimit::DEPTH).unwrap());
            }
        }
        prop_assert_eq!(told.slots_unanswered, 0);
        prop_assert_eq!(told.worst_gap_pct, worst.map(Percent::to_fixed));
        prop_assert_eq!(told.slots_unfillable, unfillable);
        prop_assert_eq!(told.lowest_break_even_depth_usd, Some(least.to_string()));
        for (venue, own) in told.venues.iter().zip(own) {
            prop_assert_eq!(venue.lowest_depth_usd.clone(), Some(own.to_string()));
        }
        let ratio = u128::from(own[0] + own[1]) * 1_000_000 / u128::from(cascade);
        prop_assert_eq!(told.coverage, Some(format!("{}.{:06}", ratio / 1_000_000, ratio % 1_000_000)));
    }

    /// The cascade equals an exhaustive search over every drop that the sale could have caused, one position at a time.
    #[test]
    fn nobody_joins_a_cascade_once_it_has_ended(
        debts in prop::collection::vec((1_u64..100, 1_u64..2_000), 1..8),
        state in some_state(),
        fall_e8 in 0_u32..60_000_000,
        follow_e8 in 0_u32..=100_000_000,
    ) {
        let observed = observation_of(&pool_of(1), slot(0), state);
        let positions: Vec<_> = debts
            .iter()
            .map(|(units, debt)| position(units * 1_000_000_000, debt * 100_000_000))
            .collect();
        let told = cascade(&[(&observed, SELL)], &positions, &rules(fall_e8, follow_e8)).unwrap();
        // The price is two dollars minus the drop. Exactly the positions below their threshold at the end are
        // liquidated.
        let end = 100_000_000 - u128::try_from(told.fall.0).unwrap();
        let below = |position: &Position| {
            let units: u128 = position.collateral.saturating_to();
            units * 2 * end / 100_000_000 * 80 < u128::from(position.debt.0) * 100
        };
        let expected: Vec<usize> = (0..positions.len()).filter(|at| below(&positions[*at])).collect();
        if !told.unfillable {
            prop_assert_eq!(&told.liquidated, &expected);
        }
        let debt: u64 = told.liquidated.iter().map(|at| positions[*at].debt.0).sum();
        prop_assert!(told.repaid_usd.0 + told.residual_debt_usd.0 <= debt);
        prop_assert!(told.fall >= Percent(fall_e8.into()));
    }
}
