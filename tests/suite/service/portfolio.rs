//! Several positions at once: the plan for all tokens executed with real sales, its figure file, and what has no plan.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use alloy::primitives::U256;
use exitgap_core::ids::Address;
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::{Observation, Snapshot};
use exitgap_store::NewEntry;
use exitgap_tests::devchain::{World, WorldPool};
use serde_json::{Value, json};

use super::cash::{cli, list, millionths, units};
use crate::scenes::chain::scene;
use crate::scenes::here::{Here, With, stored};
use crate::scenes::service::{Recorded, Service, configured_with, record_blocks};
use crate::scenes::store::{BusyPool, slot};

fn address_of(token: &Value) -> String {
    token["address"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn several_tokens_are_sold_in_one_plan_that_is_executed_as_it_says() {
    let (chain, world) = scene().await;
    let address = |asset: usize| format!("{:#x}", world.assets[asset].token.address);
    let [alt, weth, wbtc] = [World::ALT, World::WETH, World::WBTC].map(address);
    let [usdc, usdt] = [World::USDC, World::USDT].map(address);
    let groups = format!(
        "\n[[quote_group]]\nchain = \"anvil\"\nname = \"cash\"\ntokens = [\"{usdc}\", \"{usdt}\"]\n"
    );
    let folder = configured_with(&chain, &world, &groups);
    // Nothing is traded after the last slot's block, so the contracts are as they were recorded.
    let last = record_blocks(&chain, &world, &folder, 3, |_| Vec::new()).await;
    let recorded = Recorded { folder, world, last };
    let unlimited = [("EXITGAP_HTTP_RATE_PER_MINUTE", "0")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &unlimited);
    let ask = |query: &str| service.get(&format!("/v1/portfolio?{query}"));

    let query = format!(
        "position=anvil/{weth}:150000&position=anvil/{alt}:500&position=anvil/{wbtc}:50000&position=anvil/{weth}:250000&tolerance_pct=1"
    );
    let told = ask(&query).found();
    let [plan] = list(&told["plans"]) else { panic!("{told}") };
    let result = &plan["result"];
    for position in list(&told["positions"]) {
        assert_eq!((&position["plan"], &position["exits"]), (&json!(0), &json!([])));
    }
    assert_eq!((list(&told["exits"]), &told["worst_exit"]), (&[][..], &Value::Null));
    // Each token with all of its positions, ascending; no route ends in one of them.
    let sold: Vec<String> =
        list(&plan["sold"]).iter().map(|one| address_of(&one["token"])).collect();
    let all: BTreeSet<&String> = [&alt, &weth, &wbtc].into();
    assert!(sold.iter().eq(all.into_iter()), "{plan}");
    let of_weth = list(&plan["sold"]).iter().find(|one| address_of(&one["token"]) == weth);
    assert_eq!(of_weth.unwrap()["size_usd"], 400_000);
    for received in list(&result["received"]) {
        let token = address_of(&received["token"]);
        assert!(token == usdc || token == usdt, "{result}");
        let (paid, least) =
            (units(received, "amount_out_raw"), units(received, "amount_out_min_raw"));
        assert_eq!(least, paid * U256::from(99) / U256::from(100));
    }
    assert!(millionths(&result["optimality_gap_pct"]) <= 10_000, "{result}");
    let gap = 100_000_000 - millionths(&result["received_usd"]) * 10 / 45_050;
    assert!((gap - millionths(&result["exit_gap_pct"])).abs() <= 2, "{gap}: {result}");
    assert_eq!(told["total"]["exit_gap_pct"], result["exit_gap_pct"]);
    assert_eq!(told["total"]["evidence_urls"], json!([result["evidence_url"]]));
    assert_eq!(
        (&told["total"]["size_usd"], &told["total"]["unfilled_usd"]),
        (&json!(450_500), &json!(0))
    );

    verify(&recorded, &service, plan);
    with_other_positions(&service, [&alt, &weth, &usdc]);
    beyond_liquidity(&service, [&alt, &weth]);
    from_the_command_line(&recorded, &service, [&alt, &weth, &usdc, &usdt]);
    refused(&service, [&alt, &weth, &usdc]);
    refused_files(&service, plan);

    // The contracts pay each leg exactly, one after the other, and nothing is left but cash.
    let amounts = list(&plan["sold"]).iter();
    let mut held: BTreeMap<String, U256> =
        amounts.map(|one| (address_of(&one["token"]), units(one, "amount_in_raw"))).collect();
    let mut used = BTreeSet::new();
    for leg in list(&result["legs"]) {
        let named = |entry: &&WorldPool| leg["pool"] == format!("anvil:{:#x}", entry.pool.address);
        let pool = &recorded.world.pools.iter().find(named).unwrap().pool;
        assert!(used.insert(pool.address), "a pool is used twice: {result}");
        let from = address_of(&leg["sold"]);
        let swap = chain
            .swap_exact_in(pool, from.parse().unwrap(), units(leg, "amount_in_raw"))
            .await
            .unwrap();
        assert_eq!(swap.amount_out, units(leg, "amount_out_raw"), "{leg}");
        *held.get_mut(&from).unwrap() -= units(leg, "amount_in_raw");
        *held.entry(address_of(&leg["bought"])).or_default() += swap.amount_out;
    }
    held.retain(|_, left| !left.is_zero());
    let told = list(&result["received"]).iter();
    assert_eq!(
        held,
        told.map(|one| (address_of(&one["token"]), units(one, "amount_out_raw"))).collect()
    );
    assert_eq!(service.end(), Some(0));
}

/// The figure file of a plan, verified by the command line; its result says what the answer says.
fn verify(recorded: &Recorded, service: &Service, plan: &Value) {
    let result = &plan["result"];
    let url = result["evidence_url"].as_str().unwrap();
    let address = &url[url.find("/api/").unwrap()..];
    let file = service.get(address);
    assert_eq!(file.status, 200, "{}", file.body_text());
    assert_eq!(service.get(address).body, file.body);
    std::fs::write(recorded.path("portfolio.json"), &file.body).unwrap();
    std::fs::write(recorded.path("key"), service.get("/log/verifier-key").body).unwrap();
    let arguments =
        ["verify", "portfolio.json", "--trust", "key", "--snapshots", "exitgap.db", "--json"];
    let checked = cli(recorded, &arguments);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    let text = cli(recorded, &arguments[..arguments.len() - 1]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("portfolio/1"), "{text:?}");
    let figure: Value = serde_json::from_slice(&file.body).unwrap();
    assert_eq!(figure["figure"], "portfolio/1");
    for field in ["exit_gap_pct", "optimality_gap_pct"] {
        let stated: f64 = figure["result"][field].as_str().unwrap().parse().unwrap();
        assert_eq!(result[field].as_f64(), Some(stated), "{field}: {figure}");
    }
    let legs: Vec<&Value> =
        list(&result["legs"]).iter().map(|leg| &leg["amount_out_raw"]).collect();
    assert_eq!(json!(legs), figure["result"]["legs_out"]);
    assert_eq!(list(&figure["parameters"]["sold"]).len(), 3);
    agrees_with_the_second_verifier(recorded, service, &file.body_text(), &figure);
}

/// The program that was written from the format page alone computes the same result, and refuses another.
fn agrees_with_the_second_verifier(
    recorded: &Recorded,
    service: &Service,
    file: &str,
    figure: &Value,
) {
    let text = |address: String| service.get(&address).body_text();
    let documents = list(&figure["uses"]).iter().map(|used| {
        let snapshot = text(format!("/api/v1/snapshots/{}", used["snapshot"].as_str().unwrap()));
        let read: Value = serde_json::from_str(&snapshot).unwrap();
        let state = text(format!("/api/v1/states/{}", read["state"].as_str().unwrap()));
        json!([snapshot, state])
    });
    let key = text("/log/verifier-key".to_owned());
    let vector = json!({
        "figure": file,
        "keys": [key.trim()],
        "snapshots": documents.collect::<Vec<_>>(),
    });
    let folder = recorded.path("vectors");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("portfolio.json"), vector.to_string()).unwrap();
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/js/figures.mjs");
    let output = Command::new("node").arg(program).arg(&folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, "figures: compared 2, disagreeing 0\n", "{output:?}");
}

/// A busy pool of these tokens.
fn pool_of(number: u8, at: u32, tokens: [Address; 2]) -> NewEntry {
    let entry = BusyPool::new(number, 20).recorded(slot(at));
    let drawn = entry.reading.unwrap();
    let drawn = drawn.observation();
    let mut own = drawn.tokens().clone();
    own[0].address = tokens[0];
    own[1].address = tokens[1];
    let observation = Observation::new(
        drawn.pool().clone(),
        drawn.chain(),
        drawn.block(),
        own,
        drawn.state().clone(),
        drawn.oracles().to_vec(),
        Vec::new(),
    );
    NewEntry { reading: Ok(Snapshot::new(slot(at), observation.unwrap()).unwrap()), ..entry }
}

#[test]
fn a_token_whose_pool_was_not_read_in_the_slot_does_not_keep_the_others_from_being_sold() {
    let [one, other, cash] = [1, 2, 9].map(|last| Address([last; 20]));
    let of = |at: u32| vec![pool_of(1, at, [one, cash]), pool_of(2, at, [other, cash])];
    let (first, mut second) = (of(0), of(1));
    let chain = second[1].pool.chain().clone();
    second[1].reading = Err(MissingReason::RpcUnavailable);
    let folder = stored(&[first, second]);
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    let query = format!("position={chain}/{one}:10&position={chain}/{other}:20&into={cash}");
    let told = here.get(&format!("/v1/portfolio?{query}")).found();
    let [sold, unsold] = list(&told["positions"]) else { panic!("{told}") };
    assert_eq!((&sold["plan"], &sold["problem"]), (&json!(0), &Value::Null));
    assert_eq!(
        (&unsold["plan"], &unsold["problem"]["code"]),
        (&Value::Null, &json!("unknown_token"))
    );
    let detail = unsold["problem"]["detail"].as_str().unwrap();
    assert!(
        detail.contains("that count in slot") && detail.contains(&other.to_string()),
        "{detail}"
    );
    let [plan] = list(&told["plans"]) else { panic!("{told}") };
    assert_eq!((&plan["size_usd"], list(&plan["sold"]).len()), (&json!(10), 1));
    assert_eq!(
        (&told["total"]["size_usd"], &told["total"]["unfilled_usd"]),
        (&json!(30), &json!(20))
    );
    // On its own it is sold at the newest slot of its own pool.
    let alone = format!("/v1/portfolio?position={chain}/{other}:20&position={chain}/{other}:1");
    assert_eq!(
        here.get(&format!("{alone}&into={cash}")).status,
        200,
        "at the newest slot of its own pool"
    );
}

/// A pool that a position names takes no part in a plan, and a token that is cash is not sold.
fn with_other_positions(service: &Service, [alt, weth, usdc]: [&str; 3]) {
    let ask = |query: &str| service.get(&format!("/v1/portfolio?{query}"));
    let alone = ask(&format!("position=anvil/{alt}:500")).found();
    let leg = &alone["plans"][0]["result"]["legs"];
    let used = list(leg).last().unwrap()["pool"].as_str().unwrap().to_owned();
    let both =
        ask(&format!("position=anvil/{alt}:500&position={used}:1000&position=anvil/{usdc}:70"));
    let both = both.found();
    assert_eq!(
        (&both["positions"][0]["plan"], &both["positions"][1]["exits"]),
        (&json!(0), &json!([0]))
    );
    assert_eq!(
        (&both["positions"][2]["is_cash"], &both["positions"][2]["plan"]),
        (&json!(true), &Value::Null)
    );
    let [plan] = list(&both["plans"]) else { panic!("{both}") };
    let left_out = list(&plan["left_out"]).iter().find(|one| one["pool"] == used.as_str());
    assert_eq!(left_out.unwrap()["code"], "reserved");
    assert!(list(&plan["result"]["legs"]).iter().all(|leg| leg["pool"] != used.as_str()));
    let total = &both["total"];
    assert_eq!((&total["size_usd"], &total["unfilled_usd"]), (&json!(1_570), &json!(0)));
    // The mean weighs what is cash already with a gap of nothing.
    let gap = |of: &Value| millionths(&of["exit_gap_pct"]);
    let mean = (gap(&plan["result"]) * 500 + gap(&both["exits"][0]["result"]) * 1_000) / 1_570;
    assert!((gap(total) - mean).abs() <= 1, "{mean}: {total}");
    assert_eq!(both["worst_exit"], 0);
    let urls = json!([both["exits"][0]["result"]["evidence_url"], plan["result"]["evidence_url"]]);
    assert_eq!(total["evidence_urls"], urls);
    // If positions name every pool of a token, nothing leads from it to cash.
    let listed = service.get("/v1/pools").found();
    let of_alt = list(&listed["pools"]).iter().filter(|pool| {
        [&pool["base"], &pool["quote"]].iter().any(|token| address_of(token) == *alt)
    });
    let named: Vec<String> =
        of_alt.map(|pool| format!("position={}:1", pool["pool"].as_str().unwrap())).collect();
    assert!(!named.is_empty());
    let unsold = ask(&format!("position=anvil/{alt}:500&{}", named.join("&"))).found();
    assert_eq!((&unsold["positions"][0]["plan"], &unsold["plans"]), (&Value::Null, &json!([])));
    assert_eq!(unsold["positions"][0]["problem"]["code"], "unknown_token");
    assert_eq!(unsold["total"]["unfilled_usd"], 500, "{unsold}");
    // A token that no pool trades does not keep the others from being sold.
    let unknown = format!("0x{}", "11".repeat(20));
    let alone = ask(&format!("position=anvil/{weth}:1000")).found();
    let query = format!("position=anvil/{unknown}:5&position=anvil/{weth}:1000");
    for into in ["cash", "any"] {
        let beside = ask(&format!("{query}&into={into}")).found();
        let [first, second] = list(&beside["positions"]) else { panic!("{beside}") };
        assert_eq!((&first["plan"], &second["plan"]), (&Value::Null, &json!(0)));
        let detail = first["problem"]["detail"].as_str().unwrap();
        assert!(detail.contains(&unknown), "{detail}");
        assert_eq!(second["problem"], Value::Null);
        let total = &beside["total"];
        assert_eq!((&total["size_usd"], &total["unfilled_usd"]), (&json!(1_005), &json!(5)));
        assert_eq!(total["exit_gap_pct"], Value::Null);
        if into == "cash" {
            assert_eq!(beside["plans"], alone["plans"]);
            assert_eq!(total["filled_gap_pct"], alone["total"]["exit_gap_pct"]);
        }
    }
    // Nor does it where no pool pays for any token, and a position is sold in a pool.
    for into in ["cash", "any"] {
        let query = format!("position=anvil/{unknown}:5&position={used}:1000&into={into}");
        let beside = ask(&query).found();
        let problem = &beside["positions"][0]["problem"];
        assert_eq!(
            (&problem["code"], &problem["field"]),
            (&json!("unknown_token"), &json!("position"))
        );
        assert_eq!((&beside["plans"], &beside["worst_exit"]), (&json!([]), &json!(0)));
        assert_eq!(beside["total"]["unfilled_usd"], 5, "{beside}");
    }
    // Sold into a token that is named, or into any that pools pay, a dollar is sold like other tokens.
    let into = ask(&format!("position=anvil/{usdc}:70&into={weth}")).found();
    assert_eq!(address_of(&into["plans"][0]["result"]["received"][0]["token"]), *weth);
    let any = ask(&format!("position=anvil/{alt}:50&into=any")).found();
    assert_eq!((&any["plans"][0]["into"], &any["plans"][0]["cash"]), (&json!("any"), &Value::Null));
}

/// What the pools do not take is reported as unfilled, by token, and the rest has a plan.
fn beyond_liquidity(service: &Service, [alt, weth]: [&str; 2]) {
    let query = format!("position=anvil/{alt}:900000000&position=anvil/{weth}:1000");
    let told = service.get(&format!("/v1/portfolio?{query}")).found();
    let plan = &told["plans"][0];
    assert_eq!(plan["problem"]["code"], "beyond_liquidity", "{plan}");
    let (size, left) = (millionths(&plan["size_usd"]), millionths(&plan["unfilled_usd"]));
    assert_eq!(size, 900_001_000_000_000);
    assert!(left > 800_000_000_000_000 && left < size, "{plan}");
    let of = |token: &str| {
        let sold = list(&plan["sold"]).iter().find(|one| address_of(&one["token"]) == token);
        millionths(&sold.unwrap()["unfilled_usd"])
    };
    assert_eq!(of(alt) + of(weth), left);
    assert!(of(alt) > of(weth));
    let total = &told["total"];
    assert_eq!(millionths(&total["unfilled_usd"]), left);
    assert_eq!(total["exit_gap_pct"], Value::Null);
    assert_eq!(total["filled_gap_pct"], plan["result"]["exit_gap_pct"]);
    let filled = millionths(&plan["result"]["size_usd"]);
    assert_eq!(filled + left, size);
}

/// The command line asks a service, or computes the same from a database.
fn from_the_command_line(
    recorded: &Recorded,
    service: &Service,
    [alt, weth, usdc, usdt]: [&str; 4],
) {
    let positions = [format!("anvil/{alt}:500"), format!("anvil/{weth}:2k")];
    let (db, url) = (recorded.path("exitgap.db"), format!("http://{}", service.address));
    let into = format!("{usdc},{usdt}");
    let mut found = Vec::new();
    for source in [["--db", db.to_str().unwrap()], ["--api", &url]] {
        let asked = ["portfolio", &positions[0], &positions[1], "--into", &into];
        let asked = [&asked[..], &source].concat();
        let output = cli(recorded, &[&asked[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        found.push(told["plans"][0]["result"]["legs"].clone());
        let text = String::from_utf8(cli(recorded, &asked).stdout).unwrap();
        for said in [
            "One plan",
            "than the oracle",
            "receives",
            "at least",
            "0.5% less",
            "PREVIEW",
            "evidence",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
    assert_eq!(found[0], found[1]);
}

/// Invalid questions, and questions without an answer.
fn refused(service: &Service, [alt, weth, usdc]: [&str; 3]) {
    let unknown = format!("0x{}", "11".repeat(20));
    let many: Vec<String> = (0..25)
        .map(|number| format!("position=anvil/0x{}{number:02}:5", "11".repeat(19)))
        .collect();
    for (query, status, code, field) in [
        (many.join("&"), 400, "invalid_parameter", Some("position")),
        ("position=anvil/WETH:5".to_owned(), 400, "invalid_parameter", Some("position")),
        ("position=ANVIL/0x:5".to_owned(), 400, "invalid_parameter", Some("position")),
        ("position=anvil/:5".to_owned(), 400, "invalid_parameter", Some("position")),
        ("position=/:5".to_owned(), 400, "invalid_parameter", Some("position")),
        (format!("position=anvil/{usdc}:5"), 400, "invalid_parameter", Some("position")),
        (format!("position=anvil/{unknown}:5"), 404, "unknown_token", None),
        (format!("position=base/{weth}:5"), 404, "unknown_chain", None),
        (format!("position=anvil/{weth}:5&into=eur"), 400, "invalid_parameter", Some("into")),
        (format!("position=anvil/{weth}:5&into={unknown}"), 404, "unknown_token", Some("into")),
        (
            format!("position=anvil/{weth}:5&tolerance_pct=101"),
            400,
            "invalid_parameter",
            Some("tolerance_pct"),
        ),
        (format!("position=anvil/{weth}:5&require=live"), 412, "not_live", None),
        (format!("position=anvil/{alt}:5&min_days_observed=9"), 412, "series_too_short", None),
        (
            format!("position=anvil/{weth}:900000000&position=anvil/{weth}:900000000"),
            400,
            "invalid_parameter",
            Some("position"),
        ),
    ] {
        let (found, said, at) = service.get(&format!("/v1/portfolio?{query}")).problem();
        assert_eq!((found, said.as_str()), (status, code), "{query}");
        assert!(field.is_none() || at.as_deref() == field, "{query}: {at:?}");
    }
}

/// Addresses of files that no answer names.
fn refused_files(service: &Service, plan: &Value) {
    let url = plan["result"]["evidence_url"].as_str().unwrap();
    let address = &url[url.find("/api/").unwrap()..];
    let (path, query) = address.split_once('?').unwrap();
    let parts: Vec<&str> = query.split('&').collect();
    let without = |prefix: &str| {
        let kept: Vec<&str> =
            parts.iter().copied().filter(|part| !part.starts_with(prefix)).collect();
        kept.join("&")
    };
    let sold = parts.iter().find(|part| part.starts_with("sold=")).unwrap();
    let (token, _) = sold.trim_start_matches("sold=").split_once("%3A").unwrap();
    for (query, code, field) in [
        (without("sold="), "invalid_parameter", Some("sold")),
        (format!("{query}&{sold}"), "invalid_parameter", Some("sold")),
        (format!("{}&sold={token}:0", without("sold=")), "invalid_parameter", Some("sold")),
        (format!("{}&sold={token}", without("sold=")), "invalid_parameter", Some("sold")),
        (format!("{}&into=cash", without("into=")), "invalid_parameter", Some("into")),
        (format!("{}&into={token}", without("into=")), "invalid_parameter", Some("into")),
        (without("slot="), "invalid_parameter", Some("slot")),
        (without("pool="), "invalid_parameter", Some("pool")),
        (format!("{}&sold=0x{}:5", query, "11".repeat(20)), "invalid_parameter", Some("pool")),
    ] {
        let (_, said, at) = service.get(&format!("{path}?{query}")).problem();
        assert_eq!(said.as_str(), code, "{query}");
        assert!(field.is_none() || at.as_deref() == field, "{query}: {at:?}");
    }
}
