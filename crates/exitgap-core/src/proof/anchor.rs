//! Anchors: proofs, from a newer block with a trusted hash, that a chain contains older blocks.
//!
//! A contract of the chain (EIP-2935) keeps the hashes of the most recent blocks in a ring buffer. The contents of its
//! storage after a block can be proven like any state. A trusted hash therefore leads to the hashes of blocks up to one
//! ring length earlier: a *hop*. The lowest block of a hop can be the start of the next hop, and the lowest block of a
//! day can be the end of the previous day.

use std::collections::BTreeMap;

use super::assembly::NodePool;
use super::header::{Account, BlockHeader};
use super::layout::number as word;
use super::trie::{InOrder, Walk, WalkError, keccak256};
use super::words::walk_words;
use super::{ProofError, file};
use crate::ids::{Address, BlockHash, Caip2};
use crate::json::{DocumentError, VERSION, from_canonical, to_canonical, wire_struct};

/// The maximum size of a file, in bytes.
pub const MAX_ANCHOR_BYTES: usize = 2 << 20;

/// The most hops in a file. A day of a chain with four blocks per second and the standard ring needs 43.
pub const MAX_HOPS: usize = 64;

/// The most blocks in a file: two for each slot of a day, and one for each hop.
pub const MAX_ANCHORED_BLOCKS: usize = 2 * 288 + MAX_HOPS;

/// The maximum length of its line, in bytes.
const MAX_LINE_BYTES: usize = 32 << 10;

/// The contract that keeps the hashes. It has the same address on every chain.
pub const HISTORY_CONTRACT: Address = Address([
    0x00, 0x00, 0xf9, 0x08, 0x27, 0xf1, 0xc5, 0x3a, 0x10, 0xcb, 0x7a, 0x02, 0x33, 0x5b, 0x17, 0x53,
    0x20, 0x00, 0x29, 0x35,
]);

/// The number of blocks that it keeps according to EIP-2935.
const RING: u64 = 8_191;

/// The number of blocks that it keeps on Arbitrum chains, which produce blocks 48 times as often.
const RING_OF_ARBITRUM: u64 = 393_168;

/// Arbitrum One, Arbitrum Nova, and their test chain.
const CHAINS_OF_ARBITRUM: [u64; 3] = [42_161, 42_170, 421_614];

/// The number of blocks that the contract keeps on a chain.
pub fn history_window(chain: Caip2) -> u64 {
    if CHAINS_OF_ARBITRUM.contains(&chain.0) { RING_OF_ARBITRUM } else { RING }
}

/// The storage slot of the contract that has the hash of a block.
pub fn history_slot(chain: Caip2, block: u64) -> [u8; 32] {
    let mut slot = word(0);
    slot[24..].copy_from_slice(&(block % history_window(chain)).to_be_bytes());
    slot
}

/// Why a file is not a valid anchor file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnchorError {
    /// It is too long.
    #[error("{found} bytes are more than the maximum of {MAX_ANCHOR_BYTES} for a day's anchors")]
    TooLarge {
        /// Its length.
        found: usize,
    },
    /// Its line cannot be parsed.
    #[error("its first line: {0}")]
    Line(#[from] DocumentError),
    /// Its line has values that no anchor file has.
    #[error("its first line: {0}")]
    Shape(&'static str),
    /// The bytes at a header's position are not a header.
    #[error("hop {hop}: the header is invalid")]
    Header {
        /// The hop, from 0.
        hop: usize,
    },
    /// A hop begins at another block than the one that the previous hop led to.
    #[error("hop {hop}: the header is of block {found}, but the previous hop leads to {expected}")]
    OtherHeader {
        /// The hop, from 0.
        hop: usize,
        /// The hash that the previous hop proved.
        expected: BlockHash,
        /// The hash of the header in the file.
        found: BlockHash,
    },
    /// The header's number is not the number that the previous hop proved its hash for.
    #[error(
        "hop {hop}: the header has number {found}, but the previous hop leads to block {expected}"
    )]
    OtherNumber {
        /// The hop, from 0.
        hop: usize,
        /// The number that the previous hop proved.
        expected: u64,
        /// The header's number.
        found: u64,
    },
    /// The contract does not keep that block at the block that the hop starts from.
    #[error(
        "block {block} is not among the {ring} blocks before block {from}, so no hop can reach it"
    )]
    BeyondRing {
        /// The block.
        block: u64,
        /// The block that the hop starts from.
        from: u64,
        /// The number of blocks that are kept.
        ring: u64,
    },
    /// The account nodes do not lead to the contract.
    #[error("hop {hop}: the contract's account: {error}")]
    Account {
        /// The hop, from 0.
        hop: usize,
        /// The reason.
        error: WalkError,
    },
    /// The chain does not have the contract.
    #[error("hop {hop}: the chain does not store block hashes (EIP-2935)")]
    NoHistory {
        /// The hop, from 0.
        hop: usize,
    },
    /// The contract's storage nodes do not lead to its words.
    #[error("hop {hop}: the contract's storage: {error}")]
    Storage {
        /// The hop, from 0.
        hop: usize,
        /// The reason.
        error: ProofError,
    },
    /// The file has nodes that the walk does not reach.
    #[error("hop {hop}: some nodes are not reachable")]
    Surplus {
        /// The hop, from 0.
        hop: usize,
    },
    /// The contract has no hash of that block, because it has not yet kept hashes for long enough.
    #[error("block {block}: the contract does not have its hash")]
    NotKept {
        /// The block.
        block: u64,
    },
}

