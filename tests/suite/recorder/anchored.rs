//! The anchors of a day that a recorder published, and a reader who trusts only the hash of a newer block.

use std::fs;
use std::path::Path;
use std::process::Command;

use exitgap_core::ids::BlockHash;
use exitgap_core::proof::{Anchors, HISTORY_CONTRACT};
use exitgap_core::series::Slot;
use exitgap_tests::binaries;
use exitgap_tests::demo::recorder_config;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market, SLOTS_PER_DAY, World};
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::chain::{pass_slot, scene};
use crate::scenes::operator_at_work::AtWork;
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::service::Service;

/// The first day of the series, in days since 1970.
const DAY: u64 = FIRST_SLOT / SLOTS_PER_DAY;

/// After this many slots, a recorder retries a failed attempt.
const AN_HOUR: u64 = SLOTS_PER_DAY / 24;

/// An operator whose chain is final after three blocks (one slot), and who publishes anchors of its days.
fn operator(chain: &DevChain, world: &World, node: &str) -> AtWork {
    let folder = TempDir::new().unwrap();
    let text = recorder_config(chain, world).replace(&chain.url(), node);
    let text = text.replace("chain_id = 31337\n", "chain_id = 31337\nconfirmations = 3\n");
    fs::write(folder.path().join("exitgap.toml"), text).unwrap();
    let mut made = Command::new(binaries::path("exitgap-server"));
    made.args(["key", "new", "--out", "exitgap.key", "--name", "anvil.example/exits"]);
    assert!(made.current_dir(folder.path()).output().unwrap().status.success());
    let mut made = AtWork::in_folder(folder, "exitgap.toml");
    made.recorder.anchor_days();
    made
}

fn file(operator: &AtWork, day: u64) -> Option<Anchors> {
    let path = operator.log().join(format!("anchors/anvil/{day}"));
    path.exists().then(|| Anchors::from_bytes(&fs::read(path).unwrap()).unwrap())
}

fn block(operator: &AtWork, slot: u64) -> exitgap_core::snapshot::BlockRef {
    operator.snapshots(slot)[0].observation().block()
}

#[tokio::test(flavor = "multi_thread")]
async fn days_are_anchored_once_they_are_final_and_a_reader_needs_one_block() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 5).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let mut operator = operator(&chain, &world, &proxy.url());
    let night = FIRST_SLOT + SLOTS_PER_DAY;
    for slot in night - 3..=night {
        market.play_slot(slot).await.unwrap();
        operator.record(slot).await;
    }
    assert_eq!(file(&operator, DAY), None, "nothing after the day is final yet");
    // The node does not prove the history contract: the recorder still records the slots and retries an hour later.
    proxy.lie(|request, _| {
        let contract = HISTORY_CONTRACT.to_string();
        let is_asked = request["params"][0].as_str() == Some(&contract);
        (request["method"] == "eth_getProof" && is_asked)
            .then_some(Lie::Error(-32_000, "no proofs"))
    });
    for slot in night + 1..=night + 2 {
        pass_slot(&chain, slot).await;
        operator.record(slot).await;
    }
    let asked = proxy.fired();
    assert!(asked > 0 && file(&operator, DAY).is_none(), "{asked}");
    proxy.be_honest();
    // Each slot without trades has two blocks, so the first attempt happened in the second of these slots.
    for slot in night + 3..=night + 2 + AN_HOUR {
        assert_eq!(file(&operator, DAY), None, "slot {slot}: not before an hour is over");
        pass_slot(&chain, slot).await;
        operator.record(slot).await;
    }
    let first = file(&operator, DAY).unwrap();
    for slot in night - 3..night {
        // The chain's block after each slot's block.
        let next = block(&operator, slot).number + 1;
        let told = chain.block(next.into()).await.unwrap().unwrap();
        assert_eq!(first.hash(next), Some(BlockHash(told.hash.0)), "slot {slot}");
    }
    // The chain of the next day's anchors ends where this day's begins.
    let next_night = night + SLOTS_PER_DAY;
    for slot in [next_night, next_night + 1, next_night + 2] {
        market.play_slot(slot).await.unwrap();
        operator.record(slot).await;
    }
    let second = file(&operator, DAY + 1).unwrap();
    assert_eq!(second.hash(first.from.number), Some(first.from.hash));
    assert_eq!(operator.published("anchors").len(), 2);
    let of = night - 2;
    evidence_of(&operator, &chain, &world, of);
    read(&operator, [first.from.hash, second.from.hash]);
    passed_over(operator);
}

