//! Blocks whose headers commit to logs that a node gives, leaves out, or denies.

use core::time::Duration;

use alloy::consensus::Header as ConsensusHeader;
use alloy::primitives::{Bytes, LogData};
use exitgap_core::ids::BlockHash;
use serde_json::{Value, json};

use super::*;
use crate::abi::wire;
use crate::reader::logs::tests::Names;
use crate::trial_node::{Reply, TrialNode, rpc, short_limits};

const EVENT: B256 = B256::repeat_byte(1);
const FIRST: u64 = 11;
const LAST: u64 = 14;

/// The emitter of the pool with this index.
fn emitter(place: usize) -> Address {
    Address([u8::try_from(100 + place).unwrap(); 20])
}

/// Four linked blocks with these logs, each by block and pool.
struct Chain {
    headers: Vec<Value>,
    receipts: Vec<Value>,
    last: BlockRef,
}

fn log(number: u64, place: usize) -> Value {
    let data = LogData::new_unchecked(vec![EVENT], Bytes::new());
    let log = Log {
        inner: alloy::primitives::Log { address: wire(emitter(place)), data },
        block_number: Some(number),
        ..Log::default()
    };
    serde_json::to_value(log).unwrap()
}

impl Chain {
    fn with_logs(logs: &[(u64, usize)]) -> Self {
        let (mut headers, mut receipts, mut parent) = (Vec::new(), Vec::new(), B256::ZERO);
        for number in FIRST..=LAST {
            let own = logs.iter().filter(|(block, _)| *block == number);
            let own: Vec<Value> = own.map(|(_, place)| log(number, *place)).collect();
            let receipt = receipt_of(&own);
            let read: TransactionReceipt = serde_json::from_value(receipt.clone()).unwrap();
            let mut logs_bloom = Bloom::default();
            for log in read.logs() {
                logs_bloom.accrue_log(&log.inner);
            }
            let inner = ConsensusHeader {
                number,
                parent_hash: parent,
                logs_bloom,
                receipts_root: calculate_receipt_root(&[read.into_primitives_receipt().inner]),
                timestamp: 1_700_000_000 + number,
                ..ConsensusHeader::default()
            };
            parent = inner.hash_slow();
            let mut header = serde_json::to_value(&inner).unwrap();
            header["hash"] = json!(parent);
            headers.push(header);
            receipts.push(json!([receipt]));
        }
        let last = BlockRef { hash: BlockHash(parent.0), number: LAST, timestamp: 1 };
        Self { headers, receipts, last }
    }

    /// A node with this chain.
    fn serve(&self) -> TrialNode {
        let (headers, receipts) = (self.headers.clone(), self.receipts.clone());
        TrialNode::start(move |request| {
            let number = request["params"][0].as_str().unwrap().trim_start_matches("0x");
            let place =
                usize::from_str_radix(number, 16).unwrap() - usize::try_from(FIRST).unwrap();
            Reply::Result(match request["method"].as_str().unwrap() {
                "eth_getBlockByNumber" => headers[place].clone(),
                "eth_getBlockReceipts" => receipts[place].clone(),
                other => panic!("{other}"),
            })
        })
    }
}

fn receipt_of(logs: &[Value]) -> Value {
    let zero = |bytes: usize| format!("0x{}", "00".repeat(bytes));
    json!({
        "type": "0x2", "status": "0x1", "cumulativeGasUsed": "0x5208", "gasUsed": "0x5208",
        "logs": logs, "logsBloom": zero(256), "transactionHash": zero(32), "transactionIndex": "0x0",
        "blockHash": zero(32), "blockNumber": "0x1", "effectiveGasPrice": "0x1",
        "from": zero(20), "to": zero(20), "contractAddress": null,
    })
}

