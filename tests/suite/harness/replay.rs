//! Real blocks that a node recorded: their headers, and one of their pools with the chain's own proofs.
//!
//! Not recorded are receipts and logs of block 22,615,246, other pools and feeds in it, and the code of its tokens.
//! So its node serves no logs, and feeds are ours and stay unproven.

use std::sync::Arc;

use alloy::primitives::{Address, B256, U256, address, keccak256};
use alloy::sol_types::SolValue;
use exitgap_chain::config::{ChainConfig, Config, LogsCheck, Plan};
use exitgap_chain::{ChainReader, ReadFailure};
use exitgap_core::ids::{BlockHash, PoolId};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_tests::devchain::FIRST_SLOT;
use exitgap_tests::fixtures::Artifact;
use serde_json::{Value, json};

use crate::scenes::bottle::{Bottle, LINK_FEED, V2_FACTORY, WETH};
use crate::scenes::chain::{deadline, small_limits};
use crate::scenes::facts;
use crate::scenes::live::Live;
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::real_header::RealHeader;
use crate::scenes::replay::{Recording, Replay, Walks};

/// A reader of a chain without pools.
fn reader(chain_id: u64, url: &str) -> ChainReader {
    let chain = ChainConfig {
        slug: "any".parse().unwrap(),
        chain_id,
        rpc_urls: vec![url.parse().unwrap()],
        genesis_hash: None,
        known_block: None,
        number_source: None,
        check_logs_by: LogsCheck::Auto,
        second_rpc_url: None,
        sequencer_uptime_feed: None,
        sequencer_grace_s: None,
        multicall3: None,
        confirmations: None,
        factory: Vec::new(),
    };
    let plan = Plan::new(&Config { chain: vec![chain], ..Config::default() }).unwrap();
    ChainReader::new(plan.into_chains().remove(0), small_limits()).unwrap()
}

/// What a reader finds of a node whose newest block this is: the block's hash, and the newest slot.
async fn found(
    node: &Replay,
    chain_id: u64,
    block: &Value,
    number: u64,
) -> (Result<BlockHash, ReadFailure>, Result<Slot, ReadFailure>) {
    node.show(block.clone());
    let reader = reader(chain_id, &node.url());
    (reader.canonical_hash(number, deadline()).await, reader.newest_slot(deadline()).await)
}

