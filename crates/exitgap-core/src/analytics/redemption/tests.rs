//! How much more redeeming later brings than selling now, and how long it takes.

use proptest::prelude::*;

use super::*;
use crate::analytics::made_up::{observation, ranges, slot};
use crate::hours::Hours;
use crate::pools::Direction;

const DOLLAR: u64 = 1_000_000;

/// A pool of tokens worth two dollars each, priced exactly at the oracle.
fn exit() -> Exit {
    let state = ranges(0, 5_000_000_000_000, 90_000_000_000_000);
    Exit::from_pool(&observation(slot(0), state), Direction::ZeroForOne)
}

fn size(usd: u64) -> SizeUsd {
    SizeUsd::from_micros(usd * DOLLAR).unwrap()
}

fn on_days(cutoff_before_close_s: u32, settlement_days: [u8; 2]) -> RedemptionTerms {
    let calendar = Calendar::for_exchange("XNYS", Hours::Regular).unwrap();
    let pays = Pays::OnDays { calendar, cutoff_before_close_s, settlement_days };
    RedemptionTerms { pays, fee_e8: 0, minimum: UsdMicros(0), capacity: None, worth: None }
}

/// Monday, 24 August 2026, 16:00 in New York.
const MONDAY_CLOSE: u64 = 1_787_601_600;
const DAY: u64 = 86_400;

#[test]
fn the_cut_off_parts_two_days_to_the_second() {
    let terms = on_days(3_600, [1, 2]);
    let waits = |at: u64| redemption(&exit(), size(1_000), &terms, at).unwrap().wait_s;
    let cutoff = MONDAY_CLOSE - 3_600;
    assert_eq!(waits(cutoff), [Some(DAY + 3_600), Some(2 * DAY + 3_600)], "it is the last instant");
    assert_eq!(waits(cutoff - 1), [Some(DAY + 3_601), Some(2 * DAY + 3_601)]);
    assert_eq!(waits(cutoff + 1), [Some(2 * DAY + 3_599), Some(3 * DAY + 3_599)]);
}

#[test]
fn weekends_and_holidays_are_no_days() {
    let waits = |terms: &RedemptionTerms, at: u64| {
        redemption(&exit(), size(1_000), terms, at).unwrap().wait_s
    };
    // Friday, 28 August, at the close: paid on Monday. One second later: paid on Tuesday.
    let friday = MONDAY_CLOSE + 4 * DAY;
    let next_day = on_days(0, [1, 1]);
    assert_eq!(waits(&next_day, friday), [Some(3 * DAY); 2]);
    assert_eq!(waits(&next_day, friday + 1), [Some(4 * DAY - 1); 2]);
    // Labor Day is Monday, 7 September: the trading day after the Friday before is Tuesday.
    assert_eq!(waits(&next_day, friday + 7 * DAY), [Some(4 * DAY); 2]);
    // Paid on the same day, if the terms say so.
    assert_eq!(waits(&on_days(0, [0, 0]), MONDAY_CLOSE - 60), [Some(60); 2]);
    // After the end of the table, and before its start, the wait is unknown.
    let ends = crate::hours::XNYS_1.ends_at();
    for at in [ends, ends - DAY, 1_700_000_000] {
        let refused = redemption(&exit(), size(1_000), &next_day, at);
        assert_eq!(
            refused.unwrap_err(),
            RedemptionError::UnknownDays { exchange: "XNYS", version: 1 }
        );
    }
}

#[test]
fn a_queue_is_as_long_as_those_ahead_and_ours() {
    let per_day = [0, 500_000, 2_000_000].map(|usd| UsdMicros(usd * DOLLAR));
    let pays = Pays::InTurn { ahead: UsdMicros(3_000_000 * DOLLAR), per_day };
    let terms =
        RedemptionTerms { pays, fee_e8: 0, minimum: UsdMicros(0), capacity: None, worth: None };
    let told = redemption(&exit(), size(1_000_000), &terms, 0).unwrap();
    assert_eq!(told.wait_s, [Some(2 * DAY), None], "at the least pace nobody is paid");
    assert_eq!(told.wait_middle_s, Some(8 * DAY));
    let empty = Pays::InTurn { ahead: UsdMicros(0), per_day: [UsdMicros(DOLLAR); 3] };
    let told = redemption(&exit(), size(1), &RedemptionTerms { pays: empty, ..terms }, 0).unwrap();
    assert_eq!(told.wait_s, [Some(DAY); 2], "ours alone");
}

