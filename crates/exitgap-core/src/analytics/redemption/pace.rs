//! How fast a queue is paid, computed from its recorded lengths.

use crate::U256;
use crate::analytics::stats::nearest_rank;
use crate::series::Slot;
use crate::stable_sort::sort;

/// The number of days over which a pace is measured.
const DAYS: u32 = 7;

/// The number of slots per day that must contain the length: half of them.
const LEAST_OF_DAY: u32 = Slot::PER_DAY / 2;

/// The amount that a queue is paid per day, in the token's smallest units, over the last seven days: minimum, median,
/// maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace(pub [U256; 3]);

impl Pace {
    /// The first of the seven days' slots that end with `last`; `None` if the series of slots began later.
    pub fn first_slot(last: Slot) -> Option<Slot> {
        let slots = DAYS * Slot::PER_DAY;
        Slot::new(u64::from(last.number()).checked_sub(u64::from(slots) - 1)?).ok()
    }

    /// The pace from the lengths in the recorded, unretracted slots of the seven days, ascending. For each day it sums
    /// the decreases of the length from one slot to the next. New entries to the queue hide payments between the same
    /// two slots, so the sum is a lower bound. `None` if on any day fewer than half of the slots have the length.
    pub fn from_lengths(lengths: &[(Slot, U256)], last: Slot) -> Option<Self> {
        let first = Self::first_slot(last)?;
        let mut days = [(0_u32, U256::ZERO); DAYS as usize];
        let mut before: Option<U256> = None;
        for (slot, length) in lengths.iter().filter(|(slot, _)| (first..=last).contains(slot)) {
            let day = (slot.number() - first.number()) / Slot::PER_DAY;
            let (told, paid) = days.get_mut(day as usize)?;
            *told += 1;
            let fell = before.map_or(U256::ZERO, |before| before.saturating_sub(*length));
            *paid = paid.saturating_add(fell);
            before = Some(*length);
        }
        if days.iter().any(|(told, _)| *told < LEAST_OF_DAY) {
            return None;
        }
        let mut paid = days.map(|(_, paid)| paid).to_vec();
        sort(&mut paid, Ord::cmp);
        Some(Self([*paid.first()?, nearest_rank(&paid, 50)?, *paid.last()?]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::made_up::slot;

    const WEEK: u32 = DAYS * Slot::PER_DAY;

    fn raw(number: u64) -> U256 {
        U256::from(number)
    }

    /// On each day this much is paid in its second slot, before someone joins the queue with a million.
    fn lengths(paid: [u64; 7]) -> Vec<(Slot, U256)> {
        let mut length = 1_000_000_000;
        let mut all = Vec::new();
        for at in 0..WEEK {
            let (day, of_day) = (at / Slot::PER_DAY, at % Slot::PER_DAY);
            length -= if of_day == 1 { paid[day as usize] } else { 0 };
            length += if of_day == 2 { 1_000_000 } else { 0 };
            all.push((slot(at), raw(length)));
        }
        all
    }

    #[test]
    fn a_pace_is_what_lengths_fell_by_a_day() {
        let all = lengths([5, 1, 9, 0, 7, 7, 3]);
        let last = slot(WEEK - 1);
        assert_eq!(Pace::first_slot(last), Some(slot(0)));
        assert_eq!(Pace::from_lengths(&all, last), Some(Pace([raw(0), raw(5), raw(9)])));
        // Lengths before the week do not count, nor does a decrease from them into the week.
        let mut longer = vec![(slot(0), raw(u64::MAX))];
        longer.extend(
            all.iter().map(|(at, length)| (slot(at.number() - slot(0).number() + 1), *length)),
        );
        assert_eq!(Pace::from_lengths(&longer, slot(WEEK)), Pace::from_lengths(&all, last));
    }

    #[test]
    fn a_fall_over_missing_slots_is_of_the_day_that_tells_it() {
        let mut all = lengths([0, 4, 4, 4, 4, 4, 4]);
        // The first slots of the second day are missing. Its third slot shows the decrease minus the entries.
        all.retain(|(at, _)| !(288..290).contains(&(at.number() - slot(0).number())));
        let Pace([least, middle, most]) = Pace::from_lengths(&all, slot(WEEK - 1)).unwrap();
        assert_eq!((least, middle, most), (raw(0), raw(4), raw(4)), "joined for more");
    }

    #[test]
    fn a_day_of_which_half_is_not_told_tells_no_pace() {
        let all = lengths([1; 7]);
        let without = |count: u32| {
            let mut all = all.clone();
            all.retain(|(at, _)| at.number() - slot(0).number() < WEEK - count);
            Pace::from_lengths(&all, slot(WEEK - 1))
        };
        assert!(without(144).is_some());
        assert_eq!(without(145), None);
        assert_eq!(Pace::from_lengths(&[], slot(WEEK - 1)), None);
        assert_eq!(Pace::from_lengths(&all, slot(WEEK - 2)), None, "before the series");
        // A length of any size gives a pace.
        let huge = all
            .iter()
            .enumerate()
            .map(|(at, (slot, _))| (*slot, if at % 2 == 0 { U256::MAX } else { U256::ZERO }));
        let Pace(paid) = Pace::from_lengths(&huge.collect::<Vec<_>>(), slot(WEEK - 1)).unwrap();
        assert_eq!(paid, [U256::MAX; 3]);
    }
}
