//! What `accuracy/2` counts otherwise than `accuracy/1`, from one pass each over the same swaps.

use super::tests::{SELL, log, observed, pair_of, reserves, swap};
use super::*;
use crate::analytics::made_up::{FEE, slot};
use crate::pools::{ConstantProduct, Direction, PoolState};
use crate::units::Percent;
use crate::wide::U256;

/// A pair in which a raw unit of token 0 is worth about a million of token 1.
fn coarse() -> PoolState {
    ConstantProduct::new([1_000_000, 1_000_000_000_000], FEE).unwrap().into()
}

/// A sale of token 0 that receives this much, and the pair after it.
fn taken(state: &PoolState, amount_in: u64, amount_out: u64) -> (PoolEvent, PoolState) {
    let PoolState::ConstantProduct(pair) = state else { panic!("a pair") };
    let [x, y] = pair.reserves();
    let held = [x + u128::from(amount_in), y - u128::from(amount_out)];
    let sold = [U256::from(amount_in), U256::ZERO];
    let bought = [U256::ZERO, U256::from(amount_out)];
    let after = ConstantProduct::new(held, pair.fee()).unwrap();
    (PoolEvent::Swap(SwapAmounts { sold, bought }, None), after.into())
}

/// What selling an amount of token 0 pays.
fn paid(state: &PoolState, amount: u64) -> u64 {
    let out = state.fill_once(SELL, U256::from(amount)).unwrap().amount_out;
    out.to_string().parse().unwrap()
}

/// Both versions of the record of one interval of a pair: the state at its first slot, and the swaps with the state
/// after each.
fn of_both(first: &PoolState, swaps: &[(PoolEvent, PoolState)]) -> [AccuracyResult; 2] {
    [AccuracyRules::One, AccuracyRules::Two].map(|rules| {
        let mut scan = AccuracyScan::of(rules);
        scan.add_slot(slot(0), observed(0, first), &[]).unwrap();
        let mut logs = Vec::new();
        for (n, (event, after)) in (1..).zip(swaps) {
            logs.push(log(0, n, reserves(after)));
            logs.push(PoolLog { index: 10 + n, ..log(0, n, event.clone()) });
        }
        let last = swaps.last().map_or(first, |(_, after)| after);
        scan.add_slot(slot(1), observed(1, last), &logs).unwrap();
        let told = scan.finish();
        assert_eq!((told.stretches_incomplete, told.compared as usize), (0, swaps.len()));
        told
    })
}

#[test]
fn exact_is_equal_in_raw_units() {
    // After a small sale, a large one pays a few raw units less of billions: an error that rounds to zero.
    let first = pair_of(1 << 40);
    let (small, middle) = swap(&first, SELL, 1_000);
    let (large, last) = swap(&middle, SELL, 5_000_000_000);
    let amounts = |event: &PoolEvent| match event {
        PoolEvent::Swap(amounts, _) => amounts.bought[1],
        other => panic!("{other:?}"),
    };
    let estimated = first.fill_once(SELL, U256::from(5_000_000_000_u64)).unwrap().amount_out;
    assert!(amounts(&large) < estimated, "a few raw units less");
    let [one, two] = of_both(&first, &[(small, middle), (large, last)]);
    assert!(one.newest.iter().all(|swap| swap.error == Percent(0)));
    assert_eq!((one.ages[0].exact_n, two.ages[0].exact_n), (2, 1));
    assert_eq!((two.ages[0].bracketed_n, two.ages[0].n), (0, 2));
    let said: Vec<_> = two.newest.iter().map(|swap| swap.agreement).collect();
    assert_eq!(said, [Agreement::Exact, Agreement::Differs]);
}

#[test]
fn an_order_for_an_output_is_judged_by_its_bracket() {
    let first = coarse();
    // The trader takes a third of what the last raw unit of the amount sold adds.
    let less = paid(&first, 99);
    let wanted = less + (paid(&first, 100) - less) / 3;
    let [one, two] = of_both(&first, &[taken(&first, 100, wanted)]);
    assert!(one.ages[0].worst > Some(Percent(500_000)), "more than half a percent");
    assert_eq!((one.ages[0].exact_n, one.ages[0].bracketed_n), (0, 0));
    assert_eq!((two.ages[0].exact_n, two.ages[0].bracketed_n), (0, 1));
    assert_eq!((two.ages[0].worst, two.ages[0].mean), (Some(Percent(0)), Some(Percent(0))));
    assert_eq!((two.newest[0].agreement, two.newest[0].error), (Agreement::Bracketed, Percent(0)));
    assert_eq!(two.sizes[0].errors.bracketed_n, 1);
    // One raw unit of the output below the bracket is no such order: it has its whole error.
    for (received, bracketed_n) in [(less, 1), (less - 1, 0)] {
        let [one, two] = of_both(&first, &[taken(&first, 100, received)]);
        assert_eq!(two.ages[0].bracketed_n, bracketed_n, "{received}");
        let error = if bracketed_n == 1 { Some(Percent(0)) } else { one.ages[0].worst };
        assert_eq!(two.ages[0].worst, error);
    }
    // An order for an output of which the amount sold is one raw unit: less than that pays nothing.
    let [_, two] = of_both(&first, &[taken(&first, 1, paid(&first, 1) / 2)]);
    assert_eq!(two.ages[0].bracketed_n, 1);
}

