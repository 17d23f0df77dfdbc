//! Closed days: listed with their hashes, and downloaded over HTTP.

use std::fs;

use exitgap_core::log_folder::days::DayManifest;
use exitgap_core::tlog::SignerKey;
use tempfile::TempDir;

use crate::scenes::days::{Days, audit, exitgap};
use crate::scenes::here::{Here, With};

#[test]
fn closed_days_are_listed_and_fetched_whole() {
    let days = Days::new();
    let here = Here::start(days.home.path(), With::default());
    let none = here.get("/v1/export").found();
    assert_eq!((&none["checkpoint"], &none["days_closed"]), (&serde_json::Value::Null, &0.into()));

    let manifests = days.write();
    let all = here.get("/v1/export").found();
    assert_eq!(all["days"].as_array().unwrap().len(), 3);
    assert!(
        all["checkpoint"].as_str().unwrap().starts_with("exitgap.example/test/days/5958124\n3\n")
    );
    let [first, second] = [&all["days"][0], &all["days"][1]];
    let hash = DayManifest::hash_of(&manifests[0].to_canonical().unwrap());
    assert_eq!(first["manifest_sha256"], hash.to_string());
    assert_eq!((&second["rows"], &second["pools"]), (&677.into(), &3.into()));
    let file = &second["files"][2];
    assert_eq!(file["url"], "http://any.example/log/days/2026-08-23/snapshots-0000.parquet");
    let answer = here.get("/log/days/2026-08-23/snapshots-0000.parquet");
    assert_eq!(answer.header("content-type"), Some("application/vnd.apache.parquet"));
    assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let bytes = fs::read(days.path("2026-08-23/snapshots-0000.parquet")).unwrap();
    assert_eq!((answer.status, answer.body.len()), (200, bytes.len()));
    assert_eq!(file["bytes"], bytes.len());

    // A period, and the files of a single pool.
    let pool = &days.pools[1].id;
    let one = here.get(&format!("/v1/export?from=2026-08-23&to=2026-08-23&pool={pool}")).found();
    assert_eq!(one["days"].as_array().unwrap().len(), 1);
    assert_eq!(one["days"][0]["files"].as_array().unwrap().len(), 3);
    let stranger = format!("anvil:0x{}", "ff".repeat(20));
    let of_nobody = here.get(&format!("/v1/export?pool={stranger}")).found();
    assert_eq!(of_nobody["days"][0]["files"].as_array().unwrap().len(), 1, "only its slots");
    let later = here.get("/v1/export?from=2026-09-01").found();
    assert_eq!(
        (&later["days"], &later["next_from"]),
        (&serde_json::json!([]), &serde_json::Value::Null)
    );
    for (query, status, code, field) in [
        ("from=2026-08-32", 400, "invalid_parameter", "from"),
        ("to=yesterday", 400, "invalid_parameter", "to"),
        ("from=2026-08-24&to=2026-08-23", 422, "period_reversed", "from"),
        ("pool=anvil", 400, "invalid_pool", "pool"),
        ("day=2026-08-23", 400, "unknown_parameter", "day"),
    ] {
        let refused = here.get(&format!("/v1/export?{query}")).problem();
        assert_eq!(refused, (status, code.to_owned(), Some(field.to_owned())), "{query}");
    }

    // The command line downloads from this service and does not keep a file with a changed byte.
    let out = TempDir::new().unwrap();
    let log = format!("http://{}/log", here.address);
    let key = days.key();
    let arguments =
        ["export", &log, "--out", out.path().to_str().unwrap(), "--trust", &key, "--json"];
    let (code, report, said) = exitgap(&arguments);
    assert_eq!(
        (code, &report["days"], &report["rows"]),
        (Some(0), &3.into(), &(40 + 677 + 576).into()),
        "{said}"
    );
    // The days before the first one do not exist, so what is drawn from them cannot be checked.
    assert_eq!(audit(&out.path().join("2026-08-24"), &key)["verdict"], "incomplete");
    let fresh = TempDir::new().unwrap();
    let mut changed = bytes;
    changed[1_000] ^= 1;
    fs::write(days.path("2026-08-23/snapshots-0000.parquet"), changed).unwrap();
    let arguments =
        ["export", &log, "--out", fresh.path().to_str().unwrap(), "--trust", &key, "--json"];
    let (code, report, _) = exitgap(&arguments);
    assert_eq!(
        (code, &report["verdict"], &report["days"]),
        (Some(6), &"invalid".into(), &1.into())
    );
    assert!(report["fault"].as_str().unwrap().contains("days/2026-08-23/snapshots-0000.parquet"));
    assert!(!fresh.path().join("2026-08-23/snapshots-0000.parquet").exists());
    assert!(!fresh.path().join("2026-08-23/manifest.json").exists());
    // The target folder may be new.
    let nowhere = fresh.path().join("new");
    let arguments = ["export", &log, "--out", nowhere.to_str().unwrap(), "--trust", &key, "--json"];
    let manifest = days.path("2026-08-22/manifest.json");
    let kept = fs::read(&manifest).unwrap();
    fs::write(&manifest, b"{}").unwrap();
    let (code, report, said) = exitgap(&arguments);
    assert_eq!(
        (code, &report["verdict"], &report["days"]),
        (Some(6), &"invalid".into(), &0.into()),
        "{said}"
    );
    fs::write(&manifest, kept).unwrap();
    // A key that is not the log's.
    let stranger = SignerKey::from_seed("exitgap.example/test/5958124", [8; 32]).unwrap();
    let other = stranger.verifier().to_string();
    let other =
        ["export", &log, "--out", fresh.path().to_str().unwrap(), "--trust", &other, "--json"];
    let (code, report, _) = exitgap(&other);
    assert_eq!((code, &report["days"]), (Some(6), &0.into()));
    assert!(
        report["fault"].as_str().unwrap().contains("is not signed by a trusted key"),
        "{report}"
    );
    // Days that the log of days does not cover yet are not served.
    fs::create_dir_all(days.path("2026-08-25")).unwrap();
    fs::write(days.path("2026-08-25/manifest.json"), b"{}").unwrap();
    assert_eq!(here.get("/log/days/2026-08-25/manifest.json").problem().0, 404);
}
