//! Nodes that lie, lag, prune, throttle or fail: the slot is missing for the correct reason, the test proves that the
//! fault occurred, and an honest second node saves the slot.

use std::net::TcpListener;
use std::time::Duration;

use exitgap_chain::{Event, Limits, SlotReading};
use exitgap_core::series::MissingReason;
use exitgap_tests::devchain::{FIRST_SLOT, Market};
use serde_json::{Value, json};

use crate::scenes::chain::{read, reader, scene, small_limits, snapshots, world_config};
use crate::scenes::proxy::{Lie, Proxy};

type Liar = Box<dyn Fn(&Value, &Value) -> Option<Lie> + Send + Sync>;

fn is_call(request: &Value) -> bool {
    request["method"] == "eth_call"
}

/// Whether the request asks for a block other than the genesis block.
fn is_block(request: &Value) -> bool {
    request["method"] == "eth_getBlockByNumber" && request["params"][0] != "0x0"
}

fn is_numbered_block(request: &Value) -> bool {
    is_block(request) && request["params"][0] != "latest"
}

/// A fault that returns `lie` for every request that `which` selects.
fn on(
    which: fn(&Value) -> bool,
    lie: impl Fn(&Value, &Value) -> Lie + Send + Sync + 'static,
) -> Liar {
    Box::new(move |request, truth| which(request).then(|| lie(request, truth)))
}

/// The true answer with one changed field of the block.
fn with_field(field: &'static str, value: &'static str) -> impl Fn(&Value, &Value) -> Lie {
    move |_, truth| {
        let mut block = truth["result"].clone();
        block[field] = value.into();
        Lie::Result(block)
    }
}

const OTHER_HASH: &str = "0x1111111111111111111111111111111111111111111111111111111111111111";

type Fault = (&'static str, MissingReason, Liar);

/// False answers about the chain id and the block.
fn lies_about_blocks() -> Vec<Fault> {
    use MissingReason::{BlockUnavailable, RpcResponseInvalid, RpcUnavailable, WrongChain};
    let is_chain_id = |request: &Value| request["method"] == "eth_chainId";
    let is_genesis = |request: &Value| request["params"][0] == "0x0";
    vec![
        ("another chain id", WrongChain, on(is_chain_id, |_, _| Lie::Result(json!("0x1")))),
        ("another genesis", WrongChain, on(is_genesis, with_field("hash", OTHER_HASH))),
        ("a null block", BlockUnavailable, on(is_numbered_block, |_, _| Lie::Result(Value::Null))),
        ("another block hash", RpcResponseInvalid, on(is_block, with_field("hash", OTHER_HASH))),
        (
            "another timestamp",
            RpcResponseInvalid,
            on(is_numbered_block, with_field("timestamp", "0x1")),
        ),
        ("another number", RpcResponseInvalid, on(is_numbered_block, with_field("number", "0x7"))),
        ("HTTP 401", RpcUnavailable, on(is_block, |_, _| Lie::Status(401))),
    ]
}

/// False answers, errors and missing answers for state requests.
fn lies_about_state() -> Vec<Fault> {
    use MissingReason::{
        BlockUnavailable, CallReverted, RpcRateLimited, RpcResponseInvalid, RpcUnavailable,
    };
    vec![
        (
            "a pruned state",
            BlockUnavailable,
            on(is_call, |_, _| Lie::Error(-32_000, "missing trie node 4f12 (path 0a)")),
        ),
        (
            "an unknown block",
            BlockUnavailable,
            on(is_call, |_, _| Lie::Error(-32_000, "header not found")),
        ),
        (
            "the state of another block",
            RpcResponseInvalid,
            on(is_call, |request, _| {
                let mut other = request.clone();
                other["params"][1] = json!("0x2");
                Lie::Instead(other)
            }),
        ),
        (
            "malformed JSON",
            RpcResponseInvalid,
            on(is_call, |_, _| Lie::Body(b"{\"jsonrpc\":\"2.0\",\"result\":".to_vec())),
        ),
        (
            "a web page",
            RpcResponseInvalid,
            on(is_call, |_, _| Lie::Body(b"<html>welcome</html>".to_vec())),
        ),
        (
            "the answer to another request",
            RpcResponseInvalid,
            on(is_call, |_, truth| {
                let mut other = truth.clone();
                other["id"] = json!(999_999);
                Lie::Body(other.to_string().into_bytes())
            }),
        ),
        (
            "a multicall cut short",
            RpcResponseInvalid,
            on(is_call, |_, truth| {
                let text = truth["result"].as_str().unwrap_or("0x");
                let half = text.len() / 4 * 2;
                Lie::Result(json!(&text[..half.max(2)]))
            }),
        ),
        ("no answer at all", RpcResponseInvalid, on(is_call, |_, _| Lie::Result(json!("0x")))),
        ("an oversized body", RpcResponseInvalid, on(is_call, |_, _| Lie::Flood(3 << 20))),
        (
            "an unknown method",
            RpcResponseInvalid,
            on(is_call, |_, _| Lie::Error(-32_601, "the method eth_call does not exist")),
        ),
        ("a revert", CallReverted, on(is_call, |_, _| Lie::Error(3, "execution reverted"))),
        ("HTTP 429", RpcRateLimited, on(is_call, |_, _| Lie::Status(429))),
        (
            "a rate limit in JSON",
            RpcRateLimited,
            on(is_call, |_, _| Lie::Error(-32_005, "daily request count exceeded")),
        ),
        ("HTTP 503", RpcUnavailable, on(is_call, |_, _| Lie::Status(503))),
    ]
}

/// Requires that every pool of the reading is missing for this reason.
fn assert_missing(name: &str, reading: &SlotReading, reason: MissingReason) {
    for (pool, result) in &reading.pools {
        let missing = result.as_ref().expect_err(name);
        assert_eq!(missing.reason, reason, "{name}: {pool}: {missing}");
    }
}

#[tokio::test]
async fn each_fault_has_its_reason_and_a_second_node_rescues_the_slot() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    for slot in FIRST_SLOT..FIRST_SLOT + 2 {
        market.play_slot(slot).await.unwrap();
    }
    let slot = FIRST_SLOT + 1;
    let proxy = Proxy::start(&chain.url());
    let mut alone = world_config(&chain, &world, &[proxy.url()], [1, 6]).await;
    let mut rescued = world_config(&chain, &world, &[proxy.url(), chain.url()], [1, 6]).await;
    let genesis = chain.block(0.into()).await.unwrap().unwrap().hash;
    for config in [&mut alone, &mut rescued] {
        config.chain[0].genesis_hash = Some(exitgap_core::ids::BlockHash(genesis.0));
    }
    let limits = || Limits { answer_bytes_most: 2 << 20, ..small_limits() };
    // Control: an honest proxy changes nothing.
    let honest = snapshots(read(&mut reader(&alone, limits()), slot).await);
    for (name, reason, liar) in lies_about_blocks().into_iter().chain(lies_about_state()) {
        proxy.lie(liar);
        let reading = read(&mut reader(&alone, limits()), slot).await;
        assert_missing(name, &reading, reason);
        assert!(proxy.fired() > 0, "{name} never fired");
        assert!(reading.requests < 60, "{name}: {} requests", reading.requests);

        let before = proxy.fired();
        let reading = read(&mut reader(&rescued, limits()), slot).await;
        assert_eq!(snapshots(reading), honest, "{name}");
        assert!(proxy.fired() > before, "{name} never fired before the rescue");
        proxy.be_honest();
    }
}

