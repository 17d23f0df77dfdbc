//! Requests to nodes that refuse, lag, or answer in unusual forms.

use core::time::Duration;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::trial_node::{GENESIS, Reply, TrialNode, gzip, rpc, short_limits};

fn within(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

fn number(raw: &RawValue) -> Result<u64, RpcError> {
    value(raw)
}

/// A node that gives this answer `times` times, and then 7.
fn refusing(times: usize, reply: Reply) -> TrialNode {
    let left = AtomicUsize::new(times);
    TrialNode::start(move |_| {
        let more = |left: usize| left.checked_sub(1);
        match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more) {
            Ok(_) => reply.clone(),
            Err(_) => Reply::Result(json!(7)),
        }
    })
}

fn error(code: i64, message: &str) -> Reply {
    Reply::Error(json!({ "code": code, "message": message }))
}

async fn ask(
    nodes: &[&TrialNode],
    policy: RetryPolicy,
    method: &'static str,
) -> (Result<u64, Failure>, Vec<usize>) {
    let rpc = rpc(nodes, short_limits());
    let answer = rpc.request_by(policy, method, &json!([]), within(20), number).await;
    (answer, nodes.iter().map(|node| node.asked(method).len()).collect())
}

const NARROWS: RetryPolicy = RetryPolicy { narrows: true, ..RetryPolicy::PATIENT };

