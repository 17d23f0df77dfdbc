//! Oracle readings: what a price feed said at the block.

use crate::ids::Address;
use crate::wide::U256;

/// What a reading is for. A token's USD price is the product of all readings of its
/// role (a ratio feed times a USD feed, or one USD feed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OracleRole {
    /// USD per whole token of this index: in snapshots among the contract's tokens, in answers
    /// among the pool's two.
    TokenUsd(u8),
    /// Whether the sequencer of a layer-2 chain is up: while it is down, the other feeds stand
    /// still. Prices no token.
    SequencerUptime,
}

impl OracleRole {
    /// The index of the token that it prices.
    pub fn token(self) -> Option<usize> {
        match self {
            Self::TokenUsd(index) => Some(index.into()),
            Self::SequencerUptime => None,
        }
    }
}

/// One oracle answer: `answer ÷ 10^decimals`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OracleReading {
    /// What the answer is for.
    pub role: OracleRole,
    /// The feed's answer as the contract holds it; above zero. Of a sequencer: 0 up, 1 down.
    pub answer: U256,
    /// Decimals of the answer; at most 36.
    pub decimals: u8,
    /// Where it was read.
    pub source: OracleSource,
}

/// Where an answer came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OracleSource {
    /// A number from configuration. Preview chains only.
    Fixed,
    /// A Chainlink feed, read through its proxy by `latestRoundData`.
    Chainlink(RoundData),
}

/// The round an answer belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundData {
    /// The proxy's address.
    pub feed: Address,
    /// `roundId`, an unsigned 80-bit number.
    pub round: u128,
    /// `updatedAt`, seconds UTC; not zero and not after the block. Of a sequencer `startedAt`:
    /// since when it is up or down.
    pub updated_at: u64,
    /// Seconds after which the feed promises a new round; configured. Of a sequencer the grace
    /// period: seconds it must have been up for the other feeds to have caught up.
    pub heartbeat_s: u32,
}

impl OracleReading {
    /// What readings are sorted by, so that one state has one hash.
    pub(super) fn order(&self) -> impl Ord + use<> {
        let round = match &self.source {
            OracleSource::Fixed => None,
            OracleSource::Chainlink(RoundData { feed, round, updated_at, heartbeat_s }) => {
                Some((*feed, *round, *updated_at, *heartbeat_s))
            }
        };
        (self.role, round.map(|(feed, ..)| feed), self.answer, self.decimals, round)
    }

    /// Whether the answer is older than its heartbeat at `block_timestamp` (seconds UTC), or, of
    /// a sequencer, whether it is down or up for no longer than its grace period. A fixed answer
    /// never is.
    pub fn is_stale(&self, block_timestamp: u64) -> bool {
        let OracleSource::Chainlink(round) = &self.source else { return false };
        let is_past =
            block_timestamp.saturating_sub(round.updated_at) > u64::from(round.heartbeat_s);
        match self.role {
            OracleRole::SequencerUptime => !self.answer.is_zero() || !is_past,
            OracleRole::TokenUsd(_) => is_past,
        }
    }

    /// Seconds from the answer to the block; `None` for a fixed answer.
    pub fn age_s(&self, block_timestamp: u64) -> Option<u64> {
        match &self.source {
            OracleSource::Fixed => None,
            OracleSource::Chainlink(round) => {
                Some(block_timestamp.saturating_sub(round.updated_at))
            }
        }
    }
}
