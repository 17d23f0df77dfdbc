//! Curve's pools of two to eight coins.
//!
//! - `ng`: `StableSwap`-NG 7.0.0, identified by its factory
//! - `plain`: pools known by their own address, and pools of the first factory, known by the
//!   implementation that the factory reports for them
//! - `crypto`: Twocrypto-NG and Tricrypto-NG, identified by their factories and versions
//!
//! No Curve pool reports its own rules. Factories report whether a pool is theirs, and its version
//! determines its rules. Older pools are known only by their address. All of the state is read at
//! every slot, because rates and the administrator's share change without a log.

mod crypto;
mod ng;
mod plain;

use alloy::sol_types::SolCall;
use exitgap_core::ids::{Pair, PoolId};
use exitgap_core::pools::{PoolState, StableSwap, StableSwapParts};
use exitgap_core::series::MissingReason;

use super::call_failure;
use super::reader::DecodedState;
use crate::abi::Answer;
use crate::read_failure::ReadFailure;
use crate::trial::Sale;

pub(super) use crypto::CryptoReader;
pub(super) use ng::NgReader;
pub(super) use plain::PlainReader;

/// The number of words in the answer with a short text.
const TEXT_WORDS: usize = 3;

/// The maximum number of coins of a pool.
const MAX_COINS: usize = Pair::MAX_TOKENS as usize;

/// The number of words in an answer with a list of this length.
const fn list_words(entries: usize) -> usize {
    2 + entries
}

/// Decodes an answer with a fixed number of words.
fn decode_answer<C: SolCall>(
    pool: &PoolId,
    call: &str,
    answer: Option<&Answer>,
    words: usize,
) -> Result<C::Return, ReadFailure> {
    let answer = answer.unwrap_or(&Answer::Reverted);
    answer.exact::<C>(words).ok_or_else(|| call_failure(pool, call, answer))
}

fn state_of(pool: &PoolId, parts: StableSwapParts) -> Result<DecodedState, ReadFailure> {
    let state = StableSwap::new(parts).map_err(|error| {
        let detail = format!("pool {pool}: {error}");
        ReadFailure::new(MissingReason::StateInconsistent, detail)
    })?;
    Ok(DecodedState::Whole(PoolState::from(state)))
}

/// The indices of the coins sold and bought, in the contract's type.
fn coins_of(sale: &Sale) -> [i128; 2] {
    let pair = sale.pair.bytes().map(i128::from);
    [pair[sale.direction.base_index()], pair[sale.direction.quote_index()]]
}

#[cfg(test)]
pub(super) mod tests;
