//! What is believed of nodes' answers about pools' logs.

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

/// A swap of Uniswap v3 as nodes serve it.
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

/// A node that has these logs.
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
    (until.to_block, logs, until.unread.map(|unread| unread.fault))
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
        (changed(&|log| log["blockNumber"] = Value::Null), 10, LogFault::NoPlace),
        (changed(&|log| log["data"] = json!("0xzz")), 10, LogFault::Malformed),
        (changed(&|log| log["topics"] = json!(["0x12"])), 10, LogFault::Malformed),
    ];
    for (logs, to, fault) in cases {
        let garbling = node(logs);
        let read = found(&[&garbling]).await;
        assert_eq!(places(&read, POOL), (to, vec![], Some(fault)), "{fault:?}");
        assert_eq!(places(&read, OTHER), (30, vec![(12, 4), (20, 0)], None), "{fault:?}");
        // Another node has them.
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
