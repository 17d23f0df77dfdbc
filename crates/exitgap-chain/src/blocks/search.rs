//! The search for the last block at or before an instant, without I/O.
//!
//! Two headers enclose the result: `low`, at or before the instant, and `high`, after it. The next number to read is
//! estimated from the block time between them. Every third read halves the interval instead, so that irregular block
//! times cost more reads but never a wrong answer.

use exitgap_core::series::MissingReason;

use super::Header;

/// A search in progress.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    instant: u64,
    /// The chain's head at the start of the search. It is after the instant.
    head: Header,
    low: Option<Header>,
    high: Header,
    reads: u32,
}

/// The next step of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Read the header of this number and [`Search::learn`] it.
    Read(u64),
    /// The last block at or before the instant. The next block is after the instant and names this one as its parent.
    Found(Header),
}

/// Why a search fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SearchError {
    #[error("block {number} has a parent other than block {}", number - 1)]
    NotLinked { number: u64 },
    #[error("block {number} has timestamp {timestamp}, outside the timestamps of its neighbours")]
    TimeOutOfOrder { number: u64, timestamp: u64 },
    #[error("the chain's first block is after {instant}")]
    BeforeChain { instant: u64 },
    #[error("the search did not finish after {reads} headers")]
    TooManyReads { reads: u32 },
}

impl SearchError {
    /// The missing reason for a slot whose search failed for this cause.
    pub(crate) fn reason(self) -> MissingReason {
        match self {
            Self::NotLinked { .. } | Self::TimeOutOfOrder { .. } => {
                MissingReason::RpcResponseInvalid
            }
            Self::BeforeChain { .. } | Self::TooManyReads { .. } => MissingReason::BlockUnavailable,
        }
    }
}

impl Search {
    /// The maximum number of headers that are read, not counting the head.
    pub(crate) const MAX_READS: u32 = 40;
    /// The size of the first step back if the block time is unknown.
    const FIRST_STEP: u64 = 16;

    /// Starts from the chain's head, which must be after `instant`, and from a known earlier header, if any. A known
    /// header that is not earlier than the head, or not at or before the instant, is ignored.
    pub(crate) fn new(instant: u64, head: Header, known: Option<Header>) -> Self {
        let low = known.filter(|known| {
            known.block.number < head.block.number && known.block.timestamp <= instant
        });
        Self { instant, head, low, high: head, reads: 0 }
    }

    /// The next step.
    pub(crate) fn next(&self) -> Result<Step, SearchError> {
        let high = self.high.block;
        let Some(low) = self.low else {
            if high.number == 0 {
                return Err(SearchError::BeforeChain { instant: self.instant });
            }
            return self.plan_read(high.number.saturating_sub(self.step_back()));
        };
        let gap = high.number - low.block.number;
        if gap == 1 {
            if self.high.parent != low.block.hash {
                return Err(SearchError::NotLinked { number: high.number });
            }
            return Ok(Step::Found(low));
        }
        let guess = if self.reads % 3 == 2 {
            gap / 2
        } else {
            let elapsed = u128::from(self.instant - low.block.timestamp);
            // The block after the instant has a later timestamp than the one before it.
            let span = u128::from(high.timestamp - low.block.timestamp);
            u64::try_from(elapsed * u128::from(gap) / span).unwrap_or(gap)
        };
        self.plan_read(low.block.number + guess.clamp(1, gap - 1))
    }

    /// Adds the header that [`Search::next`] requested.
    pub(crate) fn learn(&mut self, header: Header) -> Result<(), SearchError> {
        let block = header.block;
        let floor = self.low.map_or(0, |low| low.block.timestamp);
        if !(floor..=self.high.block.timestamp).contains(&block.timestamp) {
            let (number, timestamp) = (block.number, block.timestamp);
            return Err(SearchError::TimeOutOfOrder { number, timestamp });
        }
        self.reads += 1;
        if block.timestamp <= self.instant {
            self.low = Some(header);
        } else {
            self.high = header;
        }
        Ok(())
    }

    fn plan_read(&self, number: u64) -> Result<Step, SearchError> {
        if self.reads >= Self::MAX_READS {
            return Err(SearchError::TooManyReads { reads: self.reads });
        }
        Ok(Step::Read(number))
    }

