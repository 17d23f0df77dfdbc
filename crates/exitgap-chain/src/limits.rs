//! The bounds of everything a reader asks of its nodes.

use core::time::Duration;

/// Bounds on time, size and number of requests. The defaults suit public nodes; tests make the
/// durations tiny.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Time for one whole exchange, connecting included.
    pub request_timeout: Duration,
    /// How often a request goes round all nodes of the chain. At least 1.
    pub rounds: u32,
    /// Pause before the second round; it doubles for each further one. Without jitter: one
    /// recorder asks a few nodes, so there is no herd to spread.
    pub backoff_first: Duration,
    /// The longest pause between rounds.
    pub backoff_most: Duration,
    /// Bytes read of one answer.
    pub answer_bytes_most: usize,
    /// Calls packed into one Multicall3 call. At least 1.
    pub calls_per_multicall: usize,
    /// Expected bytes of answers packed into one Multicall3 call, before hexadecimal.
    pub multicall_answer_bytes: usize,
    /// Requests in flight at once, per chain. At least 1.
    pub concurrency: usize,
    /// How often a chain without a block after the slot is asked again, all nodes each time.
    pub lag_polls: u32,
    /// Pause before asking again for a later block.
    pub lag_pause: Duration,
    /// Blocks of one `eth_getLogs` request. At least 1.
    pub log_blocks: u64,
    /// `eth_getLogs` requests of one slot; where more are needed, ticks are read again in full.
    pub log_requests: u64,
    /// Slots from one full reading of a pool's ticks to the next, which is compared.
    pub full_read_slots: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(10),
            rounds: 3,
            backoff_first: Duration::from_millis(250),
            backoff_most: Duration::from_secs(4),
            answer_bytes_most: 8 << 20,
            calls_per_multicall: 1_000,
            multicall_answer_bytes: 256 << 10,
            concurrency: 4,
            lag_polls: 10,
            lag_pause: Duration::from_secs(2),
            log_blocks: 2_000,
            log_requests: 8,
            full_read_slots: 288,
        }
    }
}

impl Limits {
    /// The pause before `round` (the first is 0 and has none).
    pub(crate) fn backoff(&self, round: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(round.saturating_sub(1));
        self.backoff_first.saturating_mul(doubled).min(self.backoff_most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let limits = Limits {
            backoff_first: Duration::from_millis(100),
            backoff_most: Duration::from_millis(350),
            ..Limits::default()
        };
        let pauses = [1, 2, 3, 40].map(|round| limits.backoff(round).as_millis());
        assert_eq!(pauses, [100, 200, 350, 350]);
    }
}
