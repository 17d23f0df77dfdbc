//! One exit over several venues in each slot of a week after a shock: the figure for real contracts, and its
//! recomputation from the file.

use std::fs;
use std::process::{Command, Output};

use exitgap_tests::binaries;
use exitgap_tests::devchain::World;
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::here::{Here, With, stored};
use crate::scenes::service::{Recorded, Service, configured, record_in};
use crate::scenes::store::{OtherKind, slot};

fn cli(recorded: &Recorded, arguments: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(arguments).current_dir(recorded.folder.path()).output().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_shock_it_is_what_the_slots_say_and_with_one_it_is_worse() {
    let (chain, world) = scene().await;
    let weth = format!("{:#x}", world.assets[World::WETH].token.address);
    let folder = configured(&chain, &world);
    let recorded = record_in(&chain, world, folder, 3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let venues: Vec<String> = [0, World::FIRST_V2].map(|index| recorded.pool(index)).into();
    let ask = |venues: &[String], query: &str| {
        let named: Vec<String> = venues.iter().map(|pool| format!("venue={pool}/{weth}")).collect();
        service.get(&format!("/v1/stress?{}&{query}", named.join("&"))).found()
    };
    // With one venue and no shock: the worst slot, the book and the depth equal those of the recorded series.
    let first = &venues[..1];
    let told = ask(first, "size_usd=10000&limit_pct=0.01");
    let pool = &venues[0];
    let series =
        service.get(&format!("/v1/stress/{pool}?base={weth}&size_usd=10000&limit_pct=0.01"));
    let series = series.found();
    assert_eq!((&told["figure"], &told["have"]), (&json!("stress/2"), &json!(3)));
    let worst = &told["worst_slots"][0];
    assert_eq!(worst["exit_gap_pct"], series["worst_gap"]["exit_gap_pct"]);
    assert_eq!(worst["time"], series["worst_gap"]["time"]);
    assert_eq!(told["lowest_depth_usd"], series["lowest_depth"]["depth_usd"]);
    assert_eq!(told["lowest_depth_book_usd"], series["lowest_depth_book"]["book_usd"]);
    assert_eq!(told["above"], series["detail"]["above"]);
    for field in ["gap_q50_pct", "gap_q95_pct"] {
        assert_eq!(told[field], series["detail"][field], "{field}");
    }
    // Removed liquidity, a fallen price, and a second venue.
    let number = |of: &Value, field: &str| of[field].as_f64().unwrap();
    let worst = |of: &Value| number(&of["worst_slots"][0], "exit_gap_pct");
    let thinned = ask(first, "size_usd=10000&haircut_pct=60");
    assert!(worst(&thinned) > worst(&told), "{thinned}");
    assert!(number(&thinned, "lowest_book_usd") < number(&told, "lowest_book_usd") / 2.0);
    let fallen = ask(first, "size_usd=10000&haircut_pct=60&fall_pct=30");
    assert!(number(&fallen, "lowest_depth_usd") < number(&thinned, "lowest_depth_usd"));
    let both = ask(&venues, "size_usd=10000&haircut_pct=60&fall_pct=30");
    assert!(worst(&both) < worst(&fallen), "two venues take it better than one");
    // A pair takes any size, concentrated liquidity does not.
    let much = ask(first, "size_usd=900000000&haircut_pct=99");
    assert_eq!((&much["slots_unfillable"], &much["gap_q50_pct"]), (&json!(3), &Value::Null));
    assert!(number(&much["worst_slots"][0], "max_fillable_usd") > 0.0);

    proven(&recorded, &service, &both);
    said_by_the_command_line(&recorded, &service, &venues, &both);
    refused(&service, &venues);
    assert_eq!(service.end(), Some(0));
}

/// The file proves the figure; a file with a changed parameter or result fails.
fn proven(recorded: &Recorded, service: &Service, told: &Value) {
    let url = told["figure_url"].as_str().unwrap();
    let file = service.get(&url[url.find("/api/").unwrap()..]);
    assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
    fs::write(recorded.path("stress.json"), &file.body).unwrap();
    fs::write(recorded.path("key"), service.get("/log/verifier-key").body).unwrap();
    let url = format!("http://{}", service.address);
    let verify = |file: &str, snapshots: &str| {
        let asked = ["verify", file, "--json", "--trust", "key", "--snapshots", snapshots];
        let output = cli(recorded, &asked);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), report["verdict"].as_str().unwrap_or_default().to_owned())
    };
    for snapshots in ["exitgap.db", &url] {
        let found = verify("stress.json", snapshots);
        assert_eq!(found, (Some(0), "valid".to_owned()), "{snapshots}");
    }
    let whole = String::from_utf8(file.body).unwrap();
    for (name, from, to) in [
        ("result.json", "\"have_slots\":3", "\"have_slots\":4"),
        ("terms.json", "\"haircut_pct\":\"60\"", "\"haircut_pct\":\"61\""),
    ] {
        let text = whole.replacen(from, to, 1);
        assert_ne!(text, whole);
        fs::write(recorded.path(name), text).unwrap();
        assert_eq!(verify(name, "exitgap.db"), (Some(6), "invalid".to_owned()), "{name}");
    }
}