#[test]
fn the_advantage_is_what_later_brings_and_its_yearly_rate_what_waiting_earns() {
    let terms = RedemptionTerms { fee_e8: 100_000, ..on_days(0, [1, 1]) };
    let told = redemption(&exit(), size(1_000_000), &terms, MONDAY_CLOSE).unwrap();
    let now = told.now.clone().unwrap();
    assert_eq!(now.gap, exit().estimate(size(1_000_000)).unwrap().gap);
    assert_eq!(told.later, Some(UsdMicros(999_000 * DOLLAR)), "a tenth of a percent is kept");
    let more = i128::from(999_000 * DOLLAR) - i128::from(now.receives.0);
    assert_eq!(told.advantage, share_pct(more, now.receives.0));
    // One day is a 365th of a year, exact except for one rounding.
    assert_eq!(told.break_even[0], Some(Percent(told.advantage.unwrap().0 * 365)));
    let at_once = RedemptionTerms { pays: Pays::AtOnce, ..terms };
    let told = redemption(&exit(), size(1_000_000), &at_once, MONDAY_CLOSE).unwrap();
    assert_eq!((told.wait_s, told.break_even), ([Some(0); 2], [None; 2]));
    // With a fee above the gap, redeeming brings less.
    let dear = RedemptionTerms { fee_e8: 90_000_000, ..at_once };
    assert!(redemption(&exit(), size(1_000), &dear, 0).unwrap().advantage.unwrap() < Percent(0));
}

#[test]
fn what_is_beyond_the_capacity_is_sold_and_too_little_is_refused() {
    let terms = RedemptionTerms {
        minimum: UsdMicros(500 * DOLLAR),
        capacity: Some(UsdMicros(400_000 * DOLLAR)),
        worth: None,
        ..on_days(0, [1, 1])
    };
    let told = redemption(&exit(), size(1_000_000), &terms, MONDAY_CLOSE).unwrap();
    assert_eq!(told.redeemed, UsdMicros(400_000 * DOLLAR));
    let (rest, sold) = told.beside.clone().unwrap();
    let alone = exit().estimate(size(600_000)).unwrap();
    assert_eq!((rest, sold.clone().unwrap().gap), (UsdMicros(600_000 * DOLLAR), alone.gap));
    assert_eq!(told.later, Some(UsdMicros(400_000 * DOLLAR + sold.unwrap().receives.0)));
    let refused = redemption(&exit(), size(499), &terms, MONDAY_CLOSE).unwrap_err();
    assert_eq!(refused, RedemptionError::BelowMinimum { minimum: UsdMicros(500 * DOLLAR) });
    let closed = RedemptionTerms { capacity: Some(UsdMicros(0)), minimum: UsdMicros(0), ..terms };
    assert!(redemption(&exit(), size(1_000), &closed, MONDAY_CLOSE).is_err());
    // More than the pool can fill can only be redeemed.
    let all = RedemptionTerms { capacity: None, ..terms };
    let told = redemption(&exit(), SizeUsd::MAX, &all, MONDAY_CLOSE).unwrap();
    assert!(told.now.is_err() && told.advantage.is_none());
    assert_eq!(told.later, Some(UsdMicros(SizeUsd::MAX.micros())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The whole size is redeemed or sold, and no wait is longer than the maximum.
    #[test]
    fn nothing_is_lost_between_the_two(
        usd in 1_u64..3_000_000,
        capacity in prop::option::of(1_u64..3_000_000),
        fee_e8 in 0_u32..100_000_000,
        days in [0_u8..9, 0_u8..9],
        later in 0_u64..300 * DAY,
    ) {
        let days = [days[0].min(days[1]), days[0].max(days[1])];
        let capacity = capacity.map(|usd| UsdMicros(usd * DOLLAR));
        let terms = RedemptionTerms { fee_e8, capacity, ..on_days(0, days) };
        let told = redemption(&exit(), size(usd), &terms, MONDAY_CLOSE + later).unwrap();
        let rest = told.beside.as_ref().map_or(0, |(rest, _)| rest.0);
        prop_assert_eq!(told.redeemed.0 + rest, usd * DOLLAR);
        prop_assert!(told.wait_s[0] <= told.wait_s[1]);
        if let [Some(least), Some(most)] = told.break_even {
            prop_assert!(least.0.abs() >= most.0.abs());
        }
    }
}
