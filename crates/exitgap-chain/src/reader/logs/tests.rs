//! What logs name of pools that are followed, whatever nodes answer.

use alloy::primitives::{Bytes, LogData};
use exitgap_core::ids::{BlockHash, PoolId};

use super::*;
use crate::abi::{Answer, Call};
use crate::read_failure::ReadFailure;
use crate::trial_node::{Reply, TrialNode, rpc, short_limits};

const POOL: Address = Address([8; 20]);
const MANAGER: Address = Address([9; 20]);
const ID: Word = Word([7; 32]);
const OWN: B256 = B256::repeat_byte(1);
const OF_MANAGER: B256 = B256::repeat_byte(2);
const LAST: BlockRef = BlockRef { hash: BlockHash([2; 32]), number: 20, timestamp: 1 };

/// A pool whose every log names this part.
pub(in crate::reader) struct Names(pub(in crate::reader) Watch, pub(in crate::reader) i32);

impl PartReader for Names {
    fn watch(&self) -> Watch {
        self.0.clone()
    }
    fn named_by(&self, log: &Log) -> Result<Vec<i32>, RpcError> {
        match log.topics() {
            [_, garbled] if *garbled == OF_MANAGER => Err(contradiction("a log's tick", 1, 2)),
            _ => Ok(vec![self.1]),
        }
    }
    fn part_calls(&self, _: &[i32]) -> Vec<Call> {
        Vec::new()
    }
    fn decode_parts(
        &self,
        _: &PoolId,
        _: &[i32],
        _: &[Answer],
    ) -> Result<Vec<(i32, Option<crate::pools::Part>)>, ReadFailure> {
        Ok(Vec::new())
    }
    fn index_calls(&self) -> Vec<Call> {
        Vec::new()
    }
    fn decode_index(&self, _: &PoolId, _: &[Answer]) -> Result<Vec<i32>, ReadFailure> {
        Ok(Vec::new())
    }
}

fn log(emitter: Address, topics: Vec<B256>) -> Log {
    let data = LogData::new_unchecked(topics, Bytes::new());
    Log {
        inner: alloy::primitives::Log { address: crate::abi::wire(emitter), data },
        block_number: Some(20),
        block_hash: Some(B256::repeat_byte(2)),
        ..Log::default()
    }
}

#[test]
fn a_filter_names_no_more_than_nodes_take() {
    let of = |n: usize, id: bool| {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&(n as u64).to_be_bytes());
        let id = id.then(|| Word([u8::try_from(n % 256).unwrap(); 32]));
        Names(Watch { emitter: Address(bytes), events: vec![OWN], id }, 0)
    };
    let pools: Vec<Names> = (0..=2 * MAX_NAMED).map(|n| of(n, n == 0)).collect();
    let waiting = pools.iter().enumerate().map(|(place, pool)| (place, pool as &dyn PartReader));
    let filters = by_filter(&waiting.collect());
    let named = |together: &Together<'_>| together.pools.len();
    assert_eq!(filters.iter().map(named).collect::<Vec<_>>(), [MAX_NAMED, MAX_NAMED, 1]);
}

