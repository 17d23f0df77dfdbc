//! Real pools of Ethereum in a bottle: checked, recorded, proven and estimated, while their real swaps happen again.

use std::collections::BTreeMap;

use alloy::primitives::{Address, U256};
use exitgap_core::ids::PoolId;
use exitgap_core::proof::ProvenWords;
use exitgap_core::series::Slot;
use exitgap_tests::devchain::{FIRST_SLOT, PoolKind};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::reality_node;
use crate::scenes::bottle::{Bottle, link_oracle, pool_table, word_of};
use crate::scenes::facts;
use crate::scenes::live::Live;
use crate::scenes::proxy::Proxy;
use crate::scenes::real_swap::{RealSwap, numbers_of};

/// USDC/WETH with a fee of 0.05%.
const POOL: &str = "0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640";

/// LINK/WETH with a fee of 0.3%.
const LINK_POOL: &str = "0xa6cc3c2531fdaa6ae1a3ca84c2855806728693e8";

fn id(pool: Address) -> PoolId {
    format!("ethereum:{pool:#x}").parse().unwrap()
}

/// The swaps by pool, in their order.
fn by_pool(bottle: &Bottle) -> BTreeMap<Address, Vec<&RealSwap>> {
    let mut pools: BTreeMap<Address, Vec<&RealSwap>> = BTreeMap::new();
    for swap in &bottle.swaps {
        pools.entry(swap.pool.address).or_default().push(swap);
    }
    pools
}

