//! Which answers of nodes about pools' logs are accepted.

use serde_json::Value;

use super::*;
use crate::trial_node::{Reply, TrialNode, rpc, short_limits};

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

const POOL: Address = Address([0x11; 20]);
const OTHER: Address = Address([0x22; 20]);

fn quantity(number: u64) -> String {
    format!("{number:#x}")
}

/// A Uniswap v3 swap as nodes return it.
fn swap(pool: Address, block: u64, index: u64, tick: i32) -> Value {
    let word = B256::left_padding_from(&[7]).to_string();
    let tick = I256::try_from(tick).unwrap();
    let words: String = [1, -1, 1 << 40, 5]
        .map(|number: i64| format!("{:064x}", I256::try_from(number).unwrap().into_raw()))
        .concat();
    json!({
        "address": pool.to_string(),
        "topics": [V3Pool::Swap::SIGNATURE_HASH.to_string(), word, word],
        "data": format!("0x{words}{:064x}", tick.into_raw()),
        "blockNumber": quantity(block),
        "blockHash": format!("{:#066x}", block),
        "transactionHash": format!("{:#066x}", block * 100 + index),
        "transactionIndex": quantity(index),
        "logIndex": quantity(index),
        "removed": false,
    })
}

/// Writes this byte at the front of a word of a log's data.
fn set_word(log: &mut Value, word: usize, byte: &str) {
    let mut data = log["data"].as_str().unwrap().to_owned();
    data.replace_range(2 + 64 * word..4 + 64 * word, byte);
    log["data"] = json!(data);
}

/// A node with these logs.
fn node(logs: Vec<Value>) -> TrialNode {
    TrialNode::start(move |request| {
        let asked = &request["params"][0];
        let number = |value: &Value| {
            u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
        };
        let blocks = number(&asked["fromBlock"])..=number(&asked["toBlock"]);
        let named = asked["address"].as_array().unwrap();
        let is_asked = |log: &&Value| {
            let block = &log["blockNumber"];
            named.contains(&log["address"]) && (block.is_null() || blocks.contains(&number(block)))
        };
        Reply::Result(logs.iter().filter(is_asked).cloned().collect())
    })
}

fn soon() -> Instant {
    Instant::now() + core::time::Duration::from_secs(20)
}

async fn found(nodes: &[&TrialNode]) -> LogsRead {
    let since = LogsSince::from([(POOL, 10), (OTHER, 10)]);
    read_since(&rpc(nodes, short_limits()), &since, 30, 8, soon()).await
}

fn places(read: &LogsRead, pool: Address) -> (u64, Vec<(u64, u32)>, Option<LogFault>) {
    let until = read[&pool].as_ref().unwrap();
    let logs = until.logs.iter().map(|log| (log.block, log.index)).collect();
    (until.to_block, logs, until.unread.first().map(|unread| unread.fault))
}

