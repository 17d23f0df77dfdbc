//! Medians of measuring rounds.

use crate::effort::Effort;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long one batch of repetitions should last: long enough for the clock's resolution, short enough that peers
/// alternate often.
pub const BATCH: Effort<Duration> =
    Effort::new(Duration::from_millis(15), Duration::from_micros(500));

/// Number of rounds for the median.
pub const ROUNDS: Effort<usize> = Effort::new(11, 1);

/// Number of repetitions that fill a batch, given the time of one.
pub fn repeats(one: Duration) -> u32 {
    let fitting = BATCH.get().as_nanos() / one.as_nanos().max(1);
    u32::try_from(fitting).unwrap_or(u32::MAX).max(1)
}

/// The median by nearest rank: of an even number of values, the lower of the middle two.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

/// Nanoseconds per call of `work`: the median over the rounds.
pub fn nanoseconds<T>(mut work: impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    let repeats = repeats(start.elapsed());
    let rounds = (0..ROUNDS.get()).map(|_| {
        let start = Instant::now();
        for _ in 0..repeats {
            black_box(work());
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(repeats)
    });
    median(rounds.collect())
}