#[tokio::test]
async fn a_node_that_hangs_or_is_not_there_is_unavailable() {
    let (chain, world) = scene().await;
    Market::new(&chain, &world, 3).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    proxy.lie(|request, _| is_call(request).then_some(Lie::Hang));
    let limits =
        || Limits { rounds: 1, request_timeout: Duration::from_millis(1_500), ..small_limits() };
    let config = world_config(&chain, &world, &[proxy.url()], [6]).await;
    let reading = read(&mut reader(&config, limits()), FIRST_SLOT).await;
    assert_missing("a hang", &reading, MissingReason::RpcUnavailable);
    assert!(proxy.fired() > 0);
    let config = world_config(&chain, &world, &[proxy.url(), chain.url()], [6]).await;
    let reading = read(&mut reader(&config, limits()), FIRST_SLOT).await;
    assert_eq!(snapshots(reading).len(), 1);

    // A port without a listener.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gone = format!("http://{gone}");
    let config = world_config(&chain, &world, std::slice::from_ref(&gone), [6]).await;
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    assert_missing("nobody there", &reading, MissingReason::RpcUnavailable);
    assert_eq!(reading.requests, 2, "one for each round");
    let config = world_config(&chain, &world, &[gone, chain.url()], [6]).await;
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    assert_eq!(snapshots(reading).len(), 1);
}