    /// How far to go back from `high` to get before the instant: according to the block time seen so far plus an
    /// eighth, and at least twice as far with every read.
    fn step_back(&self) -> u64 {
        let least = Self::FIRST_STEP << self.reads.min(32);
        let seconds = self.head.block.timestamp - self.high.block.timestamp;
        if seconds == 0 {
            return least;
        }
        let blocks = u128::from(self.head.block.number - self.high.block.number);
        let missing = u128::from(self.high.block.timestamp - self.instant);
        let estimate = missing * blocks / u128::from(seconds);
        u64::try_from(estimate + estimate / 8 + 1).unwrap_or(u64::MAX).max(least)
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::ids::BlockHash;
    use exitgap_core::snapshot::BlockRef;
    use proptest::prelude::*;

    use super::*;

    fn hash(number: u64) -> BlockHash {
        let mut bytes = [1; 32];
        bytes[..8].copy_from_slice(&number.to_be_bytes());
        BlockHash(bytes)
    }

    /// A chain with these timestamps, starting at number 0.
    fn header(chain: &[u64], number: u64) -> Header {
        let timestamp = chain[usize::try_from(number).unwrap()];
        Header {
            block: BlockRef { hash: hash(number), number, timestamp },
            parent: hash(number.wrapping_sub(1)),
            recomputed: true,
        }
    }

    /// Runs a search to its end. Returns the number found and the number of reads.
    fn find(chain: &[u64], instant: u64, known: Option<u64>) -> Result<(u64, u32), SearchError> {
        let head = header(chain, chain.len() as u64 - 1);
        let mut search = Search::new(instant, head, known.map(|number| header(chain, number)));
        loop {
            match search.next()? {
                Step::Found(found) => return Ok((found.block.number, search.reads)),
                Step::Read(number) => search.learn(header(chain, number))?,
            }
        }
    }

    #[test]
    fn the_next_slot_of_a_regular_chain_takes_two_reads() {
        // A block every twelve seconds, with one block one second before each slot's instant.
        let chain: Vec<u64> = (0..2_000).map(|number| 299 + 12 * number).collect();
        for slot in 1..70_u64 {
            let (instant, last) = (300 + 300 * slot, 25 * slot);
            let head = usize::try_from(last + 3).unwrap();
            assert_eq!(find(&chain[..=head], instant, Some(last - 25)), Ok((last, 2)));
        }
    }

    #[test]
    fn a_first_search_finds_its_way_back() {
        let quarter_seconds: Vec<u64> = (0..200_000).map(|number| 1_000 + number / 4).collect();
        let (number, reads) = find(&quarter_seconds, 40_000, None).unwrap();
        assert_eq!(quarter_seconds[usize::try_from(number).unwrap()], 40_000);
        assert_eq!(number, 156_003, "the last of four blocks with the instant's timestamp");
        assert!(reads <= 20, "{reads}");
    }

    #[test]
    fn contradictions_are_named() {
        let chain = [10, 20, 30, 40, 50];
        let head = header(&chain, 4);
        let mut foreign = header(&chain, 3);
        foreign.block.hash = BlockHash([9; 32]);
        let search = Search::new(45, head, Some(foreign));
        assert_eq!(search.next(), Err(SearchError::NotLinked { number: 4 }));

        let mut search = Search::new(25, head, Some(header(&chain, 0)));
        let mut late = header(&chain, 2);
        late.block.timestamp = 60;
        let error = SearchError::TimeOutOfOrder { number: 2, timestamp: 60 };
        assert_eq!(search.learn(late), Err(error));

        assert_eq!(find(&chain, 5, None), Err(SearchError::BeforeChain { instant: 5 }));
    }

    proptest! {
        /// For all block times, including gaps, bursts and equal timestamps, the search finds the last block at or
        /// before the instant within the limit.
        #[test]
        fn any_chain_is_searched_within_the_bound(
            steps in prop::collection::vec(
                prop_oneof![8 => 0_u64..3, 4 => 10_u64..14, 1 => 100_u64..5_000], 2..3_000),
            share in 0_u64..1_000,
            known in any::<bool>(),
        ) {
            let chain: Vec<u64> = steps
                .iter()
                .scan(1_000, |time, step| { *time += step; Some(*time) })
                .collect();
            let (first, last) = (chain[0], chain[chain.len() - 1]);
            prop_assume!(first < last);
            let instant = first + (last - 1 - first) * share / 1_000;
            let expected = chain.iter().rposition(|time| *time <= instant).unwrap() as u64;
            let (found, reads) = find(&chain, instant, known.then_some(0)).unwrap();
            prop_assert_eq!(found, expected);
            prop_assert!(reads <= Search::MAX_READS);
        }
    }
}
