//! The key of a pool in a manager contract: Uniswap v4's `PoolKey`.

use alloy::primitives::aliases::{I24, U24};
use alloy::primitives::keccak256;
use alloy::sol_types::SolValue;
use exitgap_core::ids::{Address, Word};
use serde::Deserialize;

use super::text;
use crate::abi::{V4Key, wire};

/// The parameters that define a Uniswap v4 pool. The pool's id is the Keccak-256 of this key, so anyone who has both
/// can check without further data that they belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolKey {
    /// The token with the lower address; zero for the chain's native coin.
    #[serde(deserialize_with = "text::address")]
    pub currency0: Address,
    /// The token with the higher address.
    #[serde(deserialize_with = "text::address")]
    pub currency1: Address,
    /// The fee in millionths, or [`PoolKey::DYNAMIC_FEE`]; 24 bits.
    pub fee: u32,
    /// The tick spacing; 24 bits with their sign.
    pub tick_spacing: i32,
    /// The hook contract, which the manager calls before and after operations; zero if there is none. Default: none.
    #[serde(default = "nobody", deserialize_with = "text::address")]
    pub hooks: Address,
}

/// The address zero.
pub(crate) const NOBODY: Address = Address([0; 20]);

fn nobody() -> Address {
    NOBODY
}

impl PoolKey {
    /// The value of `fee` if a hook sets the fee.
    pub const DYNAMIC_FEE: u32 = 0x80_0000;

    /// The key in the manager's encoding; `None` if a number does not fit into its field.
    pub(crate) fn wire(&self) -> Option<V4Key> {
        Some(V4Key {
            currency0: wire(self.currency0),
            currency1: wire(self.currency1),
            fee: U24::try_from(self.fee).ok()?,
            tickSpacing: I24::try_from(self.tick_spacing).ok()?,
            hooks: wire(self.hooks),
        })
    }

    /// The five words of the key that are hashed.
    pub(crate) fn words(&self) -> Option<Vec<Word>> {
        let data = self.wire()?.abi_encode();
        let word = |word: &[u8; 32]| Word(*word);
        Some(data.as_chunks::<32>().0.iter().map(word).collect())
    }

    /// The pool's id; `None` if a number does not fit into its field.
    pub fn id(&self) -> Option<Word> {
        Some(Word(keccak256(self.wire()?.abi_encode()).0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool of the recorded vectors, with the id that its manager assigned.
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
