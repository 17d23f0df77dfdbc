//! Determines which time has certainly passed. A sealed slot cannot be undone, so a clock that is ahead must not seal
//! future slots: its time counts only once a chain's block, or this process's monotonic clock since such a block, has
//! reached it too.
//!
//! A node may show a block of the future. It confirms no time as long as another chain that produces blocks is at an
//! earlier one, nor a time that neither clock shows.

use std::time::Duration;

use exitgap_core::series::Slot;
use tokio::time::{Instant, timeout_at};

use super::clock::{Clock, Moment};
use super::slot_reading::ReadSlot;

/// How far two that show the right time may be apart: a chain's nodes are behind its newest block.
const APART: Duration = Duration::from_mins(5);

/// The latest moment whose time had certainly passed, if there is one.
#[derive(Debug, Default)]
pub struct ConfirmedTime {
    moment: Option<Moment>,
    /// The newest head of each chain in the slots before.
    heads: Vec<Option<Moment>>,
    /// The time of the newest sealed slot at the start. A chain that is behind it lags, and contradicts no later time.
    sealed: Duration,
}

/// What one chain shows of the time.
#[derive(Debug, Clone, Copy)]
struct Sighting {
    /// The time of its newest block, and how far the monotonic clock had counted when that was seen.
    moment: Moment,
    /// It produces blocks now: its time is not long past.
    is_live: bool,
}

impl ConfirmedTime {
    /// Starts counting, from the clock's start time if that was set and is not the machine's. `last` is the newest sealed
    /// slot, whose time was confirmed when it was sealed.
    pub fn begin(&mut self, clock: &impl Clock, last: Option<Slot>) {
        clock.counted_at(Instant::now());
        self.sealed = last.map(instant_of).unwrap_or_default();
        if let Some(given) = clock.given_moment() {
            self.note(clock, given);
        }
    }

    /// Takes the blocks that were seen while a slot was read. Where pools of a chain were read, a later block than the slot's
    /// was seen.
    pub fn note_reading(&mut self, clock: &impl Clock, read: &ReadSlot) {
        let counted = clock.counted_at(Instant::now());
        self.heads.resize(read.heads.len(), None);
        let mut sightings = Vec::new();
        for ((seen, block), before) in read.heads.iter().zip(&read.blocks).zip(&mut self.heads) {
            let head = seen.map(|heads| Moment {
                time: Duration::from_secs(heads.latest.timestamp),
                counted: clock.counted_at(heads.latest.at),
            });
            let went_on = head.zip(*before).is_some_and(|(head, before)| keeps_pace(before, head));
            let is_live = went_on || seen.is_some_and(|heads| heads.is_live);
            *before = head.or(*before);
            let read = block.map(|_| Moment { time: instant_of(read.slot), counted });
            let latest = head.into_iter().chain(read).max_by_key(|moment| moment.time);
            sightings.extend(latest.map(|moment| Sighting { moment, is_live }));
        }
        self.note_sightings(clock, &sightings);
    }

    /// Takes the times that chains show, each if more chains confirm it than contradict it.
    fn note_sightings(&mut self, clock: &impl Clock, sightings: &[Sighting]) {
        let (shown, has_counted) = (clock.now(), self.moment.is_some());
        let is_confirmed = |sighting: &&Sighting| {
            let time = sighting.moment.time.min(shown);
            // Time goes on by the monotonic clock: a block that the other clock does not show yet is not needed.
            if has_counted && sighting.moment.time > shown.saturating_add(APART) {
                return false;
            }
            let confirms = |other: &&Sighting| other.moment.time >= time;
            let contradicts = |other: &&Sighting| {
                let lags = other.moment.time < self.sealed;
                other.is_live && !lags && other.moment.time.saturating_add(APART) < time
            };
            sightings.iter().filter(confirms).count() > sightings.iter().filter(contradicts).count()
        };
        let confirmed: Vec<&Sighting> = sightings.iter().filter(is_confirmed).collect();
        for sighting in confirmed {
            self.note(clock, sighting.moment);
        }
    }

    /// Records a moment if it implies a later time than the previous one. A block's time may be wrong too, so a time
    /// later than the clock's does not count.
    fn note(&mut self, clock: &impl Clock, moment: Moment) {
        let time = moment.time.min(clock.now());
        let moment = Moment { time, ..moment };
        let now = clock.counted_at(Instant::now());
        if self.moment.is_none_or(|before| before.time_at(now) < moment.time_at(now)) {
            self.moment = Some(moment);
        }
    }

    /// Whether the slot's time has come; waits for it if it comes before `deadline`.
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

/// Whether a chain went on from one block to another about as time does: one that stands still does not, and neither does a
/// node that catches up.
fn keeps_pace(before: Moment, later: Moment) -> bool {
    let passed = later.counted.saturating_sub(before.counted);
    let shown = later.time.saturating_sub(before.time);
    !shown.is_zero() && shown <= 2 * passed + APART / 5
}

fn instant_of(slot: Slot) -> Duration {
    Duration::from_secs(slot.unix_s())
}

#[cfg(test)]
mod tests;
