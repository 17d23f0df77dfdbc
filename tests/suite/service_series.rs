//! History, stress and the fragility board: rows of what single exits said.

use serde_json::{Value, json};

use crate::service_scene::{Service, recorded};

/// An hour and two slots.
const SLOTS: usize = 14;

/// What a row says of a size: the gap, or the refusal's code.
fn said(point: &Value) -> Value {
    let gap = &point["exit_gap_pct"];
    if gap.is_number() { gap.clone() } else { point["refusal"].clone() }
}

/// Worse is greater; what has no fill is worst.
fn badness(point: &Value) -> f64 {
    said(point).as_f64().unwrap_or(f64::INFINITY)
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_say_what_exits_said_and_the_worst_of_them() {
    let recorded = recorded(SLOTS as u64).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    for (index, base, size) in
        [(0, "token0", 100_000), (1, "token1", 1_000_000), (5, "token0", 1000)]
    {
        let pool = recorded.pool(index);
        let ask = |query: &str| {
            let target = format!("/v1/history/{pool}?size_usd={size}&base={base}{query}");
            service.get(&target).found()
        };
        let slots = ask("&interval=5m");
        let rows = slots["rows"].as_array().unwrap();
        assert_eq!(rows.len(), SLOTS);
        for row in rows {
            assert_eq!((&row["state"], &row["slots_recorded"]), (&json!("recorded"), &json!(1)));
            let at = row["time"].as_str().unwrap();
            let exit = format!("/v1/exit/{pool}?size_usd={size}&base={base}&at={at}");
            let exit = service.get(&exit).json();
            let expected = if exit["code"].is_string() {
                exit["code"].clone()
            } else {
                assert_eq!(exit["evidence_url"], row["last"]["evidence_url"]);
                exit["exit_gap_pct"].clone()
            };
            assert_eq!(said(&row["last"]), expected, "{pool} at {at}");
            assert_eq!(said(&row["worst"]), expected);
        }

        let hours = ask("");
        assert_eq!(hours["interval"], "1h");
        let hours = hours["rows"].as_array().unwrap();
        assert_eq!(hours.len(), 2);
        let days = ask("&interval=1d");
        for (row, slots) in
            [(&hours[0], &rows[..12]), (&hours[1], &rows[12..]), (&days["rows"][0], rows)]
        {
            assert_eq!(row["slots_recorded"], slots.len());
            assert_eq!(said(&row["last"]), said(&slots.last().unwrap()["last"]));
            let worst = slots.iter().map(|row| badness(&row["last"])).fold(f64::MIN, f64::max);
            assert!(badness(&row["worst"]).total_cmp(&worst).is_eq());
            let depth = |row: &Value| row["lowest_depth"]["depth_usd"].as_u64().unwrap();
            assert_eq!(depth(row), slots.iter().map(depth).min().unwrap());
        }
        let stress = format!("/v1/stress/{pool}?size_usd={size}&base={base}");
        let stress = service.get(&stress).found();
        assert_eq!(stress["worst_gap"], days["rows"][0]["worst"]);
        assert_eq!(stress["lowest_depth"], days["rows"][0]["lowest_depth"]);
        assert_eq!(stress["slots_missing"], 0);

        // Page by page it is the same.
        let (mut paged, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = ask(&format!("&interval=5m&limit=5&from=2026-08-22T00:00:00Z{cursor}"));
            paged.extend(page["rows"].as_array().unwrap().clone());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(&paged, rows);
        let part = ask("&interval=5m&from=2026-08-22T00:10:00Z&to=2026-08-22T00:24:59Z");
        assert_eq!(part["rows"].as_array().unwrap()[..], rows[2..5]);
    }
    let pool = recorded.pool(0);
    let refused = |query: &str| service.get(&format!("/v1/history/{pool}?{query}")).problem();
    assert_eq!(refused("size_usd=5000").2.as_deref(), Some("size_usd"));
    assert_eq!(refused("size_usd=1000&interval=2h").2.as_deref(), Some("interval"));
    assert_eq!(refused("size_usd=1000&cursor=x").2.as_deref(), Some("cursor"));
    let order = "size_usd=1000&from=2026-08-22T01:00:00Z&to=2026-08-22T00:00:00Z";
    assert_eq!(refused(order), (422, "period_reversed".into(), Some("from".into())));
    assert_eq!(refused("size_usd=1000&from=2027-08-22T01:00:00Z").1, "after_series");
    assert_eq!(refused("size_usd=1000&to=2026-08-21T01:00:00Z").1, "before_series");
    // A period that begins before the series is cut to it.
    let whole = "size_usd=1000&interval=5m&from=";
    let cut = ["2026-08-21T01:00:00Z", "1969-01-01T00:00:00Z", "2026-08-22T00:00:00Z"]
        .map(|from| service.get(&format!("/v1/history/{pool}?{whole}{from}")).found());
    assert_eq!(cut[0], cut[2]);
    assert_eq!(cut[1], cut[2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_board_ranks_pools_by_what_their_exits_say() {
    let recorded = recorded(3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let board = service.get("/v1/fragility").found();
    let rows = board["rows"].as_array().unwrap();
    assert_eq!(rows.len(), recorded.world.pools.len());
    assert_eq!(board["pools"], rows.len());
    for row in rows {
        let pool = row["pool"].as_str().unwrap();
        assert_eq!(row["status"], "preview");
        // Under one day there is no score.
        assert_eq!(row["fragility_score"], Value::Null);
        for gap in row["gaps"].as_array().unwrap() {
            let exit = format!("/v1/exit/{pool}?size_usd={}", gap["size_usd"]);
            let exit = service.get(&exit).json();
            let code = &exit["code"];
            let expected = if code.is_string() { code } else { &exit["exit_gap_pct"] };
            assert_eq!(&said(gap), expected, "{pool}");
        }
        let lowest = &row["lowest_depth_7d"]["depth_usd"];
        let exit = service.get(&format!("/v1/exit/{pool}?size_usd=1")).found();
        assert_eq!(lowest, &exit["lowest_depth_7d_usd"]);
        assert!(lowest.as_u64() <= row["median_depth_7d_usd"].as_u64());
    }
    let at_100_000: Vec<f64> = rows.iter().map(|row| badness(&row["gaps"][2])).collect();
    assert!(at_100_000.windows(2).all(|two| two[0] >= two[1]), "{at_100_000:?}");
    let depths = service.get("/v1/fragility?sort=depth").found();
    let depth = |row: &Value| row["depth_usd"].as_u64().unwrap();
    let depths: Vec<u64> = depths["rows"].as_array().unwrap().iter().map(depth).collect();
    assert!(depths.windows(2).all(|two| two[0] <= two[1]), "{depths:?}");

    let first = service.get("/v1/fragility?limit=3").found();
    let next = first["next_cursor"].as_str().unwrap();
    let second = service.get(&format!("/v1/fragility?limit=100&cursor={next}")).found();
    let both =
        [first["rows"].as_array().unwrap().clone(), second["rows"].as_array().unwrap().clone()];
    assert_eq!(&both.concat(), rows);
    for (query, field) in [
        ("sort=size", "sort"),
        ("size_usd=7", "size_usd"),
        ("cursor=-1", "cursor"),
        ("cursor=1000001", "cursor"),
        ("limit=-1", "limit"),
    ] {
        let refused = service.get(&format!("/v1/fragility?{query}")).problem();
        assert_eq!((refused.0, refused.2.as_deref()), (400, Some(field)), "{query}");
    }
    let beyond = service.get("/v1/fragility?cursor=99").found();
    assert_eq!(beyond["rows"], json!([]));
}
