//! How the book around the price shrinks after a price move: the figure for real contracts, and its recomputation from
//! the file.

use std::fs;
use std::process::{Command, Output};

use exitgap_core::series::Slot;
use exitgap_tests::binaries;
use exitgap_tests::devchain::World;
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::here::{Here, With, stored};
use crate::scenes::service::{Recorded, Service, configured, record_blocks};
use crate::scenes::store::{OtherKind, slot};

fn cli(recorded: &Recorded, arguments: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(arguments).current_dir(recorded.folder.path()).output().unwrap()
}

/// The target of a link.
fn target(url: &Value) -> String {
    let url = url.as_str().unwrap();
    url[url.find("/api/").unwrap()..].to_owned()
}

/// The same target with a later last slot that is not recorded yet.
pub fn to_a_later_slot(target: &str) -> String {
    let (before, named) = target.split_once("&to=").unwrap();
    let rest = named.find('&').map_or("", |end| &named[end..]);
    format!("{before}&to=2027-08-22T00:00:00Z{rest}")
}

fn whole(step: &Value, field: &str) -> i64 {
    step[field].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_and_a_withdrawal_of_real_contracts_are_told_apart() {
    let (chain, world) = scene().await;
    let folder = configured(&chain, &world);
    let (pool, weth) = (world.pools[0].pool, &world.assets[World::WETH]);
    let positions = world.pools[0].positions.clone();
    // A sale in the third slot; half of the liquidity is removed in the fifth.
    let last = record_blocks(&chain, &world, &folder, 7, |index| match index {
        2 => vec![chain.swap_tx(&pool, weth.token.address, weth.worth(400_000))],
        4 => positions.iter().map(|one| chain.burn_tx(one, one.liquidity / 2)).collect(),
        _ => Vec::new(),
    })
    .await;
    let recorded = Recorded { folder, world, last };
    let id = recorded.pool(0);
    name_shocks(&recorded, &id);
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let question = format!("/v1/decay/{id}?move_pct=0.05&within_slots=1");
    let told = service.get(&question).found();
    assert_eq!((&told["figure"], &told["status"]), (&json!("decay/1"), &json!("preview")));
    assert_eq!(
        (&told["have"], &told["needed"], &told["enough"]),
        (&json!(7), &json!(2_016), &json!(false))
    );
    let events = told["events"].as_array().unwrap();
    assert_eq!(events.len(), 1, "{told}");
    let third = Slot::new(u64::from(recorded.last.number()) - 4).unwrap();
    assert_eq!(events[0]["time"], third.to_string());
    assert!(events[0]["move_pct"].as_f64().unwrap() < 0.0, "WETH fell: {told}");
    let at = events[0]["at"].as_array().unwrap();
    assert_eq!(at.len(), 3, "of the horizons 0, 1 and 2 lie in the series: {told}");
    for step in at {
        let parts =
            ["book_before_usd", "mechanical_usd", "liquidity_usd"].map(|field| whole(step, field));
        assert_eq!(parts.iter().sum::<i64>(), whole(step, "book_usd"));
    }
    // Swaps alone remove no liquidity, to the dollar; a withdrawal does not move the price.
    assert_eq!((whole(&at[0], "liquidity_usd"), whole(&at[1], "liquidity_usd")), (0, 0));
    assert!(whole(&at[2], "liquidity_usd") < -whole(&at[2], "book_before_usd") / 3, "{told}");
    assert_eq!(whole(&at[1], "book_static_usd"), whole(&at[2], "book_static_usd"));
    // Other pools have no price moves.
    let other = service.get(&format!("/v1/decay/{}?move_pct=0.05", recorded.pool(4))).found();
    assert_eq!(other["events"], json!([]));

    a_stress_takes_what_it_did(&recorded, &service, &id, &told);
    proven(&recorded, &service, &told);
    said_by_the_command_line(&recorded, &service, &id, &told);
    for (query, status, code) in [
        ("move_pct=0", 400, "invalid_parameter"),
        ("move_pct=101", 400, "invalid_parameter"),
        ("move_pct=0.0000001", 400, "invalid_parameter"),
        ("within_slots=49", 400, "invalid_parameter"),
        ("gap_pct=0", 400, "invalid_parameter"),
        ("gap_pct=-1", 400, "invalid_parameter"),
        ("base=DOGE", 404, "unknown_base"),
        ("from=2026-08-23T00:00:00Z&to=2026-08-22T00:00:00Z", 422, "period_reversed"),
        ("from=2027-08-23T00:00:00Z", 404, "after_series"),
        ("min_days_observed=9", 412, "series_too_short"),
        ("size_usd=1000", 400, "unknown_parameter"),
    ] {
        let answer = service.get(&format!("/v1/decay/{id}?{query}"));
        assert_eq!((answer.problem().0, answer.problem().1.as_str()), (status, code), "{query}");
    }
    let unknown = service.get("/api/v1/decay/anvil:0x1111111111111111111111111111111111111111");
    assert_eq!(unknown.problem().1, "unknown_pool");
    assert_eq!(service.get(&format!("/api/v1/decay/{id}?base=WETH")).status, 400);
    assert_eq!(service.end(), Some(0));
}

/// Defines three shocks: all recorded slots, those before the sale, and those of a later day.
fn name_shocks(recorded: &Recorded, pool: &str) {
    let at = |back: u32| Slot::new(u64::from(recorded.last.number() - back)).unwrap();
    let later = |days: u32| Slot::new(u64::from(recorded.last.number() + days * 288)).unwrap();
    let table = |name: &str, from: Slot, to: Slot| {
        format!(
            "\n[[shock]]\nname = \"{name}\"\nabout = \"a sale, and {name}\"\npool = \"{pool}\"\nbase = \"WETH\"\n\
             from = \"{from}\"\nto = \"{to}\"\nmove_pct = \"0.05\"\nwithin_slots = 1\n"
        )
    };
    let tables = [
        table("half-gone", at(6), at(0)),
        table("calm", at(6), at(5)),
        table("to-come", later(1), later(2)),
    ];
    let path = recorded.path("exitgap.toml");
    let whole = fs::read_to_string(&path).unwrap();
    // Figure requests count as many requests, and this test sends many of them.
    let rate = "\n[http]\nrate_per_minute = 6000\n".to_owned();
    fs::write(path, [whole, rate, tables.concat()].concat()).unwrap();
}

/// The stress operation can apply the named effect of the move; it also works for the slots after a move alone.
fn a_stress_takes_what_it_did(recorded: &Recorded, service: &Service, id: &str, told: &Value) {
    let shocks = service.get("/v1/shocks").found();
    assert_eq!(service.get("/v1/shocks").found(), shocks);
    let [shock, calm, to_come] = [0, 1, 2].map(|at| &shocks["shocks"][at]);
    let event = &told["events"][0];
    let number = |of: &Value| of.as_f64().unwrap();
    assert_eq!((&shock["name"], &shock["time"]), (&json!("half-gone"), &event["time"]), "{shocks}");
    assert!((number(&shock["fall_pct"]) + number(&event["move_pct"])).abs() < 1e-9, "{shocks}");
    let step = &event["at"][2];
    let gone = 100.0 * -number(&step["liquidity_usd"]) / number(&step["book_static_usd"]);
    assert!((number(&shock["haircut_pct"]) - gone).abs() < 1e-5, "{shocks} {gone}");
    assert_eq!((&calm["why_not"], &calm["fall_pct"]), (&json!("no_fall"), &Value::Null));
    assert_eq!(to_come["why_not"], "after_series");
    let file = service.get(&target(&shock["figure_url"])).json();
    assert_eq!(file["result"]["events"][0]["slot"], event["slot"]);

    let url = format!("http://{}", service.address);
    let venue = format!("{id}/WETH");
    let asked = ["stress", &venue, "--size-usd", "10k", "--json", "--shock"];
    let cli = |more: &[&str]| cli(recorded, &[&asked[..], more].concat());
    let by_name: Value =
        serde_json::from_slice(&cli(&["half-gone", "--api", &url]).stdout).unwrap();
    assert_eq!(
        (&by_name["haircut_pct"], &by_name["fall_pct"]),
        (&shock["haircut_pct"], &shock["fall_pct"])
    );
    for (more, said) in [
        (&["calm", "--api", &url][..], "shock: calm has no measurements: no_fall"),
        (&["storm", "--api", &url], "available shocks: half-gone, calm, to-come"),
        (&["half-gone", "--db", "exitgap.db"], "give the service with --api"),
        (&["half-gone", "--fall-pct", "1", "--api", &url], "cannot be used with"),
    ] {
        let output = cli(more);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(said), "{said}: {text}");
    }
    let list = self::cli(recorded, &["shocks", "--api", &url]);
    let list = String::from_utf8(list.stdout).unwrap();
    for said in ["half-gone", "a sale, and calm", "no_fall", "liquidity withdrawn %"] {
        assert!(list.contains(said), "{list}");
    }

    let after =
        |query: &str| service.get(&format!("/v1/stress?venue={id}/WETH&size_usd=10000&{query}"));
    let moved = after("after_move_pct=0.05&within_slots=1").found();
    let counts = ["have", "slots_unmoved", "slots_untestable"].map(|field| moved[field].clone());
    assert_eq!(counts, [json!(1), json!(5), json!(1)], "{moved}");
    assert_eq!(moved["worst_slots"][0]["time"], event["time"]);
    let three = after("after_move_pct=0.05").found();
    assert_eq!((&three["have"], &three["within_slots"]), (&json!(2), &json!(3)), "{three}");
    let every = after("").found();
    assert_eq!((&every["have"], every.get("slots_unmoved")), (&json!(7), None));
    let file = service.get(&target(&moved["figure_url"]));
    fs::write(recorded.path("after.json"), &file.body).unwrap();
    fs::write(recorded.path("key"), service.get("/log/verifier-key").body).unwrap();
    let verify = ["verify", "after.json", "--json", "--trust", "key", "--snapshots", "exitgap.db"];
    assert_eq!(self::cli(recorded, &verify).status.code(), Some(0));
    for (query, field) in [
        ("within_slots=3", "after_move_pct"),
        ("after_move_pct=2&within_slots=49", "within_slots"),
        ("after_move_pct=0", "after_move_pct"),
        ("after_move_pct=100.1", "after_move_pct"),
    ] {
        let (status, code, at) = after(query).problem();
        let found = (status, code.as_str(), at.as_deref());
        assert_eq!(found, (400, "invalid_parameter", Some(field)), "{query}");
    }
}