fn said_by_the_command_line(
    recorded: &Recorded,
    service: &Service,
    venues: &[String],
    told: &Value,
) {
    let url = format!("http://{}", service.address);
    let named: Vec<String> = venues.iter().map(|pool| format!("{pool}/WETH")).collect();
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let shock = ["--size-usd", "10k", "--haircut-pct", "60", "--fall-pct", "30"];
    let asked = [&["stress"][..], &named, &shock].concat();
    for source in [["--db", "exitgap.db"], ["--api", &url]] {
        let output = cli(recorded, &[&asked[..], &source, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        for field in ["worst_slots", "gap_q95_pct", "venues", "lowest_book_usd", "from"] {
            assert_eq!(said[field], told[field], "{field}");
        }
        let text =
            String::from_utf8(cli(recorded, &[&asked[..], &source].concat()).stdout).unwrap();
        for expected in ["60% of liquidity withdrawn", "3 checked", "stress/2", "PREVIEW"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        let kept = [&asked[..], &source, &["--file", "kept.json"]].concat();
        assert_eq!(cli(recorded, &kept).status.code(), Some(0));
        let [kept, file] = ["kept.json", "stress.json"].map(|name| fs::read(recorded.path(name)));
        assert_eq!(kept.unwrap(), file.unwrap());
    }
    let base = [&asked[..], &["--base", "token0", "--db", "exitgap.db"]].concat();
    let refused = cli(recorded, &base);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        refused.status.code() == Some(2) && said.contains("give the token for each pool"),
        "{said}"
    );
}

/// Invalid questions, and questions without an answer.
fn refused(service: &Service, venues: &[String]) {
    let [first, second] = [&venues[0], &venues[1]];
    for (query, status, code, field) in [
        ("size_usd=1".to_owned(), 400, "invalid_parameter", "venue"),
        (format!("venue={first}&venue={first}&size_usd=1"), 400, "invalid_parameter", "venue"),
        (format!("venue={first}"), 400, "invalid_parameter", "size_usd"),
        (format!("venue={first}&size_usd=0"), 400, "invalid_parameter", "size_usd"),
        (
            format!("venue={first}&size_usd=1&haircut_pct=99.1"),
            400,
            "invalid_parameter",
            "haircut_pct",
        ),
        (format!("venue={first}&size_usd=1&fall_pct=100"), 400, "invalid_parameter", "fall_pct"),
        (format!("venue={first}&size_usd=1&limit_pct=101"), 400, "invalid_parameter", "limit_pct"),
        (
            format!("venue={first}/WETH&venue={second}/USDC&size_usd=1"),
            400,
            "invalid_parameter",
            "venue",
        ),
        (format!("venue={first}&size_usd=1&min_days_observed=9"), 412, "series_too_short", ""),
    ] {
        let answer = service.get(&format!("/v1/stress?{query}"));
        let (found, said, at) = answer.problem();
        assert_eq!((found, said.as_str()), (status, code), "{query}");
        assert!(field.is_empty() || at.as_deref() == Some(field), "{query}: {at:?}");
    }
    let by_name = service.get(&format!("/api/v1/stress?venue={first}/WETH&size_usd=1"));
    assert_eq!(by_name.problem().1, "invalid_parameter");
}

#[test]
fn a_pool_of_another_kind_is_looked_at_as_it_is_and_not_after_a_shock() {
    let mut pool = OtherKind::new(3);
    let slots: Vec<_> = (0..3).map(|n| vec![pool.recorded(slot(n))]).collect();
    let folder = stored(&slots);
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    let id = here.get("/v1/pools").found()["pools"][0]["pool"].as_str().unwrap().to_owned();
    let told = here.get(&format!("/v1/stress?venue={id}&size_usd=1000")).found();
    assert_eq!((&told["have"], &told["slots_unanswered"]), (&json!(3), &json!(0)));
    for shock in ["haircut_pct=10", "fall_pct=10"] {
        let (status, code, _) =
            here.get(&format!("/v1/stress?venue={id}&size_usd=1000&{shock}")).problem();
        assert_eq!((status, code.as_str()), (422, "figure_unsupported_kind"));
    }
}
