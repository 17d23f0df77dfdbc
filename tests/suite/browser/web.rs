//! The pages, in a real browser, with a real service and a recorded series.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use exitgap_core::snapshot::{BlockRef, Observation, Snapshot};
use exitgap_core::tlog::{Checkpoint, Hash, SignerKey};
use exitgap_server::config::CheckedConfig;
use exitgap_store::{LogFolder, NewEntry, Store};
use exitgap_tests::demo::dollars_config;
use exitgap_tests::fixtures;
use exitgap_tests::receiver::Receiver;
use serde_json::Value;

use crate::scenes::chain::scene;
use crate::scenes::holes::tear_holes;
use crate::scenes::service::{Recorded, Service, configured, configured_with, record_in, recorded};

const SLOTS: u64 = 14;

/// A signed log state that contradicts the published one; the log's own key signs it.
fn forged(checkpoint: &str, key: &str) -> String {
    let (newest, _) = Checkpoint::from_note(checkpoint).unwrap();
    let key: SignerKey = key.trim_end().parse().unwrap();
    let other = Checkpoint { root: Hash([7; 32]), ..newest };
    let key = key.with_name(&other.origin.to_string()).unwrap();
    key.sign(&other.to_text()).unwrap()
}

/// A key with the log's name that is not the log's key.
fn other_key(checkpoint: &str) -> String {
    let (newest, _) = Checkpoint::from_note(checkpoint).unwrap();
    SignerKey::from_seed(&newest.origin.to_string(), [5; 32]).unwrap().verifier().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_works_in_a_browser() {
    let (chain, world) = scene().await;
    let folder = configured_with(&chain, &world, &dollars_config(&world));
    let recorded = record_in(&chain, world, folder, SLOTS).await;
    let (pool, retracted) = tear_holes(&recorded);
    let limits = [("EXITGAP_HTTP_RATE_PER_MINUTE", "100000")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &limits);
    let checkpoint = String::from_utf8(service.get("/log/checkpoint").body).unwrap();
    let key = fs::read_to_string(recorded.path("exitgap.key")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut pages = Command::new("node");
    pages.arg(root.join("tests/web/pages.mjs")).arg(format!("http://{}", service.address));
    pages
        .arg(fixtures::folder().join("npm-tools/node_modules"))
        .arg(root.join("target/screenshots"));
    // This variable selects parts of the test during development.
    let parts = std::env::var("EXITGAP_PAGES").unwrap_or_default();
    pages.args(parts.split_whitespace());
    pages.env("EXITGAP_FORGED_CHECKPOINT", forged(&checkpoint, &key));
    pages.env("EXITGAP_OTHER_KEY", other_key(&checkpoint));
    pages.env("EXITGAP_BINARY", exitgap_tests::binaries::path("exitgap"));
    pages.env("EXITGAP_RETRACTED", format!("{pool} {}", retracted.number()));
    let output = pages.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complained}");
    assert!(said.contains(r#""web.axe_violations":0,"web.console_errors":0"#), "{said}");
}

/// The browser proves the state, and the reader's wallet confirms the block.
#[tokio::test(flavor = "multi_thread")]
async fn evidence_is_confirmed_by_the_readers_own_wallet() {
    let (chain, world) = scene().await;
    let folder = configured(&chain, &world);
    let recorded = record_in(&chain, world, folder, 4).await;
    let limits = [("EXITGAP_HTTP_RATE_PER_MINUTE", "100000")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &limits);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new("node")
        .arg(root.join("tests/web/chain.mjs"))
        .arg(format!("http://{}", service.address))
        .arg(fixtures::folder().join("npm-tools/node_modules"))
        .arg(root.join("target/screenshots"))
        .arg(chain.url())
        .output()
        .unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "sound\n", "{complained}");
}

/// `cargo xtask bench web` measures the speed. This test asserts only what does not depend on the machine.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: `cargo xtask test --all` runs it, and installs Lighthouse"]
async fn lighthouse_finds_the_pages_accessible_and_sound() {
    let recorded = recorded(SLOTS).await;
    let limits = [("EXITGAP_HTTP_RATE_PER_MINUTE", "100000")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &limits);
    let pool = recorded.pool(0);
    let answer = service.get(&format!("/v1/exit/{pool}?size_usd=1000")).json();
    let evidence = answer["evidence_url"].as_str().unwrap();
    let evidence = &evidence[evidence.find("/api/").unwrap()..];
    let pool = format!("/pools/{pool}");
    let output = Command::new("node")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/web/lighthouse.mjs"))
        .arg(format!("http://{}", service.address))
        .arg(fixtures::folder().join("lighthouse/node_modules"))
        .args([
            "/",
            &pool,
            evidence,
            "/verify",
            "/portfolio",
            "/risk",
            "/accuracy",
            "/equities",
            "/capabilities",
            "/method",
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    println!("{said}");
    assert!(output.status.success(), "{said}");
    let scores: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(scores["web.lighthouse.not_measured"], 0, "{said}");
    for machine in ["desktop", "phone"] {
        for category in ["accessibility", "best_practices"] {
            let score = scores[format!("web.lighthouse.{machine}.{category}")].as_u64().unwrap();
            assert!(score >= 95, "{machine}, {category}: {score}\n{said}");
        }
    }
}

/// Seals this many slots after the last recorded one; every pool stays unchanged.
fn seal_others(recorded: &Recorded, count: u32) {
    for _ in 0..count {
        seal_another(recorded);
    }
}

/// Seals the next slot; every pool stays unchanged.
fn seal_another(recorded: &Recorded) {
    let checked = CheckedConfig::from_file(&recorded.path("exitgap.toml")).unwrap();
    let key = fs::read_to_string(&checked.config.evidence.key_file).unwrap();
    let mut store =
        Store::open(&checked.config.store.path, &key.trim_end().parse().unwrap()).unwrap();
    let reader = store.reader();
    let (_, last) = reader.slots().unwrap().unwrap();
    let next = last.next().unwrap();
    let entries: Vec<_> = reader
        .pools()
        .unwrap()
        .into_iter()
        .map(|pool| {
            let hash = reader.latest(&pool, None).unwrap().unwrap().snapshot.unwrap().1;
            let before = reader.documents(hash).unwrap().unwrap();
            let before = Snapshot::from_canonical(&before.snapshot, &before.state);
            let before = before.unwrap();
            let seen = before.observation();
            // The same state in a current block: a block that is too old does not belong to the slot.
            let block = BlockRef { timestamp: next.unix_s() - 9, ..seen.block() };
            let same = Observation::new(
                seen.pool().clone(),
                seen.chain(),
                block,
                seen.tokens().clone(),
                seen.state().clone(),
                seen.oracles().to_vec(),
                seen.facts().to_vec(),
            );
            let same = Snapshot::new(next, same.unwrap()).unwrap();
            NewEntry { pool: pool.id, default_base: pool.default_base, reading: Ok(same) }
        })
        .collect();
    assert!(store.append_slot(next, &entries).unwrap().written);
    LogFolder::new(&checked.config.evidence.folder).publish(store.reader()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pools_page_follows_its_series() {
    let recorded = recorded(2).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut page = Command::new("node");
    page.arg(root.join("tests/web/follow.mjs")).arg(format!("http://{}", service.address));
    page.arg(fixtures::folder().join("npm-tools/node_modules"));
    page.arg(root.join("target/screenshots")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut page = page.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(page.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if line == "waiting\n" {
        seal_another(&recorded);
    }
    let output = page.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The complete path of an alert: a rule created on a page fires at the slot that violates it, its receiver verifies
/// the event, the page shows it without a reload, and a third party computes it from the published log.
#[tokio::test(flavor = "multi_thread")]
async fn a_rule_made_on_a_page_is_told_shown_and_replayed() {
    let recorded = recorded(4).await;
    let config = recorded.path("exitgap.toml");
    let table = "\n[alerts]\nenabled = true\nallow_networks = [\"127.0.0.0/8\"]\n";
    fs::write(&config, fs::read_to_string(&config).unwrap() + table).unwrap();
    let mut key = Command::new(exitgap_tests::binaries::path("exitgap-server"));
    key.args(["key", "alerts", "--out", "alerts.key"]).current_dir(recorded.folder.path());
    assert!(key.output().unwrap().status.success());
    let receiver = Receiver::taking().unwrap();
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut page = Command::new("node");
    page.arg(root.join("tests/web/alerts.mjs")).arg(format!("http://{}", service.address));
    page.arg(fixtures::folder().join("npm-tools/node_modules"));
    page.arg(root.join("target/screenshots")).arg(receiver.url("/exits"));
    let mut page = page.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(page.stdout.take().unwrap()).lines().map_while(Result::ok);
    let secret = lines.next().unwrap_or_default();
    let token = lines.next().unwrap_or_default();
    if secret.starts_with("whsec_") {
        seal_others(&recorded, 2);
    }
    let output = page.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let events = receiver.wait_for(1, std::time::Duration::from_secs(20));
    let event = events.first().expect("the event was sent");
    let mut headers = http::HeaderMap::new();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        headers.insert(name, event.header(name).parse().unwrap());
    }
    standardwebhooks::Webhook::new(&secret).unwrap().verify(&event.body, &headers).unwrap();
    // The rule, which only its owner can read, and the public log.
    let bearer = format!("Bearer {token}");
    let listed = service.ask("GET", "/v1/alerts", &[("Authorization", &bearer)]).found();
    fs::write(recorded.path("rule.json"), listed["alerts"][0]["rule"].to_string()).unwrap();
    let log = CheckedConfig::from_file(&config).unwrap().config.evidence.folder;
    let mut replay = Command::new(exitgap_tests::binaries::path("exitgap"));
    replay.args(["alert", "replay", "rule.json", "--json", "--log"]).arg(log);
    let replayed = replay.current_dir(recorded.folder.path()).output().unwrap();
    assert_eq!(replayed.stdout.trim_ascii_end(), event.body, "byte for byte");
}

/// Errors inside Lighthouse lead to a retry. An audit that keeps failing does not affect the other results.
#[test]
fn what_lighthouse_could_not_record_is_tried_again_and_told() {
    let script = r#"
        import { judgeBy, lowest } from "./lighthouse.mjs";
        const good = { categories: { performance: { score: 0.9, auditRefs: [] },
          accessibility: { score: 1, auditRefs: [] }, "best-practices": { score: 1, auditRefs: [] } }, audits: {} };
        const failed = (code) => ({ runtimeError: { code, message: "it could not" } });
        const asked = {};
        const record = (path, machine) => {
          const tries = asked[path + machine] = (asked[path + machine] ?? 0) + 1;
          if (path === "/never") return failed("NO_NAVSTART");
          if (path === "/thrown" && tries === 1) throw Object.assign(new Error("gone"), { code: "TARGET_CRASHED" });
          return path === "/late" && tries < 3 ? failed("NO_NAVSTART") : good;
        };
        const figures = lowest(await judgeBy(record, ["/", "/late", "/thrown", "/never"]));
        const absent = await judgeBy(() => failed("ERRORED_DOCUMENT_REQUEST"), ["/"]).catch((error) => error.message);
        console.log(JSON.stringify({ figures, asked, absent }));
    "#;
    let mut node = Command::new("node");
    node.args(["--input-type=module", "-e", script]);
    node.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/web"));
    let output = node.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let found: Value = serde_json::from_slice(&output.stdout).expect(&said);
    let figures = &found["figures"];
    assert_eq!(figures["web.lighthouse.not_measured"], 2, "{found}");
    assert_eq!(figures["web.lighthouse.phone.performance"], 90, "what was measured is printed");
    let asked = ["/desktop", "/latedesktop", "/throwndesktop", "/neverdesktop"];
    assert_eq!(asked.map(|key| found["asked"][key].as_u64().unwrap()), [1, 3, 2, 3]);
    let absent = found["absent"].as_str().unwrap();
    assert!(absent.contains("ERRORED_DOCUMENT_REQUEST"), "the page's own fault ends it: {absent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_served_with_their_words_and_their_policy() {
    let recorded = recorded(2).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let page = [("Accept", "text/html")];
    let pool = recorded.pool(0);
    let own =
        ["/", "/risk", "/accuracy", "/equities", "/exit/anvil:0x0", "/verify"].map(str::to_owned);
    for path in own.into_iter().chain([format!("/pools/{pool}")]) {
        let answer = service.ask("GET", &path, &page);
        assert_eq!(answer.status, 200, "{path}: is the site built? `cargo xtask web` builds it");
        let policy = answer.header("content-security-policy").unwrap().to_owned();
        assert!(policy.contains("default-src 'none'") && policy.contains("'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe-inline"), "{policy}");
        let html = String::from_utf8(answer.body).unwrap();
        assert!(!html.contains("<title>exitgap</title>"), "{path} has a title of its own");
        // Until its program has loaded, the page contains the same text.
        let between = |before, after| {
            html.split_once(before).and_then(|(_, rest)| rest.split_once(after)).unwrap().0
        };
        let (title, heading) = (between("<title>", "</title>"), between("<h1>", "</h1>"));
        assert_eq!(title.trim_end_matches(" | exitgap"), heading);
        let scripts: Vec<_> = html
            .split(['"', '\''])
            .filter(|part| part.starts_with("/exitgap-web-") && !part.contains('>'))
            .collect();
        for kind in [".js", ".wasm"] {
            assert!(
                scripts.iter().any(|file| file.ends_with(kind)),
                "{path} loads no {kind}: {html}"
            );
        }
        for file in scripts {
            let plain = service.get(file);
            assert_eq!(plain.status, 200, "{file}");
            let packed = service.ask("GET", file, &[("Accept-Encoding", "gzip, br")]);
            assert_eq!(packed.header("content-encoding"), Some("br"), "{file}");
            assert!(packed.body.len() < plain.body.len(), "{file}");
            assert_eq!(plain.header("cache-control"), Some("public, max-age=31536000, immutable"));
        }
    }
    // The same address returns JSON to programs and a page to browsers.
    let target = format!("/api/v1/exit/{pool}?size_usd=1000");
    let document = service.get(&target);
    assert_eq!(document.header("vary"), Some("accept, accept-encoding"));
    assert_eq!(document.json()["request"]["size_usd"], "1000");
    let evidence = service.ask("GET", &target, &page);
    assert_eq!(evidence.header("vary"), Some("accept, accept-encoding"));
    assert!(evidence.header("content-type").unwrap().starts_with("text/html"));
    // The page states the claim before any verification, also if the claim is that the pool cannot fill the size.
    let exit = service.get(&format!("/v1/exit/{pool}?size_usd=1000")).found();
    let (gap, sold) =
        (exit["exit_gap_pct"].as_f64().unwrap(), exit["base"]["symbol"].as_str().unwrap());
    let fills = format!("selling 1000 USD of {sold} fills {gap:.6}% below the oracle price.");
    let refused =
        format!("selling 1000000000 USD of {sold} cannot be filled: the most that can be is ");
    for (size, said) in [("1000", fills), ("1000000000", refused)] {
        let target = format!("/api/v1/exit/{pool}?size_usd={size}");
        let html = String::from_utf8(service.ask("GET", &target, &page).body).unwrap();
        assert!(html.contains("<p class=\"lead\">Claimed, and not yet checked: at "), "{html}");
        assert!(html.contains(&said), "{said}: {html}");
    }
    // A pool that is not monitored has neither a page nor evidence.
    for target in ["/pools/anvil:0x00", "/pools/nonsense", "/api/v1/exit/nonsense?size_usd=1"] {
        let unknown = service.ask("GET", target, &page);
        assert_eq!(unknown.status, 404, "{target}");
        let html = String::from_utf8(unknown.body).unwrap();
        assert!(html.contains("<title>Page not found"), "{target}");
    }
    // For an unknown path, only a reader's browser gets a page, never a script.
    let absent = service.ask("GET", "/nothing/here", &page);
    assert_eq!(
        (absent.status, absent.header("content-type")),
        (404, Some("text/html; charset=utf-8"))
    );
    for (path, headers) in [("/nothing/here", &[][..]), ("/old-0123.js", &page[..])] {
        let absent = service.ask("GET", path, headers);
        assert_eq!(absent.header("content-type"), Some("application/problem+json"), "{path}");
    }
}