#[tokio::test]
async fn an_outage_is_borne_whatever_it_is_called() {
    let html = b"<html>Service Temporarily Unavailable</html>".to_vec();
    let in_json = br#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"qux"}}"#.to_vec();
    for reply in [
        Reply::Raw(503, "", html),
        Reply::Raw(503, "content-type: application/json\r\n", in_json),
        Reply::Raw(502, "", Vec::new()),
        Reply::Raw(429, "", Vec::new()),
        error(-32_001, "qux"),
        error(-32_503, "qux"),
        error(-32_011, "qux"),
        error(-32_012, "credits limited to 6000/sec"),
        error(19, "qux"),
        Reply::Raw(500, "", br#"{"id":$ID,"error":{"code":19,"message":"qux"}}"#.to_vec()),
        Reply::Error(json!("service unavailable")),
        Reply::Raw(200, "", br#"{"code":-32603,"message":"qux"}"#.to_vec()),
        Reply::Raw(200, "", b"Too many requests".to_vec()),
    ] {
        for policy in [RetryPolicy::default(), RetryPolicy::PATIENT, NARROWS] {
            let (answer, asked) = ask(&[&refusing(9, reply.clone())], policy, "eth_call").await;
            assert_eq!((answer.ok(), asked), (Some(7), vec![10]), "{reply:?}");
        }
    }
}

#[tokio::test]
async fn a_node_that_lags_is_asked_again_and_another_one_too() {
    for reply in [
        error(-32_000, "header not found"),
        error(-32_000, "No state available for block 0x12"),
        error(-32_000, "4294967295 could not be found"),
        error(-32_014, "qux"),
    ] {
        let lagging = refusing(9, reply.clone());
        let (answer, asked) = ask(&[&lagging], RetryPolicy::PATIENT, "eth_call").await;
        assert_eq!((answer.ok(), asked), (Some(7), vec![10]), "{reply:?}");
        // A request that the slot does not depend on is given up, with the reason.
        let lagging = refusing(9, reply.clone());
        let (answer, asked) = ask(&[&lagging], RetryPolicy::default(), "eth_call").await;
        let failure = answer.unwrap_err();
        assert_eq!(failure.reason(), exitgap_core::series::MissingReason::BlockUnavailable);
        assert_eq!(asked, [3]);
        let (lagging, other) = (refusing(9, reply.clone()), refusing(0, reply));
        let (answer, asked) = ask(&[&lagging, &other], RetryPolicy::default(), "eth_call").await;
        assert_eq!((answer.ok(), asked), (Some(7), vec![1, 1]));
    }
}

#[tokio::test]
async fn what_no_row_knows_is_asked_again_then_narrowed_and_never_final_at_once() {
    for reply in [
        error(-32_000, "qux"),
        error(77, ""),
        Reply::Error(json!({})),
        Reply::Raw(200, "", b"<html>welcome</html>".to_vec()),
        Reply::Raw(200, "", b"{".to_vec()),
        Reply::Raw(418, "", Vec::new()),
        Reply::Raw(504, "", Vec::new()),
    ] {
        let (answer, asked) =
            ask(&[&refusing(9, reply.clone())], RetryPolicy::PATIENT, "eth_call").await;
        assert_eq!((answer.ok(), asked), (Some(7), vec![10]), "{reply:?}");
        let (answer, asked) = ask(&[&refusing(9, reply.clone())], NARROWS, "eth_call").await;
        let failure = answer.unwrap_err();
        assert!(failure.may_narrow() && !failure.is_about_size(), "{reply:?}: {failure}");
        assert_eq!(asked, [3], "{reply:?}");
        let other = refusing(0, reply.clone());
        let (answer, asked) = ask(&[&refusing(9, reply), &other], NARROWS, "eth_call").await;
        assert_eq!((answer.ok(), asked), (Some(7), vec![1, 1]));
    }
}

#[tokio::test]
async fn outcomes_are_counted_by_node_and_method() {
    let nodes = [refusing(2, error(-32_000, "header not found")), refusing(0, error(1, ""))];
    let rpc = rpc(&[&nodes[0], &nodes[1]], short_limits());
    for method in ["eth_call", "eth_getLogs", "eth_getLogs"] {
        rpc.request(method, &json!([]), within(20), number).await.unwrap();
        rpc.prefer_next();
    }
    let counted: Vec<_> = rpc
        .take_outcomes()
        .into_iter()
        .map(|of| (of.node, of.method, of.outcome, of.requests))
        .collect();
    let of = |place: usize| rpc.urls[place].to_string();
    // Each request once, also those that ask a node which chain it serves.
    assert_eq!(
        counted,
        [
            (of(0), "eth_call", "ask_another", 1),
            (of(0), "eth_chainId", "answer", 1),
            (of(0), "eth_getBlockByNumber", "answer", 1),
            (of(0), "eth_getLogs", "answer", 1),
            (of(0), "eth_getLogs", "ask_another", 1),
            (of(1), "eth_call", "answer", 1),
            (of(1), "eth_chainId", "answer", 1),
            (of(1), "eth_getBlockByNumber", "answer", 1),
            (of(1), "eth_getLogs", "answer", 1),
        ]
    );
    let requests: u64 = counted.iter().map(|(.., requests)| requests).sum();
    assert_eq!(requests, rpc.requests());
    assert!(rpc.take_outcomes().is_empty());
}

#[tokio::test]
async fn what_is_too_heavy_is_made_smaller_at_once() {
    for reply in [
        error(-32_000, "execution aborted (timeout = 5s)"),
        error(-32_002, "request timed out"),
        Reply::Error(
            json!({ "code": -32_015, "message": "VM execution error.", "data": "Out of gas" }),
        ),
        error(-32_000, "range 28 exceeds limit of 5"),
        error(-32_602, "logs matched by query exceeds limit of 10000"),
        error(-32_000, "maximum [from, to] blocks distance: 5"),
        Reply::Raw(413, "", Vec::new()),
    ] {
        let (answer, asked) = ask(&[&refusing(9, reply.clone())], NARROWS, "eth_call").await;
        let failure = answer.unwrap_err();
        assert!(failure.may_narrow() && failure.is_about_size(), "{reply:?}: {failure}");
        assert_eq!(asked, [1], "{reply:?}");
        // A request is made smaller even if another node is unavailable.
        let out = refusing(99, Reply::Raw(503, "", Vec::new()));
        let (answer, asked) = ask(&[&out, &refusing(9, reply.clone())], NARROWS, "eth_call").await;
        assert!(answer.unwrap_err().may_narrow(), "{reply:?}");
        assert_eq!(asked, [3, 3], "{reply:?}");
    }
}

#[tokio::test]
async fn an_answer_in_another_shape_is_read() {
    // Requests 0 and 1 check the identity.
    let body = br#"{"jsonrpc":"2.0","id":"2","result":7}"#.to_vec();
    for reply in [
        Reply::Raw(200, "content-encoding: gzip\r\n", gzip(&body)),
        Reply::Raw(200, "content-encoding: GZIP\r\n", gzip(&body)),
        Reply::Raw(200, "", gzip(&body)),
        Reply::Raw(200, "content-encoding: identity\r\n", body.clone()),
        Reply::Raw(200, "", br#"[{"id":2,"result":7,"error":null}]"#.to_vec()),
    ] {
        let (answer, asked) =
            ask(&[&refusing(1, reply.clone())], RetryPolicy::default(), "eth_call").await;
        assert_eq!((answer.ok(), asked), (Some(7), vec![1]), "{reply:?}");
    }
    // A small body that decompresses to more than the maximum size of an answer.
    let limits = Limits { answer_bytes_most: 10_000, ..short_limits() };
    let bomb =
        refusing(9, Reply::Raw(200, "content-encoding: gzip\r\n", gzip(&vec![b' '; 100_000])));
    let rpc = rpc(&[&bomb], limits);
    let answer = rpc.request("eth_call", &json!([]), within(20), number).await;
    assert_eq!(answer.unwrap_err().error, RpcError::Oversized { most: 10_000 });
}

#[tokio::test]
async fn each_node_is_asked_for_less_after_it_refused_and_for_more_after_it_answered() {
    let small = TrialNode::start(|request| {
        let amount = request["params"][0].as_u64().unwrap();
        if amount > 500 { error(-32_005, "response is too big") } else { Reply::Result(json!(7)) }
    });
    let large = TrialNode::start(|_| Reply::Result(json!(7)));
    let rpc = rpc(&[&small, &large], short_limits());
    let ask = async |amount: u64| {
        let weight = Some(Weight { of: Measure::Calls, amount });
        let policy = RetryPolicy { weight, narrows: true, ..RetryPolicy::default() };
        rpc.request_by(policy, "eth_call", &json!([amount]), within(20), number).await
    };
    assert_eq!(rpc.most_of(Measure::Calls), 2_000);
    assert_eq!(ask(2_000).await.ok(), Some(7), "the other node answers");
    assert_eq!(rpc.most_of(Measure::Calls), 2_000, "it refused nothing");
    rpc.prefer_next();
    assert_eq!(rpc.most_of(Measure::Calls), 1_000);
    assert_eq!(rpc.most_of(Measure::TickBlocks), 2_000, "of this measure alone");
    ask(1_000).await.unwrap();
    rpc.prefer_next();
    assert_eq!(rpc.most_of(Measure::Calls), 500);
    for _ in 0..2 {
        ask(500).await.unwrap();
    }
    assert_eq!(rpc.most_of(Measure::Calls), 1_000, "it is tried again");
}

#[tokio::test]
async fn a_request_that_finds_another_chain_is_counted_as_such() {
    let node = refusing(0, error(1, ""));
    let mut rpc = rpc(&[&node], short_limits());
    rpc.chain_id = 5;
    let answer = rpc.request("eth_call", &json!([]), within(20), number).await;
    assert!(matches!(answer.unwrap_err().error, RpcError::WrongChainId { .. }));
    let counted: Vec<_> =
        rpc.take_outcomes().into_iter().map(|of| (of.method, of.outcome, of.requests)).collect();
    assert_eq!(counted, [("eth_chainId", "contradicts", 3)]);
}

#[tokio::test]
async fn a_node_that_asks_for_a_pause_delays_no_other_node() {
    let paused = refusing(99, Reply::Raw(429, "retry-after: 8\r\n", Vec::new()));
    let other = refusing(2, Reply::Raw(503, "", Vec::new()));
    let begun = Instant::now();
    let (answer, asked) = ask(&[&paused, &other], RetryPolicy::default(), "eth_call").await;
    assert_eq!((answer.ok(), asked), (Some(7), vec![1, 3]));
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    // It is asked again itself once its pause is over.
    let paused = refusing(1, Reply::Raw(429, "retry-after: 1\r\n", Vec::new()));
    let out = refusing(999, Reply::Raw(503, "", Vec::new()));
    let slow = Limits {
        outage_rounds: 999,
        backoff_first: Duration::from_millis(20),
        backoff_most: Duration::from_millis(20),
        ..short_limits()
    };
    let rpc = rpc(&[&paused, &out], slow);
    let begun = Instant::now();
    let answer = rpc.request("eth_call", &json!([]), within(20), number).await;
    assert_eq!(answer.ok(), Some(7));
    assert!(begun.elapsed() >= Duration::from_secs(1), "the control: its pause was kept");
}

#[tokio::test]
async fn a_node_that_asked_another_request_for_a_pause_is_waited_for() {
    let garbling = TrialNode::start(|_| Reply::Raw(200, "", b"nonsense".to_vec()));
    let pausing = refusing(1, Reply::Raw(429, "retry-after: 1\r\n", Vec::new()));
    let slow = Limits {
        outage_rounds: 999,
        backoff_first: Duration::from_millis(20),
        backoff_most: Duration::from_millis(20),
        ..short_limits()
    };
    let rpc = rpc(&[&garbling, &pausing], slow);
    let soon = Instant::now() + Duration::from_millis(300);
    rpc.request("eth_call", &json!([]), soon, number).await.unwrap_err();
    assert_eq!(pausing.asked("eth_call").len(), 1, "the control: it asked for a pause");
    let begun = Instant::now();
    assert_eq!(rpc.request("eth_call", &json!([]), within(10), number).await.unwrap(), 7);
    assert!(begun.elapsed() > Duration::from_millis(300), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_node_that_gave_up_computing_is_asked_again() {
    let busy = || refusing(9, error(-32_000, "execution aborted (timeout = 5s)"));
    let (answer, asked) = ask(&[&busy()], RetryPolicy::PATIENT, "eth_call").await;
    assert_eq!((answer.ok(), asked), (Some(7), vec![10]));
    // What a slot does not depend on is given up after some rounds.
    let (answer, asked) = ask(&[&busy()], RetryPolicy::default(), "eth_call").await;
    assert_eq!((answer.ok(), asked), (None, vec![3]));
}

/// A status, headers and a body, and what they must be taken for.
type RefusedBody = (u16, &'static str, Vec<u8>, fn(&RpcError) -> bool);

#[tokio::test]
async fn a_status_counts_also_where_its_body_cannot_be_read() {
    let garbled = || gzip(b"too many requests")[..12].to_vec();
    let large = vec![b' '; 200_000];
    let rate_limited = |error: &RpcError| matches!(error, RpcError::RateLimited(_));
    let outage = |error: &RpcError| matches!(error, RpcError::Outage(_));
    let cases: [RefusedBody; 6] = [
        (429, "content-encoding: br\r\n", b"\x0b\x02".to_vec(), rate_limited),
        (429, "content-encoding: gzip\r\n", garbled(), rate_limited),
        (503, "content-encoding: zstd\r\n", b"\x28\xb5".to_vec(), outage),
        (503, "content-encoding: gzip\r\n", garbled(), outage),
        (429, "", large.clone(), rate_limited),
        (502, "", large, outage),
    ];
    for (status, headers, body, fits) in cases {
        let limits = Limits { answer_bytes_most: 100_000, outage_rounds: 1, ..short_limits() };
        let node = refusing(99, Reply::Raw(status, headers, body));
        let rpc = rpc(&[&node], limits);
        let answer = rpc.request("eth_call", &json!([]), within(20), number).await;
        let error = answer.unwrap_err().error;
        assert!(fits(&error), "{status} {headers:?}: {error:?}");
    }
}

#[tokio::test]
async fn what_is_cut_off_by_the_deadline_is_asked_for_in_less_with_the_next_slot() {
    let node = TrialNode::start(|request| match request["params"][0].as_u64().unwrap() {
        300.. => Reply::Hang(Duration::from_secs(3)),
        _ => Reply::Result(json!(7)),
    });
    let rpc = rpc(&[&node], short_limits());
    let ask = async |amount: u64, narrows: bool| {
        let weight = Some(Weight { of: Measure::SwapBlocks, amount });
        let policy = RetryPolicy { weight, narrows, ..RetryPolicy::default() };
        let deadline = Instant::now() + Duration::from_millis(500);
        rpc.request_by(policy, "eth_getLogs", &json!([amount]), deadline, number).await
    };
    let failure = ask(2_000, true).await.unwrap_err();
    assert_eq!(failure.reason(), exitgap_core::series::MissingReason::DeadlineExceeded);
    assert_eq!(rpc.most_of(Measure::SwapBlocks), 1_000);
    ask(1_000, true).await.unwrap_err();
    ask(500, true).await.unwrap_err();
    assert_eq!(rpc.most_of(Measure::SwapBlocks), 250);
    for _ in 0..2 {
        ask(250, true).await.unwrap();
    }
    assert_eq!(rpc.most_of(Measure::SwapBlocks), 500, "it rises again");
    // What was not sent at all says nothing.
    let policy = RetryPolicy {
        weight: Some(Weight { of: Measure::SwapBlocks, amount: 500 }),
        narrows: true,
        ..RetryPolicy::default()
    };
    rpc.request_by(policy, "eth_getLogs", &json!([500]), Instant::now(), number).await.unwrap_err();
    assert_eq!(rpc.most_of(Measure::SwapBlocks), 500);
}

/// A node that keeps no block but those from number 900 on.
fn pruned() -> TrialNode {
    TrialNode::without_genesis(|request| match request["method"].as_str() {
        Some("eth_getBlockByNumber") => {
            let number = request["params"][0].as_str().unwrap();
            let number = u64::from_str_radix(number.trim_start_matches("0x"), 16).unwrap();
            let hash = json!({ "hash": B256::repeat_byte(u8::try_from(number % 256).unwrap()) });
            Reply::Result(if number < 900 { Value::Null } else { hash })
        }
        _ => Reply::Result(json!(7)),
    })
}

#[tokio::test]
async fn a_node_without_block_0_is_known_by_a_block_that_the_series_or_the_operator_names() {
    let node = pruned();
    let ask = async |known: Option<(u64, u8)>, link: Option<(u64, u8)>| {
        let mut rpc = rpc(&[&node], short_limits());
        let hash = |byte| exitgap_core::ids::BlockHash([byte; 32]);
        rpc.known_block = known.map(|(number, byte)| KnownBlock { number, hash: hash(byte) });
        let link = link.map(|(number, byte)| BlockRef { number, hash: hash(byte), timestamp: 1 });
        rpc.begin_slot(link.into_iter().collect());
        let answer = rpc.request("eth_call", &json!([]), within(20), number).await;
        answer.map_err(|failure| failure.error)
    };
    assert_eq!(ask(None, None).await, Err(RpcError::NoGenesis));
    let message = RpcError::NoGenesis.to_string();
    assert!(message.contains("set known_block in the [[chain]]"), "{message}");
    // The operator names one, the series does, or both do.
    assert_eq!(ask(Some((1_001, 233)), None).await, Ok(7));
    assert_eq!(ask(None, Some((1_002, 234))).await, Ok(7));
    assert_eq!(ask(Some((1_001, 233)), Some((1_002, 234))).await, Ok(7));
    // One that the node does not keep any more counts where the series has another.
    assert_eq!(ask(Some((5, 5)), Some((1_002, 234))).await, Ok(7));
    assert!(matches!(ask(Some((5, 5)), None).await, Err(RpcError::NoBlock(_))));
    // Another chain.
    let wrong = ask(Some((1_001, 9)), Some((1_002, 234))).await;
    assert!(matches!(wrong, Err(RpcError::WrongKnownBlock { number: 1_001, .. })), "{wrong:?}");
    let wrong = ask(None, Some((1_002, 9))).await;
    assert!(matches!(wrong, Err(RpcError::Unlinked { .. })), "{wrong:?}");
}

#[tokio::test]
async fn a_wrong_block_0_that_a_node_showed_once_is_not_believed_for_good() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    let wrong = Arc::new(AtomicBool::new(true));
    let is_wrong = Arc::clone(&wrong);
    let genesis = move || {
        if is_wrong.load(Ordering::SeqCst) {
            json!({ "hash": B256::repeat_byte(0x66) })
        } else {
            json!({ "hash": GENESIS })
        }
    };
    let liar = TrialNode::with_genesis(genesis, |_| Reply::Result(json!(7)));
    let honest = TrialNode::start(|_| Reply::Result(json!(7)));
    // With another node that contradicts it.
    let both = rpc(&[&liar, &honest], short_limits());
    both.verify(0, within(5)).await.unwrap();
    let contradicted = both.verify(1, within(5)).await;
    assert!(matches!(contradicted, Err(RpcError::WrongGenesis { .. })), "the control");
    wrong.store(false, Ordering::SeqCst);
    for node in [0, 1] {
        both.verify(node, within(5)).await.unwrap();
    }
    // Alone, when it is checked again.
    wrong.store(true, Ordering::SeqCst);
    let alone = rpc(&[&liar], short_limits());
    alone.verify(0, within(5)).await.unwrap();
    wrong.store(false, Ordering::SeqCst);
    alone.distrust_current();
    alone.verify(0, within(5)).await.unwrap();
    // The control: what is configured stays.
    let configured = rpc(&[&liar], short_limits());
    configured.state().genesis = Some(B256::repeat_byte(0x66));
    let refused = configured.verify(0, within(5)).await;
    assert!(matches!(refused, Err(RpcError::WrongGenesis { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_node_that_names_no_chain_is_not_taken_for_one_without_block_0() {
    for message in ["header not found", "state is not available"] {
        let node = TrialNode::without_identity(error(-32_000, message));
        let found = rpc(&[&node], short_limits()).genesis_of(0, None, within(5)).await;
        assert!(matches!(found, Err(RpcError::Outage(_))), "{found:?}");
    }
}
