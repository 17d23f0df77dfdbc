//! Detects tokens that take a fee on transfer: compares the tokens' transfer logs with the pools' swap logs.

use std::collections::{BTreeMap, BTreeSet};

use alloy::primitives::B256;
use alloy_rpc_types_eth::Log;
use exitgap_core::U256;
use exitgap_core::analytics::accuracy::{PoolEvent, PoolLog};
use exitgap_core::ids::Address;
use exitgap_core::snapshot::Fact;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::LogsRead;
use crate::abi::own;
use crate::limits::MAX_NAMED;
use crate::rpc::{Failure, Measure, RetryPolicy, Rpc, RpcError, Weight, value};

/// The number of units by which a transfer may differ from the amount that a pool counts, because rebasing tokens
/// round.
const ROUNDING: u64 = 2;

/// The maximum number of requests of one comparison. Swaps that they do not reach are not judged.
const MAX_REQUESTS: u32 = 16;

/// The maximum number of transfers in one comparison.
const MAX_TRANSFERS: usize = 200_000;

/// The two tokens of each pool.
pub(crate) type PoolTokens = BTreeMap<Address, [Address; 2]>;

/// By pool and token: for each swap that moved the token, in chain order, whether units were missing.
pub(crate) type Lacking = BTreeMap<(Address, Address), Vec<bool>>;

/// A token that a pool sent or received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Transfer {
    block: u64,
    index: u64,
    transaction: [u8; 32],
    token: Address,
    pool: Address,
    is_inbound: bool,
    value: U256,
}

/// Compares the swaps that were read with the transfers of their pools' tokens. Swaps whose transfers a node does not
/// return, or that exceed the limits, are not judged; a node's failure is then returned as well.
pub(crate) async fn compare_with_swaps(
    rpc: &Rpc,
    read: &LogsRead,
    tokens: &PoolTokens,
    deadline: Instant,
) -> (Lacking, Option<Failure>) {
    let mut swaps: BTreeMap<Address, &[PoolLog]> = BTreeMap::new();
    for (pool, until) in read {
        if let Ok(until) = until
            && tokens.contains_key(pool)
            && until.logs.iter().any(is_swap)
        {
            swaps.insert(*pool, &until.logs);
        }
    }
    let mut lacking = Lacking::new();
    let mut requests = 0;
    let pools: Vec<Address> = swaps.keys().copied().collect();
    // Each pool names two tokens.
    for named in pools.chunks(MAX_NAMED / 2) {
        let blocks = || named.iter().flat_map(|pool| swaps[pool]).filter(|log| is_swap(log));
        let blocks = blocks().map(|log| log.block);
        let Some((from, to)) = blocks.clone().min().zip(blocks.max()) else { continue };
        let filter = TransferFilter::new(named, tokens);
        let fetched = match filter.fetch(rpc, [from, to], &mut requests, deadline).await {
            Ok(fetched) => fetched,
            Err(failure) => return (lacking, Some(failure)),
        };
        let (transfers, Some(reached)) = fetched else { break };
        for pool in named {
            let judged = judge(*pool, swaps[pool], tokens[pool], &transfers, reached);
            for (token, lacks) in tokens[pool].into_iter().zip(judged) {
                lacking.insert((*pool, token), lacks);
            }
        }
    }
    (lacking, None)
}

fn is_swap(log: &PoolLog) -> bool {
    matches!(log.event, PoolEvent::Swap(..))
}

/// The transfers to request: those of these pools' tokens that a pool sent or received.
struct TransferFilter {
    pools: BTreeSet<Address>,
    tokens: BTreeSet<Address>,
}

impl TransferFilter {
    fn new(pools: &[Address], tokens: &PoolTokens) -> Self {
        let of_pools = pools.iter().filter_map(|pool| tokens.get(pool)).flatten();
        Self { pools: pools.iter().copied().collect(), tokens: of_pools.copied().collect() }
    }

