//! The position of a pool's words in the storage of Uniswap v4's manager, and the calls that read them. Source:
//! `StateLibrary.sol` of v4-core.

use alloy::primitives::{B256, I256, U256 as Number, keccak256};
use alloy::sol_types::SolValue;
use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId, Word};

use crate::abi::{Answer, Call, V4Manager};
use crate::pools::call_failure;
use crate::read_failure::ReadFailure;

/// The manager's mapping from ids to pools.
const POOLS: u64 = 6;
/// Offsets within a pool, from its first word: liquidity, and the mappings of ticks and of bitmap words.
const LIQUIDITY: u64 = 3;
const TICKS: u64 = 4;
const BITMAP: u64 = 5;

/// The number of words in one call: few enough that a call's gas is a small part of the limit of nodes.
const TOGETHER: usize = 64;

/// The words of one pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Storage {
    manager: Address,
    base: Number,
}

impl Storage {
    pub(super) fn for_pool(manager: Address, id: Word) -> Self {
        let base = keccak256((B256::from(id.0), Number::from(POOLS)).abi_encode());
        Self { manager, base: base.into() }
    }

    pub(super) fn manager(&self) -> Address {
        self.manager
    }

    /// The first word, with price, tick and fees; and the liquidity.
    pub(super) fn price(&self) -> [B256; 2] {
        [self.at(0).into(), self.at(LIQUIDITY).into()]
    }

    /// The first word of a tick: the gross liquidity in the low half and the net liquidity in the high half.
    pub(super) fn tick(&self, tick: i32) -> B256 {
        self.in_mapping(TICKS, tick)
    }

    /// A word of the bitmap.
    pub(super) fn bitmap(&self, word: i16) -> B256 {
        self.in_mapping(BITMAP, word.into())
    }

    fn at(&self, offset: u64) -> Number {
        self.base.wrapping_add(Number::from(offset))
    }

    fn in_mapping(&self, mapping: u64, key: i32) -> B256 {
        let key = I256::unchecked_from(key);
        keccak256((key, self.at(mapping)).abi_encode())
    }

    /// The calls that read these words.
    pub(super) fn calls(&self, slots: &[B256]) -> Vec<Call> {
        let call = |slots: &[B256]| {
            // The answer is a list: its offset and its length precede the words.
            let call = V4Manager::extsloadCall { slots: slots.to_vec() };
            Call::new(self.manager, &call, 2 + slots.len())
        };
        slots.chunks(TOGETHER).map(call).collect()
    }
}

/// Decodes the words in the answer to such a call.
pub(super) fn words_of(pool: &PoolId, answer: &Answer) -> Result<Vec<U256>, ReadFailure> {
    let words = answer.return_data().map_or(0, |data| data.len() / 32);
    let told = answer.exact::<V4Manager::extsloadCall>(words);
    let told = told.ok_or_else(|| call_failure(pool, "extsload", answer))?;
    Ok(told.into_iter().map(|word| U256::from_be_bytes(word.0)).collect())
}

/// Decodes the words of all these calls, and requires the requested number.
pub(super) fn all_words(
    pool: &PoolId,
    asked: usize,
    answers: &[Answer],
) -> Result<Vec<U256>, ReadFailure> {
    let mut words = Vec::with_capacity(asked);
    for answer in answers {
        let more = words_of(pool, answer)?;
        if more.len() != TOGETHER.min(asked - words.len()) {
            return Err(call_failure(pool, "extsload", answer));
        }
        words.extend(more);
    }
    Ok(words)
}
