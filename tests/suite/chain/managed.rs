//! Uniswap v4: pools of its real manager, read from its storage, with tokens and with the native coin.

use std::process::Command;
use std::time::Duration;

use alloy::primitives::{Address, U256};
use exitgap_chain::Severity;
use exitgap_chain::config::{
    BaseToken, Config, Factory, FactoryKind, Plan, PoolConfig, PoolKey, PoolPlace,
};
use exitgap_core::evidence::{Base, Policy, Verdict, verify};
use exitgap_core::ids::Word;
use exitgap_core::pools::{ConcentratedV4, Direction, PoolState};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::{Reader, Store};
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, V4, V4Pool};
use serde_json::json;
use tempfile::TempDir;

use crate::scenes::chain::{
    chain_config, deadline, pass_slot, read, reader, scene, small_limits, snapshots,
};
use crate::scenes::store::key;

fn own(address: Address) -> exitgap_core::ids::Address {
    exitgap_core::ids::Address(address.into_array())
}

fn key_of(pool: &V4Pool) -> PoolKey {
    PoolKey {
        currency0: own(pool.key.currency0),
        currency1: own(pool.key.currency1),
        fee: pool.key.fee.to(),
        tick_spacing: pool.key.tickSpacing.as_i32(),
        hooks: own(pool.key.hooks),
    }
}

fn config_of(key: PoolKey) -> PoolConfig {
    PoolConfig {
        chain: "anvil".parse().unwrap(),
        address: PoolPlace::Managed(key.id().unwrap()),
        pair: None,
        key: Some(key),
        base: BaseToken::Token0,
        fee: None,
        token0_usd: vec!["USDC".to_owned()],
        token1_usd: vec!["USDC".to_owned()],
    }
}

/// The manager with three pools: of two tokens, of the native coin, and with the maximum tick spacing. Each has
/// different protocol fees for the two directions.
pub async fn managed() -> (DevChain, V4, Vec<V4Pool>, Config) {
    let (chain, world) = scene().await;
    let tokens = chain.create_tokens(&[("ONE", 18), ("TWO", 18)]).await.unwrap();
    let [one, two] = [tokens[0].address, tokens[1].address];
    let v4 = chain.deploy_v4(&[one, two]).await.unwrap();
    let mut pools = Vec::new();
    let mut config = chain_config(&chain, &world, &[chain.url()]).await;
    for (tokens, fee, spacing, protocol_fee) in [
        ([one, two], 500, 10, [704, 385]),
        ([one, Address::ZERO], 3_000, 60, [0, 0]),
        ([one, two], 100, 32_767, [0, 1_000]),
    ] {
        let pool = V4Pool::of(tokens, fee, spacing);
        chain.initialize_v4(&v4, &pool, protocol_fee).await.unwrap();
        for (steps, liquidity) in
            [([-27, 27], 10_i128.pow(18)), ([-5, 3], 7 * 10_i128.pow(20)), ([-1, 1], 123_456_789)]
        {
            chain.modify_v4(&v4, &pool, steps.map(|step| step * spacing), liquidity).await.unwrap();
        }
        assert_eq!(Word(pool.id.0), key_of(&pool).id().unwrap());
        config.pool.push(config_of(key_of(&pool)));
        pools.push(pool);
    }
    let (address, kind) = (own(v4.manager), FactoryKind::UniswapV4);
    config.chain[0].factory.push(Factory { address, kind, fee_modules: Vec::new() });
    (chain, v4, pools, config)
}

fn v4_of(state: &PoolState) -> &ConcentratedV4 {
    ConcentratedV4::from_state(state).unwrap()
}

#[tokio::test]
async fn managed_pools_are_read_followed_and_pay_what_is_computed() {
    let (chain, v4, pools, config) = managed().await;
    pass_slot(&chain, FIRST_SLOT).await;
    let mut reader = reader(&config, small_limits());
    let reading = read(&mut reader, FIRST_SLOT).await;
    assert!(reading.events.is_empty(), "{:?}", reading.events);
    let first = snapshots(reading);
    let fees = |at: usize| {
        let state = v4_of(first[at].observation().state());
        (state.lp_fee_pips(), state.protocol_fee(), state.ranges().ticks().len())
    };
    assert_eq!(fees(0), (500, [704, 385], 6));
    assert_eq!(fees(1), (3_000, [0, 0], 6));
    assert_eq!(fees(2), (100, [0, 1_000], 6));
    let native = &first[1].observation().tokens()[0];
    assert_eq!((native.address.0, native.decimals, native.symbol.as_str()), ([0; 20], 18, "ETH"));
    assert_eq!(first[0].observation().facts()[0].words.len(), 5);

    // Real sales take and pay, one after the other, the amounts that core computes from the snapshot.
    for (pool, snapshot) in pools.iter().zip(&first) {
        let mut state = snapshot.observation().state().clone();
        for (zero_for_one, units) in [(true, 3_u128), (false, 80), (true, 11), (false, 1)] {
            let direction = Direction::BOTH[usize::from(!zero_for_one)];
            let amount = U256::from(units * 10_u128.pow(16) + 1);
            let fill = state.fill_once(direction, amount).unwrap();
            let swapped = chain.swap_v4(&v4, pool, zero_for_one, amount).await.unwrap();
            assert_eq!([amount, fill.amount_out], swapped, "{direction:?} {amount}");
            state = state.after(direction, &fill);
        }
    }
    // Following the manager's logs, by pool id, gives the same state as reading everything.
    chain.modify_v4(&v4, &pools[0], [-100, 50], 5 * 10_i128.pow(19)).await.unwrap();
    chain.modify_v4(&v4, &pools[1], [-60, 60], -123_456_789).await.unwrap();
    pass_slot(&chain, FIRST_SLOT + 1).await;
    let reading = read(&mut reader, FIRST_SLOT + 1).await;
    assert!(reading.events.is_empty(), "{:?}", reading.events);
    let followed = snapshots(reading);
    let mut fresh = crate::scenes::chain::reader(&config, small_limits());
    assert_eq!(followed, snapshots(read(&mut fresh, FIRST_SLOT + 1).await));
    let ticks = |at: usize| v4_of(followed[at].observation().state()).ranges().ticks().len();
    assert_eq!([ticks(0), ticks(1), ticks(2)], [8, 4, 6]);

    let infos = reader.describe(deadline()).await;
    assert_eq!(infos[0].1.as_ref().unwrap().kind, "concentrated_v4 of Uniswap v4");
    let findings = reader.check(deadline()).await;
    let tried = findings.iter().filter(|finding| {
        finding.severity == Severity::Fine
            && finding.message.contains("pays exactly the computed amount")
    });
    assert_eq!(tried.count(), 3, "{findings:#?}");
}

