//! The split of a depth change, over synthetic and random states.

use proptest::prelude::*;

use super::*;
use crate::analytics::FigureError;
use crate::analytics::figure::FigurePass;
use crate::analytics::made_up::{observation, pair, pool, ranges, slot};
use crate::evidence::Base;
use crate::pools::{Direction, FeeRate, PoolState, Solidly};
use crate::units::GapLimit;
use crate::wide::U256;

fn terms(slots: u32) -> DecayTerms {
    let (from, to) = (slot(0), slot(slots - 1));
    let (move_e8, within_slots, gap) = (2_000_000, 3, GapLimit::DEPTH);
    DecayTerms { pool: pool(), base: Base::Token0, from, to, move_e8, within_slots, gap }
}

fn figure(states: impl IntoIterator<Item = Option<PoolState>>) -> DecayResult {
    let states: Vec<_> = states.into_iter().collect();
    let mut scan = DecayPass::new(terms(u32::try_from(states.len()).unwrap())).unwrap();
    for (index, state) in (0..).zip(states) {
        if let Some(state) = state {
            scan.add_snapshot(&pool(), slot(index), observation(slot(index), state)).unwrap();
        }
    }
    scan.finish().unwrap()
}

fn dollars(text: &str) -> i64 {
    text.parse().unwrap()
}

fn check_sums(result: &DecayResult) {
    for step in result.events.iter().flat_map(|event| &event.at) {
        let change = dollars(&step.book_usd) - dollars(&step.book_before_usd);
        assert_eq!(dollars(&step.mechanical_usd) + dollars(&step.liquidity_usd), change);
        let fixed = dollars(&step.book_static_usd) - dollars(&step.book_before_usd);
        assert_eq!(dollars(&step.mechanical_usd), fixed);
    }
}

#[test]
fn after_swaps_alone_nothing_is_withdrawn_to_the_dollar() {
    let start = ranges(0, 5_000_000_000_000, 90_000_000_000_000);
    // The price leaves the narrow range: the depth falls, and all of the change is mechanical.
    let sold = start.fill_once(Direction::ZeroForOne, U256::from(9_000_000_000_000_u64)).unwrap();
    let moved = start.after(Direction::ZeroForOne, &sold);
    let states = (0..60).map(|index| Some(if index < 5 { start.clone() } else { moved.clone() }));
    let result = figure(states);
    assert_eq!((result.events.len(), result.events[0].slot), (1, slot(5)));
    assert_eq!(result.events_suppressed, 2, "slots 6 and 7 look back before the move, too");
    assert!(result.events[0].move_pct.starts_with('-'));
    assert_eq!(result.events[0].at.len(), HORIZONS.len());
    for step in &result.events[0].at {
        assert_eq!((&step.book_static_usd, step.liquidity_usd.as_str()), (&step.book_usd, "0"));
        assert!(dollars(&step.mechanical_usd) < 0);
    }
    assert_eq!((result.events[0].half_life_slots, result.events[0].censored), (None, false));
    check_sums(&result);
}

#[test]
fn a_burn_alone_is_no_mechanical_change() {
    // The price moves and returns, and the narrow position is withdrawn. The event is the move back.
    let states = (0..60).map(|index| {
        Some(match index {
            0..4 => ranges(0, 5_000_000_000_000, 90_000_000_000_000),
            4 => ranges(300, 5_000_000_000_000, 90_000_000_000_000),
            _ => ranges(0, 5_000_000_000_000, 0),
        })
    });
    let result = figure(states);
    let later = result.events[0].at.iter().find(|step| step.h_slots == 1).unwrap();
    assert_eq!(later.mechanical_usd, "0");
    assert!(dollars(&later.liquidity_usd) < 0);
    assert!(result.events[0].censored, "nobody came back");
    check_sums(&result);
}

#[test]
fn a_burn_of_a_pair_is_within_a_dollar_of_no_mechanical_change() {
    let states = (0..60).map(|index| {
        Some(match index {
            0..4 => pair(7_000_000_000_001, 9_000_000_000_003),
            4 => pair(6_800_000_000_007, 9_270_000_000_001),
            _ => pair(700_000_000_001, 900_000_000_003),
        })
    });
    let result = figure(states);
    let later = result.events[0].at.iter().find(|step| step.h_slots == 1).unwrap();
    assert!(dollars(&later.mechanical_usd).abs() <= 1, "{later:?}");
    assert!(dollars(&later.liquidity_usd) < -1_000);
    check_sums(&result);
}

