//! Many pools, many days, and changing keys: ranges, pages, signatures.

use std::fs;

use exitgap_core::ids::{Address, PoolId};
use exitgap_core::log_folder::days::{DaysFile, DaysHistory};
use exitgap_core::pools::Direction;
use exitgap_core::series::MissingReason;
use exitgap_core::tlog::SignerKey;
use exitgap_store::days::DaysLog;
use exitgap_store::{LogFolder, NewEntry, Reader, Store};
use tempfile::TempDir;

use crate::scenes::days::{audit, exitgap, require_held};
use crate::scenes::here::{Here, With};
use crate::scenes::store::{key, slot};

/// Number of slots in the first day, in which the log begins late.
const EVENING: u32 = 3;

fn pool(number: u8) -> PoolId {
    let address = Address([number; 20]);
    PoolId::new("anvil".parse().unwrap(), address)
}

/// A store of this many pools without readings, with the evening and this many days.
fn log_of(pools: u8, days: u32) -> (TempDir, LogFolder) {
    let home = TempDir::new().unwrap();
    let mut store = Store::create(home.path().join("series.db"), &key()).unwrap();
    let entry = |number| NewEntry {
        pool: pool(number),
        default_base: Direction::ZeroForOne,
        reading: Err(MissingReason::ChainLagging),
    };
    let entries: Vec<NewEntry> = (0..pools).map(entry).collect();
    store.append_slot(slot(288 - EVENING), &entries).unwrap();
    let folder = LogFolder::new(home.path().join("log"));
    // The folder contains the log's key from the first slot on; the days need none of its other files.
    folder.publish(store.reader()).unwrap();
    store.fill_until(slot((days + 1) * 288)).unwrap();
    (home, folder)
}

fn write_all(home: &TempDir, folder: &LogFolder, signers: Vec<SignerKey>) -> usize {
    let store = home.path().join("series.db");
    let days = DaysLog::open(folder.clone(), &store, signers).unwrap();
    let reader = Reader::open(store).unwrap();
    std::iter::from_fn(|| days.write_next(&reader, |_, _| {}).unwrap()).count()
}

#[test]
fn more_pools_than_a_range_has_stand_in_several_and_one_is_fetched_alone() {
    let (home, folder) = log_of(253, 1);
    assert_eq!(write_all(&home, &folder, vec![key()]), 1);
    let trust = Reader::open(home.path().join("series.db")).unwrap().log().unwrap().unwrap();
    let trust = trust.keys[0].to_string();
    let day = folder.path().join("days/2026-08-22");
    let report = audit(&day, &trust);
    require_held(&report, &["day_after"]);
    assert_eq!(report["pools"], 253);
    assert!(
        day.join("snapshots-0001.parquet").exists() && !day.join("snapshots-0002.parquet").exists()
    );
    // An export of the last pools contains only their files: these are valid, and the day is incomplete.
    let out = home.path().join("out");
    let last = pool(252).to_string();
    let arguments = [
        "export",
        folder.path().to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
        "--trust",
        &trust,
        "--pools",
        &last,
        "--json",
    ];
    let (code, report, said) = exitgap(&arguments);
    assert_eq!(
        (code, &report["rows"], &report["files"]),
        (Some(0), &9.into(), &4.into()),
        "{said}"
    );
    let part = out.join("2026-08-22");
    let report = audit(&part, &trust);
    assert_eq!(report["verdict"], "incomplete");
    assert_eq!((&report["fault"]["code"], &report["pools"]), (&"file_absent".into(), &3.into()));
    // A range file in the place of another is rejected.
    fs::copy(part.join("figures-0001.parquet"), part.join("figures-0000.parquet")).unwrap();
    assert_eq!(audit(&part, &trust)["fault"]["code"], "file_hash_mismatch");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn a_page_has_31_days_and_says_where_the_next_begins() {
    let (home, folder) = log_of(1, 34);
    assert_eq!(write_all(&home, &folder, vec![key()]), 34);
    let here = Here::start(home.path(), With::default());
    let first = here.get("/v1/export").found();
    assert_eq!(first["days"].as_array().unwrap().len(), 31);
    assert_eq!((&first["days_closed"], &first["next_from"]), (&34.into(), &"2026-09-22".into()));
    let next = here.get("/v1/export?from=2026-09-22").found();
    let days: Vec<&str> =
        next["days"].as_array().unwrap().iter().map(|day| day["day"].as_str().unwrap()).collect();
    assert_eq!(days, ["2026-09-22", "2026-09-23", "2026-09-24"]);
    assert_eq!(next["next_from"], serde_json::Value::Null);
    let to = here.get("/v1/export?to=2026-09-21").found();
    assert_eq!(
        (to["days"].as_array().unwrap().len(), &to["next_from"]),
        (31, &serde_json::Value::Null)
    );
}

#[test]
fn while_a_key_is_changed_two_sign_and_then_the_new_one_alone() {
    let (home, folder) = log_of(1, 1);
    assert_eq!(write_all(&home, &folder, vec![key()]), 1);
    let new = SignerKey::from_seed("exitgap.example/test", [9; 32]).unwrap();
    let path = home.path().join("series.db");
    let grow = |signer: &SignerKey, beside: Option<&SignerKey>, day: u32| {
        let mut store = Store::open(&path, signer).unwrap();
        if let Some(beside) = beside {
            store.sign_beside(beside).unwrap();
        }
        store.fill_until(slot((day + 1) * 288)).unwrap();
        folder.publish(store.reader()).unwrap();
    };
    let signed_by = |signer: &SignerKey| {
        let read = |file: DaysFile| fs::read(folder.path().join(file.to_string()));
        let note = String::from_utf8(read(DaysFile::Checkpoint).unwrap()).unwrap();
        let key = signer.with_name("exitgap.example/test/5958141").unwrap().verifier();
        DaysHistory::from_log(&note, &[key], |tile| read(DaysFile::Tile(tile))).is_ok()
    };
    grow(&key(), Some(&new), 2);
    assert_eq!(write_all(&home, &folder, vec![key(), new.clone()]), 1);
    assert_eq!([signed_by(&key()), signed_by(&new)], [true, true]);
    grow(&new, None, 3);
    assert_eq!(write_all(&home, &folder, vec![new.clone()]), 1);
    assert_eq!([signed_by(&key()), signed_by(&new)], [false, true]);
    let keys = fs::read_to_string(folder.path().join("days/verifier-key")).unwrap();
    assert_eq!(keys.lines().count(), 2, "{keys}");
    // A day whose slots two keys signed holds with either. The day before has no signature of the new key.
    for (signer, lacking) in
        [(key(), &["day_after", "log_of_days"][..]), (new, &["day_after", "days_before"])]
    {
        let trust =
            signer.with_name("exitgap.example/test/5958141").unwrap().verifier().to_string();
        require_held(&audit(&folder.path().join("days/2026-08-24"), &trust), lacking);
    }
}
