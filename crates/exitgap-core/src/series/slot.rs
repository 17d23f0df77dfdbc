//! Slots: the five-minute instants at which every pool is recorded.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::json::{Json, Wire};

/// Slot `n` is the instant `n × 300` seconds after 1970-01-01T00:00:00Z.
///
/// The series begins at 2026-08-22T00:00:00Z, [`Slot::FIRST`]; an earlier slot
/// cannot be made, so no figure can claim to be older.
///
/// ```
/// use exitgap_core::series::Slot;
/// let slot = Slot::at_or_before(1_787_356_800 + 299)?;
/// assert_eq!(slot, Slot::FIRST);
/// assert_eq!(slot.to_string(), "2026-08-22T00:00:00Z");
/// # Ok::<(), exitgap_core::series::SlotError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Slot(u32);

/// Why a number or an instant is not a slot of the series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SlotError {
    /// The instant is before 2026-08-22T00:00:00Z.
    #[error("slot {slot} is before the start of the series (slot {first}, 2026-08-22T00:00:00Z)", first = Slot::FIRST.0)]
    BeforeSeries {
        /// The requested slot.
        slot: u64,
    },
    /// The instant is after 9999-12-31T23:55:00Z.
    #[error("slot {slot} is after the year 9999")]
    TooLate {
        /// The requested slot.
        slot: u64,
    },
}

impl Slot {
    /// Seconds from one slot to the next.
    pub const SECONDS: u64 = 300;
    /// Slots of one day.
    pub const PER_DAY: u32 = 288;
    /// The first slot of the series: 2026-08-22T00:00:00Z.
    pub const FIRST: Self = Self(5_957_856);
    /// The last slot of the year 9999, so that every slot has an RFC 3339 instant.
    pub const LAST: Self = Self(844_674_335);

    /// Slot `number`.
    pub fn new(number: u64) -> Result<Self, SlotError> {
        if number < u64::from(Self::FIRST.0) {
            return Err(SlotError::BeforeSeries { slot: number });
        }
        u32::try_from(number)
            .ok()
            .filter(|n| *n <= Self::LAST.0)
            .map(Self)
            .ok_or(SlotError::TooLate { slot: number })
    }

    /// The last slot whose instant is at or before `unix_s` (seconds UTC).
    pub fn at_or_before(unix_s: u64) -> Result<Self, SlotError> {
        Self::new(unix_s / Self::SECONDS)
    }

    /// The slot's number.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The slot's instant in seconds UTC.
    pub fn unix_s(self) -> u64 {
        u64::from(self.0) * Self::SECONDS
    }

    /// Its day, as days since 1970-01-01 UTC.
    pub fn day(self) -> u32 {
        self.0 / Self::PER_DAY
    }

    /// The following slot, or `None` after [`Slot::LAST`].
    pub fn next(self) -> Option<Self> {
        (self < Self::LAST).then(|| Self(self.0 + 1))
    }

    /// The preceding slot, or `None` before [`Slot::FIRST`].
    pub fn previous(self) -> Option<Self> {
        (self > Self::FIRST).then(|| Self(self.0 - 1))
    }
}

impl TryFrom<u32> for Slot {
    type Error = SlotError;
    fn try_from(number: u32) -> Result<Self, SlotError> {
        Self::new(number.into())
    }
}

impl From<Slot> for u32 {
    fn from(slot: Slot) -> Self {
        slot.0
    }
}

/// Writes the slot's instant as RFC 3339 in UTC, e.g. `2026-08-22T00:05:00Z`.
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&rfc3339(self.unix_s()))
    }
}

impl Wire for Slot {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        Self::try_from(u32::from_json(json)?).map_err(|error| error.to_string())
    }

    fn to_json(&self) -> Json<'_> {
        Json::Number(self.number().to_string().into())
    }
}

/// Writes an instant in seconds UTC as RFC 3339, e.g. `2026-08-22T00:00:12Z`. An instant after the year 9999 becomes
/// its last second.
pub fn rfc3339(unix_s: u64) -> String {
    const SECONDS_PER_DAY: u64 = 86_400;
    let unix_s = unix_s.min(Slot::LAST.unix_s() + Slot::SECONDS - 1);
    let (day_number, second) = (unix_s / SECONDS_PER_DAY, unix_s % SECONDS_PER_DAY);
    // The year 9999 has day numbers below 3 million.
    let (year, month, day) = civil_date(u32::try_from(day_number).unwrap_or(0));
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

/// The proleptic Gregorian date of a day counted from 1970-01-01. Works in
/// 400-year eras that begin on 1 March, so that the leap day comes last.
fn civil_date(days: u32) -> (u32, u32, u32) {
    const DAYS_0000_03_01_TO_1970: u32 = 719_468;
    const DAYS_PER_ERA: u32 = 146_097;
    let shifted = days + DAYS_0000_03_01_TO_1970;
    let (era, day_of_era) = (shifted / DAYS_PER_ERA, shifted % DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u32::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_begins_on_22_august_2026_and_not_before() {
        assert_eq!(Slot::FIRST.to_string(), "2026-08-22T00:00:00Z");
        assert_eq!(
            Slot::at_or_before(1_787_356_799),
            Err(SlotError::BeforeSeries { slot: 5_957_855 })
        );
        assert_eq!(Slot::LAST.to_string(), "9999-12-31T23:55:00Z");
        assert_eq!(Slot::new(844_674_336), Err(SlotError::TooLate { slot: 844_674_336 }));
        assert!(serde_json::from_str::<Slot>("5957855").is_err());
    }

    #[test]
    fn instants_cross_months_and_leap_days() {
        let slot = |unix_s| Slot::at_or_before(unix_s).unwrap().to_string();
        assert_eq!(slot(1_835_394_300), "2028-02-28T23:45:00Z");
        assert_eq!(slot(1_835_480_400), "2028-02-29T23:40:00Z");
        assert_eq!(slot(1_798_761_599), "2026-12-31T23:55:00Z");
        assert_eq!(slot(1_798_761_600), "2027-01-01T00:00:00Z");
    }
}