#[test]
fn a_half_life_is_the_first_of_two_slots_at_half_the_greatest_deficit() {
    // The narrow position is withdrawn at slot 6. Three quarters return at slot 9 for one slot, and permanently from
    // slot 12 on. Slot 20 is missing.
    let states = (0..60).map(|index| {
        let narrow = match index {
            0..6 => 80_000_000_000_000,
            9 | 12.. => 60_000_000_000_000,
            _ => 0,
        };
        let tick = if index < 5 { 0 } else { 250 };
        (index != 20).then(|| ranges(tick, 5_000_000_000_000, narrow))
    });
    let result = figure(states);
    let event = &result.events[0];
    assert_eq!((event.slot, event.half_life_slots, event.censored), (slot(5), Some(6), false));
    assert!(!event.move_pct.starts_with('-'));
    assert_eq!((result.slots_missing, result.have_slots), (1, 59));
    assert_eq!(result.slots_untestable, 4, "three at the start, and the one after slot 20");
    assert_eq!(result.up.half_life_n, 1);
    assert_eq!((result.enough, result.up.half_life_slots_q50), (false, None));
    check_sums(&result);
}

#[test]
fn statistics_need_seven_days_and_five_events() {
    let narrow =
        |index: u32| if index % 100 < 50 { 80_000_000_000_000 } else { 40_000_000_000_000 };
    let tick = |index: u32| if index % 100 < 50 { 0 } else { 300 };
    let states = |slots: u32| {
        (0..slots).map(move |index| Some(ranges(tick(index), 5_000_000_000_000, narrow(index))))
    };
    let result = figure(states(2_016));
    assert!(result.enough);
    assert_eq!((result.up.horizons[0].n, result.down.horizons[0].n), (20, 20));
    let withdrawn = |side: &DecaySide| side.horizons[1].withdrawn_pct_q50.clone().unwrap();
    assert!(!withdrawn(&result.up).starts_with('-'), "half of it left as the price rose");
    assert!(withdrawn(&result.down).starts_with('-'), "and returned as it fell");
    check_sums(&result);
    let short = figure(states(2_015));
    assert_eq!((short.enough, short.have_slots, short.needed_slots), (false, 2_015, 2_016));
    assert_eq!(short.events.len(), result.events.len());
    assert_eq!(short.up.horizons[1].withdrawn_pct_q50, None);
}

#[test]
fn other_kinds_and_terms_out_of_bounds_are_refused_by_name() {
    let wide = U256::from(1_000_000_000_000_u64);
    let fee = FeeRate { numerator: 5, denominator: 10_000 };
    let stable = Solidly::new(true, [wide; 2], [6, 6], fee).unwrap();
    let mut scan = DecayPass::new(terms(9)).unwrap();
    let refused =
        scan.add_snapshot(&pool(), slot(0), observation(slot(0), stable.into())).unwrap_err();
    assert_eq!(refused.code(), "figure_unsupported_kind");
    let mut scan = DecayPass::new(terms(9)).unwrap();
    let taken = |scan: &mut DecayPass, index| {
        scan.add_snapshot(
            &pool(),
            slot(index),
            observation(slot(index), pair(1_000_000, 1_000_000)),
        )
    };
    taken(&mut scan, 3).unwrap();
    for index in [3, 2, 9] {
        let out_of_order = FigureError::OutOfOrder { slot: slot(index) };
        assert_eq!(taken(&mut scan, index), Err(out_of_order));
    }
    let refused = |terms: DecayTerms| DecayPass::new(terms).unwrap_err().code();
    assert_eq!(refused(DecayTerms { to: slot(0), from: slot(1), ..terms(9) }), "figure_period");
    assert_eq!(refused(DecayTerms { to: slot(8_928), ..terms(9) }), "figure_period");
    assert_eq!(refused(DecayTerms { within_slots: 49, ..terms(9) }), "figure_parameter");
    assert_eq!(refused(DecayTerms { move_e8: 0, ..terms(9) }), "figure_parameter");
}

prop_compose! {
    fn any_state()(tick in -3_000_i32..3_000, wide in 1_u128..9_000_000_000_000, narrow in 0_u128..900_000_000_000_000) -> PoolState {
        ranges(tick, wide, narrow)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_sum_over_random_ranges(states in proptest::collection::vec(proptest::option::weighted(0.9, any_state()), 4..80)) {
        check_sums(&figure(states));
    }

    #[test]
    fn parts_sum_over_random_pairs(states in proptest::collection::vec((1_u128..1 << 112, 1_u128..1 << 112), 4..80)) {
        check_sums(&figure(states.into_iter().map(|(x, y)| Some(pair(x, y)))));
    }

    /// A state moved to its own price stays the same; for a pair, up to the rounding of its square roots.
    #[test]
    fn under_its_own_price_a_state_is_itself(state in any_state(), x in 1_u128..1 << 112, y in 1_u128..1 << 112) {
        prop_assert_eq!(state.under_price_of(&state), Some(state.clone()));
        prop_assert_eq!(pair(x, y).under_price_of(&pair(x, y)), Some(pair(x, y)));
        prop_assert_eq!(state.under_price_of(&pair(x, y)), None);
    }
}
