//! Replaying a rule from a published log and from a database gives the same bytes, even if the process was interrupted
//! in between.

use std::fs;
use std::process::{Command, Output};

use exitgap_core::alerts::{AlertRule, AlertRun};
use exitgap_core::series::Slot;
use exitgap_store::LogFolder;
use exitgap_tests::binaries;
use exitgap_tests::devchain::World;
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::service::{Recorded, Service, configured, record_blocks};

fn run(recorded: &Recorded, arguments: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(arguments).current_dir(recorded.folder.path()).output().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_says_the_same_of_a_published_log_and_of_the_database() {
    let (chain, world) = scene().await;
    let folder = configured(&chain, &world);
    let pool = world.pools[0].pool;
    let [weth, usdc] = [World::WETH, World::USDC].map(|asset| &world.assets[asset]);
    let last = record_blocks(&chain, &world, &folder, 12, |place| match place {
        // The pool's price falls far below the oracle's and recovers.
        3 => vec![chain.swap_tx(&pool, weth.token.address, weth.worth(9_000_000))],
        7 => vec![chain.swap_tx(&pool, usdc.token.address, usdc.worth(8_500_000))],
        _ => Vec::new(),
    })
    .await;
    let base = if weth.token.address == pool.token0 { "token0" } else { "token1" };
    let recorded = Recorded { folder, world, last };
    let first = Slot::new(u64::from(last.number()) - 11).unwrap();
    let rule = json!({
        "v": 1, "alert": "mine", "pool": recorded.pool(0), "base": base, "kind": "gap_above",
        "size_usd": "10000", "pct": "2", "first_slot": first.number(), "web_url": "https://exits.example",
        "clear_for_slots": 2,
    });
    fs::write(recorded.path("rule.json"), rule.to_string()).unwrap();
    let of_db = run(&recorded, &["alert", "replay", "rule.json", "--db", "exitgap.db", "--json"]);
    assert_eq!(of_db.status.code(), Some(0), "{of_db:?}");
    let checked =
        exitgap_server::config::CheckedConfig::from_file(&recorded.path("exitgap.toml")).unwrap();
    let log = LogFolder::new(&checked.config.evidence.folder);
    let log = log.path().to_str().unwrap().to_owned();
    let asked = ["alert", "replay", "rule.json", "--log", &log, "--json"];
    let of_log = run(&recorded, &asked);
    assert_eq!(of_log.status.code(), Some(0), "{of_log:?}");
    assert_eq!(of_log.stdout, of_db.stdout, "the same bytes");
    let events: Vec<Value> = String::from_utf8(of_db.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<_> = events
        .iter()
        .map(|event| {
            let slot = event["data"]["slot"].as_u64().unwrap() - u64::from(first.number());
            (event["type"].as_str().unwrap(), slot)
        })
        .collect();
    assert_eq!(told, [("alert.firing", 4), ("alert.resolved", 8)], "{events:?}");
    let size = events[0]["data"]["checkpoint"]["size"].as_u64().unwrap();
    assert_eq!(size, 5, "the first checkpoint that covers the fifth slot");
    // The same as text, with the log's key as an option.
    let key = fs::read_to_string(std::path::Path::new(&log).join("verifier-key")).unwrap();
    let text = ["alert", "replay", "rule.json", "--log", &log, "--trust", key.trim()];
    let text = String::from_utf8(run(&recorded, &text).stdout).unwrap();
    for said in
        ["gap_above 2 of token", "alert.firing", "alert.resolved", "ok, up to 2026-08-22T00:55:00Z"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    refused(&recorded, &rule, &log);
    served(&recorded, &rule, &of_log.stdout);
    // For a log that fails its checks, the command reports the failure and prints the events found before it.
    let manifest = std::path::Path::new(&log).join(format!("slots/{}.jsonl", last.number() - 1));
    let bytes = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, bytes.replacen("\"pools\":", "\"pools\":1", 1)).unwrap();
    let broken = run(&recorded, &asked);
    assert_eq!(broken.status.code(), Some(6), "{broken:?}");
    assert!(String::from_utf8(broken.stderr).unwrap().contains("the log failed the audit"));
}

/// A service returns the same events for the same rule, to the letter, and its own version of the rule can be replayed.
fn served(recorded: &Recorded, rule: &Value, replayed: &[u8]) {
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(0);
    let text = |name: &str| rule[name].as_str().unwrap().to_owned();
    let asked = format!(
        "/v1/alerts/backtest/{pool}?kind=gap_above&base={}&size_usd={}&pct={}&clear_for_slots=2",
        text("base"),
        text("size_usd"),
        text("pct")
    );
    let told = service.get(&asked).found();
    assert_eq!((&told["slots"], &told["alerts_version"]), (&json!(12), &json!("alerts/1")));
    assert_eq!(told["state"]["standing"], "ok");
    let types: Vec<&str> = told["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["alert.firing", "alert.resolved"]);
    // Replaying the service's rule from the database gives each event document byte for byte.
    fs::write(recorded.path("told.json"), told["rule"].to_string()).unwrap();
    let again = run(recorded, &["alert", "replay", "told.json", "--db", "exitgap.db", "--json"]);
    let documents = told["events"].as_array().unwrap().iter();
    let lines: String = documents.map(|one| one["document"].to_string() + "\n").collect();
    assert_eq!(String::from_utf8(again.stdout).unwrap(), lines);
    assert_ne!(lines.as_bytes(), replayed, "another name, another address: other events");
    let ended = service.get(&format!("{asked}&to=2026-08-22T00:20:00Z")).found();
    assert_eq!((&ended["state"]["standing"], &ended["slots"]), (&json!("firing"), &json!(5)));
    assert_eq!(ended["events"][0], told["events"][0], "asked later it is the same event");
    for (query, field) in [
        ("kind=gap_above&pct=2", "size_usd"),
        ("kind=gap_above&size_usd=1&pct=2&usd=5", "usd"),
        ("kind=gap_above&size_usd=1&pct=2&clear_pct=3", "clear_pct"),
        ("kind=oracle_stale&for_slots=0", "for_slots"),
        ("kind=oracle_stale&alert=Mine", "alert"),
        ("kind=stale", "kind"),
        ("size_usd=1", "kind"),
        ("kind=missing&from=2026-08-01T00:00:00Z&to=2026-10-01T00:00:00Z", ""),
    ] {
        let problem = service.get(&format!("/v1/alerts/backtest/{pool}?{query}"));
        if field.is_empty() {
            // If the period exceeds the recorded series, the answer covers all of the recorded slots.
            assert_eq!(problem.found()["slots"], 12);
            continue;
        }
        let body = problem.json();
        assert_eq!((&body["code"], &body["field"]), (&json!("invalid_parameter"), &json!(field)));
    }
    assert_eq!(service.get("/v1/alerts").problem().0, 404, "nothing is kept here");
    assert_eq!(service.end(), Some(0));
}

/// An invalid rule, and a pool that is not recorded.
fn refused(recorded: &Recorded, rule: &Value, log: &str) {
    let with = |field: &str, value: Value| {
        let mut changed = rule.clone();
        changed[field] = value;
        fs::write(recorded.path("other.json"), changed.to_string()).unwrap();
        let output = run(recorded, &["alert", "replay", "other.json", "--log", log]);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = with("pct", json!("2.5 %"));
    assert!(code == Some(2) && said.contains("pct: ") && said.contains("--help"), "{said}");
    let (code, said) = with("usd", json!("5"));
    assert!(code == Some(2) && said.contains("usd: gap_above does not use this field"), "{said}");
    let (code, said) = with("pool", json!(format!("anvil:0x{}", "11".repeat(20))));
    assert!(code == Some(4) && said.contains("the log has no pool"), "{said}");
    let absent = run(recorded, &["alert", "replay", "absent.json", "--log", log]);
    assert_eq!(absent.status.code(), Some(5));
    let neither = run(recorded, &["alert", "replay", "rule.json"]);
    assert_eq!(neither.status.code(), Some(2));
    let read = AlertRule::from_json(rule.to_string().as_bytes()).unwrap();
    assert_eq!(AlertRun::new(read.clone()).next(), Some(read.first_slot));
}
