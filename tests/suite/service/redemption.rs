//! Selling now compared with redeeming later: with the operator's terms at a service, and with custom terms on the
//! command line.

use std::fs;
use std::process::{Command, Output};

use alloy::primitives::{Address, U256, hex};
use alloy::sol_types::SolCall;
use exitgap_tests::binaries;
use exitgap_tests::devchain::{Tx, World, abi};
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::service::{Recorded, Service, configured_with, record_in};

const FUND: &str = r#"{"v": 1, "kind": "on_days", "calendar": "XNYS", "cutoff_before_close_s": 3600, "settlement_days": [1, 2],
  "fee_pct": "0.05", "capacity_usd": "60000", "eligibility": "whoever passed the issuer's checks",
  "source": "https://issuer.example/terms", "read_on": "2026-08-20"}"#;

const DESK: &str = r#"{"v": 1, "kind": "at_once", "minimum_usd": "5000000", "eligibility": "dealers",
  "source": "a call with the desk", "read_on": "2026-08-19"}"#;

fn cli(recorded: &Recorded, arguments: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(arguments).current_dir(recorded.folder.path()).output().unwrap()
}

/// A number of a document in millionths.
fn millionths(value: &Value) -> i128 {
    format!("{:.0}", value.as_f64().unwrap_or_else(|| panic!("{value}")) * 1e6).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_stands_beside_what_the_terms_pay() {
    let (chain, world) = scene().await;
    let weth = format!("{:#x}", world.assets[World::WETH].token.address);
    let of = |file: &str| {
        format!("\n[[redemption]]\nchain = \"anvil\"\ntoken = \"{weth}\"\nterms = \"{file}\"\n")
    };
    let folder = configured_with(&chain, &world, &[of("fund.json"), of("desk.json")].concat());
    fs::write(folder.path().join("fund.json"), FUND).unwrap();
    fs::write(folder.path().join("desk.json"), DESK).unwrap();
    let recorded = record_in(&chain, world, folder, 3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(0);
    let ask = |query: &str| service.get(&format!("/v1/redemption/{pool}?{query}"));

    let told = ask("size_usd=100000&base=WETH").found();
    assert_eq!((&told["figure"], &told["modelled"]), (&json!("redemption/1"), &json!(true)));
    let exit = |usd: u32| service.get(&format!("/v1/exit/{pool}?size_usd={usd}&base=WETH")).found();
    let (whole, rest) = (exit(100_000), exit(40_000));
    assert_eq!(
        (&told["exit_gap_pct"], &told["evidence_url"]),
        (&whole["exit_gap_pct"], &whole["evidence_url"])
    );
    let received =
        |usd: i128, exit: &Value| usd * (100_000_000 - millionths(&exit["exit_gap_pct"])) / 100;
    let now = received(100_000, &whole);
    assert_eq!(millionths(&told["receives_now_usd"]), now);
    let [fund, desk] = &told["paths"].as_array().unwrap()[..] else { panic!("two: {told}") };
    // Sixty thousand are redeemed for a fee of 1/20 of a percent, and the rest is sold.
    assert_eq!((&fund["redeemed_usd"], &fund["sold_usd"]), (&json!(60_000), &json!(40_000)));
    let later = 60_000 * 999_500 + received(40_000, &rest);
    assert_eq!(millionths(&fund["receives_usd"]), later);
    let advantage = millionths(&fund["advantage_pct"]);
    assert!(((later - now) * 100_000_000 - advantage * now).abs() * 2 <= now, "{told}");
    // Friday evening in New York: the request counts for Monday, and the payment follows at the close on Tuesday or
    // Wednesday.
    let at = told["handed_in_at"].as_str().unwrap();
    assert_eq!(told["handed_in_at"], told["method"]["depth_source"]["block_time"]);
    let since_midnight = {
        let [h, m, s] = [11, 14, 17].map(|from| at[from..from + 2].parse::<u64>().unwrap());
        h * 3_600 + m * 60 + s
    };
    let day = at[8..10].parse::<u64>().unwrap();
    let until = |close_on: u64| (close_on - day) * 86_400 + 20 * 3_600 - since_midnight;
    assert_eq!(
        (fund["t_min_s"].as_u64(), fund["t_max_s"].as_u64()),
        (Some(until(25)), Some(until(26)))
    );
    let yearly = millionths(&fund["break_even_annual_pct_at_t_min"]);
    let exactly = advantage * 31_536_000;
    assert!(
        (exactly - yearly * i128::from(until(25))).abs() * 2 <= i128::from(until(25)),
        "{fund}"
    );
    assert_eq!((&desk["kind"], &desk["refusal"]), (&json!("at_once"), &json!("below_minimum")));
    assert_eq!(desk["terms_source"], "a call with the desk");
    // The other token has no terms, and a size beyond the pool's liquidity can only be redeemed.
    assert_eq!(ask("size_usd=1000&base=USDC").found()["paths"], json!([]));
    let most = ask("size_usd=900000000&base=WETH").found();
    assert_eq!(
        (&most["receives_now_usd"], &most["refusal"]),
        (&json!(null), &json!("beyond_liquidity"))
    );
    assert_eq!(most["paths"][1]["receives_usd"], 900_000_000);
    assert_eq!(ask("size_usd=1000&require=live").problem().1, "not_live");
    assert_eq!(ask("size_usd=0").problem().2.as_deref(), Some("size_usd"));
    by_own_terms(&recorded, &service, &told);
    assert_eq!(service.end(), Some(0));
}

/// The same on the command line, from a store and from a service, and files without valid terms.
fn by_own_terms(recorded: &Recorded, service: &Service, told: &Value) {
    let (pool, url) = (recorded.pool(0), format!("http://{}", service.address));
    let asked = [
        "redeem",
        &pool,
        "--base",
        "WETH",
        "--size-usd",
        "100k",
        "--terms",
        "fund.json",
        "--terms",
        "desk.json",
    ];
    for source in [["--db", "exitgap.db"], ["--api", &url]] {
        let output = cli(recorded, &[&asked[..], &source, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        for field in ["paths", "receives_now_usd", "exit_gap_pct", "handed_in_at"] {
            assert_eq!(said[field], told[field], "{field}");
        }
        let text =
            String::from_utf8(cli(recorded, &[&asked[..], &source].concat()).stdout).unwrap();
        for said in [
            "60,000 USD redeemed",
            "above the capacity",
            "% a year",
            "not proven by the chain",
            "below the minimum of 5,000,000 USD",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
    for (file, said) in [
        ("{}", "missing field"),
        (&FUND.replace("XNYS", "XXXX"), "calendar: unknown name"),
        (&FUND.replace("\"v\": 1", "\"v\": 9"), "v: this version reads only 1"),
    ] {
        fs::write(recorded.path("own.json"), file).unwrap();
        let output = cli(
            recorded,
            &[
                "redeem",
                &pool,
                "--base",
                "WETH",
                "--size-usd",
                "1k",
                "--terms",
                "own.json",
                "--db",
                "exitgap.db",
            ],
        );
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && error.contains(said), "{said}: {error}");
    }
    let absent = cli(
        recorded,
        &[
            "redeem",
            &pool,
            "--base",
            "WETH",
            "--size-usd",
            "1k",
            "--terms",
            "none.json",
            "--db",
            "exitgap.db",
        ],
    );
    assert!(
        !absent.status.success() && String::from_utf8(absent.stderr).unwrap().contains("none.json")
    );
}

/// The terms of a vault with values from the chain, and of desks that are paused or without such values.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_chain_says_counts_and_says_where_it_stands() {
    const VAULT: Address = Address::repeat_byte(0x77);
    let (chain, world) = scene().await;
    let weth = world.assets[World::WETH].token.address;
    let desk = chain.stand_in(VAULT).await.unwrap();
    chain.answer(desk, &abi::Desk::pausedCall {}, &true).await.unwrap();
    chain.answer(desk, &abi::Desk::redemptionFeeCall {}, &U256::from(25)).await.unwrap();
    // The vault's balance is the token's own answer.
    let holds = U256::from(10_u64.pow(18)) * U256::from(5);
    let give = abi::Token::transferCall { to: VAULT, amount: holds };
    chain.mine_next(&[Tx::call(chain.operator, weth, &give)]).await.unwrap();
    let balance = abi::Token::balanceOfCall { owner: VAULT };
    let fact = |name: &str, contract: Address, call: Vec<u8>| {
        let call = hex::encode(call);
        format!(
            "\n[[fact]]\nchain = \"anvil\"\ntoken = \"{weth:#x}\"\nname = \"{name}\"\ncontract = \"{contract:#x}\"\ncall = \"0x{call}\"\n"
        )
    };
    let of = |file: &str| {
        format!("\n[[redemption]]\nchain = \"anvil\"\ntoken = \"{weth:#x}\"\nterms = \"{file}\"\n")
    };
    let tables = [
        fact("vault_has", weth, balance.abi_encode()),
        fact("vault_fee", VAULT, abi::Desk::redemptionFeeCall {}.abi_encode()),
        fact("vault_paused", VAULT, abi::Desk::pausedCall {}.abi_encode()),
        fact("queue", VAULT, abi::Desk::unfinalizedStETHCall {}.abi_encode()),
        of("vault.json"),
        of("paused.json"),
        of("queue.json"),
    ];
    let folder = configured_with(&chain, &world, &tables.concat());
    let read =
        r#""eligibility": "anybody", "source": "the vault's code", "read_on": "2026-08-20"}"#;
    let by_facts = r#"{"v": 1, "kind": "at_once", "capacity_fact": "vault_has", "fee_fact": "vault_fee", "fee_fact_decimals": 4, "#;
    let paused = r#"{"v": 1, "kind": "at_once", "paused_fact": "vault_paused", "#;
    let queue =
        r#"{"v": 1, "kind": "in_turn", "ahead_fact": "queue", "per_day_usd": ["1", "2", "3"], "#;
    for (file, terms) in [("vault.json", by_facts), ("paused.json", paused), ("queue.json", queue)]
    {
        fs::write(folder.path().join(file), [terms, read].concat()).unwrap();
    }
    let recorded = record_in(&chain, world, folder, 2).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = recorded.pool(0);
    let told = service.get(&format!("/v1/redemption/{pool}?size_usd=100000&base=WETH")).found();
    let [vault, paused, queue] = &told["paths"].as_array().unwrap()[..] else { panic!("{told}") };

    // For five whole tokens, the fee is a quarter of a percent, at the price of the pool's own oracle; the rest is
    // sold.
    assert_eq!((&vault["fee_pct"], &vault.get("refusal")), (&json!(0.25), &None));
    assert_eq!(vault["capacity_usd"], vault["redeemed_usd"]);
    let capacity = millionths(&vault["capacity_usd"]);
    assert_eq!(capacity + millionths(&vault["sold_usd"]), 100_000_000_000);
    let facts = vault["facts"].as_array().unwrap();
    let said: Vec<_> = facts.iter().map(|fact| (&fact["says"], &fact["word_raw"])).collect();
    let (has, fee) = (json!(holds.to_string()), json!("25"));
    assert_eq!(said, [(&json!("capacity"), &has), (&json!("fee"), &fee)]);
    assert_eq!(facts[0]["contract"], format!("{weth:#x}"));
    // The snapshot that the answer names contains these values.
    let snapshot = told["snapshot_url"].as_str().unwrap();
    let stored = service.get(&snapshot[snapshot.find("/api/").unwrap()..]).found();
    let of_name = |name: &str| {
        let facts = stored["facts"].as_array().unwrap();
        facts.iter().find(|fact| fact["name"] == name).cloned()
    };
    let word = of_name("vault_has").unwrap();
    assert_eq!(word["words"], json!([format!("0x{holds:064x}")]));
    assert_eq!(word["call"], facts[0]["call"]);

    assert_eq!((&paused["refusal"], &paused["receives_usd"]), (&json!("paused"), &json!(null)));
    assert_eq!(paused["facts"][0]["word_raw"], "1");
    // A call that reverts does not mean an empty queue.
    assert_eq!(of_name("queue"), None);
    assert_eq!((&queue["refusal"], queue.get("facts")), (&json!("fact_missing"), None));
    assert_eq!((&queue["t_min_s"], &queue["redeemed_usd"]), (&json!(null), &json!(null)));

    let url = format!("http://{}", service.address);
    let files = ["--terms", "vault.json", "--terms", "paused.json", "--terms", "queue.json"];
    let asked = ["redeem", &pool, "--base", "WETH", "--size-usd", "100k"];
    for source in [["--db", "exitgap.db"], ["--api", &url]] {
        let output = cli(&recorded, &[&asked[..], &files, &source, &["--json"]].concat());
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said["paths"], told["paths"]);
        let output = cli(&recorded, &[&asked[..], &files, &source].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        for said in ["capacity: 5000000000000000000 from", "redemption was paused", "lacks a fact"]
        {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
    assert_eq!(service.end(), Some(0));
}
