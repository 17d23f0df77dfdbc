//! Guards of a question: each rejects answers that do not satisfy it, and no others.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;

use exitgap_core::ids::PoolId;
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::ChainKind;
use exitgap_tests::binaries;
use serde_json::Value;
use tempfile::TempDir;

use super::capabilities::entry;
use crate::scenes::here::{Here, With, stored};
use crate::scenes::store::{BusyPool, slot};

/// A pool of a known chain and one of another chain, with three slots each, then a slot in which both are missing.
fn scene() -> (TempDir, PoolId, PoolId) {
    let (mut live, mut preview) = (BusyPool::new(1, 8), BusyPool::new(2, 8));
    let mut slots: Vec<_> = (0..3)
        .map(|n| {
            vec![
                entry(&mut live, "ethereum", ChainKind::Live, slot(n)),
                entry(&mut preview, "anvil", ChainKind::Preview, slot(n)),
            ]
        })
        .collect();
    let pools = [0, 1].map(|index| slots[0][index].pool.clone());
    let missing = |(busy, pool): (&BusyPool, &PoolId)| {
        let mut entry = busy.missing(MissingReason::RpcUnavailable);
        entry.pool = pool.clone();
        entry
    };
    slots.push([&live, &preview].into_iter().zip(&pools).map(missing).collect());
    let [live, preview] = pools;
    (stored(&slots), live, preview)
}

/// All addresses with figures of a pool, without guards.
fn questions(pool: &PoolId) -> [String; 7] {
    [
        format!("/v1/exit/{pool}?size_usd=1000"),
        format!("/v1/size/{pool}?gap_pct=2"),
        format!("/v1/simulate/{pool}?size_usd=1000&orders=2"),
        format!("/v1/ladder/{pool}?base=token1"),
        format!("/v1/history/{pool}?size_usd=1000&interval=5m"),
        format!("/v1/stress/{pool}?size_usd=1000&to={}", slot(1)),
        format!("/v1/portfolio?position={pool}:1000"),
    ]
}

#[test]
fn every_guard_fires_where_it_is_not_met_and_nowhere_else() {
    let (folder, live, preview) = scene();
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    // The newest snapshot belongs to slot 2; slot 3 is missing.
    here.now.store(slot(2).unix_s() + 400, Ordering::SeqCst);
    let refused = |target: &str, code: &str, field: &str, words: [&str; 2]| {
        let answer = here.get(target);
        let expected = (412, code.to_owned(), Some(field.to_owned()));
        assert_eq!(answer.problem(), expected, "{target}");
        let document = answer.json();
        let detail = document["detail"].as_str().unwrap();
        assert!(words.iter().all(|word| detail.contains(word)), "{target}: {detail}");
        assert!(document["hint"].is_string(), "{target}: {document}");
        // The rejection contains no figure and must not be cached.
        assert!(document.get("exit_gap_pct").is_none() && document.get("exits").is_none());
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    };
    for question in questions(&live) {
        let plain = here.get(&question).found();
        let same = |guard: &str| {
            assert_eq!(here.get(&format!("{question}&{guard}")).found(), plain, "{guard}");
        };
        same("max_age_s=400");
        same("require=live");
        same("max_age_s=4294967295&min_days_observed=0&require=live");
        let aged = format!("{question}&max_age_s=399");
        refused(&aged, "snapshot_too_old", "max_age_s", ["400 s", "399 s"]);
        let days = format!("{question}&min_days_observed=0.02");
        refused(&days, "series_too_short", "min_days_observed", ["days were observed", "0.02"]);
    }
    for question in questions(&preview) {
        assert_eq!(here.get(&format!("{question}&max_age_s=400")).status, 200);
        let target = format!("{question}&require=live");
        refused(&target, "not_live", "require", ["preview", "live was required"]);
    }
    // If one position of a portfolio does not satisfy the guards, the whole portfolio is rejected.
    let both = format!("/v1/portfolio?position={live}:1&position={preview}:1");
    assert_eq!(here.get(&both).status, 200);
    let both = format!("{both}&require=live");
    refused(&both, "not_live", "require", ["preview", "live was required"]);

    // For an earlier slot, its own age and its own number of days count, as in the answer.
    let ask = |at, guard: &str| {
        here.get(&format!("/v1/exit/{live}?size_usd=1000&at={}&{guard}", slot(at)))
    };
    let earlier = ask(1, "max_age_s=700").found();
    assert_eq!(earlier["snapshot_age_s"], 700);
    assert_eq!(ask(1, "max_age_s=699").problem().1, "snapshot_too_old");
    assert_eq!(here.get(&format!("/v1/exit/{live}?size_usd=1000")).found()["days_observed"], 0.01);
    assert_eq!(ask(2, "min_days_observed=0.01").status, 200);
    assert_eq!(earlier["days_observed"], 0);
    assert_eq!(ask(1, "min_days_observed=0.01").problem().1, "series_too_short");

    // A second later, the age exceeds the limit.
    let question = format!("/v1/exit/{live}?size_usd=1000&max_age_s=400");
    assert_eq!(here.get(&question).status, 200);
    here.now.fetch_add(1, Ordering::SeqCst);
    assert_eq!(here.get(&question).problem().1, "snapshot_too_old");
}

