//! What pools logged between two blocks, for whoever compares estimates with what was received. That no log is absent a
//! node cannot show; replaying them between two recorded states does.

use std::collections::{BTreeMap, BTreeSet};

use alloy::primitives::{B256, I256};
use alloy::sol_types::SolEvent;
use alloy_rpc_types_eth::Log;
use exitgap_core::U256;
use exitgap_core::analytics::accuracy::{PoolEvent, PoolLog, PriceAfter, SwapAmounts};
use exitgap_core::ids::{Address, ChainSlug};
use exitgap_core::series::MissingReason;
use serde_json::json;
use tokio::time::Instant;

use crate::abi::{PancakePool, V2Pair, V3Pool, own};
use crate::blocks::contradiction;
use crate::config::Plan;
use crate::limits::MAX_NAMED;
use crate::rpc::{ClientError, Failure, Rpc, RpcError, value};
use crate::{Limits, ReadFailure};

/// The most logs that one reading may have.
const MAX_LOGS: usize = 1_000_000;

/// The nodes of a chain, asked for the logs of its pools.
#[derive(Debug)]
pub struct PoolLogs {
    rpc: Rpc,
}

impl PoolLogs {
    /// The nodes of a chain that the plan has; `None` where it has none. Sends nothing yet.
    pub fn new(
        plan: &Plan,
        chain: &ChainSlug,
        limits: Limits,
    ) -> Result<Option<Self>, ClientError> {
        let chain = plan.chains().iter().find(|planned| planned.slug() == chain);
        chain.map(|chain| Ok(Self { rpc: Rpc::new(chain, limits)? })).transpose()
    }

    /// All swaps, changes of liquidity and reserves that a pool logged in the blocks after `after` up to and with `last`,
    /// in the order of the chain.
    pub async fn read_logs(
        &self,
        pool: Address,
        after: u64,
        last: u64,
        deadline: Instant,
    ) -> Result<Vec<PoolLog>, ReadFailure> {
        let pools = BTreeSet::from([pool]);
        let (_, mut found) =
            fetch_logs(&self.rpc, &pools, [after, last], u64::MAX, deadline).await?;
        Ok(found.remove(&pool).unwrap_or_default())
    }
}

/// Pools whose logs are asked for: each with the block that was its last.
pub type LogsSince = BTreeMap<Address, u64>;

/// What a pool logged in the blocks after the last one, up to and with another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogsUntil {
    /// The last block.
    pub to_block: u64,
    /// In the order of the chain.
    pub logs: Vec<PoolLog>,
}

/// What pools logged up to `last`, or to a nearer block where the nodes serve no more within `most` requests.
pub(crate) async fn read_since(
    rpc: &Rpc,
    since: &LogsSince,
    last: u64,
    most: u64,
    deadline: Instant,
) -> Result<BTreeMap<Address, LogsUntil>, ReadFailure> {
    let mut found = BTreeMap::new();
    for (after, pools) in together(since, last, usize::try_from(most).unwrap_or(1)) {
        let (to_block, mut logs) = fetch_logs(rpc, &pools, [after, last], most, deadline).await?;
        found.extend(pools.into_iter().map(|pool| {
            (pool, LogsUntil { to_block, logs: logs.remove(&pool).unwrap_or_default() })
        }));
    }
    Ok(found)
}

/// Pools that are asked for together: of one last block before `last`, and no more than a request names. Those that are furthest
/// ahead are most, and come first: whoever lags holds nobody up. Of so many blocks at most, and then of all their pools: none
/// of those that stand alike falls behind the others.
fn together(since: &LogsSince, last: u64, most: usize) -> Vec<(u64, BTreeSet<Address>)> {
    let mut by_block: BTreeMap<u64, Vec<Address>> = BTreeMap::new();
    for (pool, after) in since.iter().filter(|(_, after)| **after < last) {
        by_block.entry(*after).or_default().push(*pool);
    }
    let mut together = Vec::new();
    for (after, pools) in by_block.into_iter().rev().take(most) {
        let named = pools.chunks(MAX_NAMED).map(|named| (after, named.iter().copied().collect()));
        together.extend(named);
    }
    together
}