/// The file proves the figure to the command line, with snapshots from a store and from a service.
fn proven(recorded: &Recorded, service: &Service, told: &Value) {
    let file = service.get(&target(&told["figure_url"]));
    assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(service.get(&target(&told["figure_url"])).body, file.body);
    let still_growing = service.get(&to_a_later_slot(&target(&told["figure_url"])));
    assert_eq!(still_growing.body, file.body, "up to the newest slot");
    assert_eq!(still_growing.header("cache-control"), Some("public, max-age=5"));
    let events = &file.json()["result"]["events"];
    assert_eq!(events[0]["slot"], told["events"][0]["slot"]);
    fs::write(recorded.path("decay.json"), &file.body).unwrap();
    fs::write(recorded.path("key"), service.get("/log/verifier-key").body).unwrap();
    let url = format!("http://{}", service.address);
    let verify = |file: &str, more: &[&str]| {
        let output = cli(recorded, &[&["verify", file, "--json"][..], more].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), report["verdict"].as_str().unwrap_or_default().to_owned())
    };
    let trust = ["--trust", "key"];
    for snapshots in ["exitgap.db", &url] {
        let named = [&trust[..], &["--snapshots", snapshots]].concat();
        assert_eq!(verify("decay.json", &named), (Some(0), "valid".to_owned()), "{snapshots}");
    }
    assert_eq!(verify("decay.json", &trust), (Some(7), "incomplete".to_owned()));
    let text = cli(recorded, &["verify", "decay.json", "--trust", "key"]).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("--snapshots exitgap.db") && text.contains("sealed_leaves"), "{text}");
    // A changed digit of the result, and a missing snapshot.
    let whole = String::from_utf8(file.body.clone()).unwrap();
    let changed = whole.replacen("\"have_slots\":7", "\"have_slots\":8", 1);
    let (first, rest) = whole.split_once("\"uses\":[").unwrap();
    let (_, rest) = rest.split_once("},").unwrap();
    for (name, text) in
        [("result.json", changed), ("uses.json", format!("{first}\"uses\":[{rest}"))]
    {
        assert_ne!(text, whole);
        fs::write(recorded.path(name), text).unwrap();
        let named = [&trust[..], &["--snapshots", "exitgap.db"]].concat();
        assert_eq!(verify(name, &named), (Some(6), "invalid".to_owned()), "{name}");
    }
    // A page of snapshots consists of lines, each a snapshot file.
    let lines =
        service.get(&format!("/api/v1/series/{}?slot={}", recorded.pool(0), Slot::FIRST.number()));
    assert_eq!(lines.header("content-type"), Some("application/x-ndjson"));
    assert_eq!(lines.body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count(), 7);
}

