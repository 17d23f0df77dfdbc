//! A chain that is not built in becomes live through a configured genesis hash: from its node to the verdict on its
//! evidence.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use exitgap_api::CapabilityStatus;
use exitgap_server::config::CheckedConfig;
use exitgap_server::ops::{Bounds, Deployment, Service as Answers, Urls};
use exitgap_tests::binaries;
use exitgap_tests::demo::recorder_config;
use exitgap_tests::devchain::{DevChain, World};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scenes::chain::scene;
use crate::scenes::operator::server;
use crate::scenes::service::{Service, configured, record};

/// Configures the chain's genesis hash.
fn bind(folder: &TempDir, chain: &DevChain, world: &World, genesis: &str) {
    let text = recorder_config(chain, world);
    let bound = text.replacen(
        "chain_id = 31337\n",
        &format!("chain_id = 31337\ngenesis_hash = \"{genesis}\"\n"),
        1,
    );
    assert_ne!(bound, text);
    fs::write(folder.path().join("exitgap.toml"), bound).unwrap();
}

/// The path and query of an address.
fn target(url: &Value) -> String {
    let url = url.as_str().unwrap();
    format!("/{}", url.strip_prefix("http://").unwrap().split_once('/').unwrap().1)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_genesis_is_live_from_the_node_to_the_verdict() {
    let (chain, world) = scene().await;
    let folder = configured(&chain, &world);
    let genesis = format!("{:#x}", chain.block(0.into()).await.unwrap().unwrap().hash);

    // A wrong hash is rejected; the error names both hashes.
    let other = format!("0x{}", "07".repeat(32));
    bind(&folder, &chain, &world, &other);
    let (code, said, errors) = server(folder.path(), &["check", "--config", "exitgap.toml"]);
    let said = said + &errors;
    assert_ne!(code, Some(0), "{said}");
    assert!(said.contains(&format!("genesis hash {genesis}, expected {other}")), "{said}");

    bind(&folder, &chain, &world, &genesis);
    let (code, said, errors) = server(folder.path(), &["check", "--config", "exitgap.toml"]);
    assert_eq!(code, Some(0), "{said}{errors}");
    let last = record(&chain, &world, &folder, 2).await;

    // The recorder treats the chain as live.
    let checked = CheckedConfig::from_file(&folder.path().join("exitgap.toml")).unwrap();
    let urls = Urls { base: "https://a.example".into(), web: "https://a.example".into() };
    let now = last.unix_s() + 60;
    let path = checked.config.store.path.clone();
    let answers = Answers::new(path, urls, Arc::new(move || now), Bounds::default())
        .deployed_as(Deployment { recording: true, pages: false, alerts: false });
    answers.refresh().await.unwrap();
    let told = answers.capabilities();
    assert_eq!(told.chains[0].not_live_because, None);
    assert_eq!(told.chains[0].status, CapabilityStatus::Live);
    let live = told.capabilities.iter().filter(|row| row.live_on == ["anvil"]).count();
    assert_eq!(live, 20, "{:?}", told.capabilities);

    // Every answer is live, and requests that require live data succeed.
    let service = Service::start(folder.path(), &["--no-record"], &[]);
    for pool in service.get("/v1/pools").found()["pools"].as_array().unwrap() {
        assert_eq!(pool["status"], "live");
    }
    let pool = format!("anvil:{:#x}", world.pools[0].pool.address);
    let asked = format!("/v1/exit/{pool}?size_usd=1000&require=live");
    let result = service.get(&asked).found();
    assert_eq!(result["status"], "live");
    assert_eq!(result["method"]["depth_source"]["genesis_hash"], json!(genesis));
    let board = service.get("/v1/fragility").found();
    assert!(board["rows"].as_array().unwrap().iter().all(|row| row["status"] == "live"));

    // The evidence names the hash and is valid; a verifier adds that the hash is the operator's claim.
    let file = folder.path().join("evidence.json");
    fs::write(&file, service.get(&target(&result["evidence_url"])).body).unwrap();
    let evidence: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let tag = json!({"caip2": "eip155:31337", "genesis": genesis, "kind": "live"});
    assert_eq!(evidence["snapshot"]["chain"], tag);
    assert_eq!(evidence["result"]["status"], "live");
    let key = checked.config.evidence.folder.join("verifier-key");
    let verify = |json: &[&str]| {
        let mut command = Command::new(binaries::path("exitgap"));
        command.arg("verify").arg(&file).arg("--trust").arg(&key).args(json);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        said
    };
    let report: Value = serde_json::from_str(&verify(&["--json"])).unwrap();
    assert_eq!((&report["verdict"], &report["claim"]["status"]), (&json!("valid"), &json!("live")));
    assert_eq!(report["claim"]["genesis_hash"], json!(genesis));
    let words = format!("a chain configured by its operator, genesis {genesis}");
    assert!(verify(&[]).contains(&words));
}
