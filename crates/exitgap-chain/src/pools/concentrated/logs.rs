//! Which ticks changed since a block: what the pools' `Mint` and `Burn` logs name.
//!
//! The logs only say where to look. What stands there is read again at the pinned hash.

use std::collections::{BTreeMap, BTreeSet};

use alloy::primitives::B256;
use alloy::rpc::types::Log;
use alloy::sol_types::SolEvent;
use exitgap_core::ids::Address;
use exitgap_core::pools::MAX_TICK;
use exitgap_core::snapshot::BlockRef;
use serde_json::json;
use tokio::time::Instant;

use crate::abi::{V3Pool, own};
use crate::blocks::contradiction;
use crate::rpc::{Failure, Rpc, RpcError, value};

/// Ticks to read again, by pool.
pub(crate) type ChangedTicks = BTreeMap<Address, BTreeSet<i32>>;

/// The ticks that `Mint` and `Burn` logs of `pools` name in the blocks from `first` up to and
/// including `last`. In as many requests as [`crate::Limits::log_blocks`] asks for; shorter
/// stretches where nodes refuse that many, as long as [`crate::Limits::log_requests`] allows.
pub(crate) async fn changed_ticks(
    rpc: &Rpc,
    pools: &BTreeSet<Address>,
    first: u64,
    last: BlockRef,
    deadline: Instant,
) -> Result<ChangedTicks, Failure> {
    let mut changed = ChangedTicks::new();
    let mut stretch = rpc.limits().log_blocks.max(1);
    let (mut from, mut requests) = (first, 0);
    while from <= last.number {
        let to = last.number.min(from.saturating_add(stretch - 1));
        requests += 1;
        match request(rpc, pools, from, to, last, deadline).await {
            Ok(more) => {
                for (pool, tick) in more {
                    changed.entry(pool).or_default().insert(tick);
                }
                from = to + 1;
            }
            Err(failure)
                if failure.error.is_about_size()
                    && to > from
                    && requests < rpc.limits().log_requests =>
            {
                stretch = (to - from).div_ceil(2);
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(changed)
}

async fn request(
    rpc: &Rpc,
    pools: &BTreeSet<Address>,
    from: u64,
    to: u64,
    last: BlockRef,
    deadline: Instant,
) -> Result<Vec<(Address, i32)>, Failure> {
    let addresses: Vec<String> = pools.iter().map(ToString::to_string).collect();
    let params = json!([{
        "fromBlock": format!("{from:#x}"),
        "toBlock": format!("{to:#x}"),
        "address": addresses,
        "topics": [[V3Pool::Mint::SIGNATURE_HASH, V3Pool::Burn::SIGNATURE_HASH]],
    }]);
    let decode = |raw: &_| -> Result<Vec<(Address, i32)>, RpcError> {
        let logs: Vec<Log> = value(raw)?;
        let mut ticks = Vec::with_capacity(2 * logs.len());
        for log in &logs {
            let (pool, bounds) = check(log, pools, from, to, last)?;
            ticks.extend(bounds.map(|tick| (pool, tick)));
        }
        Ok(ticks)
    };
    rpc.request("eth_getLogs", &params, deadline, decode).await
}

/// The pool and the two ticks of a log, if it is one of those asked for.
fn check(
    log: &Log,
    pools: &BTreeSet<Address>,
    from: u64,
    to: u64,
    last: BlockRef,
) -> Result<(Address, [i32; 2]), RpcError> {
    let pool = own(log.address());
    if !pools.contains(&pool) {
        return Err(contradiction("a log's address", "one of the pools asked for", pool));
    }
    if log.removed {
        return Err(contradiction("a log's removed flag", false, true));
    }
    let number = log.block_number.unwrap_or(0);
    if !(from..=to).contains(&number) {
        return Err(contradiction("a log's block", format!("from {from} to {to}"), number));
    }
    let hash = log.block_hash.unwrap_or_default();
    if number == last.number && hash.0 != last.hash.0 {
        return Err(contradiction("a log's block hash", last.hash, hash));
    }
    let topics = log.topics();
    let known = [V3Pool::Mint::SIGNATURE_HASH, V3Pool::Burn::SIGNATURE_HASH];
    match topics {
        [event, _, lower, upper] if known.contains(event) => {
            Ok((pool, [tick_of(*lower)?, tick_of(*upper)?]))
        }
        _ => Err(contradiction("a log's topics", "Mint or Burn with three indexed", topics.len())),
    }
}

/// A tick out of a sign-extended topic.
fn tick_of(topic: B256) -> Result<i32, RpcError> {
    let [head @ .., a, b, c, d] = topic.0;
    let tick = i32::from_be_bytes([a, b, c, d]);
    let sign = if tick < 0 { 0xff } else { 0 };
    if head.iter().all(|byte| *byte == sign) && tick.unsigned_abs() <= MAX_TICK.unsigned_abs() {
        return Ok(tick);
    }
    Err(contradiction("a log's tick", format!("within ±{MAX_TICK}"), topic))
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Bytes, LogData};
    use exitgap_core::ids::BlockHash;

    use super::*;

    const POOL: Address = Address([8; 20]);
    const LAST: BlockRef = BlockRef { hash: BlockHash([2; 32]), number: 20, timestamp: 1 };

    fn topic(tick: i32) -> B256 {
        let mut bytes = [if tick < 0 { 0xff } else { 0 }; 32];
        bytes[28..].copy_from_slice(&tick.to_be_bytes());
        B256::from(bytes)
    }

    fn mint(lower: B256, upper: B256) -> Log {
        let topics = vec![V3Pool::Mint::SIGNATURE_HASH, B256::ZERO, lower, upper];
        let data = LogData::new_unchecked(topics, Bytes::new());
        Log {
            inner: alloy::primitives::Log { address: crate::abi::wire(POOL), data },
            block_number: Some(20),
            block_hash: Some(B256::repeat_byte(2)),
            ..Log::default()
        }
    }

    #[test]
    fn a_log_names_its_two_ticks_and_a_wrong_one_is_refused() {
        let pools = BTreeSet::from([POOL]);
        let read = |log: &Log| check(log, &pools, 11, 20, LAST);
        let good = mint(topic(-887_220), topic(60));
        assert_eq!(read(&good), Ok((POOL, [-887_220, 60])));

        let what = |log: &Log| match read(log) {
            Err(RpcError::Contradiction { what, .. }) => what,
            other => panic!("{other:?}"),
        };
        let changed = |change: fn(&mut Log)| {
            let mut log = mint(topic(-60), topic(60));
            change(&mut log);
            what(&log)
        };
        assert_eq!(changed(|log| log.removed = true), "a log's removed flag");
        assert_eq!(changed(|log| log.block_number = Some(21)), "a log's block");
        assert_eq!(changed(|log| log.block_number = None), "a log's block");
        assert_eq!(changed(|log| log.block_hash = None), "a log's block hash");
        assert_eq!(
            changed(|log| log.inner.address = crate::abi::wire(Address([9; 20]))),
            "a log's address"
        );
        assert_eq!(what(&mint(topic(MAX_TICK + 1), topic(60))), "a log's tick");
        assert_eq!(what(&mint(B256::repeat_byte(0x80), topic(60))), "a log's tick");
        // Sign-extended as it should be, and the one number without an absolute value.
        assert_eq!(what(&mint(topic(i32::MIN), topic(60))), "a log's tick");
        assert_eq!(what(&mint(topic(-MAX_TICK - 1), topic(60))), "a log's tick");
        let mut short = mint(topic(0), topic(1));
        let topics = vec![V3Pool::Mint::SIGNATURE_HASH];
        short.inner.data = LogData::new_unchecked(topics, Bytes::new());
        assert_eq!(what(&short), "a log's topics");
    }
}