#[tokio::test]
async fn a_lagging_node_is_passed_over() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    let played = market.play_slot(FIRST_SLOT).await.unwrap();
    let last = format!("{:#x}", played.last_block.number);
    let proxy = Proxy::start(&chain.url());
    proxy.lie(move |request, _| {
        (is_block(request) && request["params"][0] == "latest").then(|| {
            let mut older = request.clone();
            older["params"][0] = last.clone().into();
            Lie::Instead(older)
        })
    });
    let config = world_config(&chain, &world, &[proxy.url()], [6]).await;
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    assert_missing("a lagging node", &reading, MissingReason::ChainLagging);
    assert!(proxy.fired() > 0);
    let config = world_config(&chain, &world, &[proxy.url(), chain.url()], [6]).await;
    let mut rescued = reader(&config, small_limits());
    assert_eq!(snapshots(read(&mut rescued, FIRST_SLOT).await).len(), 1);
    // From then on, the reader asks the node that answered first.
    let served = proxy.served();
    assert_eq!(snapshots(read(&mut rescued, FIRST_SLOT).await).len(), 1);
    assert_eq!(proxy.served(), served);
}

/// A node that returns invented state: the pool's own invariants reveal it.
#[tokio::test]
async fn state_that_breaks_a_pools_invariants_is_read_at_another_node() {
    let (chain, world) = scene().await;
    Market::new(&chain, &world, 3).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    let honest = world_config(&chain, &world, &[chain.url()], [1]).await;
    let truth = snapshots(read(&mut reader(&honest, small_limits()), FIRST_SLOT).await);
    let exitgap_core::pools::PoolState::Concentrated(state) = truth[0].observation().state() else {
        panic!("v3")
    };
    let word = format!("{:064x}", state.liquidity());
    let other = format!("{:064x}", state.liquidity() + 1);
    let proxy = Proxy::start(&chain.url());
    proxy.lie(move |request, told| {
        let text = told["result"].as_str()?;
        (is_call(request) && text.contains(&word))
            .then(|| Lie::Result(text.replace(&word, &other).into()))
    });
    let alone = world_config(&chain, &world, &[proxy.url()], [1]).await;
    let reading = read(&mut reader(&alone, small_limits()), FIRST_SLOT).await;
    assert_missing("false liquidity", &reading, MissingReason::StateInconsistent);
    assert!(proxy.fired() > 0);
    let rescued = world_config(&chain, &world, &[proxy.url(), chain.url()], [1]).await;
    let reading = read(&mut reader(&rescued, small_limits()), FIRST_SLOT).await;
    assert!(matches!(&reading.events[..], [Event::ReadAtOtherNode { .. }]), "{:?}", reading.events);
    assert_eq!(snapshots(reading), truth);
}

/// The reader checks the identity of a node again after it failed: a node may switch to another chain.
#[tokio::test]
async fn a_node_is_checked_again_after_it_failed() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    market.play_slot(FIRST_SLOT).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let config = world_config(&chain, &world, &[proxy.url()], [6]).await;
    let mut reader = reader(&config, small_limits());
    assert_eq!(snapshots(read(&mut reader, FIRST_SLOT).await).len(), 1);
    market.play_slot(FIRST_SLOT + 1).await.unwrap();
    proxy.lie(|_, _| Some(Lie::Status(502)));
    let reading = read(&mut reader, FIRST_SLOT + 1).await;
    assert_missing("a dying node", &reading, MissingReason::RpcUnavailable);
    proxy.lie(|request, _| {
        (request["method"] == "eth_chainId").then(|| Lie::Result(json!("0x2105")))
    });
    let reading = read(&mut reader, FIRST_SLOT + 1).await;
    assert_missing("another chain behind it", &reading, MissingReason::WrongChain);
    assert!(proxy.fired() > 0);
    proxy.be_honest();
    assert_eq!(snapshots(read(&mut reader, FIRST_SLOT + 1).await).len(), 1);
}

/// If a node limits its computation or its answers, the reader sends smaller requests and reads the same state.
#[tokio::test]
async fn a_refused_size_is_asked_in_smaller_parts() {
    let (chain, world) = scene().await;
    Market::new(&chain, &world, 3).await.unwrap().play_slot(FIRST_SLOT).await.unwrap();
    let honest = world_config(&chain, &world, &[chain.url()], [0, 1]).await;
    let truth = snapshots(read(&mut reader(&honest, small_limits()), FIRST_SLOT).await);
    let proxy = Proxy::start(&chain.url());
    let config = world_config(&chain, &world, &[proxy.url()], [0, 1]).await;
    // A request with more than about a hundred calls.
    let large =
        |request: &Value| request["params"][0]["data"].as_str().map_or(0, str::len) > 50_000;
    proxy.lie(move |request, _| {
        (is_call(request) && large(request)).then_some(Lie::Error(-32_000, "out of gas"))
    });
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    assert!(proxy.fired() > 0);
    assert_eq!(snapshots(reading), truth);
    // A size limit that the node applies only during the reading has the same effect.
    proxy.be_honest();
    let limits = Limits { answer_bytes_most: 40_000, ..small_limits() };
    let reading = read(&mut reader(&config, limits), FIRST_SLOT).await;
    assert_eq!(snapshots(reading), truth);
}
