//! Figure files: what they prove, and how changed files fail.

#![allow(clippy::single_range_in_vec_init, reason = "one window is a list of one range of heads")]

use serde_json::{Value, json};

use super::*;
use crate::analytics::FigureVenue;
use crate::analytics::accuracy::Fills;
use crate::analytics::decay::{DecayPass, DecayTerms};
use crate::analytics::exposure::{ExposureTerms, Liquidation};
use crate::analytics::figure::{
    Figure, FigureCheckName, FigurePass, FigureReport, FigureUse, FigureVerifier, FigureWant,
    write_figure,
};
use crate::analytics::list_standing_slots;
use crate::analytics::stress::{AfterMove, Shock, StressTerms};
use crate::ids::SnapshotHash;
use crate::snapshot::Observation;
use crate::units::GapLimit;

/// A pool whose price depends on its liquidity: up to six percent between two slots.
pub(super) fn moving(liquidity: i128) -> PoolState {
    let tick = i32::try_from(liquidity / 1_000_000_000).unwrap() * 150 - 900;
    let ticks = vec![Tick::new(-6_000, liquidity), Tick::new(6_000, -liquidity)];
    let (price, active) = (sqrt_ratio_at_tick(tick).unwrap(), u128::try_from(liquidity).unwrap());
    Concentrated::new(price, tick, active, 3_000, 60, ticks).unwrap().into()
}

fn moving_scene(slots: u32) -> Scene {
    let id = |last: u8| PoolId::new("anvil".parse().unwrap(), Address([last; 20]));
    let kinds: [(PoolId, Kind); 2] = [(id(0xaa), moving), (id(0xbb), |_| pair())];
    scene_of(slots, 5_000_000_000, MissingReason::ChainLagging, &kinds)
}

fn terms(scene: &Scene, from: u32, to: u32) -> DecayTerms {
    DecayTerms {
        pool: scene.pools[0].id.clone(),
        base: Base::Token0,
        from: slot(from),
        to: slot(to),
        move_e8: 2_000_000,
        within_slots: 3,
        gap: GapLimit::DEPTH,
    }
}

/// The figure file of a period with the windows of these ranges of heads.
fn file(scene: &Scene, terms: &DecayTerms, windows: &[Range<usize>]) -> Vec<u8> {
    let heads: Vec<Head> =
        scene.pools[0].heads.iter().map(|bytes| Head::from_canonical(bytes).unwrap()).collect();
    let windows: Vec<_> = windows.iter().map(|heads| scene.window_of(0, heads.clone())).collect();
    let mut scan = DecayPass::new(terms.clone()).unwrap();
    let mut uses = Vec::new();
    let within = |slot: &Slot| (terms.from..=terms.to).contains(slot);
    for (slot, snapshot) in list_standing_slots(&heads).into_iter().filter(|(slot, _)| within(slot))
    {
        let documents = scene.documents(0, slot).unwrap();
        let read = Snapshot::of_pool(&terms.pool, &documents.snapshot, &documents.state).unwrap();
        scan.add_snapshot(&terms.pool, slot, read.observation().clone()).unwrap();
        uses.push(FigureUse { pool: terms.pool.clone(), slot, snapshot });
    }
    write_figure(terms, &windows, &uses, Vec::new(), &scan.finish().unwrap()).unwrap()
}

/// The report on a file when all of its snapshots are available.
fn report_on(scene: &Scene, file: &[u8]) -> FigureReport {
    let mut verifier = FigureVerifier::new(file, &[signer().verifier()]);
    while let Some(FigureWant::Snapshot(wanted)) = verifier.next_want() {
        let index = wanted.slot.number().checked_sub(Slot::FIRST.number());
        let series = &scene.pools[0].snapshots;
        let documents = index.and_then(|index| series.get(index as usize).cloned()).flatten();
        verifier.add_snapshot(documents.as_ref());
    }
    verifier.finish()
}

pub(super) fn failed(report: &FigureReport) -> Option<(FigureCheckName, &'static str)> {
    let check = report.checks.iter().find(|check| check.outcome == Outcome::Fail);
    check.map(|check| (check.name, check.code))
}

