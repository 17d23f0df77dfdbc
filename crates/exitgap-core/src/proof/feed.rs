//! Chainlink feeds: the storage words in which a proxy names its aggregator, and an aggregator keeps its newest round.
//!
//! Byte positions count from the low end of a word. Source: the contracts' storage, compared with their answers.

use super::file::ProofError;
use super::layout::{mapping_slot, number as word, plus};
use super::words::number;
use crate::ids::{Address, Word};
use crate::json::{wire_code, wire_struct};
use crate::wide::U256;

/// The most feeds in a proof: two for each token of a pool, and one for the sequencer.
pub const MAX_FEEDS: usize = 17;

/// The proxy's storage word with the phase and the aggregator.
const PROXY_WORD: u8 = 2;

/// A family of aggregators with the same storage layout for rounds.
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
    /// All layouts.
    pub const ALL: [Self; 4] =
        [Self::ChainlinkFlux, Self::ChainlinkOcr1, Self::ChainlinkOcr1At42, Self::ChainlinkOcr2];

    /// The code used in files.
    pub fn code(self) -> &'static str {
        match self {
            Self::ChainlinkFlux => "chainlink_flux",
            Self::ChainlinkOcr1 => "chainlink_ocr1",
            Self::ChainlinkOcr1At42 => "chainlink_ocr1_42",
            Self::ChainlinkOcr2 => "chainlink_ocr2",
        }
    }

    /// The storage word with the newest round, and the position, from the low end, of its four bytes.
    fn newest(self) -> (u8, usize) {
        match self {
            Self::ChainlinkFlux => (7, 4),
            Self::ChainlinkOcr1 => (43, 22),
            Self::ChainlinkOcr1At42 => (42, 22),
            Self::ChainlinkOcr2 => (11, 6),
        }
    }

    /// The storage slot of the mapping of rounds.
    fn rounds(self) -> u8 {
        match self {
            Self::ChainlinkFlux => 9,
            Self::ChainlinkOcr1 => 44,
            Self::ChainlinkOcr1At42 => 43,
            Self::ChainlinkOcr2 => 12,
        }
    }
}

/// The feed to prove. As with ticks, the file names aggregator and round, and the proof verifies them against the words
/// of the proxy and the aggregator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedSubject {
    /// The proxy.
    pub feed: Address,
    /// The aggregator behind it.
    pub aggregator: Address,
    /// The aggregator's storage layout for rounds.
    pub layout: FeedLayout,
    /// The aggregator's newest round.
    pub round: u32,
}

wire_struct!(FeedSubject { aggregator, feed, layout, round });

/// A feed's reading according to the chain's own state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvenReading {
    /// The proxy.
    pub feed: Address,
    /// The newest round in the proxy's numbering: the phase above the 64 bits of the aggregator's round.
    pub round: u128,
    /// Its answer. A negative answer becomes a number that no real feed reports.
    pub answer: U256,
    /// When the round was written, seconds UTC.
    pub updated_at: u64,
}

impl FeedSubject {
    /// The proxy's storage slot that names the aggregator.
    pub fn proxy_slot() -> [u8; 32] {
        word(PROXY_WORD)
    }

    /// The aggregator named in that word.
    pub fn aggregator_in(proxy: Word) -> Address {
        let mut address = [0; 20];
        address.copy_from_slice(&proxy.0[10..30]);
        Address(address)
    }

    /// The aggregator's storage slots: the number of the newest round, and that round.
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

    /// The newest round according to the aggregator's word.
    pub fn newest_in(&self, word: Word) -> u32 {
        let from = 28 - self.layout.newest().1;
        let mut round = [0; 4];
        round.copy_from_slice(&word.0[from..from + 4]);
        u32::from_be_bytes(round)
    }

    /// Decodes these words, given in the order of [`FeedSubject::slots`].
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
