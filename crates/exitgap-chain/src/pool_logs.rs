//! Reads pools' logs between two blocks, for comparing estimates with real fills. A node cannot prove that no log is
//! missing; replaying the logs between two recorded states can.

mod judge;
#[cfg(test)]
mod tests;
mod transfers;

use std::collections::{BTreeMap, BTreeSet};

use alloy::primitives::{B256, I256, LogData};
use alloy::sol_types::SolEvent;
use alloy_rpc_types_eth::Log;
use exitgap_core::U256;
use exitgap_core::analytics::accuracy::{PoolEvent, PoolLog, PriceAfter, SwapAmounts};
use exitgap_core::ids::{Address, ChainSlug};
use exitgap_core::series::MissingReason;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

use judge::{AnsweredLog, Judged};
pub use judge::{LogFault, UnreadLogs};
pub(crate) use transfers::{PoolTokens, compare_with_swaps};

use crate::abi::{PancakePool, V2Pair, V3Pool, own};
use crate::blocks::contradiction;
use crate::config::Plan;
use crate::limits::{MAX_NAMED, second_deadline};
use crate::narrowing::{LogsNarrowing, NextStep, halves};
use crate::rpc::{ClientError, Failure, Measure, RetryPolicy, Rpc, RpcError, Weight, value};
use crate::{Limits, ReadFailure};

/// The most logs in one reading.
const MAX_LOGS: usize = 1_000_000;

/// Reads the logs of a chain's pools from its nodes.
#[derive(Debug)]
pub struct PoolLogs {
    rpc: Rpc,
}

impl PoolLogs {
    /// The log reader for a chain of the plan; `None` if the plan does not have the chain. Sends no requests yet.
    pub fn new(
        plan: &Plan,
        chain: &ChainSlug,
        limits: Limits,
    ) -> Result<Option<Self>, ClientError> {
        let chain = plan.chains().iter().find(|planned| planned.slug() == chain);
        chain.map(|chain| Ok(Self { rpc: Rpc::new(chain, limits)? })).transpose()
    }

    /// All swaps, liquidity changes and reserves that a pool logged in the blocks after `after`, up to and including
    /// `last`, in chain order.
    pub async fn read_logs(
        &self,
        pool: Address,
        after: u64,
        last: u64,
        deadline: Instant,
    ) -> Result<Vec<PoolLog>, ReadFailure> {
        let pools = BTreeSet::from([pool]);
        let mut found = BTreeMap::new();
        fetch_logs(&self.rpc, &pools, [after, last], u64::MAX, deadline, &mut found).await?;
        let Some(LogsUntil { logs, unread, .. }) = found.remove(&pool) else {
            return Ok(Vec::new());
        };
        let Some(UnreadLogs { first_block, fault, .. }) = unread.first() else { return Ok(logs) };
        let detail = format!("logs of pool {pool} from block {first_block} on: {fault}");
        Err(ReadFailure::new(MissingReason::RpcResponseInvalid, detail))
    }
}

/// The pools whose logs are requested, each with the last block that was already read.
pub type LogsSince = BTreeMap<Address, u64>;

/// A pool's logs in the blocks after the last one read, up to and including `to_block`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogsUntil {
    /// The last block.
    pub to_block: u64,
    /// The logs, in chain order.
    pub logs: Vec<PoolLog>,
    /// Blocks after it whose logs cannot be read: ascending, and apart from each other.
    pub unread: Vec<UnreadLogs>,
}

/// The logs of each pool, or why they could not be read.
pub type LogsRead = BTreeMap<Address, Result<LogsUntil, ReadFailure>>;

/// The pools' logs up to `last`, or up to an earlier block if the nodes return no more within `most` requests. A
/// failure applies to all pools of the same request.
pub(crate) async fn read_since(
    rpc: &Rpc,
    since: &LogsSince,
    last: u64,
    most: u64,
    deadline: Instant,
) -> LogsRead {
    let mut all = LogsRead::new();
    for (after, pools) in together(since, last, usize::try_from(most).unwrap_or(1)) {
        let mut found = BTreeMap::new();
        if let Err(missing) =
            fetch_logs(rpc, &pools, [after, last], most, deadline, &mut found).await
        {
            all.extend(pools.iter().map(|pool| (*pool, Err(missing.clone()))));
        }
        // Logs that were read before a failure are kept.
        let came = found
            .into_iter()
            .filter(|(_, until)| until.to_block > after || !until.unread.is_empty());
        all.extend(came.map(|(pool, until)| (pool, Ok(until))));
    }
    all
}