/// The line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    v: u32,
    chain: Caip2,
    day: u32,
    block: BlockHash,
    hops: Vec<HopLine>,
}

/// A hop in it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HopLine {
    /// Ascending.
    blocks: Vec<u64>,
    /// The lengths in bytes of the header, of the account nodes and of the contract's storage nodes.
    lengths: (u32, u32, u32),
}

wire_struct!(Line { v, chain, day, block, hops });
wire_struct!(HopLine { blocks, lengths });

/// The content of a day's file. It proves that *if* the chain has the block at which it begins, it also has all of
/// these blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchors {
    /// The chain.
    pub chain: Caip2,
    /// The day, counted from 1970-01-01 UTC. It is only a name: the proof does not cover it.
    pub day: u32,
    /// The block at which it begins, whose hash must be trusted.
    pub from: BlockHeader,
    /// The hashes of older blocks, by their numbers.
    blocks: BTreeMap<u64, BlockHash>,
}

/// The inputs of one hop, for writing a file.
#[derive(Debug, Clone)]
pub struct HopParts<'a> {
    /// The RLP of the header at which it begins.
    pub header: &'a [u8],
    /// The blocks that it must prove, ascending. The next hop begins at the lowest.
    pub blocks: &'a [u64],
    /// All nodes that lead to the contract and to its words, in any order; duplicates are allowed.
    pub nodes: &'a [Vec<u8>],
}

impl Anchors {
    /// The chain's block hash at a number; `None` if the file does not contain it.
    pub fn hash(&self, number: u64) -> Option<BlockHash> {
        if number == self.from.number {
            return Some(self.from.hash);
        }
        self.blocks.get(&number).copied()
    }

