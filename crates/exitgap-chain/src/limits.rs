//! The limits of a reader's requests to its nodes.

use core::time::Duration;
use std::hash::{BuildHasher, RandomState};

use tokio::time::Instant;

/// The most contracts, or pools of a manager, that one `eth_getLogs` request names. Nodes refuse larger requests.
pub(crate) const MAX_NAMED: usize = 1_000;

/// Limits on time, size and number of requests. The defaults suit public nodes. Tests use very short durations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The time for one whole exchange, including the connection.
    pub request_timeout: Duration,
    /// How many times a request is tried with all nodes of the chain if their answers are wrong. At least 1.
    pub rounds: u32,
    /// The same if a node is unavailable or refuses because of too many requests, which is temporary; within the
    /// deadline. At least 1.
    pub outage_rounds: u32,
    /// The pause before the second round. It doubles for each further round. Each pause is shortened at random by up to
    /// a half, so that recorders that were refused together do not retry together.
    pub backoff_first: Duration,
    /// The longest pause between rounds, except for waits that nodes request.
    pub backoff_most: Duration,
    /// What waited so long for an answer when the deadline passed was too much, as far as is known.
    pub cut_off_after: Duration,
    /// The longest wait that a node can request with `Retry-After`.
    pub retry_after_most: Duration,
    /// The maximum size of an answer, in bytes.
    pub answer_bytes_most: usize,
    /// The number of calls packed into one Multicall3 call, at least 1.
    pub calls_per_multicall: usize,
    /// The expected size of all answers in one Multicall3 call, in bytes before hexadecimal encoding.
    pub multicall_answer_bytes: usize,
    /// Parallel requests per chain. At least 1.
    pub concurrency: usize,
    /// How many times a chain without a block after the slot is asked again, all nodes each time.
    pub lag_polls: u32,
    /// The pause before asking again for a later block.
    pub lag_pause: Duration,
    /// The number of blocks in one `eth_getLogs` request. At least 1.
    pub log_blocks: u64,
    /// `eth_getLogs` requests of one slot and filter (one names up to 1,000 pools), besides those that isolate a pool
    /// whose logs are refused; where more are needed, ticks are read again in full.
    pub log_requests: u64,
    /// The number of slots between full readings of a pool's ticks. Each is compared with the ticks that were updated
    /// through logs.
    pub full_read_slots: u32,
    /// Slots after a full reading at which the pool is missing unless the next one succeeds: how
    /// long ticks are used that only logs were followed for.
    pub full_read_slots_most: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(10),
            rounds: 3,
            outage_rounds: 32,
            backoff_first: Duration::from_millis(250),
            backoff_most: Duration::from_secs(4),
            cut_off_after: Duration::from_secs(2),
            retry_after_most: Duration::from_secs(30),
            answer_bytes_most: 8 << 20,
            calls_per_multicall: 2_000,
            multicall_answer_bytes: 512 << 10,
            concurrency: 4,
            lag_polls: 10,
            lag_pause: Duration::from_secs(2),
            log_blocks: 2_000,
            log_requests: 8,
            full_read_slots: 11,
            full_read_slots_most: 12,
        }
    }
}

impl Limits {
    /// The limits for an answer that a caller waits for. An unavailable node is given up after about a second instead
    /// of the time of a whole slot.
    pub fn for_one_answer() -> Self {
        let limits = Self::default();
        Self { outage_rounds: limits.rounds, ..limits }
    }

    /// The pause after `rounds` rounds: a random time between half of the doubled pause and all of it.
    pub(crate) fn pause(&self, rounds: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(rounds.saturating_sub(1));
        let pause = self.backoff_first.saturating_mul(doubled).min(self.backoff_most);
        // A new hasher has random keys. The quality of the randomness does not matter here.
        let random = RandomState::new().hash_one(rounds);
        let half = pause / 2;
        half + Duration::from_nanos(random % u64::try_from(half.as_nanos()).unwrap_or(1).max(1))
    }
}

/// Until when a second node is asked, or trials are made: a quarter of the time, since neither may use up that of reading.
pub(crate) fn second_deadline(deadline: Instant) -> Instant {
    let now = Instant::now();
    now + deadline.saturating_duration_since(now) / 4
}

/// The deadline for logs: a third of the time, so that ticks can be read in full if the logs do not arrive.
pub(crate) fn logs_deadline(deadline: Instant) -> Instant {
    let now = Instant::now();
    now + deadline.saturating_duration_since(now) / 3
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let limits = Limits {
            backoff_first: Duration::from_millis(100),
            backoff_most: Duration::from_millis(350),
            ..Limits::default()
        };
        for (rounds, longest_ms) in [(1, 100), (2, 200), (3, 350), (40, 350)] {
            let pauses: BTreeSet<u128> =
                (0..64).map(|_| limits.pause(rounds).as_micros()).collect();
            let range = longest_ms * 500..=longest_ms * 1_000;
            assert!(pauses.iter().all(|pause| range.contains(pause)), "{rounds}: {pauses:?}");
            assert!(pauses.len() > 32, "they differ: {pauses:?}");
        }
    }
}