/// Groups the pools into requests: each has pools with the same last block before `last`, and at most as many as a
/// request can name. Groups that are furthest ahead come first; they are usually the largest, so pools that lag do not
/// delay the others. Takes at most `most` different blocks, each with all of its pools, so that none of them falls
/// behind the others.
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

/// Reads the logs of pools in the blocks after `after` and up to `last`, and adds them to `found` by pool, in chain
/// order. Stops after `most` answers about the same pools.
async fn fetch_logs(
    rpc: &Rpc,
    pools: &BTreeSet<Address>,
    [after, last]: [u64; 2],
    most: u64,
    deadline: Instant,
    found: &mut BTreeMap<Address, LogsUntil>,
) -> Result<(), ReadFailure> {
    let nothing = || LogsUntil { to_block: after, logs: Vec::new(), unread: Vec::new() };
    found.extend(pools.iter().map(|pool| (*pool, nothing())));
    let mut count = 0;
    // Each group of pools with the number of its answers: what one pool's logs cost is not taken from the others.
    let mut waiting = vec![(pools.clone(), after + 1, 0)];
    let mut narrowing = LogsNarrowing::new(rpc, Measure::SwapBlocks, 1);
    let mut refused = Vec::new();
    while let Some((pools, from, answers)) = waiting.pop() {
        if from > last || answers >= most {
            continue;
        }
        let to = narrowing.last_block(from, last);
        let blocks = to - from + 1;
        let is_part = narrowing.is_part();
        match request_judged(rpc, &pools, [from, to], is_part, deadline).await {
            Ok(judged) => {
                narrowing.add_answer(blocks);
                count += judged.logs.values().map(Vec::len).sum::<usize>();
                add(found, &pools, judged, to);
                waiting.push((pools, to + 1, answers + 1));
            }
            Err(failure) => match narrowing.add_failure(&failure, blocks, pools.len()) {
                NextStep::FewerBlocks => waiting.push((pools, from, answers)),
                // If one pool has more logs in a block than a node returns, the others are read without it.
                NextStep::HalfThePools => {
                    let halves = halves(pools).map_or_else(|one| vec![one], Vec::from);
                    waiting.extend(halves.into_iter().rev().map(|half| (half, from, answers)));
                }
                NextStep::LeaveUnread => refused.extend(pools.into_iter().map(|pool| (pool, from))),
                NextStep::GiveUp => return Err(failure.into()),
            },
        }
        if count > MAX_LOGS {
            let detail = format!("more than {MAX_LOGS} logs");
            return Err(ReadFailure::new(MissingReason::RpcResponseInvalid, detail));
        }
    }
    narrowing.require_answer()?;
    for (pool, block) in refused {
        let mut judged = Judged::default();
        judged.leave_unread(pool, [block; 2], LogFault::TooLarge);
        add(found, &BTreeSet::from([pool]), judged, block);
    }
    Ok(())
}

/// Adds what an answer shows of the blocks up to this one. What a pool logged after blocks that are unread waits for them.
fn add(
    found: &mut BTreeMap<Address, LogsUntil>,
    pools: &BTreeSet<Address>,
    mut judged: Judged,
    to: u64,
) {
    for pool in pools {
        let Some(until) = found.get_mut(pool) else { continue };
        let unread = judged.unread.remove(pool).unwrap_or_default();
        if until.unread.is_empty() {
            until.to_block =
                unread.first().map_or(to, |unread| unread.first_block.saturating_sub(1));
            until.logs.extend(judged.logs.remove(pool).unwrap_or_default());
        }
        for unread in unread {
            unread.add_to(&mut until.unread);
        }
    }
}

