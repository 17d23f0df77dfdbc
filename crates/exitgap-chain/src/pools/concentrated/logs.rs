//! The ticks that `Mint` and `Burn` logs name.
//!
//! The logs only show which ticks may have changed. Their liquidity is read again at the pinned hash.

use alloy::primitives::B256;
use alloy::sol_types::SolEvent;
use alloy_rpc_types_eth::Log;
use exitgap_core::ids::Address;
use exitgap_core::pools::MAX_TICK;

use crate::abi::V3Pool;
use crate::blocks::contradiction;
use crate::pools::reader::Watch;
use crate::rpc::RpcError;

/// The logs of a pool that name ticks.
pub(in crate::pools) fn watch(pool: Address) -> Watch {
    let events = vec![V3Pool::Mint::SIGNATURE_HASH, V3Pool::Burn::SIGNATURE_HASH];
    Watch { emitter: pool, events, id: None }
}

/// The two ticks of a log.
pub(in crate::pools) fn bounds_of(log: &Log) -> Result<Vec<i32>, RpcError> {
    match log.topics() {
        [_, _, lower, upper] => Ok(vec![tick_of(*lower)?, tick_of(*upper)?]),
        topics => {
            Err(contradiction("a log's topics", "an event with three indexed fields", topics.len()))
        }
    }
}

/// The tick in a sign-extended word.
pub(in crate::pools) fn tick_of(word: B256) -> Result<i32, RpcError> {
    let [head @ .., a, b, c, d] = word.0;
    let tick = i32::from_be_bytes([a, b, c, d]);
    let sign = if tick < 0 { 0xff } else { 0 };
    if head.iter().all(|byte| *byte == sign) && tick.unsigned_abs() <= MAX_TICK.unsigned_abs() {
        return Ok(tick);
    }
    Err(contradiction("a log's tick", format!("within ±{MAX_TICK}"), word))
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Bytes, LogData};

    use super::*;

    const POOL: Address = Address([8; 20]);

    fn topic(tick: i32) -> B256 {
        let mut bytes = [if tick < 0 { 0xff } else { 0 }; 32];
        bytes[28..].copy_from_slice(&tick.to_be_bytes());
        B256::from(bytes)
    }

    fn log(topics: Vec<B256>) -> Log {
        let data = LogData::new_unchecked(topics, Bytes::new());
        let inner = alloy::primitives::Log { address: crate::abi::wire(POOL), data };
        Log { inner, ..Log::default() }
    }

    fn mint(lower: B256, upper: B256) -> Log {
        log(vec![V3Pool::Mint::SIGNATURE_HASH, B256::ZERO, lower, upper])
    }

    #[test]
    fn a_log_names_its_two_ticks_and_a_wrong_one_is_refused() {
        assert_eq!(bounds_of(&mint(topic(-887_220), topic(60))), Ok(vec![-887_220, 60]));
        let what = |log: &Log| match bounds_of(log) {
            Err(RpcError::Contradiction { what, .. }) => what,
            other => panic!("{other:?}"),
        };
        assert_eq!(what(&mint(topic(MAX_TICK + 1), topic(60))), "a log's tick");
        assert_eq!(what(&mint(B256::repeat_byte(0x80), topic(60))), "a log's tick");
        // Correctly sign-extended values, including the number without an absolute value.
        assert_eq!(what(&mint(topic(i32::MIN), topic(60))), "a log's tick");
        assert_eq!(what(&mint(topic(-MAX_TICK - 1), topic(60))), "a log's tick");
        assert_eq!(what(&log(vec![V3Pool::Mint::SIGNATURE_HASH])), "a log's topics");
    }
}
