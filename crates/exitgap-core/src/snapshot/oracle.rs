//! Oracle readings: a price feed's answer at the block.

use crate::ids::Address;
use crate::wide::U256;

/// The role of a reading. A token's USD price is the product of all readings with its role (a ratio feed times a USD
/// feed, or one USD feed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OracleRole {
    /// USD per whole token with this index. Snapshots count the contract's tokens, answers the pool's two tokens.
    TokenUsd(u8),
    /// Whether the sequencer of a layer-2 chain is up. While it is down, the other feeds are not updated. It prices no
    /// token.
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
    /// The role of the answer.
    pub role: OracleRole,
    /// The feed's answer as the contract stores it; above zero. For a sequencer: 0 up, 1 down.
    pub answer: U256,
    /// The decimals of the answer, at most 36.
    pub decimals: u8,
    /// The source of the answer.
    pub source: OracleSource,
}

/// The source of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OracleSource {
    /// A configured number. Only on preview chains.
    Fixed,
    /// A Chainlink feed, read through its proxy by `latestRoundData`.
    Chainlink(RoundData),
}

/// The round of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundData {
    /// The proxy's address.
    pub feed: Address,
    /// `roundId`, an unsigned 80-bit number.
    pub round: u128,
    /// `updatedAt`, seconds UTC; not zero and not after the block. For a sequencer `startedAt`: since when it has been
    /// up or down.
    pub updated_at: u64,
    /// The configured number of seconds within which the feed promises a new round. For a sequencer the grace period:
    /// the seconds that it must have been up before the other feeds count as updated.
    pub heartbeat_s: u32,
}

impl OracleReading {
    /// The sort key of readings. A fixed order gives one state one hash.
    pub(super) fn order(&self) -> impl Ord + use<> {
        let round = match &self.source {
            OracleSource::Fixed => None,
            OracleSource::Chainlink(RoundData { feed, round, updated_at, heartbeat_s }) => {
                Some((*feed, *round, *updated_at, *heartbeat_s))
            }
        };
        (self.role, round.map(|(feed, ..)| feed), self.answer, self.decimals, round)
    }

    /// Whether the answer is older than its heartbeat at `block_timestamp` (seconds UTC). For a sequencer: whether it
    /// is down, or has not been up for longer than its grace period. A fixed answer is never stale.
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