#[tokio::test]
async fn one_pools_garbled_logs_leave_the_other_pool_read() {
    let good = || vec![swap(OTHER, 12, 4, -7), swap(POOL, 14, 1, 3), swap(OTHER, 20, 0, 3)];
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut logs = good();
        change(&mut logs[1]);
        logs
    };
    let beyond = vec![swap(OTHER, 12, 4, -7), swap(POOL, 14, 1, 8_388_607), swap(OTHER, 20, 0, 3)];
    let cases: Vec<(Vec<Value>, u64, LogFault)> = vec![
        (beyond, 13, LogFault::OutOfBounds),
        (changed(&|log| log["data"] = json!("0x")), 13, LogFault::DataInvalid),
        (
            changed(&|log| log["topics"] = json!([V3Pool::Swap::SIGNATURE_HASH.to_string()])),
            13,
            LogFault::DataInvalid,
        ),
        (changed(&|log| log["topics"] = json!([])), 13, LogFault::DataInvalid),
        (changed(&|log| log["logIndex"] = Value::Null), 13, LogFault::NoPlace),
        (changed(&|log| log["removed"] = json!(true)), 13, LogFault::NoPlace),
        (changed(&|log| log["transactionHash"] = Value::Null), 13, LogFault::NoPlace),
        (changed(&|log| log["transactionHash"] = json!(B256::ZERO)), 13, LogFault::NoPlace),
        // A number beyond its type, an address with bytes before it, and data beyond the event's.
        (changed(&|log| set_word(log, 4, "01")), 13, LogFault::DataInvalid),
        (changed(&|log| set_word(log, 2, "01")), 13, LogFault::DataInvalid),
        (changed(&|log| set_word(log, 3, "ff")), 13, LogFault::DataInvalid),
        (changed(&|log| log["topics"][1] = json!(B256::repeat_byte(7))), 13, LogFault::DataInvalid),
        (
            changed(&|log| {
                log["data"] = json!(format!("{}{:064x}", log["data"].as_str().unwrap(), 0));
            }),
            13,
            LogFault::DataInvalid,
        ),
        (changed(&|log| log["blockNumber"] = Value::Null), 10, LogFault::NoPlace),
        (changed(&|log| log["data"] = json!("0xzz")), 10, LogFault::Malformed),
        (changed(&|log| log["topics"] = json!(["0x12"])), 10, LogFault::Malformed),
    ];
    for (logs, to, fault) in cases {
        let garbling = node(logs);
        let read = found(&[&garbling]).await;
        assert_eq!(places(&read, POOL), (to, vec![], Some(fault)), "{fault:?}");
        assert_eq!(places(&read, OTHER), (30, vec![(12, 4), (20, 0)], None), "{fault:?}");
        // Another node has valid logs.
        let honest = node(good());
        let read = found(&[&garbling, &honest]).await;
        assert_eq!(places(&read, POOL), (30, vec![(14, 1)], None), "{fault:?}");
        assert_eq!(places(&read, OTHER), (30, vec![(12, 4), (20, 0)], None), "{fault:?}");
        assert_eq!(honest.asked("eth_getLogs").len(), 1, "for the pool alone");
    }
}

#[tokio::test]
async fn a_node_that_serves_each_log_twice_or_counts_per_transaction_is_survived() {
    let good = vec![swap(POOL, 14, 1, 3), swap(POOL, 14, 2, 3), swap(OTHER, 20, 0, 3)];
    let twice = node(good.iter().chain(&good).cloned().collect());
    let read = found(&[&twice]).await;
    assert_eq!(places(&read, POOL), (30, vec![(14, 1), (14, 2)], None));
    let mut counted = good.clone();
    counted[0]["logIndex"] = json!("0x0");
    counted[1]["logIndex"] = json!("0x0");
    let per_transaction = node(counted);
    let read = found(&[&per_transaction]).await;
    assert_eq!(places(&read, POOL), (13, vec![], Some(LogFault::IndexPerTransaction)));
    assert_eq!(places(&read, OTHER), (30, vec![(20, 0)], None));
    let honest = node(good);
    let read = found(&[&per_transaction, &honest]).await;
    assert_eq!(places(&read, POOL), (30, vec![(14, 1), (14, 2)], None));
}

#[tokio::test]
async fn a_pool_with_more_logs_in_a_block_than_a_node_serves_holds_up_no_other() {
    let refusing = TrialNode::start(|request| {
        let asked = &request["params"][0];
        let named = asked["address"].as_array().unwrap();
        if named.contains(&json!(POOL.to_string())) {
            return Reply::Error(json!({ "code": -32_005, "message": "response is too big" }));
        }
        Reply::Result(json!([swap(OTHER, 11, 0, 1)]))
    });
    let since = LogsSince::from([(POOL, 10), (OTHER, 10)]);
    let read = read_since(&rpc(&[&refusing], short_limits()), &since, 11, 8, soon()).await;
    assert_eq!(places(&read, OTHER), (11, vec![(11, 0)], None));
    assert_eq!(places(&read, POOL), (10, vec![], Some(LogFault::TooLarge)));
}

