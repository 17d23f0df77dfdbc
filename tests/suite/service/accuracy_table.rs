//! The accuracy table of all pools: a background task computes the rows, and each row contains only what is known.

use std::collections::BTreeSet;

use exitgap_store::Store;
use serde_json::{Value, json};

use crate::scenes::here::{Here, With, stored};
use crate::scenes::kinds::{self, KINDS};
use crate::scenes::store::{key, slot, store_in};

/// Kinds of pools whose swaps can be replayed.
const REPLAYED: [&str; 2] = ["constant_product", "concentrated_liquidity"];

/// All rows, page by page.
fn pages(here: &Here, limit: usize) -> Vec<Value> {
    let (mut rows, mut cursor): (Vec<Value>, _) = (Vec::new(), String::new());
    loop {
        let page = here.get(&format!("/v1/accuracy?limit={limit}{cursor}")).found();
        let told = page["pools"].as_array().unwrap();
        assert!(!told.is_empty() && told.len() <= limit, "{page}");
        rows.extend(told.iter().cloned());
        let Some(next) = page["next_cursor"].as_str() else { return rows };
        cursor = format!("&cursor={next}");
    }
}

#[test]
fn no_pool_is_left_out_and_a_row_says_that_it_waits_or_why_there_is_none() {
    let folder = stored(&[kinds::entries(slot(0)), kinds::entries(slot(1))]);
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    let all: BTreeSet<String> =
        KINDS.iter().map(|(vector, ..)| kinds::pool(vector).to_string()).collect();
    // No row has been computed yet, and a request does not start the computation.
    let table = here.get("/v1/accuracy").found();
    assert_eq!((&table["figure"], &table["waiting"]), (&json!("accuracy/2"), &json!(all.len())));
    for row in table["pools"].as_array().unwrap() {
        assert_eq!((&row["record"], &row["why_not"]), (&Value::Null, &json!("waiting")), "{row}");
    }
    let make = || here.block_on(here.app.service.make_accuracy_row());
    for left in (0..all.len()).rev() {
        assert!(make());
        assert_eq!(here.get("/v1/accuracy").found()["waiting"], left);
    }
    assert!(!make(), "each pool has a row");
    for limit in [1, 3, 1_000] {
        let rows = pages(&here, limit);
        let named: Vec<String> =
            rows.iter().map(|row| row["pool"].as_str().unwrap().to_owned()).collect();
        assert!(named.is_sorted());
        assert_eq!(named.iter().cloned().collect::<BTreeSet<_>>(), all, "{limit}");
    }
    let rows = pages(&here, 1_000);
    let mut replayed = 0;
    for (vector, protocol, _) in KINDS {
        let pool = kinds::pool(vector).to_string();
        let row = rows.iter().find(|row| row["pool"] == pool).unwrap();
        let alone = here.get(&format!("/v1/accuracy/{pool}"));
        if let Some(why_not) = row["why_not"].as_str() {
            assert!(!REPLAYED.contains(&protocol), "{row}");
            assert_eq!((why_not, &row["record"]), (alone.problem().1.as_str(), &Value::Null));
            continue;
        }
        replayed += 1;
        let (told, alone) = (&row["record"], alone.found());
        for field in ["slots", "slots_waiting", "swaps", "enough", "status", "figure_url"] {
            assert_eq!(told[field], alone[field], "{vector}: {field}");
        }
        // Nothing was logged, so the row has no numbers.
        assert_eq!((&told["n"], &told["worst_pct"]), (&json!(0), &Value::Null));
        assert_eq!(told["until"], slot(1).to_string());
    }
    assert!((1..KINDS.len()).contains(&replayed), "{replayed}");
    for (target, code) in [
        ("/v1/accuracy?chain=nowhere", "unknown_chain"),
        ("/v1/accuracy?limit=0", "invalid_parameter"),
        ("/v1/accuracy?cursor=x", "invalid_parameter"),
        ("/v1/accuracy?from=2026-08-22T00:00:00Z", "unknown_parameter"),
    ] {
        assert_eq!(here.get(target).problem().1, code, "{target}");
    }
}

#[test]
fn a_row_is_made_anew_after_twelve_slots_of_its_pool() {
    let folder = stored(&[kinds::entries(slot(0))]);
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    let make = || here.block_on(here.app.service.make_accuracy_row());
    while make() {}
    let mut store = Store::open(store_in(folder.path(), "series.db"), &key()).unwrap();
    for n in 1..=12 {
        assert!(!make(), "{n}");
        store.append_slot(slot(n), &kinds::entries(slot(n))).unwrap();
        here.refresh();
    }
    for _ in KINDS {
        assert!(make());
    }
    assert!(!make());
    let until = slot(12).to_string();
    let rows = pages(&here, 1_000);
    let told = rows.iter().filter(|row| !row["record"].is_null());
    assert!(told.clone().count() > 0 && told.clone().all(|row| row["record"]["until"] == until));
}
