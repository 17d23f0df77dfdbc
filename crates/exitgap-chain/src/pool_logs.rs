//! What one pool logged between two blocks, for whoever compares estimates with what was received. That no log is absent a
//! node cannot show; replaying them between two recorded states does.

use std::collections::BTreeSet;

use alloy::primitives::{B256, I256};
use alloy::rpc::types::Log;
use alloy::sol_types::SolEvent;
use exitgap_core::U256;
use exitgap_core::analytics::accuracy::{PoolEvent, PoolLog, PriceAfter, SwapAmounts};
use exitgap_core::ids::{Address, ChainSlug};
use exitgap_core::series::MissingReason;
use serde_json::json;
use tokio::time::Instant;

use crate::abi::{PancakePool, V2Pair, V3Pool, own};
use crate::blocks::contradiction;
use crate::config::Plan;
use crate::rpc::{ClientError, Rpc, RpcError, value};
use crate::{Limits, Missing};

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
    pub async fn read(
        &self,
        pool: Address,
        after: u64,
        last: u64,
        deadline: Instant,
    ) -> Result<Vec<PoolLog>, Missing> {
        let (mut from, mut found) = (after + 1, Vec::new());
        let mut stretch = self.rpc.blocks_per_log_request();
        while from <= last {
            let to = last.min(from.saturating_add(stretch - 1));
            match self.request(pool, from, to, deadline).await {
                Ok(more) => {
                    found.extend(more);
                    from = to + 1;
                }
                Err(failure) if failure.error.is_about_size() && to > from => {
                    stretch = self.rpc.ask_for_fewer_log_blocks((to - from).div_ceil(2));
                }
                Err(failure) => return Err(failure.into()),
            }
            if found.len() > MAX_LOGS {
                let detail = format!("more than {MAX_LOGS} logs");
                return Err(Missing::new(MissingReason::RpcResponseInvalid, detail));
            }
        }
        found.sort_by_key(|log| (log.block, log.index));
        Ok(found)
    }

    async fn request(
        &self,
        pool: Address,
        from: u64,
        to: u64,
        deadline: Instant,
    ) -> Result<Vec<PoolLog>, crate::rpc::Failure> {
        let events: BTreeSet<String> = EVENTS.iter().map(ToString::to_string).collect();
        let params = json!([{
            "fromBlock": format!("{from:#x}"),
            "toBlock": format!("{to:#x}"),
            "address": pool.to_string(),
            "topics": [events],
        }]);
        let decode = |raw: &_| -> Result<Vec<PoolLog>, RpcError> {
            let logs: Vec<Log> = value(raw)?;
            logs.iter().map(|log| decoded(log, pool, from, to)).collect()
        };
        self.rpc.request("eth_getLogs", &params, deadline, decode).await
    }
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

fn decoded(log: &Log, pool: Address, from: u64, to: u64) -> Result<PoolLog, RpcError> {
    if own(log.address()) != pool {
        return Err(contradiction("a log's address", pool, own(log.address())));
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
    Ok(PoolLog { block, index, transaction, event: event_of(log)? })
}

fn event_of(log: &Log) -> Result<PoolEvent, RpcError> {
    let malformed =
        |_| contradiction("a log's data", "what its first topic says", "something else");
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
            PoolEvent::Swap(signed([swap.amount0, swap.amount1]), Some(price))
        }
        PancakePool::Swap::SIGNATURE_HASH => {
            let swap = PancakePool::Swap::decode_log_data(data).map_err(malformed)?;
            let price = PriceAfter {
                sqrt_price_x96: U256::from(swap.sqrtPriceX96),
                tick: swap.tick.as_i32(),
                liquidity: swap.liquidity,
            };
            PoolEvent::Swap(signed([swap.amount0, swap.amount1]), Some(price))
        }
        V3Pool::Mint::SIGNATURE_HASH => {
            let mint = V3Pool::Mint::decode_log_data(data).map_err(malformed)?;
            let [lower, upper] = [mint.tickLower.as_i32(), mint.tickUpper.as_i32()];
            PoolEvent::Liquidity { lower, upper, delta: liquidity(mint.amount)? }
        }
        V3Pool::Burn::SIGNATURE_HASH => {
            let burn = V3Pool::Burn::decode_log_data(data).map_err(malformed)?;
            let [lower, upper] = [burn.tickLower.as_i32(), burn.tickUpper.as_i32()];
            PoolEvent::Liquidity { lower, upper, delta: -liquidity(burn.amount)? }
        }
        V2Pair::Swap::SIGNATURE_HASH => {
            let swap = V2Pair::Swap::decode_log_data(data).map_err(malformed)?;
            let amounts = SwapAmounts {
                sold: [swap.amount0In, swap.amount1In],
                bought: [swap.amount0Out, swap.amount1Out],
            };
            PoolEvent::Swap(amounts, None)
        }
        V2Pair::Sync::SIGNATURE_HASH => {
            let sync = V2Pair::Sync::decode_log_data(data).map_err(malformed)?;
            PoolEvent::Reserves([sync.reserve0.to(), sync.reserve1.to()])
        }
        V2Pair::Mint::SIGNATURE_HASH => {
            let mint = V2Pair::Mint::decode_log_data(data).map_err(malformed)?;
            PoolEvent::Deposit([mint.amount0, mint.amount1])
        }
        V2Pair::Burn::SIGNATURE_HASH => {
            let burn = V2Pair::Burn::decode_log_data(data).map_err(malformed)?;
            PoolEvent::Withdrawal([burn.amount0, burn.amount1])
        }
        other => return Err(contradiction("a log's topics", "an event asked for", other)),
    })
}

/// Positive amounts went into the pool, negative ones out of it.
fn signed(amounts: [I256; 2]) -> SwapAmounts {
    let part = |amount: I256, counts: bool| if counts { amount.unsigned_abs() } else { U256::ZERO };
    SwapAmounts {
        sold: amounts.map(|amount| part(amount, amount.is_positive())),
        bought: amounts.map(|amount| part(amount, amount.is_negative())),
    }
}

fn liquidity(amount: u128) -> Result<i128, RpcError> {
    i128::try_from(amount).map_err(|_| contradiction("a log's liquidity", "below 2^127", amount))
}