/// What is found for so many pools, of which logs of these blocks came.
async fn check(
    node: &TrialNode,
    last: BlockRef,
    (by, count): (LogsCheck, usize),
    came: &[(u64, usize)],
    (checking, slot): (&mut LogsChecking, u32),
) -> Omitted {
    let part = |place: usize| i32::try_from(place).unwrap();
    let pools: Vec<Names> = (0..count)
        .map(|place| {
            let watch = Watch { emitter: emitter(place), events: vec![EVENT], id: None };
            Names(watch, part(place))
        })
        .collect();
    let asked = pools.iter().enumerate().map(|(place, followed)| {
        let own = came.iter().filter(|(_, of)| *of == place);
        let blocks: BTreeSet<u64> = own.map(|(block, _)| *block).collect();
        let named = blocks.first().map(|_| part(place)).into_iter().collect();
        (place, AskedPool { after: FIRST - 1, followed, blocks, named })
    });
    let (slot, deadline) = (Slot::new(slot.into()).unwrap(), Duration::from_secs(10));
    let rpc = rpc(&[node], short_limits());
    checking.check(&rpc, by, slot, &asked.collect(), last, Instant::now() + deadline).await
}

const SLOT: u32 = 6_000_000;

#[tokio::test]
async fn a_pool_that_a_bloom_names_without_a_log_is_suspected() {
    let chain = Chain::with_logs(&[(12, 0), (13, 1), (13, 0)]);
    let node = chain.serve();
    let mut checking = LogsChecking::default();
    let auto = (LogsCheck::Auto, 20);
    let found = check(&node, chain.last, auto, &[(12, 0), (13, 0)], (&mut checking, SLOT)).await;
    assert_eq!(found.suspected, BTreeMap::from([(1, 13)]));
    assert_eq!(checking.checked, Some(LogsChecked::Blooms));
    // One log of two came.
    let found = check(&node, chain.last, auto, &[(12, 0), (13, 1)], (&mut checking, SLOT)).await;
    assert_eq!(found.suspected, BTreeMap::from([(0, 13)]));
    // The control: all came.
    let all = [(12, 0), (13, 0), (13, 1)];
    let found = check(&node, chain.last, auto, &all, (&mut checking, SLOT)).await;
    assert!(found.suspected.is_empty() && found.proven.is_empty());
    assert_eq!(checking.checked, Some(LogsChecked::Blooms));
    assert!(node.asked("eth_getBlockReceipts").is_empty());
    assert_eq!(node.asked("eth_getBlockByNumber").len(), 3 * 4);
}

#[tokio::test]
async fn where_blooms_name_many_pools_the_receipts_prove_which_logs_were_left_out() {
    let chain = Chain::with_logs(&[(12, 0), (13, 1), (14, 2)]);
    let node = chain.serve();
    let mut checking = LogsChecking::default();
    let came = [(14, 2)];
    let found = check(&node, chain.last, (LogsCheck::Auto, 19), &came, (&mut checking, SLOT)).await;
    assert_eq!(checking.checked, Some(LogsChecked::Receipts));
    let part = |part| BTreeSet::from([part]);
    assert_eq!(found.proven, BTreeMap::from([(0, (12, part(0))), (1, (13, part(1)))]));
    assert!(found.suspected.is_empty());
    // Only blocks whose bloom names a pool.
    assert_eq!(node.asked("eth_getBlockReceipts").len(), 3);
    // By blooms alone, if that is configured.
    let found =
        check(&node, chain.last, (LogsCheck::Blooms, 19), &came, (&mut checking, SLOT)).await;
    assert_eq!(found.suspected, BTreeMap::from([(0, 12), (1, 13)]));
    assert_eq!(checking.checked, Some(LogsChecked::Blooms));
    // By nothing.
    let found =
        check(&node, chain.last, (LogsCheck::Nothing, 19), &came, (&mut checking, SLOT)).await;
    assert!(found.suspected.is_empty() && found.proven.is_empty());
    assert!(
        matches!(&checking.checked, Some(LogsChecked::Unproven(why)) if why.contains("nothing"))
    );
}

