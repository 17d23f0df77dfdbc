//! `exitgap compare`: two operators of one chain that agree; and one whose node lied, up to the file that proves it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use exitgap_chain::{ChainReader, Limits};
use exitgap_core::pools::PoolState;
use exitgap_core::series::Slot;
use exitgap_server::config::CheckedConfig;
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::{LogFolder, Store};
use exitgap_tests::binaries;
use exitgap_tests::demo::recorder_config;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market, World};
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::chain::{pass_slot, scene};
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::service::Service;

/// A recorder that has its own name for the chain and trusts its node.
struct Operator {
    folder: TempDir,
    recorder: Recorder<ChainReader>,
}

impl Operator {
    fn new(chain: &DevChain, world: &World, url: &str, slug: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let text = recorder_config(chain, world).replace(&chain.url(), url);
        let text = text.replace("\"anvil\"", &format!("\"{slug}\""));
        fs::write(folder.path().join("exitgap.toml"), text).unwrap();
        let name = format!("{slug}.example/exits");
        let made = ["key", "new", "--out", "exitgap.key", "--name", &name];
        let made = program("exitgap-server", folder.path(), &made);
        assert!(made.status.success(), "{}", words(&made));
        let checked = CheckedConfig::from_file(&folder.path().join("exitgap.toml")).unwrap();
        let key = fs::read_to_string(&checked.config.evidence.key_file).unwrap();
        let store =
            Store::create(&checked.config.store.path, &key.trim_end().parse().unwrap()).unwrap();
        let sources = Source::of_plan(&checked.plan, &Limits::default());
        let mut recorder = Recorder::new(store, sources, Duration::from_mins(1));
        recorder.publish_in(LogFolder::new(&checked.config.evidence.folder)).unwrap();
        Self { folder, recorder }
    }

    async fn record(&mut self, slot: u64) {
        let report = self.recorder.record_slot(Slot::new(slot).unwrap()).await.unwrap();
        assert!(report.missing.is_empty(), "{report:?}");
    }

    fn log(&self) -> String {
        self.folder.path().join("exitgap-log").to_str().unwrap().to_owned()
    }
}