#[test]
fn a_sale_of_an_amount_is_never_judged_by_a_bracket() {
    // The second sale receives less than estimated, by less than one raw unit of the amount sold would bring. The trader
    // fixed the amount sold, so that is an error.
    let first = coarse();
    let (small, middle) = swap(&first, SELL, 3);
    let (sale, last) = swap(&middle, SELL, 1_000);
    let received = paid(&middle, 1_000);
    assert!(received < paid(&first, 1_000));
    let bracket = paid(&first, 994)..paid(&first, 1_000);
    assert!(bracket.contains(&received), "{received} {bracket:?}");
    // With one raw unit sold before it, the sale would even be in the bracket of one unit.
    let (one_unit, after_one) = swap(&first, SELL, 1);
    let (next, end) = swap(&after_one, SELL, 300);
    assert!((paid(&first, 299)..paid(&first, 300)).contains(&paid(&after_one, 300)));
    for swaps in [[(small, middle), (sale, last)], [(one_unit, after_one), (next, end)]] {
        let [one, two] = of_both(&first, &swaps);
        assert_eq!((two.ages[0].exact_n, two.ages[0].bracketed_n), (1, 0));
        assert_eq!(one.newest[1].error, two.newest[1].error);
        assert!(two.newest[1].error > Percent(0));
    }
}

#[test]
fn the_worst_error_is_the_one_farthest_from_zero() {
    // A purchase of token 0 raises its price: the sale after it receives more than estimated. A small sale follows, which
    // receives less than estimated by a little.
    let first = pair_of(1 << 40);
    let (bought, up) = swap(&first, Direction::OneForZero, 1 << 36);
    let (sold, down) = swap(&up, SELL, (1 << 36) + (1 << 32));
    let (last, end) = swap(&down, SELL, 1 << 30);
    let [one, two] = of_both(&first, &[(bought, up), (sold, down), (last, end)]);
    let errors: Vec<Percent> = two.newest.iter().map(|swap| swap.error).collect();
    let (better, worse) = (errors[1], errors[2]);
    assert!(better < Percent(0) && worse > Percent(0) && -better.0 > worse.0, "{errors:?}");
    assert_eq!((one.ages[0].worst, one.ages[0].worst_for_seller), (Some(worse), Some(worse)));
    assert_eq!((two.ages[0].worst, two.ages[0].worst_for_seller), (Some(better), Some(worse)));
    assert_eq!(two.worst[0].error, better);
}

#[test]
fn a_full_record_needs_a_week_of_judged_slots() {
    // A sale in each of the first 200 intervals. In one of them, a second log is absent.
    let told = |slots: u32, absent: Option<u32>| {
        [AccuracyRules::One, AccuracyRules::Two].map(|rules| {
            let mut state = pair_of(1 << 50);
            let mut scan = AccuracyScan::of(rules);
            scan.add_slot(slot(0), observed(0, &state), &[]).unwrap();
            for place in 0..slots - 1 {
                let mut logs = Vec::new();
                if place < 201 {
                    let (event, after) = swap(&state, SELL, 1_000_000);
                    logs = vec![log(place, 1, reserves(&after)), log(place, 2, event)];
                    state = after;
                }
                if absent == Some(place) {
                    logs.clear();
                }
                scan.add_slot(slot(place + 1), observed(place + 1, &state), &logs).unwrap();
            }
            let told = scan.finish();
            assert!(told.compared >= 200);
            (told.enough, told.judged_slots)
        })
    };
    assert_eq!(told(2_017, None), [(true, 2_016), (true, 2_016)]);
    assert_eq!(told(2_016, None), [(true, 2_015), (false, 2_015)]);
    assert_eq!(told(2_017, Some(7)), [(true, 2_015), (false, 2_015)]);
}
