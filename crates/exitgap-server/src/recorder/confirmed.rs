//! Which time has certainly come. A slot that is sealed cannot be taken back, so a clock that is
//! ahead must not seal slots that are still to come: its time counts only once a chain's block, or
//! this process's monotonic clock since such a block, has reached it too.

use std::time::Duration;

use exitgap_core::series::Slot;
use tokio::time::{Instant, timeout_at};

use super::clock::{Clock, Moment};
use super::slot_reading::ReadSlot;

/// The latest moment whose time had certainly come, where there was one.
#[derive(Debug, Default)]
pub struct ConfirmedTime {
    moment: Option<Moment>,
}

impl ConfirmedTime {
    /// Begins to count, from the time that a clock was given, where it does not show the machine's.
    pub fn begin(&mut self, clock: &impl Clock) {
        clock.counted_at(Instant::now());
        if let Some(given) = clock.given_moment() {
            self.note(clock, given);
        }
    }

    /// Takes the blocks that were seen while a slot was read. Where pools were read, a later block than the slot's was seen.
    pub fn note_reading(&mut self, clock: &impl Clock, read: &ReadSlot) {
        for block in &read.newest_blocks {
            let time = Duration::from_secs(block.timestamp);
            self.note(clock, Moment { time, counted: clock.counted_at(block.at) });
        }
        if read.entries.iter().any(|entry| entry.reading.is_ok()) {
            let counted = clock.counted_at(Instant::now());
            self.note(clock, Moment { time: instant_of(read.slot), counted });
        }
    }

    /// Takes a moment that leads to a later time than the one before it. A block's time may be wrong, too: no time counts
    /// that the clock does not show.
    fn note(&mut self, clock: &impl Clock, moment: Moment) {
        let time = moment.time.min(clock.now());
        let moment = Moment { time, ..moment };
        let now = clock.counted_at(Instant::now());
        if self.moment.is_none_or(|before| before.time_at(now) < moment.time_at(now)) {
            self.moment = Some(moment);
        }
    }

    /// Whether the slot's time has come. Where it comes before `deadline`, waits for it.
    pub async fn wait_for(&self, clock: &impl Clock, slot: Slot, deadline: Instant) -> bool {
        let Some(moment) = self.moment else { return false };
        loop {
            let now = Instant::now();
            let left = instant_of(slot).saturating_sub(moment.time_at(clock.counted_at(now)));
            if left.is_zero() {
                return true;
            }
            if left > deadline.saturating_duration_since(now) {
                return false;
            }
            let slept = timeout_at(deadline, clock.sleep_until(clock.now() + left)).await;
            if slept.is_err() {
                return false;
            }
        }
    }
}

fn instant_of(slot: Slot) -> Duration {
    Duration::from_secs(slot.unix_s())
}

#[cfg(test)]
mod tests;
