//! Where contracts keep what a fill reads: words of their storage, by number.
//!
//! Counted from the low end of a word. Sources: the contracts' own storage, measured against what they answer.

use super::trie::keccak256;
use crate::ids::Word;
use crate::json::wire_code;
use crate::snapshot::Fact;

/// A family of contracts that keep their words alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Aerodrome v2 and its kin: both curves.
    AerodromeV2,
    /// `PancakeSwap` v3: a word more before the liquidity.
    PancakeV3,
    /// Slipstream.
    Slipstream,
    /// Uniswap v2's pair and its copies.
    UniswapV2,
    /// Uniswap v3 and what kept its storage, such as `SushiSwap` v3.
    UniswapV3,
    /// A pool of Uniswap v4's manager.
    UniswapV4,
}

wire_code!(Layout, Layout::ALL);

/// The words of a pool whose liquidity lies in ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RangeWords {
    /// √price, tick, and of v4 the fees.
    pub price: [u8; 32],
    /// Active liquidity in the low 128 bits.
    pub liquidity: [u8; 32],
    ticks: [u8; 32],
    bitmap: [u8; 32],
}

impl Layout {
    const ALL: [Self; 6] = [
        Self::AerodromeV2,
        Self::PancakeV3,
        Self::Slipstream,
        Self::UniswapV2,
        Self::UniswapV3,
        Self::UniswapV4,
    ];

    /// As files spell it.
    pub fn code(self) -> &'static str {
        match self {
            Self::AerodromeV2 => "aerodrome_v2",
            Self::PancakeV3 => "pancake_v3",
            Self::Slipstream => "slipstream",
            Self::UniswapV2 => "uniswap_v2",
            Self::UniswapV3 => "uniswap_v3",
            Self::UniswapV4 => "uniswap_v4",
        }
    }

    /// The layout of this name.
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.code() == code)
    }

    /// What a snapshot's facts say it is: whose factory made the pool, or that a manager holds it.
    pub fn of_facts(facts: &[Fact]) -> Option<Self> {
        facts.iter().find_map(|fact| match fact.name.as_str() {
            "aerodrome_v2" => Some(Self::AerodromeV2),
            "pancake_v3" => Some(Self::PancakeV3),
            "slipstream" => Some(Self::Slipstream),
            "uniswap_v2" => Some(Self::UniswapV2),
            "uniswap_v3" | "sushi_v3" => Some(Self::UniswapV3),
            Fact::POOL_KEY => Some(Self::UniswapV4),
            _ => None,
        })
    }

    /// Whether it keeps reserves: as many words, the first of them here.
    pub(super) fn reserves(self) -> Option<&'static [u8]> {
        match self {
            Self::UniswapV2 => Some(&[8]),
            Self::AerodromeV2 => Some(&[19, 20]),
            _ => None,
        }
    }

    /// Where the words of a pool of ranges are; `id` is that of a pool which a manager holds.
    pub(super) fn ranges(self, id: Option<Word>) -> Option<RangeWords> {
        let [price, liquidity, ticks, bitmap] = match self {
            Self::UniswapV3 => [0, 4, 5, 6],
            Self::PancakeV3 => [0, 5, 6, 7],
            Self::Slipstream => [6, 16, 17, 18],
            Self::UniswapV4 => [0, 3, 4, 5],
            Self::UniswapV2 | Self::AerodromeV2 => return None,
        };
        let base = match (self, id) {
            (Self::UniswapV4, Some(Word(id))) => mapping_slot(id, &number(6)),
            (Self::UniswapV4, None) | (_, Some(_)) => return None,
            (_, None) => [0; 32],
        };
        let at = |offset: u8| plus(base, offset);
        Some(RangeWords {
            price: at(price),
            liquidity: at(liquidity),
            ticks: at(ticks),
            bitmap: at(bitmap),
        })
    }
}

impl RangeWords {
    /// A tick's first word: its gross liquidity below, its net one above.
    pub fn tick(&self, tick: i32) -> [u8; 32] {
        mapping_slot(sign_extend(tick), &self.ticks)
    }

    /// A word of the bitmap.
    pub fn bitmap(&self, word: i32) -> [u8; 32] {
        mapping_slot(sign_extend(word), &self.bitmap)
    }
}

/// The number of a word.
pub(super) fn number(word: u8) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[31] = word;
    bytes
}

/// The number that comes so much later.
pub(super) fn plus(mut base: [u8; 32], offset: u8) -> [u8; 32] {
    let mut carried = offset;
    for byte in base.iter_mut().rev() {
        let (sum, over) = byte.overflowing_add(carried);
        (*byte, carried) = (sum, over.into());
    }
    base
}

/// A number of 32 bits as the contracts' 256.
fn sign_extend(number: i32) -> [u8; 32] {
    let mut bytes = [if number < 0 { 0xff } else { 0 }; 32];
    bytes[28..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// Where a mapping keeps what is under a key.
pub(super) fn mapping_slot(key: [u8; 32], mapping: &[u8; 32]) -> [u8; 32] {
    let mut both = [0; 64];
    both[..32].copy_from_slice(&key);
    both[32..].copy_from_slice(mapping);
    keccak256(&both)
}
