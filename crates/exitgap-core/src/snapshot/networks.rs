//! The networks that a snapshot may call live without their genesis: which network that is, their id says. The list is part of
//! the format and does not grow: a network that becomes known later states its genesis all the same.

use crate::ids::{BlockHash, Caip2};

/// EIP-155 ids, and the hash of block 0 of each: Ethereum, OP Mainnet, Base, Arbitrum One.
const KNOWN: [(u64, &str); 4] = [
    (1, "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"),
    (10, "0x7ca38a1916c42007829c55e69d3e9a73265554b586a499015373241b8a3fa48b"),
    (8_453, "0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd"),
    (42_161, "0x7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442"),
];

/// The genesis of a known network; `None` where the id is of no known one.
pub fn known_genesis(caip2: Caip2) -> Option<BlockHash> {
    let (_, hash) = KNOWN.iter().find(|(id, _)| *id == caip2.0)?;
    hash.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hash_of_the_list_is_one() {
        for (id, hash) in KNOWN {
            assert_eq!(known_genesis(Caip2(id)).unwrap().to_string(), hash);
        }
        assert_eq!(known_genesis(Caip2(31_337)), None);
    }
}