#[test]
fn a_figure_is_recomputed_from_its_file() {
    let scene = moving_scene(70);
    let terms = terms(&scene, 4, 69);
    let bytes = file(&scene, &terms, &[0..70]);
    let report = report_on(&scene, &bytes);
    assert_eq!(report.verdict, Verdict::Valid, "{report:#?}");
    let leaves = report.check(FigureCheckName::SealedLeaves).unwrap();
    assert_eq!((leaves.outcome, leaves.code), (Outcome::NotChecked, "no_leaves"));
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    assert!(!value["result"]["events"].as_array().unwrap().is_empty());
    assert_eq!(value["uses"].as_array().unwrap().len(), 66);
    // Without its snapshots, or without a key, the file is neither valid nor invalid.
    let unfed = FigureVerifier::new(&bytes, &[signer().verifier()]);
    assert_eq!(unfed.progress(), (0, 66));
    let report = unfed.finish();
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert_eq!(report.check(FigureCheckName::Result).unwrap().code, "snapshots_absent");
    let report = FigureVerifier::new(&bytes, &[]).finish();
    assert_eq!(report.check(FigureCheckName::Signature).unwrap().code, "no_trusted_key");
}

#[test]
fn a_period_longer_than_a_window_has_several_that_follow_each_other() {
    let scene = moving_scene(2_100);
    let terms = terms(&scene, 20, 2_099);
    let whole = file(&scene, &terms, &[0..84, 84..2_100]);
    let report = report_on(&scene, &whole);
    assert_eq!(report.verdict, Verdict::Valid, "{report:#?}");
    // A head between the windows is left out, or the windows do not match the period.
    for windows in [&[0..83, 84..2_100][..], &[84..2_100], &[0..84], &[84..2_100, 0..84], &[]] {
        let report = report_on(&scene, &file(&scene, &terms, windows));
        let (name, code) = failed(&report).unwrap();
        assert_eq!((name, code), (FigureCheckName::Windows, "windows_invalid"), "{windows:?}");
    }
}

#[test]
fn a_figure_of_selected_slots_is_refused() {
    let scene = moving_scene(60);
    let terms = terms(&scene, 4, 59);
    let bytes = file(&scene, &terms, &[0..60]);
    let mut value: Value = serde_json::from_slice(&bytes).unwrap();
    value["uses"].as_array_mut().unwrap().remove(20);
    let report = report_on(&scene, &canonical(&value));
    assert_eq!(failed(&report), Some((FigureCheckName::Uses, "uses_mismatch")));
    let mut another = FigureVerifier::new(&bytes, &[signer().verifier()]);
    another.add_snapshot(scene.documents(0, slot(5)).as_ref());
    let report = another.finish();
    assert_eq!(failed(&report), Some((FigureCheckName::Snapshots, "snapshot_hash_mismatch")));
    let stranger = SignerKey::from_seed(ORIGIN, [7; 32]).unwrap().verifier();
    let report = FigureVerifier::new(&bytes, &[stranger]).finish();
    assert_eq!(failed(&report), Some((FigureCheckName::Signature, "signature_not_trusted")));
}

/// A pointer to every value of a document that is neither an array nor an object.
pub(super) fn leaves(value: &Value, path: &str, into: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                leaves(item, &format!("{path}/{index}"), into);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                leaves(field, &format!("{path}/{name}"), into);
            }
        }
        _ => into.push(path.to_owned()),
    }
}

pub(super) fn another(value: &Value) -> Value {
    match value {
        Value::Null => json!("1"),
        Value::Bool(value) => json!(!value),
        Value::Number(number) => json!(number.as_i64().unwrap() + 1),
        Value::String(text) if text.is_empty() => json!("1"),
        Value::String(text) => {
            let mut bytes = text.clone().into_bytes();
            let middle = bytes.len() / 2;
            bytes[middle] = if bytes[middle] == b'1' { b'2' } else { b'1' };
            json!(String::from_utf8(bytes).unwrap())
        }
        _ => Value::Null,
    }
}

#[test]
fn no_field_of_a_file_can_be_changed() {
    let scene = moving_scene(20);
    let terms = terms(&scene, 4, 19);
    let bytes = file(&scene, &terms, &[0..20]);
    assert_eq!(report_on(&scene, &bytes).verdict, Verdict::Valid);
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    let mut places = Vec::new();
    leaves(&value, "", &mut places);
    assert!(places.len() > 200, "{}", places.len());
    for place in places {
        let mut changed = value.clone();
        let leaf = changed.pointer_mut(&place).unwrap();
        *leaf = another(leaf);
        let report = report_on(&scene, &canonical(&changed));
        assert_ne!(report.verdict, Verdict::Valid, "{place}");
        let later = ["/v", "/figure", "/method"].contains(&place.as_str());
        assert!(
            later || report.verdict == Verdict::Invalid || place.ends_with("/v"),
            "{place}: {report:#?}"
        );
    }
}

/// A deep pair whose reserves depend on the liquidity.
pub(super) fn deep_pair(liquidity: i128) -> PoolState {
    let reserve = u128::try_from(liquidity).unwrap() / 3;
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    PoolState::ConstantProduct(ConstantProduct::new([reserve, reserve * 2], fee).unwrap())
}

