//! The key of a pool that a manager holds: Uniswap v4's `PoolKey`.

use alloy::primitives::aliases::{I24, U24};
use alloy::primitives::keccak256;
use alloy::sol_types::SolValue;
use exitgap_core::ids::{Address, Word};
use serde::Deserialize;

use super::text;
use crate::abi::{V4Key, wire};

/// What a pool of Uniswap v4 is: its id is the Keccak-256 of this, so that whoever has both can
/// tell without asking anybody whether they belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolKey {
    /// The token with the lower address; zero is the chain's own coin.
    #[serde(deserialize_with = "text::address")]
    pub currency0: Address,
    /// The token with the higher address.
    #[serde(deserialize_with = "text::address")]
    pub currency1: Address,
    /// The fee in millionths, or [`PoolKey::DYNAMIC_FEE`]; 24 bits.
    pub fee: u32,
    /// The tick spacing; 24 bits with their sign.
    pub tick_spacing: i32,
    /// The contract that is called before and after; zero: none. Default: none.
    #[serde(default = "nobody", deserialize_with = "text::address")]
    pub hooks: Address,
}

/// The address zero.
pub(crate) const NOBODY: Address = Address([0; 20]);

fn nobody() -> Address {
    NOBODY
}

impl PoolKey {
    /// What stands for a fee that a hook sets.
    pub const DYNAMIC_FEE: u32 = 0x80_0000;

    /// The key as the manager takes it; `None` where a number has more bits than it has there.
    pub(crate) fn wire(&self) -> Option<V4Key> {
        Some(V4Key {
            currency0: wire(self.currency0),
            currency1: wire(self.currency1),
            fee: U24::try_from(self.fee).ok()?,
            tickSpacing: I24::try_from(self.tick_spacing).ok()?,
            hooks: wire(self.hooks),
        })
    }

    /// The five words of the key, as they are hashed.
    pub(crate) fn words(&self) -> Option<Vec<Word>> {
        let data = self.wire()?.abi_encode();
        let word = |word: &[u8; 32]| Word(*word);
        Some(data.as_chunks::<32>().0.iter().map(word).collect())
    }

    /// The pool's id; `None` where a number has more bits than it has there.
    pub fn id(&self) -> Option<Word> {
        Some(Word(keccak256(self.wire()?.abi_encode()).0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool of the recorded vectors, and the id that its manager gave it.
    #[test]
    fn an_id_is_its_keys_hash() {
        let parsed = |text: &str| text::parse_address(text).unwrap();
        let key = PoolKey {
            currency0: parsed("0x5FC8d32690cc91D4c39d9d3abcBD16989F875707"),
            currency1: parsed("0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9"),
            fee: 0,
            tick_spacing: 1,
            hooks: NOBODY,
        };
        let id = "0x68ef1452f0898868a42d3bfb35b907ea1c871ca835e0fd4cf0465b2aaa51cd24";
        assert_eq!(key.id().unwrap().to_string(), id);
        assert_eq!(key.words().unwrap().len(), 5);
        assert_ne!(PoolKey { tick_spacing: -1, ..key }.id(), key.id());
        assert_eq!(PoolKey { fee: 1 << 24, ..key }.id(), None);
    }
}
