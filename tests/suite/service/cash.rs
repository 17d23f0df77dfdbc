//! Exits that end in cash: the plan executed with real sales, its figure file, and what has no plan.

use std::process::{Command, Output};

use alloy::primitives::U256;
use exitgap_tests::binaries;
use exitgap_tests::devchain::World;
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::service::{Recorded, Service, configured_with, record_in};

pub(super) fn cli(recorded: &Recorded, arguments: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(arguments).current_dir(recorded.folder.path()).output().unwrap()
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

pub(super) fn units(row: &Value, field: &str) -> U256 {
    row[field].as_str().unwrap().parse().unwrap()
}

/// A number of a document in millionths.
pub(super) fn millionths(value: &Value) -> i64 {
    format!("{:.0}", value.as_f64().unwrap() * 1e6).parse().unwrap()
}

/// The figure file of an answer, verified by the command line; its result says what the answer says.
fn verify(recorded: &Recorded, service: &Service, cash: &Value) {
    let url = cash["evidence_url"].as_str().unwrap();
    let address = &url[url.find("/api/").unwrap()..];
    let file = service.get(address);
    assert_eq!(file.status, 200, "{}", file.body_text());
    assert_eq!(service.get(address).body, file.body);
    std::fs::write(recorded.path("cash.json"), &file.body).unwrap();
    std::fs::write(recorded.path("key"), service.get("/log/verifier-key").body).unwrap();
    let arguments =
        ["verify", "cash.json", "--trust", "key", "--snapshots", "exitgap.db", "--json"];
    let checked = cli(recorded, &arguments);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    let figure: Value = serde_json::from_slice(&file.body).unwrap();
    let result = &figure["result"];
    for field in ["exit_gap_pct", "optimality_gap_pct"] {
        let stated: f64 = result[field].as_str().unwrap().parse().unwrap();
        assert_eq!(cash[field].as_f64(), Some(stated), "{field}: {result}");
    }
    let legs: Vec<&Value> = list(&cash["legs"]).iter().map(|leg| &leg["amount_out_raw"]).collect();
    assert_eq!(json!(legs), result["legs_out"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exit_that_ends_in_cash_is_executed_as_it_says() {
    let (chain, world) = scene().await;
    let address = |asset: usize| format!("{:#x}", world.assets[asset].token.address);
    let (alt, weth, usdc) = (address(World::ALT), address(World::WETH), address(World::USDC));
    let usdt = address(World::USDT);
    let groups = format!(
        "\n[[quote_group]]\nchain = \"anvil\"\nname = \"cash\"\ntokens = [\"{usdc}\", \"{usdt}\"]\n"
    );
    let folder = configured_with(&chain, &world, &groups);
    let recorded = record_in(&chain, world, folder, 3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let ask = |token: &str, query: &str| service.get(&format!("/v1/cash/anvil/{token}?{query}"));

    // No pool trades ALT for dollars: it passes through WETH.
    let cash = ask(&alt, "size_usd=500&gas_usd=12.5&tolerance_pct=1").found();
    assert_eq!((&cash["into"], &cash["chain"]), (&json!("cash"), &json!("anvil")));
    let legs = list(&cash["legs"]).to_vec();
    assert!(legs.len() > 1 && legs[0]["sold"]["address"] == alt, "{cash}");
    for received in list(&cash["received"]) {
        let token = received["token"]["address"].as_str().unwrap();
        assert!(token == usdc || token == usdt, "{cash}");
        let (paid, least) =
            (units(received, "amount_out_raw"), units(received, "amount_out_min_raw"));
        assert_eq!(least, paid * U256::from(99) / U256::from(100));
    }
    assert!(millionths(&cash["optimality_gap_pct"]) <= 10_000, "{cash}");
    let received = millionths(&cash["received_usd"]);
    assert_eq!(millionths(&cash["received_after_gas_usd"]), received - 12_500_000);
    assert!(received <= millionths(&cash["bound_usd"]));
    let gap = 100_000_000 - received / 5;
    assert!((gap - millionths(&cash["exit_gap_pct"])).abs() <= 1, "{gap}: {cash}");
    verify(&recorded, &service, &cash);

    // The same amount in whole tokens has the same plan, and the amount decides the size.
    let amount = units(&cash, "amount_in_raw").to_string();
    let whole = format!("{amount:0>19}");
    let whole = format!("{}.{}", &whole[..whole.len() - 18], &whole[whole.len() - 18..]);
    let by_amount = ask(&alt, &format!("amount={whole}&tolerance_pct=1&gas_usd=12.5")).found();
    for field in ["legs", "exit_gap_pct", "amount_in_raw", "received", "evidence_url"] {
        assert_eq!(by_amount[field], cash[field], "{field}");
    }
    assert!(millionths(&by_amount["size_usd"]) <= 500_000_000);

    // WETH has pools that pay in dollars and others: the plan is at least as good as the split over the direct ones.
    let direct = service.get(&format!("/v1/routes/anvil/{weth}?size_usd=400000&quote_group=cash"));
    let plan = ask(&weth, "size_usd=400000").found();
    let [direct, plan_gap] = [&direct.found(), &plan].map(|one| millionths(&one["exit_gap_pct"]));
    assert!(plan_gap <= direct + 10, "{plan_gap} {direct}");
    verify(&recorded, &service, &plan);

    from_the_command_line(&recorded, &service, &alt, &cash);
    refused(&service, [&alt, &weth, &usdc]);

    // The contracts pay each leg exactly, one after the other, and nothing of a token in between is left.
    let mut held = std::collections::BTreeMap::from([(alt, units(&cash, "amount_in_raw"))]);
    for leg in &legs {
        let named = |entry: &&exitgap_tests::devchain::WorldPool| {
            leg["pool"] == format!("anvil:{:#x}", entry.pool.address)
        };
        let pool = &recorded.world.pools.iter().find(named).unwrap().pool;
        let sold = leg["sold"]["address"].as_str().unwrap();
        let swap = chain
            .swap_exact_in(pool, sold.parse().unwrap(), units(leg, "amount_in_raw"))
            .await
            .unwrap();
        assert_eq!(swap.amount_out, units(leg, "amount_out_raw"), "{leg}");
        *held.get_mut(sold).unwrap() -= units(leg, "amount_in_raw");
        let bought = leg["bought"]["address"].as_str().unwrap().to_owned();
        *held.entry(bought).or_default() += swap.amount_out;
    }
    held.retain(|_, left| !left.is_zero());
    let told = list(&cash["received"]).iter().map(|one| {
        (one["token"]["address"].as_str().unwrap().to_owned(), units(one, "amount_out_raw"))
    });
    assert_eq!(held, told.collect());
    assert_eq!(service.end(), Some(0));
}

/// The command line asks a service, or computes the same from a database, and writes the same file.
fn from_the_command_line(recorded: &Recorded, service: &Service, alt: &str, cash: &Value) {
    let token = format!("anvil/{alt}");
    let (db, url) = (recorded.path("exitgap.db"), format!("http://{}", service.address));
    let into: Vec<&str> = list(&cash["received"])
        .iter()
        .map(|one| one["token"]["address"].as_str().unwrap())
        .collect();
    let into = into.join(",");
    let asked = ["cash", &token, "--size-usd", "500", "--tolerance-pct", "1", "--gas-usd", "12.5"];
    let sources =
        [["--db", db.to_str().unwrap(), "--into", &into], ["--api", &url, "--into", "cash"]];
    for source in sources {
        let question = [&asked[..], &source].concat();
        let output = cli(recorded, &[&question[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(told["amount_in_raw"], cash["amount_in_raw"]);
        assert_eq!(told["chain"], cash["chain"]);
        let text = String::from_utf8(cli(recorded, &question).stdout).unwrap();
        // More was received than was sold, or less, at oracle prices.
        let is_worse = millionths(&cash["received_usd"]) < millionths(&cash["size_usd"]);
        let side = if is_worse { "% worse than the oracle" } else { "% better than the oracle" };
        assert!(text.contains(side), "{text}");
        for said in ["received", "at least", "1% less", "gas", "12.5 USD", "PREVIEW", "not counted"]
        {
            assert!(text.contains(said), "{said}: {text}");
        }
        let written = cli(recorded, &[&question[..], &["--file", "written.json"]].concat());
        assert_eq!(written.status.code(), Some(0), "{written:?}");
        let checked = cli(
            recorded,
            &["verify", "written.json", "--trust", "key", "--snapshots", "exitgap.db"],
        );
        assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    }
    // Without a service, no cash is configured on this chain: the sale ends where a pool pays for the token, and says so.
    let any = [&asked[..], &["--db", db.to_str().unwrap()]].concat();
    let told = String::from_utf8(cli(recorded, &any).stdout).unwrap();
    assert!(told.contains("no cash is configured for this chain"), "{told}");
    let told: Value =
        serde_json::from_slice(&cli(recorded, &[&any[..], &["--json"]].concat()).stdout).unwrap();
    assert_eq!((&told["cash"], &told["into"]), (&json!("not_configured"), &json!("cash")));
    assert_eq!(list(&told["received"])[0]["token"]["symbol"], "WETH");
    let named = cli(recorded, &[&any[..], &["--into", "any", "--json"]].concat());
    let named: Value = serde_json::from_slice(&named.stdout).unwrap();
    assert_eq!((&named["legs"], &named["cash"]), (&told["legs"], &Value::Null));
}

/// Invalid questions, and questions without an answer.
fn refused(service: &Service, [alt, weth, usdc]: [&str; 3]) {
    let unknown = format!("0x{}", "11".repeat(20));
    for (target, status, code, field) in [
        (format!("anvil/{weth}"), 400, "invalid_parameter", Some("size_usd")),
        (format!("anvil/{weth}?size_usd=1&amount=1"), 400, "invalid_parameter", Some("amount")),
        (format!("anvil/{weth}?amount=0"), 400, "invalid_parameter", Some("amount")),
        (
            format!("anvil/{weth}?amount=0.0000000000000000001"),
            400,
            "invalid_parameter",
            Some("amount"),
        ),
        (
            format!("anvil/{weth}?size_usd=1&tolerance_pct=-1"),
            400,
            "invalid_parameter",
            Some("tolerance_pct"),
        ),
        (format!("anvil/{weth}?size_usd=1&gas_usd=-1"), 400, "invalid_parameter", Some("gas_usd")),
        (
            format!("anvil/{weth}?size_usd=1&into={usdc},{usdc}"),
            400,
            "invalid_parameter",
            Some("into"),
        ),
        (format!("anvil/{weth}?size_usd=1&at=2026-08-21T00:00:00Z"), 404, "before_series", None),
        (format!("anvil/{weth}?size_usd=1&at=2027-08-21T00:00:00Z"), 404, "after_series", None),
        (format!("anvil/{weth}?size_usd=1&require=live"), 412, "not_live", None),
        (format!("anvil/{alt}?size_usd=1000000000&require=live"), 412, "not_live", None),
        (format!("anvil/{weth}?size_usd=1&into=eur"), 400, "invalid_parameter", Some("into")),
        (format!("anvil/{weth}?size_usd=1&into={weth}"), 400, "invalid_parameter", Some("into")),
        (format!("anvil/{weth}?size_usd=1&into={unknown}"), 404, "unknown_token", Some("into")),
        (format!("anvil/{unknown}?size_usd=1"), 404, "unknown_token", Some("token")),
        (format!("base/{weth}?size_usd=1"), 404, "unknown_chain", Some("chain")),
        (
            format!("anvil/{weth}?size_usd=1&tolerance_pct=101"),
            400,
            "invalid_parameter",
            Some("tolerance_pct"),
        ),
        (
            format!("anvil/{weth}?size_usd=1&gas_usd=1000001"),
            400,
            "invalid_parameter",
            Some("gas_usd"),
        ),
        (format!("anvil/{weth}?size_usd=1&min_days_observed=9"), 412, "series_too_short", None),
        (format!("anvil/{alt}?size_usd=1000000000"), 422, "beyond_liquidity", None),
        (format!("anvil/{alt}?amount=999999999999"), 422, "beyond_liquidity", None),
        (format!("anvil/{usdc}?amount=0.0000001"), 400, "invalid_parameter", Some("amount")),
    ] {
        let answer = service.get(&format!("/v1/cash/{target}"));
        let (found, said, at) = answer.problem();
        assert_eq!((found, said.as_str()), (status, code), "{target}");
        assert!(field.is_none() || at.as_deref() == field, "{target}: {at:?}");
    }
    // The reported fillable size can be filled.
    let beyond = service.get(&format!("/v1/cash/anvil/{alt}?size_usd=1000000000")).json();
    let most = &beyond["max_fillable_usd"];
    let filled = service.get(&format!("/v1/cash/anvil/{alt}?size_usd={most}"));
    assert_eq!(filled.status, 200, "{most}: {}", filled.body_text());
    refused_files(service, [alt, weth, usdc], &filled.json());
}

/// Addresses of files that no answer names.
fn refused_files(service: &Service, [alt, weth, usdc]: [&str; 3], told: &Value) {
    let url = told["evidence_url"].as_str().unwrap();
    let (_, query) = url.split_once('?').unwrap();
    let pools: Vec<&str> = query.split('&').filter(|pair| pair.starts_with("pool=")).collect();
    let into = query.split('&').find_map(|pair| pair.strip_prefix("into=")).unwrap();
    let (slot, pools_of) = (told["slot"].as_u64().unwrap(), pools.join("&"));
    let file = |query: &str| service.get(&format!("/api/v1/cash/anvil/{alt}?{query}")).problem();
    let with = |amount: &str, into: &str, slot: u64, pools: &str| {
        format!("amount_in={amount}&into={into}&slot={slot}&{pools}")
    };
    let beyond = format!("1{}", "0".repeat(77));
    for (query, code, field) in [
        (format!("into={usdc}&slot={slot}&{pools_of}"), "invalid_parameter", Some("amount_in")),
        (with("0", usdc, slot, &pools_of), "invalid_parameter", Some("amount_in")),
        (
            with(&format!("9{beyond}"), usdc, slot, &pools_of),
            "invalid_parameter",
            Some("amount_in"),
        ),
        (with(&beyond, into, slot, &pools_of), "beyond_liquidity", None),
        (with("1000", "cash", slot, &pools_of), "invalid_parameter", Some("into")),
        (with("1000", alt, slot, &pools_of), "invalid_parameter", Some("into")),
        (with("1000", weth, slot, &pools_of), "invalid_parameter", Some("pool")),
        (format!("amount_in=1000&into={usdc}&{pools_of}"), "invalid_parameter", Some("slot")),
        (format!("amount_in=1000&into={usdc}&slot={slot}"), "invalid_parameter", Some("pool")),
        (with("1000", usdc, slot + 100, &pools_of), "after_series", None),
        (with("1000", usdc, slot, &[pools[0]; 2].join("&")), "invalid_parameter", Some("pool")),
        (with("1000", usdc, slot, pools[0]), "invalid_parameter", Some("pool")),
    ] {
        let (_, said, at) = file(&query);
        assert_eq!(said.as_str(), code, "{query}");
        assert!(field.is_none() || at.as_deref() == field, "{query}: {at:?}");
    }
}
