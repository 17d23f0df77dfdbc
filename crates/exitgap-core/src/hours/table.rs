//! A calendar's table: one letter per day, and the five instants that a letter stands for.

use core::fmt::Write as _;

use crate::ids::TableHash;

/// Bytes of a stored week: seven letters and a line break.
const WEEK_BYTES: usize = 8;
const DAY_S: u64 = 86_400;

/// The New York Stock Exchange, from 17 August 2026 to the end of 2027. The other US stock exchanges have the same
/// trading days. `xnys.py` in this folder generated the weeks.
pub static XNYS_1: Table = Table {
    calendar: "XNYS",
    version: 1,
    as_of: "2026-11-23",
    hash: TableHash([
        0x3a, 0x3f, 0x0f, 0xe7, 0xfd, 0x3d, 0x54, 0xcb, 0xbc, 0xf9, 0xd6, 0x8b, 0xc5, 0xe4, 0xa3,
        0x61, 0x0e, 0xfc, 0x4b, 0x1b, 0xc8, 0xe6, 0x60, 0xee, 0x5e, 0x5b, 0xa5, 0xd9, 0x69, 0xbd,
        0xd0, 0x66,
    ]),
    first_monday: 20_682,
    weeks: include_bytes!("xnys_1.weeks"),
};

/// A calendar's trading days.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    calendar: &'static str,
    version: u32,
    as_of: &'static str,
    hash: TableHash,
    /// Days since 1970-01-01.
    first_monday: u64,
    /// One line per week, one letter per day from Monday on: see [`hours_of`].
    weeks: &'static [u8],
}

/// A trading day: five instants in seconds UTC, ascending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TradingDay {
    /// The exchange's date, in days since 1970-01-01.
    pub day: u64,
    /// When the overnight session begins, on the previous evening.
    pub overnight_open: u64,
    /// When the pre-market session begins.
    pub pre_open: u64,
    /// When the regular session begins.
    pub open: u64,
    /// When the regular session ends.
    pub close: u64,
    /// When after-hours trading ends.
    pub after_close: u64,
}

impl Table {
    /// The calendar's name, e.g. `XNYS`: the exchange's market identifier code (ISO 10383).
    pub fn calendar(&self) -> &'static str {
        self.calendar
    }

    /// The version of the calendar's table, counted from 1.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The date on which the facts were read, `YYYY-MM-DD`.
    pub fn as_of(&self) -> &'static str {
        self.as_of
    }

    /// The SHA-256 of [`Table::canonical_text`].
    pub fn hash(&self) -> TableHash {
        self.hash
    }

    /// When its last trading day ends, seconds UTC. From then on it returns `unknown`.
    pub fn ends_at(&self) -> u64 {
        let last = (0..self.length()).rev().find_map(|index| self.at(index));
        last.map_or(0, |day| day.after_close)
    }

    /// All trading days, ascending.
    pub fn days(&self) -> impl Iterator<Item = TradingDay> {
        (0..self.length()).filter_map(|index| self.at(index))
    }

    /// The table as ASCII text, from which its hash is computed: a line `XNYS@1 as of 2026-11-23`, a line with the five
    /// column names, and one line per trading day with its five instants as decimals, separated by commas. Each line
    /// ends with a line feed.
    pub fn canonical_text(&self) -> String {
        let mut text = format!("{}@{} as of {}\n", self.calendar, self.version, self.as_of);
        text.push_str("overnight_open,pre_open,open,close,after_close\n");
        for day in self.days() {
            let TradingDay { overnight_open, pre_open, open, close, after_close, .. } = day;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{overnight_open},{pre_open},{open},{close},{after_close}");
        }
        text
    }

    /// The last trading day that began at or before an instant, and the first that begins after it, if the table has
    /// one. `begins` selects the start of a day.
    pub(super) fn around(
        &self,
        at: u64,
        begins: impl Fn(&TradingDay) -> u64,
    ) -> Option<(TradingDay, Option<TradingDay>)> {
        // No day begins before midnight of its date.
        let today = (at / DAY_S).checked_sub(self.first_monday)?;
        let last =
            usize::try_from(today).map_or(self.length(), |today| (today + 1).min(self.length()));
        let (index, begun) = (0..last)
            .rev()
            .filter_map(|index| Some((index, self.at(index)?)))
            .find(|(_, day)| begins(day) <= at)?;
        let next = (index + 1..self.length()).find_map(|index| self.at(index));
        Some((begun, next))
    }

    /// Whether a date is a Saturday or a Sunday.
    pub(super) fn is_weekend(&self, day: u64) -> bool {
        day.saturating_sub(self.first_monday) % 7 >= 5
    }

    /// The number of days, trading days or not.
    fn length(&self) -> usize {
        self.weeks.len() / WEEK_BYTES * 7
    }

    /// The day at this index from the first Monday, if it is a trading day.
    fn at(&self, index: usize) -> Option<TradingDay> {
        let letter = *self.weeks.get(index / 7 * WEEK_BYTES + index % 7)?;
        let [overnight_open, pre_open, open, close, after_close] = hours_of(letter)?;
        let day = self.first_monday + index as u64;
        let instant = |minutes: u64| day * DAY_S + minutes * 60;
        Some(TradingDay {
            day,
            overnight_open: instant(overnight_open),
            pre_open: instant(pre_open),
            open: instant(open),
            close: instant(close),
            after_close: instant(after_close),
        })
    }
}

/// The hours that a letter stands for, in minutes after midnight UTC of the date: a trading day in New York's summer
/// time (`s`) or winter time (`w`), with an early close if upper case. `.` is not a trading day.
fn hours_of(letter: u8) -> Option<[u64; 5]> {
    match letter {
        b's' => Some([0, 480, 810, 1200, 1440]),
        b'S' => Some([0, 480, 810, 1020, 1260]),
        b'w' => Some([60, 540, 870, 1260, 1500]),
        b'W' => Some([60, 540, 870, 1080, 1320]),
        _ => None,
    }
}