#[tokio::test]
async fn what_a_manager_holds_otherwise_is_refused_by_name() {
    let (chain, _, pools, mut config) = managed().await;
    pass_slot(&chain, FIRST_SLOT).await;
    let key = key_of(&pools[0]);
    let others = [
        (PoolKey { hooks: own(Address::repeat_byte(3)), ..key }, "hook: 0x0303"),
        (PoolKey { fee: PoolKey::DYNAMIC_FEE, ..key }, "dynamic_fee: "),
        (PoolKey { fee: 501, ..key }, "has no pool with this id"),
    ];
    config.pool.truncate(1);
    config.pool.extend(others.iter().map(|(key, _)| config_of(*key)));
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    assert!(reading.pools[0].1.is_ok(), "{:?}", reading.pools[0].1);
    for ((_, words), (_, result)) in others.iter().zip(&reading.pools[1..]) {
        let missing = result.as_ref().unwrap_err();
        assert_eq!(missing.reason, MissingReason::PoolUnsupported);
        assert!(missing.detail.contains(words), "{missing}");
    }
    // A contract at the manager's address that answers nothing.
    config.pool.truncate(1);
    config.chain[0].factory[0].address = own(chain.trader);
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    let missing = reading.pools[0].1.as_ref().unwrap_err();
    assert_eq!(missing.reason, MissingReason::PoolUnsupported);
    config.chain[0].factory.clear();
    let reading = read(&mut reader(&config, small_limits()), FIRST_SLOT).await;
    let missing = reading.pools[0].1.as_ref().unwrap_err();
    assert!(missing.detail.contains("[[chain.factory]]"), "{missing}");
}

/// A recorded pool passes both verifiers, which have no code in common.
#[tokio::test]
async fn a_recorded_pool_of_a_manager_is_proven_to_both_verifiers() {
    let (chain, _, _, config) = managed().await;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("exitgap.db");
    let sources = Source::of_plan(&Plan::new(&config).unwrap(), &small_limits());
    let store = Store::create(&path, &key()).unwrap();
    let mut recorder = Recorder::new(store, sources, Duration::from_mins(1));
    let slot = |n: u64| Slot::new(FIRST_SLOT + n).unwrap();
    for n in 0..2 {
        pass_slot(&chain, FIRST_SLOT + n).await;
        let report = recorder.record_slot(slot(n)).await.unwrap();
        assert_eq!(report.recorded, 3, "{report:?}");
    }
    drop(recorder);
    let reader = Reader::open(&path).unwrap();
    let keys = reader.log().unwrap().unwrap().keys;
    let spelled: Vec<String> = keys.iter().map(ToString::to_string).collect();
    let policy = json!({ "keys": spelled });
    for pool in reader.pools().unwrap() {
        for base in [Base::Token0, Base::Token1] {
            let file = reader.evidence(&pool.id, base, slot(1), "0.25".parse().unwrap()).unwrap();
            let report = verify(&file, &Policy::with_keys(keys.clone()));
            assert_eq!(report.verdict, Verdict::Valid, "{report:?}");
            assert!(report.unknown_facts.is_empty(), "{report:?}");
            let file_path = folder.path().join("evidence.json");
            std::fs::write(&file_path, &file).unwrap();
            assert_eq!(second_opinion(&file_path, &policy), "valid", "{} {base:?}", pool.id);
        }
    }
}

/// Returns the second verifier's verdict on a file.
fn second_opinion(file: &std::path::Path, policy: &serde_json::Value) -> String {
    let script = r#"
        import { readFileSync } from "node:fs";
        import { verify } from "./verify.mjs";
        const [file, policy] = process.argv.slice(1);
        const { verdict, checks } = verify(readFileSync(file), JSON.parse(policy));
        if (verdict !== "valid") console.error(JSON.stringify(checks));
        console.log(verdict);
    "#;
    let mut node = Command::new("node");
    node.args(["--input-type=module", "-e", script]).arg(file).arg(policy.to_string());
    let js = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("js");
    let output = node.current_dir(js).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