#[test]
fn a_log_is_a_pools_and_what_is_wrong_with_it_concerns_that_pool() {
    let own = Names(Watch { emitter: POOL, events: vec![OWN], id: None }, 5);
    let (events, id) = (vec![OF_MANAGER], Some(ID));
    let managed = Names(Watch { emitter: MANAGER, events, id }, 6);
    let waiting: PartReaders<'_> = BTreeMap::from([(0, &own as &dyn PartReader), (3, &managed)]);
    let [by_address, by_id] = &by_filter(&waiting)[..] else { panic!("two filters") };
    assert_eq!(by_address.filter(1, 2)["topics"], json!([[OWN]]));
    assert_eq!(by_id.filter(1, 2)["topics"], json!([[OF_MANAGER], [ID.to_string()]]));
    assert_eq!(by_id.filter(1, 2)["address"], json!([MANAGER.to_string()]));

    let of = |together: &Together<'_>, log: &Value| {
        let raw = RawValue::from_string(log.to_string()).unwrap();
        together.parts_of_raw(&raw, [11, 20], LAST)
    };
    let good = in_wire(&log(POOL, vec![OWN, B256::ZERO]));
    assert_eq!(of(by_address, &good), Ok(vec![(0, Ok((20, vec![5])))]));
    let of_id = in_wire(&log(MANAGER, vec![OF_MANAGER, B256::from(ID.0)]));
    assert_eq!(of(by_id, &of_id), Ok(vec![(3, Ok((20, vec![6])))]));

    // What is wrong with a pool's log concerns that pool.
    let what = |parts: Result<Vec<OfPool>, RpcError>, place: usize| match &parts.unwrap()[..] {
        [(found, Err(error))] if *found == place => match error {
            RpcError::Contradiction { what, .. } => *what,
            RpcError::Malformed(_) => "malformed",
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    for (field, value, wrong) in [
        ("removed", json!(true), "a log's removed flag"),
        ("blockNumber", json!("0x15"), "a log's block"),
        ("blockNumber", Value::Null, "a log's block"),
        ("blockHash", Value::Null, "a log's block hash"),
        ("topics", json!([OF_MANAGER]), "a log's topics"),
        ("topics", json!([]), "a log's topics"),
        ("topics", json!(["0x12"]), "malformed"),
        ("data", json!("0xzz"), "malformed"),
        ("data", Value::Null, "malformed"),
        ("logIndex", json!({}), "malformed"),
    ] {
        let mut changed = good.clone();
        changed[field] = value;
        assert_eq!(what(of(by_address, &changed), 0), wrong, "{field}: {changed}");
    }
    let mut garbled = of_id.clone();
    garbled["data"] = json!("0xzz");
    assert_eq!(what(of(by_id, &garbled), 3), "malformed");
    garbled["topics"] = json!(["0x12", 5]);
    assert_eq!(what(of(by_id, &garbled), 3), "malformed", "all pools of the manager");

    // What is of no pool is the node's fault.
    let of_other = |together, log: &Value| match of(together, log) {
        Err(RpcError::Contradiction { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    let mut elsewhere = good.clone();
    elsewhere["blockHash"] = json!(B256::repeat_byte(3));
    assert_eq!(of_other(by_address, &elsewhere), "a log's block hash");
    let foreign = in_wire(&log(MANAGER, vec![OWN]));
    assert_eq!(of_other(by_address, &foreign), "a log's address");
    let foreign = in_wire(&log(MANAGER, vec![OF_MANAGER, OWN]));
    assert_eq!(of_other(by_id, &foreign), "a log's address");
}

const OTHER: Address = Address([10; 20]);

fn own_pools() -> [Names; 2] {
    [(POOL, 5), (OTHER, 6)]
        .map(|(emitter, part)| Names(Watch { emitter, events: vec![OWN], id: None }, part))
}

async fn parts_of_log(rpc: &Rpc, first: u64) -> Result<Named, Failure> {
    let pools = own_pools();
    let waiting = pools.iter().enumerate().map(|(place, pool)| (place, pool as &dyn PartReader));
    let deadline = Instant::now() + core::time::Duration::from_secs(20);
    changed_parts(rpc, &waiting.collect(), first, LAST, deadline).await
}

fn in_wire(log: &Log) -> Value {
    serde_json::to_value(log).unwrap()
}

#[tokio::test]
async fn one_pools_garbled_log_leaves_the_other_pool_known() {
    let garbled = in_wire(&log(POOL, vec![OWN, OF_MANAGER]));
    let good = in_wire(&log(OTHER, vec![OWN, B256::ZERO]));
    for (field, value, why) in [
        ("topics", garbled["topics"].clone(), "a log's tick"),
        ("data", json!("0xzz"), "malformed"),
        ("topics", Value::Null, "malformed"),
        ("topics", json!("none"), "malformed"),
        ("logIndex", json!("seven"), "malformed"),
        ("removed", json!(true), "removed flag"),
        ("blockNumber", json!("0x7"), "a log's block"),
    ] {
        let (mut wrong, good) = (garbled.clone(), good.clone());
        wrong[field] = value;
        let node = TrialNode::start(move |_| Reply::Result(json!([wrong, good, wrong])));
        let named = parts_of_log(&rpc(&[&node], short_limits()), 11).await.unwrap();
        assert_eq!(named.changed, ChangedParts::from([(1, BTreeSet::from([6]))]), "{field}");
        assert!(named.unread[&0].contains(why), "{field}: {:?}", named.unread);
        assert_eq!(named.unread.len(), 1, "{field}");
        assert_eq!(node.asked("eth_getLogs").len(), 1, "{field}");
    }
}

#[tokio::test]
async fn a_pool_with_more_logs_in_a_block_than_a_node_serves_holds_up_no_other() {
    let good = in_wire(&log(OTHER, vec![OWN, B256::ZERO]));
    let node = TrialNode::start(move |request| {
        let named = request["params"][0]["address"].as_array().unwrap();
        if named.contains(&json!(POOL.to_string())) {
            return Reply::Error(json!({ "code": -32_008, "message": "Response is too big" }));
        }
        Reply::Result(json!([good]))
    });
    let named = parts_of_log(&rpc(&[&node], short_limits()), 20).await.unwrap();
    assert_eq!(named.changed, ChangedParts::from([(1, BTreeSet::from([6]))]));
    assert_eq!(named.unread.into_keys().collect::<Vec<_>>(), [0]);
}

#[tokio::test]
async fn a_pool_with_more_logs_than_the_requests_can_bring_holds_up_no_other() {
    // More in each block than in the requests that there are for the slot's blocks.
    let good = in_wire(&log(OTHER, vec![OWN, B256::ZERO]));
    let is_guilty = |request: &Value| {
        let named = request["params"][0]["address"].as_array().unwrap();
        named.contains(&json!(POOL.to_string()))
    };
    for words in ["query returned more than 10000 results", "qux"] {
        let good = good.clone();
        let node = TrialNode::start(move |request| {
            let [from, to] = ["fromBlock", "toBlock"].map(|field| &request["params"][0][field]);
            if is_guilty(request) && from != to {
                return Reply::Error(json!({ "code": -32_000, "message": words }));
            }
            Reply::Result(if *to == json!("0x14") { json!([good]) } else { json!([]) })
        });
        let rpc = rpc(&[&node], short_limits());
        for _ in 0..3 {
            let named = parts_of_log(&rpc, 1).await.unwrap();
            assert_eq!(named.changed, ChangedParts::from([(1, BTreeSet::from([6]))]), "{words}");
            assert_eq!(named.unread.into_keys().collect::<Vec<_>>(), [0], "{words}");
        }
        let asked = node.asked("eth_getLogs");
        assert!(asked.iter().any(is_guilty), "the control: it was asked for");
        assert!(asked.len() <= 3 * 20, "{words}: {}", asked.len());
        // Its logs are no reason to ask for fewer blocks of the others.
        assert!(rpc.most_of(Measure::TickBlocks) >= 20, "{}", rpc.most_of(Measure::TickBlocks));
    }
}

#[tokio::test]
async fn logs_that_were_refused_for_a_while_are_asked_for_again() {
    let is_out = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let out = is_out.clone();
    let node = TrialNode::start(move |_| {
        if out.load(std::sync::atomic::Ordering::SeqCst) {
            let message = "exceed maximum block range: 1";
            return Reply::Error(json!({ "code": -32_000, "message": message }));
        }
        Reply::Result(json!([]))
    });
    let rpc = rpc(&[&node], short_limits());
    for _ in 0..5 {
        assert!(parts_of_log(&rpc, 1).await.unwrap_err().is_about_size());
    }
    assert!(rpc.most_of(Measure::TickBlocks) < 3, "the control: it was lowered");
    is_out.store(false, std::sync::atomic::Ordering::SeqCst);
    let before = node.asked("eth_getLogs").len();
    parts_of_log(&rpc, 1).await.unwrap();
    assert!(node.asked("eth_getLogs").len() - before <= 8);
    for _ in 0..6 {
        parts_of_log(&rpc, 1).await.unwrap();
    }
    assert!(rpc.most_of(Measure::TickBlocks) >= 20, "{}", rpc.most_of(Measure::TickBlocks));
    let before = node.asked("eth_getLogs").len();
    parts_of_log(&rpc, 1).await.unwrap();
    assert_eq!(node.asked("eth_getLogs").len() - before, 1);
}

#[tokio::test]
async fn a_limit_in_unknown_words_is_learned_and_tried_again() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    let width = |request: &Value| {
        let [from, to] = ["fromBlock", "toBlock"].map(|field| {
            let text = request["params"][0][field].as_str().unwrap();
            u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
        });
        to - from + 1
    };
    let is_limited = Arc::new(AtomicBool::new(true));
    let limited = is_limited.clone();
    let node = TrialNode::start(move |request| {
        if limited.load(Ordering::SeqCst) && width(request) > 5 {
            return Reply::Error(json!({ "code": -32_000, "message": "qux" }));
        }
        Reply::Result(json!([]))
    });
    let rpc = rpc(&[&node], short_limits());
    parts_of_log(&rpc, 1).await.unwrap();
    assert_eq!(rpc.most_of(Measure::TickBlocks), 10, "5 were answered twice");
    let before = node.asked("eth_getLogs").len();
    parts_of_log(&rpc, 1).await.unwrap();
    let widest = node.asked("eth_getLogs")[before..].iter().map(width).max();
    assert_eq!(widest, Some(10), "twice as much is tried, and not all");
    is_limited.store(false, Ordering::SeqCst);
    for _ in 0..12 {
        parts_of_log(&rpc, 1).await.unwrap();
    }
    let before = node.asked("eth_getLogs").len();
    parts_of_log(&rpc, 1).await.unwrap();
    assert_eq!(node.asked("eth_getLogs").len() - before, 1);
}

#[tokio::test]
async fn one_pool_that_nodes_refuse_in_unknown_words_holds_up_no_other() {
    let good = in_wire(&log(OTHER, vec![OWN, B256::ZERO]));
    let refusing = || Reply::Error(json!({ "code": -32_000, "message": "qux" }));
    let node = TrialNode::start(move |request| {
        let named = request["params"][0]["address"].as_array().unwrap();
        if named.contains(&json!(POOL.to_string())) {
            return refusing();
        }
        Reply::Result(json!([good]))
    });
    let begun = Instant::now();
    let named = parts_of_log(&rpc(&[&node], short_limits()), 20).await.unwrap();
    assert!(begun.elapsed() < core::time::Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(named.changed, ChangedParts::from([(1, BTreeSet::from([6]))]));
    assert_eq!(named.unread.into_keys().collect::<Vec<_>>(), [0]);
    // Nodes that answer nothing fail.
    let out = TrialNode::start(move |_| refusing());
    assert!(parts_of_log(&rpc(&[&out], short_limits()), 20).await.is_err());
}