fn said_by_the_command_line(recorded: &Recorded, service: &Service, id: &str, told: &Value) {
    let url = format!("http://{}", service.address);
    let asked = ["decay", id, "--move-pct", "0.05", "--within-slots", "1"];
    for source in [["--db", "exitgap.db"], ["--api", &url]] {
        let output = cli(recorded, &[&asked[..], &source, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(4), "too short: {output:?}");
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        for field in ["events", "down", "up", "have", "from", "to"] {
            assert_eq!(said[field], told[field], "{field}");
        }
        // A point in time may have a UTC offset.
        let later = ["--to", "2027-08-22T02:00:00+02:00", "--json"];
        let said = cli(recorded, &[&asked[..], &source, &later].concat()).stdout;
        let said: Value = serde_json::from_slice(&said).unwrap();
        assert_eq!(said["to"], told["to"]);
        let text =
            String::from_utf8(cli(recorded, &[&asked[..], &source].concat()).stdout).unwrap();
        assert!(text.contains("7 of 2016 slots") && text.contains("decay/1"), "{text}");
        let kept = [&asked[..], &source, &["--file", "kept.json"]].concat();
        assert_eq!(cli(recorded, &kept).status.code(), Some(0));
        let file = service.get(&target(&told["figure_url"])).body;
        assert_eq!(fs::read(recorded.path("kept.json")).unwrap(), file);
    }
}

#[test]
fn a_pool_of_another_kind_has_no_such_figure() {
    let mut pool = OtherKind::new(3);
    let slots: Vec<_> = (0..3).map(|n| vec![pool.recorded(slot(n))]).collect();
    let folder = stored(&slots);
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    let id = here.get("/v1/pools").found()["pools"][0]["pool"].as_str().unwrap().to_owned();
    for address in [format!("/v1/decay/{id}"), format!("/api/v1/decay/{id}")] {
        let (status, code, _) = here.get(&address).problem();
        assert_eq!((status, code.as_str()), (422, "figure_unsupported_kind"));
    }
}
