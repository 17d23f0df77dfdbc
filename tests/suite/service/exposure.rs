//! Whether the week's markets could have absorbed a liquidation: the figure for real contracts, and its recomputation
//! from the file.

use std::fs;
use std::process::{Command, Output};

use exitgap_tests::binaries;
use exitgap_tests::devchain::World;
use serde_json::{Value, json};

use super::decay::to_a_later_slot;
use crate::scenes::chain::scene;
use crate::scenes::here::{Here, With, stored};
use crate::scenes::service::{Recorded, Service, configured, record_in};
use crate::scenes::store::{OtherKind, slot};

fn cli(recorded: &Recorded, arguments: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(arguments).current_dir(recorded.folder.path()).output().unwrap()
}

fn dollars(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worst_of_real_slots_is_what_each_slot_says() {
    let (chain, world) = scene().await;
    let weth = format!("{:#x}", world.assets[World::WETH].token.address);
    let folder = configured(&chain, &world);
    let recorded = record_in(&chain, world, folder, 4).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    // The pools of WETH whose other token is a dollar token; the base token is named by its address.
    let venues: Vec<String> = [0, 1, World::FIRST_V2].map(|index| recorded.pool(index)).into();
    let named: Vec<String> = venues.iter().map(|pool| format!("venue={pool}/{weth}")).collect();
    let ask = |query: &str| service.get(&format!("/v1/exposure?{}&{query}", named.join("&")));
    let told = ask("cascade_usd=800000&fall_pct=0&bonus_pct=8").found();
    assert_eq!((&told["figure"], &told["band"]), (&json!("exposure/2"), &json!("unrated")));
    let causes = &told["causes"];
    let failed =
        causes["oracle_led_slots"].as_u64().unwrap() + causes["thin_book_slots"].as_u64().unwrap();
    assert!(failed <= 4, "{causes}");
    assert!(
        causes["note"].as_str().unwrap().contains(" of 4 slots a liquidation lost money"),
        "{causes}"
    );
    let from_mid = ask("cascade_usd=800000&fall_pct=0&bonus_pct=8&reference=mid").found();
    assert_eq!((&from_mid["reference"], &told["reference"]), (&json!("mid"), &json!("oracle")));
    assert_eq!(from_mid["causes"], told["causes"], "they do not depend on the reference");
    assert_ne!(from_mid["worst_gap_pct"], told["worst_gap_pct"]);
    assert_eq!(
        (&told["have"], &told["needed"], &told["enough"]),
        (&json!(4), &json!(1_916), &json!(false))
    );
    assert_eq!(
        (&told["status"], &told["break_even_gap_pct"]),
        (&json!("preview"), &json!(7.407_407))
    );

    // Without a price fall, the widest gap is that of the slot with the worst exact split, and the depths equal the
    // ladders'.
    let (mut worst, mut least) = ((i64::MIN, String::new()), [u64::MAX; 3]);
    for back in 0..4 {
        let at = exitgap_core::series::Slot::new(u64::from(recorded.last.number()) - back).unwrap();
        let portfolio = exact_split(&service, &venues, &weth, &at.to_string());
        worst = worst.max((portfolio, at.to_string()));
        for (least, pool) in least.iter_mut().zip(&venues) {
            let ladder = service.get(&format!("/v1/ladder/{pool}?base={weth}&at={at}")).found();
            let row = ladder["by_gap"]
                .as_array()
                .unwrap()
                .iter()
                .find(|row| row["gap_limit_pct"] == json!(2));
            let size = row.unwrap()["max_size_usd"].as_f64().unwrap();
            *least = (*least).min(format!("{:.0}", size.floor()).parse().unwrap());
        }
    }
    let gap: i64 = format!("{:.0}", told["worst_gap_pct"].as_f64().unwrap() * 1e6).parse().unwrap();
    assert_eq!((gap, told["worst_time"].as_str().unwrap()), (worst.0, worst.1.as_str()));
    for (venue, least) in told["venues"].as_array().unwrap().iter().zip(least) {
        assert_eq!(dollars(&venue["lowest_depth_usd"]), least, "{venue}");
    }
    // A price fall removes liquidity near the price.
    let fallen = ask("cascade_usd=800000&fall_pct=30&bonus_pct=8").found();
    assert!(
        dollars(&fallen["lowest_break_even_depth_usd"])
            < dollars(&told["lowest_break_even_depth_usd"])
    );
    assert_eq!(fallen["venues"], told["venues"], "what is said without the fall stays");
    let much = ask("cascade_usd=20000000&fall_pct=30").found();
    assert_eq!(much["bad_debt"], true);
    assert!(dollars(&much["stranded_usd"]) > 10_000_000);

    proven(&recorded, &service, &told);
    said_by_the_command_line(&recorded, &service, &venues, &told);
    refused(&service, &venues);
    assert_eq!(service.end(), Some(0));
}

/// The gap of the exact split over these venues at a slot, in millionths of a percent.
fn exact_split(service: &Service, venues: &[String], weth: &str, at: &str) -> i64 {
    let target = format!("/v1/routes/anvil/{weth}?size_usd=800000&at={at}");
    let routes = service.get(&target).found();
    let alone = routes["alone"].as_array().unwrap();
    assert!(venues.iter().all(|pool| alone.iter().any(|one| one["pool"] == json!(pool))));
    // Uses only the snapshots of these venues.
    let opened: Vec<_> = venues
        .iter()
        .map(|pool| {
            let hash = alone.iter().find(|one| one["pool"] == json!(pool)).unwrap();
            let hash = hash["snapshot_hash"].as_str().unwrap();
            let snapshot = service.get(&format!("/api/v1/snapshots/{hash}")).body;
            let read: Value = serde_json::from_slice(&snapshot).unwrap();
            let state = read["state"].as_str().unwrap();
            let state = service.get(&format!("/api/v1/states/{state}")).body;
            let file = [b"{\"snapshot\":", &snapshot[..], b",\"state\":", &state, b"}"].concat();
            exitgap_wasm::OpenSnapshot::from_file(&file).unwrap()
        })
        .collect();
    let mut over = exitgap_wasm::SplitOver::default();
    for one in &opened {
        over.add(one, weth).unwrap();
    }
    let best = serde_json::to_value(over.best(&[], "800000").unwrap()).unwrap();
    format!("{:.0}", best["exit_gap_pct"].as_f64().unwrap() * 1e6).parse().unwrap()
}

/// A report as one file with one line for the figure and for each of its evidence files. Its verdict is the worst of
/// its lines.
fn handed_over(recorded: &Recorded, service: &Service, figure: &[u8]) {
    let exit = service.get(&format!("/v1/exit/{}?size_usd=1000", recorded.pool(0))).found();
    let url = exit["evidence_url"].as_str().unwrap();
    let evidence = service.get(&url[url.find("/api/").unwrap()..]).body;
    let refused =
        service.get(&format!("/v1/exit/{}?size_usd=900000000", recorded.pool(0))).problem();
    assert_eq!((refused.0, refused.1.as_str()), (422, "beyond_liquidity"));
    let no_fill = url.replace("size_usd=1000", "size_usd=900000000");
    let no_fill = service.get(&no_fill[no_fill.find("/api/").unwrap()..]).body;
    let whole = [figure, &evidence, &no_fill].map(<[u8]>::to_vec).join(&b'\n');
    let text = String::from_utf8(whole).unwrap();
    let judged = |text: &str, more: &[&str]| {
        fs::write(recorded.path("risk.jsonl"), text).unwrap();
        let asked = [&["verify", "risk.jsonl", "--json"], more].concat();
        let output = cli(recorded, &asked);
        let said = if output.stdout.is_empty() { &output.stderr } else { &output.stdout };
        let report: Value = serde_json::from_slice(said).unwrap_or_default();
        (output.status.code(), report)
    };
    let all = ["--trust", "key", "--snapshots", "exitgap.db"];
    let (code, report) = judged(&text, &all);
    assert_eq!((code, &report["verdict"]), (Some(0), &json!("valid")), "{report}");
    let [of_figure, filled, refused] = report["files"].as_array().unwrap().as_slice() else {
        panic!("{report}")
    };
    assert!(of_figure["figure"].as_str().unwrap().starts_with("exposure/2 of "), "{of_figure}");
    assert_eq!(filled["claim"]["size_usd"], "1000");
    assert_eq!(refused["claim"]["refusal"], "beyond_liquidity");
    // Without the figure's snapshots, without a key, and with a changed digit in one of the files.
    assert_eq!(judged(&text, &all[..2]).0, Some(7));
    assert_eq!(judged(&text, &all[2..]).0, Some(7));
    let changed = text.replacen("\"size_usd\":\"1000\"", "\"size_usd\":\"1001\"", 1);
    let (code, report) = judged(&changed, &all);
    assert_eq!((code, &report["files"][1]["verdict"]), (Some(6), &json!("invalid")), "{report}");
    assert_eq!(report["files"][0]["verdict"], "valid");
    assert_eq!(judged(&format!("{text}\nnothing"), &all).0, Some(6));
    // Options that do not apply to a report or a figure are rejected. A kept checkpoint and witnesses apply to a figure.
    for option in [
        &["--since", "key"][..],
        &["--window", "key"],
        &["--witnesses", "key"],
        &["--explain"],
        &["--rpc", "http://127.0.0.1:9"],
        &["--state-proof", "key"],
        &["--peer", "key"],
        &["--anchors", "key"],
        &["--at-least", "2"],
    ] {
        for (file, what) in
            [(&text[..], "a report"), (std::str::from_utf8(figure).unwrap(), "a figure")]
        {
            if what == "a figure" && ["--since", "--witnesses"].contains(&option[0]) {
                continue;
            }
            let (code, said) = judged(file, option);
            let field = option[0].trim_start_matches('-');
            assert_eq!((code, &said["field"]), (Some(2), &json!(field)), "{what}: {said}");
            assert!(said["detail"].as_str().unwrap().contains(what), "{said}");
        }
    }
    // Evidence that was reformatted over several lines still counts as one file, but its bytes are not the published
    // ones.
    let spread: Value = serde_json::from_slice(&evidence).unwrap();
    let (code, report) = judged(&serde_json::to_string_pretty(&spread).unwrap(), &all[..2]);
    assert_eq!(
        (code, &report["checks"][0]["code"]),
        (Some(6), &json!("format_invalid")),
        "{report}"
    );
    fs::write(recorded.path("risk.jsonl"), &text).unwrap();
    let shown = cli(recorded, &[&["verify", "risk.jsonl"], &all[..]].concat());
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.contains("Report of 3 files: VALID") && shown.contains("$900,000,000"),
        "{shown}"
    );
}

