//! The figure file of a tokenized stock: one month, with one recorded slot for each session of each day.

use serde_json::{Value, json};

use super::figure::{failed, report_on_all};
use super::*;
use crate::analytics::equity::tests::{DAYS, balance, facts, month, on, share, terms, told, usual};
use crate::analytics::equity::{EquityKind, EquityPass, EquityTerms};
use crate::analytics::figure::{FigurePass, FigureUse, write_figure};
use crate::analytics::list_standing_slots;

fn id() -> PoolId {
    PoolId::new("anvil".parse().unwrap(), Address([0xaa; 20]))
}

/// A token whose multiplier changes on a Monday and that is paused from the day before.
fn scaled(at: Slot) -> Observation {
    let due = on(9, 13, 30).unix_s();
    let facts = match at {
        _ if at < on(6, 4, 0) => facts(1_000, 0, 0, 0),
        _ if at >= on(9, 14, 0) => facts(1_020, 1_020, due, 0),
        _ => facts(1_000, 1_020, due, u128::from(at >= on(8, 12, 0))),
    };
    usual(&id(), at, facts)
}

/// A rebasing token in a pair that once fails to notice a balance change.
fn rebasing(at: Slot) -> Observation {
    let reserve = 40_000_000_000_000_000;
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    let state = ConstantProduct::new([reserve, reserve * 101 / 100], fee).unwrap().into();
    let multiplier = if at < on(15, 0, 0) { 1_000 } else { 1_003 };
    let held = if at == on(20, 14, 0) { 90_000_000 } else { reserve };
    let facts = [facts(multiplier, 0, 0, 0), vec![balance(&id(), held)]].concat();
    share(&id(), at, state, 1_005, at.unix_s() - 7_200, facts)
}

fn scene(days: u32, seen: fn(Slot) -> Observation) -> Scene {
    let series = Series { id: id(), depths: Vec::new(), snapshots: Vec::new(), heads: Vec::new() };
    let mut scene = Scene { pools: vec![series], leaves: Vec::new() };
    let standing = month();
    for index in 0..days * Slot::PER_DAY {
        let (slot, series) = (slot(index), &mut scene.pools[0]);
        let stands = standing.contains(&slot);
        let snapshot = stands.then(|| Snapshot::new(slot, seen(slot)).unwrap());
        extend(series, slot, snapshot.as_ref().ok_or(MissingReason::ChainLagging));
        let (hashes, commits) = (scene.head_hashes(index), Commits::default());
        let leaf = SlotLeaf { slot, pools: 1, root: root(&hashes), commits };
        scene.leaves.push(leaf.to_canonical().unwrap());
    }
    scene
}

fn file(scene: &Scene, terms: &EquityTerms) -> Vec<u8> {
    let heads = scene.pools[0].heads.iter().map(|bytes| Head::from_canonical(bytes).unwrap());
    let heads: Vec<Head> = heads.collect();
    let mut scan = EquityPass::new(terms.clone()).unwrap();
    let mut uses = Vec::new();
    let pool = id();
    for (slot, snapshot) in list_standing_slots(&heads) {
        let documents = scene.documents(0, slot).unwrap();
        let read = Snapshot::of_pool(&pool, &documents.snapshot, &documents.state).unwrap();
        scan.add_snapshot(&pool, slot, read.observation().clone()).unwrap();
        uses.push(FigureUse { pool: pool.clone(), slot, snapshot });
    }
    // A window contains seven days of heads.
    let slots = heads.len();
    let ends = (1..=slots).filter(|end| (slots - end).is_multiple_of(2_016));
    let mut begin = 0;
    let windows: Vec<Vec<u8>> =
        ends.map(|end| scene.window_of(0, core::mem::replace(&mut begin, end)..end)).collect();
    write_figure(terms, &windows, &uses, Vec::new(), &scan.finish().unwrap()).unwrap()
}

#[test]
fn a_month_of_a_share_is_recomputed_from_its_file() {
    let scene = scene(DAYS, scaled);
    let terms = terms(&id(), DAYS, told(EquityKind::ScaledUi));
    let bytes = file(&scene, &terms);
    assert_eq!(report_on_all(&scene, &bytes).verdict, Verdict::Valid);
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    let result = &value["result"];
    assert_eq!(result["slots_corporate_action"], 3, "{result}");
    assert_eq!((&result["have_regular_sessions"], &result["enough"]), (&json!(20), &json!(true)));
    let events: Vec<&str> = result["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(events, ["scheduled", "paused", "multiplier_changed", "resumed"]);

    let told = |change: &dyn Fn(&mut Value)| {
        let mut value = value.clone();
        change(&mut value);
        failed(&report_on_all(&scene, &canonical(&value))).map(|(_, code)| code)
    };
    let changed = told(&|value| value["result"]["events"] = json!([]));
    assert_eq!(changed, Some("result_mismatch"));
    for (name, to, code) in [
        ("size_usd", json!("101"), "result_mismatch"),
        ("gap_pct", json!("1"), "result_mismatch"),
        ("base", json!("token1"), "result_mismatch"),
        ("multiplier_decimals", json!(17), "result_mismatch"),
        ("kind", json!("rebasing"), "result_mismatch"),
        ("paused_fact", json!(null), "result_mismatch"),
        ("paused_fact", json!("resumed"), "result_mismatch"),
        ("calendars", json!([]), "figure_calendars"),
        ("gap_pct", json!("2.0"), "format_invalid"),
        ("gap_pct", json!("0"), "format_invalid"),
        ("kind", json!("gold"), "format_invalid"),
        ("multiplier_decimals", json!(37), "format_invalid"),
        ("multiplier_fact", json!(null), "format_invalid"),
        ("multiplier_fact", json!("Not"), "format_invalid"),
        ("from", json!(0), "format_invalid"),
    ] {
        assert_eq!(told(&|value| value["parameters"][name] = to.clone()), Some(code), "{name}");
    }
}

/// Vectors for verifiers in other languages.
#[cfg(not(target_family = "wasm"))]
#[test]
fn the_vectors_of_equities_are_these() {
    let result = |bytes: &[u8]| -> Value {
        let value: Value = serde_json::from_slice(bytes).unwrap();
        value["result"].clone()
    };
    let scaled = scene(12, scaled);
    let bytes = file(&scaled, &terms(&id(), 12, told(EquityKind::ScaledUi)));
    figure::is_vector("equity_short", &scaled, &bytes);
    let told_short = result(&bytes);
    assert_eq!((&told_short["enough"], &told_short["exact"]), (&json!(false), &json!(true)));
    assert_eq!(told_short["events"].as_array().unwrap().len(), 4);

    let rebasing = scene(DAYS, rebasing);
    let mut of = terms(&id(), DAYS, told(EquityKind::Rebasing));
    of.limit = "1.5".parse().unwrap();
    let bytes = file(&rebasing, &of);
    figure::is_vector("equity", &rebasing, &bytes);
    let told = result(&bytes);
    assert_eq!((&told["enough"], &told["exact"]), (&json!(true), &json!(false)), "{told}");
    assert_eq!(
        (&told["balance"]["slots"], &told["balance"]["slots_short"]),
        (&json!(111), &json!(1))
    );
    assert!(told["basis_to_last_close_pct_q50"].is_string());
}
