//! Tokenized stocks: from the configuration to answers, the figure file and the command line.

use std::fs;
use std::process::Command;

use exitgap_tests::binaries;
use exitgap_tests::devchain::FIRST_SLOT;
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::service::{Recorded, Service, configured_with, record_in};
use crate::scenes::share::{Stands, say, share, tables};

const SLOTS: u64 = 3;

#[tokio::test(flavor = "multi_thread")]
async fn a_share_is_told_with_the_vectors_of_its_pools() {
    let (chain, world) = scene().await;
    // A change in a month: the answer announces it, and no slot is excluded.
    let due = FIRST_SLOT * 300 + 30 * 86_400;
    let stands = Stands { now: 1_500_000, next: 3_000_000, since: due, paused: false };
    say(&chain, stands).await;
    let (token, pool) = (format!("{:#x}", share(&world)), world.pools[2].pool.address);
    let folder = configured_with(&chain, &world, &tables(&world, "scaled_ui", "raw", pool));
    let recorded = record_in(&chain, world, folder, SLOTS).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);

    let listed = service.get("/v1/equities").found();
    let [share] = listed["equities"].as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!((&share["token"], &share["kind"]), (&json!(token), &json!("scaled_ui")));
    assert_eq!((&share["symbol"], &share["pools"]), (&json!("WBTC"), &json!(2)));
    let state = &share["state"];
    assert_eq!((&state["session"], &state["feed_paused"]), (&json!("weekend"), &json!(false)));
    assert_eq!(state["multiplier_raw"], "1500000");
    assert_eq!(state["pending_multiplier_raw"], "3000000");
    assert_eq!((&state["corporate_action"], &state["facts_whole"]), (&json!(false), &json!(true)));
    let number = |value: &Value| value.as_f64().unwrap();
    let ratio = number(&state["oracle_price_usd"]) / number(&state["ui_price_usd"]);
    assert!((ratio - 1.5).abs() < 1e-9, "{state}");

    let rows = service.get("/v1/capabilities").found()["capabilities"].as_array().unwrap().clone();
    let place = |name: &str| {
        rows.iter().find(|row| row["capability"] == name).unwrap()["where"].to_string()
    };
    assert!(!place("Tokenized equity scoring").contains("nothing is configured here yet"));
    assert!(place("Redemption-window modelling").contains("nothing is configured here yet"));

    let target = format!("/v1/equities/anvil/{token}?size_usd=5000&gap_pct=1.5");
    let score = service.get(&target).found();
    for field in ["token", "symbol", "pools", "deepest_pool", "depth_usd", "concentration_pct"] {
        assert_eq!(score[field], share[field], "{field}");
    }
    assert_eq!((&score["size_usd"], &score["gap_pct"]), (&json!(5_000), &json!(1.5)));
    assert_eq!((&score["enough"], &score["figure"]), (&json!(false), &json!("equity/1")));
    let vectors = score["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 2);
    let depths: Vec<f64> = vectors.iter().map(|vector| number(&vector["depth_usd"])).collect();
    assert!(depths[0] >= depths[1]);
    let concentration = 100.0 * depths[0] / (depths[0] + depths[1]);
    assert!((number(&score["concentration_pct"]) - concentration).abs() < 1e-6, "{score}");
    for vector in vectors {
        assert_eq!(
            (&vector["slots_recorded"], &vector["have_weekends"]),
            (&json!(SLOTS), &json!(1))
        );
        assert_eq!(vector["events"][0]["event"], "scheduled");
        let weekend = &vector["sessions"][4];
        // The block of the series' first slot is still on Friday.
        let slots = json!(SLOTS - 1);
        assert_eq!((&weekend["session"], &weekend["slots"]), (&json!("weekend"), &slots));
        assert_eq!(weekend["depth_usd_q50"], Value::Null);
        assert_eq!((&vector["exact"], &vector["balance"]), (&json!(true), &Value::Null));
        is_proven(&recorded, &service, vector);
    }
    is_told_by_the_command_line(&recorded, &service, &token, &score);

    for (target, status, code) in [
        (format!("/v1/equities/anvil/0x{}", "11".repeat(20)), 404, "unknown_token"),
        (format!("/v1/equities/anvil/{token}?gap_pct=0"), 400, "invalid_parameter"),
        (format!("/v1/equities/anvil/{token}?base=token0"), 400, "unknown_parameter"),
        (format!("/v1/equities/anvil/{token}?min_days_observed=7"), 412, "series_too_short"),
        // A pool without a tokenized stock.
        (format!("/api/v1/equity/{}?size_usd=1000", recorded.pool(0)), 404, "unknown_token"),
    ] {
        let refused = service.get(&target);
        assert_eq!(refused.status, status, "{target}");
        let told: Value = serde_json::from_slice(&refused.body).unwrap();
        assert_eq!(told["code"], code, "{told}");
    }
}

