//! Figures on the page of a pool and of a holder, in a real browser: estimates compared with real swaps, proceeds of
//! redemption, and the effect of a market closure.

use std::fs;
use std::path::Path;
use std::process::Command;

use exitgap_tests::devchain::{FIRST_SLOT, World};
use exitgap_tests::fixtures;

use crate::scenes::chain::scene;
use crate::scenes::fills::played;
use crate::scenes::here::{Here, With};
use crate::scenes::hours::a_weekend_and_an_hour;
use crate::scenes::service::{Service, configured_with, record_in};
use crate::scenes::share::{Stands, say, share, tables};

/// Terms of redemption: one is faster for less, the other slower for more.
const TERMS: [(&str, &str); 2] = [
    (
        "fund.json",
        r#"{"v": 1, "kind": "on_days", "calendar": "XNYS", "cutoff_before_close_s": 3600, "settlement_days": [1, 2],
  "fee_pct": "0.05", "eligibility": "whoever passed the issuer's checks",
  "source": "https://issuer.example/terms", "read_on": "2026-08-20"}"#,
    ),
    (
        "desk.json",
        r#"{"v": 1, "kind": "at_once", "fee_pct": "0.2", "capacity_fact": "supply", "eligibility": "dealers", "source": "a call with the desk", "read_on": "2026-08-19"}"#,
    ),
];

/// Runs a program of `tests/web` with a service and checks its final output.
fn browsed(program: &str, address: &str, asked: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new("node")
        .arg(root.join("tests/web").join(program))
        .arg(format!("http://{address}"))
        .arg(fixtures::folder().join("npm-tools/node_modules"))
        .arg(root.join("target/screenshots"))
        .args(asked)
        .output()
        .unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    let figures = "{\"web.axe_violations\":0,\"web.console_errors\":0}\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), figures, "{complained}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_tell_how_good_estimates_were_and_what_redeeming_pays() {
    let (chain, world) = scene().await;
    let weth = format!("{:#x}", world.assets[World::WETH].token.address);
    let of = |(file, _): &(&str, &str)| {
        format!("\n[[redemption]]\nchain = \"anvil\"\ntoken = \"{weth}\"\nterms = \"{file}\"\n")
    };
    // `totalSupply()`: the capacity is the whole supply.
    let fact = format!(
        "\n[[fact]]\nchain = \"anvil\"\ntoken = \"{weth}\"\nname = \"supply\"\ncontract = \"{weth}\"\ncall = \"0x18160ddd\"\n"
    );
    let more: String = TERMS.iter().map(of).chain([fact]).collect();
    let terms = tempfile::tempdir().unwrap();
    for (file, text) in TERMS {
        fs::write(terms.path().join(file), text).unwrap();
    }
    let more = TERMS.iter().fold(more, |more, (file, _)| {
        let path = terms.path().join(file).display().to_string();
        more.replace(&format!("\"{file}\""), &format!("\"{path}\""))
    });
    let recorded = played(&chain, world, &chain.url(), &more).await;
    let limits = [("EXITGAP_HTTP_RATE_PER_MINUTE", "100000")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &limits);
    browsed("record.mjs", &service.address.to_string(), &[&recorded.pool(0), &weth]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_table_tells_the_accuracy_of_all_pools() {
    let (chain, world) = scene().await;
    let recorded = played(&chain, world, &chain.url(), "").await;
    let limits = [("EXITGAP_HTTP_RATE_PER_MINUTE", "100000")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &limits);
    browsed("accuracy.mjs", &service.address.to_string(), &[&recorded.pool(0)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_share_is_told_session_by_session() {
    let (chain, world) = scene().await;
    let due = FIRST_SLOT * 300 + 30 * 86_400;
    say(&chain, Stands { now: 1_500_000, next: 3_000_000, since: due, paused: false }).await;
    let (token, pool) = (format!("{:#x}", share(&world)), world.pools[2].pool.address);
    let folder = configured_with(&chain, &world, &tables(&world, "scaled_ui", "raw", pool));
    let recorded = record_in(&chain, world, folder, 3).await;
    let limits = [("EXITGAP_HTTP_RATE_PER_MINUTE", "100000")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &limits);
    browsed("equities.mjs", &service.address.to_string(), &[&token]);
}

#[test]
fn a_pools_page_shades_closures() {
    let folder = a_weekend_and_an_hour();
    let here = Here::start(folder.path(), With::default());
    here.refresh();
    browsed("hours.mjs", &here.address.to_string(), &[]);
}