/// Block 0 of a chain, which a node of it must have.
fn genesis_of(chain_id: u64) -> Value {
    let known = exitgap_chain::config::KnownChain::of_id(chain_id);
    known.map_or_else(|| json!(B256::repeat_byte(7)), |known| json!(known.genesis.to_string()))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_real_header_is_believed_and_not_with_another_number() {
    let file = facts::file("headers");
    let cases = file["cases"].as_array().unwrap();
    let mut believed = 0;
    for case in cases {
        let chain_id = case["chain"].as_u64().unwrap();
        let header = RealHeader::from_rlp(&facts::bytes(&case["rlp"]));
        let (number, hash) = (header.number(), facts::text(&case["hash"]));
        assert_eq!(format!("{:#x}", header.hash()), hash, "block {number}");
        let genesis = Some(genesis_of(chain_id));
        let node = Replay::start(Recording { chain_id, genesis, ..Recording::default() });
        let (read, newest) = found(&node, chain_id, &header.json(), number).await;
        assert_eq!(read.unwrap().to_string(), hash, "block {number}");
        // A block from before the series has no slot. Its time is known.
        assert_eq!(newest.unwrap_err().reason, MissingReason::BlockUnavailable, "block {number}");
        for name in ["gasUsed", "timestamp"] {
            let mut block = header.json();
            block[name] = json!(format!("{:#x}", facts::number(&block[name]) + U256::from(1)));
            let (read, newest) = found(&node, chain_id, &block, number).await;
            for failure in [read.unwrap_err(), newest.unwrap_err()] {
                assert_eq!(failure.reason, MissingReason::RpcResponseInvalid, "{name} {number}");
                assert!(failure.detail.contains("the block's hash"), "{name} {number}: {failure}");
            }
        }
        believed += 1;
    }
    assert_eq!((believed, cases.len()), (73, 73));
}

/// A pair of WETH and another token, in block 22,615,246.
const PAIR: Address = address!("2072b04c1859a667b31e226c3caaf1b4d1b6c626");

/// Another account of the same block, whose proof was recorded.
const OTHER: Address = address!("a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48");

/// The words of a pair: its tokens, its reserves, its prices over time, and its lock.
const PAIR_SLOTS: [u64; 6] = [6, 7, 8, 9, 10, 12];

/// The block and the one after it, their walks, and a node for calls.
struct Keth {
    headers: Vec<RealHeader>,
    /// Held so that its node answers calls.
    bottle: Bottle,
    token1: Address,
    reserves: [U256; 2],
}

impl Keth {
    async fn new() -> Self {
        let file = facts::file("headers");
        let cases = file["cases"].as_array().unwrap().iter();
        let of_keth = cases.filter(|case| case["source"] == "keth");
        let headers: Vec<RealHeader> =
            of_keth.map(|case| RealHeader::from_rlp(&facts::bytes(&case["rlp"]))).collect();
        assert_eq!(
            headers.iter().map(RealHeader::number).collect::<Vec<_>>(),
            [22_615_246, 22_615_247]
        );
        let (walks, root) = (Walks::read(), headers[0].state_root());
        let word = |slot| walks.word(root, PAIR, slot).unwrap();
        let bottle = Bottle::fill().await;
        let chain = &bottle.chain;
        let token1 = Address::from_word(word(7));
        assert_eq!(Address::from_word(word(6)), WETH);
        let code = Artifact::UniswapV2Pair.deployed_code().unwrap();
        chain.set_code(PAIR, code).await.unwrap();
        let words = PAIR_SLOTS.map(|slot| (U256::from(slot).into(), word(slot)));
        chain.set_words(PAIR, &words).await.unwrap();
        // Not recorded: the pair's factory, and what that answers.
        chain.set_words(PAIR, &[(U256::from(5).into(), V2_FACTORY.into_word())]).await.unwrap();
        let of_token0 = keccak256((WETH, U256::from(2)).abi_encode());
        let slot = keccak256((token1, of_token0).abi_encode());
        chain.set_words(V2_FACTORY, &[(slot, PAIR.into_word())]).await.unwrap();
        bottle.place_token(token1).await;
        let packed = U256::from_be_bytes(word(8).0);
        let mask = (U256::from(1) << 112) - U256::from(1);
        let reserves = [packed & mask, (packed >> 112) & mask];
        Self { headers, bottle, token1, reserves }
    }

    fn node(&self, headers: Vec<RealHeader>) -> Replay {
        Replay::start(Recording {
            chain_id: 1,
            genesis: Some(genesis_of(1)),
            headers,
            walks: Some(Walks::read()),
            calls: Some(self.bottle.chain.url()),
            ..Recording::default()
        })
    }

    /// An operator who records the pair.
    fn operator(&self, now: u64, url: &str) -> Live {
        let feed = format!("{:#x}={LINK_FEED:#x}@3600", self.token1);
        Live::init(now, url, &format!("{PAIR:#x}"), &["--feed", &feed])
    }

    /// The same blocks around a slot's instant, with blocks of ours before them: the search for a slot's block starts
    /// there, and they are not recorded.
    fn shifted(&self, slot: Slot) -> [Vec<RealHeader>; 2] {
        let [block, next] = &self.headers[..] else { panic!("two blocks") };
        let (number, time) = (block.number(), slot.unix_s() - 5);
        let block = block.clone().with_number("timestamp", time);
        let next = next.clone().with_number("timestamp", time + 12).after(block.hash());
        let before = (1..=20).rev().map(|back| {
            let earlier = block.clone().with_number("number", number - back);
            earlier.with_number("timestamp", time - 12 * back)
        });
        [before.collect(), vec![block, next]]
    }
}

fn pool() -> PoolId {
    format!("ethereum:{PAIR:#x}").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_of_a_real_block_is_checked_and_estimated_as_its_words_say() {
    let keth = Keth::new().await;
    let node = keth.node(keth.headers[..1].to_vec());
    let live = keth.operator(keth.headers[0].timestamp() + 5, &node.url());
    let checked = live.server(&["check"]);
    for said in [
        "chain id and genesis match; newest block 22615246 at ",
        "its contract pays exactly the computed amount",
        "does not serve logs (eth_getLogs)",
    ] {
        assert!(checked.out.contains(said), "{said}: {checked:?}");
    }
    // Nothing else is an error.
    assert_eq!((checked.code, checked.out.matches("error: ").count()), (Some(1), 1), "{checked:?}");

    let pool = pool().to_string();
    let asked = ["estimate", &pool, "--size-usd", "2500", "--base", "token0", "--json"];
    let source = ["--rpc", &node.url(), "--config", "exitgap.toml"];
    let told = live.exitgap(&[&asked[..], &source].concat());
    assert_eq!(told.code, Some(0), "{told:?}");
    let told = told.json();
    let raw = |field: &str| told[field].as_str().unwrap().parse::<U256>().unwrap();
    let [reserve0, reserve1] = keth.reserves;
    let paid = raw("amount_in_raw") * U256::from(997);
    let expected = paid * reserve1 / (reserve0 * U256::from(1_000) + paid);
    assert!(expected > U256::ZERO && raw("amount_out_raw") == expected, "{told}");
}

/// What the recorder says of a slot that it reads from a node that answers proofs so.
fn recorded(
    keth: &Keth,
    slot: Slot,
    lie: impl Fn(&Value, &Value) -> Option<Lie> + Send + Sync + 'static,
) -> (Value, Live) {
    let node = keth.node(keth.shifted(slot).concat());
    let proxy = Proxy::start(&node.url());
    let mut live = keth.operator(slot.unix_s() + 5, &proxy.url());
    proxy.lie(move |request, told| {
        let is_of_pair = request["method"] == "eth_getProof"
            && request["params"][0].as_str().is_some_and(|of| of.parse() == Ok(PAIR));
        if is_of_pair { lie(request, told) } else { None }
    });
    let said = live.record(slot);
    (said, live)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_state_is_recorded_with_its_proof_and_not_with_another() {
    let keth = Keth::new().await;
    let slot = Slot::new(FIRST_SLOT + 1).unwrap();
    let (said, live) = recorded(&keth, slot, |_, _| None);
    // The feeds' accounts are not in the record.
    let counts = ["recorded", "proven", "oracles_proven"].map(|name| said[name].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 0], "{said}");
    let snapshot = live.snapshot(&pool(), slot);
    assert_eq!(
        snapshot.observation().block().hash.to_string(),
        format!("{:#x}", keth.shifted(slot)[1][0].hash())
    );
    let proof = live.proof(&snapshot, false);
    assert_eq!(
        proof.code_hash,
        Some(keccak256(Artifact::UniswapV2Pair.deployed_code().unwrap()).0)
    );

    let walks = Arc::new(Walks::read());
    let root = keth.headers[0].state_root();
    let other = move |request: &Value, _: &Value| {
        let slots: Vec<B256> = serde_json::from_value(request["params"][1].clone()).unwrap();
        let mut proof = walks.proof(root, OTHER, &[]).unwrap();
        let none = |slot: &B256| json!({ "key": slot, "value": "0x0", "proof": [] });
        proof["storageProof"] = slots.iter().map(none).collect();
        proof["address"] = json!(PAIR);
        Some(Lie::Result(proof))
    };
    let without_node = |of: &'static str| {
        move |_: &Value, told: &Value| {
            let mut told = told["result"].clone();
            let nodes = if of == "account" {
                &mut told["accountProof"]
            } else {
                &mut told["storageProof"][0]["proof"]
            };
            nodes.as_array_mut().unwrap().pop().unwrap();
            Some(Lie::Result(told))
        }
    };
    for (what, said) in [
        ("another account's proof", recorded(&keth, slot, other).0),
        ("a missing node of the account", recorded(&keth, slot, without_node("account")).0),
        ("a missing node of the word", recorded(&keth, slot, without_node("word")).0),
    ] {
        assert_eq!((&said["recorded"], &said["proven"]), (&json!(0), &json!(0)), "{what}: {said}");
        assert_eq!(said["missing"], "rpc_response_invalid=1", "{what}: {said}");
    }
    let too_old = |_: &Value, _: &Value| {
        Some(Lie::Error(-32_000, "distance to target block exceeds maximum proof window"))
    };
    let (said, _) = recorded(&keth, slot, too_old);
    assert_eq!((&said["recorded"], &said["proven"]), (&json!(1), &json!(0)), "{said}");
    assert_eq!(said["unproven"], "not_served=1", "{said}");
}