    /// The transfers from one block to another, sorted, and the last block that was reached; `None` if none was.
    async fn fetch(
        &self,
        rpc: &Rpc,
        [first, last]: [u64; 2],
        requests: &mut u32,
        deadline: Instant,
    ) -> Result<(Vec<Transfer>, Option<u64>), Failure> {
        let (mut found, mut reached) = (BTreeSet::new(), None);
        let (mut from, mut narrowest) = (first, u64::MAX);
        while from <= last && *requests < MAX_REQUESTS && found.len() < MAX_TRANSFERS {
            let stretch = rpc.most_of(Measure::TransferBlocks).min(narrowest).max(1);
            let to = last.min(from.saturating_add(stretch - 1));
            *requests += 2;
            match self.request(rpc, [from, to], deadline).await {
                Ok(transfers) => {
                    found.extend(transfers);
                    reached = Some(to);
                    from = to + 1;
                    narrowest = narrowest.saturating_mul(2);
                }
                Err(failure) if failure.may_narrow() && to > from => {
                    narrowest = (to - from).div_ceil(2);
                }
                // The transfers read so far are still used.
                Err(_) if reached.is_some() => break,
                Err(failure) => return Err(failure),
            }
        }
        Ok((found.into_iter().collect(), reached))
    }

    async fn request(
        &self,
        rpc: &Rpc,
        [from, to]: [u64; 2],
        deadline: Instant,
    ) -> Result<Vec<Transfer>, Failure> {
        let words: Vec<String> = self.pools.iter().map(|pool| word(*pool).to_string()).collect();
        let addresses: Vec<String> = self.tokens.iter().map(ToString::to_string).collect();
        let mut all = Vec::new();
        for topics in
            [json!([Fact::TRANSFER_TOPIC, words]), json!([Fact::TRANSFER_TOPIC, null, words])]
        {
            let params = json!([{
                "fromBlock": format!("{from:#x}"),
                "toBlock": format!("{to:#x}"),
                "address": addresses,
                "topics": topics,
            }]);
            let weight = Weight { of: Measure::TransferBlocks, amount: to - from + 1 };
            let policy =
                RetryPolicy { weight: Some(weight), narrows: to > from, ..RetryPolicy::default() };
            let decode = |raw: &_| -> Result<Vec<Transfer>, RpcError> {
                let logs: Vec<&RawValue> = value(raw)?;
                let read = logs.into_iter().filter_map(|log| self.decode(&value(log).ok()?));
                Ok(read.flatten().collect())
            };
            all.extend(rpc.request_by(policy, "eth_getLogs", &params, deadline, decode).await?);
        }
        Ok(all)
    }

    /// Decodes a transfer, once for each of the pools that are party to it; `None` if the log is not a requested
    /// transfer. A token's logs are not trusted: they are only counted.
    fn decode(&self, log: &Log) -> Option<Vec<Transfer>> {
        let token = own(log.address());
        let [topic, from, to] = *log.topics() else { return None };
        let value: [u8; 32] = log.inner.data.data.as_ref().try_into().ok()?;
        let is_asked_for = self.tokens.contains(&token)
            && topic.to_string() == Fact::TRANSFER_TOPIC
            && !log.removed;
        let place = log.block_number.zip(log.log_index).zip(log.transaction_hash);
        let ((block, index), transaction) = place.filter(|_| is_asked_for)?;
        let party = |place: B256, is_inbound| {
            let pool = self.pools.iter().find(|pool| word(**pool) == place)?;
            Some(Transfer {
                block,
                index,
                transaction: transaction.0,
                token,
                pool: *pool,
                is_inbound,
                value: U256::from_be_bytes(value),
            })
        };
        Some([party(from, false), party(to, true)].into_iter().flatten().collect())
    }
}

/// An address as a topic.
fn word(address: Address) -> B256 {
    B256::left_padding_from(&address.0)
}