/// The figure file equals the answer and proves it; a changed file fails.
fn is_proven(recorded: &Recorded, service: &Service, vector: &Value) {
    let url = vector["figure_url"].as_str().unwrap();
    let file = service.get(&url[url.find("/api/").unwrap()..]);
    let result = file.found()["result"].clone();
    assert_eq!(result["have_weekends"], vector["have_weekends"]);
    assert_eq!(result["slots_missing"], vector["slots_missing"]);
    assert_eq!(result["newest"]["multiplier_raw"], "1500000");
    let folder = recorded.folder.path();
    fs::write(folder.join("key"), service.get("/log/verifier-key").body).unwrap();
    let whole = String::from_utf8(file.body).unwrap();
    let changed = whole.replacen("\"slots_corporate_action\":0", "\"slots_corporate_action\":1", 1);
    assert_ne!(changed, whole);
    for (text, expected) in [(whole, (Some(0), "valid")), (changed, (Some(6), "invalid"))] {
        fs::write(folder.join("share.json"), text).unwrap();
        let args =
            ["verify", "share.json", "--json", "--trust", "key", "--snapshots", "exitgap.db"];
        let output = cli(recorded, &args);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = (output.status.code(), report["verdict"].as_str().unwrap());
        assert_eq!(found, expected, "{report}");
    }
}

fn cli(recorded: &Recorded, args: &[&str]) -> std::process::Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.current_dir(recorded.folder.path()).args(args).output().unwrap()
}

fn is_told_by_the_command_line(recorded: &Recorded, service: &Service, token: &str, score: &Value) {
    let (named, url) = (format!("anvil/{token}"), format!("http://{}", service.address));
    let sources: [&[&str]; 2] =
        [&["--db", "exitgap.db", "--config", "exitgap.toml"], &["--api", &url]];
    for source in sources {
        let asked = ["equities", &named, "--size-usd", "5k", "--gap-pct", "1.5"];
        let output = cli(recorded, &[&asked[..], source, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        for field in ["token", "kind", "depth_usd", "concentration_pct", "enough", "left_out"] {
            assert_eq!(told[field], score[field], "{field}");
        }
        for field in ["sessions", "events", "to", "reopening", "have_weekends"] {
            assert_eq!(told["vectors"][0][field], score["vectors"][0][field], "{field}");
        }
        let text = String::from_utf8(cli(recorded, &[&asked[..], source].concat()).stdout).unwrap();
        assert!(text.starts_with("WBTC (scaled_ui), gaps at 5,000 USD"), "{text}");
        assert!(text.contains("0 of 20 regular sessions and 1 of 4 weekends"), "{text}");
        assert!(text.contains("normal") && text.contains("scheduled"), "{text}");
        let listed = cli(recorded, &[&["equities"][..], source].concat());
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert!(listed.contains(&named) && listed.contains("weekend"), "{listed}");
        let file = [&asked[..], source, &["--file", "made.json"]].concat();
        assert_eq!(cli(recorded, &file).status.code(), Some(0));
        let verify = ["verify", "made.json", "--trust", "key", "--snapshots", "exitgap.db"];
        assert_eq!(cli(recorded, &verify).status.code(), Some(0));
    }
}
