use std::fs;
use std::path::PathBuf;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{Closure, ClosureKind, Hours, Market, MarketState, TradingDay, XNYS_1};
use crate::ids::TableHash;
use crate::series::Slot;

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;
/// 2026-08-22T00:00:00Z, the start of the series.
const SERIES_BEGIN: u64 = 5_957_856 * 300;

/// The trading day of a date, in days since 1970-01-01.
fn day(date: u64) -> TradingDay {
    XNYS_1.days().find(|row| row.day == date).unwrap()
}

fn closed(at: u64, hours: Hours) -> Closure {
    match XNYS_1.market(at, hours) {
        Market::Closed(closure) => closure,
        other => panic!("{at}: {other:?}"),
    }
}

#[test]
fn a_table_is_named_by_its_text() {
    let text = XNYS_1.canonical_text();
    assert_eq!(TableHash(Sha256::digest(&text).into()), XNYS_1.hash());
    assert!(text.starts_with("XNYS@1 as of 2026-11-23\novernight_open,"), "{}", &text[..60]);
    assert_eq!(text.lines().count(), 2 + 347);
    assert!(text.lines().all(|line| line.len() < 60));
}

#[test]
fn rows_ascend_and_cover_the_time_since_series_began() {
    let rows: Vec<TradingDay> = XNYS_1.days().collect();
    assert_eq!(rows.iter().filter(|row| row.open >= SERIES_BEGIN).count(), 342);
    for row in &rows {
        let instants = [row.overnight_open, row.pre_open, row.open, row.close, row.after_close];
        assert!(instants.is_sorted_by(|a, b| a < b), "{row:?}");
        assert_eq!(row.open - row.overnight_open, 13 * HOUR + 1_800);
    }
    for pair in rows.windows(2) {
        let gap = pair[1].overnight_open - pair[0].after_close;
        assert_eq!(gap == 0, pair[1].day == pair[0].day + 1, "{pair:?}");
    }
    assert_eq!(Slot::FIRST.unix_s(), SERIES_BEGIN);
    assert_eq!(XNYS_1.state(SERIES_BEGIN), MarketState::Weekend);
    assert_eq!(XNYS_1.state(SERIES_BEGIN - 1), MarketState::After);
}

#[test]
fn every_boundary_of_every_day_to_the_second() {
    use MarketState::{After, Overnight, Pre, Regular};
    for row in XNYS_1.days() {
        let states = [
            (row.overnight_open, Overnight),
            (row.pre_open, Pre),
            (row.open, Regular),
            (row.close, After),
        ];
        let ends = states.iter().skip(1).map(|&(at, _)| at).chain([row.after_close]);
        for (&(begins, state), ends) in states.iter().zip(ends) {
            for at in [begins, begins + 1, ends - 1] {
                assert_eq!(XNYS_1.state(at), state, "{row:?} at {at}");
                let open = |hours| XNYS_1.market(at, hours).is_open();
                assert_eq!(open(Hours::Regular), state == Regular);
                assert_eq!(open(Hours::Extended), state != Overnight);
                assert!(open(Hours::TwentyFourFive) && open(Hours::Continuous));
            }
        }
        assert_ne!(XNYS_1.state(row.after_close), After);
    }
}

#[test]
fn closures_count_down_to_the_opening() {
    for pair in XNYS_1.days().collect::<Vec<_>>().windows(2) {
        let length_s = pair[1].open - pair[0].close;
        for (at, opens_in_s) in [(pair[0].close, length_s), (pair[1].open - 1, 1)] {
            let closure = closed(at, Hours::Regular);
            assert_eq!((closure.length_s, closure.opens_in_s), (length_s, opens_in_s));
        }
    }
    let night = closed(day(20_683).close, Hours::Regular);
    assert_eq!((night.kind, night.length_s), (ClosureKind::Night, 17 * HOUR + 1_800));
    let closure = closed(day(20_683).after_close, Hours::Extended);
    assert_eq!((closure.kind, closure.length_s), (ClosureKind::Night, 8 * HOUR));
    assert_eq!(XNYS_1.market(day(20_683).after_close, Hours::TwentyFourFive), Market::Open);
}

#[test]
fn a_weekend_is_shorter_or_longer_by_the_hour_that_clocks_change() {
    // From Friday's close to Monday's opening: without a clock change, with November's, and with March's.
    let usual = 65 * HOUR + 1_800;
    for (friday, length_s) in [(20_693, usual), (20_756, usual + HOUR), (20_889, usual - HOUR)] {
        let closure = closed(day(friday).close, Hours::Regular);
        assert_eq!((closure.kind, closure.length_s), (ClosureKind::Weekend, length_s), "{friday}");
    }

    // On Sunday 2026-11-01 the overnight session begins at 20:00 winter time.
    let sunday = 20_758 * DAY;
    assert_eq!(XNYS_1.state(sunday + DAY + HOUR - 1), MarketState::Weekend);
    assert_eq!(XNYS_1.state(sunday + DAY + HOUR), MarketState::Overnight);
    // On Sunday 2027-03-14 it begins in summer time.
    let sunday = 20_891 * DAY;
    assert_eq!(XNYS_1.state(sunday + DAY - 1), MarketState::Weekend);
    assert_eq!(XNYS_1.state(sunday + DAY), MarketState::Overnight);
}

