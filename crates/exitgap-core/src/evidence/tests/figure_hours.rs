//! The figure file of market hours: a week of a tokenized stock, with one recorded slot every three hours.

use serde_json::{Value, json};

use super::figure::{failed, report_on_all};
use super::*;
use crate::analytics::FigureError;
use crate::analytics::figure::{FigurePass, FigureUse, write_figure};
use crate::analytics::hours::{HoursPass, HoursTerms};
use crate::analytics::list_standing_slots;
use crate::hours::{Calendar, Hours};
use crate::snapshot::{RoundData, TokenSession};

/// From Saturday to Friday: four nights, one weekend and the beginning of another.
const SLOTS: u32 = 7 * Slot::PER_DAY;

fn calendar() -> Calendar {
    Calendar::for_exchange("XNYS", Hours::Regular).unwrap()
}

/// A token whose pool is deep while its market is open. Its oracle price rises each day, one hour after the opening,
/// and on every second day three hours after it.
fn share(id: &PoolId, slot: Slot) -> Snapshot {
    let day = u64::from((slot.number() - Slot::FIRST.number()) / Slot::PER_DAY);
    let at = slot.unix_s() - 12;
    let opening = Slot::FIRST.unix_s() + day * 86_400 + 48_600 + 3_600 + day % 2 * 7_200;
    let is_open = calendar().market(at).is_open();
    // The newest round: of this day, or the last one before its opening.
    let (updated_at, price) = if is_open && at >= opening {
        (at, 2_000 + 2 * day)
    } else {
        (Slot::FIRST.unix_s() + day * 86_400 - 14_400, 1_998 + 2 * day)
    };
    let plain =
        snapshot(id, concentrated(if is_open { 5_000_000_000 } else { 2_000_000_000 }), slot);
    let told = plain.observation();
    let reading = |index: u8| OracleReading {
        role: OracleRole::TokenUsd(index),
        answer: U256::from(if index == 0 { price } else { 2_000 }),
        decimals: 3,
        source: OracleSource::Chainlink(RoundData {
            feed: Address([7; 20]),
            round: 1,
            updated_at,
            heartbeat_s: 3_600,
        }),
    };
    let observation = Observation::new(
        id.clone(),
        told.chain(),
        told.block(),
        told.tokens().clone(),
        told.state().clone(),
        vec![reading(0), reading(1)],
        Vec::new(),
    );
    let sessions = vec![TokenSession { token: 0, calendar: calendar() }];
    Snapshot::new(slot, observation.unwrap().with_sessions(sessions).unwrap()).unwrap()
}

fn week() -> Scene {
    let id = PoolId::new("anvil".parse().unwrap(), Address([0xaa; 20]));
    let series = Series { id, depths: Vec::new(), snapshots: Vec::new(), heads: Vec::new() };
    let mut scene = Scene { pools: vec![series], leaves: Vec::new() };
    for index in 0..SLOTS {
        let (slot, series) = (slot(index), &mut scene.pools[0]);
        let snapshot = (index % 36 == 5).then(|| share(&series.id, slot));
        extend(series, slot, snapshot.as_ref().ok_or(MissingReason::ChainLagging));
        let (hashes, commits) = (scene.head_hashes(index), Commits::default());
        let leaf = SlotLeaf { slot, pools: 1, root: root(&hashes), commits };
        scene.leaves.push(leaf.to_canonical().unwrap());
    }
    scene
}

fn terms(scene: &Scene, base: Base, sessions: Vec<TokenSession>) -> HoursTerms {
    HoursTerms {
        pool: scene.pools[0].id.clone(),
        base,
        from: slot(0),
        to: slot(SLOTS - 1),
        size: "25".parse().unwrap(),
        sessions,
    }
}

fn file(scene: &Scene, terms: &HoursTerms) -> Result<Vec<u8>, FigureError> {
    let heads = scene.pools[0].heads.iter().map(|bytes| Head::from_canonical(bytes).unwrap());
    let heads: Vec<Head> = heads.collect();
    let mut scan = HoursPass::new(terms.clone())?;
    let mut uses = Vec::new();
    for (slot, snapshot) in list_standing_slots(&heads) {
        let documents = scene.documents(0, slot).unwrap();
        let read = Snapshot::of_pool(&terms.pool, &documents.snapshot, &documents.state).unwrap();
        scan.add_snapshot(&terms.pool, slot, read.observation().clone())?;
        uses.push(FigureUse { pool: terms.pool.clone(), slot, snapshot });
    }
    let windows = [scene.window_of(0, 0..SLOTS as usize)];
    Ok(write_figure(terms, &windows, &uses, Vec::new(), &scan.finish()?).unwrap())
}

fn own() -> Vec<TokenSession> {
    vec![TokenSession { token: 0, calendar: calendar() }]
}

