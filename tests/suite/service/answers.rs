//! The service with a recorded series: its answers, and the verifiability of each.

use std::fs;
use std::process::Command;

use exitgap_core::series::Slot;
use exitgap_store::Store;
use exitgap_tests::binaries;
use exitgap_tests::devchain::PoolKind;
use serde_json::{Value, json};

use crate::scenes::service::{Recorded, Service, recorded};

const SLOTS: u64 = 5;

async fn scene() -> (Recorded, Service) {
    let recorded = recorded(SLOTS).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    (recorded, service)
}

/// The target of one of the service's links, without scheme and host.
fn target(url: &Value) -> String {
    let url = url.as_str().unwrap();
    let path = url.strip_prefix("http://").unwrap().split_once('/').unwrap().1;
    format!("/{path}")
}

/// Runs the command line in the scene's folder.
fn exitgap(recorded: &Recorded, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(binaries::path("exitgap"));
    let output = command.args(arguments).current_dir(recorded.folder.path()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Follows a result's links: its evidence and its window are valid and contain its number.
fn verify(recorded: &Recorded, service: &Service, result: &Value) {
    let evidence = service.get(&target(&result["evidence_url"]));
    assert_eq!(evidence.status, 200, "{result}");
    assert_eq!(evidence.header("cache-control"), Some("public, max-age=31536000, immutable"));
    fs::write(recorded.path("evidence.json"), &evidence.body).unwrap();
    let window = service.get(&target(&result["window_url"]));
    fs::write(recorded.path("window.json"), &window.body).unwrap();
    let key = service.get("/log/verifier-key");
    fs::write(recorded.path("key"), &key.body).unwrap();
    let verify = ["verify", "evidence.json", "--window", "window.json", "--trust", "key", "--json"];
    let (code, out, err) = exitgap(recorded, &verify);
    assert_eq!(code, Some(0), "{out}{err}");
    let published = &evidence.json()["result"];
    for field in ["exit_gap_pct", "days_observed", "lowest_depth_7d_usd", "realized_price_usd"] {
        let (claimed, proved) = (&result[field], published[field].as_str().unwrap());
        let proved: f64 = proved.parse().unwrap();
        assert_eq!(claimed.as_f64(), Some(proved), "{field}: {result}");
    }
    assert_eq!(result["status"], published["status"]);
    assert_eq!(result["status"], "preview");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_typical_flow_ends_with_a_verified_number() {
    let (recorded, service) = scene().await;
    let list = service.get("/v1/pools?chain=anvil").found();
    let pools = list["pools"].as_array().unwrap();
    assert_eq!(pools.len(), recorded.world.pools.len());
    let board = service.get("/v1/fragility?size_usd=1000").found();
    // Every pool has a unique name, made from its factory and its fee.
    for rows in [pools, board["rows"].as_array().unwrap()] {
        let mut names = std::collections::BTreeSet::new();
        for row in rows {
            let entry = recorded
                .world
                .pools
                .iter()
                .find(|entry| row["pool"] == format!("anvil:{:#x}", entry.pool.address));
            let pool = entry.unwrap().pool;
            let (venue, fee) = match (pool.kind, pool.fee) {
                (PoolKind::V2, _) => ("Uniswap v2", "0.3"),
                (PoolKind::V3, 100) => ("Uniswap v3", "0.01"),
                (PoolKind::V3, 500) => ("Uniswap v3", "0.05"),
                (PoolKind::V3, 3_000) => ("Uniswap v3", "0.3"),
                (PoolKind::V3, _) => ("Uniswap v3", "1"),
            };
            assert_eq!((&row["venue"], row["fee_pct"].to_string().as_str()), (&json!(venue), fee));
            let name = row["name"].as_str().unwrap();
            assert!(name.starts_with(&format!("{venue} {fee}%")), "{row}");
            let [base, quote] = ["base", "quote"].map(|side| row[side]["symbol"].to_string());
            assert!(names.insert((base, quote, name.to_owned())), "twice: {row}");
        }
        assert_eq!(names.len(), recorded.world.pools.len());
    }
    for pool in pools {
        assert_eq!(pool["series_start"], "2026-08-22T00:00:00Z");
        assert_eq!((&pool["status"], &pool["slots_recorded"]), (&json!("preview"), &json!(SLOTS)));
        let id = pool["pool"].as_str().unwrap();
        for (base, size) in [("", "1000"), ("&base=token0", "25000.5"), ("&base=token1", "3")] {
            let asked = std::time::Instant::now();
            let answer = service.get(&format!("/v1/exit/{id}?size_usd={size}{base}"));
            if answer.status == 422 {
                let (_, code, field) = answer.problem();
                assert_eq!(
                    (code.as_str(), field.as_deref()),
                    ("beyond_liquidity", Some("size_usd"))
                );
                assert!(answer.json()["max_fillable_usd"].is_number());
                continue;
            }
            let result = answer.found();
            assert_eq!(result["size_usd"].to_string(), size);
            assert_eq!(result["method"]["depth_source"]["newer_slots_missing"], 0);
            assert!(result["market_open"].as_bool().unwrap());
            // The command line reads the same store and returns the same.
            let base = if base.is_empty() { vec![] } else { vec!["--base", &base[6..]] };
            let ask = ["estimate", id, "--db", "exitgap.db", "--json", "--size-usd", size];
            let (code, out, err) = exitgap(&recorded, &[&ask[..], &base].concat());
            assert_eq!(code, Some(0), "{err}");
            let said: Value = serde_json::from_str(&out).unwrap();
            for (field, value) in said.as_object().unwrap() {
                if field == "snapshot_age_s" {
                    // Both compute the age from their own clocks at the time of the request.
                    let (earlier, later) = (result[field].as_u64(), value.as_u64().unwrap());
                    let between = later.checked_sub(earlier.unwrap()).unwrap();
                    assert!(between <= asked.elapsed().as_secs() + 1, "{between}");
                } else {
                    assert_eq!(value, &result[field], "{field}");
                }
            }
            verify(&recorded, &service, &result);
        }
    }
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn ladders_portfolios_and_earlier_slots_agree_with_single_exits() {
    let (recorded, service) = scene().await;
    let (deep, other) = (recorded.pool(0), recorded.pool(1));
    let ladder = service.get(&format!("/v1/ladder/{deep}")).found();
    for rung in ladder["by_size"].as_array().unwrap() {
        let single = service.get(&format!("/v1/exit/{deep}?size_usd={}", rung["size_usd"]));
        match single.status {
            200 => {
                let single = single.json();
                assert_eq!(single["exit_gap_pct"], rung["exit"]["exit_gap_pct"]);
                assert_eq!(single["evidence_url"], rung["evidence_url"]);
            }
            _ => assert_eq!(single.problem().1, rung["problem"]["code"].as_str().unwrap()),
        }
    }
    // A row that is refused has the evidence of the refusal, like the single exit, which repeats its size.
    let of = |index: usize| service.get(&format!("/v1/ladder/{}", recorded.pool(index))).found();
    let rows: Vec<Value> =
        (0..8).flat_map(|index| of(index)["by_size"].as_array().unwrap().clone()).collect();
    let mut refused = 0;
    for (place, row) in rows.iter().enumerate().filter(|(_, row)| row["problem"].is_object()) {
        let pool = recorded.pool(place / 4);
        let single = service.get(&format!("/v1/exit/{pool}?size_usd={}", row["size_usd"])).json();
        assert_eq!(single["size_usd"], row["size_usd"]);
        assert_eq!(row["problem"]["size_usd"], row["size_usd"]);
        assert!(row["evidence_url"].is_string(), "{row}");
        assert_eq!(row["evidence_url"], single["evidence_url"]);
        refused += 1;
    }
    assert!(refused > 0);

    let rungs = ladder["by_gap"].as_array().unwrap();
    let filled = rungs.iter().find(|rung| rung["exit"].is_object()).unwrap();
    verify(&recorded, &service, &{
        let single = service.get(&format!("/v1/exit/{deep}?size_usd={}", filled["max_size_usd"]));
        single.found()
    });

    // A point in time selects exactly the last slot before it.
    let at = |at: &str| service.get(&format!("/v1/exit/{deep}?size_usd=1000&at={at}"));
    let second = at("2026-08-22T00:09:59Z").found();
    assert_eq!(second["method"]["depth_source"]["slot_time"], "2026-08-22T00:05:00Z");
    assert_eq!(second["method"]["depth_source"].get("newer_slots_missing"), None);
    verify(&recorded, &service, &second);
    assert_eq!(at("2026-08-21T23:59:59Z").problem().1, "before_series");
    assert_eq!(at("2027-01-01T00:00:00Z").problem().1, "after_series");

    // Positions with the same pool and direction count as one sale.
    let portfolio = |query: &str| service.get(&format!("/v1/portfolio?{query}"));
    let both =
        portfolio(&format!("position={deep}:1000&position={other}:500&position={deep}:2000"))
            .found();
    assert_eq!(both["exits"].as_array().unwrap().len(), 2);
    assert_eq!(both["positions"][2]["exits"], json!([0]));
    let together = service.get(&format!("/v1/exit/{deep}?size_usd=3000")).found();
    assert_eq!(both["exits"][0]["result"]["exit_gap_pct"], together["exit_gap_pct"]);
    assert_eq!(both["total"]["size_usd"], 3500);
    assert!(both["total"]["exit_gap_pct"].is_number());
    let unfilled = portfolio(&format!("position={deep}:1000000000&position={other}/token0:500"));
    let unfilled = unfilled.found();
    assert_eq!(unfilled["total"]["exit_gap_pct"], Value::Null);
    assert!(unfilled["total"]["unfilled_usd"].as_f64().unwrap() > 0.0);
    assert!(unfilled["total"]["filled_gap_pct"].is_number());
    assert_eq!(unfilled["worst_exit"], 0);
    assert_eq!(unfilled["exits"][0]["problem"]["code"], "beyond_liquidity");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_published_log_and_snapshots_are_served_as_they_are() {
    let (recorded, service) = scene().await;
    let log = recorded.path("exitgap-log");
    // A mirror of a log with a predecessor needs the predecessor's data.
    fs::write(log.join("predecessor"), "exitgap.example/lost/5957856\n1\nAAAA\n").unwrap();
    for file in ["checkpoint", "verifier-key", "predecessor", "slots/5957856.jsonl"] {
        let served = service.get(&format!("/log/{file}"));
        assert_eq!((served.status, &served.body), (200, &fs::read(log.join(file)).unwrap()));
    }
    let result = service.get(&format!("/v1/exit/{}?size_usd=10", recorded.pool(0))).found();
    let snapshot = service.get(&target(&result["snapshot_url"]));
    let hash = &result["method"]["depth_source"]["snapshot_hash"];
    let hashed = exitgap_core::snapshot::Snapshot::hash_of(&snapshot.body).to_string();
    assert_eq!(Some(hashed.as_str()), hash.as_str());
    let slot = recorded.last.number();
    let status = service.get(&format!("/api/v1/status/{}?slot={slot}", recorded.pool(0))).found();
    assert_eq!(status["state"], "recorded");
    for path in [
        "/log/../exitgap.key",
        "/log/%2e%2e/exitgap.key",
        "/log/..%2fexitgap.key",
        "/log/slots/..%2f..%2fexitgap.key",
        "/log/tile/0/..%2f..%2f..%2fexitgap.key",
        "/log/exitgap.key",
        "/log//etc/passwd",
        "/log/",
        "/log",
    ] {
        let answer = service.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(!String::from_utf8_lossy(&answer.body).contains("PRIVATE"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_missing_slots_come_with_their_heads() {
    let recorded = recorded(3).await;
    let key = fs::read_to_string(recorded.path("exitgap.key")).unwrap();
    let mut store =
        Store::open(recorded.path("exitgap.db"), &key.trim_end().parse().unwrap()).unwrap();
    let until = Slot::new(u64::from(recorded.last.number()) + 5).unwrap();
    assert_eq!(store.fill_until(until).unwrap(), 4);
    store.close().unwrap();
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(0);
    let result = service.get(&format!("/v1/exit/{pool}?size_usd=1000")).found();
    assert_eq!(result["method"]["depth_source"]["newer_slots_missing"], 4);
    // The window ends at the slot; a second one continues to the newest slot.
    verify(&recorded, &service, &result);
    let newer = service.get(&target(&result["newer_heads_url"]));
    assert_eq!(newer.status, 200);
    fs::write(recorded.path("newer.json"), &newer.body).unwrap();
    let verify = ["verify", "evidence.json", "--window", "newer.json", "--trust", "key", "--json"];
    let (code, out, err) = exitgap(&recorded, &verify);
    assert_eq!(code, Some(0), "{out}{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let window = checks.iter().find(|check| check["name"] == "window").unwrap();
    let found = window["found"].as_str().unwrap();
    assert!(found.contains("then 4 heads") && found.contains("4 of them missing"), "{found}");
    // At the newest slot itself, no newer heads exist.
    let at = service.get(&format!("/v1/exit/{pool}?size_usd=1000&at={}", recorded.last)).found();
    assert_eq!(at.get("newer_heads_url"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_site_hands_on_the_licences_of_what_it_was_built_from() {
    let recorded = recorded(2).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let reply = service.get("/third-party.txt");
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"));
    let text = String::from_utf8(reply.body).unwrap();
    assert!(text.contains("  - leptos ") && text.contains("MIT License"));
}
