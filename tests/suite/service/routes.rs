//! Comparing a token's venues: the exact split, executed with real sales.

use std::process::{Command, Output};

use alloy::primitives::U256;
use exitgap_tests::binaries;
use exitgap_tests::devchain::World;
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::service::{Recorded, Service, configured_with, record_in};

fn cli(recorded: &Recorded, arguments: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(arguments).current_dir(recorded.folder.path()).output().unwrap()
}

/// A number of a document in millionths.
fn millionths(value: &Value) -> i64 {
    format!("{:.0}", value.as_f64().unwrap() * 1e6).parse().unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// The evidence of a leg contains its gap, and the command line verifies it.
fn verify(recorded: &Recorded, service: &Service, row: &Value) {
    let url = row["evidence_url"].as_str().unwrap();
    let evidence = service.get(&url[url.find("/api/").unwrap()..]);
    std::fs::write(recorded.path("leg.json"), &evidence.body).unwrap();
    std::fs::write(recorded.path("key"), service.get("/log/verifier-key").body).unwrap();
    let checked = cli(recorded, &["verify", "leg.json", "--trust", "key", "--json"]);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    let stated = &evidence.json()["result"];
    if row["exit_gap_pct"].is_number() {
        let stated: f64 = stated["exit_gap_pct"].as_str().unwrap().parse().unwrap();
        assert_eq!(row["exit_gap_pct"].as_f64(), Some(stated));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_split_of_a_token_is_sold_as_it_says() {
    let (chain, world) = scene().await;
    let address = |asset: usize| format!("{:#x}", world.assets[asset].token.address);
    let (weth, usdc, usdt) = (address(World::WETH), address(World::USDC), address(World::USDT));
    let alt = address(World::ALT);
    let groups = format!(
        "\n[[quote_group]]\nchain = \"anvil\"\nname = \"usd\"\ntokens = [\"{usdc}\", \"{usdt}\"]\n\
         [[quote_group]]\nchain = \"anvil\"\nname = \"own\"\ntokens = [\"{weth}\"]\n"
    );
    let folder = configured_with(&chain, &world, &groups);
    let recorded = record_in(&chain, world, folder, 3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let ask = |query: &str| service.get(&format!("/v1/routes/anvil/{weth}?{query}"));

    let all = ask("size_usd=400000").found();
    assert_eq!(list(&all["alone"]).len(), 5, "WETH is a token of five pools: {all}");
    let routes = ask("size_usd=400000&quote_group=usd").found();
    assert_eq!((&routes["quote_group"], &routes["chain"]), (&json!("usd"), &json!("anvil")));
    assert_eq!(routes["quote_groups"], json!(["usd", "own"]));
    assert_eq!((&routes["status"], &routes["oracle_state"]), (&json!("preview"), &json!("fresh")));
    assert_eq!(list(&routes["alone"]).len(), 3);
    let legs = list(&routes["legs"]);
    assert!(legs.len() > 1, "{routes}");
    let sum: i64 = legs.iter().map(|leg| millionths(&leg["size_usd"])).sum();
    assert_eq!(sum, 400_000_000_000);
    let gap = millionths(&routes["exit_gap_pct"]);
    for alone in list(&routes["alone"]) {
        assert!(alone["exit_gap_pct"].is_null() || gap <= millionths(&alone["exit_gap_pct"]));
        verify(&recorded, &service, alone);
    }
    assert!((0..1_000).contains(&millionths(&routes["optimality_gap_pct"])), "{routes}");
    // Additional pools never make the result worse.
    assert!(millionths(&all["exit_gap_pct"]) <= gap);

    // Each leg is an exit by itself …
    for leg in legs {
        verify(&recorded, &service, leg);
        let (pool, size, base) = (&leg["pool"], &leg["size_usd"], &leg["base"]);
        let [pool, base] = [pool, base].map(|text| text.as_str().unwrap());
        let exit = service.get(&format!("/v1/exit/{pool}?size_usd={size}&base={base}")).found();
        for field in ["exit_gap_pct", "amount_in_raw", "amount_out_raw"] {
            assert_eq!(exit[field], leg[field], "{field}");
        }
    }
    // … and the contracts pay exactly its amount, to the unit.
    let (mut sold, mut brought) = (U256::ZERO, Vec::new());
    for leg in legs {
        let amount = |field: &str| leg[field].as_str().unwrap().parse::<U256>().unwrap();
        let named = |entry: &&exitgap_tests::devchain::WorldPool| {
            leg["pool"] == format!("anvil:{:#x}", entry.pool.address)
        };
        let pool = &recorded.world.pools.iter().find(named).unwrap().pool;
        let token = recorded.world.assets[World::WETH].token.address;
        let swap = chain.swap_exact_in(pool, token, amount("amount_in_raw")).await.unwrap();
        assert_eq!(swap.amount_out, amount("amount_out_raw"), "{leg}");
        sold += amount("amount_in_raw");
        brought.push(swap.amount_out);
    }
    assert_eq!(sold.to_string(), routes["amount_in_raw"].as_str().unwrap());
    assert_eq!(brought.len(), legs.len());

    // The command line recomputes the service's answer and gets the same from its own store.
    let token = format!("anvil/{weth}");
    let (db, url) = (recorded.path("exitgap.db"), format!("http://{}", service.address));
    for source in [["--db", db.to_str().unwrap()], ["--api", &url]] {
        let question = [&["routes", &token, "--size-usd", "400k"][..], &source].concat();
        let output = cli(&recorded, &[&question[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        for field in ["exit_gap_pct", "optimality_gap_pct", "amount_in_raw", "slot"] {
            assert_eq!(told[field], all[field], "{field}");
        }
        let text = String::from_utf8(cli(&recorded, &question).stdout).unwrap();
        for said in [
            "exit gap",
            "no other split improves on this by more than",
            "Uniswap v2 0.3%",
            "PREVIEW",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
    let grouped = ["routes", &token, "--size-usd", "1k", "--quote-group", "usd", "--api", &url];
    assert_eq!(cli(&recorded, &grouped).status.code(), Some(0));

    refused(&service, &weth, &alt);
    assert_eq!(service.end(), Some(0));
}

/// Invalid questions, and questions without an answer.
fn refused(service: &Service, weth: &str, alt: &str) {
    let unknown = format!("0x{}", "11".repeat(20));
    for (target, status, code, field) in [
        (format!("anvil/{weth}"), 400, "invalid_parameter", Some("size_usd")),
        (format!("anvil/{weth}?size_usd=0"), 400, "invalid_parameter", Some("size_usd")),
        (format!("anvil/{unknown}?size_usd=1"), 404, "unknown_token", Some("token")),
        ("anvil/WETH?size_usd=1".to_owned(), 400, "invalid_parameter", Some("token")),
        (format!("base/{weth}?size_usd=1"), 404, "unknown_chain", Some("chain")),
        (format!("a_b/{weth}?size_usd=1"), 400, "invalid_parameter", Some("chain")),
        (
            format!("anvil/{weth}?size_usd=1&quote_group=eur"),
            400,
            "invalid_parameter",
            Some("quote_group"),
        ),
        (format!("anvil/{weth}?size_usd=1&quote_group=own"), 404, "unknown_token", Some("token")),
        (
            format!("anvil/{weth}?size_usd=1&fixed_cost_usd=1000001"),
            400,
            "invalid_parameter",
            Some("fixed_cost_usd"),
        ),
        (format!("anvil/{weth}?size_usd=1&min_days_observed=9"), 412, "series_too_short", None),
        (format!("anvil/{weth}?size_usd=1&at=2026-08-21T00:00:00Z"), 404, "before_series", None),
        (format!("anvil/{alt}?size_usd=1000000000"), 422, "beyond_liquidity", None),
    ] {
        let answer = service.get(&format!("/v1/routes/{target}"));
        let (found, said, at) = answer.problem();
        assert_eq!((found, said.as_str()), (status, code), "{target}");
        assert!(field.is_none() || at.as_deref() == field, "{target}: {at:?}");
    }
    // The reported fillable size can be filled.
    let beyond = service.get(&format!("/v1/routes/anvil/{alt}?size_usd=1000000000")).json();
    let most = &beyond["max_fillable_usd"];
    let filled = service.get(&format!("/v1/routes/anvil/{alt}?size_usd={most}"));
    assert_eq!(filled.status, 200, "{most}");
    // With a cost per venue, the split uses fewer venues, and its gap includes the costs.
    let ask = |cost: &str| {
        let query = format!("size_usd=400000&fixed_cost_usd={cost}");
        service.get(&format!("/v1/routes/anvil/{weth}?{query}")).found()
    };
    let (free, costly) = (ask("0"), ask("2500.5"));
    assert!(list(&costly["legs"]).len() < list(&free["legs"]).len(), "{costly}");
    assert!(millionths(&costly["exit_gap_pct"]) > millionths(&free["exit_gap_pct"]));
}