#[test]
fn each_event_is_read_only_as_the_contracts_write_it() {
    let address = alloy::primitives::Address::repeat_byte(7);
    let (one, tick) = (U256::ONE, alloy::primitives::aliases::I24::try_from(-60).unwrap());
    let events: Vec<LogData> = vec![
        V3Pool::Mint {
            sender: address,
            owner: address,
            tickLower: tick,
            tickUpper: tick,
            amount: 5,
            amount0: one,
            amount1: one,
        }
        .encode_log_data(),
        V3Pool::Burn {
            owner: address,
            tickLower: tick,
            tickUpper: tick,
            amount: 5,
            amount0: one,
            amount1: one,
        }
        .encode_log_data(),
        PancakePool::Swap {
            sender: address,
            recipient: address,
            amount0: I256::ONE,
            amount1: I256::MINUS_ONE,
            sqrtPriceX96: alloy::primitives::aliases::U160::from(7),
            liquidity: 5,
            tick,
            protocolFeesToken0: 0,
            protocolFeesToken1: 0,
        }
        .encode_log_data(),
        V2Pair::Swap {
            sender: address,
            amount0In: one,
            amount1In: one,
            amount0Out: one,
            amount1Out: one,
            to: address,
        }
        .encode_log_data(),
        V2Pair::Sync {
            reserve0: alloy::primitives::aliases::U112::from(1),
            reserve1: alloy::primitives::aliases::U112::from(2),
        }
        .encode_log_data(),
        V2Pair::Mint { sender: address, amount0: one, amount1: one }.encode_log_data(),
        V2Pair::Burn { sender: address, amount0: one, amount1: one, to: address }.encode_log_data(),
    ];
    let read = |data: LogData| {
        let inner = alloy::primitives::Log { address, data };
        event_of(&Log { inner, ..Log::default() }).map(drop)
    };
    for event in events {
        assert_eq!(read(event.clone()), Ok(()), "{event:?}");
        let bytes = |data: Vec<u8>| LogData::new_unchecked(event.topics().to_vec(), data.into());
        let longer = [event.data.as_ref(), &[0; 32]].concat();
        assert_eq!(read(bytes(longer)), Err(LogFault::DataInvalid), "{event:?}");
        // A word that has all bits set is outside every type that is narrower than it.
        for place in 1..event.topics().len() {
            let mut topics = event.topics().to_vec();
            topics[place].0[..4].copy_from_slice(&[0x80; 4]);
            let changed = LogData::new_unchecked(topics, event.data.clone());
            assert_eq!(read(changed), Err(LogFault::DataInvalid), "topic {place} of {event:?}");
        }
    }
}

/// A node that answers a limited number of blocks at once, and refuses more with an unknown message.
fn refusing_more_than(blocks: &'static std::sync::atomic::AtomicU64) -> TrialNode {
    TrialNode::start(move |request| {
        let wide = width(request);
        if wide > blocks.load(std::sync::atomic::Ordering::SeqCst) {
            return Reply::Error(json!({ "code": -32_000, "message": "qux" }));
        }
        Reply::Result(json!([]))
    })
}

/// How many blocks a request asks for.
fn width(request: &Value) -> u64 {
    let [from, to] = ["fromBlock", "toBlock"].map(|field| {
        let text = request["params"][0][field].as_str().unwrap();
        u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
    });
    to - from + 1
}

#[tokio::test]
async fn a_limit_in_unknown_words_is_learned_and_tried_again() {
    static BLOCKS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(30);
    let node = refusing_more_than(&BLOCKS);
    let rpc = rpc(&[&node], short_limits());
    let since = |block| LogsSince::from([(POOL, block), (OTHER, block)]);
    let read = read_since(&rpc, &since(0), 200, 999, soon()).await;
    assert_eq!(places(&read, POOL), (200, vec![], None));
    let learned = rpc.most_of(Measure::SwapBlocks);
    assert!(learned <= 60, "{learned}");
    // The next slot asks for no more than was answered, or twice as much as a trial.
    let before = node.asked("eth_getLogs").len();
    read_since(&rpc, &since(200), 300, 999, soon()).await;
    let widest = node.asked("eth_getLogs")[before..].iter().map(width).max();
    assert!(widest.unwrap() <= 60, "{widest:?}");
    // The limit is gone: more is asked for again.
    BLOCKS.store(u64::MAX, std::sync::atomic::Ordering::SeqCst);
    for slot in 0..40 {
        read_since(&rpc, &since(1_000 * slot), 1_000 * slot + 1_000, 8, soon()).await;
    }
    assert!(rpc.most_of(Measure::SwapBlocks) >= 1_000, "{}", rpc.most_of(Measure::SwapBlocks));
}