    /// The proven blocks, ascending, with their hashes.
    pub fn blocks(&self) -> impl Iterator<Item = (u64, BlockHash)> + '_ {
        self.blocks.iter().map(|(number, hash)| (*number, *hash))
    }

    /// Parses a file and verifies every hash in it, from the block at which it begins downwards.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, AnchorError> {
        if bytes.len() > MAX_ANCHOR_BYTES {
            return Err(AnchorError::TooLarge { found: bytes.len() });
        }
        let end = bytes.iter().take(MAX_LINE_BYTES + 1).position(|byte| *byte == b'\n');
        let end = end.ok_or(AnchorError::Shape("it has no end"))?;
        let line: Line = from_canonical(&bytes[..end], MAX_LINE_BYTES, "a day's anchors")?;
        line.check()?;
        let each = |HopLine { lengths: (header, accounts, storage), .. }: &HopLine| {
            [*header, *accounts, *storage]
        };
        let lengths: Vec<u32> = line.hops.iter().flat_map(each).collect();
        let parts = file::split_parts(&lengths, &bytes[end + 1..])
            .ok_or(AnchorError::Shape("its lengths do not match the bytes that follow"))?;
        let (mut blocks, mut from) = (BTreeMap::new(), None);
        let (mut expected, mut number) = (line.block, None);
        for (at, (hop, parts)) in line.hops.iter().zip(parts.chunks(3)).enumerate() {
            let header = BlockHeader::from_rlp(parts[0]).ok_or(AnchorError::Header { hop: at })?;
            if header.hash != expected {
                return Err(AnchorError::OtherHeader { hop: at, expected, found: header.hash });
            }
            if let Some(expected) = number.filter(|number| *number != header.number) {
                let found = header.number;
                return Err(AnchorError::OtherNumber { hop: at, expected, found });
            }
            check_reach(line.chain, &header, &hop.blocks)?;
            let root = storage_root(at, &header, parts[1])?;
            let slots: Vec<[u8; 32]> =
                hop.blocks.iter().map(|block| history_slot(line.chain, *block)).collect();
            let words = walk_words(root, &slots, parts[2]).map_err(|error| match error {
                ProofError::Surplus => AnchorError::Surplus { hop: at },
                error => AnchorError::Storage { hop: at, error },
            })?;
            for (block, word) in hop.blocks.iter().zip(&words) {
                if word.0 == [0; 32] {
                    return Err(AnchorError::NotKept { block: *block });
                }
                blocks.insert(*block, BlockHash(word.0));
            }
            (expected, number) = (BlockHash(words[0].0), hop.blocks.first().copied());
            from = from.or(Some(header));
        }
        let from = from.ok_or(AnchorError::Shape(HOPS))?;
        Ok(Self { chain: line.chain, day: line.day, from, blocks })
    }

    /// The file of these hops. Each must begin at the lowest block of the previous one. Unused nodes are left out.
    pub fn file(chain: Caip2, day: u32, hops: &[HopParts<'_>]) -> Result<Vec<u8>, AnchorError> {
        let (mut lines, mut parts, mut block) = (Vec::new(), Vec::new(), None);
        for (at, hop) in hops.iter().enumerate() {
            let header =
                BlockHeader::from_rlp(hop.header).ok_or(AnchorError::Header { hop: at })?;
            let nodes = NodePool::from_nodes(hop.nodes);
            let key = [keccak256(&HISTORY_CONTRACT.0)];
            let (met, account) = nodes
                .in_order(header.state_root, &key)
                .map_err(|error| AnchorError::Account { hop: at, error })?;
            let root = storage_of(at, account[0])?;
            let mut keys: Vec<[u8; 32]> =
                hop.blocks.iter().map(|block| keccak256(&history_slot(chain, *block))).collect();
            crate::stable_sort::sort(&mut keys, Ord::cmp);
            let storage = nodes.in_order(root, &keys).map_err(|error| AnchorError::Storage {
                hop: at,
                error: ProofError::Storage(error),
            })?;
            let hop_parts = [hop.header.to_vec(), met, storage.0];
            let [header_bytes, accounts, storage] =
                hop_parts.each_ref().map(|part| u32::try_from(part.len()).unwrap_or(u32::MAX));
            let lengths = (header_bytes, accounts, storage);
            lines.push(HopLine { blocks: hop.blocks.to_vec(), lengths });
            parts.extend(hop_parts);
            block = block.or(Some(header.hash));
        }
        let block = block.ok_or(AnchorError::Shape(HOPS))?;
        let mut file = to_canonical(&Line { v: VERSION, chain, day, block, hops: lines })?;
        file.push(b'\n');
        file.extend(parts.concat());
        // Verifies the written file by reading it.
        Self::from_bytes(&file)?;
        Ok(file)
    }
}

const HOPS: &str = "it has too few or too many hops";

impl Line {
    fn check(&self) -> Result<(), AnchorError> {
        if self.hops.is_empty() || self.hops.len() > MAX_HOPS {
            return Err(AnchorError::Shape(HOPS));
        }
        let count: usize = self.hops.iter().map(|hop| hop.blocks.len()).sum();
        if count > MAX_ANCHORED_BLOCKS {
            return Err(AnchorError::Shape("it has too many blocks"));
        }
        let ascends = |hop: &HopLine| {
            !hop.blocks.is_empty() && hop.blocks.is_sorted_by(|earlier, later| earlier < later)
        };
        if !self.hops.iter().all(ascends) {
            return Err(AnchorError::Shape("the blocks of a hop are not in ascending order"));
        }
        Ok(())
    }
}

/// Requires that the contract keeps these ascending blocks at the block of a header.
fn check_reach(chain: Caip2, from: &BlockHeader, blocks: &[u64]) -> Result<(), AnchorError> {
    let ring = history_window(chain);
    let is_kept = |block: &&u64| **block < from.number && from.number - **block <= ring;
    match blocks.iter().find(|block| !is_kept(block)) {
        Some(block) => Err(AnchorError::BeyondRing { block: *block, from: from.number, ring }),
        None => Ok(()),
    }
}

/// The root of the contract's storage, found by a walk that must use exactly these nodes.
fn storage_root(hop: usize, from: &BlockHeader, nodes: &[u8]) -> Result<[u8; 32], AnchorError> {
    let mut walk = Walk::new(from.state_root, InOrder(nodes));
    let account = walk
        .value(&keccak256(&HISTORY_CONTRACT.0))
        .map_err(|error| AnchorError::Account { hop, error })?;
    let root = storage_of(hop, account)?;
    if walk.into_nodes().0.is_empty() { Ok(root) } else { Err(AnchorError::Surplus { hop }) }
}

fn storage_of(hop: usize, account: Option<&[u8]>) -> Result<[u8; 32], AnchorError> {
    let account = account.and_then(Account::from_rlp).ok_or(AnchorError::NoHistory { hop })?;
    Ok(account.storage_root)
}
