//! Where contracts store the values that a fill reads: storage words, by number.
//!
//! Byte positions count from the low end of a word. Source: the contracts' storage, compared with their answers.

use super::trie::keccak256;
use crate::ids::Word;
use crate::json::wire_code;
use crate::snapshot::Fact;

/// A family of contracts with the same storage layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Aerodrome v2 and related contracts, with both curves.
    AerodromeV2,
    /// `PancakeSwap` v3: one more word before the liquidity.
    PancakeV3,
    /// Slipstream.
    Slipstream,
    /// Uniswap v2's pair and its copies.
    UniswapV2,
    /// Uniswap v3 and contracts that kept its storage layout, such as `SushiSwap` v3.
    UniswapV3,
    /// A pool of Uniswap v4's manager.
    UniswapV4,
}

wire_code!(Layout, Layout::ALL);

/// The storage words of a concentrated-liquidity pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RangeWords {
    /// √price and tick; for Uniswap v4 also the fees.
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

    /// The code used in files.
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

    /// The layout with this code.
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.code() == code)
    }

    /// The layout according to a snapshot's facts: the factory that created the pool, or its manager contract.
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

    /// If the layout has reserves, the numbers of their storage words.
    pub(super) fn reserves(self) -> Option<&'static [u8]> {
        match self {
            Self::UniswapV2 => Some(&[8]),
            Self::AerodromeV2 => Some(&[19, 20]),
            _ => None,
        }
    }

    /// The storage words of a concentrated-liquidity pool. `id` is the id of a pool that belongs to a manager contract.
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
    /// A tick's first word: the gross liquidity in the low half and the net liquidity in the high half.
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

/// Adds an offset to a 256-bit number.
pub(super) fn plus(mut base: [u8; 32], offset: u8) -> [u8; 32] {
    let mut carried = offset;
    for byte in base.iter_mut().rev() {
        let (sum, over) = byte.overflowing_add(carried);
        (*byte, carried) = (sum, over.into());
    }
    base
}

/// Sign-extends a 32-bit number to the contracts' 256 bits.
fn sign_extend(number: i32) -> [u8; 32] {
    let mut bytes = [if number < 0 { 0xff } else { 0 }; 32];
    bytes[28..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// The storage slot of a mapping's value for a key.
pub(super) fn mapping_slot(key: [u8; 32], mapping: &[u8; 32]) -> [u8; 32] {
    let mut both = [0; 64];
    both[..32].copy_from_slice(&key);
    both[32..].copy_from_slice(mapping);
    keccak256(&both)
}
