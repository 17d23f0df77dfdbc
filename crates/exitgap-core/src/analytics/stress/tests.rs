//! Slots evaluated after a shock, over synthetic and random states.

use proptest::prelude::*;

use super::*;
use crate::analytics::Reference;
use crate::analytics::figure::{Figure, FigurePass};
use crate::analytics::made_up::{observation_of, pair, pool_of, ranges, slot, some_state, venue};
use crate::exit::{Exit, PricedPool, SplitError, SplitVenue, largest_split, split_size};
use crate::pools::{Direction, FeeRate, PoolState, Solidly};
use crate::units::{GapLimit, Percent, SizeUsd, UsdMicros, UsdPrice};
use crate::wide::U256;

const SELL: Direction = Direction::ZeroForOne;
const NOTHING: Shock = Shock { haircut_e8: 0, fall_e8: 0 };

fn terms(venues: u8, slots: u32, size: &str, shock: Shock) -> StressTerms {
    let (from, to) = (slot(0), slot(slots - 1));
    let venues = (1..=venues).map(venue).collect();
    let size = size.parse().unwrap();
    StressTerms { venues, from, to, size, shock, limit: None, after: None, reference: None }
}

/// The figure of these slots, each with the states of all venues.
fn figure(terms: &StressTerms, slots: &[Vec<Option<PoolState>>]) -> StressResult {
    let mut scan = StressPass::new(terms.clone()).unwrap();
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

/// Slots of one pair, given by its reserves; `None` if the slot is missing.
fn pairs(reserves: &[Option<u128>]) -> Vec<Vec<Option<PoolState>>> {
    let state = |reserve: &Option<u128>| vec![reserve.map(|reserve| pair(reserve, reserve))];
    reserves.iter().map(state).collect()
}

#[test]
fn the_worst_slots_come_first_and_what_is_missing_near_them_is_counted() {
    let deep = Some(1 << 50);
    let mut reserves = vec![deep; 40];
    // Two equally thin slots, an outage of three slots near the first, and one far away.
    (reserves[10], reserves[30]) = (Some(1 << 40), Some(1 << 40));
    (reserves[11], reserves[12], reserves[22], reserves[23]) = (None, None, None, None);
    let told = figure(&terms(1, 40, "10000", NOTHING), &pairs(&reserves));
    assert_eq!((told.have_slots, told.slots_missing, told.slots_unfillable), (36, 4, 0));
    assert_eq!(told.slots_missing_near_worst, 3, "of slots 0 to 22");
    let places: Vec<_> = told.worst.iter().map(|worst| worst.slot).collect();
    assert_eq!(places.len(), 10);
    assert_eq!(places[..4], [slot(10), slot(30), slot(0), slot(1)], "of equals the earlier");
    assert_eq!(told.gap_q50_pct, told.worst[2].gap_pct);
    // 95 % of 36 slots are 35, so the 95th percentile is one of the thin slots.
    assert_eq!(told.gap_q95_pct, told.worst[0].gap_pct);
    assert_eq!((told.depth_lowest_slot, told.book_lowest_slot), (Some(slot(10)), Some(slot(10))));
    assert_eq!(told.depth_lowest_usd.as_ref(), Some(&told.worst[0].depth_usd));
    assert_eq!(told.depth_q50_usd.as_ref(), Some(&told.worst[2].depth_usd));
    assert_eq!((told.above_slots, told.above_longest_run_slots), (None, None));
}

#[test]
fn a_run_above_a_limit_ends_where_a_slot_was_not_looked_at() {
    let (thin, deep) = (Some(1 << 40), Some(1 << 50));
    let reserves = [thin, thin, None, thin, thin, thin, deep, thin, thin];
    let limit = Some("0.5".parse().unwrap());
    let asked = StressTerms { limit, ..terms(1, 9, "10000", NOTHING) };
    let told = figure(&asked, &pairs(&reserves));
    assert_eq!((told.above_slots, told.above_longest_run_slots), (Some(7), Some(3)));
    assert_eq!(told.above_longest_run_from, Some(slot(3)));
    let asked = StressTerms { limit: Some("100".parse().unwrap()), ..asked };
    let told = figure(&asked, &pairs(&reserves));
    assert_eq!((told.above_slots, told.above_longest_run_slots), (Some(0), Some(0)));
    assert_eq!(told.above_longest_run_from, None);
}

#[test]
fn what_the_venues_do_not_take_is_worse_than_any_number() {
    let narrow = |liquidity| Some(ranges(0, 1, liquidity));
    let slots: Vec<_> =
        [1_u128 << 46, 1 << 36, 1 << 35, 1 << 46].map(|one| vec![narrow(one)]).into();
    let limit = Some("100".parse().unwrap());
    let told = figure(&StressTerms { limit, ..terms(1, 4, "100000", NOTHING) }, &slots);
    assert_eq!((told.slots_unfillable, told.have_slots, told.above_slots), (2, 4, Some(2)));
    let told_of = |at: usize| (told.worst[at].slot, told.worst[at].gap_pct.is_none());
    assert_eq!(
        [told_of(0), told_of(1), told_of(2)],
        [(slot(2), true), (slot(1), true), (slot(0), false)]
    );
    let most = |at: usize| number(told.worst[at].fillable_usd.as_ref());
    assert!(most(0) > 0 && most(0) < most(1) && most(1) < 100_000);
    assert_eq!((told.worst[2].fillable_usd.clone(), told.gap_q95_pct), (None, None));
    assert!(told.gap_q50_pct.is_some());
}

#[test]
fn a_price_that_moved_away_takes_depth_and_leaves_the_book() {
    // The pool's price is five percent below the oracle: nothing can be filled within two percent.
    let slots = [0, -500].map(|tick| vec![Some(ranges(tick, 1 << 44, 0))]);
    let told = figure(&terms(1, 2, "1000", NOTHING), &slots);
    assert_eq!(
        (told.depth_lowest_usd.as_deref(), told.depth_lowest_slot),
        (Some("0"), Some(slot(1)))
    );
    let (away, lowest) =
        (number(told.depth_lowest_book_usd.as_ref()), number(told.book_lowest_usd.as_ref()));
    assert!(lowest > 0 && away.min(lowest) * 20 > away.max(lowest) * 19, "{away} {lowest}");
}

#[test]
fn a_haircut_leaves_the_price_and_a_share_of_each_range() {
    let wide = ranges(17, 5_000_000_000_001, 90_000_000_000_003);
    let PoolState::Concentrated(before) = &wide else { panic!("{}", wide.protocol()) };
    let PoolState::Concentrated(after) = wide.with_haircut(30_000_000).unwrap() else { panic!() };
    assert_eq!((after.sqrt_price_x96(), after.tick()), (before.sqrt_price_x96(), before.tick()));
    let kept = |liquidity: u128| liquidity * 70 / 100;
    assert_eq!(after.liquidity(), kept(before.liquidity()));
    let (mut whole, mut left) = (0_u128, 0_u128);
    for (was, is) in before.ticks().iter().zip(after.ticks()) {
        whole = whole.checked_add_signed(was.liquidity_net).unwrap();
        left = left.checked_add_signed(is.liquidity_net).unwrap();
        assert_eq!((is.tick, left), (was.tick, kept(whole)));
    }
    assert_eq!(after.ticks().len(), before.ticks().len());
    assert_eq!(wide.with_haircut(0).as_ref(), Some(&wide));
    assert_eq!(wide.with_haircut(100_000_000), None);
    assert_eq!(pair(1_001, 77).with_haircut(30_000_000), Some(pair(700, 53)));
    assert_eq!(pair(1, 1).with_haircut(99_000_000), Some(pair(1, 1)));
    // Half of the liquidity gives half of the depth, up to rounding.
    let depth = |haircut_e8| {
        let shock = Shock { haircut_e8, fall_e8: 0 };
        let told = figure(&terms(1, 1, "1000", shock), &[vec![Some(wide.clone())]]);
        number(told.depth_lowest_usd.as_ref())
    };
    let (whole, half) = (depth(0), depth(50_000_000));
    assert!((half * 2).abs_diff(whole) <= 2, "{whole} {half}");
}

#[test]
fn after_a_move_only_the_slots_that_moved_are_looked_at() {
    let at = |price: u128| Some(pair(1_000_000_000, price * 1_000_000));
    let still = || vec![at(1_000), at(1_000)];
    let after = |move_e8, within_slots| Some(AfterMove { move_e8, within_slots });
    let mut slots: Vec<_> = (0..9).map(|_| still()).collect();
    // The second venue falls by exactly two percent in slot 4 and stays there. Slot 7 is missing, and slot 8 lacks a
    // venue.
    for moved in &mut slots[4..9] {
        *moved = vec![at(1_000), at(980)];
    }
    (slots[7], slots[8]) = (vec![None, None], vec![at(1_000), None]);
    let ask = |after| {
        let told = figure(&StressTerms { after, ..terms(2, 9, "1000", NOTHING) }, &slots);
        let looked: Vec<_> = told.worst.iter().map(|one| one.slot.number()).collect();
        (looked, told.slots_unmoved, told.slots_untestable)
    };
    let numbers = |of: &[u32]| of.iter().map(|at| slot(*at).number()).collect::<Vec<_>>();
    assert_eq!(ask(after(2_000_000, 1)), (numbers(&[4]), Some(5), Some(1)));
    assert_eq!(ask(after(2_000_001, 1)), (numbers(&[]), Some(6), Some(1)), "told exactly");
    assert_eq!(ask(after(2_000_000, 3)), (numbers(&[4, 5, 6]), Some(1), Some(3)));
    assert_eq!(ask(after(1, 48)), (numbers(&[]), Some(0), Some(7)));
    assert_eq!((ask(None).0.len(), ask(None).1, ask(None).2), (7, None, None));
    // A slot cannot be tested if the earlier slot is missing or lacks a venue.
    (slots[2], slots[3]) = (vec![at(1_000), None], still());
    let asked = StressTerms { after: after(2_000_000, 1), ..terms(2, 9, "1000", NOTHING) };
    let told = figure(&asked, &slots);
    assert_eq!((told.have_slots, told.slots_untestable, told.slots_incomplete), (1, Some(2), 2));

    let refused =
        |of| StressTerms { after: of, ..asked.clone() }.validate().unwrap_err().to_string();
    assert!(refused(after(0, 1)).starts_with("after_move_pct"));
    assert!(refused(after(100_000_001, 1)).starts_with("after_move_pct"));
    assert!(refused(after(1, 0)).starts_with("within_slots"));
    assert!(refused(after(1, 49)).starts_with("within_slots"));
    let spelled = asked.parameters();
    assert_eq!(StressTerms::from_parameters(&spelled).unwrap(), asked);
    let fee = FeeRate { numerator: 5, denominator: 10_000 };
    let stable = Solidly::new(true, [U256::from(1_u64 << 50); 2], [6, 6], fee).unwrap();
    let mut scan =
        StressPass::new(StressTerms { after: after(1, 1), ..terms(1, 1, "1000", NOTHING) })
            .unwrap();
    let observed = observation_of(&pool_of(1), slot(0), PoolState::Solidly(stable));
    scan.add_snapshot(&pool_of(1), slot(0), observed).unwrap();
    assert_eq!(scan.finish().unwrap_err().code(), "figure_unsupported_kind");
}

#[test]
fn what_is_no_question_is_refused() {
    let shock = Shock { haircut_e8: 30_000_000, fall_e8: 12_500_000 };
    let limit = Some("-0.5".parse().unwrap());
    let good = StressTerms { limit, ..terms(2, 2_016, "1000", shock) };
    let code = |change: &dyn Fn(&mut StressTerms)| {
        let mut terms = good.clone();
        change(&mut terms);
        terms.validate().map_err(|error| (error.code(), error.to_string()))
    };
    assert!(code(&|_| ()).is_ok());
    let refused = |change: &dyn Fn(&mut StressTerms)| code(change).unwrap_err().0;
    assert_eq!(refused(&|terms| terms.venues.clear()), "figure_venues");
    assert_eq!(refused(&|terms| terms.venues[1] = venue(1)), "figure_venues");
    assert_eq!(refused(&|terms| terms.to = slot(2_016)), "figure_period");
    assert_eq!(refused(&|terms| terms.shock.haircut_e8 = 99_000_001), "figure_parameter");
    let (_, said) = code(&|terms| terms.shock.fall_e8 = 99_000_001).unwrap_err();
    assert!(said.starts_with("fall_pct"), "{said}");
    assert_eq!(StressTerms::from_parameters(&good.parameters()).unwrap(), good);

    // A pool of another kind is evaluated without a shock, and refused with one.
    let fee = FeeRate { numerator: 5, denominator: 10_000 };
    let stable = Solidly::new(true, [U256::from(1_u64 << 50); 2], [6, 6], fee).unwrap();
    let stable = || vec![vec![Some(PoolState::Solidly(stable))]];
    let told = figure(&terms(1, 1, "1000", NOTHING), &stable());
    assert_eq!((told.have_slots, told.slots_unanswered), (1, 0));
    for shock in [Shock { haircut_e8: 1, ..NOTHING }, Shock { fall_e8: 1, ..NOTHING }] {
        let mut scan = StressPass::new(terms(1, 1, "1000", shock)).unwrap();
        let observed = observation_of(&pool_of(1), slot(0), stable()[0][0].clone().unwrap());
        scan.add_snapshot(&pool_of(1), slot(0), observed).unwrap();
        assert_eq!(scan.finish().unwrap_err().code(), "figure_unsupported_kind");
    }
}

/// One slot computed from complete curves: the gap or the largest fillable amount, the depths by venue, and the sum of
/// books.
fn by_hand(
    states: [&PoolState; 2],
    size: SizeUsd,
    shock: Shock,
) -> (Result<Percent, u64>, [u64; 2], u64) {
    let two = UsdPrice::product(&[(U256::from(2_u32), 0)]).unwrap();
    let prices = [two.fallen(shock.fall_e8).unwrap(), two];
    let after = states.map(|state| {
        state.with_haircut(shock.haircut_e8).unwrap().fallen(SELL, shock.fall_e8).unwrap()
    });
    let exits = after.each_ref().map(|state| Exit::new(state, SELL, [6, 6], prices));
    let venues = exits.each_ref().map(|exit| SplitVenue::new(exit, [6, 6], &prices, UsdMicros(0)));
    let gap = match split_size(&venues, size) {
        Ok(split) => Ok(split.split.gap),
        Err(SplitError::BeyondLiquidity { .. }) => Err(largest_split(&venues).0 / 1_000_000),
        Err(error) => panic!("{error}"),
    };
    let depths = exits.each_ref().map(|exit| exit.depth_usd(GapLimit::DEPTH).unwrap());
    let book = |state| {
        let pool = PricedPool { state, decimals: [6, 6], usd: &prices };
        Exit::book_from_own_mid_usd(pool, SELL, GapLimit::DEPTH).unwrap()
    };
    (gap, depths, after.iter().map(book).sum())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// The pass equals a slot-by-slot computation from complete curves.
    #[test]
    fn the_pass_is_what_its_parts_say(
        slots in prop::collection::vec((some_state(), some_state()), 1..5),
        size in 1_000_u64..3_000_000,
        haircut_e8 in prop_oneof![Just(0_u32), 0_u32..99_000_000],
        fall_e8 in prop_oneof![Just(0_u32), 0_u32..60_000_000],
    ) {
        let shock = Shock { haircut_e8, fall_e8 };
        let count = u32::try_from(slots.len()).unwrap();
        let asked = terms(2, count, &size.to_string(), shock);
        let states: Vec<_> = slots.iter().map(|(a, b)| vec![Some(a.clone()), Some(b.clone())]).collect();
        let told = figure(&asked, &states);
        prop_assert_eq!((told.slots_unanswered, told.have_slots), (0, count));
        let mut least = [u64::MAX; 2];
        let by_slot: Vec<_> = slots.iter().map(|(a, b)| by_hand([a, b], asked.size, shock)).collect();
        for (gap, depths, book) in &by_slot {
            least = [0, 1].map(|at| least[at].min(depths[at]));
            let found = told.worst.iter().find(|one| match gap {
                Ok(gap) => one.gap_pct == Some(gap.to_fixed()),
                Err(most) => one.fillable_usd == Some(most.to_string()),
            });
            let found = found.unwrap();
            let sums = [depths[0] + depths[1], *book].map(|usd| usd.to_string());
            let is_there = told.worst.iter().any(|one| [&one.depth_usd, &one.book_usd] == sums.each_ref());
            prop_assert!(is_there);
            prop_assert_eq!(found.gap_pct.is_some(), found.fillable_usd.is_none());
        }
        let worst = by_slot.iter().filter_map(|(gap, ..)| gap.ok()).max();
        let first = told.worst.iter().find_map(|one| one.gap_pct.clone());
        prop_assert_eq!(first, worst.map(Percent::to_fixed));
        for (at, (venue, least)) in (1..).zip(told.venues.iter().zip(least)) {
            prop_assert_eq!(&venue.pool, &pool_of(at));
            prop_assert_eq!(venue.lowest_depth_usd.clone(), Some(least.to_string()));
        }
    }

    /// Less liquidity never gives more depth or a better gap.
    #[test]
    fn a_haircut_never_helps(
        state in some_state(),
        size in 1_000_u64..300_000,
        haircut_e8 in 1_000_000_u32..99_000_000,
    ) {
        let ask = |haircut_e8| {
            let asked = terms(1, 1, &size.to_string(), Shock { haircut_e8, fall_e8: 0 });
            figure(&asked, &[vec![Some(state.clone())]])
        };
        let (before, after) = (ask(0), ask(haircut_e8));
        prop_assert!(number(after.book_lowest_usd.as_ref()) <= number(before.book_lowest_usd.as_ref()));
        prop_assert!(number(after.depth_lowest_usd.as_ref()) <= number(before.depth_lowest_usd.as_ref()));
        prop_assert!(after.slots_unfillable >= before.slots_unfillable);
    }
}

#[test]
fn slots_above_the_limit_are_counted_by_cause() {
    const DEEP: u128 = 10_000_000_000_000;
    let (deep, led) = (pair(DEEP, DEEP), pair(DEEP / 100 * 106, DEEP));
    let thin = pair(DEEP / 100, DEEP / 100);
    let slots = [&deep, &led, &led, &thin, &deep, &led].map(|state| vec![Some(state.clone())]);
    let limit = Some("2".parse().unwrap());
    let of = |reference| StressTerms { limit, reference, ..terms(1, 6, "10000", NOTHING) };
    let first = figure(&of(None), &slots);
    let oracle = figure(&of(Some(Reference::Oracle)), &slots);
    let mid = figure(&of(Some(Reference::Mid)), &slots);
    let causes = mid.causes.clone().unwrap();
    assert_eq!((causes.oracle_led_slots, causes.thin_book_slots), (3, 1));
    assert_eq!(causes.oracle_led_longest_run_from, Some(slot(1)));
    assert_eq!(causes.oracle_led_longest_run_slots, 2);
    assert_eq!(oracle.causes, mid.causes);
    assert_eq!((oracle.above_slots, mid.above_slots), (Some(4), Some(1)));
    assert_eq!((oracle.worst[0].slot, mid.worst[0].slot), (slot(1), slot(3)));
    let worst = &mid.worst[0];
    assert_eq!(worst.gap_pct, worst.gap_from_mid_pct);
    assert_eq!(worst.gap_from_oracle_pct, worst.gap_from_mid_pct, "at the oracle price");
    let led = &oracle.worst[0];
    assert_eq!(led.gap_pct, led.gap_from_oracle_pct);
    assert_ne!(led.gap_pct, led.gap_from_mid_pct);
    // From the oracle, version 2 has the numbers of version 1.
    assert_eq!((first.causes, &first.gap_q95_pct), (None, &oracle.gap_q95_pct));
    assert_eq!(
        (first.above_slots, first.worst[0].slot),
        (oracle.above_slots, oracle.worst[0].slot)
    );
    assert!(
        first
            .worst
            .iter()
            .all(|one| one.gap_from_mid_pct.is_none() && one.gap_from_oracle_pct.is_none())
    );
    let without = figure(&StressTerms { limit: None, ..of(Some(Reference::Mid)) }, &slots);
    assert_eq!(without.causes, None);
    for reference in [None, Some(Reference::Oracle), Some(Reference::Mid)] {
        let asked = of(reference);
        assert_eq!(StressTerms::from_parameters(&asked.parameters()).unwrap(), asked);
        assert_eq!(asked.name(), STRESS[usize::from(reference.is_some())]);
    }
}

#[test]
fn a_venue_that_cannot_be_shocked_is_left_out_by_name() {
    let fee = FeeRate { numerator: 5, denominator: 10_000 };
    let stable = Solidly::new(true, [U256::from(1_u64 << 43); 2], [6, 6], fee).unwrap();
    let slots = vec![vec![Some(pair(1 << 43, 1 << 43)), Some(PoolState::Solidly(stable))]; 3];
    let of = |shock, after| StressTerms {
        after,
        reference: Some(Reference::Mid),
        ..terms(2, 3, "10000", shock)
    };
    let shock = Shock { haircut_e8: 30_000_000, fall_e8: 0 };
    let after = Some(AfterMove { move_e8: 1, within_slots: 1 });
    for asked in [of(shock, None), of(NOTHING, after)] {
        let told = figure(&asked, &slots);
        assert_eq!(told.left_out.len(), 1, "{told:?}");
        assert_eq!((&told.left_out[0].pool, told.venues.len()), (&pool_of(2), 1));
    }
    let told = figure(&of(NOTHING, None), &slots);
    assert_eq!((told.left_out.len(), told.venues.len(), told.have_slots), (0, 2, 3));
}
