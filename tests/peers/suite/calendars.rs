//! The compiled calendars against a crate that knows the same exchanges by rules of its own.

use chrono::{DateTime, NaiveDate, Utc};
use exitgap_core::hours::{TradingDay, XNYS_1};
use finance_dates::calendar_for_exchange;

fn unix_s(at: DateTime<Utc>) -> u64 {
    at.timestamp().try_into().unwrap()
}

fn date(days: u64) -> NaiveDate {
    let at = i64::try_from(days * 86_400).unwrap();
    DateTime::from_timestamp(at, 0).unwrap().date_naive()
}

#[test]
fn every_day_of_the_table_is_another_crates() {
    let days: Vec<TradingDay> = XNYS_1.days().collect();
    let (first, last) = (days[0], days[days.len() - 1]);
    let other = calendar_for_exchange(XNYS_1.calendar()).unwrap();
    // A day that the table lacks fails here: the other crate has all from the first to the last.
    let sessions = other.sessions_between(date(first.day), date(last.day));
    assert_eq!(sessions.len(), days.len());
    for (day, (open, close)) in days.iter().zip(sessions) {
        assert_eq!((day.open, day.close), (unix_s(open), unix_s(close)), "{}", date(day.day));
    }

    let windows = other.extended_sessions_between(date(first.day), date(last.day));
    let named = |name| windows.iter().filter(move |(found, ..)| *found == name);
    assert_eq!((named("pre_open").count(), named("after_close").count()), (days.len(), days.len()));
    let mut early = 0;
    for ((day, (_, pre_open, open)), (_, close, after_close)) in
        days.iter().zip(named("pre_open")).zip(named("after_close"))
    {
        assert_eq!((day.pre_open, day.open), (unix_s(*pre_open), unix_s(*open)));
        assert_eq!(day.close, unix_s(*close));
        // After an early closing ours ends at 17:00 in New York; the other crate knows no such rule.
        let ours_ends_earlier_s = unix_s(*after_close) - day.after_close;
        let closes_early = day.close - day.open < 6 * 3_600;
        assert_eq!(
            ours_ends_earlier_s,
            if closes_early { 3 * 3_600 } else { 0 },
            "{}",
            date(day.day)
        );
        early += u32::from(closes_early);
    }
    assert_eq!(early, 3);
}
