//! Complete sessions of the `exitgap` command line, one per file in `sessions/`. They use a small database that this
//! test creates, with two pools and six slots, two of them missing.

use std::fs;
use std::path::Path;
use std::process::Command;

use exitgap_core::U256;
use exitgap_core::ids::{Address, BlockHash, PoolId};
use exitgap_core::pools::{
    Concentrated, ConstantProduct, Direction, FeeRate, PoolState, Tick, tick_at_sqrt_ratio,
};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, RoundData,
    Snapshot, Symbol, Token,
};
use exitgap_store::{NewEntry, Store};
use exitgap_tests::binaries;

/// The series' second day, so that earlier times exist.
fn slot(index: u64) -> Slot {
    Slot::new(u64::from(Slot::FIRST.number()) + 288 + index).unwrap()
}

fn token(last: u8, symbol: &str, decimals: u8) -> Token {
    let mut address = [0; 20];
    address[19] = last;
    Token { address: Address(address), decimals, symbol: Symbol::clean(symbol) }
}

fn reading(role: OracleRole, feed: u8, answer: u64, updated_at: u64) -> OracleReading {
    let feed = Address([feed; 20]);
    let round = RoundData { feed, round: 1 << 64, updated_at, heartbeat_s: 3_600 };
    let source = OracleSource::Chainlink(round);
    OracleReading { role, answer: U256::from(answer), decimals: 8, source }
}

fn observe(id: &PoolId, state: PoolState, slot: Slot, oracle_age_s: u64) -> Snapshot {
    let timestamp = slot.unix_s() - 4;
    let block = BlockRef { hash: BlockHash([9; 32]), number: timestamp / 12, timestamp };
    let oracles = vec![
        reading(OracleRole::TokenUsd(0), 0xe0, 300_000_000_000, timestamp - oracle_age_s),
        reading(OracleRole::TokenUsd(1), 0xe1, 100_000_000, timestamp - 40),
    ];
    let chain = ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview };
    let tokens = [token(1, "WETH", 18), token(2, "USDC", 6)];
    let observation =
        Observation::new(id.clone(), chain, block, tokens, state, oracles, Vec::new()).unwrap();
    Snapshot::new(slot, observation).unwrap()
}

/// 1 WETH costs 2,990 USDC: √(2990e6 ÷ 1e18) as Q64.96, with two overlapping ranges.
fn concentrated() -> PoolState {
    let sqrt_price = U256::from(4_332_235_170_871_421_000_000_000_u128);
    let tick = tick_at_sqrt_ratio(sqrt_price);
    let near = tick.div_euclid(10) * 10;
    let (wide, narrow) = (2_000_000_000_000_000_i128, 7_000_000_000_000_000_i128);
    let ticks = vec![
        Tick::new(near - 2_000, wide),
        Tick::new(near - 100, narrow),
        Tick::new(near + 100, -narrow),
        Tick::new(near + 2_000, -wide),
    ];
    let liquidity = u128::try_from(wide + narrow).unwrap();
    PoolState::Concentrated(Concentrated::new(sqrt_price, tick, liquidity, 500, 10, ticks).unwrap())
}

fn pair() -> PoolState {
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    let reserves = [100 * 10_u128.pow(18), 300_000 * 10_u128.pow(6)];
    PoolState::ConstantProduct(ConstantProduct::new(reserves, fee).unwrap())
}

fn pool_id(last: &str) -> PoolId {
    format!("anvil:0x{last:0>40}").parse().unwrap()
}

fn fill_store(path: &Path) {
    let mut store = Store::create(path, &crate::scenes::store::key()).unwrap();
    let (v3, v2, young) = (pool_id("a3"), pool_id("a2"), pool_id("a4"));
    let entry = |pool: &PoolId, reading| NewEntry {
        pool: pool.clone(),
        default_base: Direction::ZeroForOne,
        reading,
    };
    for index in 0..6 {
        let slot = slot(index);
        let v3_reading = match index {
            2 => Err(MissingReason::ChainLagging),
            _ => Ok(observe(&v3, concentrated(), slot, 60)),
        };
        let v2_reading = match index {
            5 => Err(MissingReason::RpcUnavailable),
            _ => Ok(observe(&v2, pair(), slot, 5_000)),
        };
        let mut entries = vec![entry(&v2, v2_reading), entry(&v3, v3_reading)];
        if index == 5 {
            entries.push(entry(&young, Err(MissingReason::OracleInvalid)));
        }
        store.append_slot(slot, &entries).unwrap();
    }
}

#[test]
fn sessions_read_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("series.db");
    fill_store(&db);
    let exitgap = binaries::path("exitgap");
    let folder = folder.path().to_str().unwrap();
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("exitgap", exitgap.as_path())
        .env("EXITGAP_DB", db.to_str().unwrap())
        .env("NO_COLOR", "1")
        .env("COLUMNS", "120")
        .insert_var("[FOLDER]", folder.to_owned())
        .unwrap()
        .case("suite/cli/sessions/*.trycmd");
    cases.run();
}

