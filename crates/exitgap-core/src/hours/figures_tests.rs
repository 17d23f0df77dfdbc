use super::*;
use crate::hours::{Calendar, Hours, Market, TradingDay, XNYS_1};

const DAY: u64 = 86_400;

fn markets(hours: &[Hours]) -> Markets {
    Markets::new(
        hours.iter().map(|hours| Calendar::for_exchange("XNYS", *hours).unwrap()).collect(),
    )
}

fn day(date: u64) -> TradingDay {
    XNYS_1.days().find(|row| row.day == date).unwrap()
}

/// A slot every five minutes, deep during the regular session.
fn slots(from: u64, to: u64) -> Vec<RecordedSlot> {
    let regular = markets(&[Hours::Regular]);
    let slot = |at: u64| match regular.market(at) {
        Market::Open => RecordedSlot { at, depth_usd: Some(1_000), gap: Some(Percent(1)) },
        _ => RecordedSlot { at, depth_usd: Some(499), gap: None },
    };
    (from..to).step_by(300).map(slot).collect()
}

#[test]
fn four_weekends_are_enough_and_three_are_not() {
    let regular = markets(&[Hours::Regular]);
    // From a Monday on. The second weekend is that of Labor Day, and the fifth begins on 2026-09-25.
    let (monday, friday) = (day(20_689).open, day(20_721));
    for (to, have) in [(friday.close, 3), (friday.close + 1, 4)] {
        let closures = regular.closures(monday, to);
        let slots = slots(monday, to);
        let figures = hours_figures(&regular, &closures, &slots);
        let [night, weekend, holiday] = figures.closed;
        assert_eq!(weekend.kind, ClosureKind::Weekend);
        assert_eq!(weekend.have, have);
        assert_eq!(weekend.is_enough(), weekend.have >= 4);
        assert_eq!(weekend.thin.is_some(), weekend.is_enough());
        assert_eq!(weekend.spread.depth_usd_q50.is_some(), weekend.is_enough());
        assert_eq!((holiday.have, holiday.thin), (1, None));
        assert_eq!((night.thin, night.spread.depth_usd_lowest), (Some(true), Some(499)));
        assert_eq!((night.spread.gap_q50, night.spread.slots_refused), (None, night.spread.slots));
        assert_eq!(figures.open.gap_q95, Some(Percent(1)));
        let all = figures.closed.iter().map(|kind| kind.spread.slots).sum::<u32>();
        assert_eq!((all + figures.open.slots) as usize, slots.len());
        assert_eq!(figures.slots_unknown, 0);
    }
}

#[test]
fn half_of_the_open_depth_is_not_thin() {
    let regular = markets(&[Hours::Regular]);
    let (from, to) = (20_689 * DAY, 20_696 * DAY);
    let mut slots = slots(from, to);
    let thin = |slots: &[RecordedSlot]| {
        hours_figures(&regular, &regular.closures(from, to), slots).closed[0].thin
    };
    assert_eq!(thin(&slots), Some(true));
    for slot in &mut slots {
        slot.depth_usd = slot.depth_usd.map(|depth| depth.max(500));
    }
    assert_eq!(thin(&slots), Some(false));
}

#[test]
fn the_nearest_rank_is_one_of_the_values() {
    let values: Vec<u64> = (1..=20).collect();
    let q = |count: usize, percent| nearest_rank_among(&values[..count], count, percent);
    assert_eq!((q(0, 50), q(1, 50), q(1, 95)), (None, Some(1), Some(1)));
    assert_eq!((q(2, 50), q(3, 50), q(20, 50)), (Some(1), Some(2), Some(10)));
    assert_eq!((q(19, 95), q(20, 95)), (Some(19), Some(19)));
    // Two of twenty sales were refused. They count as the worst.
    assert_eq!(nearest_rank_among(&values[..18], 20, 95), None);
    assert_eq!(nearest_rank_among(&values[..18], 20, 90), Some(18));
}

#[test]
fn closures_follow_each_other_and_end_where_the_table_does() {
    for hours in [Hours::Regular, Hours::Extended, Hours::TwentyFourFive] {
        let markets = markets(&[hours]);
        let closures = markets.closures(20_689 * DAY, u64::MAX);
        assert!(closures.is_sorted_by(|a, b| a.to < b.from), "{hours:?}");
        for closed in &closures {
            assert!(markets.market(closed.from - 1).is_open() || closed.from <= 20_689 * DAY);
            assert!(
                !markets.market(closed.from).is_open() && !markets.market(closed.to - 1).is_open()
            );
            assert!(markets.market(closed.to).is_open());
            assert_eq!(markets.closure_at(closed.from), Some(*closed));
            assert_eq!(markets.closure_at(closed.to - 1), Some(*closed));
            assert_eq!(markets.closes_at(closed.from - 1).unwrap_or(closed.from), closed.from);
        }
        let nights = closures.iter().filter(|closed| closed.kind == ClosureKind::Night).count();
        assert_eq!(nights == 0, hours == Hours::TwentyFourFive);
        assert_eq!(markets.closes_at(XNYS_1.ends_at()), None);
    }
    assert!(markets(&[]).is_continuous());
    assert_eq!(markets(&[]).market(0), Market::Open);
    assert_eq!(markets(&[Hours::Continuous]).closures(20_689 * DAY, u64::MAX), []);
}

#[test]
fn of_two_markets_the_shorter_hours_count() {
    let both = markets(&[Hours::Extended, Hours::Regular]);
    let (monday, tuesday) = (day(20_689), day(20_690));
    let closed = both.closure_at(monday.after_close + 1).unwrap();
    assert_eq!(
        (closed.kind, closed.from, closed.to),
        (ClosureKind::Night, monday.close, tuesday.open)
    );
    assert_eq!(both.closure_at(monday.close), Some(closed));
    assert_eq!(both.closure_at(tuesday.open - 1), Some(closed));
    assert_eq!(both.closes_at(monday.open), Some(monday.close));
    let around = markets(&[Hours::TwentyFourFive]);
    // Monday to Friday is one session without a gap.
    assert_eq!(around.closes_at(monday.open), Some(day(20_693).after_close));
}

#[test]
fn slots_of_which_nothing_is_known_are_counted() {
    let regular = markets(&[Hours::Regular]);
    let end = XNYS_1.ends_at();
    let slots = slots(end - 3_600, end + 3_600);
    let closures = regular.closures(end - 3_600, end + 3_600);
    assert_eq!(closures, []);
    let figures = hours_figures(&regular, &closures, &slots);
    assert_eq!((figures.slots_unknown, figures.open), (24, Spread::default()));
}
