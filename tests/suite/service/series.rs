//! History, stress and the fragility board: their rows equal the answers for single exits.

use serde_json::{Value, json};

use crate::scenes::service::{Service, recorded};

/// An hour and two slots.
const SLOTS: usize = 14;

/// A row's result for a size: the gap, or the error code.
fn said(point: &Value) -> Value {
    let gap = &point["exit_gap_pct"];
    if gap.is_number() { gap.clone() } else { point["refusal"].clone() }
}

/// The gap of a point, if it has one.
fn number(point: &Value) -> Option<f64> {
    point["exit_gap_pct"].as_f64()
}

/// The fillable size of a point beyond the pool's liquidity.
fn fillable(point: &Value) -> Option<f64> {
    point["max_fillable_usd"].as_f64()
}

/// A worse point has a greater value; a point without a fill is the worst.
fn badness(point: &Value) -> f64 {
    said(point).as_f64().unwrap_or(f64::INFINITY)
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_say_what_exits_said_and_the_worst_of_them() {
    let recorded = recorded(SLOTS as u64).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let mut refusals = Vec::new();
    let shallow = (0..recorded.world.pools.len())
        .find(|index| {
            let exit = format!("/v1/exit/{}?size_usd=10000", recorded.pool(*index));
            service.get(&exit).json()["code"] == "beyond_liquidity"
        })
        .unwrap();
    for (index, base, size) in [
        (0, "token0", 100_000),
        (1, "token1", 1_000_000),
        (5, "token0", 1000),
        (shallow, "token0", 10_000),
        (shallow, "token1", 10_000),
    ] {
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
                assert_eq!(exit["max_fillable_usd"], row["last"]["max_fillable_usd"]);
                exit["code"].clone()
            } else {
                assert_eq!(exit["evidence_url"], row["last"]["evidence_url"]);
                exit["exit_gap_pct"].clone()
            };
            assert_eq!(said(&row["last"]), expected, "{pool} at {at}");
            if expected.is_number() {
                assert_eq!((&row["worst"], &row["slots_refused"]), (&row["last"], &json!(0)));
            } else {
                assert_eq!((&row["worst"], &row["slots_refused"]), (&Value::Null, &json!(1)));
            }
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
            let numbers = slots.iter().filter_map(|row| number(&row["last"]));
            assert_eq!(number(&row["worst"]), numbers.clone().reduce(f64::max));
            assert_eq!(row["slots_refused"], slots.len() - numbers.count());
            let least = slots.iter().filter_map(|row| fillable(&row["last"])).reduce(f64::min);
            assert_eq!(fillable(&row["least_fillable"]), least);
            let depth = |row: &Value| row["lowest_depth"]["depth_usd"].as_u64().unwrap();
            assert_eq!(depth(row), slots.iter().map(depth).min().unwrap());
        }
        let stress = format!("/v1/stress/{pool}?size_usd={size}&base={base}");
        let stress = service.get(&stress).found();
        assert_eq!(stress["worst_gap"], days["rows"][0]["worst"]);
        assert_eq!(stress["slots_refused"], days["rows"][0]["slots_refused"]);
        assert_eq!(stress["least_fillable"], days["rows"][0]["least_fillable"]);
        assert_eq!(stress["evidence_url"], stress["worst_gap"]["evidence_url"]);
        refusals.push(stress["slots_refused"].as_u64().unwrap());
        let exit = service.get(&format!("/v1/exit/{pool}?size_usd=1&base={base}")).found();
        for result in [&slots, &days, &stress] {
            check_disclosure(result, &exit, size);
        }
        assert_eq!(slots["evidence_url"], rows.last().unwrap()["last"]["evidence_url"]);
        assert_eq!(stress["lowest_depth"], days["rows"][0]["lowest_depth"]);
        assert_eq!(stress["slots_missing"], 0);

        check_pages(&service, &pool, &ask, rows);
        check_newest_first(&ask, rows);
    }
    assert!(refusals.contains(&(SLOTS as u64)), "{refusals:?}");
    assert_eq!(refusals[0], 0);
    check_refusals(&service, &recorded.pool(0));
}