fn program(name: &str, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(binaries::path(name)).args(arguments).current_dir(folder).output().unwrap()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Compares the first operator's log with the second's, with these trusted keys.
fn compared(first: &Operator, second: &Operator, more: &[&str]) -> (Option<i32>, Value) {
    let (ours, theirs) = (first.log(), second.log());
    let arguments = [&["compare", &ours, &theirs, "--json"][..], more].concat();
    let output = program("exitgap", first.folder.path(), &arguments);
    let report = serde_json::from_slice(&output.stdout);
    (output.status.code(), report.unwrap_or_else(|_| panic!("{}", words(&output))))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lie_that_one_of_two_operators_signed_ends_as_a_file_that_shows_it() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 9).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let mut honest = Operator::new(&chain, &world, &chain.url(), "anvil");
    let mut lying = Operator::new(&chain, &world, &proxy.url(), "devnet");
    for slot in FIRST_SLOT..FIRST_SLOT + 3 {
        market.play_slot(slot).await.unwrap();
        honest.record(slot).await;
        lying.record(slot).await;
    }
    let [ours, theirs] = [&honest, &lying].map(|one| format!("{}/verifier-key", one.log()));
    let (code, report) = compared(&honest, &lying, &["--trust", &ours, "--trust", &theirs]);
    let pools = u64::try_from(world.pools.len()).unwrap();
    assert_eq!((code, &report["verdict"]), (Some(0), &Value::from("valid")), "{report}");
    assert_eq!((&report["pools"], &report["slots"]), (&pools.into(), &(3 * pools).into()));
    assert_eq!(report["differing"], 0);
    assert_eq!(report["slots_in_common_pct"], "100.0");
    // By their own keys only, it is not known whose they are. A log beside itself says nothing, also not beside a copy.
    assert_eq!(compared(&honest, &lying, &[]).0, Some(7));
    let copied = honest.folder.path().join("copied").to_str().unwrap().to_owned();
    let copy = Command::new("cp").args(["-r", &honest.log(), &copied]).status().unwrap();
    assert!(copy.success());
    for itself in [honest.log(), copied] {
        let arguments = ["compare", &honest.log(), &itself, "--trust", &ours];
        let refused = program("exitgap", honest.folder.path(), &arguments);
        assert_eq!(refused.status.code(), Some(2), "{}", words(&refused));
        assert!(words(&refused).contains("a log always agrees with itself"), "{}", words(&refused));
    }
    // One operator's node reports a wrong reserve.
    pass_slot(&chain, FIRST_SLOT + 3).await;
    honest.record(FIRST_SLOT + 3).await;
    let pair = format!("anvil:{:#x}", world.pools[World::FIRST_V2].pool.address);
    let reserve = reserve_of(&honest, &pair, FIRST_SLOT + 3);
    let (of, other) = (format!("{reserve:064x}"), format!("{:064x}", reserve + 1));
    proxy.lie(move |request, told| {
        let answer = told["result"].as_str().filter(|_| request["method"] == "eth_call")?;
        answer.contains(&of).then(|| Lie::Result(answer.replace(&of, &other).into()))
    });
    lying.record(FIRST_SLOT + 3).await;
    assert!(proxy.fired() > 0);
    let (code, report) = compared(&honest, &lying, &["--trust", &ours, "--trust", &theirs]);
    assert_eq!((code, &report["differing"]), (Some(6), &Value::from(1)), "{report}");
    let found = &report["differences"][0];
    assert_eq!(found["code"], "state_differs", "{report}");
    assert_eq!(found["pools"][0], pair);
    assert_eq!(found["block_hashes"][0], found["block_hashes"][1]);
    let printed =
        program("exitgap", honest.folder.path(), &["compare", &honest.log(), &lying.log()]);
    assert!(words(&printed).contains("state_differs"), "{}", words(&printed));
    shown(&chain, &honest, &lying, &pair);
    vouched(&honest, &lying, &pair);
}

/// Two nodes with identical blocks. On one of them, nobody trades before its last slot; later, this node also drops
/// that block.
#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_one_reorganisation_apart_are_told_apart_by_their_blocks_and_nobody_lied() {
    let nodes = [scene().await, scene().await];
    let (mut operators, mut markets) = (Vec::new(), Vec::new());
    for ((chain, world), slug) in nodes.iter().zip(["anvil", "devnet"]) {
        let mut operator = Operator::new(chain, world, &chain.url(), slug);
        let mut market = Market::new(chain, world, 9).await.unwrap();
        for slot in FIRST_SLOT..FIRST_SLOT + 2 {
            market.play_slot(slot).await.unwrap();
            operator.record(slot).await;
        }
        operators.push(operator);
        markets.push(market);
    }
    let keys = [0, 1].map(|place: usize| format!("{}/verifier-key", operators[place].log()));
    let trusted = ["--trust", &keys[0], "--trust", &keys[1]];
    let heads = [nodes[0].0.head().await.unwrap(), nodes[1].0.head().await.unwrap()];
    assert_eq!(heads[0], heads[1], "both nodes have one history");
    let pools = u64::try_from(nodes[0].1.pools.len()).unwrap();
    let (code, report) = compared(&operators[0], &operators[1], &trusted);
    assert_eq!((code, &report["slots"]), (Some(0), &Value::from(2 * pools)), "{report}");
    assert_eq!(report["differing"], 0);

    // One chain continues as before; on the other, nobody trades.
    let parting = nodes[1].0.snapshot().await.unwrap();
    markets[0].play_slot(FIRST_SLOT + 2).await.unwrap();
    pass_slot(&nodes[1].0, FIRST_SLOT + 2).await;
    for operator in &mut operators {
        operator.record(FIRST_SLOT + 2).await;
    }
    let (code, report) = compared(&operators[0], &operators[1], &trusted);
    assert_eq!((code, &report["verdict"]), (Some(7), &Value::from("incomplete")), "{report}");
    assert_eq!((&report["differing"], &report["other_block"]), (&pools.into(), &pools.into()));

    // Each reader's own node decides which of the two blocks belongs to the chain.
    let pair = format!("anvil:{:#x}", nodes[0].1.pools[World::FIRST_V2].pool.address);
    let urls = [nodes[0].0.url(), nodes[1].0.url()];
    confirmed_by(&operators, &pair, &urls, [("pass", "fail"), ("fail", "pass")]);
    // The second node drops this block, too: now no node confirms the block that was signed.
    nodes[1].0.revert(parting).await.unwrap();
    markets[1].play_slot(FIRST_SLOT + 2).await.unwrap();
    confirmed_by(&operators, &pair, &urls, [("pass", "fail"), ("fail", "fail")]);
}