#[tokio::test]
async fn one_pool_that_nodes_refuse_in_unknown_words_holds_up_no_other() {
    let refusing = TrialNode::start(|request| {
        let named = request["params"][0]["address"].as_array().unwrap();
        if named.contains(&json!(POOL.to_string())) {
            return Reply::Error(json!({ "code": -32_000, "message": "qux" }));
        }
        Reply::Result(json!([swap(OTHER, 11, 0, 1)]))
    });
    let since = LogsSince::from([(POOL, 10), (OTHER, 10)]);
    let read = read_since(&rpc(&[&refusing], short_limits()), &since, 11, 8, soon()).await;
    assert_eq!(places(&read, OTHER), (11, vec![(11, 0)], None));
    assert_eq!(places(&read, POOL), (10, vec![], Some(LogFault::TooLarge)));
    // Nodes that answer nothing fail: no pool is at fault.
    let out = TrialNode::start(|_| Reply::Error(json!({ "code": -32_000, "message": "qux" })));
    let read = read_since(&rpc(&[&out], short_limits()), &since, 11, 8, soon()).await;
    assert!(read.values().all(Result::is_err), "{read:?}");
}

#[tokio::test]
async fn blocks_between_two_that_cannot_be_read_are_not_lost() {
    let logs = vec![
        swap(POOL, 14, 1, 8_388_607),
        swap(POOL, 16, 1, 3),
        swap(POOL, 20, 1, 8_388_607),
        swap(POOL, 21, 1, 8_388_607),
    ];
    let read = found(&[&node(logs)]).await;
    let unread: Vec<_> = read[&POOL].as_ref().unwrap().unread.clone();
    let blocks: Vec<_> =
        unread.iter().map(|unread| (unread.first_block, unread.last_block)).collect();
    assert_eq!(blocks, [(14, 14), (20, 21)]);
    // The node returns the blocks between to a request that begins there.
    let logs = vec![swap(POOL, 16, 1, 3), swap(POOL, 20, 1, 8_388_607)];
    let since = LogsSince::from([(POOL, 14)]);
    let read = read_since(&rpc(&[&node(logs)], short_limits()), &since, 30, 8, soon()).await;
    assert_eq!(places(&read, POOL), (19, vec![(16, 1)], Some(LogFault::OutOfBounds)));
}

#[tokio::test]
async fn a_pool_that_nodes_refuse_lowers_no_bound() {
    for message in ["qux", "response is too big"] {
        let refusing = TrialNode::start(move |request| {
            let named = request["params"][0]["address"].as_array().unwrap();
            if named.contains(&json!(POOL.to_string())) {
                return Reply::Error(json!({ "code": -32_000, "message": message }));
            }
            Reply::Result(json!([]))
        });
        let rpc = rpc(&[&refusing], short_limits());
        let since = LogsSince::from([(POOL, 10), (OTHER, 10)]);
        let read = read_since(&rpc, &since, 40, 8, soon()).await;
        assert_eq!(places(&read, OTHER), (40, vec![], None), "{message}");
        assert_eq!(places(&read, POOL), (10, vec![], Some(LogFault::TooLarge)), "{message}");
        assert_eq!(rpc.most_of(Measure::SwapBlocks), 2_000, "{message}");
    }
}

#[tokio::test]
async fn a_log_that_no_node_has_right_costs_a_share_of_the_time_and_moves_to_no_other_node() {
    use core::time::Duration;

    let logs = || vec![swap(OTHER, 12, 4, -7), swap(POOL, 14, 1, 8_388_607)];
    let (first, same) = (node(logs()), node(logs()));
    let hanging = TrialNode::start(|_| Reply::Hang(Duration::from_secs(9)));
    for others in [vec![&same], vec![&hanging], vec![&same, &hanging]] {
        let nodes = [&[&first][..], &others].concat();
        let (rpc, begun) = (rpc(&nodes, short_limits()), Instant::now());
        for _ in 0..2 {
            let since = LogsSince::from([(POOL, 10), (OTHER, 10)]);
            let (asked, deadline) = (Instant::now(), Duration::from_secs(4));
            let read = read_since(&rpc, &since, 30, 8, asked + deadline).await;
            assert_eq!(places(&read, POOL), (13, vec![], Some(LogFault::OutOfBounds)));
            assert_eq!(places(&read, OTHER), (30, vec![(12, 4)], None));
            assert_eq!(rpc.current(), 0, "the first node answers");
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
    assert!(!hanging.asked("eth_getLogs").is_empty(), "the control: another node was asked");
}
