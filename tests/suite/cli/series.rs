//! The recorded series on the command line, page by page: from a database and from a service.

use std::path::Path;
use std::process::{Command, Output};

use exitgap_core::series::MissingReason;
use exitgap_tests::binaries;
use serde_json::{Value, json};

use crate::scenes::here::stored;
use crate::scenes::service::{Service, recorded};
use crate::scenes::store::{BusyPool, slot};

fn exitgap(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(args).current_dir(folder).env_remove("EXITGAP_DB");
    command.output().unwrap()
}

/// Parses the JSON documents of the output, one after the other.
fn documents(output: &Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::Deserializer::from_slice(&output.stdout).into_iter().map(Result::unwrap).collect()
}

fn rows(document: &Value) -> &[Value] {
    document["rows"].as_array().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn history_and_fragility_are_the_service_s_own() {
    let recorded = recorded(4).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let (folder, pool) = (recorded.folder.path(), recorded.pool(0));
    let url = format!("http://{}", service.address);
    let target = format!("/v1/history/{pool}?size_usd=250000&interval=5m&base=token0");
    let history = service.get(&target).found();
    let board = service.get("/v1/fragility?sort=depth&size_usd=10000").found();
    assert_eq!((rows(&history).len(), rows(&board).is_empty()), (4, false));
    let asked = ["history", &pool, "--size-usd", "250k", "--interval", "5m", "--base", "token0"];
    let beside = ["fragility", "--sort", "depth", "--size-usd", "10k"];
    for source in [["--db", "exitgap.db"], ["--api", &url]] {
        let run = |asked: &[&str], more: &[&str]| exitgap(folder, &[asked, &source, more].concat());
        let told = documents(&run(&asked, &["--json"]));
        let listed = documents(&run(&beside, &["--json"]));
        assert_eq!((told.len(), listed.len()), (1, 1));
        for (one, other) in rows(&told[0]).iter().zip(rows(&history)) {
            assert_eq!(one["time"], other["time"]);
            assert_eq!(one["worst"]["exit_gap_pct"], other["worst"]["exit_gap_pct"]);
            assert_eq!(one["lowest_depth"]["depth_usd"], other["lowest_depth"]["depth_usd"]);
        }
        let pools = |board: &Value| -> Vec<Value> {
            rows(board)
                .iter()
                .map(|row| json!([row["pool"], row["gaps"][1]["exit_gap_pct"]]))
                .collect()
        };
        assert_eq!(pools(&listed[0]), pools(&board));
        if source[0] == "--api" {
            assert_eq!((&told[0], &listed[0]), (&history, &board), "as it is served");
        }
        let text = String::from_utf8(run(&asked, &[]).stdout).unwrap();
        let first = &rows(&history)[0];
        let time = first["time"].as_str().unwrap();
        let line = text.lines().find(|line| line.trim().starts_with(time)).unwrap();
        assert!(line.contains(&first["worst"]["exit_gap_pct"].to_string()), "{line}");
        assert!(text.contains("PREVIEW") && text.contains("4 recorded, 0 missing"), "{text}");
        let text = String::from_utf8(run(&beside, &[]).stdout).unwrap();
        let of_pools = text.lines().filter(|line| line.trim().starts_with("anvil:"));
        assert_eq!(of_pools.count(), rows(&board).len(), "{text}");
    }
    sold_at_once(&service, folder, &pool);
    let refused = exitgap(folder, &["fragility", "--size-usd", "50k", "--api", &url]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!((refused.status.code(), refused.stdout.is_empty()), (Some(2), true), "{said}");
    assert!(said.contains("size_usd") && said.contains("1000, 10000, 100000 or 1000000"), "{said}");
    let unknown = format!("anvil:0x{:040x}", 1);
    let refused =
        exitgap(folder, &["history", &unknown, "--size-usd", "1000", "--db", "exitgap.db"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("unknown_pool"), "{said}");
    assert_eq!(service.end(), Some(0));
}

/// A page has 720 rows. If the caller names a first slot, the output has all rows, including the missing ones.
#[test]
fn a_history_goes_on_to_its_end() {
    const SLOTS: u32 = 1_500;
    let mut pool = BusyPool::new(6, 1);
    let slots: Vec<_> = (0..SLOTS)
        .map(|n| match n {
            700..=730 => vec![pool.missing(MissingReason::ChainLagging)],
            _ => vec![pool.recorded(slot(n))],
        })
        .collect();
    let folder = stored(&slots);
    let (id, from) = (pool.id.to_string(), slot(0).to_string());
    let asked = [
        "history",
        &id,
        "--size-usd",
        "1000",
        "--interval",
        "5m",
        "--db",
        "series.db",
        "--from",
        &from,
    ];
    let pages = documents(&exitgap(folder.path(), &[&asked[..], &["--json"]].concat()));
    assert_eq!(pages.iter().map(|page| rows(page).len()).collect::<Vec<_>>(), [720, 720, 60]);
    let all: Vec<&Value> = pages.iter().flat_map(rows).collect();
    let expected: Vec<String> = (0..SLOTS).map(|n| slot(n).to_string()).collect();
    let times: Vec<&str> = all.iter().map(|row| row["time"].as_str().unwrap()).collect();
    assert_eq!(times, expected, "no slot twice, and none left out");
    let refused: u64 = all.iter().map(|row| row["slots_refused"].as_u64().unwrap()).sum();
    let text = String::from_utf8(exitgap(folder.path(), &asked).stdout).unwrap();
    let sums = format!("1469 recorded, 31 missing or retracted, {refused} could not be filled");
    assert!(
        text.contains(&sums),
        "{sums}: {}",
        text.lines().take(6).collect::<Vec<_>>().join("\n")
    );
    assert_eq!(text.lines().filter(|line| line.trim().starts_with("2026-")).count(), 1_500);
}

/// Positions in the same pool count as one sale, with the same result from both sources; and the service's
/// capabilities.
fn sold_at_once(service: &Service, folder: &Path, pool: &str) {
    let url = format!("http://{}", service.address);
    let target = format!("/v1/portfolio?position={pool}/token0:1000&position={pool}/token0:250000");
    let told = service.get(&target).found();
    let positions = [format!("{pool}/token0:1k"), format!("{pool}/token0:250,000")];
    for source in [["--db", "exitgap.db"], ["--api", &url]] {
        let asked = ["portfolio", &positions[0], &positions[1]];
        let run = |more: &[&str]| exitgap(folder, &[&asked[..], &source, more].concat());
        let one = documents(&run(&["--json"])).remove(0);
        assert_eq!(one["total"]["exit_gap_pct"], told["total"]["exit_gap_pct"]);
        assert_eq!(one["exits"].as_array().unwrap().len(), 1, "together");
        let text = String::from_utf8(run(&[]).stdout).unwrap();
        let gap = format!("gap       {}%", told["total"]["exit_gap_pct"]);
        assert!(text.contains("Selling 251,000 USD at once") && text.contains(&gap), "{text}");
    }
    let refused = exitgap(folder, &["portfolio", "nothing", "--db", "exitgap.db"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("has no size"), "{said}");
    let can = exitgap(folder, &["capabilities", "--api", &url, "--json"]);
    let listed = service.get("/v1/capabilities").found();
    assert_eq!(documents(&can)[0]["capabilities"], listed["capabilities"]);
    let text = String::from_utf8(exitgap(folder, &["capabilities", "--api", &url]).stdout).unwrap();
    for one in listed["capabilities"].as_array().unwrap() {
        assert!(text.contains(one["capability"].as_str().unwrap()), "{one} {text}");
    }
}
