//! Chainlink's feeds: where a proxy names its aggregator, and where that keeps its newest round.
//!
//! Counted from the low end of a word. Sources: the contracts' own storage, measured against what they answer.

use super::file::ProofError;
use super::layout::{mapping_slot, number as word, plus};
use super::words::number;
use crate::ids::{Address, Word};
use crate::json::{wire_code, wire_struct};
use crate::wide::U256;

/// The most feeds of a proof: two for each token of a pool, and one of the sequencer.
pub const MAX_FEEDS: usize = 17;

/// The word of a proxy that has the phase and the aggregator.
const PROXY_WORD: u8 = 2;

/// A family of aggregators that keep their rounds alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedLayout {
    /// Answers submitted one by one.
    ChainlinkFlux,
    /// Off-chain reports, first version.
    ChainlinkOcr1,
    /// The same, as it was before a word was added below: the older aggregators of the first version.
    ChainlinkOcr1At42,
    /// Off-chain reports, second version.
    ChainlinkOcr2,
}

wire_code!(FeedLayout, FeedLayout::ALL);

impl FeedLayout {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::ChainlinkFlux, Self::ChainlinkOcr1, Self::ChainlinkOcr1At42, Self::ChainlinkOcr2];

    /// As files spell it.
    pub fn code(self) -> &'static str {
        match self {
            Self::ChainlinkFlux => "chainlink_flux",
            Self::ChainlinkOcr1 => "chainlink_ocr1",
            Self::ChainlinkOcr1At42 => "chainlink_ocr1_42",
            Self::ChainlinkOcr2 => "chainlink_ocr2",
        }
    }

    /// The word that has the newest round, and the byte of it, from the low end, at which its 32 bits begin.
    fn newest(self) -> (u8, usize) {
        match self {
            Self::ChainlinkFlux => (7, 4),
            Self::ChainlinkOcr1 => (43, 22),
            Self::ChainlinkOcr1At42 => (42, 22),
            Self::ChainlinkOcr2 => (11, 6),
        }
    }

    /// The mapping of rounds.
    fn rounds(self) -> u8 {
        match self {
            Self::ChainlinkFlux => 9,
            Self::ChainlinkOcr1 => 44,
            Self::ChainlinkOcr1At42 => 43,
            Self::ChainlinkOcr2 => 12,
        }
    }
}

/// What is to be proven of a feed. Like ticks, aggregator and round are named and believed only as far as the proxy's and
/// the aggregator's own words have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedSubject {
    /// The proxy.
    pub feed: Address,
    /// The aggregator behind it.
    pub aggregator: Address,
    /// How that one keeps its rounds.
    pub layout: FeedLayout,
    /// The aggregator's newest round.
    pub round: u32,
}

wire_struct!(FeedSubject { aggregator, feed, layout, round });

/// What the chain's own state says of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvenReading {
    /// The proxy.
    pub feed: Address,
    /// The newest round as the proxy numbers it: the phase above 64 bits of the aggregator's round.
    pub round: u128,
    /// Its answer, as far as it is above zero: one below is a number that no feed answers.
    pub answer: U256,
    /// When it was written, seconds UTC.
    pub updated_at: u64,
}

impl FeedSubject {
    /// The word of the proxy that names the aggregator.
    pub fn proxy_slot() -> [u8; 32] {
        word(PROXY_WORD)
    }

    /// The aggregator in that word.
    pub fn aggregator_in(proxy: Word) -> Address {
        let mut address = [0; 20];
        address.copy_from_slice(&proxy.0[10..30]);
        Address(address)
    }

    /// The words of the aggregator: which round is the newest, and that round.
    pub fn slots(&self) -> Vec<[u8; 32]> {
        let mut key = [0; 32];
        key[28..].copy_from_slice(&self.round.to_be_bytes());
        let round = mapping_slot(key, &word(self.layout.rounds()));
        let mut slots = vec![word(self.layout.newest().0), round];
        if self.layout == FeedLayout::ChainlinkFlux {
            slots.push(plus(round, 1));
        }
        slots
    }

    /// The newest round in the aggregator's word that names it.
    pub fn newest_in(&self, word: Word) -> u32 {
        let from = 28 - self.layout.newest().1;
        let mut round = [0; 4];
        round.copy_from_slice(&word.0[from..from + 4]);
        u32::from_be_bytes(round)
    }

    /// What these words say, in the order of [`FeedSubject::slots`].
    pub fn decode_reading(&self, proxy: Word, words: &[Word]) -> Result<ProvenReading, ProofError> {
        if Self::aggregator_in(proxy) != self.aggregator {
            return Err(ProofError::Feed("its proxy points to a different aggregator"));
        }
        let (newest, round) = (words.first(), words.get(1));
        let (Some(newest), Some(round)) = (newest, round) else {
            return Err(ProofError::Feed("it has too few words"));
        };
        if self.newest_in(*newest) != self.round {
            return Err(ProofError::Feed("its newest round is a different one"));
        }
        let (answer, updated_at) = match self.layout {
            FeedLayout::ChainlinkOcr1 | FeedLayout::ChainlinkOcr1At42 => {
                (&round.0[8..], &round.0[..8])
            }
            FeedLayout::ChainlinkOcr2 => (&round.0[8..], &round.0[..4]),
            FeedLayout::ChainlinkFlux => {
                let times = words.get(2).ok_or(ProofError::Feed("it has too few words"))?;
                (&round.0[..], &times.0[16..24])
            }
        };
        let phase = u128::from(u16::from_be_bytes([proxy.0[30], proxy.0[31]]));
        Ok(ProvenReading {
            feed: self.feed,
            round: phase << 64 | u128::from(self.round),
            answer: number(answer),
            updated_at: updated_at.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        })
    }
}