/// A thin concentrated-liquidity pool with a constant price.
pub(super) fn thin(liquidity: i128) -> PoolState {
    let liquidity = liquidity / 4;
    let ticks = vec![Tick::new(-900, liquidity), Tick::new(1_200, -liquidity)];
    let (price, active) = (sqrt_ratio_at_tick(150).unwrap(), u128::try_from(liquidity).unwrap());
    Concentrated::new(price, 150, active, 500, 10, ticks).unwrap().into()
}

/// The inputs of a file of several pools.
pub(super) struct Gathered {
    pub windows: Vec<Vec<u8>>,
    pub uses: Vec<FigureUse>,
    pub observations: Vec<Observation>,
}

/// The windows and the recorded snapshots of a period, for all pools of a scene.
pub(super) fn gathered(
    scene: &Scene,
    pools: &[&PoolId],
    period: core::ops::RangeInclusive<Slot>,
) -> Gathered {
    let mut slots: Vec<(Slot, usize, SnapshotHash)> = Vec::new();
    let mut windows = Vec::new();
    for (place, series) in scene.pools.iter().enumerate() {
        if !pools.contains(&&series.id) {
            continue;
        }
        let heads: Vec<Head> =
            series.heads.iter().map(|bytes| Head::from_canonical(bytes).unwrap()).collect();
        windows.push(scene.window_of(place, 0..heads.len()));
        let stand =
            list_standing_slots(&heads).into_iter().filter(|(slot, _)| period.contains(slot));
        slots.extend(stand.map(|(slot, hash)| (slot, place, hash)));
    }
    slots.sort_unstable_by_key(|(slot, place, _)| (*slot, *place));
    let (mut uses, mut observations) = (Vec::new(), Vec::new());
    for (slot, place, snapshot) in slots {
        let pool = &scene.pools[place].id;
        let documents = scene.documents(place, slot).unwrap();
        let read = Snapshot::of_pool(pool, &documents.snapshot, &documents.state).unwrap();
        observations.push(read.observation().clone());
        uses.push(FigureUse { pool: pool.clone(), slot, snapshot });
    }
    Gathered { windows, uses, observations }
}

/// The file of any figure over all pools of a scene.
pub(super) fn file_of<F: Figure>(scene: &Scene, figure: &F) -> Vec<u8> {
    let (from, to) = figure.period();
    let Gathered { windows, uses, observations } = gathered(scene, &figure.pools(), from..=to);
    let mut pass = figure.clone().pass().unwrap();
    for (of, observation) in uses.iter().zip(observations) {
        pass.add_snapshot(&of.pool, of.slot, observation).unwrap();
    }
    write_figure(figure, &windows, &uses, Vec::new(), &pass.finish().unwrap()).unwrap()
}

/// A scene of two pools over a dozen slots, and both as venues.
pub(super) fn two_venues(kinds: [Kind; 2], base: Base) -> (Scene, Vec<FigureVenue>) {
    let id = |last: u8| PoolId::new("anvil".parse().unwrap(), Address([last; 20]));
    let kinds = [(id(0xaa), kinds[0]), (id(0xbb), kinds[1])];
    let scene = scene_of(12, 5_000_000_000, MissingReason::ChainLagging, &kinds);
    let venue = |(pool, _): &(PoolId, Kind)| FigureVenue { pool: pool.clone(), base };
    (scene, kinds.iter().map(venue).collect())
}

/// The exposure figure of two venues.
pub(super) fn exposure_of(
    kinds: [Kind; 2],
    cascade: &str,
    base: Base,
    fall_e8: u32,
) -> (Scene, Vec<u8>) {
    let (scene, venues) = two_venues(kinds, base);
    let terms = ExposureTerms {
        venues,
        from: slot(0),
        to: slot(11),
        cascade: cascade.parse().unwrap(),
        liquidation: Liquidation { bonus_e8: 7_500_000, protocol_fee_e8: 10_000_000, fall_e8 },
        reference: None,
    };
    let bytes = file_of(&scene, &terms);
    (scene, bytes)
}

/// The stress figure of two venues.
fn stress_of(
    kinds: [Kind; 2],
    size: &str,
    base: Base,
    shock: Shock,
    limit: Option<&str>,
) -> (Scene, Vec<u8>) {
    stress_after(kinds, size, base, shock, limit, None)
}

