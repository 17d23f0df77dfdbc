//! The call that returns a verified number for a pool, in Node, and the badge that shows it on third-party pages.

use std::fs;
use std::process::Command;

use exitgap_client::{Client, EvidenceOf, Native};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{LogProof, inclusion_proof, leaf_hash};
use exitgap_tests::binaries;
use serde_json::{Value, json};

use crate::scenes::client::{Log, base};
use crate::scenes::fills::played;
use crate::scenes::npm::{Project, root};
use crate::scenes::service::{Service, recorded};

/// The command line can read the fork proofs that the package creates.
#[tokio::test(flavor = "multi_thread")]
async fn one_call_verifies_remembers_and_notices_a_rewritten_log() {
    let (recorded, service, pool) = crate::scenes::client::scene().await;
    let log = Log::of(&recorded, &service);
    let client = Client::new(Native::new().unwrap(), base(&service));
    let size = "1000".parse().unwrap();
    let exit = client.exit(&pool, size, None, None).await.unwrap();
    let of = EvidenceOf::from_url(&exit.evidence_url.unwrap()).unwrap();
    let newest = of.slot.number() - log.first;
    // The newest slot is unchanged, but an earlier slot is a different one.
    let mut leaves = log.leaves.clone();
    leaves[0] = leaf_hash(b"what did not happen");
    let mut file: Value = serde_json::from_slice(&client.evidence(&of).await.unwrap()).unwrap();
    let hashes = inclusion_proof(&leaves, newest as usize).unwrap();
    let proof = LogProof { index: newest.into(), hashes, checkpoint: log.sign(&leaves) };
    file["log_proof"] = proof.to_text().into();
    let tile: Vec<u8> = leaves.iter().flat_map(|leaf| leaf.0).collect();
    let project = Project::new();
    project.add(&["estimate.mjs"]);
    let forged = json!({ "evidence": file.to_string(), "tile": tile });
    project.write("forged.json", &forged.to_string());
    let address = format!("http://{}", service.address);
    let earlier = Slot::new((log.first + 1).into()).unwrap().to_string();
    let ran = ["estimate.mjs", &address, &pool.to_string(), &earlier, "forged.json"];
    assert_eq!(project.node(&ran), "sound\n");
    project.add(&["tiles.mjs"]);
    assert_eq!(project.node(&["tiles.mjs"]), "sound\n");
    // The first program in the README.
    let readme = Project::new();
    readme.add_from_readme();
    for file in ["pkg/README.md", "crates/exitgap-py/README.md"] {
        let named = fs::read_to_string(root().join(file)).unwrap();
        let named: Vec<&str> = named.split("http://127.0.0.1:").skip(1).collect();
        let port = exitgap_tests::demo::PORT.to_string();
        assert!(!named.is_empty() && named.iter().all(|rest| rest.starts_with(&port)), "{file}");
    }
    let Target { chain, symbol, token } = sold(&service, &pool.to_string());
    let routes = service.get(&format!("/v1/routes/{chain}/{token}?size_usd=250000")).found();
    let split = format!("{}% below the oracle over ", routes["exit_gap_pct"]);
    let shown = readme.node(&["split.mjs", &address, &symbol]);
    assert!(shown.starts_with(&split), "{split}: {shown}");
    for leg in routes["legs"].as_array().unwrap() {
        let line = format!("  ${} in {}, for ", leg["size_usd"], leg["name"].as_str().unwrap());
        assert!(shown.contains(&line), "{line}: {shown}");
    }
    for (visit, key, log) in [(1, "first_use", "first_seen"), (2, "kept", "continues")] {
        let shown = readme.node(&["verified.mjs", &address, &symbol]);
        assert!(
            shown.contains("% below the oracle, preview\n")
                && shown.ends_with(&format!("verified here; its key: {key}, its log: {log}\n")),
            "{visit}: {shown}"
        );
    }
    let shown = readme.node(&["worst.mjs", &address, &symbol]);
    let best = routes["alone"][0]["pool"].as_str().unwrap();
    let from = Slot::new(log.first.into()).unwrap();
    let slots = format!("/v1/history/{best}?size_usd=250000&base={token}&from={from}&interval=5m");
    let slots = service.get(&slots).found();
    let gaps = slots["rows"].as_array().unwrap().iter();
    let worst = gaps.max_by(|one, other| {
        let gap = |row: &Value| row["last"]["exit_gap_pct"].as_f64().unwrap_or(f64::MIN);
        gap(one).total_cmp(&gap(other))
    });
    let worst = &worst.unwrap()["last"];
    let told = format!(
        "{}% at {}, verified here\n",
        worst["exit_gap_pct"],
        worst["time"].as_str().unwrap()
    );
    assert_eq!(shown, told);

    project.write("key", &log.key.verifier().to_string());
    let judged = |file: &str, more: &[&str]| {
        let mut command = Command::new(binaries::path("exitgap"));
        let output =
            command.args(["verify", file, "--json"]).args(more).current_dir(project.path());
        let output = output.output().unwrap();
        let said = if output.stdout.is_empty() { &output.stderr } else { &output.stdout };
        let report: Value = serde_json::from_slice(said).unwrap_or_default();
        (output.status.code(), report)
    };
    for (file, sizes) in [("split.json", json!([5, 5])), ("rewritten.json", json!([2, 5]))] {
        let (code, report) = judged(file, &["--trust", "key"]);
        assert_eq!((code, &report["verdict"]), (Some(0), &json!("valid")), "{file}: {report}");
        assert_eq!(
            (&report["sizes"], &report["log"]),
            (&sizes, &json!(log.newest.origin.to_string()))
        );
        assert_eq!(judged(file, &[]).0, Some(7), "{file}: nobody is trusted");
        let (code, said) = judged(file, &["--trust", "key", "--since", "key"]);
        assert_eq!((code, &said["field"]), (Some(2), &json!("since")), "{file}: {said}");
    }
    // Two honest checkpoints of one history prove nothing.
    let text = fs::read_to_string(project.path().join("rewritten.json")).unwrap();
    let mut honest: Value = serde_json::from_str(&text).unwrap();
    honest["checkpoints"][1] = log.note.clone().into();
    project.write("honest.json", &honest.to_string());
    assert_eq!(judged("honest.json", &["--trust", "key"]).0, Some(6));
    project.write("no.json", "{\"checkpoints\":[]}");
    assert_eq!(judged("no.json", &["--trust", "key"]).0, Some(5));
}

