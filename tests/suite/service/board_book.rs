//! The board's book: the liquidity of a pool around its own price, whatever its oracle price is.

use exitgap_tests::devchain::World;
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::service::{Recorded, Service, configured, record_blocks};

/// The oracle price moves away from the pool's price by more than the limit, while the pool stays unchanged. Then its
/// depth is zero, but its book still equals, to the dollar, what its unchanged reserves hold within the limit.
#[tokio::test(flavor = "multi_thread")]
async fn an_oracle_that_moved_away_takes_depth_and_leaves_the_book() {
    let (chain, world) = scene().await;
    let folder = configured(&chain, &world);
    let weth = &world.assets[World::WETH];
    let round = chain.latest_round(&weth.feed).await.unwrap() + 2;
    let higher = weth.initial_answer.cast_signed() * 105 / 100;
    let last = record_blocks(&chain, &world, &folder, 2, |place| match place {
        1 => vec![chain.answer_tx(&weth.feed, round, higher)],
        _ => Vec::new(),
    })
    .await;
    let recorded = Recorded { folder, world, last };
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(World::FIRST_V2);
    let before = recorded.last.previous().unwrap();
    let board = service.get("/v1/fragility").found();
    let row = board["rows"].as_array().unwrap().iter().find(|row| row["pool"] == pool).unwrap();
    assert_eq!(row["base"]["symbol"], "WETH");

    let ladder = service.get(&format!("/v1/ladder/{pool}?at={before}")).found();
    let rung = ladder["by_gap"].as_array().unwrap().iter().find(|rung| rung["gap_limit_pct"] == 2);
    assert!(rung.unwrap()["max_size_usd"].as_f64().unwrap() > 0.0, "{ladder}");
    assert_eq!(row["depth_usd"], 0, "{row}");
    states_its_cause(&service, &pool, row);

    // The reserves are the same as before the oracle price moved.
    let state_at = |at: &str| -> Value {
        let exit = service.get(&format!("/v1/exit/{pool}?size_usd=1{at}")).found();
        let hash = exit["method"]["depth_source"]["snapshot_hash"].as_str().unwrap().to_owned();
        service.get(&format!("/api/v1/snapshots/{hash}")).found()["state"].clone()
    };
    let state = state_at(&format!("&at={before}"));
    assert_eq!(state, state_at(""));
    let state = service.get(&format!("/api/v1/states/{}", state.as_str().unwrap())).found();
    let number = |value: &Value| value.as_str().unwrap().parse::<u128>().unwrap();
    let mut reserves = [0, 1].map(|token: usize| number(&state["reserves"][token]));
    if row["base"]["address"].as_str().unwrap() > row["quote"]["address"].as_str().unwrap() {
        reserves.reverse();
    }
    // The execution price is at most 2% below the price of the reserves: out ÷ in ≥ 0.98 × reserve out ÷ reserve in.
    let book = row["book_usd"].as_u64().unwrap();
    let is_within = |size: u64| {
        let exit = service.get(&format!("/v1/exit/{pool}?size_usd={size}")).found();
        let [amount_in, amount_out] =
            ["amount_in_raw", "amount_out_raw"].map(|name| number(&exit[name]));
        amount_out * reserves[0] * 100 >= amount_in * reserves[1] * 98
    };
    assert!(book > 0 && is_within(book), "{row}");
    assert!(!is_within(book + 1), "{row}");
}

/// Wherever the zero is shown, the pool's own book and the cause are next to it.
fn states_its_cause(service: &Service, pool: &str, row: &Value) {
    let note = "$0: the oracle was 4.8% above the pool for 1 slot (5 min). Around its own price the pool held $";
    let lead = &row["oracle_lead_7d"];
    assert_eq!((&lead["slots_above"], &lead["longest_run_slots"]), (&json!(1), &json!(1)), "{row}");
    let led = lead["largest_pct"].as_f64().unwrap();
    assert!((4.7..4.9).contains(&led), "{led}");
    let book = &row["lowest_book_7d_usd"];
    assert!(book.as_u64().unwrap() > 0, "{row}");
    assert_eq!(row["lowest_depth_7d"]["depth_usd"], 0);
    assert_eq!(row["lowest_depth_7d_cause"], "oracle_led");
    assert!(row["lowest_depth_7d_note"].as_str().unwrap().starts_with(note), "{row}");
    assert_eq!(row["depth_cause"], "oracle_led");
    assert!(row["depth_note"].as_str().unwrap().starts_with("$0: the oracle is 4.8% above"));
    for path in ["exit", "ladder", "size"] {
        let query = match path {
            "exit" => "size_usd=100",
            "size" => "gap_pct=10",
            _ => "",
        };
        let told = service.get(&format!("/v1/{path}/{pool}?{query}")).found();
        assert_eq!(told["lowest_depth_7d_usd"], 0, "{told}");
        for field in ["lowest_book_7d_usd", "lowest_depth_7d_note", "oracle_lead_7d"] {
            assert_eq!(told[field], row[field], "{path}: {field}");
        }
    }
    let ladder = service.get(&format!("/v1/ladder/{pool}")).found();
    let rung = ladder["by_gap"].as_array().unwrap().iter().find(|rung| rung["gap_limit_pct"] == 2);
    let rung = rung.unwrap();
    assert_eq!((&rung["max_size_usd"], &rung["depth_cause"]), (&json!(0), &json!("oracle_led")));
    assert_eq!(rung["book_usd"], row["book_usd"]);
    for interval in ["5m", "1h", "1d"] {
        let history =
            service.get(&format!("/v1/history/{pool}?size_usd=1000&interval={interval}")).found();
        let lowest = &history["rows"].as_array().unwrap().last().unwrap()["lowest_depth"];
        assert_eq!((&lowest["depth_usd"], &lowest["book_usd"]), (&json!(0), &row["book_usd"]));
        assert_eq!(lowest["depth_note"], row["depth_note"], "{interval}");
    }
    let stress = service.get(&format!("/v1/stress/{pool}?size_usd=1000")).found();
    assert_eq!(stress["lowest_depth"]["depth_cause"], "oracle_led");
    // The figure file recomputes both lows from the snapshots.
    let url = row["depths_url"].as_str().unwrap();
    let file = service.get(&url[url.find("/api/").unwrap()..]).found();
    assert_eq!(file["figure"], "depths/1");
    let side = &file["result"][if row["base"]["address"].as_str() < row["quote"]["address"].as_str()
    {
        "token0"
    } else {
        "token1"
    }];
    assert_eq!(side["lowest_depth_usd"], "0");
    assert_eq!(side["lowest_book_usd"].as_str().unwrap(), book.to_string());
    assert_eq!((&side["cause"], &side["led_slots"]), (&json!("oracle_led"), &json!(1)));
}