#[tokio::test]
async fn a_way_that_is_not_served_is_tried_again_after_an_hour() {
    let chain = Chain::with_logs(&[(12, 0), (13, 1)]);
    let headers = chain.headers.clone();
    let node = TrialNode::start(move |request| {
        let number = request["params"][0].as_str().unwrap().trim_start_matches("0x");
        let place = usize::from_str_radix(number, 16).unwrap() - usize::try_from(FIRST).unwrap();
        if request["method"] == "eth_getBlockReceipts" {
            return Reply::Error(json!({ "code": -32_601, "message": "method not found" }));
        }
        Reply::Result(headers[place].clone())
    });
    let mut checking = LogsChecking::default();
    for (slot, headers) in
        [(SLOT, 4), (SLOT + 1, 4), (SLOT + TRIED_AGAIN - 1, 4), (SLOT + TRIED_AGAIN, 8)]
    {
        checking.checked = None;
        let auto = (LogsCheck::Auto, 10);
        let found = check(&node, chain.last, auto, &[], (&mut checking, slot)).await;
        assert!(found.suspected.is_empty() && found.proven.is_empty());
        let Some(LogsChecked::Unproven(why)) = &checking.checked else { panic!("{checking:?}") };
        assert!(why.contains("blooms name 2 of 10 pools"), "{why}");
        assert!(why.contains("receipts are not served"), "{why}");
        assert_eq!(node.asked("eth_getBlockByNumber").len(), headers, "{slot}");
    }
}

#[tokio::test]
async fn receipts_of_an_unknown_form_are_not_asked_for_in_each_slot() {
    let mut chain = Chain::with_logs(&[(12, 0), (13, 1)]);
    chain.receipts[1][0]["type"] = json!("0x7e");
    let node = chain.serve();
    let mut checking = LogsChecking::default();
    let mut asked = Vec::new();
    for slot in [SLOT, SLOT + 1] {
        let auto = (LogsCheck::Auto, 10);
        check(&node, chain.last, auto, &[], (&mut checking, slot)).await;
        let Some(LogsChecked::Unproven(why)) = &checking.checked else { panic!("{checking:?}") };
        assert!(why.contains("receipts are not served"), "{why}");
        asked.push(node.asked("eth_getBlockReceipts").len());
    }
    assert!(asked[0] > 0 && asked[1] == asked[0], "{asked:?}");
}

#[tokio::test]
async fn a_node_that_denies_a_log_in_headers_or_receipts_is_not_believed() {
    let honest = Chain::with_logs(&[(12, 0), (13, 1)]);
    let why = async |chain: &Chain| {
        let mut checking = LogsChecking::default();
        let auto = (LogsCheck::Auto, 10);
        let found = check(&chain.serve(), honest.last, auto, &[], (&mut checking, SLOT)).await;
        assert!(found.suspected.is_empty() && found.proven.is_empty());
        match checking.checked {
            Some(LogsChecked::Unproven(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    // Another bloom with the same hash.
    let mut bloom = Chain::with_logs(&[(12, 0), (13, 1)]);
    bloom.headers[1]["logsBloom"] = json!(Bloom::default());
    assert!(why(&bloom).await.contains("the block's hash"), "{}", why(&bloom).await);
    // A chain of its own without the logs, up to the slot's block.
    let mut other = Chain::with_logs(&[]);
    other.headers[3] = honest.headers[3].clone();
    assert!(why(&other).await.contains("is linked"), "{}", why(&other).await);
    // Receipts without them.
    let mut receipts = Chain::with_logs(&[(12, 0), (13, 1)]);
    receipts.receipts[1] = json!([receipt_of(&[])]);
    assert!(why(&receipts).await.contains("the root of the receipts"));
    // The control: each is believed as it is.
    let mut checking = LogsChecking::default();
    let auto = (LogsCheck::Auto, 10);
    check(&honest.serve(), honest.last, auto, &[], (&mut checking, SLOT)).await;
    assert_eq!(checking.checked, Some(LogsChecked::Receipts));
}

#[tokio::test]
async fn too_many_blocks_are_not_asked_for() {
    let chain = Chain::with_logs(&[]);
    let node = chain.serve();
    let mut checking = LogsChecking::default();
    let far = BlockRef { number: FIRST + MAX_HEADERS, ..chain.last };
    check(&node, far, (LogsCheck::Auto, 3), &[], (&mut checking, SLOT)).await;
    assert!(
        matches!(&checking.checked, Some(LogsChecked::Unproven(why)) if why.starts_with("301 blocks"))
    );
    assert!(node.asked("eth_getBlockByNumber").is_empty());
    // The next slot is checked again.
    check(&node, chain.last, (LogsCheck::Auto, 3), &[], (&mut checking, SLOT + 1)).await;
    assert_eq!(checking.checked, Some(LogsChecked::Blooms));
}