/// For each of a pool's tokens: for each swap up to this block that moved the token and has known transfers, whether
/// units were missing.
fn judge(
    pool: Address,
    logs: &[PoolLog],
    tokens: [Address; 2],
    transfers: &[Transfer],
    reached: u64,
) -> [Vec<bool>; 2] {
    let mut judged = [Vec::new(), Vec::new()];
    for (place, log) in logs.iter().enumerate() {
        let PoolEvent::Swap(amounts, _) = log.event else { continue };
        if log.block > reached {
            continue;
        }
        let begins = begins_after(&logs[..place], log);
        let first = transfers.partition_point(|transfer| transfer.block < log.block);
        let of_block = transfers[first..].iter().take_while(|it| it.block == log.block);
        let of_swap: Vec<&Transfer> = of_block
            .filter(|it| it.pool == pool && it.transaction == log.transaction)
            .filter(|it| it.index < u64::from(log.index) && begins.is_none_or(|at| it.index > at))
            .collect();
        for (token, judged) in judged.iter_mut().enumerate() {
            let values = |is_inbound| -> Vec<U256> {
                let of_token = of_swap
                    .iter()
                    .filter(|it| it.token == tokens[token] && it.is_inbound == is_inbound);
                of_token.map(|it| it.value).collect()
            };
            let lacks = [
                lacks_inbound(&values(true), amounts.sold[token]),
                lacks_outbound(&values(false), amounts.bought[token]),
            ];
            if lacks.iter().any(Option::is_some) {
                judged.push(lacks.contains(&Some(true)));
            }
        }
    }
    judged
}

/// The index of the pool's last log before this swap in the same transaction. Transfers before that log belong to it.
/// The reserves that a constant-product pool logs right before a swap belong to the swap.
fn begins_after(before: &[PoolLog], swap: &PoolLog) -> Option<u64> {
    let mut before = before.iter().rev().peekable();
    before.next_if(|log| matches!(log.event, PoolEvent::Reserves(_)));
    let last = before.next()?;
    let is_same = last.block == swap.block && last.transaction == swap.transaction;
    is_same.then(|| u64::from(last.index))
}

/// Whether more was sent to the pool than it counts; `None` if that is unknown.
fn lacks_inbound(values: &[U256], counted: U256) -> Option<bool> {
    let sum = sum(values)?;
    if counted.is_zero() || values.is_empty() {
        return None;
    }
    // A loan may be repaid to the pool in the same transaction, so one matching transfer is enough.
    if values.iter().chain([&sum]).any(|value| is_near(*value, counted)) {
        return Some(false);
    }
    (sum > counted).then_some(true)
}

/// Whether no recipient got as much as the pool paid; `None` if that is unknown. Some tokens log the fee as a separate
/// transfer, so this uses the largest transfer instead of the sum.
fn lacks_outbound(values: &[U256], counted: U256) -> Option<bool> {
    let largest = values.iter().max().filter(|_| !counted.is_zero())?;
    if values.iter().any(|value| is_near(*value, counted)) {
        return Some(false);
    }
    (*largest < counted).then_some(true)
}

fn is_near(value: U256, counted: U256) -> bool {
    let difference =
        if value > counted { value.wrapping_sub(counted) } else { counted.wrapping_sub(value) };
    difference <= U256::from(ROUNDING)
}

/// `None` if a token logged an impossible amount.
fn sum(values: &[U256]) -> Option<U256> {
    values.iter().try_fold(U256::ZERO, |sum, value| sum.checked_add(*value))
}

#[cfg(test)]
mod tests {
    use exitgap_core::analytics::accuracy::SwapAmounts;
    use serde_json::Value;

    use super::super::LogsUntil;
    use super::*;
    use crate::trial_node::{Reply, TrialNode, rpc, short_limits};

    const POOL: Address = Address([0x11; 20]);
    const OTHER: Address = Address([0x12; 20]);
    const SOLD: Address = Address([0x21; 20]);
    const BOUGHT: Address = Address([0x22; 20]);
    const HOLDER: Address = Address([0x31; 20]);

    fn log(block: u64, index: u32, event: PoolEvent) -> PoolLog {
        PoolLog { block, index, transaction: [9; 32], parties: [HOLDER; 2], event }
    }

    fn swap(block: u64, index: u32, sold: u64, bought: u64) -> PoolLog {
        let amounts = SwapAmounts {
            sold: [U256::from(sold), U256::ZERO],
            bought: [U256::ZERO, U256::from(bought)],
        };
        log(block, index, PoolEvent::Swap(amounts, None))
    }

