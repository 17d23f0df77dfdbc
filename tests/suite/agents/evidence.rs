//! `verify_evidence` accepts only evidence of the server's own log, and states who verified it.

use std::net::TcpListener;

use exitgap_api::operations::FigureOf;
use exitgap_tests::devchain::World;
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

/// A host to which no request may be sent; its `accept` does not wait.
fn other_host() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
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

/// Requires a report on the figure file of an exit into cash, with the numbers of the answer.
fn require_valid_figure(report: &Value, answer: &Value, [by, keys_from]: [&str; 2]) {
    assert_eq!((&report["verdict"], &report["verified_by"]), (&json!("valid"), &json!(by)));
    assert_eq!((&report["keys_from"], &report["claim"]), (&json!(keys_from), &Value::Null));
    let figure = &report["figure"];
    assert_eq!((&figure["figure"], &figure["status"]), (&json!("route/1"), &json!("preview")));
    assert_eq!(figure["first_slot"], answer["slot"]);
    assert_eq!(figure["parameters"]["amount_in"], answer["amount_in_raw"]);
    for number in ["exit_gap_pct", "received_usd", "optimality_gap_pct"] {
        // A canonical file spells numbers as text.
        let proven: Value = figure["result"][number].as_str().unwrap().parse().unwrap();
        assert_eq!(proven, answer[number], "{number}");
    }
    let checks = report["checks"].as_array().unwrap();
    let outcome =
        |name: &str| checks.iter().find(|one| one["name"] == name).unwrap()["outcome"].clone();
    for name in ["windows", "signature", "uses", "snapshots", "result"] {
        assert_eq!(outcome(name), "pass", "{name}: {report}");
    }
    if by == "here" && keys_from != "own" {
        assert_eq!(outcome("consistency"), "pass", "{report}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_figure_file_is_verified_like_evidence_of_one_number() {
    let (recorded, service, _) = scene().await;
    let token = format!("{:#x}", recorded.world.assets[World::WETH].token.address);
    let sale = json!({"chain": "anvil", "token": token, "amount": "3", "into": "any"});
    let answer = document(&call_older(service.address, "estimate_exit", &sale));
    let url = answer["evidence_url"].as_str().unwrap();
    let verify = json!({"evidence_url": url});
    let report = document(&call_older(service.address, "verify_evidence", &verify));
    require_valid_figure(&report, &answer, ["operator", "own"]);

    let own = format!("http://{}", service.address);
    let api = Agent::over_stdio(recorded.folder.path(), &["--api", &own]).await;
    for keys_from in ["first_use", "kept"] {
        let report = document(&api.call("verify_evidence", &verify).await);
        require_valid_figure(&report, &answer, ["here", keys_from]);
    }
    let db = Agent::over_stdio(recorded.folder.path(), &["--db", "exitgap.db"]).await;
    let there = document(&db.call("estimate_exit", &sale).await);
    let of_db = json!({"evidence_url": there["evidence_url"]});
    require_valid_figure(
        &document(&db.call("verify_evidence", &of_db).await),
        &answer,
        ["here", "own"],
    );

    // A figure of another host is not asked for; one that its own address refuses is refused alike.
    let trap = other_host();
    let foreign = url.replace(&own, &format!("http://{}", trap.local_addr().unwrap()));
    let no_slot = url.replace(&format!("slot={}", answer["slot"]), "slot=5957000");
    let no_amount = url.replace("amount_in=", "amount_of=");
    for (url, code) in [
        (&foreign, "invalid_parameter"),
        (&no_slot, "before_series"),
        (&no_amount, "unknown_parameter"),
    ] {
        assert_ne!(url, answer["evidence_url"].as_str().unwrap());
        let arguments = json!({"evidence_url": url});
        for result in [
            call_older(service.address, "verify_evidence", &arguments),
            api.call("verify_evidence", &arguments).await,
        ] {
            assert_eq!(problem(&result)["code"], code, "{url}: {result}");
        }
    }
    assert!(trap.accept().is_err(), "a request reached the other host");
    api.end().await;
    db.end().await;
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_answers_with_the_file_of_another_sale_is_refused() {
    let (recorded, service, _) = scene().await;
    let token = format!("{:#x}", recorded.world.assets[World::WETH].token.address);
    let url = |amount: &str| {
        let sale = json!({"chain": "anvil", "token": token, "amount": amount, "into": "any"});
        let answer = document(&call_older(service.address, "estimate_exit", &sale));
        answer["evidence_url"].as_str().unwrap().to_owned()
    };
    let (small, large) = (url("1"), url("2"));
    let path = large.split_once(&service.address.to_string()).unwrap().1;
    let file = service.get(path).body;
    let [small, large] = [small, large].map(|url| FigureOf::from_url(&url).unwrap());
    assert_eq!(large.is_of_file(&file), Some(true));
    assert_eq!(small.is_of_file(&file), Some(false), "a file of another amount");
    assert_eq!(large.is_of_file(b"{}"), None);
    // An address that says less or more than the file is another request.
    let (first, rest) = large.query.split_once('&').unwrap();
    for query in [rest.to_owned(), format!("{first}&{first}&{rest}"), String::new()] {
        let other = FigureOf { query, ..large.clone() };
        assert_eq!(other.is_of_file(&file), Some(false), "{other:?}");
    }
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_of_anywhere_else_is_refused_and_nobody_is_asked_for_it() {
    let (recorded, service, url) = scene().await;
    // No request may reach the host in the evidence address.
    let trap = other_host();
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
    assert!(trap.accept().is_err(), "a request reached the other host");
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