/// Requires these answers of each node about the newest block of each operator, whose state the operator's own node
/// proved.
fn confirmed_by(
    operators: &[Operator],
    pair: &str,
    urls: &[String; 2],
    expected: [(&str, &str); 2],
) {
    let at = Slot::new(FIRST_SLOT + 2).unwrap().to_string();
    let places = operators.iter().zip(["anvil", "devnet"]).zip(urls).zip(expected);
    for (((operator, slug), own), expected) in places {
        let pool = pair.replace("anvil", slug);
        let made = ["evidence", &pool, "--size-usd", "1000", "--at", &at, "--out", "apart.json"];
        let made = program("exitgap-server", operator.folder.path(), &made);
        assert!(made.status.success(), "{}", words(&made));
        let key = format!("{}/verifier-key", operator.log());
        let verify = |more: &[&str]| {
            let all = [&["verify", "apart.json", "--trust", &key, "--json"], more].concat();
            let output = program("exitgap", operator.folder.path(), &all);
            let report: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|_| panic!("{slug}: {}", words(&output)));
            report
        };
        if !operator.folder.path().join("apart.egp").exists() {
            verify(&["--rpc", own, "--keep-proof", "apart.egp"]);
        }
        for (url, outcome) in urls.iter().zip([expected.0, expected.1]) {
            let report = verify(&["--state-proof", "apart.egp", "--rpc", url]);
            let checks = report["chain"].as_array().unwrap();
            let check = |name| checks.iter().find(|check| check["name"] == name).unwrap();
            assert_eq!(check("pool_state")["outcome"], "pass", "{slug} by {url}: {report}");
            assert_eq!(check("canonical")["outcome"], outcome, "{slug} by {url}: {report}");
        }
    }
}

