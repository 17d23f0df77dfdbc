//! Series at sizes without stored figures, and the worst slots of a period.

use std::process::Command;

use exitgap_core::series::{MissingReason, Slot};
use exitgap_tests::binaries;
use exitgap_tests::devchain::World;
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::here::{Here, With, stored};
use crate::scenes::service::{Recorded, Service, configured, record_blocks, recorded};
use crate::scenes::store::{BusyPool, slot};

fn rows(answer: &Value) -> &[Value] {
    answer["rows"].as_array().unwrap()
}

/// A gap in a document, in millionths of a percent.
fn millionths(value: &Value) -> i64 {
    format!("{:.0}", value.as_f64().unwrap() * 1e6).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn any_size_has_the_series_that_each_slot_would_tell() {
    let recorded = recorded(5).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(0);
    let history =
        service.get(&format!("/v1/history/{pool}?size_usd=123456.75&interval=5m")).found();
    assert_eq!(rows(&history).len(), 5);
    let mut gaps = Vec::new();
    for row in rows(&history) {
        let time = row["time"].as_str().unwrap();
        let exit = service.get(&format!("/v1/exit/{pool}?size_usd=123456.75&at={time}")).found();
        assert_eq!(row["last"]["exit_gap_pct"], exit["exit_gap_pct"], "{time}");
        let own = row["last"]["evidence_url"].as_str().unwrap();
        let own = service.get(&own[own.find("/api/").unwrap()..]).json();
        assert_eq!(own["request"]["size_usd"], "123456.75", "its evidence is of that size");
        gaps.push((millionths(&exit["exit_gap_pct"]), time.to_owned()));
    }
    // The fields that do not depend on the size equal those of the stored series.
    let kept = service.get(&format!("/v1/history/{pool}?size_usd=100000&interval=5m")).found();
    for (row, kept) in rows(&history).iter().zip(rows(&kept)) {
        for field in ["time", "state", "slots_recorded", "last_basis_pct", "lowest_depth"] {
            assert_eq!(row[field], kept[field], "{field}");
        }
    }
    let hour = service.get(&format!("/v1/history/{pool}?size_usd=123456.75")).found();
    let worst = gaps.iter().map(|(gap, _)| *gap).max().unwrap();
    let of_rows = rows(&hour).iter().map(|row| millionths(&row["worst"]["exit_gap_pct"])).max();
    assert_eq!(of_rows, Some(worst));
    let day = service.get(&format!("/v1/history/{pool}?size_usd=123456.75&interval=1d")).found();
    assert_eq!((rows(&day).len(), &rows(&day)[0]["slots_recorded"]), (1, &json!(5)));
    // A page starts where the previous one ended.
    let page = format!("/v1/history/{pool}?size_usd=123456.75&interval=5m&limit=2");
    let from = rows(&history)[0]["time"].as_str().unwrap();
    let first = service.get(&format!("{page}&from={from}")).found();
    let next = first["next_cursor"].as_str().unwrap();
    let page = format!("{page}&cursor={next}");
    assert_eq!(rows(&service.get(&page).found())[0], rows(&history)[2]);

    // The worst slots, which the command line returns, too.
    gaps.sort();
    let median = gaps[2].0;
    let limit = format!("{}.{:06}", median / 1_000_000, median % 1_000_000);
    let target = format!("/v1/stress/{pool}?size_usd=123456.75&limit_pct={limit}");
    let told = service.get(&target).found();
    let detail = &told["detail"];
    assert_eq!(millionths(&told["worst_gap"]["exit_gap_pct"]), worst);
    assert_eq!(millionths(&detail["gap_q50_pct"]), median);
    assert_eq!(millionths(&detail["gap_q95_pct"]), worst, "of five the fifth");
    assert_eq!(detail["above"]["slots"], 2, "those above the median");
    let listed: Vec<&str> = detail["worst_slots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["time"].as_str().unwrap())
        .collect();
    let expected: Vec<&str> = gaps.iter().rev().map(|(_, time)| time.as_str()).collect();
    assert_eq!(listed, expected);
    let url = format!("http://{}", service.address);
    for source in [["--db", "exitgap.db"], ["--api", &url]] {
        let asked = ["stress", &pool, "--size-usd", "123456.75", "--limit-pct", &limit];
        let run = |more: &[&str]| {
            let mut command = Command::new(binaries::path("exitgap"));
            command.args(asked).args(source).args(more).current_dir(recorded.folder.path());
            let output = command.output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            output.stdout
        };
        let said: Value = serde_json::from_slice(&run(&["--json"])).unwrap();
        assert_eq!(said["detail"]["above"], detail["above"]);
        assert_eq!(said["worst_gap"]["exit_gap_pct"], told["worst_gap"]["exit_gap_pct"]);
        let text = String::from_utf8(run(&[])).unwrap();
        for expected in ["widest gap", "95th percentile", "worst slots", "PREVIEW", "in 2 slots"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
    let refused = service.get(&format!("/v1/stress/{pool}?size_usd=1000&limit_pct=101"));
    assert_eq!(refused.problem().2.as_deref(), Some("limit_pct"));
    assert_eq!(service.end(), Some(0));
}

/// Twelve slots, the fifth of them missing, of a pool that fills about ten thousand dollars.
#[test]
fn a_refused_slot_is_the_worst_and_a_missing_one_ends_a_run() {
    let mut pool = BusyPool::new(3, 2);
    let slots: Vec<_> = (0..12)
        .map(|n| match n {
            5 => vec![pool.missing(MissingReason::ChainLagging)],
            _ => vec![pool.recorded(slot(n))],
        })
        .collect();
    let folder = stored(&slots);
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    let id = here.get("/v1/pools").found()["pools"][0]["pool"].as_str().unwrap().to_owned();
    let ask = |size: &str, more: &str| {
        here.get(&format!("/v1/stress/{id}?size_usd={size}&{more}")).found()
    };
    // No slot fills a billion dollars: the slot with the smallest fillable size is the worst.
    let refused = ask("999999999", "limit_pct=100");
    let detail = &refused["detail"];
    assert_eq!((&refused["slots_refused"], &refused["slots_missing"]), (&json!(11), &json!(1)));
    assert_eq!((&detail["gap_q50_pct"], &detail["gap_q95_pct"]), (&Value::Null, &Value::Null));
    assert_eq!(detail["worst_slots"].as_array().unwrap().len(), 10);
    assert_eq!(
        detail["worst_slots"][0]["max_fillable_usd"],
        refused["least_fillable"]["max_fillable_usd"]
    );
    assert_eq!(detail["worst_slots"][0]["slot"], refused["least_fillable"]["slot"]);
    assert_eq!(detail["slots_missing_near_worst"], 1);
    let above = &detail["above"];
    assert_eq!((&above["slots"], &above["longest_run_slots"]), (&json!(11), &json!(6)));
    assert_eq!(above["longest_run_from"], slot(6).to_string());
    // At a stored size, the answer has the same fields, from the stored figures.
    let kept = ask("1000", "limit_pct=-100");
    assert_eq!(kept["detail"]["above"]["slots"], 11);
    assert_eq!(kept["detail"]["worst_slots"][0]["exit_gap_pct"], kept["worst_gap"]["exit_gap_pct"]);
    let near = ask("1000.000001", "limit_pct=-100");
    let times = |answer: &Value| {
        let list = answer["detail"]["worst_slots"].as_array().unwrap();
        list.iter().map(|one| one["slot"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(times(&kept), times(&near), "a millionth of a dollar more is no other order");
    assert_eq!(kept["detail"]["above"]["slots"], near["detail"]["above"]["slots"]);
}

#[test]
fn more_slots_than_are_computed_are_refused_or_paged() {
    const MOST: u32 = 7 * Slot::PER_DAY;
    let mut pool = BusyPool::new(4, 1);
    let slots: Vec<_> = (0..=MOST).map(|n| vec![pool.recorded(slot(n))]).collect();
    let folder = stored(&slots);
    let here = Here::start(folder.path(), With::default());
    here.now.store(slot(MOST).unix_s(), std::sync::atomic::Ordering::SeqCst);
    here.refresh();
    let id = here.get("/v1/pools").found()["pools"][0]["pool"].as_str().unwrap().to_owned();
    let (from, to) = (slot(0), slot(MOST));
    let ask =
        |size: &str| here.get(&format!("/v1/stress/{id}?size_usd={size}&from={from}&to={to}"));
    assert_eq!(ask("1000").found()["slots_recorded"], MOST + 1);
    let refused = ask("1001").problem();
    assert_eq!((refused.0, refused.2.as_deref()), (400, Some("from")));
    let week = here.get(&format!("/v1/stress/{id}?size_usd=1001")).found();
    assert_eq!(
        (&week["slots_recorded"], &week["from"]),
        (&json!(MOST), &json!(slot(1).to_string()))
    );
    let days = here
        .get(&format!("/v1/history/{id}?size_usd=1001&interval=1d&from={from}&limit=100"))
        .found();
    assert_eq!(rows(&days).len(), 7);
    let next = days["next_cursor"].as_str().unwrap();
    let rest = format!("/v1/history/{id}?size_usd=1001&interval=1d&from={from}&cursor={next}");
    let rest = here.get(&rest).found();
    let all: u64 = rows(&days)
        .iter()
        .chain(rows(&rest))
        .map(|row| row["slots_recorded"].as_u64().unwrap())
        .sum();
    assert_eq!(all, u64::from(MOST) + 1);
}

/// If the oracle price moves away from the pool's price, the depth disappears, but the liquidity does not.
#[tokio::test(flavor = "multi_thread")]
async fn a_price_that_moved_away_does_not_read_as_liquidity_that_went() {
    let (chain, world) = scene().await;
    let folder = configured(&chain, &world);
    let weth = &world.assets[World::WETH];
    let positions = world.pools[0].positions.clone();
    let round = chain.latest_round(&weth.feed).await.unwrap();
    let answer = weth.initial_answer.cast_signed();
    let told = |round, answer| chain.answer_tx(&weth.feed, round, answer);
    let last = record_blocks(&chain, &world, &folder, 4, |place| match place {
        2 => vec![told(round + 2, answer * 106 / 100)],
        3 => {
            let burns = positions.iter().map(|one| chain.burn_tx(one, one.liquidity / 2));
            burns.chain([told(round + 3, answer)]).collect()
        }
        _ => Vec::new(),
    })
    .await;
    let recorded = Recorded { folder, world, last };
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let target = format!("/v1/stress/{}?size_usd=1000&base=WETH", recorded.pool(0));
    let stress = |period: &str| service.get(&format!("{target}{period}")).found();
    let book = |stress: &Value| stress["lowest_depth_book"]["book_usd"].as_f64().unwrap();
    let [calm, moved, thin] = ["00:05", "00:10", "00:15"].map(|at| {
        let at = format!("2026-08-22T{at}:00Z");
        stress(&format!("&from={at}&to={at}"))
    });
    assert!(calm["lowest_depth"]["depth_usd"].as_u64().unwrap() > 100_000, "{calm}");
    assert!(calm["lowest_depth_book"]["basis_pct"].as_f64().unwrap().abs() < 0.5, "{calm}");
    // The basis is 1 - 1 / 1.06, and the amounts of tokens are unchanged, but each token is worth more.
    assert_eq!(moved["lowest_depth"]["depth_usd"], 0);
    let basis = moved["lowest_depth_book"]["basis_pct"].as_f64().unwrap();
    assert!((5.2..6.1).contains(&basis), "{moved}");
    assert!((1.0..1.07).contains(&(book(&moved) / book(&calm))), "{moved} {calm}");
    // Half of the liquidity was removed, and the oracle price is the original one again.
    assert!((0.45..0.55).contains(&(book(&thin) / book(&calm))), "{thin} {calm}");
    assert!(thin["lowest_depth_book"]["basis_pct"].as_f64().unwrap().abs() < 0.5, "{thin}");
    let whole = stress("");
    assert_eq!(whole["lowest_depth"], moved["lowest_depth"]);
    assert_eq!(whole["lowest_depth_book"], moved["lowest_depth_book"]);
    assert_eq!(whole["worst_gap_book"], moved["worst_gap_book"], "it is the widest gap, too");
    let arguments = [
        "stress",
        &recorded.pool(0),
        "--size-usd",
        "1000",
        "--base",
        "token0",
        "--db",
        "exitgap.db",
    ];
    let mut command = Command::new(binaries::path("exitgap"));
    let output = command.args(arguments).current_dir(recorded.folder.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("% below the oracle"), "{text}");
    assert_eq!(service.end(), Some(0));
}
