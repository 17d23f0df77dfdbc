//! Days: the 288 slots from one midnight UTC to the next.

use core::fmt;
use core::str::FromStr;

use super::{Slot, unix_s_of};

/// A day of the series, written as its date: `2026-11-26`.
///
/// ```
/// use exitgap_core::series::{Day, Slot};
/// let day: Day = "2026-08-22".parse()?;
/// assert_eq!(day, Day::from_slot(Slot::FIRST));
/// assert_eq!(day.last().to_string(), "2026-08-22T23:55:00Z");
/// # Ok::<(), exitgap_core::series::NoDay>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Slot);

/// The text is not the date of a day of the series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a date such as 2026-11-26, from 2026-08-22 on")]
pub struct NoDay;

impl Day {
    /// The day that contains a slot.
    pub fn from_slot(slot: Slot) -> Self {
        let first = u64::from(slot.day()) * u64::from(Slot::PER_DAY);
        // The series begins and ends with whole days.
        Self(Slot::new(first).unwrap_or(Slot::FIRST))
    }

    /// Its first slot, at midnight.
    pub fn first(self) -> Slot {
        self.0
    }

    /// Its last slot, five minutes before the next midnight.
    pub fn last(self) -> Slot {
        let last = u64::from(self.0.number()) + u64::from(Slot::PER_DAY) - 1;
        Slot::new(last).unwrap_or(Slot::LAST)
    }

    /// The day `days` later; `None` if it is after the last day of the series.
    pub fn later(self, days: u64) -> Option<Self> {
        let slots = days.checked_mul(Slot::PER_DAY.into())?;
        Slot::new(u64::from(self.0.number()).checked_add(slots)?).ok().map(Self)
    }

    /// How many days it is after `earlier`; `None` if it is before.
    pub fn days_after(self, earlier: Self) -> Option<u64> {
        let slots = self.0.number().checked_sub(earlier.0.number())?;
        Some(u64::from(slots / Slot::PER_DAY))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = self.0.to_string();
        f.pad(instant.split_once('T').map_or("", |(date, _)| date))
    }
}

impl FromStr for Day {
    type Err = NoDay;

    fn from_str(date: &str) -> Result<Self, NoDay> {
        let midnight = unix_s_of(&format!("{date}T00:00:00Z")).map_err(|_| NoDay)?;
        let slot = Slot::at_or_before(midnight).map_err(|_| NoDay)?;
        let day = Self(slot);
        // Only the canonical form of a date is accepted.
        if day.to_string() == date { Ok(day) } else { Err(NoDay) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_its_date_and_has_288_slots() {
        let leap: Day = "2028-02-29".parse().unwrap();
        assert_eq!(leap.first().to_string(), "2028-02-29T00:00:00Z");
        assert_eq!(leap.last().to_string(), "2028-02-29T23:55:00Z");
        assert_eq!((Day::from_slot(leap.first()), Day::from_slot(leap.last())), (leap, leap));
        let next = leap.later(1).unwrap();
        assert_eq!(next.to_string(), "2028-03-01");
        assert_eq!((next.days_after(leap), leap.days_after(next)), (Some(1), None));
        let last = Day::from_slot(Slot::LAST);
        assert_eq!((last.to_string(), last.later(1)), ("9999-12-31".to_owned(), None));
        for wrong in ["2026-08-21", "2026-8-22", "2026-11-31", "2026-11-26T", "", "20687"] {
            assert_eq!(wrong.parse::<Day>(), Err(NoDay), "{wrong}");
        }
    }
}
