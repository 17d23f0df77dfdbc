//! `exitgap verify --rpc` compares a number with the chain's own state, through the reader's node.

use std::fs;
use std::process::{Command, Output};

use exitgap_core::exit::METHOD_VERSION;
use exitgap_tests::binaries;
use exitgap_tests::devchain::World;
use serde_json::Value;

use crate::scenes::chain::scene;
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::service::{Recorded, Service, configured, record};

fn run(recorded: &Recorded, arguments: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(arguments).current_dir(recorded.folder.path()).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Returns name, outcome and code of each chain check.
fn checks(output: &Output) -> Vec<[String; 3]> {
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let words = |check: &Value| {
        ["name", "outcome", "code"].map(|key| check[key].as_str().unwrap().to_owned())
    };
    report["chain"].as_array().unwrap().iter().map(words).collect()
}

fn named(checks: &[[&str; 3]]) -> Vec<[String; 3]> {
    checks.iter().map(|check| check.map(str::to_owned)).collect()
}

const HEADER: [&str; 3] = ["header", "pass", "ok"];
const STATE: [&str; 3] = ["pool_state", "pass", "ok"];
const ORACLE: [&str; 3] = ["oracle_state", "pass", "ok"];
const CANONICAL: [&str; 3] = ["canonical", "pass", "ok"];
const CODE: [&str; 3] = ["code", "pass", "ok"];

#[tokio::test(flavor = "multi_thread")]
async fn a_number_is_confirmed_by_a_node_of_the_readers_own() {
    let (chain, world) = scene().await;
    let folder = configured(&chain, &world);
    let last = record(&chain, &world, &folder, 3).await;
    let recorded = Recorded { folder, world, last };
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let mut files = Vec::new();
    for (index, layout) in [(1, "uniswap_v3"), (World::FIRST_V2, "uniswap_v2")] {
        let pool = recorded.pool(index);
        let target = format!(
            "/api/v1/exit/{pool}?base=token0&slot={}&size_usd=1000&method_version={METHOD_VERSION}",
            last.number()
        );
        let evidence = service.get(&target);
        assert_eq!(evidence.status, 200, "{}", String::from_utf8_lossy(&evidence.body));
        let file = format!("{index}.json");
        fs::write(recorded.path(&file), &evidence.body).unwrap();
        // The service returns the proof that the recorder checked before it signed.
        let served = service.get(&format!("/api/v1/proof/{pool}/{}", last.number()));
        assert_eq!(served.status, 200, "{}", String::from_utf8_lossy(&served.body));
        assert!(format!("{:?}", served.headers).contains("immutable"), "{:?}", served.headers);
        fs::write(recorded.path("served.egp"), &served.body).unwrap();
        let output = run(&recorded, &["verify", &file, "--state-proof", "served.egp", "--json"]);
        assert_eq!(checks(&output), named(&alone(layout)), "{}", text(&output));
        for (of, status, said) in [
            (format!("{pool}/{}", last.number() + 1), 404, "after_series"),
            (format!("{pool}/soon"), 400, "slot"),
            (format!("nobody/{}", last.number()), 400, "pool"),
        ] {
            let refused = service.get(&format!("/api/v1/proof/{of}"));
            let words = String::from_utf8_lossy(&refused.body).into_owned();
            assert_eq!(refused.status, status, "{of}: {words}");
            assert!(words.contains(said), "{of}: {words}");
        }
        files.push((file, layout));
    }
    let (proxy, node) = (Proxy::start(&chain.url()), chain.url());
    for (file, layout) in &files {
        let asked = [
            "verify",
            file,
            "--rpc",
            &node,
            "--layout",
            layout,
            "--json",
            "--keep-proof",
            "state.egp",
        ];
        let output = run(&recorded, &asked);
        assert_eq!(
            checks(&output),
            named(&[HEADER, STATE, ORACLE, CANONICAL, CODE]),
            "{}",
            text(&output)
        );
        // No log key was trusted: nothing is wrong, but the verification is incomplete.
        assert_eq!(output.status.code(), Some(7), "{}", text(&output));
        let words = text(&run(&recorded, &asked[..6]));
        for said in
            ["Checked against the chain", "canonical    pass", "Still taken on trust: ", "decimals"]
        {
            assert!(words.contains(said), "{said}: {words}");
        }
        for settled in
            ["that the chain has a block with this hash", "what the contract's code does", " fee;"]
        {
            let (_, trusted) = words.split_once("Still taken on trust: ").unwrap();
            assert!(!trusted.contains(settled), "{settled}: {words}");
        }
        // The stored proof gives the same result, but does not show that the block is in the chain.
        let output = run(&recorded, &["verify", file, "--state-proof", "state.egp", "--json"]);
        assert_eq!(checks(&output), named(&alone(layout)));
        let words = text(&run(&recorded, &["verify", file, "--state-proof", "state.egp"]));
        assert!(words.contains("that the chain has a block with this hash"), "{words}");
    }
    // The proof belongs to the other file's contract.
    let (v3, v2) = (&files[0], &files[1]);
    let output = run(&recorded, &["verify", &v3.0, "--state-proof", "state.egp", "--json"]);
    let unusable = |name| [name, "not_checked", "proof_unusable"];
    assert_eq!(
        checks(&output),
        named(&[unusable("header"), unusable("pool_state"), unusable("oracle_state")])
    );
    // One of two nodes has a different block.
    proxy.lie(|request, told| {
        let mut told = told["result"].clone();
        (request["method"] == "eth_getBlockByNumber").then(|| {
            told["gasLimit"] = "0x1".into();
            Lie::Result(told)
        })
    });
    let asked =
        ["verify", &v2.0, "--rpc", &node, "--rpc", &proxy.url(), "--layout", v2.1, "--json"];
    let output = run(&recorded, &asked);
    assert!(proxy.fired() > 0);
    let not_answered = ["canonical", "not_checked", "not_answered"];
    assert_eq!(
        checks(&output),
        named(&[HEADER, STATE, ORACLE, not_answered, CODE]),
        "a header that is none"
    );
    other_code(&recorded, &v3.0, &node, &proxy);
    refused(&recorded, &v3.0, &node);
}

/// What a proof says without a node: all pairs have the same code, and a pool of ranges has numbers of its own in its.
fn alone(layout: &str) -> Vec<[&'static str; 3]> {
    let code = (layout == "uniswap_v2").then_some(CODE);
    [HEADER, STATE, ORACLE].into_iter().chain(code).collect()
}

/// A node that hands over other code is not believed, and one of two that has the code is enough.
fn other_code(recorded: &Recorded, file: &str, node: &str, proxy: &Proxy) {
    proxy.lie(|request, _| {
        (request["method"] == "eth_getCode").then(|| Lie::Result("0x6001".into()))
    });
    let (layout, unusable) = ("uniswap_v3", ["code", "not_checked", "code_unusable"]);
    for (nodes, code) in [(vec![proxy.url()], unusable), (vec![proxy.url(), node.to_owned()], CODE)]
    {
        let mut asked = vec!["verify", file, "--layout", layout, "--json"];
        asked.extend(nodes.iter().flat_map(|node| ["--rpc", node]));
        let output = run(recorded, &asked);
        assert!(proxy.fired() > 0);
        let expected = named(&[HEADER, STATE, ORACLE, CANONICAL, code]);
        assert_eq!(checks(&output), expected, "{}", text(&output));
    }
}

fn refused(recorded: &Recorded, file: &str, node: &str) {
    fs::write(recorded.path("none.egp"), "nothing").unwrap();
    let output = run(recorded, &["verify", file, "--state-proof", "none.egp"]);
    assert!(text(&output).contains("proof_unusable"), "{}", text(&output));
    let dead = "http://127.0.0.1:1";
    for (arguments, code, said) in [
        (vec!["--rpc", node, "--layout", "curve"], 2, "aerodrome_v2"),
        (vec!["--rpc", dead, "--layout", "uniswap_v3"], 5, "archive"),
        (vec!["--state-proof", "absent.egp"], 5, "absent.egp"),
        (vec!["--layout", "uniswap_v3"], 2, "--rpc"),
        (vec!["--rpc", node, "--keep-proof", "a", "--state-proof", "b"], 2, "cannot be used with"),
    ] {
        let all = [&["verify", file][..], &arguments].concat();
        let output = run(recorded, &all);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(said), "{said}: {}", text(&output));
    }
}
