//! The clock, passed as an argument so that tests can replace it.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// A time, and a reading of the monotonic clock at which this time had certainly passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Since 1970-01-01T00:00:00Z.
    pub time: Duration,
    /// In the units of [`Clock::counted_at`].
    pub counted: Duration,
}

impl Moment {
    /// The time that has certainly passed once the monotonic clock reads `counted`.
    pub fn time_at(&self, counted: Duration) -> Duration {
        self.time.saturating_add(counted.saturating_sub(self.counted))
    }
}

/// Returns the time, and waits for a time.
pub trait Clock: Send + Sync {
    /// The time since 1970-01-01T00:00:00Z. It may jump, also backwards.
    fn now(&self) -> Duration;

    /// Waits until this clock shows `time` or later.
    fn sleep_until(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// The reading of this process's monotonic clock at `instant`, from an arbitrary start. Unlike the time, it never
    /// jumps, and it stops while the machine sleeps.
    fn counted_at(&self, instant: Instant) -> Duration {
        instant.saturating_duration_since(process_start())
    }

    /// The moment that was set as this clock's start: such a clock does not show the machine's time.
    fn given_moment(&self) -> Option<Moment> {
        None
    }
}

/// The machine's clock or, for rehearsals, a clock that shows another time and may run faster.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    /// A time of the machine's clock, and the time that this clock showed then.
    start: Duration,
    shown: Duration,
    /// Its speed relative to the machine's clock; at least 1.
    pace: u32,
    /// When its first time was set.
    given: Option<Instant>,
}

impl Default for SystemClock {
    /// The machine's clock.
    fn default() -> Self {
        Self { start: Duration::ZERO, shown: Duration::ZERO, pace: 1, given: None }
    }
}

impl SystemClock {
    /// Maximum delay until a jump of the machine's clock is noticed.
    const NAP: Duration = Duration::from_secs(1);

    /// A clock that shows `time` now and continues from there: for rehearsals.
    pub fn starting_at(time: Duration) -> Self {
        let given = Some(Instant::now());
        Self { start: Self::default().now(), shown: time, pace: 1, given }
    }

    /// The same time from now on, at a multiple of real speed: for rehearsals.
    #[must_use]
    pub fn at_pace(self, pace: u32) -> Self {
        let pace = pace.max(1);
        if pace == self.pace {
            return self;
        }
        let given = self.given.map(|_| Instant::now());
        Self { start: Self::default().now(), shown: self.now(), pace, given }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let passed = now.saturating_sub(self.start).saturating_mul(self.pace);
        // The machine's clock may jump back before the start.
        let behind = self.start.saturating_sub(now).saturating_mul(self.pace);
        self.shown.saturating_add(passed).saturating_sub(behind)
    }

    async fn sleep_until(&self, time: Duration) {
        loop {
            let left = time.saturating_sub(self.now());
            if left.is_zero() {
                return;
            }
            // Waits at least one full millisecond.
            let left = (left / self.pace).max(Duration::from_millis(1));
            tokio::time::sleep(left.min(Self::NAP)).await;
        }
    }

    fn counted_at(&self, instant: Instant) -> Duration {
        let since = self.given.unwrap_or_else(process_start);
        instant.saturating_duration_since(since).saturating_mul(self.pace)
    }

    fn given_moment(&self) -> Option<Moment> {
        self.given.map(|_| Moment { time: self.shown, counted: Duration::ZERO })
    }
}

/// The start of the monotonic count: the first time that it was read.
fn process_start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now)
}

/// A clock that advances only when a task sleeps, and then immediately: for tests, and for replaying slots faster than
/// real time. Clones show the same time.
#[derive(Debug, Clone, Default)]
pub struct ManualClock {
    hands: Arc<Mutex<Hands>>,
}

/// The time that a manual clock shows, and its parts.
#[derive(Debug, Clone, Copy, Default)]
struct Hands {
    now: Duration,
    /// The time that it was first set to.
    given: Duration,
    /// How far sleeping has advanced it.
    slept: Duration,
}

impl ManualClock {
    /// A clock that shows `time`, since 1970-01-01T00:00:00Z.
    pub fn new(time: Duration) -> Self {
        let hands = Hands { now: time, given: time, slept: Duration::ZERO };
        Self { hands: Arc::new(Mutex::new(hands)) }
    }

    /// Sets the time, forwards or backwards: the time jumps, the monotonic clock does not.
    pub fn set(&self, time: Duration) {
        self.hands().now = time;
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        self.hands().now
    }

    async fn sleep_until(&self, time: Duration) {
        // Lets other tasks run, such as one that requests the end.
        tokio::task::yield_now().await;
        let mut hands = self.hands();
        let left = time.saturating_sub(hands.now);
        hands.now += left;
        hands.slept += left;
    }

    fn counted_at(&self, _: Instant) -> Duration {
        self.hands().slept
    }

    fn given_moment(&self) -> Option<Moment> {
        Some(Moment { time: self.hands().given, counted: Duration::ZERO })
    }
}
