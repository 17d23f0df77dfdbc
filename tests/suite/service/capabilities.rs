//! The capabilities that different deployments report: each row compared with the deployment.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use exitgap_api::{Capabilities, CapabilityStatus};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{ChainKind, ChainTag, Observation, Snapshot};
use exitgap_server::http::Site;
use exitgap_server::ops::{Bounds, Deployment, Service, Urls};
use exitgap_store::{NewEntry, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scenes::service::{Service as Served, recorded};
use crate::scenes::store::{BusyPool, key, slot, store_in};

/// The implemented rows; `true` marks those that are only a page.
const BUILT: [(&str, bool); 21] = [
    ("Agent-native JSON", false),
    ("Continuous depth recording", false),
    ("Disclosed method", false),
    ("Open-source verifier", false),
    ("Keyless verification endpoint", false),
    ("Pre-trade fill estimates", false),
    ("Live pool pages", true),
    ("Depth ladders", false),
    ("Slippage forecasting", false),
    ("Spread history", false),
    ("Public fragility board", false),
    ("Portfolio view", false),
    ("Route comparison", false),
    ("Stress-window queries", false),
    ("Market-hours risk flags", false),
    ("Tokenized equity scoring", false),
    ("Depth decay tracking", false),
    ("Liquidation exposure scoring", false),
    ("Redemption-window modelling", false),
    ("Accuracy record", false),
    ("Spread alerting", false),
];

/// An entry for a pool of this chain. The snapshot itself says whether its chain is known.
pub(super) fn entry(pool: &mut BusyPool, chain: &str, kind: ChainKind, slot: Slot) -> NewEntry {
    let drawn = pool.snapshot(slot);
    let drawn = drawn.observation();
    let id: PoolId =
        format!("{chain}:{}", drawn.pool().contract().address().unwrap()).parse().unwrap();
    let caip2 = if kind == ChainKind::Live { "eip155:1" } else { "eip155:31337" };
    let observation = Observation::new(
        id.clone(),
        ChainTag { caip2: caip2.parse().unwrap(), kind },
        drawn.block(),
        drawn.tokens().clone(),
        drawn.state().clone(),
        drawn.oracles().to_vec(),
        Vec::new(),
    );
    let snapshot = Snapshot::new(slot, observation.unwrap()).unwrap();
    let default_base = exitgap_core::pools::Direction::ZeroForOne;
    NewEntry { pool: id, default_base, reading: Ok(snapshot) }
}

/// A store with a pool of a known chain and one of another chain, which was recorded a day longer.
fn two_chains(folder: &Path) -> std::path::PathBuf {
    let path = store_in(folder, "series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    let (mut known, mut other) = (BusyPool::new(1, 8), BusyPool::new(2, 8));
    for n in 0..3 {
        let entries = [
            entry(&mut known, "ethereum", ChainKind::Live, slot(n)),
            entry(&mut other, "anvil", ChainKind::Preview, slot(n)),
        ];
        store.append_slot(slot(n), &entries).unwrap();
    }
    path
}

/// The report of a deployment `age_s` seconds after the newest slot.
async fn said(path: &Path, deployment: Deployment, age_s: u64) -> Capabilities {
    let now = slot(2).unix_s() + age_s;
    let urls = Urls { base: "https://a.example".into(), web: "https://a.example".into() };
    let service = Service::new(path.to_owned(), urls, Arc::new(move || now), Bounds::default());
    let service = service.deployed_as(deployment);
    service.refresh().await.unwrap();
    service.capabilities()
}

/// Requires that implemented capabilities are live on these chains, and that the others never are.
fn check(told: &Capabilities, live_on: &[&str], pages: bool) {
    let built: BTreeMap<&str, bool> = BUILT.into();
    assert_eq!(told.capabilities.len(), 25);
    let mut seen = 0_usize;
    for row in &told.capabilities {
        let status = match built.get(row.capability.as_str()) {
            None => CapabilityStatus::Roadmap,
            Some(true) if !pages => CapabilityStatus::Roadmap,
            Some(_) if live_on.is_empty() => CapabilityStatus::Preview,
            Some(_) => CapabilityStatus::Live,
        };
        seen += usize::from(built.contains_key(row.capability.as_str()));
        assert_eq!(row.status, status, "{row:?}");
        let expected: &[&str] = if status == CapabilityStatus::Live { live_on } else { &[] };
        assert_eq!(row.live_on, expected, "{row:?}");
        assert!(!row.place.is_empty(), "{row:?}");
        let needs_words = ["Tokenized equity scoring", "Redemption-window modelling"];
        let is_idle = needs_words.contains(&row.capability.as_str());
        assert_eq!(row.place.ends_with("nothing is configured here yet"), is_idle, "{row:?}");
        if !pages && built.contains_key(row.capability.as_str()) {
            for page in ["/pools/", "/verify", "as a page"] {
                assert!(!row.place.contains(page), "no page is there: {row:?}");
            }
            let page = row.place.split(", ").any(|place| place == "/" || place == "/portfolio");
            assert!(!page, "no page is there: {row:?}");
        }
    }
    assert_eq!(seen, BUILT.len());
}

#[tokio::test]
async fn rows_are_live_only_where_a_live_chain_is_recorded_now() {
    let folder = TempDir::new().unwrap();
    let path = two_chains(folder.path());
    let all = Deployment { recording: true, pages: true, alerts: false };

    // A deployment without stored rules has no webhooks.
    for alerts in [false, true] {
        let told = said(&path, Deployment { alerts, ..all }, 60).await;
        let row = told.capabilities.iter().find(|row| row.capability == "Webhooks and streams");
        let expected = if alerts { CapabilityStatus::Live } else { CapabilityStatus::Roadmap };
        assert_eq!(row.unwrap().status, expected, "{row:?}");
        assert_eq!(row.unwrap().place.contains("POST /v1/alerts, GET /v1/stream"), alerts);
    }

    // A fresh slot of a known chain, and one at the limit of three slots.
    for age in [60, 900] {
        let told = said(&path, all, age).await;
        check(&told, &["ethereum"], true);
        let chains: Vec<_> = told.chains.iter().map(|one| (&*one.chain, one.status)).collect();
        let expected = [("anvil", CapabilityStatus::Preview), ("ethereum", CapabilityStatus::Live)];
        assert_eq!(chains, expected);
        let why = told.chains[0].not_live_because.as_deref().unwrap();
        assert!(why.contains("not a known chain"), "{why}");
        assert_eq!((told.chains[1].age_s, &told.chains[1].not_live_because), (Some(age), &None));
    }
    // One second beyond the limit.
    let told = said(&path, all, 901).await;
    check(&told, &[], true);
    let why = told.chains[1].not_live_because.as_deref().unwrap();
    assert!(why.contains("901 s old"), "{why}");
    // This deployment does not record, although the data is fresh.
    let told = said(&path, Deployment { recording: false, pages: true, alerts: false }, 60).await;
    check(&told, &[], true);
    assert!(told.chains.iter().all(|one| one.not_live_because.is_some()));
    // A build without pages.
    let told = said(&path, Deployment { recording: true, pages: false, alerts: false }, 60).await;
    check(&told, &["ethereum"], false);
}

#[tokio::test]
async fn every_gate_is_the_specifications() {
    let folder = TempDir::new().unwrap();
    let path = two_chains(folder.path());
    let told = said(&path, Deployment::default(), 60).await;
    let gates = |name: &str| {
        let row = told.capabilities.iter().find(|row| row.capability == name).unwrap();
        row.gated_by.clone()
    };
    // Recording gates the capabilities that the specification calls preview.
    for preview in [
        "Pre-trade fill estimates",
        "Live pool pages",
        "Depth ladders",
        "Slippage forecasting",
        "Spread history",
        "Public fragility board",
        "Portfolio view",
    ] {
        assert_eq!(gates(preview), ["Continuous depth recording"], "{preview}");
    }
    for by_length in ["Stress-window queries", "Depth decay tracking"] {
        assert!(gates(by_length).contains(&"series length".to_owned()), "{by_length}");
    }
    assert_eq!(gates("Webhooks and streams"), ["Spread alerting"]);
    assert_eq!(gates("Machine-payable endpoints"), ["x402 settlement"]);
    assert_eq!(gates("Open-source verifier"), Vec::<String>::new());
    // A gate that is itself a capability has its own row.
    let names: Vec<&str> = told.capabilities.iter().map(|row| &*row.capability).collect();
    for gate in told.capabilities.iter().flat_map(|row| &row.gated_by) {
        let other = ["series length", "x402 settlement"].contains(&&**gate);
        assert!(other || names.contains(&&**gate), "{gate}");
    }
}

/// The binary itself: once recording a preview chain, once only answering.
#[tokio::test(flavor = "multi_thread")]
async fn a_running_service_tells_what_it_is() {
    let recorded = recorded(2).await;
    let at = recorded.last.number().to_string();
    for (arguments, recording) in
        [(vec!["--rehearse-at", at.as_str()], true), (vec!["--no-record"], false)]
    {
        let service = Served::start(recorded.folder.path(), &arguments, &[]);
        let document = service.get("/v1/capabilities").found();
        assert_eq!(document["recording"], recording);
        let told: Capabilities = serde_json::from_value(document).unwrap();
        assert_eq!(told.pages, Site::default().is_built());
        check(&told, &[], Site::default().is_built());
        let why = told.chains[0].not_live_because.as_deref().unwrap();
        let expected = if recording { "not a known chain" } else { "does not record" };
        assert!(why.contains(expected), "{why}");
        // A page exists exactly if the report says so.
        for page in ["/", "/verify", "/portfolio"] {
            let answer = service.ask("GET", page, &[("Accept", "text/html")]);
            assert_eq!(answer.status == 200, told.pages, "{page}");
        }
        assert_eq!(told.web_url, None);
        let row: &Value = &service.get("/v1/capabilities").found()["capabilities"][3];
        assert_eq!(row["gated_by"], json!(["Continuous depth recording"]));
    }
}
