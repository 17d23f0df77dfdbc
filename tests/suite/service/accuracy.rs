//! The accuracy record that a recorder keeps: real swaps on the development chain, read in later slots after their
//! blocks are final. Heads commit to them, and a third party counts the same from a node.

use std::fs;
use std::process::Command;

use exitgap_core::analytics::accuracy::Fills;
use exitgap_core::evidence::Head;
use exitgap_server::config::CheckedConfig;
use exitgap_store::{LogFolder, Reader};
use exitgap_tests::binaries;
use exitgap_tests::devchain::World;
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::fills::played;
use crate::scenes::here::until;
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::service::{Recorded, Service};

/// The event topic of Uniswap v3's `Swap`.
const SWAP: &str = "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67";

fn run(recorded: &Recorded, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(binaries::path("exitgap"));
    let output = command.args(arguments).current_dir(recorded.folder.path()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorders_swaps_are_those_that_a_stranger_counts_from_a_node() {
    let (chain, world) = scene().await;
    let recorded = played(&chain, world, &chain.url(), "").await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let url = format!("http://{}", service.address);
    let pool = recorded.pool(0);
    let told = service.get(&format!("/v1/accuracy/{pool}")).found();
    assert_eq!((&told["figure"], &told["status"]), (&json!("accuracy/2"), &json!("preview")));
    // The newest blocks are not final yet.
    let waiting = told["slots_waiting"].as_u64().unwrap();
    assert!((1..=4).contains(&waiting), "{told}");
    assert_eq!(told["slots"].as_u64().unwrap() + waiting, 11);
    assert_eq!((&told["swaps"], &told["compared"]), (&json!(4), &json!(4)), "{told}");
    assert_eq!(told["stretches_incomplete"], 0);
    let newest = &told["by_age"][0];
    assert_eq!((&newest["n"], &newest["exact_n"]), (&json!(4), &json!(3)), "{told}");
    // All other values equal those that the command line counts from a node, to the letter.
    let [from, to] = ["from", "to"].map(|name| told[name].as_str().unwrap());
    let asked = ["accuracy", &pool, "--from", from, "--to", to, "--json", "--api", &url];
    let node = ["--rpc", &chain.url(), "--chain-id", "31337"];
    let (code, counted, error) = run(&recorded, &[&asked[..], &node].concat());
    assert_eq!(code, Some(4), "{error}");
    let counted: Value = serde_json::from_str(&counted).unwrap();
    for (name, value) in counted.as_object().unwrap() {
        assert_eq!(&told[name], value, "{name}");
    }
    // The service and the database give the same record.
    let of_period = format!("/v1/accuracy/{pool}?from={from}&to={to}");
    let of_period = service.get(&of_period).found();
    let (code, of_service, _) = run(&recorded, &asked);
    assert_eq!(code, Some(4), "it is short");
    assert_eq!(serde_json::from_str::<Value>(&of_service).unwrap(), of_period);
    let db = ["accuracy", &pool, "--from", from, "--to", to, "--db", "exitgap.db"];
    let (_, text, _) = run(&recorded, &db);
    for said in
        ["4 logged, 4 compared", "bit for bit", "documents committed to by the pool's heads"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    let pair = recorded.pool(World::FIRST_V2);
    let of_pair = service.get(&format!("/v1/accuracy/{pair}")).found();
    assert_eq!((&of_pair["compared"], &of_pair["by_age"][0]["exact_n"]), (&json!(1), &json!(1)));
    committed(&recorded, &service, &told);
    proven(&recorded, &service, &told);
    tabled(&recorded, &service, &url);
    refused(&recorded, &service);
    refused_files(&recorded, &service, &told);
    assert_eq!(service.end(), Some(0));
}

/// Each line of the pool's logged fills is a document that the pool's head of that slot commits to, and no document is
/// missing.
fn committed(recorded: &Recorded, service: &Service, told: &Value) {
    let pool = recorded.pool(0);
    let url = told["fills_url"].as_str().unwrap();
    let target = &url[url.find("/v1/fills").unwrap()..];
    let answer = service.get(target);
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    let lines: Vec<&[u8]> = answer.body.split(|b| *b == b'\n').filter(|l| !l.is_empty()).collect();
    assert_eq!(lines.len() as u64, told["documents"].as_u64().unwrap());
    let reader = Reader::open(recorded.path("exitgap.db")).unwrap();
    let of = reader.pool(&pool.parse().unwrap()).unwrap().unwrap();
    let (mut until, mut swaps) = (None, 0);
    for line in lines {
        let (slot, fills, hash) = Fills::from_line(line).unwrap();
        let head = reader.head(&of, slot).unwrap().unwrap();
        let head = Head::from_canonical(&head.canonical).unwrap();
        assert_eq!(head.commits.get(Fills::NAME), Some(hash));
        assert!(until.is_none_or(|until| until == fills.after_block), "no block is left out");
        until = Some(fills.to_block);
        swaps += fills.logs.len();
    }
    assert_eq!(swaps, 4);
    // From a later slot on, fewer documents follow; the log's folder contains all of them.
    let later = service.get(&format!("/v1/fills/{pool}?slot={}", recorded.last.number()));
    assert!(later.body.len() < answer.body.len());
    let checked = CheckedConfig::from_file(&recorded.path("exitgap.toml")).unwrap();
    let log = LogFolder::new(&checked.config.evidence.folder);
    let files = fs::read_dir(log.path().join("fills")).unwrap().count();
    assert!(files > 4, "{files}");
    assert!(reader.fsck(|_| {}).unwrap().fills > 4);
}

/// The figure file equals the answer. With snapshots and documents, anyone can recompute it, and a changed file fails.
fn proven(recorded: &Recorded, service: &Service, told: &Value) {
    let url = told["figure_url"].as_str().unwrap();
    let file = service.get(&url[url.find("/api/").unwrap()..]);
    assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let whole = String::from_utf8(file.body.clone()).unwrap();
    let result = &file.found()["result"];
    for name in
        ["compared", "swaps", "stretches", "stretches_incomplete", "not_compared", "flagged"]
    {
        assert_eq!(result[name], told[name], "{name}");
    }
    assert_eq!((&result["have_slots"], &result["documents"]), (&told["slots"], &told["documents"]));
    let pool = recorded.pool(0);
    let write = ["accuracy", &pool, "--db", "exitgap.db", "--file", "own.json"];
    let (code, _, said) = run(recorded, &write);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::read(recorded.path("own.json")).unwrap(), file.body);
    fs::write(recorded.path("key"), service.get("/log/verifier-key").body).unwrap();
    let changed = whole.replacen("\"compared\":4", "\"compared\":5", 1);
    let other = whole.replacen("\"fills\":[{", "\"fills\":[{\"document\":\"0x", 1);
    assert!(changed != whole && other != whole);
    let api = format!("http://{}", service.address);
    for (text, expected) in [
        (&whole, (Some(0), "valid")),
        (&changed, (Some(6), "invalid")),
        (&other, (Some(6), "invalid")),
    ] {
        fs::write(recorded.path("figure.json"), text).unwrap();
        for from in ["exitgap.db", &api] {
            let verify = ["verify", "figure.json", "--json", "--trust", "key", "--snapshots", from];
            let (code, report, _) = run(recorded, &verify);
            let report: Value = serde_json::from_str(&report).unwrap();
            assert_eq!((code, report["verdict"].as_str().unwrap()), expected, "{from}: {report}");
        }
    }
    // Without snapshots and documents, the verdict is open.
    fs::write(recorded.path("figure.json"), &whole).unwrap();
    let (code, text, _) = run(recorded, &["verify", "figure.json", "--trust", "key"]);
    assert!(
        code == Some(7) && text.contains("snapshots_absent") | text.contains("needs"),
        "{text}"
    );
}

/// An `until` that precedes the end of the period, and options that exclude a file.
fn refused_files(recorded: &Recorded, service: &Service, told: &Value) {
    let [from, end] = ["from", "to"].map(|name| told[name].as_str().unwrap());
    let address = format!("/api/v1/accuracy/{}?from={from}&to={end}", recorded.pool(0));
    assert_eq!(service.get(&address).found()["figure"], "accuracy/2");
    for wrong in [from, "soon"] {
        let (status, _, field) = service.get(&format!("{address}&until={wrong}")).problem();
        assert!((400..500).contains(&status), "{wrong}: {status}");
        assert_eq!(field.as_deref(), Some("until"), "{wrong}");
    }
    let both = ["accuracy", &recorded.pool(0), "--file", "no.json", "--rpc", "http://127.0.0.1:9"];
    let (code, _, said) = run(recorded, &both);
    assert!(code == Some(2) && said.contains("--rpc"), "{said}");
    assert!(!recorded.path("no.json").exists());
}

/// The table's row of a pool equals the pool's own record, the command line prints the same rows, and the figure file
/// exists.
fn tabled(recorded: &Recorded, service: &Service, url: &str) {
    until("every pool has a row", || service.get("/v1/accuracy").found()["waiting"] == 0);
    let table = service.get("/v1/accuracy").found();
    assert_eq!(table["pools"].as_array().unwrap().len(), recorded.world.pools.len());
    let pool = recorded.pool(0);
    let row_of = |table: &Value| {
        let rows = table["pools"].as_array().unwrap();
        rows.iter().find(|row| row["pool"] == pool).unwrap()["record"].clone()
    };
    let (row, told) = (row_of(&table), service.get(&format!("/v1/accuracy/{pool}")).found());
    for (name, value) in row.as_object().unwrap() {
        let of = match name.as_str() {
            "until" | "accuracy_url" => continue,
            "n"
            | "exact_n"
            | "bracketed_n"
            | "worst_for_seller_pct"
            | "abs_error_pct_q50"
            | "abs_error_pct_q95"
            | "worst_pct"
            | "mean_error_pct" => &told["by_age"][0],
            _ => &told,
        };
        assert_eq!(&of[name], value, "{name}");
    }
    assert_eq!((&row["compared"], &row["exact_n"]), (&json!(4), &json!(3)), "{row}");
    let local = |field: &str, from: &str| {
        let url = row[field].as_str().unwrap();
        service.get(&url[url.find(from).unwrap()..]).found()
    };
    assert_eq!(local("figure_url", "/api/")["result"]["compared"], 4);
    assert_eq!(local("accuracy_url", "/v1/")["by_age"], told["by_age"]);
    // The command line gives the same from the service and from the database, where it first computes all records.
    let (code, of_service, error) = run(recorded, &["accuracy", "--api", url, "--json"]);
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(serde_json::from_str::<Value>(&of_service).unwrap(), table);
    let (code, of_db, _) = run(recorded, &["accuracy", "--db", "exitgap.db", "--json"]);
    let of_db: Value = serde_json::from_str(&of_db).unwrap();
    assert_eq!((code, &of_db["waiting"]), (Some(0), &json!(0)));
    let counted = row_of(&of_db);
    for field in ["from", "to", "until", "n", "exact_n", "worst_pct", "stretches", "swaps"] {
        assert_eq!(counted[field], row[field], "{field}");
    }
    let (_, text, _) = run(recorded, &["accuracy", "--api", url]);
    for said in [pool.as_str(), "too short", "accuracy/2 (positive: worse than estimated)"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let api = ["accuracy", "--api", url];
    for (more, said) in [
        (&["--require", "live"][..], "guards apply to one pool only"),
        (&["--from", "2026-08-22T00:00:00Z"], "POOL"),
        (&["--file", "own.json"], "POOL"),
        (&["--rpc", url], "POOL"),
    ] {
        let (code, _, error) = run(recorded, &[&api[..], more].concat());
        assert!(code == Some(2) && error.contains(said), "{more:?}: {error}");
    }
}

/// Invalid questions, and questions without an answer.
fn refused(recorded: &Recorded, service: &Service) {
    let code = |target: &str| {
        let (status, code, field) = service.get(target).problem();
        (status, code, field.unwrap_or_default())
    };
    let unknown = format!("anvil:0x{}", "11".repeat(20));
    let pool = recorded.pool(0);
    for (target, expected) in [
        (format!("/v1/accuracy/{unknown}"), (404, "unknown_pool", "")),
        (format!("/v1/fills/{unknown}?slot=5957856"), (404, "unknown_pool", "")),
        (format!("/v1/fills/{pool}"), (400, "invalid_parameter", "slot")),
        (
            format!("/v1/accuracy/{pool}?from=2026-08-22T00:20:00Z&to=2026-08-22T00:10:00Z"),
            (422, "period_reversed", "from"),
        ),
        (format!("/v1/accuracy/{pool}?base=token0"), (400, "unknown_parameter", "base")),
        (format!("/v1/accuracy/{pool}?require=live"), (412, "not_live", "require")),
    ] {
        let (status, code, field) = code(&target);
        assert_eq!((status, code.as_str()), (expected.0, expected.1), "{target}: {field}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_swap_that_the_recorders_node_keeps_back_makes_its_stretch_incomplete() {
    let (chain, world) = scene().await;
    let proxy = Proxy::start(&chain.url());
    // Every answer to a request for swaps lacks its first swap.
    proxy.lie(|asked, truth| {
        if asked["method"] != "eth_getLogs" {
            return None;
        }
        let mut logs = truth["result"].as_array()?.clone();
        let place = logs.iter().position(|log| log["topics"][0] == SWAP)?;
        logs.remove(place);
        Some(Lie::Result(logs.into()))
    });
    let recorded = played(&chain, world, &proxy.url(), "").await;
    assert!(proxy.fired() >= 3, "{}", proxy.fired());
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let told = service.get(&format!("/v1/accuracy/{}", recorded.pool(0))).found();
    // In two stretches, one swap is missing; the other swap of one of these stretches is not compared either. The swap
    // missing in the third stretch leaves nothing to commit to yet.
    assert_eq!(
        (&told["stretches_incomplete"], &told["compared"]),
        (&json!(2), &json!(0)),
        "{told}"
    );
    assert_eq!((&told["swaps"], &told["not_compared"]["fills_incomplete"]), (&json!(1), &json!(1)));
    assert_eq!(service.end(), Some(0));
}