/// The logs of pools in the blocks after one and up to another, by pool, in the order of the chain; the second is the
/// last block of as many as were read in `most` requests.
async fn fetch_logs(
    rpc: &Rpc,
    pools: &BTreeSet<Address>,
    [after, last]: [u64; 2],
    most: u64,
    deadline: Instant,
) -> Result<(u64, BTreeMap<Address, Vec<PoolLog>>), ReadFailure> {
    let mut found: BTreeMap<Address, Vec<PoolLog>> = BTreeMap::new();
    let (mut from, mut count, mut requests) = (after + 1, 0, 0);
    // A pool's swaps are many, and what nodes serve of them says little of the logs that ticks are followed by.
    let mut stretch = rpc.blocks_per_log_request();
    while from <= last && requests < most {
        let to = last.min(from.saturating_add(stretch - 1));
        requests += 1;
        match request(rpc, pools, from, to, deadline).await {
            Ok(more) => {
                count += more.len();
                for (pool, log) in more {
                    found.entry(pool).or_default().push(log);
                }
                from = to + 1;
            }
            Err(failure) if failure.error.is_about_size() && to > from => {
                stretch = (to - from).div_ceil(2);
            }
            Err(failure) => return Err(failure.into()),
        }
        if count > MAX_LOGS {
            let detail = format!("more than {MAX_LOGS} logs");
            return Err(ReadFailure::new(MissingReason::RpcResponseInvalid, detail));
        }
    }
    for logs in found.values_mut() {
        logs.sort_by_key(|log| (log.block, log.index));
    }
    Ok((from - 1, found))
}

async fn request(
    rpc: &Rpc,
    pools: &BTreeSet<Address>,
    from: u64,
    to: u64,
    deadline: Instant,
) -> Result<Vec<(Address, PoolLog)>, Failure> {
    let events: BTreeSet<String> = EVENTS.iter().map(ToString::to_string).collect();
    let addresses: Vec<String> = pools.iter().map(ToString::to_string).collect();
    let params = json!([{
        "fromBlock": format!("{from:#x}"),
        "toBlock": format!("{to:#x}"),
        "address": addresses,
        "topics": [events],
    }]);
    let decode = |raw: &_| -> Result<Vec<(Address, PoolLog)>, RpcError> {
        let logs: Vec<Log> = value(raw)?;
        logs.iter().map(|log| decode_log(log, pools, from, to)).collect()
    };
    rpc.request("eth_getLogs", &params, deadline, decode).await
}

const EVENTS: [B256; 8] = [
    V3Pool::Swap::SIGNATURE_HASH,
    V3Pool::Mint::SIGNATURE_HASH,
    V3Pool::Burn::SIGNATURE_HASH,
    PancakePool::Swap::SIGNATURE_HASH,
    V2Pair::Swap::SIGNATURE_HASH,
    V2Pair::Sync::SIGNATURE_HASH,
    V2Pair::Mint::SIGNATURE_HASH,
    V2Pair::Burn::SIGNATURE_HASH,
];

fn decode_log(
    log: &Log,
    pools: &BTreeSet<Address>,
    from: u64,
    to: u64,
) -> Result<(Address, PoolLog), RpcError> {
    let pool = own(log.address());
    if !pools.contains(&pool) {
        return Err(contradiction("a log's address", "one of the requested pools", pool));
    }
    if log.removed {
        return Err(contradiction("a log's removed flag", false, true));
    }
    let block = log.block_number.unwrap_or(0);
    if !(from..=to).contains(&block) {
        return Err(contradiction("a log's block", format!("from {from} to {to}"), block));
    }
    let index = log.log_index.and_then(|index| u32::try_from(index).ok());
    let index = index.ok_or_else(|| contradiction("a log's index", "a number", "none"))?;
    let transaction = log.transaction_hash.unwrap_or_default().0;
    let (event, parties) = event_of(log)?;
    let parties = parties.map(own);
    Ok((pool, PoolLog { block, index, transaction, parties, event }))
}

type Parties = [alloy::primitives::Address; 2];