/// The stress figure in the slots after a move.
fn stress_after(
    kinds: [Kind; 2],
    size: &str,
    base: Base,
    shock: Shock,
    limit: Option<&str>,
    after: Option<AfterMove>,
) -> (Scene, Vec<u8>) {
    let (scene, venues) = two_venues(kinds, base);
    let terms = StressTerms {
        venues,
        from: slot(0),
        to: slot(11),
        size: size.parse().unwrap(),
        shock,
        limit: limit.map(|limit| limit.parse().unwrap()),
        after,
        reference: None,
    };
    let bytes = file_of(&scene, &terms);
    (scene, bytes)
}

/// The report on a file with the snapshots of all pools of its scene.
pub(super) fn report_on_all(scene: &Scene, file: &[u8]) -> FigureReport {
    report_with(scene, file, &[])
}

/// The same with these documents of logs.
pub(super) fn report_with(scene: &Scene, file: &[u8], fills: &[Vec<u8>]) -> FigureReport {
    let mut verifier = FigureVerifier::new(file, &[signer().verifier()]);
    while let Some(wanted) = verifier.next_want() {
        match wanted {
            FigureWant::Snapshot(wanted) => {
                let place = scene.pools.iter().position(|series| series.id == wanted.pool);
                let documents = place.and_then(|place| scene.documents(place, wanted.slot));
                verifier.add_snapshot(documents.as_ref());
            }
            FigureWant::Fills(wanted) => {
                let is_wanted = |one: &&Vec<u8>| Fills::hash_of(one) == wanted.document;
                let found = fills.iter().find(is_wanted);
                verifier.take_fills(found.map(Vec::as_slice));
            }
        }
    }
    verifier.finish()
}

#[test]
fn a_figure_of_several_pools_wants_all_of_them_in_their_order() {
    let (scene, bytes) = exposure_of([moving, deep_pair], "1500", Base::Token0, 20_000_000);
    assert_eq!(report_on_all(&scene, &bytes).verdict, Verdict::Valid);
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    let result = &value["result"];
    assert_eq!((&result["have_slots"], &result["slots_incomplete"]), (&json!(11), &json!(1)));
    let told = |change: &dyn Fn(&mut Value)| {
        let mut value = value.clone();
        change(&mut value);
        failed(&report_on_all(&scene, &canonical(&value))).map(|(_, code)| code)
    };
    let swap = |list: &str| {
        let list = list.to_owned();
        move |value: &mut Value| value[&list].as_array_mut().unwrap().swap(0, 1)
    };
    assert_eq!(told(&swap("uses")), Some("uses_mismatch"));
    assert_eq!(told(&swap("windows")), Some("windows_invalid"));
    assert_eq!(
        told(&|value| drop(value["windows"].as_array_mut().unwrap().pop())),
        Some("windows_invalid")
    );
    assert_eq!(
        told(&|value| drop(value["uses"].as_array_mut().unwrap().pop())),
        Some("uses_mismatch")
    );
    assert_eq!(
        told(&|value| value["parameters"]["fall_pct"] = json!("21")),
        Some("result_mismatch")
    );
    assert_eq!(
        told(&|value| value["parameters"]["fall_pct"] = json!("20.0")),
        Some("format_invalid")
    );
    assert_eq!(
        told(&|value| value["parameters"]["fall_pct"] = json!("100")),
        Some("format_invalid")
    );
    let twice = |value: &mut Value| {
        let venue = value["parameters"]["venues"][0].clone();
        value["parameters"]["venues"][1] = venue;
    };
    assert_eq!(told(&twice), Some("format_invalid"));
}

#[test]
fn no_term_of_a_stress_can_be_changed() {
    let shock = Shock { haircut_e8: 35_000_000, fall_e8: 12_500_000 };
    let (scene, bytes) =
        stress_of([moving, deep_pair], "1500", Base::Token0, shock, Some("-99.28"));
    assert_eq!(report_on_all(&scene, &bytes).verdict, Verdict::Valid);
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    let told = |field: &str, to: Value| {
        let mut value = value.clone();
        value["parameters"][field] = to;
        failed(&report_on_all(&scene, &canonical(&value))).map(|(_, code)| code)
    };
    for (field, to) in [("haircut_pct", "36"), ("fall_pct", "12"), ("size_usd", "1501")] {
        assert_eq!(told(field, json!(to)), Some("result_mismatch"), "{field}");
    }
    assert_eq!(told("limit_pct", json!(null)), Some("result_mismatch"));
    assert_eq!(told("after_move_pct", json!("1")), Some("format_invalid"), "without within_slots");
    for (field, to) in
        [("haircut_pct", "35.0"), ("fall_pct", "99.1"), ("limit_pct", "101"), ("size_usd", "0")]
    {
        assert_eq!(told(field, json!(to)), Some("format_invalid"), "{field}");
    }
}

