//! The program of `cargo xtask reality`: swaps of a development chain's contracts, and a node that lies about them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use exitgap_tests::binaries;
use exitgap_tests::devchain::{FIRST_SLOT, Market};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::reality;
use crate::scenes::chain::scene;
use crate::scenes::facts;
use crate::scenes::proxy::{Lie, Proxy};

/// Blocks that are judged: those of four slots.
const BLOCKS: &str = "12";

/// What nodes without proofs and without receipts answer.
const NOT_SERVED: [&str; 2] = ["eth_getProof", "eth_getBlockReceipts"];

/// How the program ends on the newest blocks of a node.
pub(super) fn run(url: &str, blocks: &str, cases: &Path) -> Output {
    let mut program = Command::new(binaries::path("reality-node"));
    program.args(["--rpc", url, "--blocks", blocks, "--last", "latest", "--json", "--cases"]);
    program.arg(cases).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The figures of a run that ended so.
pub(super) fn figures(output: &Output, code: i32) -> Value {
    assert_eq!(output.status.code(), Some(code), "{}", errors(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn is_of(request: &Value, methods: &[&str]) -> bool {
    methods.iter().any(|method| request["method"] == *method)
}

/// The √price in each log of a swap of ranges is another.
fn with_other_prices(mut told: Value) -> Value {
    for log in told.as_array_mut().unwrap() {
        let data = log["data"].as_str().unwrap().to_owned();
        if data.len() == 2 + 5 * 64 && log["topics"].as_array().unwrap().len() == 3 {
            // A digit so far up that no order for an output could have led there.
            let (before, rest) = data.split_at(2 + 2 * 64 + 30);
            let digit = if rest.starts_with('1') { "2" } else { "1" };
            log["data"] = json!([before, digit, &rest[1..]].concat());
        }
    }
    told
}

/// Has a node serve neither proofs nor receipts, and logs with other prices.
pub(super) fn lie_about_prices(proxy: &Proxy) {
    proxy.lie(|request, told| {
        if is_of(request, &["eth_getLogs"]) {
            return Some(Lie::Result(with_other_prices(told["result"].clone())));
        }
        is_of(request, &NOT_SERVED).then_some(Lie::Error(-32_601, "the method does not exist"))
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn real_swaps_are_judged_and_a_node_that_lies_is_noticed() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    for slot in FIRST_SLOT..FIRST_SLOT + 4 {
        market.play_slot(slot).await.unwrap();
    }
    let folder = TempDir::new().unwrap();
    let cases = folder.path().join("swaps.json");
    let honest = figures(&run(&chain.url(), BLOCKS, &cases), 0);
    let count = |figures: &Value, name: &str| figures[format!("reality.{name}")].as_u64().unwrap();
    assert_eq!((count(&honest, "blocks"), count(&honest, "blocks_proven")), (12, 12), "{honest}");
    assert!(count(&honest, "swaps") >= 20 && count(&honest, "equal") >= 10, "{honest}");
    assert_eq!(count(&honest, "wrong"), 0, "{honest}");
    assert_eq!(count(&honest, "states"), count(&honest, "states_proven"), "{honest}");
    assert!(count(&honest, "states") > 0 && !cases.exists());

    // What serves neither proofs nor receipts is believed, and the swaps are the same.
    let proxy = Proxy::start(&chain.url());
    proxy.lie(|request, _| {
        is_of(request, &NOT_SERVED).then_some(Lie::Error(-32_601, "the method does not exist"))
    });
    let believed = figures(&run(&proxy.url(), BLOCKS, &cases), 0);
    assert!(proxy.fired() > 0);
    assert_eq!((count(&believed, "blocks_proven"), count(&believed, "states_proven")), (0, 0));
    for name in ["swaps", "equal", "exact_output", "took_less", "crossings", "states"] {
        assert_eq!(count(&believed, name), count(&honest, name), "{name}");
    }

    // If it then lies about logs, swaps are wrong, and each is a case that is wrong without a node, too.
    lie_about_prices(&proxy);
    let output = run(&proxy.url(), BLOCKS, &cases);
    let wrong = count(&figures(&output, 1), "wrong");
    assert!(wrong > 0 && errors(&output).contains("swaps are wrong"), "{}", errors(&output));
    let written: Value = serde_json::from_slice(&fs::read(&cases).unwrap()).unwrap();
    assert_eq!(written["schema"], "exitgap.reality.swaps/1");
    assert_eq!(written["cases"].as_array().map(Vec::len), usize::try_from(wrong).ok());
    for entry in fs::read_dir(facts::folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name != "swaps.json") {
            fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let offline = reality::run(folder.path());
    assert_eq!(offline.status.code(), Some(1));
    let said = format!("reality.wrong is {wrong}, and must be 0");
    assert!(errors(&offline).contains(&said), "{said}: {}", errors(&offline));
    fs::remove_file(&cases).unwrap();

    lies_that_are_refused(&proxy, &cases);
}

/// A lie that contradicts a header ends the run. No swap is judged by it.
fn lies_that_are_refused(proxy: &Proxy, cases: &Path) {
    type Change = fn(&mut Value);
    let lies: [(&str, &str, Change); 5] = [
        ("eth_getBlockByNumber", "does not have the hash", |told| told["gasLimit"] = json!("0x1")),
        ("eth_getBlockReceipts", "are not those of its header", |told| {
            if let Some(first) = told.as_array_mut().and_then(|receipts| receipts.first_mut()) {
                first["cumulativeGasUsed"] = json!("0x1");
            }
        }),
        ("eth_getProof", "the state of", |told| told["accountProof"] = json!([])),
        ("eth_getProof", "another number of words", |told| {
            told["storageProof"].as_array_mut().unwrap().push(json!({
                "key": "0x0", "value": "0x0", "proof": [],
            }));
        }),
        ("eth_getProof", "the state of", |told| {
            for word in told["storageProof"].as_array_mut().unwrap() {
                word["proof"] = json!([]);
            }
        }),
    ];
    for (method, said, change) in lies {
        proxy.lie(move |request, told| {
            is_of(request, &[method]).then(|| {
                let mut told = told["result"].clone();
                change(&mut told);
                Lie::Result(told)
            })
        });
        let output = run(&proxy.url(), BLOCKS, cases);
        assert!(proxy.fired() > 0, "{said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
        let errors = errors(&output);
        assert!(errors.contains("contradicts itself") && errors.contains(said), "{said}: {errors}");
        assert!(!cases.exists(), "{said}");
    }
    // The value beside the nodes is not believed: where it names other ticks, the nodes contradict it. Code that is not published is another kind.
    proxy.lie(|request, told| {
        is_of(request, &["eth_getProof"]).then(|| {
            let mut told = told["result"].clone();
            told["storageProof"][0]["value"] = json!("0x1");
            Lie::Result(told)
        })
    });
    let output = run(&proxy.url(), BLOCKS, cases);
    if output.status.success() {
        assert_eq!(figures(&output, 0)["reality.wrong"], 0);
    } else {
        assert!(errors(&output).contains("contradicts itself"), "{}", errors(&output));
    }
    proxy.lie(|request, _| is_of(request, &["eth_getCode"]).then(|| Lie::Result(json!("0x6001"))));
    let unknown = figures(&run(&proxy.url(), BLOCKS, cases), 0);
    assert_eq!((&unknown["reality.swaps"], &unknown["reality.wrong"]), (&json!(0), &json!(0)));
    assert!(unknown["reality.unknown_kinds"].as_u64().unwrap() > 0, "{unknown}");
}