/// The token that a pool sells by default.
struct Target {
    chain: String,
    symbol: String,
    token: String,
}

fn sold(service: &Service, pool: &str) -> Target {
    let listed = service.get("/v1/pools").found();
    let found = listed["pools"].as_array().unwrap().iter().find(|one| one["pool"] == pool);
    let found = found.unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let base = &found["base"];
    Target {
        chain: text(&found["chain"]),
        symbol: text(&base["symbol"]),
        token: text(&base["address"]),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_figure_of_what_a_pool_logged_is_computed_again() {
    let (chain, world) = crate::scenes::chain::scene().await;
    let recorded = played(&chain, world, &chain.url(), "").await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let project = Project::new();
    project.add(&["logged.mjs"]);
    let address = format!("http://{}", service.address);
    assert_eq!(project.node(&["logged.mjs", &address, &recorded.pool(0)]), "sound\n");
}

/// The badge runs on a page of another origin, under a policy that allows only the page's own files as styles. It never
/// shows a number as verified that failed a check.
#[tokio::test(flavor = "multi_thread")]
async fn a_badge_verifies_on_anybodys_page() {
    let recorded = recorded(3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let (pool, address) = (recorded.pool(0), format!("http://{}", service.address));
    let told = service.get(&format!("/v1/exit/{pool}?size_usd=250000")).found();
    let project = Project::new();
    let page = |name: &str, attributes: &str| {
        let html = format!(
            "<!doctype html><meta charset=\"utf-8\"><title>badge</title>\
             <script type=\"module\" src=\"./node_modules/exitgap/verify-badge.js\"></script>\
             <script type=\"module\" src=\"./told.js\"></script>\
             <exitgap-verified {attributes}></exitgap-verified><pre id=\"out\"></pre>"
        );
        project.write(name, &html);
    };
    project.write(
        "told.js",
        "const badge = document.querySelector('exitgap-verified');\n\
         const tell = () => { document.getElementById('out').textContent = JSON.stringify([\n\
           badge.shadowRoot.textContent, getComputedStyle(badge.shadowRoot.querySelector('.number')).fontWeight]); };\n\
         for (const name of ['exitgap-verified', 'exitgap-refused']) badge.addEventListener(name, tell);\n",
    );
    let of_pool = format!("service=\"{address}\" pool=\"{pool}\" size-usd=\"250000\"");
    page("sound.html", &of_pool);
    let stranger =
        "exitgap.example/log/5957856+d837dc1b+ARl/ayPhbIUyxqvIOPrNXqeJvgx2spIDNAOb+os9No1h";
    page("stranger.html", &format!("{of_pool} key=\"{stranger}\""));
    page("absent.html", &format!("service=\"{address}\" pool=\"anvil:0x11\" size-usd=\"1\""));
    let shown = |name: &str| -> [String; 2] {
        let text = project.page_asking(name, &address);
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
    };
    let [text, weight] = shown("sound.html");
    let gap = told["exit_gap_pct"].as_f64().unwrap();
    assert!(text.contains("$250,000: ") && text.contains("verified by this page"), "{text}");
    assert!(
        text.contains(&format!("{gap:.3}")) || text.contains(&format!("{gap:.2}")),
        "{gap}: {text}"
    );
    assert!(text.contains("preview") && weight == "600", "{weight}: {text}");
    assert!(text.contains("its key by the service's word"), "{text}");
    let slot = told["window"]["to"].as_str().unwrap();
    assert!(text.contains(&format!("{pool} at {slot}, log ")), "{text}");
    for name in ["stranger.html", "absent.html"] {
        let [text, _] = shown(name);
        assert!(text.contains("not verified") && !text.contains("verified by"), "{name}: {text}");
        assert!(name != "stranger.html" || text.contains("do not use the service's own"), "{text}");
    }
}