/// What a log says, and who is party to it.
fn event_of(log: &Log) -> Result<(PoolEvent, Parties), RpcError> {
    let nobody = alloy::primitives::Address::ZERO;
    let malformed =
        |_| contradiction("a log's data", "data that fits its first topic", "something else");
    let topic = log.topic0().copied().unwrap_or_default();
    let data = &log.inner.data;
    Ok(match topic {
        V3Pool::Swap::SIGNATURE_HASH => {
            let swap = V3Pool::Swap::decode_log_data(data).map_err(malformed)?;
            let price = PriceAfter {
                sqrt_price_x96: U256::from(swap.sqrtPriceX96),
                tick: swap.tick.as_i32(),
                liquidity: swap.liquidity,
            };
            let amounts = swap_amounts([swap.amount0, swap.amount1]);
            (PoolEvent::Swap(amounts, Some(price)), [swap.sender, swap.recipient])
        }
        PancakePool::Swap::SIGNATURE_HASH => {
            let swap = PancakePool::Swap::decode_log_data(data).map_err(malformed)?;
            let price = PriceAfter {
                sqrt_price_x96: U256::from(swap.sqrtPriceX96),
                tick: swap.tick.as_i32(),
                liquidity: swap.liquidity,
            };
            let amounts = swap_amounts([swap.amount0, swap.amount1]);
            (PoolEvent::Swap(amounts, Some(price)), [swap.sender, swap.recipient])
        }
        V3Pool::Mint::SIGNATURE_HASH => {
            let mint = V3Pool::Mint::decode_log_data(data).map_err(malformed)?;
            let [lower, upper] = [mint.tickLower.as_i32(), mint.tickUpper.as_i32()];
            let delta = liquidity(mint.amount)?;
            (PoolEvent::Liquidity { lower, upper, delta }, [mint.owner; 2])
        }
        V3Pool::Burn::SIGNATURE_HASH => {
            let burn = V3Pool::Burn::decode_log_data(data).map_err(malformed)?;
            let [lower, upper] = [burn.tickLower.as_i32(), burn.tickUpper.as_i32()];
            let delta = -liquidity(burn.amount)?;
            (PoolEvent::Liquidity { lower, upper, delta }, [burn.owner; 2])
        }
        V2Pair::Swap::SIGNATURE_HASH => {
            let swap = V2Pair::Swap::decode_log_data(data).map_err(malformed)?;
            let amounts = SwapAmounts {
                sold: [swap.amount0In, swap.amount1In],
                bought: [swap.amount0Out, swap.amount1Out],
            };
            (PoolEvent::Swap(amounts, None), [swap.sender, swap.to])
        }
        V2Pair::Sync::SIGNATURE_HASH => {
            let sync = V2Pair::Sync::decode_log_data(data).map_err(malformed)?;
            (PoolEvent::Reserves([sync.reserve0.to(), sync.reserve1.to()]), [nobody; 2])
        }
        V2Pair::Mint::SIGNATURE_HASH => {
            let mint = V2Pair::Mint::decode_log_data(data).map_err(malformed)?;
            (PoolEvent::Deposit([mint.amount0, mint.amount1]), [mint.sender, nobody])
        }
        V2Pair::Burn::SIGNATURE_HASH => {
            let burn = V2Pair::Burn::decode_log_data(data).map_err(malformed)?;
            (PoolEvent::Withdrawal([burn.amount0, burn.amount1]), [burn.sender, burn.to])
        }
        other => return Err(contradiction("a log's topics", "a requested event", other)),
    })
}

/// Positive amounts went into the pool, negative ones out of it.
fn swap_amounts(amounts: [I256; 2]) -> SwapAmounts {
    let part = |amount: I256, counts: bool| if counts { amount.unsigned_abs() } else { U256::ZERO };
    SwapAmounts {
        sold: amounts.map(|amount| part(amount, amount.is_positive())),
        bought: amounts.map(|amount| part(amount, amount.is_negative())),
    }
}

fn liquidity(amount: u128) -> Result<i128, RpcError> {
    i128::try_from(amount).map_err(|_| contradiction("a log's liquidity", "below 2^127", amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_ahead_comes_first_and_no_request_names_more_than_nodes_take() {
        let pool = |n: usize| {
            let mut bytes = [0; 20];
            bytes[..8].copy_from_slice(&(n as u64).to_be_bytes());
            Address(bytes)
        };
        let block = |n| if n < 2 * MAX_NAMED + 1 { 90 } else { 80 };
        let mut since: LogsSince = (0..2 * MAX_NAMED + 3).map(|n| (pool(n), block(n))).collect();
        since.insert(pool(7), 100);
        let asked = together(&since, 100, 2);
        let counted: Vec<_> = asked.iter().map(|(after, pools)| (*after, pools.len())).collect();
        assert_eq!(counted, [(90, MAX_NAMED), (90, MAX_NAMED), (80, 2)]);
        let named: BTreeSet<Address> = asked.into_iter().flat_map(|(_, pools)| pools).collect();
        assert_eq!(named.len(), since.len() - 1);
        assert!(!named.contains(&pool(7)));
        assert_eq!(together(&since, 100, 1).len(), 2);
    }
}