#[test]
fn a_week_of_a_share_is_recomputed_from_its_file() {
    let scene = week();
    let bytes = file(&scene, &terms(&scene, Base::Token0, own())).unwrap();
    assert_eq!(report_on_all(&scene, &bytes).verdict, Verdict::Valid);
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    let result = &value["result"];
    assert_eq!((&result["have_slots"], &result["slots_missing"]), (&json!(56), &json!(SLOTS - 56)));
    let [night, weekend, holiday] = result["closed"].as_array().unwrap().as_slice() else {
        panic!("{result}")
    };
    let had = |kind: &Value| (kind["have"].as_u64().unwrap(), kind["enough"].as_bool().unwrap());
    assert_eq!((had(night), had(weekend), had(holiday)), ((4, true), (2, false), (0, false)));
    // On each of five days two recorded slots are in the session; all others are in closures.
    assert_eq!(result["open"]["slots"], 10);
    let slots: u64 = [night, weekend, holiday]
        .map(|kind| kind["spread"]["slots"].as_u64().unwrap())
        .iter()
        .sum();
    assert_eq!(slots, 46);
    assert_eq!(
        (&night["thin_when_closed"], &weekend["thin_when_closed"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(weekend["spread"]["depth_q50_usd"], Value::Null);
    // Every closure except the last is matched with its day's first slot that has a round since the opening: the first
    // recorded slot (15:25) if the round came after one hour, and the second (18:25) if it came after three.
    let closures = result["closures"].as_array().unwrap();
    let reopened: Vec<u64> =
        closures.iter().filter_map(|closure| closure["reopened_slot"].as_u64()).collect();
    let first = u64::from(Slot::FIRST.number());
    let expected = (2..7).map(|day| first + day * 288 + if day % 2 == 0 { 185 } else { 221 });
    assert_eq!(reopened, expected.collect::<Vec<_>>());
    assert_eq!((closures.len(), &closures[5]["reopened_slot"]), (6, &Value::Null));
    let told = |closure: &Value| closure["reopening_gap_pct"].as_str().unwrap().to_owned();
    assert!(closures[..5].iter().all(|closure| told(closure).starts_with("0.")), "{closures:?}");
    assert!(night["reopening_gap_pct_worst"].is_string());
}

#[test]
fn a_figure_of_other_calendars_or_of_other_terms_is_refused() {
    let scene = week();
    let none = file(&scene, &terms(&scene, Base::Token0, Vec::new()));
    assert_eq!(none.unwrap_err().code(), "figure_calendars");
    let twice = [own(), own()].concat();
    assert_eq!(
        file(&scene, &terms(&scene, Base::Token0, twice)).unwrap_err().code(),
        "figure_parameter"
    );
    let long = HoursTerms { to: slot(31 * 288), ..terms(&scene, Base::Token0, own()) };
    assert_eq!(HoursPass::new(long).unwrap_err().code(), "figure_period");

    let bytes = file(&scene, &terms(&scene, Base::Token0, own())).unwrap();
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    let told = |change: &dyn Fn(&mut Value)| {
        let mut value = value.clone();
        change(&mut value);
        failed(&report_on_all(&scene, &canonical(&value))).map(|(_, code)| code)
    };
    assert_eq!(
        told(&|value| value["result"]["open"]["slots"] = json!(11)),
        Some("result_mismatch")
    );
    for (name, to, code) in [
        ("size_usd", json!("26"), "result_mismatch"),
        ("base", json!("token1"), "result_mismatch"),
        ("calendars", json!([]), "figure_calendars"),
        ("size_usd", json!("25.0"), "format_invalid"),
        ("from", json!(0), "format_invalid"),
    ] {
        assert_eq!(told(&|value| value["parameters"][name] = to.clone()), Some(code), "{name}");
    }
    assert_eq!(
        told(&|value| value["parameters"]["calendars"][0]["token"] = json!(2)),
        Some("format_invalid")
    );
}

#[test]
fn a_later_calendar_or_table_is_not_checked() {
    let scene = week();
    let bytes = file(&scene, &terms(&scene, Base::Token0, own())).unwrap();
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    let reported = |changes: &[(&str, Value)]| {
        let mut value = value.clone();
        for (at, to) in changes {
            *value.pointer_mut(at).unwrap() = to.clone();
        }
        let report = report_on_all(&scene, &canonical(&value));
        (report.verdict, report.checks[0].code.to_string())
    };
    let incomplete = |code: &str| (Verdict::Incomplete, code.to_owned());
    let invalid = (Verdict::Invalid, "format_invalid".to_owned());
    let table = ("/parameters/calendars/0/table", json!(format!("0x{:064}", 1)));
    let calendar = ("/parameters/calendars/0/calendar", json!("xlon"));
    assert_eq!(reported(core::slice::from_ref(&table)), incomplete("unsupported_table"));
    assert_eq!(reported(core::slice::from_ref(&calendar)), incomplete("unsupported_calendar"));
    assert_eq!(reported(&[table.clone(), calendar]), incomplete("unsupported_calendar"));
    // What this version knows is still checked.
    for (at, to) in [
        ("/parameters/size_usd", json!("25.0")),
        ("/parameters/to", json!(0)),
        ("/parameters/calendars/0/token", json!(2)),
    ] {
        assert_eq!(reported(&[table.clone(), (at, to)]), invalid, "{at}");
    }
}

/// Vectors for verifiers in other languages.
#[cfg(not(target_family = "wasm"))]
#[test]
fn the_vectors_of_hours_are_these() {
    let scene = week();
    for (name, base) in [("hours", Base::Token0), ("hours_other", Base::Token1)] {
        let bytes = file(&scene, &terms(&scene, base, own())).unwrap();
        figure::is_vector(name, &scene, &bytes);
    }
}
