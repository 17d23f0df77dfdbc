//! What the bytes of a block's header, and those of an account, say.

use super::rlp::{hash, list, number, text};
use super::trie::keccak256;
use crate::ids::BlockHash;

/// The fewest and the most fields of a header: forks append, and no fork so far has half as many.
const FIELDS: core::ops::RangeInclusive<usize> = 15..=32;

/// What of a header counts here; it stands alike on Ethereum, on OP chains and on Arbitrum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockHeader {
    /// The hash of its bytes, which is the block's.
    pub hash: BlockHash,
    /// The block before it.
    pub parent: BlockHash,
    /// The root of the accounts' trie after it.
    pub state_root: [u8; 32],
    /// Its number.
    pub number: u64,
    /// Its timestamp, seconds UTC.
    pub timestamp: u64,
}

impl BlockHeader {
    /// Reads the header that these bytes are the RLP of.
    pub fn from_rlp(rlp: &[u8]) -> Option<Self> {
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

/// What of an account counts here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Account {
    /// The root of its storage's trie.
    pub storage_root: [u8; 32],
    /// The hash of its code, where that is one.
    pub code_hash: Option<[u8; 32]>,
}

impl Account {
    /// Reads the payload that stands under its address.
    pub fn from_rlp(rlp: &[u8]) -> Option<Self> {
        let (fields, 4) = list::<4>(rlp)? else { return None };
        Some(Self { storage_root: hash(fields[2])?, code_hash: hash(fields[3]) })
    }
}