#[test]
fn early_closings_and_holidays() {
    // Thanksgiving, 2026-11-26: no trading from Wednesday evening to Thursday evening.
    let thanksgiving = 20_783;
    let wednesday = day(thanksgiving - 1);
    assert_eq!(XNYS_1.state(wednesday.after_close - 1), MarketState::After);
    assert_eq!(XNYS_1.state(wednesday.after_close), MarketState::Holiday);
    assert_eq!(XNYS_1.state(thanksgiving * DAY + 18 * HOUR), MarketState::Holiday);
    let closure = closed(wednesday.close, Hours::Regular);
    assert_eq!((closure.kind, closure.length_s), (ClosureKind::Holiday, 41 * HOUR + 1_800));

    // The next day closes at 13:00 in New York, and its after-hours trading ends at 17:00.
    let friday = day(thanksgiving + 1);
    assert_eq!(friday.close, friday.day * DAY + 18 * HOUR);
    assert_eq!(friday.after_close, friday.day * DAY + 22 * HOUR);
    assert_eq!(XNYS_1.state(friday.close - 1), MarketState::Regular);
    assert_eq!(XNYS_1.state(friday.close), MarketState::After);
    assert_eq!(XNYS_1.state(friday.after_close), MarketState::Weekend);
    let early: Vec<u64> =
        XNYS_1.days().filter(|row| row.close - row.open < 6 * HOUR).map(|row| row.day).collect();
    // 2026-11-27, 2026-12-24 and 2027-11-26.
    assert_eq!(early, [20_784, 20_811, 21_148]);

    // Labor Day, 2026-09-07: the weekend before it is part of the holiday.
    let closure = closed(20_702 * DAY, Hours::TwentyFourFive);
    assert_eq!((closure.kind, closure.length_s), (ClosureKind::Holiday, 3 * DAY));
    assert_eq!(closure.opens_in_s, 2 * DAY);
    assert_eq!(XNYS_1.state(20_702 * DAY), MarketState::Holiday);
}

#[test]
fn outside_of_the_table_nothing_is_known() {
    let (first, last) = (XNYS_1.days().next().unwrap(), XNYS_1.days().last().unwrap());
    for at in [0, first.overnight_open - 1, last.after_close, last.after_close + 1, u64::MAX] {
        assert_eq!(XNYS_1.state(at), MarketState::Unknown, "{at}");
        for hours in [Hours::Regular, Hours::Extended, Hours::TwentyFourFive] {
            assert_eq!(XNYS_1.market(at, hours), Market::Unknown, "{at} {hours:?}");
        }
        assert_eq!(XNYS_1.market(at, Hours::Continuous), Market::Open);
    }
    // The last day's own sessions are known, but the next opening is not in the table.
    assert_eq!(XNYS_1.state(last.close), MarketState::After);
    assert!(XNYS_1.market(last.close - 1, Hours::Regular).is_open());
    assert_eq!(XNYS_1.market(last.close, Hours::Regular), Market::Unknown);
    assert!(!Market::Unknown.is_open());
}

#[test]
fn names_are_these() {
    use MarketState::{After, Holiday, Overnight, Pre, Regular, Unknown, Weekend};
    let states =
        [Regular, Pre, After, Overnight, Weekend, Holiday, Unknown].map(MarketState::as_str);
    assert_eq!(states, ["regular", "pre", "after", "overnight", "weekend", "holiday", "unknown"]);
    let hours = [Hours::Regular, Hours::Extended, Hours::TwentyFourFive, Hours::Continuous];
    assert_eq!(hours.map(Hours::as_str), ["regular", "extended", "24x5", "continuous"]);
    let kinds = [ClosureKind::Night, ClosureKind::Weekend, ClosureKind::Holiday];
    assert_eq!(kinds.map(ClosureKind::as_str), ["night", "weekend", "holiday"]);
}

/// The table's text, and its answers one second before, at and after every boundary of some days, for other verifiers.
#[test]
fn the_vectors_are_these() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/hours");
    let around = |at: u64| [at - 1, at, at + 1];
    // These days include both Sundays with a clock change, early closes and holidays.
    let days = [20_693, 20_700, 20_704, 20_756, 20_759, 20_782, 20_784, 20_787, 20_889, 20_892];
    let mut instants: Vec<u64> = days
        .into_iter()
        .map(day)
        .flat_map(|row| [row.overnight_open, row.pre_open, row.open, row.close, row.after_close])
        .chain([XNYS_1.days().next().unwrap().overnight_open, XNYS_1.ends_at(), 20_702 * DAY])
        .flat_map(around)
        .collect();
    instants.sort_unstable();
    instants.dedup();
    let told = |at: u64| {
        let open = Hours::ALL.map(|hours| XNYS_1.market(at, hours).is_open());
        json!({ "at": at, "state": XNYS_1.state(at).as_str(), "open": open })
    };
    let cases: Vec<_> = instants.into_iter().map(|at| told(at).to_string()).collect();
    let files = [
        ("xnys_1.csv", XNYS_1.canonical_text()),
        ("xnys_1.json", format!("[\n{}\n]\n", cases.join(",\n"))),
    ];
    for (name, expected) in files {
        let path = folder.join(name);
        if std::env::var_os("EXITGAP_WRITE_VECTORS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &expected).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(found, expected, "{name}: set EXITGAP_WRITE_VECTORS to write it anew");
    }
}
