//! Redeeming shares of a real vault: the computed proceeds equal the vault's payment.

use std::fs;
use std::process::Command;

use alloy::eips::BlockId;
use alloy::primitives::{U256, hex};
use alloy::sol_types::SolCall as _;
use exitgap_tests::binaries;
use exitgap_tests::devchain::{Tx, World, abi};
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::service::{Service, configured_with, record_in};

/// A number of a document in millionths.
fn millionths(value: &Value) -> u128 {
    format!("{:.0}", value.as_f64().unwrap_or_else(|| panic!("{value}")) * 1e6).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_pays_what_the_figure_says_and_no_more_than_it_holds() {
    let (chain, world) = scene().await;
    let weth = world.assets[World::WETH].token.clone();
    // A thousand are deposited and fifty earned: a share redeems for 1.05 and sells for one.
    let vault = chain.deploy_vault(&weth, weth.units(1_000)).await.unwrap();
    let earn = abi::Token::transferCall { to: vault.address, amount: weth.units(50) };
    chain.mine_next(&[Tx::call(chain.operator, weth.address, &earn)]).await.unwrap();
    let half = weth.units(400);
    let pair = chain.create_v2_pair((&vault, half), (&weth, half)).await.unwrap();
    let fact = |name: &str, contract, call: Vec<u8>| {
        format!(
            "\n[[fact]]\nchain = \"anvil\"\ntoken = \"{:#x}\"\nname = \"{name}\"\ncontract = \"{contract:#x}\"\ncall = \"0x{}\"\n",
            vault.address,
            hex::encode(call)
        )
    };
    let pays = abi::Vault::convertToAssetsCall { shares: weth.units(1) };
    let held = abi::Token::balanceOfCall { owner: vault.address };
    let tables = [
        format!(
            "\n[[pool]]\nchain = \"anvil\"\naddress = \"{:#x}\"\nbase = \"{}\"\ntoken0_usd = [\"weth-usd\"]\ntoken1_usd = [\"weth-usd\"]\n\
             fee = {{ numerator = 3, denominator = 1000 }}\n",
            pair.address,
            if pair.token0 == vault.address { "token0" } else { "token1" }
        ),
        fact("pays", vault.address, pays.abi_encode()),
        fact("held", weth.address, held.abi_encode()),
        format!(
            "\n[[redemption]]\nchain = \"anvil\"\ntoken = \"{:#x}\"\nterms = \"vault.json\"\n",
            vault.address
        ),
    ];
    let folder = configured_with(&chain, &world, &tables.concat());
    let terms = json!({
        "v": 1, "kind": "at_once", "nav_fact": "pays", "capacity_asset_fact": "held",
        "asset": format!("{:#x}", weth.address), "eligibility": "anybody", "source": "the vault's code",
        "read_on": "2026-08-20",
    });
    fs::write(folder.path().join("vault.json"), terms.to_string()).unwrap();
    let recorded = record_in(&chain, world, folder, 2).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let pool = format!("anvil:{:#x}", pair.address);
    let ask = |usd: u32| {
        service.get(&format!("/v1/redemption/{pool}?size_usd={usd}&base=vSHARE")).found()
    };

    let told = ask(100_000);
    let path = &told["paths"][0];
    assert_eq!((path.get("refusal"), &path["redeemed_usd"]), (None, &json!(100_000)), "{told}");
    // The same shares, redeemed at the vault itself and valued with the same oracle: equal to the millionth of a
    // dollar.
    let exit = service.get(&format!("/v1/exit/{pool}?size_usd=100000&base=vSHARE")).found();
    let shares: U256 = exit["amount_in_raw"].as_str().unwrap().parse().unwrap();
    let paid = chain.redeems(&vault, shares).await.unwrap();
    assert!(paid > shares + shares / U256::from(20) - U256::from(1_000), "{paid} {shares}");
    // The oracle's dollar price has eight decimals.
    let price: U256 = told["method"]["oracles"][0]["answer_raw"].as_str().unwrap().parse().unwrap();
    let micros = |raw: U256| (raw * price / weth.units(100)).to::<u128>();
    let by_vault = micros(paid);
    let by_figure = millionths(&path["receives_usd"]);
    assert!(by_figure.abs_diff(by_vault) <= 1, "{by_figure} {by_vault}");
    assert!(millionths(&path["advantage_pct"]) > 5_000_000, "more than selling for one: {told}");
    let one = chain.call(vault.address, &pays, BlockId::latest()).await.unwrap();
    assert_eq!(millionths(&path["pays_usd"]), micros(one));
    let said: Vec<&Value> =
        path["facts"].as_array().unwrap().iter().map(|fact| &fact["says"]).collect();
    assert_eq!(said, [&json!("nav"), &json!("capacity_asset")]);

    // The vault holds 1,050, the value of a thousand shares; the rest is sold.
    let much = ask(4_000_000);
    let path = &much["paths"][0];
    let capacity = micros(weth.units(1_000));
    assert!(millionths(&path["capacity_usd"]).abs_diff(capacity) <= 2, "{much}");
    assert_eq!(
        millionths(&path["sold_usd"]),
        4_000_000_000_000 - millionths(&path["redeemed_usd"])
    );
    let url = format!("http://{}", service.address);
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(["redeem", &pool, "--base", "vSHARE", "--size-usd", "100k", "--api", &url]);
    let output = command.args(["--terms", "vault.json"]).current_dir(recorded.folder.path());
    let text = String::from_utf8(output.output().unwrap().stdout).unwrap();
    assert!(text.contains("one token pays 2,6") && text.contains("nav: 10"), "{text}");
    assert_eq!(service.end(), Some(0));
}
