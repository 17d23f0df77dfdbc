//! The clock, which is an argument.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tells the time and waits for it.
pub trait Clock: Send + Sync {
    /// The time since 1970-01-01T00:00:00Z. It may jump, also backwards.
    fn now(&self) -> Duration;

    /// Waits until this clock shows `time` or later.
    fn sleep_until(&self, time: Duration) -> impl Future<Output = ()> + Send;
}

/// The machine's clock, or for rehearsals one that shows another time, and may run faster.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    /// A time of the machine's clock, and what this one showed then.
    start: Duration,
    shown: Duration,
    /// How many times as fast it runs; at least 1.
    pace: u32,
}

impl Default for SystemClock {
    /// The machine's clock.
    fn default() -> Self {
        Self { start: Duration::ZERO, shown: Duration::ZERO, pace: 1 }
    }
}

impl SystemClock {
    /// How long a jump of the machine's clock may go unnoticed.
    const NAP: Duration = Duration::from_secs(1);

    /// A clock that shows `time` now and goes on from there: for rehearsals.
    pub fn starting_at(time: Duration) -> Self {
        Self { start: Self::default().now(), shown: time, pace: 1 }
    }

    /// The same time from now on, running so many times as fast as the machine's: for rehearsals.
    #[must_use]
    pub fn at_pace(self, pace: u32) -> Self {
        let pace = pace.max(1);
        if pace == self.pace {
            return self;
        }
        Self { start: Self::default().now(), shown: self.now(), pace }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let passed = now.saturating_sub(self.start).saturating_mul(self.pace);
        // The machine's clock may jump back behind the start.
        let behind = self.start.saturating_sub(now).saturating_mul(self.pace);
        self.shown.saturating_add(passed).saturating_sub(behind)
    }

    async fn sleep_until(&self, time: Duration) {
        loop {
            let left = time.saturating_sub(self.now());
            if left.is_zero() {
                return;
            }
            // The last part of a millisecond is waited for whole.
            let left = (left / self.pace).max(Duration::from_millis(1));
            tokio::time::sleep(left.min(Self::NAP)).await;
        }
    }
}

/// A clock that stands still but for sleeping, which takes it forward at once: for tests
/// and for playing slots faster than they pass. Clones show the same time.
#[derive(Debug, Clone, Default)]
pub struct ManualClock {
    now: Arc<Mutex<Duration>>,
}

impl ManualClock {
    /// A clock that shows `time`, since 1970-01-01T00:00:00Z.
    pub fn new(time: Duration) -> Self {
        Self { now: Arc::new(Mutex::new(time)) }
    }

    /// Sets the time, forwards or backwards.
    pub fn set(&self, time: Duration) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn sleep_until(&self, time: Duration) {
        // Others, such as who asks for the end, get their turn.
        tokio::task::yield_now().await;
        if time > self.now() {
            self.set(time);
        }
    }
}
