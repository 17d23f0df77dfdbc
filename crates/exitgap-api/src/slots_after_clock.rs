//! Slots of a log that are in the future according to the reader's clock. Either they were signed too early, or the
//! clock is slow.

use exitgap_core::series::{Slot, rfc3339};
use exitgap_core::tlog::Checkpoint;
use serde::Serialize;

/// Slots of a log that are later than the clock of the machine that verifies it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlotsAfterClock {
    /// How many there are.
    pub count: u64,
    /// The time of the first of them, RFC 3339.
    pub first_slot: String,
    /// The time of the last of them, RFC 3339.
    pub last_slot: String,
    /// The machine's clock, RFC 3339.
    pub clock: String,
}

impl SlotsAfterClock {
    /// Those of a log, up to this checkpoint; `None` if there are none.
    pub fn of_log(checkpoint: &Checkpoint, now_s: u64) -> Option<Self> {
        let first = checkpoint.origin.first_slot();
        let last = u64::from(first.number()).saturating_add(checkpoint.size.checked_sub(1)?);
        // A checkpoint can state any size.
        Self::among([first, Slot::new(last).unwrap_or(Slot::LAST)], now_s)
    }

    /// The slots after the clock within this range; `None` if there are none.
    pub fn among([first, last]: [Slot; 2], now_s: u64) -> Option<Self> {
        if last.unix_s() <= now_s {
            return None;
        }
        // If the clock shows a time before the series, all slots are later.
        let begun = Slot::at_or_before(now_s).ok();
        let first = begun.and_then(Slot::next).map_or(first, |next| next.max(first));
        Some(Self {
            count: u64::from(last.number() - first.number()) + 1,
            first_slot: first.to_string(),
            last_slot: last.to_string(),
            clock: rfc3339(now_s),
        })
    }

    /// A sentence with these values.
    pub fn sentence(&self) -> String {
        let Self { count, first_slot, last_slot, clock } = self;
        let which = if *count == 1 {
            format!("slot {first_slot} of the log is")
        } else {
            format!("{count} slots of the log, {first_slot} to {last_slot}, are")
        };
        format!(
            "{which} later than this machine's clock, {clock}: signed before their time, unless this clock is behind"
        )
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::tlog::{Hash, Origin};

    use super::*;

    fn slot(n: u32) -> Slot {
        Slot::new((Slot::FIRST.number() + n).into()).unwrap()
    }

    fn checkpoint(first: u32, size: u64) -> Checkpoint {
        let origin = Origin::new("exitgap.example/test", slot(first)).unwrap();
        Checkpoint { origin, size, root: Hash([0; 32]), extensions: Vec::new() }
    }

    #[test]
    fn slots_that_a_clock_six_hours_ahead_signed_are_counted_and_named() {
        let log = checkpoint(10, 30 + 72);
        let found = SlotsAfterClock::of_log(&log, slot(39).unix_s() + 299).unwrap();
        assert_eq!(found.count, 72);
        assert_eq!(found.first_slot, slot(40).to_string());
        assert_eq!(found.last_slot, slot(111).to_string());
        let words = found.sentence();
        for word in ["72 slots", &found.first_slot, &found.last_slot, "2026-08-22T03:19:59Z"] {
            assert!(words.contains(word), "{words}");
        }
    }

    #[test]
    fn a_slot_is_not_after_the_clock_from_its_instant_on() {
        let log = checkpoint(10, 3);
        assert_eq!(SlotsAfterClock::of_log(&log, slot(12).unix_s()), None);
        let found = SlotsAfterClock::of_log(&log, slot(12).unix_s() - 1).unwrap();
        assert_eq!((found.count, &found.first_slot), (1, &slot(12).to_string()));
        assert!(found.sentence().starts_with(&format!("slot {} of the log is", slot(12))));
        assert_eq!(SlotsAfterClock::of_log(&checkpoint(10, 0), 0), None);
    }

    #[test]
    fn a_clock_before_the_log_or_the_series_counts_all_of_its_slots() {
        for now_s in [0, slot(3).unix_s()] {
            let found = SlotsAfterClock::of_log(&checkpoint(10, 3), now_s).unwrap();
            assert_eq!((found.count, &found.first_slot), (3, &slot(10).to_string()));
        }
        // No slot is after the year 9999, whatever size a checkpoint states.
        let found = SlotsAfterClock::of_log(&checkpoint(0, u64::MAX), 0).unwrap();
        assert_eq!(found.last_slot, Slot::LAST.to_string());
    }
}