/// Asks for the logs of these blocks, and judges what the nodes answer. Pools whose logs one node garbles are asked for at
/// the others.
async fn request_judged(
    rpc: &Rpc,
    pools: &BTreeSet<Address>,
    [from, to]: [u64; 2],
    is_part: bool,
    deadline: Instant,
) -> Result<Judged, Failure> {
    let answered = request(rpc, pools, [from, to], is_part, deadline).await?;
    let mut judged = Judged::of(answered, [from, to]);
    let (first, until) = (rpc.current(), second_deadline(deadline));
    for _ in 1..rpc.nodes() {
        let garbled: BTreeSet<Address> = judged.unread.keys().copied().collect();
        if garbled.is_empty() {
            return Ok(judged);
        }
        rpc.prefer_next();
        let again = request(rpc, &garbled, [from, to], is_part, until).await;
        let Ok(answered) = again else { break };
        judged.replace(Judged::of(answered, [from, to]), &garbled);
    }
    if !judged.unread.is_empty() {
        // No node has better logs of them, and the first one answers: it is asked first again.
        rpc.prefer(first);
    }
    Ok(judged)
}

async fn request(
    rpc: &Rpc,
    pools: &BTreeSet<Address>,
    [from, to]: [u64; 2],
    is_part: bool,
    deadline: Instant,
) -> Result<Vec<AnsweredLog>, Failure> {
    let events: BTreeSet<String> = EVENTS.iter().map(ToString::to_string).collect();
    let addresses: Vec<String> = pools.iter().map(ToString::to_string).collect();
    let params = json!([{
        "fromBlock": format!("{from:#x}"),
        "toBlock": format!("{to:#x}"),
        "address": addresses,
        "topics": [events],
    }]);
    let decode = |raw: &_| -> Result<Vec<AnsweredLog>, RpcError> {
        let logs: Vec<&RawValue> = value(raw)?;
        logs.into_iter().map(|log| answered(log, pools, from, to)).collect()
    };
    let weight = Weight { of: Measure::SwapBlocks, amount: to - from + 1 };
    let narrows = to > from || pools.len() > 1;
    let policy = RetryPolicy { weight: Some(weight), narrows, is_part, ..RetryPolicy::default() };
    rpc.request_by(policy, "eth_getLogs", &params, deadline, decode).await
}

/// How many logs of these pools the nodes serve of these blocks in one request.
pub(crate) async fn count_logs(
    rpc: &Rpc,
    pools: &[Address],
    [from, to]: [u64; 2],
    deadline: Instant,
) -> Result<usize, Failure> {
    let pools = pools.iter().copied().collect();
    Ok(request(rpc, &pools, [from, to], true, deadline).await?.len())
}

/// The pool that emitted a log.
#[derive(Deserialize)]
struct Emitted {
    address: alloy::primitives::Address,
}

