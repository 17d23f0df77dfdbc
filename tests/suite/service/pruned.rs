//! Requests to a service, and stored rules, about days that have left the store's database.

use std::sync::Arc;

use exitgap_core::alerts::{AlertRule, AlertRun};
use exitgap_server::alerts::Evaluator;
use exitgap_store::LogFolder;
use exitgap_store::alerts::{AlertBounds, Alerts, Kept, NewAlert};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scenes::here::{Here, With};
use crate::scenes::left_days::{DAYS, Scene};
use crate::scenes::store::slot;
use crate::store::alerts::new;

/// Stores a rule about the pool with missing slots, from the first slot on.
fn keep(alerts: &Alerts, scene: &Scene) -> i64 {
    let rule = json!({
        "v": 1, "alert": "al_1", "pool": scene.pools[1].id.to_string(), "base": "token0",
        "first_slot": slot(0).number(), "web_url": "https://exits.example", "kind": "missing",
        "for_slots": 1, "clear_for_slots": 1, "refire_slots": 0, "no_data_slots": 0,
    });
    let rule = AlertRule::from_json(rule.to_string().as_bytes()).unwrap();
    let kept = NewAlert {
        rule: rule.to_canonical(),
        first_slot: rule.first_slot,
        expires_s: u64::from(u32::MAX),
        run: AlertRun::new(rule.clone()).keep(),
        ..new("al_1", 1, None)
    };
    let bounds = AlertBounds { per_client: 1, per_host: 1, most: 1 };
    assert!(matches!(alerts.keep(&kept, &bounds, 0).unwrap(), Kept::New(_)));
    alerts.find_alert(&kept.owner, "al_1", 0).unwrap().unwrap().no
}

/// The rule's events for all slots with this folder of the log; or the reason why the evaluation stops.
fn told(scene: &Scene, days: &LogFolder) -> Result<Vec<Vec<u8>>, String> {
    let home = TempDir::new().unwrap();
    let alerts = Arc::new(Alerts::open(&home.path().join("alerts.db")).unwrap());
    let number = keep(&alerts, scene);
    let mut evaluator = Evaluator::new(alerts.clone(), scene.url.clone(), days.clone());
    while evaluator.turn(1_000).map_err(|error| error.to_string())?.more {}
    let events = alerts.events(number, 0, u32::MAX).unwrap();
    Ok(events.into_iter().map(|event| event.document).collect())
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn a_rule_goes_on_through_days_that_have_left() {
    let scene = Scene::new();
    scene.write_days();
    let before = told(&scene, &scene.folder()).unwrap();
    assert!(before.len() > 20, "{}", before.len());
    let (code, said) = scene.prune(&["--one-copy", "--hot-days", "10"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(told(&scene, &scene.folder()).unwrap(), before);
    let elsewhere = TempDir::new().unwrap();
    let why = told(&scene, &LogFolder::new(elsewhere.path())).unwrap_err();
    assert!(why.contains("is not in the files of its day"), "{why}");
}

/// A machine that answers requests but does not have the files of the days.
#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn without_the_days_a_service_answers_for_what_it_has() {
    let scene = Scene::new();
    scene.write_days();
    let (code, said) = scene.prune(&["--one-copy", "--hot-days", "10"]);
    assert_eq!(code, Some(0), "{said}");
    let elsewhere = TempDir::new().unwrap();
    let with = With { store: Some(scene.url.clone()), ..With::default() };
    let here = Here::start(elsewhere.path(), with);
    here.refresh();
    // The retired pool and the pool that is no longer read have no names.
    let pools = here.get("/v1/pools").found();
    let named = |pool: usize| {
        let id = scene.pools[pool].id.to_string();
        let listed = pools["pools"].as_array().unwrap().iter().find(|listed| listed["pool"] == *id);
        listed.unwrap_or_else(|| panic!("{id} in {pools}"))["name"] != Value::Null
    };
    assert_eq!([0, 1, 2, 3].map(named), [true, true, false, false]);
    let pool = &scene.pools[0].id;
    let ask = |at: u32| here.get(&format!("/v1/exit/{pool}?size_usd=1000&at={}", slot(at)));
    assert_eq!(ask((DAYS - 1) * 288).status, 200);
    let answer = ask(5);
    assert_eq!(answer.status, 500, "{}", String::from_utf8_lossy(&answer.body));
    assert_eq!(answer.json()["code"], "source_unreadable");
}
