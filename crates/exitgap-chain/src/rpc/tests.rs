//! Requests to nodes that refuse, lag, and answer in shapes of their own.

use core::time::Duration;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::trial_node::{Reply, TrialNode, rpc, short_limits};

fn within(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

fn number(raw: &RawValue) -> Result<u64, RpcError> {
    value(raw)
}

/// A node that answers this so many times, and then 7.
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
    manner: Manner,
    method: &'static str,
) -> (Result<u64, Failure>, Vec<usize>) {
    let rpc = rpc(nodes, short_limits());
    let answer = rpc.request_in(manner, method, &json!([]), within(20), number).await;
    (answer, nodes.iter().map(|node| node.asked(method).len()).collect())
}

const NARROWS: Manner = Manner { narrows: true, ..Manner::PATIENT };

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
        for manner in [Manner::default(), Manner::PATIENT, NARROWS] {
            let (answer, asked) = ask(&[&refusing(9, reply.clone())], manner, "eth_call").await;
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
        let (answer, asked) = ask(&[&lagging], Manner::PATIENT, "eth_call").await;
        assert_eq!((answer.ok(), asked), (Some(7), vec![10]), "{reply:?}");
        // What the slot does not depend on is given up, and says why.
        let lagging = refusing(9, reply.clone());
        let (answer, asked) = ask(&[&lagging], Manner::default(), "eth_call").await;
        let failure = answer.unwrap_err();
        assert_eq!(failure.reason(), exitgap_core::series::MissingReason::BlockUnavailable);
        assert_eq!(asked, [3]);
        let (lagging, other) = (refusing(9, reply.clone()), refusing(0, reply));
        let (answer, asked) = ask(&[&lagging, &other], Manner::default(), "eth_call").await;
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
            ask(&[&refusing(9, reply.clone())], Manner::PATIENT, "eth_call").await;
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
    assert_eq!(
        counted,
        [
            (of(0), "eth_call", "ask_another", 1),
            (of(0), "eth_getLogs", "answer", 1),
            (of(0), "eth_getLogs", "ask_another", 1),
            (of(1), "eth_call", "answer", 1),
            (of(1), "eth_getLogs", "answer", 1),
        ]
    );
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
        // Another node that is out does not keep it from being made smaller.
        let out = refusing(99, Reply::Raw(503, "", Vec::new()));
        let (answer, asked) = ask(&[&out, &refusing(9, reply.clone())], NARROWS, "eth_call").await;
        assert!(answer.unwrap_err().may_narrow(), "{reply:?}");
        assert_eq!(asked, [3, 3], "{reply:?}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[tokio::test]
async fn an_answer_in_another_shape_is_read() {
    // The identity is asked for with requests 0 and 1.
    let body = br#"{"jsonrpc":"2.0","id":"2","result":7}"#.to_vec();
    for reply in [
        Reply::Raw(200, "content-encoding: gzip\r\n", gzip(&body)),
        Reply::Raw(200, "content-encoding: GZIP\r\n", gzip(&body)),
        Reply::Raw(200, "", gzip(&body)),
        Reply::Raw(200, "content-encoding: identity\r\n", body.clone()),
        Reply::Raw(200, "", br#"[{"id":2,"result":7,"error":null}]"#.to_vec()),
    ] {
        let (answer, asked) =
            ask(&[&refusing(1, reply.clone())], Manner::default(), "eth_call").await;
        assert_eq!((answer.ok(), asked), (Some(7), vec![1]), "{reply:?}");
    }
    // A small body that unpacks to more than is read of any answer.
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
        let manner = Manner { weight, narrows: true, ..Manner::default() };
        rpc.request_in(manner, "eth_call", &json!([amount]), within(20), number).await
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
