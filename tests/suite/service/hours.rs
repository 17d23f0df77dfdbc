//! Open compared with closed markets, in recorded series.

use std::fs;
use std::path::Path;
use std::process::Command;

use exitgap_core::series::Slot;
use exitgap_tests::binaries;
use serde_json::{Value, json};

use crate::scenes::here::{Here, With};
use crate::scenes::hours::{OPENING, a_weekend_and_an_hour};
use crate::scenes::service::{Service, configured_with, record_in};

#[test]
fn a_weekend_and_what_the_market_opened_to() {
    let folder = a_weekend_and_an_hour();
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    let ids = here.get("/v1/pools").found();
    let ids: Vec<&str> = ids["pools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pool| pool["pool"].as_str().unwrap())
        .collect();
    let hours = here.get(&format!("/v1/hours/{}?size_usd=1000&base=token0", ids[0])).found();
    assert_eq!(hours["market_open"], true);
    assert_eq!(hours["session_note"], "XNYS@1/regular");
    assert_eq!(hours["oracle_state"], "fresh");
    assert_eq!(hours["sessions"][0]["calendar"], "xnys");
    assert_eq!(hours["opens_in_s"], Value::Null);
    // The market closes at 20:00 UTC, about 5 h 35 min after the newest slot.
    let closes_in_s = hours["closes_in_s"].as_u64().unwrap();
    let newest = u64::from(OPENING + 11) * 300;
    assert!((2 * 86_400 + 72_000 - newest..).take(13).any(|s| s == closes_in_s), "{closes_in_s}");
    assert_eq!(
        (&hours["closure_kind"], &hours["closure_length_s"]),
        (&json!("night"), &json!(63_000))
    );
    assert_eq!(
        (&hours["enough"], &hours["have"], &hours["needed"]),
        (&json!(false), &json!(0), &json!(4))
    );
    assert_eq!(hours["thin_when_closed"], Value::Null);

    // Every slot counts as open or closed, by its block, and the list includes the weekend although it is the only one.
    let weekend = &hours["closed"][1];
    assert_eq!((&weekend["closure_kind"], &weekend["have"]), (&json!("weekend"), &json!(1)));
    let open = (0..12).filter(|n| {
        let at = Slot::new(5_957_856 + u64::from(OPENING + n)).unwrap();
        exit(&here, ids[0], at)["market_open"] == true
    });
    assert_eq!(hours["open"]["slots"], open.count());
    let all = hours["open"]["slots"].as_u64().unwrap() + weekend["slots"].as_u64().unwrap();
    assert_eq!(all, u64::from(OPENING + 12));
    for statistic in ["depth_usd_q50", "depth_usd_lowest", "exit_gap_pct_q50", "exit_gap_pct_q95"] {
        assert_eq!(weekend[statistic], Value::Null, "{statistic}");
        assert!(hours["open"][statistic].is_number(), "{statistic}");
    }
    let [closure] = hours["closures"].as_array().unwrap().as_slice() else { panic!("{hours}") };
    assert_eq!(closure["opens_at"], "2026-08-24T13:30:00Z");
    assert_eq!(closure["slots_recorded"], weekend["slots"]);

    // The proceeds of the size in the last slot before, compared with the first oracle price after.
    let last = at(&here, ids[0], closure["last_closed_slot"].as_str().unwrap());
    let first = at(&here, ids[0], closure["reopened_slot"].as_str().unwrap());
    assert_eq!((&last["market_open"], &first["market_open"]), (&json!(false), &json!(true)));
    assert_eq!(closure["evidence_url"], last["evidence_url"]);
    let number = |of: &Value, field: &str| of[field].as_f64().unwrap();
    let price = number(&first, "oracle_price_usd");
    let expected = 100.0 * (1.0 - number(&last, "realized_price_usd") / price);
    let found = number(closure, "reopening_gap_pct");
    assert!((found - expected).abs() < 1e-5, "{found} {expected}");

    is_proven(folder.path(), &here, &hours);

    // If a market never closes, nothing is missing.
    let around = here.get(&format!("/v1/hours/{}?size_usd=1000", ids[1])).found();
    assert_eq!((&around["enough"], &around["needed"]), (&json!(true), &json!(0)));
    assert_eq!((&around["session_note"], &around["closures"]), (&json!("continuous"), &json!([])));
    assert_eq!(around["open"]["slots"], OPENING + 12);
    for (query, code) in
        [("", 400), ("?size_usd=7", 400), ("?size_usd=1000&min_days_observed=9", 412)]
    {
        assert_eq!(here.get(&format!("/v1/hours/{}{query}", ids[0])).status, code, "{query}");
    }
}

/// The figure file equals the answer and proves it; a changed file fails.
fn is_proven(folder: &Path, here: &Here, hours: &Value) {
    let url = hours["figure_url"].as_str().unwrap();
    let file = here.get(&url[url.find("/api/").unwrap()..]);
    assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let told = file.found()["result"].clone();
    let number = |text: &Value| text.as_str().map(|text| text.parse::<f64>().unwrap());
    for (spread, answer) in [
        (&told["open"], &hours["open"]),
        (&told["closed"][0]["spread"], &hours["closed"][0]),
        (&told["closed"][1]["spread"], &hours["closed"][1]),
    ] {
        for (field, same) in [
            ("depth_q50_usd", "depth_usd_q50"),
            ("depth_lowest_usd", "depth_usd_lowest"),
            ("gap_q50_pct", "exit_gap_pct_q50"),
            ("gap_q95_pct", "exit_gap_pct_q95"),
        ] {
            assert_eq!(number(&spread[field]), answer[same].as_f64(), "{field}");
        }
        assert_eq!(
            (&spread["slots"], &spread["slots_refused"]),
            (&answer["slots"], &answer["slots_refused"])
        );
    }
    let ([of_file], [closure]) = (
        told["closures"].as_array().unwrap().as_slice(),
        hours["closures"].as_array().unwrap().as_slice(),
    ) else {
        panic!("{told}")
    };
    assert_eq!(number(&of_file["reopening_gap_pct"]), closure["reopening_gap_pct"].as_f64());
    let slot = |number: &Value| Slot::new(number.as_u64().unwrap()).unwrap().to_string();
    for field in ["last_closed_slot", "reopened_slot"] {
        assert_eq!(slot(&of_file[field]), closure[field].as_str().unwrap(), "{field}");
    }
    assert_eq!(of_file["slots"], closure["slots_recorded"]);
    assert_eq!((&told["slots_missing"], &told["slots_unknown"]), (&json!(0), &json!(0)));

    fs::write(folder.join("key"), here.get("/log/verifier-key").body).unwrap();
    let whole = String::from_utf8(file.body).unwrap();
    let changed = whole.replacen("\"size_usd\":\"1000\"", "\"size_usd\":\"1000000\"", 1);
    assert_ne!(changed, whole);
    for (text, expected) in [(whole, (Some(0), "valid")), (changed, (Some(6), "invalid"))] {
        fs::write(folder.join("hours.json"), text).unwrap();
        let mut command = Command::new(binaries::path("exitgap"));
        command.current_dir(folder).args(["verify", "hours.json", "--json", "--trust", "key"]);
        let output = command.args(["--snapshots", "series.db"]).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = (output.status.code(), report["verdict"].as_str().unwrap());
        assert_eq!(found, expected, "{report}");
    }
}

fn at(here: &Here, pool: &str, at: &str) -> Value {
    here.get(&format!("/v1/exit/{pool}?size_usd=1000&base=token0&at={at}")).found()
}

fn exit(here: &Here, pool: &str, slot: Slot) -> Value {
    at(here, pool, &slot.to_string())
}

/// A token's calendar: from the configuration to answers, evidence and the command line.
#[tokio::test(flavor = "multi_thread")]
async fn a_configured_calendar_is_recorded_on_the_development_chain() {
    let (chain, world) = crate::scenes::chain::scene().await;
    let token = world.pools[0].pool.token0;
    let tables =
        format!("\n[[token]]\nchain = \"anvil\"\naddress = \"{token:#x}\"\ncalendar = \"XNYS\"\n");
    let folder = configured_with(&chain, &world, &tables);
    let recorded = record_in(&chain, world, folder, 3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(0);
    let exit = service.get(&format!("/v1/exit/{pool}?size_usd=1000")).found();
    assert_eq!(
        (&exit["market_open"], &exit["session_note"]),
        (&json!(false), &json!("XNYS@1/weekend"))
    );
    let evidence = exit["evidence_url"].as_str().unwrap();
    let evidence = service.get(&evidence[evidence.find("/api/").unwrap()..]).found();
    assert_eq!(evidence["result"]["market_open"], false);
    assert_eq!(evidence["snapshot"]["sessions"][0]["state"], "weekend");
    let hours = service.get(&format!("/v1/hours/{pool}?size_usd=10000")).found();
    assert_eq!((&hours["closure_kind"], &hours["have"]), (&json!("weekend"), &json!(1)));
    assert!(hours["opens_in_s"].as_u64().unwrap() > 86_400);

    for source in [
        ["--db", recorded.path("exitgap.db").to_str().unwrap()],
        ["--api", &format!("http://{}", service.address)],
    ] {
        let cli = |more: &[&str]| {
            let mut command = Command::new(binaries::path("exitgap"));
            command.args(["hours", &pool]).args(source).args(more).output().unwrap()
        };
        let output = cli(&["--json"]);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        for field in ["closed", "open", "sessions", "closure_kind", "opens_in_s", "enough"] {
            assert_eq!(told[field], hours[field], "{field}");
        }
        let text = String::from_utf8(cli(&[]).stdout).unwrap();
        assert!(
            text.contains("CLOSED (XNYS@1/weekend)") && text.contains("1 of 4 closures needed"),
            "{text}"
        );
    }
}