#[test]
fn both_programs_hand_on_the_licences_of_what_they_were_built_from() {
    for program in ["exitgap", "exitgap-server"] {
        let output = Command::new(binaries::path(program)).arg("licences").output().unwrap();
        assert!(output.status.success(), "{program}");
        let text = String::from_utf8(output.stdout).unwrap();
        for expected in ["  - sha2 ", "  - clap ", "MIT License", "Apache License"] {
            assert!(text.contains(expected), "{program}: {expected}");
        }
    }
}

#[test]
fn a_snapshot_file_answers_as_the_database_does_and_a_changed_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("series.db");
    fill_store(&db);
    let run = |args: &[&str]| {
        let mut command = Command::new(binaries::path("exitgap"));
        command.env_remove("EXITGAP_DB").args(args);
        command.output().unwrap()
    };
    let (pool, db) = (pool_id("a3").to_string(), db.to_str().unwrap());
    let snapshot = run(&["snapshot", &pool, "--db", db]);
    assert!(snapshot.status.success());
    let file = folder.path().join("snapshot.json");
    fs::write(&file, &snapshot.stdout).unwrap();
    let ask = |file: &Path, more: &[&str]| {
        let mut args = vec!["estimate", "--size-usd", "10000", "--json", "--snapshot"];
        args.extend([file.to_str().unwrap(), "--base", "token0"]);
        args.extend_from_slice(more);
        run(&args)
    };
    let document = |stdout: &[u8]| serde_json::from_slice::<serde_json::Value>(stdout).unwrap();
    let recorded = run(&["estimate", &pool, "--size-usd", "10000", "--json", "--db", db]);
    let (recorded, from_file) = (document(&recorded.stdout), document(&ask(&file, &[]).stdout));
    for field in ["exit_gap_pct", "amount_in_raw", "amount_out_raw", "realized_price_usd"] {
        assert_eq!(recorded[field], from_file[field], "{field}");
    }
    let source = &from_file["method"]["depth_source"];
    assert_eq!(source["kind"], "snapshot_file");
    assert_eq!(source["snapshot_hash"], recorded["method"]["depth_source"]["snapshot_hash"]);
    assert!(from_file.get("days_observed").is_none(), "a file alone is no series");

    // A snapshot file does not name the token that the pool sells by default, so the command must not choose one.
    for question in [
        &["estimate", "--size-usd", "10000"][..],
        &["ladder"],
        &["size", "--gap", "2"],
        &["simulate", "--size-usd", "10k", "--orders", "2"],
    ] {
        let output = run(&[question, &["--json", "--snapshot", file.to_str().unwrap()]].concat());
        assert_eq!(output.status.code(), Some(2), "{question:?}");
        let problem = document(&output.stderr);
        assert_eq!(
            (&problem["code"], &problem["field"]),
            (&"invalid_parameter".into(), &"base".into())
        );
        assert!(problem["hint"].as_str().unwrap().contains("--base"), "{problem}");
    }
    // Different notations of the same size give the same result.
    let same = run(&["estimate", &pool, "--size-usd", "10000", "--db", db]).stdout;
    assert!(!same.is_empty());
    for size in ["10,000", "$10,000", "10 000", "10k", "0.01m", "$10K"] {
        let spelled = run(&["estimate", &pool, "--size-usd", size, "--db", db]);
        assert_eq!(spelled.stdout, same, "{size}");
    }
    let steps = |sizes: &str| run(&["ladder", &pool, "--size-usd", sizes, "--db", db]).stdout;
    assert_eq!(steps("1k,10k,0.25m"), steps("1000,10000,250000"));
    let plan = |size: &str| {
        run(&["simulate", &pool, "--size-usd", size, "--orders", "3", "--db", db]).stdout
    };
    assert_eq!(plan("10k"), plan("10000"));

    let refused = |output: std::process::Output, expected: &str| {
        assert_eq!(output.status.code(), Some(5));
        let problem = document(&output.stderr);
        assert_eq!(problem["code"], "source_unreadable");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(expected), "{detail}");
    };
    refused(ask(&file, &[&pool_id("a2").to_string()]), "is a snapshot of");
    let text = String::from_utf8(snapshot.stdout).unwrap();
    let changed = text.replacen("7000000000000000", "7000000000000001", 1);
    assert_ne!(changed, text);
    fs::write(&file, &changed).unwrap();
    refused(ask(&file, &[]), "but the given state is");
    fs::write(&file, text.replacen(':', ": ", 1)).unwrap();
    // The input file may be formatted differently; the output documents are canonical.
    assert!(ask(&file, &[]).status.success());
    let other = folder.path().join("other.db");
    fs::write(&other, "not a database").unwrap();
    let other = other.to_str().unwrap();
    refused(run(&["pools", "--json", "--db", other]), "not an exitgap store");
}
