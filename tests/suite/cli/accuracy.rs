//! Compares every real swap with its estimate. The logs come from a node that may withhold some.

use std::process::{Command, Output};

use alloy::eips::BlockId;
use alloy::primitives::U256;
use exitgap_tests::binaries;
use exitgap_tests::devchain::{PoolReading, World};
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::service::{Recorded, Service, configured, record_blocks};

fn run(recorded: &Recorded, arguments: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(arguments).current_dir(recorded.folder.path()).output().unwrap()
}

/// The accuracy record of a pool, from the snapshots of a source and the logs of a node.
fn record(recorded: &Recorded, pool: usize, source: [&str; 2], node: &str) -> Value {
    let (pool, node) = (recorded.pool(pool), ["--rpc", node, "--chain-id", "31337"]);
    let asked = [&["accuracy", &pool][..], &source, &node, &["--json"]].concat();
    let output = run(recorded, &asked);
    assert_eq!(output.status.code(), Some(4), "it is short: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn real_swaps_are_exact_where_nothing_moved_and_a_log_kept_back_is_noticed() {
    let (chain, world) = scene().await;
    let folder = configured(&chain, &world);
    let (pool, pair) = (world.pools[0].pool, world.pools[World::FIRST_V2].pool);
    let [weth, usdc] = [World::WETH, World::USDC].map(|asset| &world.assets[asset]);
    let positions = world.pools[0].positions.clone();
    let sell = |usd| chain.swap_tx(&pool, weth.token.address, weth.worth(usd));
    let PoolReading::V3 { sqrt_price_x96, .. } =
        chain.read_pools(&[pool], BlockId::latest()).await.unwrap()[0]
    else {
        panic!("a pool of ranges");
    };
    // A price limit of 1/20, in the direction in which a sale moves the price.
    let part = sqrt_price_x96 / U256::from(20);
    let limit = if weth.token.address == pool.token0 {
        sqrt_price_x96 - part
    } else {
        sqrt_price_x96 + part
    };
    let last = record_blocks(&chain, &world, &folder, 8, |place| match place {
        1 => vec![sell(40_000)],
        2 => vec![chain.swap_tx(&pair, weth.token.address, weth.worth(9_000))],
        // The estimate of the second swap ignores the first.
        3 => vec![sell(60_000), sell(60_000)],
        4 => positions.iter().map(|one| chain.burn_tx(one, one.liquidity / 3)).collect(),
        5 => vec![chain.swap_tx(&pool, usdc.token.address, usdc.worth(5_000))],
        // A swap that ends at a price limit, and a swap for an exact output amount.
        6 => vec![
            chain.v3_swap_tx(&pool, weth.token.address, weth.worth(40_000_000), limit),
            chain.v3_buy_tx(&pool, usdc.token.address, weth.worth(30_000)),
        ],
        _ => Vec::new(),
    })
    .await;
    let recorded = Recorded { folder, world, last };
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let url = format!("http://{}", service.address);
    let db = ["--db", "exitgap.db"];
    let told = record(&recorded, 0, db, &chain.url());
    assert_eq!(told, record(&recorded, 0, ["--api", &url], &chain.url()));
    assert_eq!((&told["figure"], &told["status"]), (&json!("accuracy/2"), &json!("preview")));
    assert_eq!((&told["slots"], &told["stretches"]), (&json!(8), &json!(7)));
    assert_eq!((&told["swaps"], &told["compared"]), (&json!(6), &json!(6)));
    assert_eq!((&told["stretches_incomplete"], &told["enough"]), (&json!(0), &json!(false)));
    let newest = &told["by_age"][0];
    assert_eq!((&newest["n"], &newest["exact_n"]), (&json!(6), &json!(4)), "{told}");
    // The first swap of the slot received exactly the estimate; the swap after it received less than the same estimate.
    let swaps = told["worst"].as_array().unwrap();
    let of_two = |error: fn(f64) -> bool| {
        let sold = swaps.iter().filter(|one| error(one["error_pct"].as_f64().unwrap()));
        sold.cloned().collect::<Vec<_>>()
    };
    let [moved] = &of_two(|error| error > 0.0)[..] else { panic!("one was worse: {told}") };
    let first = of_two(|error| error == 0.0)
        .into_iter()
        .find(|one| one["block"] == moved["block"])
        .unwrap();
    // The purchase after the price had moved to its limit cost less than estimated.
    assert_eq!(of_two(|error| error < 0.0).len(), 1, "{told}");
    assert!(moved["error_pct"].as_f64().unwrap() > 0.0, "reality was worse: {moved}");
    assert_eq!(first["error_pct"], 0);
    assert_eq!(moved["estimated_out_raw"], first["amount_out_raw"]);
    assert_eq!(moved["amount_in_raw"], first["amount_in_raw"]);
    // From a snapshot that is one slot older, the estimate for the fourth slot's swap precedes the withdrawal of
    // liquidity.
    let older =
        told["by_age"].as_array().unwrap().iter().find(|one| one["older_slots"] == 2).unwrap();
    assert!(older["worst_pct"].as_f64() >= newest["worst_pct"].as_f64(), "{told}");
    let pair_told = record(&recorded, World::FIRST_V2, db, &chain.url());
    assert_eq!(
        (&pair_told["compared"], &pair_told["by_age"][0]["exact_n"]),
        (&json!(1), &json!(1))
    );

    let asked = ["accuracy", &recorded.pool(0), "--rpc", &chain.url(), "--chain-id", "31337"];
    let text = String::from_utf8(run(&recorded, &[&asked[..], &db].concat()).stdout).unwrap();
    for said in [
        "6 logged, 6 compared",
        "bit for bit",
        "a full record needs 200 compared swaps",
        "288 slots older",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    kept_back(&recorded, &chain.url());
    refused(&recorded, &chain.url());
    assert_eq!(service.end(), Some(0));
}

/// The position of the first of two logs in one block.
fn first_of_two(logs: &[Value]) -> usize {
    (1..logs.len()).find(|at| logs[*at]["blockNumber"] == logs[at - 1]["blockNumber"]).unwrap() - 1
}

/// A node that withholds or invents logs.
fn kept_back(recorded: &Recorded, node: &str) {
    const BURN: &str = "0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c";
    let proxy = Proxy::start(node);
    let without = |gone: fn(&[Value]) -> usize| {
        proxy.lie(move |asked, truth| {
            if asked["method"] != "eth_getLogs" {
                return None;
            }
            let mut logs = truth["result"].as_array()?.clone();
            logs.remove(gone(&logs));
            Some(Lie::Result(logs.into()))
        });
        let told = record(recorded, 0, ["--db", "exitgap.db"], &proxy.url());
        assert!(proxy.fired() > 0);
        let numbers =
            ["stretches_incomplete", "compared"].map(|field| told[field].as_u64().unwrap());
        let counted = told["not_compared"].as_object().unwrap().values();
        let not: u64 = counted.map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(numbers[1] + not, told["swaps"].as_u64().unwrap(), "all are counted");
        (numbers[0], numbers[1], not)
    };
    // A withdrawal of liquidity: its stretch contains no swap.
    assert_eq!(
        without(|logs| logs.iter().position(|log| log["topics"][0] == BURN).unwrap()),
        (1, 6, 0)
    );
    // One of two swaps in a block is missing: then the other is not compared either.
    for place in [0, 1] {
        let gone = if place == 0 { first_of_two } else { |logs: &[Value]| first_of_two(logs) + 1 };
        assert_eq!(without(gone), (1, 4, 1), "{place}");
    }
    for (field, value, said) in [
        ("address", json!(format!("0x{}", "11".repeat(20))), "a log's address"),
        ("blockNumber", json!("0x1"), "no place in the requested blocks"),
        ("data", json!("0x00"), "do not fit its event"),
        ("removed", json!(true), "no place in the requested blocks"),
    ] {
        proxy.lie(move |asked, truth| {
            let mut logs =
                truth["result"].as_array().filter(|_| asked["method"] == "eth_getLogs")?.clone();
            logs[0][field] = value.clone();
            Some(Lie::Result(logs.into()))
        });
        let asked = ["accuracy", &recorded.pool(0), "--rpc", &proxy.url(), "--chain-id", "31337"];
        let output = run(recorded, &[&asked[..], &["--db", "exitgap.db"]].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(5) && error.contains(said), "{said}: {error}");
        assert!(proxy.fired() > 0);
    }
}

/// Invalid questions, and questions without an answer.
fn refused(recorded: &Recorded, node: &str) {
    let told = |arguments: &[&str]| {
        let output = run(recorded, &[&["accuracy"][..], arguments].concat());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (pool, db) = (recorded.pool(0), ["--db", "exitgap.db", "--rpc", node]);
    let with = |more: &[&str]| told(&[&[pool.as_str()][..], &db, more].concat());
    let (code, said) = with(&[]);
    assert!(code == Some(2) && said.contains("--chain-id"), "{said}");
    let (code, said) = with(&["--chain-id", "1"]);
    assert!(code == Some(5) && said.contains("chain id 31337, expected 1"), "{said}");
    let period = ["--from", "2026-08-23T00:00:00Z", "--to", "2026-08-22T00:00:00Z"];
    assert_eq!(with(&[&["--chain-id", "31337"][..], &period].concat()).0, Some(2));
    let long = ["--from", "2026-08-22T00:00:00Z", "--to", "2026-12-22T00:00:00Z"];
    assert_eq!(with(&[&["--chain-id", "31337"][..], &long].concat()).0, Some(2));
    let unknown = format!("anvil:0x{}", "11".repeat(20));
    let (code, _) = told(&[&[unknown.as_str()][..], &db, &["--chain-id", "31337"]].concat());
    assert_eq!(code, Some(4));
}
