//! The largest size within a gap, and one sale in several orders: the same answers as on the command line, with
//! evidence.

use std::process::Command;

use exitgap_tests::binaries;
use serde_json::{Value, json};

use crate::scenes::here::{Here, With, stored};
use crate::scenes::service::{Recorded, Service, recorded};
use crate::scenes::store::{BusyPool, slot};

/// The fields that only a service has, and the age, which depends on the time.
const OF_A_SERVICE: [&str; 5] =
    ["snapshot_age_s", "evidence_url", "snapshot_url", "window_url", "depths_url"];

/// The command line's answer for the recorded series.
fn said(recorded: &Recorded, arguments: &[&str]) -> Value {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(arguments).args(["--json", "--db", "exitgap.db"]);
    let output = command.current_dir(recorded.folder.path()).output().unwrap();
    let text = if output.status.success() { output.stdout } else { output.stderr };
    serde_json::from_slice(&text).unwrap()
}

/// A document without the fields that a service adds.
fn plain(document: &Value) -> Value {
    let mut document = document.clone();
    let fields = document.as_object_mut().unwrap();
    fields.retain(|name, _| !OF_A_SERVICE.contains(&name.as_str()));
    document
}

/// The evidence at the address in an answer.
fn evidence(service: &Service, answer: &Value) -> Value {
    let url = answer["evidence_url"].as_str().unwrap();
    let (_, target) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    service.get(&format!("/{target}")).found()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_size_is_the_command_lines_and_proven() {
    let recorded = recorded(3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let (mut found, mut nothing) = (0, 0);
    for index in 0..recorded.world.pools.len() {
        let pool = recorded.pool(index);
        for (gap, base, at) in [
            ("2", "token0", ""),
            ("0.5", "token1", "2026-08-22T00:05:00Z"),
            ("-100", "token0", ""),
            ("100", "token1", ""),
        ] {
            let instant = if at.is_empty() { String::new() } else { format!("&at={at}") };
            let target = format!("/v1/size/{pool}?gap_pct={gap}&base={base}{instant}");
            let answer = service.get(&target).found();
            let mut arguments = vec!["size", &pool, "--base", base, "--gap", gap];
            arguments.extend(if at.is_empty() { vec![] } else { vec!["--at", at] });
            assert_eq!(plain(&answer), plain(&said(&recorded, &arguments)), "{target}");
            assert_eq!(answer["gap_limit_pct"].to_string(), gap);
            for name in ["snapshot_url", "window_url", "days_observed", "method_version"] {
                assert!(!answer[name].is_null(), "{name}: {answer}");
            }
            if answer["exit"].is_null() {
                assert_eq!(answer["max_size_usd"], 0, "{answer}");
                assert_eq!(answer.get("evidence_url"), None);
                nothing += 1;
                continue;
            }
            // The evidence is for the size found, in this slot.
            let proven = evidence(&service, &answer);
            let size = answer["max_size_usd"].to_string();
            assert_eq!(proven["request"]["size_usd"].as_str(), Some(size.as_str()));
            let slot = &answer["method"]["depth_source"]["slot"];
            assert_eq!(&proven["request"]["slot"], slot);
            let gap_of = |value: &Value| value.as_str().unwrap().parse::<f64>().unwrap();
            let claimed = answer["exit"]["exit_gap_pct"].as_f64();
            assert_eq!(claimed, Some(gap_of(&proven["result"]["exit_gap_pct"])));
            assert!(claimed.unwrap() <= gap.parse().unwrap());
            found += 1;
        }
    }
    assert!(found > 10 && nothing > 5, "{found} found, {nothing} not");
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_simulation_is_the_command_lines_and_its_size_at_once_proven() {
    let recorded = recorded(3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(0);
    // A size that the pool cannot fill at once, but in several orders with recovery in between.
    let beyond = service.get(&format!("/v1/exit/{pool}?size_usd=1000000000&base=token0"));
    let most = beyond.json()["max_fillable_usd"].as_f64().unwrap();
    let beyond = format!("{:.0}", most * 1.5);
    let mut refused_at_once = 0;
    for (size, orders, recovery, interval) in [
        ("25000.5", "1", "0", "0"),
        ("25000", "7", "33.333333", "12"),
        ("100000", "1000", "100", "4294967295"),
        (&beyond, "4", "100", "0"),
    ] {
        let target = format!(
            "/v1/simulate/{pool}?size_usd={size}&orders={orders}&recovery_pct={recovery}&interval_s={interval}&base=token0"
        );
        let answer = service.get(&target).found();
        let arguments = [
            ["simulate", &pool, "--base", "token0"],
            ["--size-usd", size, "--orders", orders],
            ["--recovery-pct", recovery, "--interval-s", interval],
        ];
        let said = said(&recorded, arguments.as_flattened());
        assert_eq!(plain(&answer), plain(&said), "{target}");
        assert_eq!(answer["fills"].as_array().unwrap().len().to_string(), orders);
        assert_eq!(answer["method"]["assumed_size_usd"].to_string(), size);
        let proven = evidence(&service, &answer);
        assert_eq!(proven["request"]["size_usd"], size);
        if answer["at_once"]["exit"].is_null() {
            assert_eq!(answer["at_once"]["problem"]["code"], "beyond_liquidity");
            assert_eq!(proven["refusal"]["code"], "beyond_liquidity", "{proven}");
            refused_at_once += 1;
        } else {
            let at_once = answer["at_once"]["exit"]["exit_gap_pct"].as_f64().unwrap();
            let proven = proven["result"]["exit_gap_pct"].as_str().unwrap();
            assert_eq!(Some(at_once), proven.parse().ok());
        }
    }
    assert_eq!(refused_at_once, 1);
    // Without these parameters, no recovery and no time passes: the document is the same.
    let short = format!("/v1/simulate/{pool}?size_usd=1000&orders=2");
    let whole = format!("{short}&recovery_pct=0&interval_s=0");
    assert_eq!(plain(&service.get(&short).found()), plain(&service.get(&whole).found()));
    // A size that no order fills is rejected, as on the command line.
    let answer = service.get(&format!("/v1/simulate/{pool}?size_usd={beyond}&orders=3"));
    assert_eq!(answer.problem(), (422, "beyond_liquidity".to_owned(), Some("size_usd".to_owned())));
    let refusal = said(&recorded, &["simulate", &pool, "--size-usd", &beyond, "--orders", "3"]);
    for name in ["code", "detail", "hint", "field"] {
        assert_eq!(answer.json()[name], refusal[name], "{name}");
    }
    assert_eq!(service.end(), Some(0));
}

#[test]
fn what_is_no_size_or_simulation_is_refused_by_name() {
    let folder = stored(&[vec![BusyPool::new(1, 4).recorded(slot(0))]]);
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    let pool = BusyPool::new(1, 4).id.to_string();
    let refused = |query: &str, status: u16, code: &str, field: &str| {
        let answer = here.get(&query.replace("{pool}", &pool));
        assert_eq!(answer.problem(), (status, code.to_owned(), Some(field.to_owned())), "{query}");
        assert!(answer.json()["hint"].as_str().is_some(), "{query}: {}", answer.json());
    };
    let invalid = |query: &str, field: &str| refused(query, 400, "invalid_parameter", field);
    for gap in [
        "",
        "x",
        "1e1",
        "+1",
        "-100.000001",
        "100.000001",
        "0.0000001",
        "1,5",
        "%32%20",
        "2.",
        ".5",
    ] {
        invalid(&format!("/v1/size/{{pool}}?gap_pct={gap}"), "gap_pct");
    }
    invalid("/v1/size/{pool}", "gap_pct");
    invalid("/v1/size/{pool}?gap_pct=1&gap_pct=1", "gap_pct");
    invalid("/v1/size/{pool}?gap_pct=1&at=now", "at");
    refused("/v1/size/{pool}?gap=1", 400, "unknown_parameter", "gap");
    refused("/v1/size/{pool}?gap_pct=1&size_usd=5", 400, "unknown_parameter", "size_usd");
    refused("/v1/size/{pool}?gap_pct=1&base=DOGE", 404, "unknown_base", "base");
    refused("/v1/size/nonsense?gap_pct=1", 400, "invalid_pool", "pool");
    refused(
        "/v1/size/anvil:0x00000000000000000000000000000000000000ee?gap_pct=1",
        404,
        "unknown_pool",
        "pool",
    );
    let simulate = "/v1/simulate/{pool}?size_usd=10&orders=2";
    for orders in ["", "0", "1001", "-1", "1.5", "4294967297", "x", "%2B2"] {
        invalid(&format!("/v1/simulate/{{pool}}?size_usd=10&orders={orders}"), "orders");
    }
    for recovery in ["", "-1", "100.000001", "0.0000001", "x", "1e1"] {
        invalid(&format!("{simulate}&recovery_pct={recovery}"), "recovery_pct");
    }
    for interval in ["", "-1", "4294967296", "1.5", "x"] {
        invalid(&format!("{simulate}&interval_s={interval}"), "interval_s");
    }
    invalid("/v1/simulate/{pool}?orders=2", "size_usd");
    invalid("/v1/simulate/{pool}?size_usd=10", "orders");
    invalid("/v1/simulate/{pool}?size_usd=0&orders=2", "size_usd");
    invalid(&format!("{simulate}&orders=2"), "orders");
    refused(&format!("{simulate}&gap_pct=2"), 400, "unknown_parameter", "gap_pct");
    refused(&format!("{simulate}&at=2027-01-01T00:00:00Z"), 404, "after_series", "at");
    assert_eq!(here.get(&simulate.replace("{pool}", &pool)).found()["orders"], json!(2));
}
