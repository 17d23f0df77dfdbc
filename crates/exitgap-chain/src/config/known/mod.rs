//! The chains whose figures may be called live, and the `factories` known on each.

mod factories;

use exitgap_core::ids::{Address, BlockHash};
use serde::Deserialize;

use super::FactoryKind;

/// A chain known by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownChain {
    /// EIP-155 chain id.
    pub chain_id: u64,
    /// Its usual name.
    pub name: &'static str,
    /// Hash of block 0.
    pub genesis: BlockHash,
    /// Where a contract hears the block's number.
    pub number_source: NumberSource,
    /// The feed that says whether its sequencer is up, as Chainlink publishes it.
    pub sequencer_feed: Option<Address>,
    /// Blocks after which a block is taken for final, unless configured otherwise.
    pub confirmations: u32,
    /// Factories whose pools are read because they say that the pools are theirs.
    pub factories: &'static [KnownFactory],
}

/// A factory that its makers publish; or a pool or an implementation of pools that is known by its own
/// address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownFactory {
    /// Its address.
    pub address: Address,
    /// What its pools are, or what it is itself.
    pub kind: FactoryKind,
    /// The contracts, published with it, that its pools may take their fee from.
    pub fee_modules: &'static [Address],
}

/// Where a contract hears the number of the block it runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberSource {
    /// `block.number`, through Multicall3's `getBlockNumber`.
    BlockNumber,
    /// `ArbSys.arbBlockNumber`: on Arbitrum and chains of its software `block.number` is an estimate of another chain's.
    ArbSys,
}

/// The known chains. The hashes are those of the chains' own node software: go-ethereum,
/// op-geth's superchain configuration (OP Mainnet's is hard-coded there too, its state was
/// migrated), and Arbitrum's published block 0.
const KNOWN: [KnownChain; 4] = [
    KnownChain {
        chain_id: 1,
        name: "Ethereum",
        genesis: hash(*b"d4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"),
        number_source: NumberSource::BlockNumber,
        sequencer_feed: None,
        confirmations: 96,
        factories: factories::ETHEREUM,
    },
    KnownChain {
        chain_id: 10,
        name: "OP Mainnet",
        genesis: hash(*b"7ca38a1916c42007829c55e69d3e9a73265554b586a499015373241b8a3fa48b"),
        number_source: NumberSource::BlockNumber,
        sequencer_feed: Some(address(*b"371ead81c9102c9bf4874a9075ffff170f2ee389")),
        confirmations: 1_800,
        factories: factories::OP_MAINNET,
    },
    KnownChain {
        chain_id: 8_453,
        name: "Base",
        genesis: hash(*b"f712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd"),
        number_source: NumberSource::BlockNumber,
        sequencer_feed: Some(address(*b"bcf85224fc0756b9fa45aa7892530b47e10b6433")),
        confirmations: 1_800,
        factories: factories::BASE,
    },
    KnownChain {
        chain_id: 42_161,
        name: "Arbitrum One",
        genesis: hash(*b"7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442"),
        number_source: NumberSource::ArbSys,
        sequencer_feed: Some(address(*b"fdb631f5ee196f0ed6faa767959853a9f217697d")),
        confirmations: 14_400,
        factories: factories::ARBITRUM,
    },
];

impl KnownChain {
    /// The known chain with this id.
    pub fn of_id(chain_id: u64) -> Option<&'static Self> {
        KNOWN.iter().find(|chain| chain.chain_id == chain_id)
    }
}

const fn hash(digits: [u8; 64]) -> BlockHash {
    BlockHash(bytes(&digits))
}

const fn address(digits: [u8; 40]) -> Address {
    Address(bytes(&digits))
}

const fn bytes<const BYTES: usize>(digits: &[u8]) -> [u8; BYTES] {
    const fn nibble(digit: u8) -> u8 {
        if digit <= b'9' { digit - b'0' } else { digit - b'a' + 10 }
    }
    let mut bytes = [0; BYTES];
    let mut index = 0;
    while index < BYTES {
        bytes[index] = nibble(digits[2 * index]) << 4 | nibble(digits[2 * index + 1]);
        index += 1;
    }
    bytes
}

#[cfg(test)]
mod tests;
