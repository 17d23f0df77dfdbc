//! The pages and the package work in Firefox as in Chromium.

use std::process::Command;

use exitgap_tests::fixtures;
use serde_json::{Value, json};

use crate::scenes::chain::scene;
use crate::scenes::fills::played;
use crate::scenes::npm::{Project, root, sound};
use crate::scenes::npm_cases;
use crate::scenes::service::Service;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: `cargo xtask test --all` runs it, and installs Firefox"]
async fn pages_and_package_work_in_firefox() {
    let (chain, world) = scene().await;
    let recorded = played(&chain, world, &chain.url(), "").await;
    let limits = [("EXITGAP_HTTP_RATE_PER_MINUTE", "100000")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &limits);
    let project = Project::new();
    project.add(&["cases.mjs", "garbage.mjs", "vectors.html", "vectors.js", "worker.js"]);
    let cases = npm_cases::all();
    project.write("cases.json", &serde_json::to_string(&cases).unwrap());
    let output = Command::new("node")
        .arg(root().join("tests/web/firefox.mjs"))
        .arg(format!("http://{}", service.address))
        .arg(fixtures::folder().join("npm-tools/node_modules"))
        .arg(fixtures::folder().join("firefox/node_modules"))
        .arg(root().join("target/screenshots"))
        .arg(recorded.pool(0))
        .arg(project.path())
        .output()
        .unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complained}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    for figure in ["firefox.axe_violations", "firefox.console_errors"] {
        assert_eq!(found[figure], json!(0), "{figure}: {complained}");
    }
    // Every vector gives identical bytes, in the page and in a worker.
    let outcome = &found["package"];
    assert_eq!(outcome.get("failed"), None, "{outcome}");
    sound(outcome, cases.cases.len());
    assert_eq!(outcome["worker"]["compared"], cases.cases.len());
    assert_eq!(outcome["worker"]["differing"], 0);
}