    fn transfer(token: Address, index: u64, is_inbound: bool, value: u64) -> Transfer {
        let value = U256::from(value);
        Transfer { block: 5, index, transaction: [9; 32], token, pool: POOL, is_inbound, value }
    }

    /// No swap was judged.
    const NOTHING: [Vec<bool>; 2] = [Vec::new(), Vec::new()];

    fn judged(logs: &[PoolLog], transfers: &[Transfer]) -> [Vec<bool>; 2] {
        let mut transfers = transfers.to_vec();
        transfers.sort();
        judge(POOL, logs, [SOLD, BOUGHT], &transfers, 9)
    }

    #[test]
    fn a_fee_on_the_way_in_or_out_is_seen_and_rounding_is_none() {
        let of = |sent: u64, received: &[u64]| {
            let mut transfers = vec![transfer(SOLD, 1, true, sent)];
            transfers
                .extend((2..).zip(received).map(|(at, got)| transfer(BOUGHT, at, false, *got)));
            judged(&[swap(5, 8, 1_000, 500)], &transfers)
        };
        let [clean, lacks] = [vec![false], vec![true]];
        assert_eq!(of(1_000, &[500]), [clean.clone(), clean.clone()]);
        assert_eq!(of(1_002, &[498]), [clean.clone(), clean.clone()], "two units are rounding");
        assert_eq!(of(1_003, &[500]), [lacks.clone(), clean.clone()]);
        assert_eq!(of(1_000, &[497]), [clean.clone(), lacks.clone()]);
        assert_eq!(
            of(1_000, &[495, 5]),
            [clean.clone(), lacks],
            "its fee is a transfer of its own"
        );
        assert_eq!(of(990, &[]), NOTHING, "what is not known is not judged");
        assert_eq!(of(1_000, &[600, 500]), [clean.clone(), clean]);
    }

    #[test]
    fn a_swap_is_compared_with_its_own_transfers() {
        let logs = [
            log(5, 2, PoolEvent::Deposit([U256::from(70_u8), U256::from(70_u8)])),
            log(5, 6, PoolEvent::Reserves([1, 2])),
            swap(5, 7, 1_000, 500),
            log(5, 10, PoolEvent::Reserves([1, 2])),
            swap(5, 11, 400, 200),
        ];
        let transfers = [
            transfer(SOLD, 1, true, 70),
            transfer(SOLD, 3, true, 1_000),
            transfer(BOUGHT, 4, false, 500),
            transfer(SOLD, 8, true, 400),
            transfer(BOUGHT, 9, false, 190),
        ];
        assert_eq!(judged(&logs, &transfers), [vec![false, false], vec![false, true]]);
        // Transfers of another transaction, of another pool or after the swap do not belong to it.
        let elsewhere = transfers.map(|it| Transfer { transaction: [8; 32], ..it });
        assert_eq!(judged(&logs, &elsewhere), NOTHING);
        let of_other = transfers.map(|it| Transfer { pool: OTHER, ..it });
        assert_eq!(judged(&logs, &of_other), NOTHING);
        let later = [transfer(SOLD, 12, true, 4_000)];
        assert_eq!(judged(&logs, &later), NOTHING);
        // A loan that is repaid in the same transaction.
        let loan = [transfer(SOLD, 3, true, 1_000), transfer(SOLD, 4, true, 5_000)];
        assert_eq!(judged(&logs[..3], &loan), [vec![false], vec![]]);
        // An impossible amount.
        let huge = Transfer { value: U256::MAX, ..loan[1] };
        assert_eq!(judged(&logs[..3], &[loan[0], huge]), NOTHING);
        // After the last block that was reached.
        assert_eq!(judge(POOL, &logs, [SOLD, BOUGHT], &transfers, 4), NOTHING);
    }

    /// A transfer as nodes return it.
    fn served(
        block: u64,
        index: u64,
        token: Address,
        [from, to]: [Address; 2],
        value: u64,
    ) -> Value {
        json!({
            "address": token.to_string(),
            "topics": [Fact::TRANSFER_TOPIC, word(from).to_string(), word(to).to_string()],
            "data": format!("{value:#066x}"),
            "blockNumber": format!("{block:#x}"),
            "blockHash": format!("{block:#066x}"),
            "transactionHash": B256::repeat_byte(9).to_string(),
            "transactionIndex": "0x0",
            "logIndex": format!("{index:#x}"),
            "removed": false,
        })
    }