/// A figure and its snapshots, for verifiers in other languages. Rewritten if `EXITGAP_WRITE_VECTORS` is set.
#[cfg(not(target_family = "wasm"))]
#[test]
fn the_vectors_are_these() {
    let scene = moving_scene(64);
    let terms = terms(&scene, 2, 63);
    let bytes = file(&scene, &terms, &[0..64]);
    is_vector("decay", &Scene { pools: vec![scene.pools[0].clone()], ..scene }, &bytes);
    let result = |bytes: &[u8]| -> Value {
        let value: Value = serde_json::from_slice(bytes).unwrap();
        value["result"].clone()
    };
    let (scene, bytes) = exposure_of([moving, deep_pair], "1500", Base::Token0, 20_000_000);
    is_vector("exposure", &scene, &bytes);
    assert!(result(&bytes)["worst_gap_pct"].is_string());
    let (scene, bytes) = exposure_of([thin, moving], "3600000", Base::Token1, 3_141_593);
    is_vector("exposure_thin", &scene, &bytes);
    let told = result(&bytes);
    let unfillable = told["slots_unfillable"].as_u64().unwrap();
    assert!(unfillable > 0 && unfillable < told["have_slots"].as_u64().unwrap(), "{told}");
    let (scene, bytes) = exposure_of([thin_and_deep, deep_pair], "0.5", Base::Token0, 0);
    is_vector("exposure_still", &scene, &bytes);
    let shock = Shock { haircut_e8: 35_000_000, fall_e8: 12_500_000 };
    let (scene, bytes) =
        stress_of([moving, deep_pair], "1500", Base::Token0, shock, Some("-99.28"));
    is_vector("stress", &scene, &bytes);
    let told = result(&bytes);
    assert!(told["above_slots"].as_u64().unwrap() > 0 && told["slots_incomplete"] == 1, "{told}");
    let shock = Shock { haircut_e8: 41_421_357, fall_e8: 0 };
    let (scene, bytes) = stress_of([thin, moving], "2400000", Base::Token1, shock, None);
    is_vector("stress_thin", &scene, &bytes);
    let told = result(&bytes);
    let unfillable = told["slots_unfillable"].as_u64().unwrap();
    assert!(unfillable > 0 && unfillable < told["have_slots"].as_u64().unwrap(), "{told}");
    let (scene, bytes) = stress_of(
        [thin_and_deep, deep_pair],
        "250000",
        Base::Token0,
        Shock::default(),
        Some("-0.5"),
    );
    is_vector("stress_still", &scene, &bytes);
    let after = Some(AfterMove { move_e8: 4_000_000, within_slots: 2 });
    let of = ([moving, deep_pair], "1500", Base::Token0);
    let (scene, bytes) = stress_after(of.0, of.1, of.2, shock, None, after);
    is_vector("stress_after_move", &scene, &bytes);
    let told = result(&bytes);
    let counts = ["have_slots", "slots_unmoved", "slots_untestable"].map(|at| told[at].as_u64());
    assert!(counts.iter().all(|count| count.unwrap() > 0), "{told}");
}

/// The same pool, deeper and with a constant price.
#[cfg(not(target_family = "wasm"))]
fn thin_and_deep(liquidity: i128) -> PoolState {
    thin(liquidity * 50)
}

#[cfg(not(target_family = "wasm"))]
pub(super) fn is_vector(name: &str, scene: &Scene, bytes: &[u8]) {
    is_vector_with(name, scene, bytes, &[]);
}

/// The same for a figure that also uses these documents of logs.
#[cfg(not(target_family = "wasm"))]
pub(super) fn is_vector_with(name: &str, scene: &Scene, bytes: &[u8], fills: &[Vec<u8>]) {
    let report = report_with(scene, bytes, fills);
    assert_eq!(report.verdict, Verdict::Valid, "{report:#?}");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let documents = scene.pools.iter().flat_map(|series| series.snapshots.iter().flatten());
    let snapshots: Vec<Value> = documents
        .map(|documents| json!([text(&documents.snapshot), text(&documents.state)]))
        .collect();
    let key = signer().verifier().to_string();
    let mut found = json!({ "figure": text(bytes), "keys": [key], "snapshots": snapshots });
    if !fills.is_empty() {
        found["fills"] = fills.iter().map(|document| json!(text(document))).collect();
    }
    let found = format!("{}\n", serde_json::to_string_pretty(&found).unwrap());
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/figures");
    let path = format!("{folder}/{name}.json");
    if std::env::var_os("EXITGAP_WRITE_VECTORS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "set EXITGAP_WRITE_VECTORS to write it anew");
}
