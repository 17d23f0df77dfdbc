//! The published code of pools, identified by its hash. A proven account contains the hash of its contract's code.
//!
//! All pairs of Uniswap v2 have the same code. The pools of Uniswap v3 differ only in their immutables; with zeros in
//! their place, the code is the published one. So only hashes are stored here, and code that a caller provides is
//! compared with them first.

use super::layout::number as word;
use super::trie::keccak256;
use crate::ids::Address;
use crate::pools::MAX_TICK;

/// The Keccak-256 of the code of a pair of Uniswap v2.
pub(super) const V2_PAIR: [u8; 32] = [
    0x5b, 0x83, 0xbd, 0xbc, 0xc5, 0x6b, 0x2e, 0x63, 0x0f, 0x28, 0x07, 0xbb, 0xad, 0xd2, 0xb0, 0xc2,
    0x16, 0x19, 0x10, 0x80, 0x66, 0xb9, 0x2a, 0x58, 0xde, 0x08, 0x12, 0x61, 0x08, 0x9e, 0x9c, 0xe5,
];

/// The Keccak-256 of the published code of a pool of Uniswap v3, whose immutables are zero.
const V3_POOL: [u8; 32] = [
    0x62, 0x5b, 0x6d, 0x8f, 0x59, 0x97, 0xd0, 0xc2, 0x83, 0xff, 0x97, 0x74, 0x19, 0x66, 0x0c, 0x61,
    0x8c, 0xb3, 0x6c, 0x48, 0x55, 0x31, 0x29, 0xd0, 0xec, 0xbb, 0x8c, 0x7b, 0xcd, 0xe0, 0xc9, 0xca,
];

/// Where each immutable's words begin in the code of a pool of Uniswap v3, in the order of [`V3Immutables::words`].
const V3_PLACES: [&[usize]; 7] = [
    &[8_315, 8_829, 10_457],
    &[2_258, 4_853, 6_740, 7_822, 9_150, 15_650],
    &[4_551, 6_789, 7_924, 9_284, 10_529, 15_979],
    &[3_311, 6_603, 6_658, 10_565],
    &[3_072, 10_493, 19_402, 19_452],
    &[11_259],
    &[8_174, 19_295, 19_350],
];

/// The values that a pool of Uniswap v3 contains in its code. The maximum liquidity of a tick is also there, and follows
/// from the spacing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct V3Immutables {
    /// The pool's own address.
    pub pool: Address,
    /// Its factory.
    pub factory: Address,
    /// Its tokens.
    pub tokens: [Address; 2],
    /// Its fee in millionths.
    pub fee_pips: u32,
    /// Its tick spacing.
    pub tick_spacing: i32,
}

impl V3Immutables {
    /// The code of this pool, from the published code; `None` if the given code is not the published one, or the spacing
    /// is invalid.
    pub fn code(&self, published: &[u8]) -> Option<Vec<u8>> {
        if keccak256(published) != V3_POOL {
            return None;
        }
        let words = self.words()?;
        let mut code = published.to_vec();
        for (places, word) in V3_PLACES.iter().zip(words) {
            for place in *places {
                code.get_mut(*place..place + 32)?.copy_from_slice(&word);
            }
        }
        Some(code)
    }

    /// What is in this code, where it is that of a pool of Uniswap v3.
    pub fn from_code(code: &[u8]) -> Option<Self> {
        let word = |at: usize| code.get(V3_PLACES[at][0]..V3_PLACES[at][0] + 32);
        let address = |at: usize| Some(Address(word(at)?[12..].try_into().ok()?));
        let small = |at: usize| Some(u32::from_be_bytes(word(at)?[28..].try_into().ok()?));
        let read = Self {
            pool: address(5)?,
            factory: address(0)?,
            tokens: [address(1)?, address(2)?],
            fee_pips: small(3)?,
            tick_spacing: i32::try_from(small(4)?).ok()?,
        };
        read.have_code(code).then_some(read)
    }

    /// Whether this is the code of this pool.
    pub fn have_code(&self, code: &[u8]) -> bool {
        let Some(words) = self.words() else { return false };
        let holds = |(places, word): (&&[usize], [u8; 32])| {
            places.iter().all(|place| code.get(*place..place + 32) == Some(&word[..]))
        };
        is_published(code) && V3_PLACES.iter().zip(words).all(holds)
    }

    fn words(&self) -> Option<[[u8; 32]; 7]> {
        let Self { pool, factory, tokens: [token0, token1], fee_pips, tick_spacing } = *self;
        let spacing = u16::try_from(tick_spacing).ok().filter(|spacing| *spacing > 0)?;
        let furthest = MAX_TICK / i32::from(spacing);
        let ticks = u128::try_from(2 * furthest + 1).ok()?;
        let [most, fee, spacing] =
            [u128::MAX / ticks, fee_pips.into(), spacing.into()].map(number_word);
        let [factory, token0, token1, own] =
            [factory, token0, token1, pool].map(|address| address_word(&address));
        Some([factory, token0, token1, fee, spacing, own, most])
    }
}

/// Whether code is that of any pool of Uniswap v3.
pub(super) fn is_published(code: &[u8]) -> bool {
    let mut code = code.to_vec();
    for place in V3_PLACES.concat() {
        let Some(word) = code.get_mut(place..place + 32) else { return false };
        word.fill(0);
    }
    keccak256(&code) == V3_POOL
}

/// Whether code with this hash is that of a pair of Uniswap v2.
pub fn is_v2_pair(code_hash: [u8; 32]) -> bool {
    code_hash == V2_PAIR
}

fn number_word(number: u128) -> [u8; 32] {
    let mut bytes = word(0);
    bytes[16..].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn address_word(address: &Address) -> [u8; 32] {
    let mut bytes = word(0);
    bytes[12..].copy_from_slice(&address.0);
    bytes
}