/// Records a slot, and requires that the states of all pools were proven with their oracles before they were signed.
fn record_proven(live: &mut Live, bottle: &Bottle, slot: Slot) {
    let (said, pools) = (live.record(slot), by_pool(bottle));
    for name in ["recorded", "proven", "oracles_proven"] {
        assert_eq!(said[name], pools.len(), "{name}: {said}");
    }
    assert_eq!((&said["unproven"], &said["missing"]), (&json!(""), &json!("")), "{said}");
    for pool in pools.keys() {
        let proof = live.proof(&live.snapshot(&id(*pool), slot), true);
        assert!(!proof.readings.is_empty(), "{pool}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn real_pools_are_recorded_and_proven_and_real_swaps_leave_what_is_recorded() {
    let bottle = Bottle::fill().await;
    let [first, second] = [1, 2].map(|place| Slot::new(FIRST_SLOT + place).unwrap());
    bottle.chain.mine(first.unix_s() - 118, &[]).await.unwrap();
    bottle.pass(first.unix_s() + 24).await;
    let node = bottle.as_ethereum();
    let mut live = Live::init(first.unix_s() + 5, &node.url(), POOL, &[]);
    for feed in ["0x5f4ec3df9cbd43714fe2740f5e3616155c5b8419", "usdc-usd", "eth-usd"] {
        assert!(live.configuration().contains(feed), "{}", live.configuration());
    }
    let pools = by_pool(&bottle);
    live.configure(&link_oracle());
    for swaps in pools.values().filter(|swaps| format!("{:#x}", swaps[0].pool.address) != POOL) {
        live.configure(&pool_table(swaps[0]));
    }
    let checked = live.server(&["check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let tried = checked.out.matches("its contract pays exactly the computed amount").count();
    assert_eq!((tried, pools.len()), (9, 9), "{}", checked.out);

    let (mut proven, mut equal) = (0, 0);
    record_proven(&mut live, &bottle, first);
    proven += 1;
    for swap in &bottle.swaps {
        let logged = bottle.replay(swap).await;
        assert_eq!(logged, swap.logged(), "{swap:?}");
        equal += 1;
    }
    bottle.pass(second.unix_s() + 24).await;
    record_proven(&mut live, &bottle, second);
    proven += 1;
    for (pool, swaps) in &pools {
        let snapshot = live.snapshot(&id(*pool), second);
        assert_eq!(
            numbers_of(snapshot.observation().state()),
            swaps.last().unwrap().after,
            "{pool}"
        );
    }
    let proof = live.proof(&live.snapshot(&id(POOL.parse().unwrap()), second), true);
    let ProvenWords::Ranges { ticks, .. } = &proof.words else { panic!("{:?}", proof.words) };
    assert!(ticks.len() >= 70 && proof.readings.len() == 2, "{} ticks", ticks.len());
    let file = facts::file("feeds");
    let real =
        file["cases"].as_array().unwrap().iter().find(|case| case["source"] == "zk_evm").unwrap();
    let reading = proof.readings.iter().find(|one| one.feed.to_string() == real["feed"]).unwrap();
    assert_eq!(reading.answer, facts::number(&real["answer"]), "{real}");
    assert_eq!(reading.updated_at, real["updated_at"].as_u64().unwrap(), "{real}");
    println!(
        "reality.bottle: pools tried {tried} of {}, logs equal {equal} of {}, slots proven {proven} of 2",
        pools.len(),
        bottle.swaps.len()
    );

    estimates_and_evidence(&live, &bottle, &node.url(), second).await;
    swaps_are_judged(&live, &bottle, &node.url(), first);
}

/// An estimate is what the pool then pays, and its evidence is valid against the chain's own state.
async fn estimates_and_evidence(live: &Live, bottle: &Bottle, node: &str, slot: Slot) {
    let pool = format!("ethereum:{POOL}");
    let asked = ["estimate", &pool, "--size-usd", "25000", "--json"];
    let recorded = live.exitgap(&[&asked[..], &["--db", "exitgap.db"]].concat());
    let now = live.exitgap(&[&asked[..], &["--rpc", node, "--config", "exitgap.toml"]].concat());
    assert_eq!((recorded.code, now.code), (Some(0), Some(0)), "{recorded:?} {now:?}");
    let (recorded, now) = (recorded.json(), now.json());
    for field in ["amount_in_raw", "amount_out_raw", "exit_gap_pct"] {
        assert!(!recorded[field].is_null() && recorded[field] == now[field], "{recorded} {now}");
    }
    let evidence = ["evidence", &pool, "--size-usd", "25000", "--at", &slot.to_string()];
    let made = live.server(&[&evidence[..], &["--out", "evidence.json"]].concat());
    assert_eq!(made.code, Some(0), "{made:?}");
    let verify = ["verify", "evidence.json", "--trust", "exitgap-log/verifier-key"];
    let verified = live.exitgap(&[&verify[..], &["--rpc", node, "--json"]].concat());
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let report = verified.json();
    let checks: Vec<[&str; 2]> = report["chain"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| ["name", "outcome"].map(|field| check[field].as_str().unwrap()))
        .collect();
    let expected = ["header", "pool_state", "oracle_state", "canonical", "code"];
    assert_eq!(checks, expected.map(|name| [name, "pass"]), "{report}");

    let swap = bottle.swaps.iter().find(|swap| id(swap.pool.address).to_string() == pool).unwrap();
    let raw = |field: &str| recorded[field].as_str().unwrap().parse::<U256>().unwrap();
    let sold = bottle.chain.swap_exact_in(&swap.pool, swap.pool.token1, raw("amount_in_raw"));
    assert_eq!(sold.await.unwrap().amount_out, raw("amount_out_raw"));
}

/// Each real swap is compared with the estimate before it, and judged from the blocks alone.
fn swaps_are_judged(live: &Live, bottle: &Bottle, node: &str, first: Slot) {
    for (pool, swaps) in by_pool(bottle) {
        let (pool, from) = (id(pool).to_string(), first.to_string());
        let asked = ["accuracy", &pool, "--rpc", node, "--db", "exitgap.db", "--from", &from];
        let told = live.exitgap(&[&asked[..], &["--json"]].concat());
        // It is a short record: too few swaps, too few days.
        assert_eq!(told.code, Some(4), "{told:?}");
        let told = told.json();
        let counted = [&told["swaps"], &told["compared"], &told["stretches_incomplete"]];
        assert_eq!(counted, [&json!(swaps.len()), &json!(swaps.len()), &json!(0)], "{told}");
    }
    let folder = TempDir::new().unwrap();
    let cases = folder.path().join("swaps.json");
    let judged = reality_node::run(&bottle.chain.url(), "40", &cases);
    let count = |figures: &Value, name: &str| figures[format!("reality.{name}")].as_u64().unwrap();
    let honest = reality_node::figures(&judged, 0);
    // The last one is the sale that was estimated.
    assert_eq!(count(&honest, "swaps"), u64::try_from(bottle.swaps.len()).unwrap() + 1, "{honest}");
    let as_computed = count(&honest, "equal") + count(&honest, "exact_output");
    assert_eq!((as_computed, count(&honest, "wrong")), (count(&honest, "swaps"), 0), "{honest}");
    for [all, proven] in [["states", "states_proven"], ["blocks", "blocks_proven"]] {
        assert_eq!(count(&honest, all), count(&honest, proven), "{honest}");
    }
    assert!(count(&honest, "unknown_kinds") == 0 && !cases.exists(), "{honest}");

    // Where the node lies about logs, each swap of a pool of ranges is wrong.
    let liar = Proxy::start(&bottle.chain.url());
    reality_node::lie_about_prices(&liar);
    let lied = reality_node::figures(&reality_node::run(&liar.url(), "40", &cases), 1);
    let of_ranges = bottle.swaps.iter().filter(|swap| swap.pool.kind == PoolKind::V3).count();
    assert_eq!(count(&lied, "wrong"), u64::try_from(of_ranges).unwrap() + 1, "{lied}");
    assert!(cases.exists());
}

/// The controls: with one other word, what is asserted above is not so.
#[tokio::test(flavor = "multi_thread")]
async fn with_another_word_other_things_happen() {
    let address = |pool: &str| pool.parse::<Address>().unwrap();
    // The pool's liquidity and the lower digits of its price.
    for slot in ["0x4", "0x0"] {
        let bottle = Bottle::fill_with(|facts| {
            let word = word_of(facts, address(LINK_POOL), slot);
            let number = facts::number(word) + U256::from(1_u64 << 60);
            *word = json!(format!("{number:#x}"));
        })
        .await;
        let swap = bottle.swaps.iter().find(|swap| swap.pool.address == address(LINK_POOL));
        let swap = swap.unwrap();
        assert_ne!(bottle.replay(swap).await, swap.logged(), "{slot}");
    }
}
