//! `verify_evidence` accepts only evidence of the server's own log, and states who verified it.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::scenes::agents::{Agent, call_older, document, problem};
use crate::scenes::service::{Recorded, Service, recorded};

/// Starts a service and returns the address of one of its evidence files.
async fn scene() -> (Recorded, Service, String) {
    let recorded = recorded(4).await;
    let variables = [("EXITGAP_HTTP_TOOLS_PER_MINUTE", "0")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &variables);
    let estimate = json!({"pool": recorded.pool(0), "size_usd": 1000});
    let answer = document(&call_older(service.address, "estimate_exit", &estimate));
    let url = answer["evidence_url"].as_str().unwrap().to_owned();
    (recorded, service, url)
}

/// Requires a report in which every check passes that needs only the file and its window.
fn require_valid(report: &Value, by: &str, keys_from: &str) {
    assert_eq!((&report["verdict"], &report["verified_by"]), (&json!("valid"), &json!(by)));
    assert_eq!(report["keys_from"], keys_from, "{report}");
    assert_eq!(report["taken_back"], false);
    assert_eq!(report["claim"]["size_usd"], "1000");
    assert_eq!(report["keys"].as_array().unwrap().len(), 1);
    let passed = |name: &str| {
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).unwrap()["outcome"] == "pass"
    };
    for name in ["signature", "inclusion", "result", "snapshot", "window"] {
        assert!(passed(name), "{name}: {report}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_verdict_says_whose_word_it_is() {
    let (recorded, service, url) = scene().await;
    let arguments = json!({"evidence_url": url});
    let report = document(&call_older(service.address, "verify_evidence", &arguments));
    require_valid(&report, "operator", "own");

    let api = format!("http://{}", service.address);
    let folder = recorded.folder.path();
    let agent = Agent::over_stdio(folder, &["--api", &api]).await;
    let report = document(&agent.call("verify_evidence", &arguments).await);
    require_valid(&report, "here", "first_use");
    assert_eq!(report["continuity"], "first_seen");
    // The server remembers the log state while it runs.
    let report = document(&agent.call("verify_evidence", &arguments).await);
    require_valid(&report, "here", "kept");
    assert_eq!(report["continuity"], "continues");
    agent.end().await;

    // With a folder, it remembers the state across runs. A key that the caller names takes precedence.
    for keys_from in ["first_use", "kept"] {
        let agent = Agent::over_stdio(folder, &["--api", &api, "--kept", "seen"]).await;
        let report = document(&agent.call("verify_evidence", &arguments).await);
        require_valid(&report, "here", keys_from);
        agent.end().await;
    }
    let key = String::from_utf8(service.get("/log/verifier-key").body).unwrap();
    let agent = Agent::over_stdio(folder, &["--api", &api, "--trust", key.trim()]).await;
    let report = document(&agent.call("verify_evidence", &arguments).await);
    require_valid(&report, "here", "named");
    agent.end().await;
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_of_anywhere_else_is_refused_and_nobody_is_asked_for_it() {
    let (recorded, service, url) = scene().await;
    // No request may reach the host in the evidence address.
    let trap = TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let trapped = format!("http://{}", trap.local_addr().unwrap());
    let own = format!("http://{}", service.address);
    let path = url.strip_prefix(&own).unwrap();
    let api = Agent::over_stdio(recorded.folder.path(), &["--api", &own]).await;
    let db = Agent::over_stdio(recorded.folder.path(), &["--db", "exitgap.db"]).await;
    for foreign in [
        format!("{trapped}{path}"),
        format!("{own}@{}{path}", trap.local_addr().unwrap()),
        format!("{own}.{}{path}", "evil.example"),
        format!("{own}/../{trapped}{path}"),
        format!("http://169.254.169.254{path}"),
        format!("{trapped}/latest/meta-data"),
        format!("file:///etc/passwd?{path}"),
        path.to_owned(),
        String::new(),
    ] {
        let arguments = json!({"evidence_url": foreign});
        for result in [
            call_older(service.address, "verify_evidence", &arguments),
            api.call("verify_evidence", &arguments).await,
            db.call("verify_evidence", &arguments).await,
        ] {
            let refused = problem(&result);
            assert_eq!(refused["code"], "invalid_parameter", "{foreign}");
            assert_eq!(refused["field"], "evidence_url", "{foreign}");
        }
    }
    assert!(trap.accept().is_err(), "somebody was asked");
    // Evidence of the server's own log that does not exist is rejected as at its own address.
    let other = url.replace("method_version=1.0.0", "method_version=9.9.9");
    let arguments = json!({"evidence_url": other});
    let refused = problem(&call_older(service.address, "verify_evidence", &arguments));
    assert_eq!(refused["code"], "unknown_method_version");
    api.end().await;
    db.end().await;
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_verifies_its_own_evidence_without_a_network() {
    let (recorded, service, _) = scene().await;
    let db = Agent::over_stdio(recorded.folder.path(), &["--db", "exitgap.db"]).await;
    let estimate = json!({"pool": recorded.pool(0), "size_usd": 1000});
    let answer = document(&db.call("estimate_exit", &estimate).await);
    let there = document(&call_older(service.address, "estimate_exit", &estimate));
    assert_eq!(answer["exit_gap_pct"], there["exit_gap_pct"]);
    let report = document(
        &db.call("verify_evidence", &json!({"evidence_url": answer["evidence_url"]})).await,
    );
    require_valid(&report, "here", "own");
    db.end().await;
    assert_eq!(service.end(), Some(0));
}