/// The file proves the figure to the command line, with snapshots from a store and from a service.
fn proven(recorded: &Recorded, service: &Service, told: &Value) {
    let url = told["figure_url"].as_str().unwrap();
    let file = service.get(&url[url.find("/api/").unwrap()..]);
    assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let still_growing = service.get(&to_a_later_slot(&url[url.find("/api/").unwrap()..]));
    assert_eq!(still_growing.body, file.body, "up to the newest slot");
    assert_eq!(still_growing.header("cache-control"), Some("public, max-age=5"));
    fs::write(recorded.path("exposure.json"), &file.body).unwrap();
    fs::write(recorded.path("key"), service.get("/log/verifier-key").body).unwrap();
    let url = format!("http://{}", service.address);
    let verify = |file: &str, snapshots: &str| {
        let asked = ["verify", file, "--json", "--trust", "key", "--snapshots", snapshots];
        let output = cli(recorded, &asked);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), report["verdict"].as_str().unwrap_or_default().to_owned())
    };
    for snapshots in ["exitgap.db", &url] {
        assert_eq!(
            verify("exposure.json", snapshots),
            (Some(0), "valid".to_owned()),
            "{snapshots}"
        );
    }
    handed_over(recorded, service, &file.body);
    let whole = String::from_utf8(file.body).unwrap();
    let (first, rest) = whole.split_once("\"uses\":[").unwrap();
    let (_, rest) = rest.split_once("},").unwrap();
    for (name, text) in [
        ("result.json", whole.replacen("\"have_slots\":4", "\"have_slots\":5", 1)),
        ("uses.json", format!("{first}\"uses\":[{rest}")),
        ("order.json", whole.replacen("\"fall_pct\":\"0\"", "\"fall_pct\":\"0.5\"", 1)),
    ] {
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
    let rules = ["--fall-pct", "0", "--bonus-pct", "8", "--reference", "oracle"];
    let asked = [&["exposure"][..], &named, &["--cascade-usd", "800k"], &rules].concat();
    for source in [["--db", "exitgap.db"], ["--api", &url]] {
        let output = cli(recorded, &[&asked[..], &source, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(4), "too short: {output:?}");
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        for field in ["worst_gap_pct", "coverage", "coverage_break_even", "venues", "band", "from"]
        {
            assert_eq!(said[field], told[field], "{field}");
        }
        let text =
            String::from_utf8(cli(recorded, &[&asked[..], &source].concat()).stdout).unwrap();
        for expected in ["unrated", "4 of 1916 checked", "exposure/2", "widest gap", "PREVIEW"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        let kept = [&asked[..], &source, &["--file", "kept.json"]].concat();
        assert_eq!(cli(recorded, &kept).status.code(), Some(0));
        assert_eq!(
            fs::read(recorded.path("kept.json")).unwrap(),
            fs::read(recorded.path("exposure.json")).unwrap()
        );
    }
    // With positions, the command line computes the amount to sell and asks the same question.
    let header = "collateral,debt_usd,threshold_pct\n";
    fs::write(recorded.path("positions.csv"), format!("{header}100,190000,80\n50,60000,80\n"))
        .unwrap();
    for source in [["--db", "exitgap.db"], ["--api", &url]] {
        let of = ["--positions", "positions.csv", "--fall-pct", "10", "--json"];
        let output = cli(recorded, &[&["exposure"][..], &named, &of, &source].concat());
        let said: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let [still, follows] = [0, 1].map(|at| &said["cascades"][at]);
        assert_eq!((&still["positions"], &still["liquidated"]), (&json!(2), &json!(1)), "{said}");
        assert_eq!((&still["follow_pct"], &follows["follow_pct"]), (&json!(0), &json!(100)));
        assert!(follows["fall_pct"].as_f64() > still["fall_pct"].as_f64());
        assert_eq!(said["exposure"]["cascade_usd"], follows["cascade_usd"]);
    }
    fs::write(recorded.path("safe.csv"), format!("{header}100,1,80\n")).unwrap();
    let of = ["--positions", "safe.csv", "--db", "exitgap.db"];
    let safe = cli(recorded, &[&["exposure"][..], &named, &of].concat());
    assert_eq!(safe.status.code(), Some(0), "nothing is liquidated: {safe:?}");
    fs::write(recorded.path("wrong.csv"), format!("{header}100,1\n")).unwrap();
    let of = ["--positions", "wrong.csv", "--db", "exitgap.db"];
    let wrong = cli(recorded, &[&["exposure"][..], &named, &of].concat());
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(wrong.status.code() == Some(2) && said.contains("line 2"), "{said}");
}

/// Invalid questions, and questions without an answer.
fn refused(service: &Service, venues: &[String]) {
    let [first, second] = [&venues[0], &venues[1]];
    let many = format!("venue={first}&").repeat(13);
    for (query, status, code, field) in [
        ("cascade_usd=1".to_owned(), 400, "invalid_parameter", "venue"),
        (format!("{many}cascade_usd=1"), 400, "invalid_parameter", "venue"),
        (format!("venue={first}&venue={first}&cascade_usd=1"), 400, "invalid_parameter", "venue"),
        (format!("venue={first}/DOGE&cascade_usd=1"), 404, "unknown_base", "base"),
        ("venue=WETH&cascade_usd=1".to_owned(), 400, "invalid_parameter", "venue"),
        (format!("venue={first}"), 400, "invalid_parameter", "cascade_usd"),
        (format!("venue={first}&cascade_usd=0"), 400, "invalid_parameter", "cascade_usd"),
        (
            format!("venue={first}&cascade_usd=1&bonus_pct=101"),
            400,
            "invalid_parameter",
            "bonus_pct",
        ),
        (
            format!("venue={first}&cascade_usd=1&fall_pct=99.1"),
            400,
            "invalid_parameter",
            "fall_pct",
        ),
        (
            format!("venue={first}&cascade_usd=1&protocol_fee_pct=-1"),
            400,
            "invalid_parameter",
            "protocol_fee_pct",
        ),
        // One pool sells WETH, the other a dollar token.
        (
            format!("venue={first}/WETH&venue={second}/USDT&cascade_usd=1"),
            400,
            "invalid_parameter",
            "venue",
        ),
        (format!("venue={first}&cascade_usd=1&min_days_observed=9"), 412, "series_too_short", ""),
    ] {
        let answer = service.get(&format!("/v1/exposure?{query}"));
        let (found, said, at) = answer.problem();
        assert_eq!((found, said.as_str()), (status, code), "{query}");
        assert!(field.is_empty() || at.as_deref() == Some(field), "{query}: {at:?}");
    }
    let elsewhere =
        service.get(&format!("/v1/exposure?venue={first}&cascade_usd=1&reference=best"));
    assert_eq!(
        elsewhere.problem(),
        (400, "invalid_parameter".to_owned(), Some("reference".to_owned()))
    );
    // A file without a reference keeps the version that its address always had.
    let file = service.get(&format!("/api/v1/exposure?venue={first}&cascade_usd=1")).found();
    assert_eq!(file["figure"], "exposure/1");
    let by_name = service.get(&format!("/api/v1/exposure?venue={first}/WETH&cascade_usd=1"));
    assert_eq!(by_name.problem().1, "invalid_parameter");
}

#[test]
fn a_pool_of_another_kind_has_no_such_figure() {
    let mut pool = OtherKind::new(3);
    let slots: Vec<_> = (0..3).map(|n| vec![pool.recorded(slot(n))]).collect();
    let folder = stored(&slots);
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    let id = here.get("/v1/pools").found()["pools"][0]["pool"].as_str().unwrap().to_owned();
    for address in ["/v1/exposure", "/api/v1/exposure"] {
        let (status, code, _) =
            here.get(&format!("{address}?venue={id}&cascade_usd=1000")).problem();
        assert_eq!((status, code.as_str()), (422, "figure_unsupported_kind"));
    }
}
