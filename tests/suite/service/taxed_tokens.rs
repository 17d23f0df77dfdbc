//! A token that takes a fee on transfer: the recorder detects it in the logs of its pool's swaps, records it as a fact,
//! and every answer reports it.

use std::process::Command;

use alloy::eips::BlockId;
use alloy::primitives::U256;
use exitgap_core::snapshot::Fact;
use exitgap_store::Reader;
use exitgap_tests::binaries;
use exitgap_tests::demo::oracle_name;
use exitgap_tests::devchain::{Tx, World};
use serde_json::json;

use crate::scenes::chain::scene;
use crate::scenes::fills::soon_final;
use crate::scenes::service::{Recorded, Service, record_blocks};

const SLOTS: u64 = 12;

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_takes_a_fee_on_transfer_makes_answers_inexact() {
    let (chain, world) = scene().await;
    let weth = &world.assets[World::WETH].token;
    let taxed = chain.deploy_taxed_token(weth.units(1_000_000)).await.unwrap();
    let amounts = [(&taxed, taxed.units(100)), (weth, weth.units(100))];
    let pair = chain.create_v2_pair(amounts[0], amounts[1]).await.unwrap();
    let oracle = oracle_name(&weth.symbol);
    let base = u8::from(taxed.address == pair.token1);
    let more = format!(
        "\n[[pool]]\nchain = \"anvil\"\naddress = \"{:#x}\"\nbase = \"token{base}\"\ntoken0_usd = [\"{oracle}\"]\n\
         token1_usd = [\"{oracle}\"]\nfee = {{ numerator = 3, denominator = 1000 }}\n",
        pair.address
    );
    let folder = soon_final(&chain, &world, &chain.url(), &more);
    let buy = || chain.swap_tx(&pair, weth.address, weth.units(1));
    let happens = |place| -> Vec<Tx> {
        match place {
            // One swap before the token takes a fee, and two after it: too few to mark the token.
            1 => vec![buy(), chain.tax_tx(&taxed, 500), buy(), buy()],
            5 => vec![buy()],
            _ => Vec::new(),
        }
    };
    let last = record_blocks(&chain, &world, &folder, SLOTS, happens).await;
    let recorded = Recorded { folder, world, last };
    let id = format!("anvil:{:#x}", pair.address);

    // The token is marked after the third swap with missing units has been read, not earlier.
    let reader = Reader::open(recorded.path("exitgap.db")).unwrap();
    let pool = reader.pool(&id.parse().unwrap()).unwrap().unwrap();
    let fact_at = |place: u64| {
        let slot = exitgap_core::series::Slot::new(u64::from(last.number()) - (SLOTS - 1) + place);
        let snapshot = reader.snapshot_at(&pool, slot.unwrap()).unwrap().unwrap();
        snapshot.observation().fact(Fact::TOKEN_TAXED.parse().unwrap()).cloned()
    };
    assert_eq!(fact_at(5), None, "two swaps that lack units mark nothing");
    let fact = fact_at(SLOTS - 1).expect("three of four lack units");
    assert_eq!(fact.contract.to_string(), format!("{:#x}", taxed.address));
    let numbers: Vec<u8> = fact.words.iter().map(|word| word.0[31]).collect();
    assert_eq!(numbers, [3, 0]);
    // Control: the holder really received less than the pool paid.
    let balance = |account| chain.balance_of(taxed.address, account, BlockId::latest());
    let received = balance(chain.trader).await.unwrap() - taxed.units(1_000_000);
    let paid = taxed.units(100) - balance(pair.address).await.unwrap();
    assert!(received > U256::ZERO && received < paid, "{received} of {paid}");

    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let other = recorded.pool(World::FIRST_V2);
    for (path, query) in [
        ("exit/", "?size_usd=100"),
        ("ladder/", ""),
        ("history/", "?size_usd=1000"),
        ("stress/", "?size_usd=1000"),
        ("hours/", "?size_usd=1000"),
        ("decay/", ""),
        ("accuracy/", ""),
        ("stress?size_usd=1000&venue=", ""),
        ("exposure?cascade_usd=1000&venue=", ""),
    ] {
        let of = |pool: &str| service.get(&format!("/v1/{path}{pool}{query}"));
        let answer = of(&id).found();
        assert_eq!(answer["exact"], json!(false), "{path}: {answer}");
        assert_eq!(answer["inexact_because"], "token_taxed");
        let detail = answer["inexact_detail"].as_str().unwrap();
        assert!(detail.starts_with("TAX takes a fee on transfer"), "{detail}");
        let answer = of(&other).found();
        assert_eq!(
            (&answer["exact"], answer.get("inexact_because")),
            (&json!(true), None),
            "{path}"
        );
    }
    let exit = service.get(&format!("/v1/exit/{id}?size_usd=100")).found();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(binaries::path("exitgap"));
        let output = command.args(arguments).current_dir(recorded.folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = run(&["estimate", &id, "--size-usd", "100", "--db", "exitgap.db"]);
    assert!(code == Some(0) && text.contains("NOT EXACT  TAX takes a fee"), "{text}");
    let (_, text) = run(&["estimate", &other, "--size-usd", "100", "--db", "exitgap.db"]);
    assert!(!text.contains("NOT EXACT"), "{text}");
    // The evidence passes all checks like that of other pools, because the format knows this fact.
    let url = exit["evidence_url"].as_str().unwrap();
    let evidence = service.get(&url[url.find("/api/").unwrap()..]);
    assert_eq!(evidence.status, 200);
    std::fs::write(recorded.path("evidence.json"), &evidence.body).unwrap();
    std::fs::write(recorded.path("key"), service.get("/log/verifier-key").body).unwrap();
    let (code, report) = run(&["verify", "evidence.json", "--json", "--trust", "key"]);
    assert_eq!(code, Some(0), "{report}");
    assert!(!report.contains("token_taxed"), "it is no unknown fact: {report}");
    assert_eq!(service.end(), Some(0));
}
