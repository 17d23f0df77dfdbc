//! When to sell: the newest slot is ranked among slots, and each hour of the week has the percentiles of its own slots.

use std::process::Command;

use exitgap_tests::binaries;
use serde_json::{Value, json};

use crate::scenes::service::{Recorded, Service, recorded};

/// The recorded slots: more than an hour.
const SLOTS: usize = 14;

/// The place of a slot's gap in the order of gaps. A refused size is worse than any gap, and the less can be filled, the
/// worse.
fn place(point: &Value) -> (bool, f64) {
    match point["exit_gap_pct"].as_f64() {
        Some(gap) => (false, gap),
        None => (true, -point["max_fillable_usd"].as_f64().unwrap()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_slot_is_ranked_among_slots_and_hours_by_their_percentiles() {
    let recorded = recorded(SLOTS as u64).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    // Stored sizes, a computed one, and one that no slot can fill.
    for (index, size) in [(0, "100000"), (0, "250000"), (1, "123456.75"), (0, "1000000000")] {
        let pool = recorded.pool(index);
        let told = service.get(&format!("/v1/when/{pool}?size_usd={size}")).found();
        let history = format!("/v1/history/{pool}?size_usd={size}&interval=5m");
        let history = service.get(&history).found();
        let points: Vec<&Value> =
            history["rows"].as_array().unwrap().iter().map(|row| &row["last"]).collect();
        assert_eq!((told["slots"].as_u64(), points.len()), (Some(SLOTS as u64), SLOTS));
        assert_eq!(told["method"], history["method"]);
        check_rank(&told["now"], &points);
        check_hours(&told, &points);
        // Four weeks are not recorded.
        assert_eq!((&told["enough"], &told["best_hour"]), (&json!(false), &Value::Null));
        of_command_line(&recorded, &service, &told, &pool, size);
    }
    let refused =
        |query: &str| service.get(&format!("/v1/when/{}?{query}", recorded.pool(0))).problem();
    assert_eq!(refused("size_usd=0").2.as_deref(), Some("size_usd"));
    assert_eq!(refused("size_usd=1000&order=desc").1, "unknown_parameter");
    assert_eq!(refused("size_usd=1000&to=2026-08-21T01:00:00Z").1, "before_series");
    assert_eq!(refused("size_usd=1000&min_days_observed=3").1, "series_too_short");
    assert_eq!(service.end(), Some(0));
}

fn check_rank(now: &Value, points: &[&Value]) {
    let (last, others) = points.split_last().unwrap();
    for field in ["slot", "exit_gap_pct", "refusal", "evidence_url"] {
        assert_eq!(now.get(field), last.get(field), "{field}");
    }
    let count = |is: fn(&(bool, f64), &(bool, f64)) -> bool| {
        json!(others.iter().filter(|other| is(&place(other), &place(last))).count())
    };
    assert_eq!(now["slots_worse"], count(|other, now| other > now));
    assert_eq!(now["slots_equal"], count(|other, now| other == now));
    assert_eq!(now["slots_better"], count(|other, now| other < now));
    let share = 100.0 * now["slots_worse"].as_f64().unwrap()
        / f64::from(u32::try_from(others.len()).unwrap());
    assert!((now["worse_pct"].as_f64().unwrap() - share).abs() < 1e-6, "{now}");
}

fn check_hours(told: &Value, points: &[&Value]) {
    // The series begins on a Saturday at midnight.
    let hours = told["hours"].as_array().unwrap();
    assert_eq!(hours.iter().map(|hour| &hour["hour"]).collect::<Vec<_>>(), [120, 121]);
    for (hour, points) in hours.iter().zip([&points[..12], &points[12..]]) {
        assert_eq!((&hour["slots"], &hour["weeks"]), (&json!(points.len()), &json!(1)));
        let mut ascending = points.to_vec();
        ascending.sort_by(|a, b| place(a).partial_cmp(&place(b)).unwrap());
        for (field, p) in [("exit_gap_pct_q50", 50), ("exit_gap_pct_q95", 95)] {
            let rank = (p * points.len()).div_ceil(100);
            assert_eq!(hour[field], ascending[rank - 1]["exit_gap_pct"], "{field}");
        }
        assert_eq!(place(&hour["worst"]), place(ascending.last().unwrap()));
        let refused = points.iter().filter(|point| place(point).0).count();
        assert_eq!(hour["slots_refused"], json!(refused));
    }
}

/// The command line has the same answer, from the service and from the database.
fn of_command_line(recorded: &Recorded, service: &Service, told: &Value, pool: &str, size: &str) {
    let url = format!("http://{}", service.address);
    let run = |source: [&str; 2], more: &[&str]| {
        let asked = [&["when", pool, "--size-usd", size][..], &source, more].concat();
        let mut command = Command::new(binaries::path("exitgap"));
        let output = command.args(asked).current_dir(recorded.folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "less than four weeks: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let api: Value = serde_json::from_str(&run(["--api", &url], &["--json"])).unwrap();
    assert_eq!(&api, told);
    let db: Value = serde_json::from_str(&run(["--db", "exitgap.db"], &["--json"])).unwrap();
    assert_eq!(
        (&db["now"]["slots_worse"], &db["hours"][0]["exit_gap_pct_q95"]),
        (&told["now"]["slots_worse"], &told["hours"][0]["exit_gap_pct_q95"])
    );
    let text = run(["--db", "exitgap.db"], &[]);
    for said in
        ["other slots were worse", "that needs four weeks of data", "Sat 00:00", "Sat 01:00"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
}
