//! The chains whose figures can be live, and the known `factories` on each.

mod factories;

use exitgap_core::ids::{Address, BlockHash};
use serde::Deserialize;

use super::FactoryKind;

/// A chain known by its chain id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownChain {
    /// EIP-155 chain id.
    pub chain_id: u64,
    /// Its usual name.
    pub name: &'static str,
    /// Hash of block 0.
    pub genesis: BlockHash,
    /// How a contract can read the block's number.
    pub number_source: NumberSource,
    /// The feed that reports whether its sequencer is up, as published by Chainlink.
    pub sequencer_feed: Option<Address>,
    /// The default number of blocks after which a block counts as final.
    pub confirmations: u32,
    /// Factories that can confirm that a pool is theirs, so that the pool is read.
    pub factories: &'static [KnownFactory],
}

/// A published factory, or a pool or an implementation of pools that is known by its own address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownFactory {
    /// Its address.
    pub address: Address,
    /// The kind of its pools, or of the pool or implementation itself.
    pub kind: FactoryKind,
    /// The published contracts that its pools may get their fee from.
    pub fee_modules: &'static [Address],
}

/// How a contract can read the number of the block in which it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberSource {
    /// `block.number`, through Multicall3's `getBlockNumber`.
    BlockNumber,
    /// `ArbSys.arbBlockNumber`: on Arbitrum and chains of its software `block.number` is an estimate of another chain's.
    ArbSys,
}

/// How the logs that nodes give are checked for being complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogsCheck {
    /// By blooms, where they make at most a tenth of the pools be read in full; else by receipts, where the node serves them
    /// and a slot has at most 50 blocks; else by nothing.
    #[default]
    Auto,
    /// By the blooms of the blocks' headers, however many pools they name.
    Blooms,
    /// By the blocks' receipts, however many blocks a slot has.
    Receipts,
    /// By nothing but the full readings.
    Nothing,
}

/// The known chains. The hashes are from the chains' own node software: go-ethereum, op-geth's superchain configuration
/// (which also hard-codes OP Mainnet's, because its state was migrated), and Arbitrum's published block 0.
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
