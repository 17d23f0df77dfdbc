//! `exitgap verify` with several sources for the block in the chain: nodes on both sides of a reorganization, anchors
//! from a block that the reader trusts, another operator's log.

use std::fs;
use std::process::{Command, Output};

use exitgap_chain::StateProver;
use exitgap_chain::config::Plan;
use exitgap_core::evidence::Evidence;
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::Caip2;
use exitgap_core::snapshot::BlockRef;
use exitgap_tests::binaries;
use exitgap_tests::devchain::DevChain;
use serde_json::{Value, json};

use crate::scenes::chain::{deadline, scene, small_limits, world_config};
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::service::{Recorded, Service, configured, record};

fn run(recorded: &Recorded, arguments: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(arguments).current_dir(recorded.folder.path()).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Returns the outcome, the code and the finding of the `canonical` check.
fn canonical(recorded: &Recorded, arguments: &[&str]) -> [String; 3] {
    let all = [&["verify", "evidence.json", "--state-proof", "state.egp", "--json"], arguments];
    let output = run(recorded, &all.concat());
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{arguments:?}: {}", text(&output)));
    let checks = report["chain"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "canonical").unwrap();
    ["outcome", "code", "found"].map(|key| check[key].as_str().unwrap().to_owned())
}

/// Writes the evidence of a pool and its state proof to files; returns their block.
fn written(recorded: &Recorded, node: &str) -> BlockRef {
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let (pool, slot) = (recorded.pool(1), recorded.last.number());
    let target = format!(
        "/api/v1/exit/{pool}?base=token0&slot={slot}&size_usd=1000&method_version={METHOD_VERSION}"
    );
    let evidence = service.get(&target);
    assert_eq!(evidence.status, 200, "{}", String::from_utf8_lossy(&evidence.body));
    fs::write(recorded.path("evidence.json"), &evidence.body).unwrap();
    let kept = ["--layout", "uniswap_v3", "--keep-proof", "state.egp"];
    let asked = [&["verify", "evidence.json", "--rpc", node], &kept[..]].concat();
    let output = run(recorded, &asked);
    assert!(text(&output).contains("Confirmed by the chain: "), "{}", text(&output));
    Evidence::from_bytes(&evidence.body).snapshot().unwrap().observation().block()
}

/// A node that still returns the former block, by a recorded answer.
async fn as_it_was(chain: &DevChain, number: u64) -> Proxy {
    let at = format!("{number:#x}");
    let answer: Value = chain.rpc("eth_getBlockByNumber", (at.as_str(), false)).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    proxy.lie(move |request, _| {
        let is_asked =
            request["method"] == "eth_getBlockByNumber" && request["params"][0] == json!(at);
        is_asked.then(|| Lie::Result(answer.clone()))
    });
    proxy
}

#[tokio::test(flavor = "multi_thread")]
async fn who_contradicts_is_named_and_so_many_as_the_reader_asks_must_agree() {
    let (chain, world) = scene().await;
    let folder = configured(&chain, &world);
    let last = record(&chain, &world, &folder, 2).await;
    let recorded = Recorded { folder, world, last };
    let node = chain.url();
    let block = written(&recorded, &node);
    // The anchors of a day, created while the chain still contains these blocks.
    let config = world_config(&chain, &recorded.world, &[chain.url()], [0]).await;
    let plan = Plan::new(&config).unwrap();
    let prover = StateProver::new(&plan, &"anvil".parse().unwrap(), small_limits());
    let prover = prover.unwrap().unwrap();
    let newest = chain.mine_next(&[]).await.unwrap().number;
    assert!(newest > block.number + 1);
    let of = |caip2| prover.anchors(caip2, 20_800, newest, [block.number + 1], deadline());
    fs::write(recorded.path("day"), of(Caip2(31_337)).await.unwrap()).unwrap();
    fs::write(recorded.path("other-chain"), of(Caip2(1)).await.unwrap()).unwrap();
    let trusted = prover.canonical(newest, deadline()).await.unwrap().to_string();
    let anchors = ["--anchors", "day", "--trusted-block", &trusted];
    let before = as_it_was(&chain, block.number).await;
    let before = before.url();
    let all = [&["--rpc", &node, "--rpc", &before], &anchors[..]].concat();

    let [outcome, _, found] = canonical(&recorded, &all);
    assert_eq!(outcome, "pass", "{found}");
    assert!(found.contains("according to 3 of 3") && found.contains("which you trust"), "{found}");

    // The first node drops the block, as in a reorganization.
    chain.reorg(newest - block.number + 1).await.unwrap();
    let contradicts = |found: &str| {
        let host = node.trim_start_matches("http://");
        assert!(found.contains(&format!("a different block according to {host} (0x")), "{found}");
    };
    for (more, expected) in [
        (&[][..], ["fail", "other_block"]),
        (&["--at-least", "3"], ["fail", "other_block"]),
        (&["--at-least", "2"], ["pass", "ok"]),
    ] {
        let [outcome, code, found] = canonical(&recorded, &[&all[..], more].concat());
        assert_eq!([outcome.as_str(), &code], expected, "{more:?}: {found}");
        contradicts(&found);
    }
    // With one source against another, nothing is decided. Anchors alone are one source, and they say nothing about
    // another chain.
    let one = [&["--rpc", &node, "--at-least", "1"], &anchors[..]].concat();
    let [outcome, code, found] = canonical(&recorded, &one);
    assert_eq!([outcome.as_str(), &code], ["fail", "other_block"], "{found}");
    assert_eq!(canonical(&recorded, &anchors)[0], "pass");
    // Anchors of the present chain say that another block comes next than the proof's. Anyone can write a header that
    // follows, so that contradicts only the proof's next header, and decides nothing about the block.
    let now = prover.anchors(Caip2(31_337), 20_800, newest, [block.number + 1], deadline());
    fs::write(recorded.path("now"), now.await.unwrap()).unwrap();
    let tip = prover.canonical(newest, deadline()).await.unwrap().to_string();
    let [outcome, code, found] =
        canonical(&recorded, &["--anchors", "now", "--trusted-block", &tip]);
    assert_eq!([outcome.as_str(), &code], ["not_checked", "not_answered"], "{found}");
    refused(&recorded, &trusted);
}

fn refused(recorded: &Recorded, trusted: &str) {
    let other = format!("0x{}", "11".repeat(32));
    fs::write(recorded.path("none"), "nothing").unwrap();
    for (arguments, code, said) in [
        (vec!["--anchors", "other-chain", "--trusted-block", trusted], 2, "for chain eip155:1"),
        (vec!["--anchors", "day", "--trusted-block", &other], 2, "the trusted hash is"),
        (vec!["--anchors", "day"], 2, "--trusted-block"),
        (vec!["--anchors", "none", "--trusted-block", trusted], 5, "it has no end"),
        (vec!["--trusted-block", trusted], 2, "--anchors"),
        (
            vec!["--anchors", "day", "--trusted-block", trusted, "--at-least", "2"],
            2,
            "2 required, but only 1",
        ),
        (vec!["--at-least", "1"], 2, "1 required, but only 0 sources"),
        (vec!["--peer", "evidence.json"], 5, "no trusted key"),
    ] {
        let all = [&["verify", "evidence.json", "--state-proof", "state.egp"], &arguments[..]];
        let output = run(recorded, &all.concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(said), "{said}: {}", text(&output));
    }
}
