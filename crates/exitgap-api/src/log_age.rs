//! How old a log's newest slot is by the clock of the machine that reads it: a service that is frozen, or that shows an older
//! state of its log, does not say so itself.

use exitgap_core::series::{Slot, rfc3339};
use exitgap_core::tlog::Checkpoint;
use serde::Serialize;

/// Slots that may have begun and not be published yet: a recorder has one deadline and one repetition for each.
const SLOTS_IN_HAND: u64 = 2;

/// The age of a log's newest slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogAge {
    /// The newest slot, RFC 3339.
    pub newest_slot: String,
    /// Seconds since then, by this machine's clock.
    pub age_s: u64,
    /// Slots that should be published by now, and are not.
    pub overdue_slots: u64,
    /// The machine's clock, RFC 3339.
    pub clock: String,
}

impl LogAge {
    /// The age of a log up to this checkpoint; `None` if it is empty.
    pub fn of_log(checkpoint: &Checkpoint, now_s: u64) -> Option<Self> {
        let first = u64::from(checkpoint.origin.first_slot().number());
        let last = first.saturating_add(checkpoint.size.checked_sub(1)?);
        // A checkpoint may state any size.
        Some(Self::of_slot(Slot::new(last).unwrap_or(Slot::LAST), now_s))
    }

    /// The age of a log whose newest slot this is.
    pub fn of_slot(newest: Slot, now_s: u64) -> Self {
        let age_s = now_s.saturating_sub(newest.unix_s());
        Self {
            newest_slot: newest.to_string(),
            age_s,
            overdue_slots: (age_s / Slot::SECONDS).saturating_sub(SLOTS_IN_HAND),
            clock: rfc3339(now_s),
        }
    }

    /// The same in a sentence.
    pub fn sentence(&self) -> String {
        let Self { newest_slot, age_s, clock, .. } = self;
        let age = match age_s / 60 {
            0 => format!("{age_s} s"),
            minutes @ ..60 => format!("{minutes} min"),
            minutes @ ..2_880 => format!("{} h {} min", minutes / 60, minutes % 60),
            minutes => format!("{} days", minutes / 1_440),
        };
        format!("the newest slot, {newest_slot}, is {age} old by this machine's clock, {clock}")
    }

    /// A warning where slots are overdue.
    pub fn warning(&self) -> Option<String> {
        let slots = match self.overdue_slots {
            0 => return None,
            1 => "1 slot is".to_owned(),
            more => format!("{more} slots are"),
        };
        Some(format!(
            "{slots} overdue: the service stopped recording, or shows an older state of its log, unless this clock is wrong"
        ))
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::tlog::Hash;

    use super::*;

    fn age(size: u64, after_s: u64) -> Option<LogAge> {
        let origin = "exitgap.example/log/5957856".parse().unwrap();
        let checkpoint = Checkpoint { origin, size, root: Hash([0; 32]), extensions: Vec::new() };
        let newest = Slot::new(5_957_856 + size.saturating_sub(1)).unwrap();
        LogAge::of_log(&checkpoint, newest.unix_s() + after_s)
    }

    #[test]
    fn slots_are_overdue_once_the_recorder_had_time_for_them() {
        assert_eq!(age(0, 0), None);
        for (after_s, overdue, words) in [
            (0, 0, "is 0 s old"),
            (899, 0, "is 14 min old"),
            (900, 1, "is 15 min old"),
            (12_300, 39, "is 3 h 25 min old"),
            (864_000, 2_878, "is 10 days old"),
        ] {
            let age = age(12, after_s).unwrap();
            assert_eq!((age.age_s, age.overdue_slots), (after_s, overdue));
            assert!(age.sentence().contains(words), "{}", age.sentence());
            assert_eq!(age.warning().is_some(), overdue > 0);
        }
        assert!(age(12, 900).unwrap().warning().unwrap().starts_with("1 slot is overdue: "));
    }
}
