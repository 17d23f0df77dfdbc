//! Parses the bytes of a block's header, and those of an account.

use super::rlp::{hash, list, number, text};
use super::trie::keccak256;
use crate::ids::BlockHash;

/// The minimum and maximum number of header fields. Forks append fields, and the maximum leaves room for more.
const FIELDS: core::ops::RangeInclusive<usize> = 15..=32;

/// The header fields that are used here. They are the same on Ethereum, OP chains and Arbitrum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockHeader {
    /// The hash of the header's bytes, which is the block's hash.
    pub hash: BlockHash,
    /// The block before it.
    pub parent: BlockHash,
    /// The root of the accounts trie after the block.
    pub state_root: [u8; 32],
    /// Its number.
    pub number: u64,
    /// Its timestamp, seconds UTC.
    pub timestamp: u64,
}

/// The maximum length of a header, in bytes: room for the signers that chains of proof of authority list in one.
const MAX_HEADER_BYTES: usize = 8 << 10;

impl BlockHeader {
    /// Parses a header from its RLP.
    pub fn from_rlp(rlp: &[u8]) -> Option<Self> {
        if rlp.len() > MAX_HEADER_BYTES {
            return None;
        }
        let (fields, count) = list::<32>(rlp)?;
        if !FIELDS.contains(&count) {
            return None;
        }
        let whole = |at: usize| Some(u64::from_be_bytes(number(text(fields[at])?)?));
        Some(Self {
            hash: BlockHash(keccak256(rlp)),
            parent: BlockHash(hash(fields[0])?),
            state_root: hash(fields[3])?,
            number: whole(8)?,
            timestamp: whole(11)?,
        })
    }
}

/// The account fields that are used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Account {
    /// The root of its storage's trie.
    pub storage_root: [u8; 32],
    /// The hash of its code, where that is one.
    pub code_hash: Option<[u8; 32]>,
}

impl Account {
    /// Parses the account payload at an address.
    pub fn from_rlp(rlp: &[u8]) -> Option<Self> {
        let (fields, 4) = list::<4>(rlp)? else { return None };
        Some(Self { storage_root: hash(fields[2])?, code_hash: hash(fields[3]) })
    }
}