/// An answer from several slots states the length of its series and the slots it uses, like a single exit.
fn check_disclosure(result: &Value, exit: &Value, size: u64) {
    for field in ["status", "days_observed", "method_version"] {
        assert_eq!(result[field], exit[field], "{field}");
    }
    assert_eq!(result["method"]["assumed_size_usd"], size);
    assert_eq!(result["method"]["window"], exit["window"]);
    let source = json!({"kind": "recorded_snapshot", "chain": "anvil"});
    assert_eq!(result["method"]["depth_source"], source);
}

/// A series is the same page by page and in parts.
fn check_pages(service: &Service, pool: &str, ask: &dyn Fn(&str) -> Value, rows: &[Value]) {
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = ask(&format!("&interval=5m&limit=5&from=2026-08-22T00:00:00Z{cursor}"));
        paged.extend(page["rows"].as_array().unwrap().clone());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(paged, rows);
    let part = ask("&interval=5m&from=2026-08-22T00:10:00Z&to=2026-08-22T00:24:59Z");
    assert_eq!(part["rows"].as_array().unwrap()[..], rows[2..5]);
    // A part states which period it covers.
    assert_eq!(part["method"]["window"]["slots_recorded"], 3);
    assert_eq!(part["method"]["window"]["to"], "2026-08-22T00:20:00Z");
    let at = service.get(&format!("/v1/exit/{pool}?size_usd=1&at=2026-08-22T00:24:59Z"));
    assert_eq!(part["days_observed"], at.found()["days_observed"]);
    let page = ask("&interval=5m&limit=4");
    let window = json!({"from": "2026-08-22T00:50:00Z", "to": "2026-08-22T01:05:00Z",
        "slots_recorded": 4, "slots_missing": 0});
    assert_eq!(page["method"]["window"], window);
}

