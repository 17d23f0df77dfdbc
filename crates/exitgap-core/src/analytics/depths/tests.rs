//! The figure over synthetic slots, and its parameters.

use super::*;
use crate::analytics::FigureError;
use crate::analytics::figure::{Figure, FigurePass};
use crate::analytics::made_up::{observation, pair, pool, pool_of, slot};

const DEEP: u128 = 1_000_000_000_000;

fn terms(slots: u32) -> DepthsTerms {
    DepthsTerms { pool: pool(), from: slot(0), to: slot(slots - 1) }
}

/// The figure of these slots, each with its reserve of token 0.
fn figure(slots: u32, reserves: &[(u32, u128)]) -> DepthsResult {
    let mut pass = terms(slots).pass().unwrap();
    for (at, reserve) in reserves {
        pass.add_snapshot(&pool(), slot(*at), observation(slot(*at), pair(*reserve, DEEP)))
            .unwrap();
    }
    pass.finish().unwrap()
}

#[test]
fn an_oracle_that_led_makes_the_depth_zero_and_is_the_cause() {
    let ahead = DEEP / 100 * 106;
    let told = figure(9, &[(0, DEEP), (2, ahead), (3, ahead), (4, ahead), (6, DEEP), (8, DEEP)]);
    assert_eq!((told.have_slots, told.slots_missing, told.status.as_str()), (6, 3, "preview"));
    let side = &told.token0;
    assert_eq!(side.lowest_depth_usd.as_deref(), Some("0"));
    assert_eq!(
        (side.lowest_depth_slot, side.cause.as_deref()),
        (Some(slot(2)), Some("oracle_led"))
    );
    assert_eq!((side.led_slots, side.led_longest_run_slots), (3, 3));
    assert_eq!(side.led_longest_run_from, Some(slot(2)));
    assert_eq!(side.largest_lead_pct, "5.660377");
    assert_eq!(side.lead_at_lowest_depth_pct.as_deref(), Some("5.660377"));
    let usd = |text: &Option<String>| text.as_ref().unwrap().parse::<u64>().unwrap();
    assert!(usd(&side.lowest_book_usd) > 10_000, "{side:?}");
    assert!(usd(&side.book_at_lowest_depth_usd) > 10_000, "{side:?}");
    // Selling the other token, the oracle trails: nothing is missing.
    assert_eq!((told.token1.cause.as_deref(), told.token1.led_slots), (None, 0));
    assert_eq!(told.token1.largest_lead_pct, "0.000000");
}

#[test]
fn without_a_slot_nothing_is_stated() {
    let told = figure(4, &[]);
    assert_eq!((told.have_slots, told.slots_missing), (0, 4));
    assert_eq!((told.token0.lowest_book_usd, told.token1.lowest_depth_slot), (None, None));
}

#[test]
fn parameters_and_order_are_checked() {
    let good = terms(2_016);
    assert_eq!(DepthsTerms::from_parameters(&good.parameters()).unwrap(), good);
    assert!(matches!(
        terms(2_017).validate(),
        Err(FigureError::Period { found: 2_017, most: 2_016 })
    ));
    let mut pass = terms(3).pass().unwrap();
    let of = |at: u32| observation(slot(at), pair(DEEP, DEEP));
    pass.add_snapshot(&pool(), slot(1), of(1)).unwrap();
    for (other, at) in [(pool(), 1), (pool(), 0), (pool(), 3), (pool_of(7), 2)] {
        let refused = pass.add_snapshot(&other, slot(at), of(at));
        assert!(matches!(refused, Err(FigureError::OutOfOrder { .. })), "{at}");
    }
}