/// Writes the evidence of a slot of the first day, and a state proof for it.
fn evidence_of(operator: &AtWork, chain: &DevChain, world: &World, slot: u64) {
    let pool = format!("anvil:{:#x}", world.pools[1].pool.address);
    let at = Slot::new(slot).unwrap().to_string();
    let evidence = ["evidence", &pool, "--size-usd", "1000", "--at", &at, "--out", "evidence.json"];
    let made = operator.program("exitgap-server", &evidence);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let url = chain.url();
    let kept = ["verify", "evidence.json", "--rpc", &url, "--keep-proof", "state.egp"];
    let made = operator.program("exitgap", &kept);
    assert!(operator.path("state.egp").exists(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// What came of the question whether the chain has the block.
fn canonical_of(report: &Value) -> &Value {
    let mut checks = report["chain"].as_array().unwrap().iter();
    checks.find(|check| check["name"] == "canonical").unwrap()
}

/// A reader who trusts the log's key for the records, and one newer block for the chain.
fn read(operator: &AtWork, begins: [BlockHash; 2]) {
    let service = Service::start(operator.folder.path(), &["--no-record"], &[]);
    let url = format!("http://{}", service.address);
    let verify = |anchors: &[&str], trusted: &str| {
        let proven = ["verify", "evidence.json", "--state-proof", "state.egp", "--trust"];
        let key = ["exitgap-log/verifier-key", "--trusted-block", trusted, "--json"];
        let output = operator.program("exitgap", &[&proven[..], &key, anchors].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), serde_json::from_slice::<Value>(&output.stdout), said)
    };
    let [first, second] = begins.map(|begin| begin.to_string());
    for (anchors, trusted) in [
        (["--anchors", "exitgap-log"], &second),
        (["--anchors", "exitgap-log"], &first),
        (["--anchors", url.as_str()], &second),
    ] {
        let (code, report, said) = verify(&anchors, trusted);
        let report = report.unwrap_or_else(|_| panic!("{said}"));
        assert_eq!(code, Some(0), "{report} {said}");
        let canonical = canonical_of(&report);
        assert_eq!(canonical["outcome"], "pass", "{canonical}");
        assert!(canonical["found"].as_str().unwrap().contains("which you trust"), "{canonical}");
        assert_eq!(report["rung"], "block");
        assert!(report["sentence"].as_str().unwrap().starts_with("Confirmed by the chain: "));
    }
    // With another block, the anchors lead nowhere; a missing day leaves a gap; a changed file is rejected.
    let other = BlockHash([7; 32]).to_string();
    let days = [DAY, DAY + 1].map(|day| operator.log().join(format!("anchors/anvil/{day}")));
    let folder = ["--anchors", "exitgap-log"];
    let refused = |anchors: &[&str], trusted: &str, code: i32, words: &str| {
        let (found, _, said) = verify(anchors, trusted);
        assert_eq!(found, Some(code), "{said}");
        assert!(said.contains(words), "{words}: {said}");
    };
    refused(&folder, &other, 2, "the trusted hash is");
    refused(&["--anchors", "empty"], &second, 5, "reading anchors");
    refused(&["--anchors", "."], &second, 5, "no anchors for chain anvil");
    let moved = |path: &Path| fs::rename(path, operator.path("moved")).unwrap();
    moved(&days[1]);
    refused(&folder, &second, 2, "the trusted hash is");
    fs::rename(operator.path("moved"), &days[1]).unwrap();
    moved(&days[0]);
    let (code, report, _) = verify(&folder, &second);
    let report = report.unwrap();
    let canonical = canonical_of(&report);
    assert_eq!((code, &canonical["code"]), (Some(7), &Value::from("not_answered")), "{report}");
    fs::rename(operator.path("moved"), &days[0]).unwrap();
    let whole = fs::read(&days[0]).unwrap();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&days[0], &changed).unwrap();
    refused(&folder, &second, 5, "hop 0");
    fs::write(&days[0], &whole).unwrap();
}

/// Audit, `fsck` and restore ignore the anchors.
fn passed_over(operator: AtWork) {
    let (code, report) = operator.audit();
    assert_eq!(code, Some(0), "{report}");
    operator.recorder.close().unwrap();
    let fsck = AtWork::program_in(operator.folder.path(), "exitgap-server", &["fsck"]);
    assert!(fsck.status.success(), "{}", String::from_utf8_lossy(&fsck.stderr));
    fs::remove_file(operator.folder.path().join("exitgap.db")).unwrap();
    let restored = AtWork::program_in(operator.folder.path(), "exitgap-server", &["restore"]);
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
}
