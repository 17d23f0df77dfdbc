//! Counts slots, and finds the longest run of consecutive ones.

use crate::series::Slot;

/// Some slots of a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SlotRuns {
    /// The number of slots.
    pub slots: u32,
    /// The longest run of consecutive slots, the first among equals: its first slot and its length.
    pub longest: Option<(Slot, u32)>,
    /// The run that the newest slot belongs to.
    newest: Option<(Slot, u32)>,
}

impl SlotRuns {
    /// Adds a slot after those before.
    pub fn add(&mut self, slot: Slot) {
        self.slots += 1;
        let continued = self
            .newest
            .filter(|(from, slots)| slot.number().checked_sub(from.number()) == Some(*slots));
        let (from, slots) = continued.map_or((slot, 1), |(from, slots)| (from, slots + 1));
        if self.longest.is_none_or(|(_, longest)| slots > longest) {
            self.longest = Some((from, slots));
        }
        self.newest = Some((from, slots));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::made_up::slot;

    #[test]
    fn a_run_has_consecutive_slots_and_the_first_of_the_longest_counts() {
        let of = |slots: &[u32]| {
            let mut runs = SlotRuns::default();
            for at in slots {
                runs.add(slot(*at));
            }
            (runs.slots, runs.longest)
        };
        assert_eq!(of(&[]), (0, None));
        assert_eq!(of(&[4]), (1, Some((slot(4), 1))));
        assert_eq!(of(&[1, 2, 4, 5, 7]), (5, Some((slot(1), 2))));
        assert_eq!(of(&[1, 2, 4, 5, 6, 9]), (6, Some((slot(4), 3))));
    }
}
