//! A clock that jumps from slot to slot, and runs like the machine's within one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use exitgap_core::series::Slot;
use exitgap_server::recorder::{Clock, Moment};
use tokio::sync::watch;
use tokio::time::Instant;

/// The clock of a recorder that is driven slot by slot. Clones show the same time.
#[derive(Debug, Clone)]
pub struct SlotClock {
    hands: Arc<Mutex<Hands>>,
    /// The clock may jump to this time, and not beyond.
    may_reach: watch::Sender<Duration>,
    /// What the recorder waits for, once nothing is left to do in its slot.
    waits_for: watch::Sender<Duration>,
}

#[derive(Debug, Clone, Copy)]
struct Hands {
    /// A time that it showed, and when.
    shown: Duration,
    at: Instant,
    /// Its first time.
    begun: Duration,
}

/// How often a recorder that waits looks at the clock.
const NAP: Duration = Duration::from_millis(20);

impl SlotClock {
    /// A clock that shows the instant of a slot.
    pub fn new(slot: Slot) -> Self {
        let begun = instant_of(slot);
        let hands = Hands { shown: begun, at: Instant::now(), begun };
        Self {
            hands: Arc::new(Mutex::new(hands)),
            may_reach: watch::Sender::new(begun),
            waits_for: watch::Sender::new(Duration::ZERO),
        }
    }

    /// Lets the time go on into a slot, at once.
    pub fn go_to(&self, slot: Slot) {
        self.may_reach.send_replace(instant_of(slot) + Duration::from_secs(Slot::SECONDS / 2));
    }

    /// Shows the instant of a slot.
    pub fn set(&self, slot: Slot) {
        self.jump(instant_of(slot));
    }

    /// Returns once the recorder waits for a later slot than this one.
    pub async fn settled(&self, slot: Slot) {
        let end = instant_of(slot) + Duration::from_secs(Slot::SECONDS);
        let mut waits_for = self.waits_for.subscribe();
        // The sender is in `self`.
        let _ = waits_for.wait_for(|time| *time >= end).await;
    }

    /// How long after the instant of a slot it is.
    pub fn since(&self, slot: Slot) -> Duration {
        self.now().saturating_sub(instant_of(slot))
    }

    fn jump(&self, time: Duration) {
        let mut hands = self.hands();
        (hands.shown, hands.at) = (time, Instant::now());
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hands {
    fn time_at(&self, instant: Instant) -> Duration {
        let before = self.at.saturating_duration_since(instant);
        (self.shown + instant.saturating_duration_since(self.at)).saturating_sub(before)
    }
}

impl Clock for SlotClock {
    fn now(&self) -> Duration {
        self.hands().time_at(Instant::now())
    }

    async fn sleep_until(&self, time: Duration) {
        loop {
            if self.now() >= time {
                return;
            }
            if *self.may_reach.borrow() >= time {
                return self.jump(time);
            }
            self.waits_for.send_replace(time);
            tokio::time::sleep(NAP).await;
        }
    }

    fn counted_at(&self, instant: Instant) -> Duration {
        let hands = self.hands();
        hands.time_at(instant).saturating_sub(hands.begun)
    }

    fn given_moment(&self) -> Option<Moment> {
        Some(Moment { time: self.hands().begun, counted: Duration::ZERO })
    }
}

fn instant_of(slot: Slot) -> Duration {
    Duration::from_secs(slot.unix_s())
}
