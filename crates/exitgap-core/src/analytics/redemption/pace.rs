//! How fast a queue is paid, from its recorded lengths.

use crate::U256;
use crate::analytics::stats::nearest_rank;
use crate::series::Slot;
use crate::stable_sort::sort;

/// Days that a pace is of.
const DAYS: u32 = 7;

/// Slots of a day that must tell the length: half of them.
const LEAST_OF_DAY: u32 = Slot::PER_DAY / 2;

/// What is paid of a queue a day, in the token's smallest units, over the last seven days: the least, in the middle, the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace(pub [U256; 3]);

impl Pace {
    /// The first slot of the seven days that end with one; `None` where the series of slots had not begun.
    pub fn first_slot(last: Slot) -> Option<Slot> {
        let slots = DAYS * Slot::PER_DAY;
        Slot::new(u64::from(last.number()).checked_sub(u64::from(slots) - 1)?).ok()
    }

    /// The pace by the lengths of the standing slots of the seven days, ascending: of each day the sum of what the length fell
    /// from one to the next. Who joins hides what is paid between the same two slots, so that this is never more than what was
    /// paid. `None` where in some day less than half of the slots tell the length.
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

    /// Of each day so much is paid in its second slot, before somebody joins for a million.
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
        // What lies before the week does not count, nor what it fell by into it.
        let mut longer = vec![(slot(0), raw(u64::MAX))];
        longer.extend(
            all.iter().map(|(at, length)| (slot(at.number() - slot(0).number() + 1), *length)),
        );
        assert_eq!(Pace::from_lengths(&longer, slot(WEEK)), Pace::from_lengths(&all, last));
    }

    #[test]
    fn a_fall_over_missing_slots_is_of_the_day_that_tells_it() {
        let mut all = lengths([0, 4, 4, 4, 4, 4, 4]);
        // The first slots of the second day are missing: its third tells what fell, less what joined.
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
        // A length of any size has a pace.
        let huge = all
            .iter()
            .enumerate()
            .map(|(at, (slot, _))| (*slot, if at % 2 == 0 { U256::MAX } else { U256::ZERO }));
        let Pace(paid) = Pace::from_lengths(&huge.collect::<Vec<_>>(), slot(WEEK - 1)).unwrap();
        assert_eq!(paid, [U256::MAX; 3]);
    }
}