    fn number(value: &Value) -> u64 {
        u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
    }

    /// A node with these transfers, which returns at most this many blocks at once.
    fn node(logs: Vec<Value>, most_blocks: u64) -> TrialNode {
        TrialNode::start(move |request| {
            let asked = &request["params"][0];
            let [from, to] = ["fromBlock", "toBlock"].map(|name| number(&asked[name]));
            if to - from + 1 > most_blocks {
                return Reply::Error(json!({
                    "code": -32005,
                    "message": format!("block range exceeds {most_blocks}"),
                }));
            }
            let is_asked = |log: &&Value| {
                let has = |place: usize| {
                    let named = &asked["topics"][place];
                    named.as_array().is_none_or(|named| named.contains(&log["topics"][place]))
                };
                (from..=to).contains(&number(&log["blockNumber"])) && has(1) && has(2)
            };
            Reply::Result(logs.iter().filter(is_asked).cloned().collect())
        })
    }

    async fn lacking(rpc: &Rpc, logs: Vec<PoolLog>) -> (Lacking, Option<Failure>) {
        let read =
            LogsRead::from([(POOL, Ok(LogsUntil { to_block: 30, logs, unread: Vec::new() }))]);
        let tokens = PoolTokens::from([(POOL, [SOLD, BOUGHT]), (OTHER, [SOLD, BOUGHT])]);
        let soon = Instant::now() + core::time::Duration::from_secs(20);
        compare_with_swaps(rpc, &read, &tokens, soon).await
    }

    #[tokio::test]
    async fn transfers_are_read_in_as_many_blocks_as_a_node_serves() {
        let logs = vec![swap(5, 8, 1_000, 500), swap(25, 8, 1_000, 500)];
        let mut served = vec![
            served(5, 1, SOLD, [HOLDER, POOL], 1_000),
            served(5, 2, BOUGHT, [POOL, HOLDER], 450),
            served(25, 1, SOLD, [HOLDER, POOL], 1_000),
            served(25, 2, BOUGHT, [POOL, HOLDER], 500),
        ];
        // Logs that are not transfers of a token: of a collectible, of another contract, or without a position.
        let mut collectible = served[0].clone();
        collectible["topics"].as_array_mut().unwrap().push(json!(word(HOLDER).to_string()));
        let mut unplaced = served[0].clone();
        unplaced["logIndex"] = Value::Null;
        let mut short = served[0].clone();
        short["data"] = json!("0x01");
        let mut malformed = served[0].clone();
        malformed["address"] = json!(7);
        served.extend([collectible, unplaced, short, malformed, served[1].clone()]);
        for most_blocks in [100, 10] {
            let node = node(served.clone(), most_blocks);
            let rpc = rpc(&[&node], short_limits());
            let swaps_at_once = rpc.most_of(Measure::SwapBlocks);
            let (lacking, failure) = lacking(&rpc, logs.clone()).await;
            assert!(failure.is_none(), "{failure:?}");
            // What is refused of transfers is no reason to read fewer swaps.
            assert_eq!(rpc.most_of(Measure::SwapBlocks), swaps_at_once, "{most_blocks}");
            assert_eq!(rpc.most_of(Measure::TransferBlocks) < 21, most_blocks == 10);
            let expected =
                [((POOL, SOLD), vec![false, false]), ((POOL, BOUGHT), vec![true, false])];
            assert_eq!(lacking, Lacking::from(expected), "{most_blocks}");
        }
    }

    #[tokio::test]
    async fn a_node_that_serves_no_transfers_says_nothing_of_a_token() {
        let node = TrialNode::start(|_| {
            Reply::Error(json!({ "code": -32601, "message": "method not found" }))
        });
        let rpc = rpc(&[&node], short_limits());
        let (lacking, failure) = lacking(&rpc, vec![swap(5, 8, 1_000, 500)]).await;
        assert!(lacking.is_empty() && failure.is_some());
    }
}