/// Rows with the newest first are the same rows, page by page, and each page has a cursor of its own order.
fn check_newest_first(ask: &dyn Fn(&str) -> Value, rows: &[Value]) {
    let reversed: Vec<Value> = rows.iter().rev().cloned().collect();
    let (mut paged, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = ask(&format!("&interval=5m&order=desc&limit=5{cursor}"));
        assert_eq!(page["order"], "desc");
        let own = page["rows"].as_array().unwrap();
        let [newest, oldest] = [own.first(), own.last()].map(|row| row.unwrap()["time"].clone());
        let window = &page["method"]["window"];
        assert_eq!((&window["from"], &window["to"]), (&oldest, &newest));
        assert_eq!(page["evidence_url"], own[0]["last"]["evidence_url"]);
        paged.extend(own.clone());
        pages += 1;
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!((paged, pages), (reversed, SLOTS.div_ceil(5)));
    // Hours begin at the same slots in both orders, also at the edges of a page and of a period.
    let part = "&from=2026-08-22T00:10:00Z&to=2026-08-22T01:02:00Z";
    let mut hours = ask(part)["rows"].as_array().unwrap().clone();
    hours.reverse();
    assert_eq!(ask(&format!("{part}&order=desc"))["rows"], json!(hours));
    let first = ask(&format!("{part}&order=desc&limit=1"));
    assert_eq!(first["rows"], json!(hours[..1]));
    let next = first["next_cursor"].as_str().unwrap();
    let second = ask(&format!("{part}&order=desc&limit=1&cursor={next}"));
    assert_eq!((&second["rows"], second.get("next_cursor")), (&json!(hours[1..]), None));
    let days = ask("&interval=1d&order=desc");
    assert_eq!(days["rows"], ask("&interval=1d")["rows"], "one day");
    assert_eq!((&ask("")["order"], ask("&order=asc")), (&json!("asc"), ask("")));
}

fn check_refusals(service: &Service, pool: &str) {
    let refused = |query: &str| service.get(&format!("/v1/history/{pool}?{query}")).problem();
    assert_eq!(refused("size_usd=0.001").2.as_deref(), Some("size_usd"));
    assert_eq!(refused("size_usd=1000&interval=2h").2.as_deref(), Some("interval"));
    assert_eq!(refused("size_usd=1000&cursor=x").2.as_deref(), Some("cursor"));
    let wrong = |field: &str| (400, "invalid_parameter".to_owned(), Some(field.to_owned()));
    assert_eq!(refused("size_usd=1000&order=down"), wrong("order"));
    // A cursor belongs to one order, and has one spelling.
    for cursor in
        ["order=desc&cursor=5957860", "cursor=desc-5957860", "order=asc&cursor=desc-5957860"]
    {
        let answer = service.get(&format!("/v1/history/{pool}?size_usd=1000&{cursor}"));
        assert_eq!(answer.problem(), wrong("cursor"), "{cursor}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("continues pages in the order"), "{detail}");
    }
    for cursor in ["desc-", "desc-05957860", "desc-5957855", "desc--5957860", "DESC-5957860"] {
        assert_eq!(refused(&format!("size_usd=1000&order=desc&cursor={cursor}")), wrong("cursor"));
    }
    let order = "size_usd=1000&from=2026-08-22T01:00:00Z&to=2026-08-22T00:00:00Z";
    assert_eq!(refused(order), (422, "period_reversed".into(), Some("from".into())));
    assert_eq!(refused("size_usd=1000&from=2027-08-22T01:00:00Z").1, "after_series");
    assert_eq!(refused("size_usd=1000&to=2026-08-21T01:00:00Z").1, "before_series");
    // A period that begins before the series starts at the series' first slot.
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
        // With less than one day, the row has no score.
        assert_eq!(row["fragility_score"], Value::Null);
        let exit = service.get(&format!("/v1/exit/{pool}?size_usd=1")).found();
        for field in ["status", "days_observed", "method_version", "window_url"] {
            assert_eq!(row[field], exit[field], "{field} of {pool}");
        }
        assert_eq!(row["method"]["window"], exit["window"]);
        for gap in row["gaps"].as_array().unwrap() {
            let exit = format!("/v1/exit/{pool}?size_usd={}", gap["size_usd"]);
            let exit = service.get(&exit).json();
            let code = &exit["code"];
            let expected = if code.is_string() { code } else { &exit["exit_gap_pct"] };
            assert_eq!(&said(gap), expected, "{pool}");
            for field in ["max_fillable_usd", "evidence_url"] {
                assert_eq!(gap[field], exit[field], "{field} of {pool}");
            }
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

#[tokio::test(flavor = "multi_thread")]
async fn a_portfolios_total_says_what_it_rests_on() {
    let recorded = recorded(3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let (a, b) = (recorded.pool(0), recorded.pool(1));
    let ask = |positions: &str| service.get(&format!("/v1/portfolio?{positions}")).found();
    let sold = ask(&format!("position={a}:1000&position={b}:500&position={a}:10"));
    let total = &sold["total"];
    let first = service.get(&format!("/v1/exit/{a}?size_usd=1010")).found();
    let second = service.get(&format!("/v1/exit/{b}?size_usd=500")).found();
    for field in ["status", "days_observed", "method_version"] {
        assert_eq!(total[field], first[field], "{field}");
    }
    let method = json!({
        "assumed_size_usd": 1510,
        "window": first["window"],
        "depth_source": {"kind": "recorded_snapshot", "chain": "anvil"},
    });
    assert_eq!(total["method"], method);
    assert_eq!(total["evidence_urls"], json!([first["evidence_url"], second["evidence_url"]]));
    // A position that is not filled has the error of the single exit.
    let some = ask(&format!("position={a}:1000000000&position={b}:500"));
    let refused = service.get(&format!("/v1/exit/{a}?size_usd=1000000000")).json();
    assert!(refused["evidence_url"].is_string(), "{refused}");
    let urls = json!([refused["evidence_url"], second["evidence_url"]]);
    assert_eq!(some["total"]["evidence_urls"], urls);
    assert_eq!(some["total"]["days_observed"], first["days_observed"]);
}

/// Every form of naming a token that the API description of an address allows works there, and other forms are
/// rejected.
#[tokio::test(flavor = "multi_thread")]
async fn a_base_is_named_alike_wherever_the_description_says_so() {
    let recorded = recorded(2).await;
    let unlimited = [("EXITGAP_HTTP_RATE_PER_MINUTE", "0")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &unlimited);
    let pool = recorded.pool(0);
    let document = service.get("/v1/openapi.json").found();
    let sold = service.get(&format!("/v1/exit/{pool}?size_usd=1000&base=token1")).found();
    let (symbol, address) = (&sold["base"]["symbol"], &sold["base"]["address"]);
    let names = ["token1", symbol.as_str().unwrap(), address.as_str().unwrap()];
    let capitals = names[2].to_uppercase().replace("0X", "0x");
    let mut addresses = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let Some(parameters) = item["get"]["parameters"].as_array() else { continue };
        let Some(base) = parameters.iter().find(|one| one["name"] == "base") else { continue };
        addresses += 1;
        let path = path.replace("{pool}", &pool);
        let size = match path.split('/').nth(2) {
            Some("alerts") => "kind=oracle_stale&",
            _ if path.contains("/decay/") => "",
            _ => "size_usd=1000&",
        };
        let ask = |base: &str| service.get(&format!("{path}?{size}base={base}"));
        let by_place = base["schema"]["enum"] == json!(["token0", "token1"]);
        if by_place {
            let expected = (400, "invalid_parameter".to_owned(), Some("base".to_owned()));
            assert_eq!(ask(names[1]).problem(), expected, "{path}");
            assert_eq!(ask(names[2]).problem(), expected, "{path}");
            // A pool without a tokenized stock has no such figure.
            let expected = if path.contains("/equity/") { 404 } else { 200 };
            assert_eq!(ask("token1").status, expected, "{path}");
            continue;
        }
        assert_eq!(base["schema"]["pattern"], "^[ -~]{1,42}$", "{path}");
        let path = path.split('?').next().unwrap();
        let ask = |base: &str| {
            let more = match path.split('/').nth(2) {
                Some("ladder" | "decay") => "",
                Some("alerts") => "kind=oracle_stale&",
                Some("size") => "gap_pct=2&",
                Some("simulate") => "size_usd=1000&orders=2&",
                _ => "size_usd=1000&",
            };
            service.get(&format!("{path}?{more}base={base}"))
        };
        // The answer without its age, which changes with time.
        let answer = |base: &str| {
            let mut found = ask(base).found();
            found.as_object_mut().unwrap().remove("snapshot_age_s");
            found
        };
        let expected = answer("token1");
        for name in names.into_iter().chain([capitals.as_str(), "TOKEN1"]) {
            assert_eq!(answer(name), expected, "{name} at {path}");
        }
        let unknown = (404, "unknown_base".to_owned(), Some("base".to_owned()));
        assert_eq!(ask("DOGE").problem(), unknown, "{path}");
        for wrong in ["", "%C3%A9", "a%0a", &"x".repeat(43)] {
            let refused = (400, "invalid_parameter".to_owned(), Some("base".to_owned()));
            assert_eq!(ask(wrong).problem(), refused, "{wrong:?} at {path}");
        }
    }
    assert_eq!(addresses, 15);
    let position = format!("/v1/portfolio?position={pool}/{}:1000", names[1]);
    assert_eq!(service.get(&position).found()["exits"][0]["base"], "token1");
    let position = format!("/v1/portfolio?position={pool}/DOGE:1000");
    assert_eq!(service.get(&position).problem().1, "unknown_base");
    let hint = service.get(&format!("/v1/exit/{pool}?size_usd=250k")).json()["hint"].clone();
    assert!(hint.as_str().unwrap().contains("plain decimal"), "{hint}");
    assert!(hint.as_str().unwrap().contains("250k"), "{hint}");
}
