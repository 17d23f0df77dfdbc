//! Where the words of a pool lie in the storage of Uniswap v4's manager, and how they are asked
//! for. Source: `StateLibrary.sol` of v4-core.

use alloy::primitives::{B256, I256, U256 as Number, keccak256};
use alloy::sol_types::SolValue;
use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId, Word};

use crate::abi::{Answer, Call, V4Manager};
use crate::pools::call_failure;
use crate::read_failure::ReadFailure;

/// The manager's mapping from ids to pools.
const POOLS: u64 = 6;
/// Within a pool, counted from its first word: liquidity, and the mappings of ticks and of words of
/// the bitmap.
const LIQUIDITY: u64 = 3;
const TICKS: u64 = 4;
const BITMAP: u64 = 5;

/// Words asked for in one call: few enough that a call's gas is a small part of what nodes allow.
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

    /// The first word of a tick: its gross liquidity below, its net one above.
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
            // The answer is a list: its place and its length come before the words.
            let call = V4Manager::extsloadCall { slots: slots.to_vec() };
            Call::new(self.manager, &call, 2 + slots.len())
        };
        slots.chunks(TOGETHER).map(call).collect()
    }
}

/// The words that such a call answered.
pub(super) fn words_of(pool: &PoolId, answer: &Answer) -> Result<Vec<U256>, ReadFailure> {
    let words = answer.return_data().map_or(0, |data| data.len() / 32);
    let told = answer.exact::<V4Manager::extsloadCall>(words);
    let told = told.ok_or_else(|| call_failure(pool, "extsload", answer))?;
    Ok(told.into_iter().map(|word| U256::from_be_bytes(word.0)).collect())
}

/// The words of all these calls, as many as were asked for.
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
