//! Curve's pools of two to eight coins.
//!
//! - `ng`: `StableSwap`-NG 7.0.0, by the factory that says so
//! - `plain`: pools that are known by their own address, and the first factory's by the implementation
//!   that it says is theirs
//! - `crypto`: Twocrypto-NG and Tricrypto-NG, by their factories and versions
//!
//! No pool of Curve tells the rules it computes by. Factories tell whether a pool is theirs, and
//! its version which rules it has; what was made before them is known by its address alone.
//! All of the state is read at every slot: rates and the administrator's share move without a log.

mod crypto;
mod ng;
mod plain;

use alloy::sol_types::SolCall;
use exitgap_core::ids::{Pair, PoolId};
use exitgap_core::pools::{PoolState, StableSwap, StableSwapParts};
use exitgap_core::series::MissingReason;

use super::reader::Reading;
use super::unanswered;
use crate::abi::Answer;
use crate::missing::Missing;
use crate::trial::Sale;

pub(super) use crypto::CryptoReader;
pub(super) use ng::NgReader;
pub(super) use plain::PlainReader;

/// Words of a short text's answer.
const TEXT_WORDS: usize = 3;

/// The most coins of a pool.
const MAX_COINS: usize = Pair::MAX_TOKENS as usize;

/// Words of the answer that is a list of as many words.
const fn list_words(entries: usize) -> usize {
    2 + entries
}

/// What a call answered in as many words, or what is wrong with it.
fn told<C: SolCall>(
    pool: &PoolId,
    call: &str,
    answer: Option<&Answer>,
    words: usize,
) -> Result<C::Return, Missing> {
    let answer = answer.unwrap_or(&Answer::Reverted);
    answer.exact::<C>(words).ok_or_else(|| unanswered(pool, call, answer))
}

fn state_of(pool: &PoolId, parts: StableSwapParts) -> Result<Reading, Missing> {
    let state = StableSwap::new(parts).map_err(|error| {
        let detail = format!("pool {pool}: {error}");
        Missing::new(MissingReason::StateInconsistent, detail)
    })?;
    Ok(Reading::Whole(PoolState::from(state)))
}

/// The coins sold and bought, as the contracts count them.
fn coins_of(sale: &Sale) -> [i128; 2] {
    let pair = sale.pair.bytes().map(i128::from);
    [pair[sale.direction.base_index()], pair[sale.direction.quote_index()]]
}

#[cfg(test)]
pub(super) mod tests;