/// A log of one of these pools. An answer with logs of other contracts is refused.
fn answered(
    raw: &RawValue,
    pools: &BTreeSet<Address>,
    from: u64,
    to: u64,
) -> Result<AnsweredLog, RpcError> {
    let pool = own(value::<Emitted>(raw)?.address);
    if !pools.contains(&pool) {
        return Err(contradiction("a log's address", "one of the requested pools", pool));
    }
    let (transaction_index, log) = match value::<Log>(raw) {
        Ok(log) => (log.transaction_index, decode_log(&log, from, to)),
        Err(_) => (None, Err((None, LogFault::Malformed))),
    };
    Ok(AnsweredLog { pool, transaction_index, log })
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

/// A log with its position in these blocks, or its block, if known, with the fault.
fn decode_log(log: &Log, from: u64, to: u64) -> Result<PoolLog, (Option<u64>, LogFault)> {
    let block = log.block_number.filter(|block| (from..=to).contains(block));
    let index = log.log_index.and_then(|index| u32::try_from(index).ok());
    let transaction = log.transaction_hash.filter(|hash| !hash.is_zero());
    let (Some(block), Some(index), Some(transaction), false) =
        (block, index, transaction, log.removed)
    else {
        return Err((block, LogFault::NoPlace));
    };
    let transaction = transaction.0;
    let (event, parties) = event_of(log).map_err(|fault| (Some(block), fault))?;
    let parties = parties.map(own);
    Ok(PoolLog { block, index, transaction, parties, event })
}

type Parties = [alloy::primitives::Address; 2];

/// The event in a log, and its parties.
fn event_of(log: &Log) -> Result<(PoolEvent, Parties), LogFault> {
    let nobody = alloy::primitives::Address::ZERO;
    let topic = log.topic0().copied().unwrap_or_default();
    let data = &log.inner.data;
    Ok(match topic {
        V3Pool::Swap::SIGNATURE_HASH => {
            let swap = decode_event::<V3Pool::Swap>(data)?;
            let price = PriceAfter {
                sqrt_price_x96: U256::from(swap.sqrtPriceX96),
                tick: swap.tick.as_i32(),
                liquidity: swap.liquidity,
            };
            let amounts = swap_amounts([swap.amount0, swap.amount1]);
            (PoolEvent::Swap(amounts, Some(price)), [swap.sender, swap.recipient])
        }
        PancakePool::Swap::SIGNATURE_HASH => {
            let swap = decode_event::<PancakePool::Swap>(data)?;
            let price = PriceAfter {
                sqrt_price_x96: U256::from(swap.sqrtPriceX96),
                tick: swap.tick.as_i32(),
                liquidity: swap.liquidity,
            };
            let amounts = swap_amounts([swap.amount0, swap.amount1]);
            (PoolEvent::Swap(amounts, Some(price)), [swap.sender, swap.recipient])
        }
        V3Pool::Mint::SIGNATURE_HASH => {
            let mint = decode_event::<V3Pool::Mint>(data)?;
            let [lower, upper] = [mint.tickLower.as_i32(), mint.tickUpper.as_i32()];
            let delta = liquidity(mint.amount)?;
            (PoolEvent::Liquidity { lower, upper, delta }, [mint.owner; 2])
        }
        V3Pool::Burn::SIGNATURE_HASH => {
            let burn = decode_event::<V3Pool::Burn>(data)?;
            let [lower, upper] = [burn.tickLower.as_i32(), burn.tickUpper.as_i32()];
            let delta = -liquidity(burn.amount)?;
            (PoolEvent::Liquidity { lower, upper, delta }, [burn.owner; 2])
        }
        V2Pair::Swap::SIGNATURE_HASH => {
            let swap = decode_event::<V2Pair::Swap>(data)?;
            let amounts = SwapAmounts {
                sold: [swap.amount0In, swap.amount1In],
                bought: [swap.amount0Out, swap.amount1Out],
            };
            (PoolEvent::Swap(amounts, None), [swap.sender, swap.to])
        }
        V2Pair::Sync::SIGNATURE_HASH => {
            let sync = decode_event::<V2Pair::Sync>(data)?;
            (PoolEvent::Reserves([sync.reserve0.to(), sync.reserve1.to()]), [nobody; 2])
        }
        V2Pair::Mint::SIGNATURE_HASH => {
            let mint = decode_event::<V2Pair::Mint>(data)?;
            (PoolEvent::Deposit([mint.amount0, mint.amount1]), [mint.sender, nobody])
        }
        V2Pair::Burn::SIGNATURE_HASH => {
            let burn = decode_event::<V2Pair::Burn>(data)?;
            (PoolEvent::Withdrawal([burn.amount0, burn.amount1]), [burn.sender, burn.to])
        }
        // The event is not one of those requested.
        _ => return Err(LogFault::DataInvalid),
    })
}

/// An event whose log is exactly what the contract's code writes: each number within its type, and nothing besides.
fn decode_event<E: SolEvent>(data: &LogData) -> Result<E, LogFault> {
    let event = E::decode_log_data_validate(data).map_err(|_| LogFault::DataInvalid)?;
    if event.encode_log_data() == *data { Ok(event) } else { Err(LogFault::DataInvalid) }
}

/// Positive amounts are paid into the pool, negative ones out of it.
fn swap_amounts(amounts: [I256; 2]) -> SwapAmounts {
    let part = |amount: I256, counts: bool| if counts { amount.unsigned_abs() } else { U256::ZERO };
    SwapAmounts {
        sold: amounts.map(|amount| part(amount, amount.is_positive())),
        bought: amounts.map(|amount| part(amount, amount.is_negative())),
    }
}

fn liquidity(amount: u128) -> Result<i128, LogFault> {
    i128::try_from(amount).map_err(|_| LogFault::OutOfBounds)
}