#[test]
fn what_is_no_guard_is_refused_by_name() {
    let (folder, live, _) = scene();
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    let refused = |target: &str, code: &str, field: &str| {
        let expected = (400, code.to_owned(), Some(field.to_owned()));
        assert_eq!(here.get(target).problem(), expected, "{target}");
    };
    for question in questions(&live) {
        for (field, values) in [
            ("max_age_s", ["", "-1", "1.5", "4294967296", "5m"]),
            ("min_days_observed", ["", "-1", "0.001", "100000", "1e2"]),
            ("require", ["", "Live", "preview", "true", "live%20"]),
        ] {
            for value in values {
                refused(&format!("{question}&{field}={value}"), "invalid_parameter", field);
            }
        }
        refused(&format!("{question}&max_age_s=1&max_age_s=1"), "invalid_parameter", "max_age_s");
        refused(&format!("{question}&maxAgeS=1"), "unknown_parameter", "maxAgeS");
    }
    // Evidence has no guards, because each file has one address; the board reports status and age per row.
    let evidence = format!("/api/v1/exit/{live}?size_usd=1000&require=live");
    refused(&evidence, "unknown_parameter", "require");
    refused("/v1/fragility?max_age_s=5", "unknown_parameter", "max_age_s");
}

/// Runs the command line; returns the exit code and the output.
fn exitgap(folder: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let mut command = Command::new(binaries::path("exitgap"));
    let output = command.args(arguments).arg("--json").current_dir(folder).output().unwrap();
    let text = if output.status.success() { &output.stdout } else { &output.stderr };
    let said = serde_json::from_slice(text);
    (output.status.code(), said.unwrap_or_else(|_| String::from_utf8_lossy(text).into()))
}

#[test]
fn the_command_line_refuses_likewise_from_a_store_and_from_a_service() {
    let (folder, live, preview) = scene();
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    // The service's clock is fixed. The command line has its own clock, which is years later.
    here.now.store(slot(2).unix_s() + 400, Ordering::SeqCst);
    let url = format!("http://{}", here.address);
    for source in [["--db", "series.db"], ["--api", &url]] {
        for (question, more) in [
            ("estimate", &["--size-usd", "1000"][..]),
            ("size", &["--gap", "2"]),
            ("simulate", &["--size-usd", "1000", "--orders", "2"]),
            ("ladder", &[]),
        ] {
            let ask = |pool: &PoolId, guard: &[&str]| {
                let pool = pool.to_string();
                let asked = [&[question, &pool][..], more, &source, guard].concat();
                let (code, said) = exitgap(folder.path(), &asked);
                let said = if code == Some(0) { &said["status"] } else { &said["code"] };
                (code, said.as_str().unwrap_or_default().to_owned())
            };
            let told = |code: i32, said: &str| (Some(code), said.to_owned());
            assert_eq!(
                ask(&live, &["--require", "live"]),
                told(0, "live"),
                "{question} {source:?}"
            );
            assert_eq!(ask(&preview, &["--require", "live"]), told(3, "not_live"));
            assert_eq!(ask(&live, &["--max-age-s", "4294967295"]), told(0, "live"));
            assert_eq!(ask(&live, &["--max-age-s", "1"]), told(3, "snapshot_too_old"));
            assert_eq!(ask(&live, &["--min-days-observed", "0.01"]), told(0, "live"));
            assert_eq!(ask(&live, &["--min-days-observed", "7"]), told(3, "series_too_short"));
            assert_eq!(ask(&live, &["--min-days-observed", "-1"]), told(2, "invalid_parameter"));
        }
    }
}