/// One operator's log is a source for the other's readers on which block is in the chain: only with a trusted key, and
/// only once.
fn vouched(honest: &Operator, lying: &Operator, pair: &str) {
    let at = Slot::new(FIRST_SLOT + 3).unwrap().to_string();
    let file = |operator: &Operator, slug: &str| {
        let pool = pair.replace("anvil", slug);
        let made = ["evidence", &pool, "--size-usd", "1000", "--at", &at, "--out", "peer.json"];
        let made = program("exitgap-server", operator.folder.path(), &made);
        assert!(made.status.success(), "{}", words(&made));
        operator.folder.path().join("peer.json").to_str().unwrap().to_owned()
    };
    let (own, theirs) = (file(honest, "anvil"), file(lying, "devnet"));
    let [key, their_key] = [honest, lying].map(|one| format!("{}/verifier-key", one.log()));
    let proven = honest.folder.path().join("state.egp");
    let proven = proven.to_str().unwrap();
    let verify = ["verify", &own, "--trust", &key, "--state-proof", proven, "--json", "--peer"];
    let run =
        |more: &[&str]| program("exitgap", honest.folder.path(), &[&verify[..], more].concat());
    let output = run(&[&theirs, "--trust", &their_key]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = report["chain"][3]["found"].as_str().unwrap();
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(found.contains("according to 1 of 1 sources: log devnet.example/exits/"), "{found}");
    // The operator's service is asked for evidence of that slot; a service that does not answer is not a source.
    let service = Service::start(lying.folder.path(), &["--no-record"], &[]);
    let url = format!("http://{}", service.address);
    let silent = "http://127.0.0.1:9";
    for (peers, code, outcome, said) in [
        (vec![url.as_str()], 0, "pass", "according to 1 of 1 sources: log devnet.example/exits/"),
        (vec![silent], 7, "not_checked", "no answer from 127.0.0.1:9 ("),
        (
            vec![silent, "--peer", &url],
            7,
            "not_checked",
            "according to 1 of 2 sources: log devnet.example/exits/",
        ),
        (
            vec![silent, "--peer", &url, "--at-least", "1"],
            0,
            "pass",
            "no answer from 127.0.0.1:9 (",
        ),
    ] {
        let output = run(&[&peers[..], &["--trust", &their_key]].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let check = &report["chain"][3];
        assert_eq!(
            (output.status.code(), check["outcome"].as_str()),
            (Some(code), Some(outcome)),
            "{report}"
        );
        assert!(check["found"].as_str().unwrap().contains(said), "{said}: {check}");
    }
    // A log with an unknown key is not a source, and a log is not a source for itself.
    for (more, code, said) in
        [(vec![theirs.as_str()], 5, "no trusted key"), (vec![own.as_str()], 2, "counts only once")]
    {
        let output = run(&more);
        assert_eq!(output.status.code(), Some(code), "{}", words(&output));
        assert!(words(&output).contains(said), "{}", words(&output));
    }
}

fn reserve_of(operator: &Operator, pair: &str, slot: u64) -> u128 {
    let reader = operator.recorder.store().unwrap().reader();
    let pool = reader.pool(&pair.parse().unwrap()).unwrap().unwrap();
    let snapshot = reader.snapshot_at(&pool, Slot::new(slot).unwrap()).unwrap().unwrap();
    match snapshot.observation().state() {
        PoolState::ConstantProduct(pair) => pair.reserves()[0],
        other => panic!("{other:?}"),
    }
}

/// Both logs contain signed records. The chain proves which one is false, and the saved proof needs no chain.
fn shown(chain: &DevChain, honest: &Operator, lying: &Operator, pair: &str) {
    let at = Slot::new(FIRST_SLOT + 3).unwrap().to_string();
    for (operator, slug, code, outcome) in
        [(honest, "anvil", 0, "pass"), (lying, "devnet", 6, "fail")]
    {
        let pool = pair.replace("anvil", slug);
        let made = ["evidence", &pool, "--size-usd", "1000", "--at", &at, "--out", "evidence.json"];
        let made = program("exitgap-server", operator.folder.path(), &made);
        assert!(made.status.success(), "{}", words(&made));
        let key = format!("{}/verifier-key", operator.log());
        let verify = ["verify", "evidence.json", "--trust", &key, "--json"];
        let alone = program("exitgap", operator.folder.path(), &verify);
        assert_eq!(alone.status.code(), Some(0), "what was signed follows from what was signed");
        let by_chain = ["--rpc", &chain.url(), "--keep-proof", "state.egp"];
        let by_file = ["--state-proof", "state.egp"];
        for more in [&by_chain[..], &by_file[..]] {
            let output = program("exitgap", operator.folder.path(), &[&verify[..], more].concat());
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            let checks = report["chain"].as_array().unwrap();
            let state = checks.iter().find(|check| check["name"] == "pool_state").unwrap();
            assert_eq!(output.status.code(), Some(code), "{slug} {more:?}: {report}");
            assert_eq!(state["outcome"], outcome, "{slug}: {report}");
        }
    }
}
