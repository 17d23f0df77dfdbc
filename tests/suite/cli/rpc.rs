//! The `exitgap` command line at the latest block of a chain: real contracts, without a recorder.

use std::process::{Command, Output};

use alloy::primitives::U256;
use exitgap_chain::config::{Factory, FactoryKind};
use exitgap_server::config::CheckedConfig;
use exitgap_tests::binaries;
use exitgap_tests::demo::recorder_config;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market, Options, World};
use serde_json::Value;

use crate::scenes::chain::{read, reader, scene, small_limits, snapshots, world_config};

fn exitgap(args: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.env_remove("EXITGAP_DB").env_remove("EXITGAP_CONFIG");
    command.args(args).arg("--json").output().unwrap()
}

fn answer(args: &[&str]) -> Value {
    let output = exitgap(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn problem(args: &[&str], exit_code: i32) -> Value {
    let output = exitgap(args);
    assert_eq!(output.status.code(), Some(exit_code), "{args:?}");
    serde_json::from_slice(&output.stderr).unwrap()
}

fn raw(answer: &Value, field: &str) -> U256 {
    answer[field].as_str().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_latest_block_answers_as_the_contract_then_pays() {
    let chain = DevChain::start(Options::default()).await.unwrap();
    let world = World::deploy(&chain).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("exitgap.toml");
    std::fs::write(&file, recorder_config(&chain, &world)).unwrap();
    let (file, url) = (file.to_str().unwrap(), chain.url());
    for index in [0, World::THIN, World::FIRST_V2] {
        let entry = &world.pools[index];
        let pool = format!("anvil:{:#x}", entry.pool.address);
        for base in ["token0", "token1"] {
            let ask = ["estimate", &pool, "--size-usd", "1234.56", "--base", base];
            let result = answer(&[&ask[..], &["--rpc", &url, "--config", file]].concat());
            assert_eq!(result["method"]["depth_source"]["kind"], "latest_block");
            assert_eq!(result["status"], "preview");
            for absent in ["days_observed", "window", "evidence_url"] {
                assert!(result.get(absent).is_none(), "unrecorded, yet {absent}");
            }
            let token = if base == "token0" { entry.pool.token0 } else { entry.pool.token1 };
            let sold = raw(&result, "amount_in_raw");
            let swap = chain.swap_exact_in(&entry.pool, token, sold).await.unwrap();
            assert_eq!(swap.amount_out, raw(&result, "amount_out_raw"), "{} {base}", entry.name);
        }
    }
}

/// With a node, anyone can create the recorder's snapshot, byte for byte.
#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_of_the_newest_slot_is_the_recorders_own() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    market.play_slot(FIRST_SLOT).await.unwrap();
    market.play_slot(FIRST_SLOT + 1).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("exitgap.toml");
    std::fs::write(&file, recorder_config(&chain, &world)).unwrap();
    let mut config = world_config(&chain, &world, &[chain.url()], 0..world.pools.len()).await;
    // As in the configuration file: the factory's answer is part of the snapshot.
    let contracts = &chain.contracts;
    config.chain[0].factory = [
        (contracts.v2_factory, FactoryKind::UniswapV2),
        (contracts.v3_factory, FactoryKind::UniswapV3),
    ]
    .map(|(address, kind)| Factory {
        address: exitgap_core::ids::Address(address.into_array()),
        kind,
        fee_modules: Vec::new(),
    })
    .to_vec();
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT + 1).await;
    for (snapshot, index) in snapshots(reading).iter().zip(0..world.pools.len()).step_by(3) {
        let pool = format!("anvil:{:#x}", world.pools[index].pool.address);
        let output = exitgap(&[
            "snapshot",
            &pool,
            "--rpc",
            &chain.url(),
            "--config",
            file.to_str().unwrap(),
        ]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let file = snapshot.to_canonical().unwrap().to_file(snapshot.observation().pool()).unwrap();
        assert_eq!(output.stdout, file, "{pool}");
    }
}

/// The node works; the pair is empty.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_pair_is_said_to_be_empty() {
    let (chain, world) = scene().await;
    let entry = &world.pools[World::FIRST_V2];
    let empty = alloy::primitives::Address::repeat_byte(0x77);
    let code = chain.code(entry.pool.address).await.unwrap();
    chain.set_code(empty, code).await.unwrap();
    // The storage of a pair: the factory in the sixth word, the tokens in the seventh and eighth.
    let words = [chain.contracts.v2_factory, entry.pool.token0, entry.pool.token1];
    for (slot, address) in (5_u64..).zip(words) {
        let place = (empty, U256::from(slot), address.into_word());
        let _: bool = chain.rpc("anvil_setStorageAt", place).await.unwrap();
    }
    chain.mine_next(&[]).await.unwrap();
    let asset = |token| format!("chainlink:{:#x}@7200", world.asset(token).unwrap().feed.proxy);
    let (usd0, usd1) = (asset(entry.pool.token0), asset(entry.pool.token1));
    let (pool, url) = (format!("anvil:{empty:#x}"), chain.url());
    let ask = ["estimate", &pool, "--size-usd", "500", "--rpc", &url, "--chain-id", "31337"];
    let named = ["--token0-usd", &usd0, "--token1-usd", &usd1, "--fee", "3/1000"];
    let problem = problem(&[&ask[..], &named].concat(), 5);
    assert_eq!(problem["reason"], "state_inconsistent", "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("no liquidity"), "{problem}");
    assert!(problem["hint"].as_str().unwrap().contains("empty"), "{problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn oracles_and_fee_may_be_named_on_the_command_line() {
    let chain = DevChain::start(Options::default()).await.unwrap();
    let world = World::deploy(&chain).await.unwrap();
    let entry = &world.pools[World::FIRST_V2];
    let pool = format!("anvil:{:#x}", entry.pool.address);
    let asset = |token| format!("chainlink:{:#x}@7200", world.asset(token).unwrap().feed.proxy);
    let (usd0, usd1, url) = (asset(entry.pool.token0), asset(entry.pool.token1), chain.url());
    let ask = ["estimate", &pool, "--size-usd", "500", "--base", "token0", "--rpc", &url];
    let named = ["--chain-id", "31337", "--token0-usd", &usd0, "--token1-usd", &usd1];
    let fee = ["--fee", "3/1000"];
    let with = |more: &[&[&'static str]]| {
        let mut args: Vec<&str> = ask.to_vec();
        args.extend(named);
        args.extend(more.concat());
        args
    };
    let result = answer(&with(&[&fee]));
    assert_eq!(result["split"]["fee_pct"], 0.3);
    let fixed = ["--token0-usd", "fixed:2501.23*fixed:2", "--token1-usd", "fixed:1"];
    let two = [&ask[..], &["--chain-id", "31337"], &fixed, &fee].concat();
    assert_eq!(answer(&two)["oracle_price_usd"], 5_002.46);

    // The arguments do not say which token the pool sells by default.
    let unnamed = [&["estimate", &pool, "--size-usd", "500", "--rpc", &url][..], &named, &fee];
    let unnamed = problem(&unnamed.concat(), 2);
    assert_eq!(
        (&unnamed["code"], &unnamed["field"]),
        (&"invalid_parameter".into(), &"base".into())
    );
    // The recorder's configuration file does.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("exitgap.toml");
    std::fs::write(&file, recorder_config(&chain, &world)).unwrap();
    let by_file = ["--config", file.to_str().unwrap(), "--rpc", &url];
    assert!(
        answer(&[&["estimate", &pool, "--size-usd", "500"][..], &by_file].concat()).is_object()
    );
    // The recorder's file may contain any table: the command line knows those that it ignores.
    let whole = std::fs::read_to_string(&file).unwrap();
    let unknown = CheckedConfig::parse("[none]", &file).unwrap_err().to_string();
    let tables: Vec<&str> = unknown.split("expected one of").nth(1).unwrap().split('`').collect();
    let tables: Vec<&str> = tables.into_iter().skip(1).step_by(2).collect();
    assert!(tables.len() > 15 && tables.contains(&"shock"), "{unknown}");
    let reading = ["chain", "oracle", "pool", "token", "fact", "equity"];
    for table in tables.into_iter().filter(|table| !reading.contains(table)) {
        if !whole.contains(&format!("[{table}]")) {
            std::fs::write(&file, format!("{whole}\n[{table}]\nof_a_recorder = 1\n")).unwrap();
            let asked = [&["estimate", &pool, "--size-usd", "500"][..], &by_file].concat();
            assert!(answer(&asked).is_object(), "{table}");
        }
    }
    std::fs::write(&file, whole).unwrap();

    // A pair's contract does not return its fee, so the caller must name it.
    let without_fee = problem(&with(&[]), 5);
    assert_eq!(without_fee["code"], "chain_unreadable");
    assert!(without_fee["detail"].as_str().unwrap().contains("fee"), "{without_fee}");
    assert_eq!(problem(&with(&[&["--fee", "three"]]), 2)["field"], "fee");
    let other_id = [&ask[..], &["--chain-id", "5"], &fixed, &fee].concat();
    assert_eq!(problem(&other_id, 5)["reason"], "wrong_chain");
    let no_oracle = problem(&[&ask[..], &["--chain-id", "31337"]].concat(), 2);
    assert_eq!(no_oracle["field"], "token0_usd");
    let not_a_pool = format!("anvil:{:#x}", entry.pool.token0);
    let args = ["estimate", &not_a_pool, "--size-usd", "500", "--rpc", &url];
    let unsupported = problem(&[&args[..], &named, &fee].concat(), 5);
    assert_eq!(unsupported["reason"], "pool_unsupported");
}

#[test]
fn the_recorders_own_file_describes_its_pools_to_the_command_line_too() {
    // The address is unreachable, but the example file is parsed completely.
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/mainnet.toml");
    let pool = "ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640";
    let ask = ["estimate", pool, "--size-usd", "1", "--rpc", "http://127.0.0.1:9"];
    let dead = problem(&[&ask[..], &["--config", example]].concat(), 5);
    assert_eq!(dead["reason"], "rpc_unavailable", "{dead}");
    let unknown = pool.replace("5640", "5641");
    let ask = ["estimate", &unknown, "--size-usd", "1", "--rpc", "http://127.0.0.1:9"];
    assert_eq!(problem(&[&ask[..], &["--config", example]].concat(), 4)["code"], "unknown_pool");
}

#[test]
fn a_node_that_is_not_there_is_said_to_be_so() {
    let pool = "ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640";
    let named = ["--token0-usd", "fixed:1", "--token1-usd", "fixed:1"];
    let ask = ["estimate", pool, "--size-usd", "1", "--rpc"];
    // A fixed price is not allowed for a live chain; the command rejects it before any request.
    let fixed = problem(&[&ask[..], &["http://127.0.0.1:9"], &named].concat(), 2);
    assert_eq!(fixed["field"], "config");
    let preview = pool.replace("ethereum", "anvil");
    let ask = ["estimate", &preview, "--size-usd", "1", "--chain-id", "31337", "--rpc"];
    let dead = problem(&[&ask[..], &["http://127.0.0.1:9"], &named].concat(), 5);
    assert_eq!(
        (&dead["code"], &dead["reason"]),
        (&"chain_unreadable".into(), &"rpc_unavailable".into())
    );
    assert_eq!(problem(&[&ask[..], &["ftp://x"], &named].concat(), 2)["field"], "rpc");
}
