//! The clock, which is an argument.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// A time, and how far the monotonic clock had counted when it had certainly come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Since 1970-01-01T00:00:00Z.
    pub time: Duration,
    /// As [`Clock::counted_at`] counts.
    pub counted: Duration,
}

impl Moment {
    /// The time that has certainly come once the monotonic clock has counted to `counted`.
    pub fn time_at(&self, counted: Duration) -> Duration {
        self.time.saturating_add(counted.saturating_sub(self.counted))
    }
}

/// Tells the time and waits for it.
pub trait Clock: Send + Sync {
    /// The time since 1970-01-01T00:00:00Z. It may jump, also backwards.
    fn now(&self) -> Duration;

    /// Waits until this clock shows `time` or later.
    fn sleep_until(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// How far this process's monotonic clock had counted at `instant`, from a start of its own. Unlike the time, it never
    /// jumps, and it stands still while the machine sleeps.
    fn counted_at(&self, instant: Instant) -> Duration {
        instant.saturating_duration_since(process_start())
    }

    /// The moment from which it goes on, where that was given to it: such a clock does not show the machine's time.
    fn given_moment(&self) -> Option<Moment> {
        None
    }
}

/// The machine's clock, or for rehearsals one that shows another time, and may run faster.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    /// A time of the machine's clock, and what this one showed then.
    start: Duration,
    shown: Duration,
    /// How many times as fast it runs; at least 1.
    pace: u32,
    /// When it was given the time that it showed first.
    given: Option<Instant>,
}

impl Default for SystemClock {
    /// The machine's clock.
    fn default() -> Self {
        Self { start: Duration::ZERO, shown: Duration::ZERO, pace: 1, given: None }
    }
}

impl SystemClock {
    /// How long a jump of the machine's clock may go unnoticed.
    const NAP: Duration = Duration::from_secs(1);

    /// A clock that shows `time` now and goes on from there: for rehearsals.
    pub fn starting_at(time: Duration) -> Self {
        let given = Some(Instant::now());
        Self { start: Self::default().now(), shown: time, pace: 1, given }
    }

    /// The same time from now on, running so many times as fast as the machine's: for rehearsals.
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

    fn counted_at(&self, instant: Instant) -> Duration {
        let since = self.given.unwrap_or_else(process_start);
        instant.saturating_duration_since(since).saturating_mul(self.pace)
    }

    fn given_moment(&self) -> Option<Moment> {
        self.given.map(|_| Moment { time: self.shown, counted: Duration::ZERO })
    }
}

/// From when the monotonic clock counts: the first time that it was asked.
fn process_start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now)
}

/// A clock that stands still but for sleeping, which takes it forward at once: for tests
/// and for playing slots faster than they pass. Clones show the same time.
#[derive(Debug, Clone, Default)]
pub struct ManualClock {
    hands: Arc<Mutex<Hands>>,
}

/// What a manual clock shows, and how it came to it.
#[derive(Debug, Clone, Copy, Default)]
struct Hands {
    now: Duration,
    /// The time that it was given first.
    given: Duration,
    /// How far sleeping took it.
    slept: Duration,
}

impl ManualClock {
    /// A clock that shows `time`, since 1970-01-01T00:00:00Z.
    pub fn new(time: Duration) -> Self {
        let hands = Hands { now: time, given: time, slept: Duration::ZERO };
        Self { hands: Arc::new(Mutex::new(hands)) }
    }

    /// Sets the time, forwards or backwards: it jumps, and the monotonic clock does not.
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
        // Others, such as who asks for the end, get their turn.
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
