//! Randomly drawn proofs of whole pools, permanently stored proofs, and an auditor's verdict on both.

use std::collections::BTreeSet;
use std::fs;

use exitgap_chain::{Limits, StateProver};
use exitgap_core::log_folder::{LogFile, ProofName};
use exitgap_core::pools::PoolState;
use exitgap_core::proof::{Reach, StateProof, TickRange, is_drawn};
use exitgap_core::snapshot::Snapshot;
use exitgap_tests::devchain::{FIRST_SLOT, Market, World};
use serde_json::json;

use crate::scenes::chain::scene;
use crate::scenes::operator_at_work::AtWork;
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::service::Service;

/// Number of recorded slots: an hour and two.
const SLOTS: u64 = 14;

/// The draws that follow from the log, by the rule on the format page.
fn drawn(operator: &AtWork) -> BTreeSet<ProofName> {
    let mut drawn = BTreeSet::new();
    for slot in FIRST_SLOT..FIRST_SLOT + SLOTS - 1 {
        let next = operator.snapshots(slot + 1)[0].observation().block().hash;
        for snapshot in operator.snapshots(slot) {
            let contract = snapshot.observation().pool().contract().clone();
            if is_drawn(&contract, next) {
                let (slot, reach) = (snapshot.slot(), Reach::Whole);
                drawn.insert(ProofName { contract, slot, reach });
            }
        }
    }
    drawn
}

fn proofs(operator: &AtWork) -> Vec<ProofName> {
    let name = |file| match file {
        LogFile::Proof(name) => name,
        other => panic!("{other}"),
    };
    operator.published("proofs").into_iter().map(name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_drawn_is_proven_whole_and_published_and_an_auditor_counts_it() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 21).await.unwrap();
    let mut operator = AtWork::new(&chain, &world, &chain.url(), "anvil", true);
    let mut reported = 0;
    for slot in FIRST_SLOT..FIRST_SLOT + SLOTS {
        market.play_slot(slot).await.unwrap();
        let report = operator.record(slot).await;
        assert_eq!(report.drawn.due, report.drawn.proven, "{report:?}");
        reported += report.drawn.due;
    }
    let expected = drawn(&operator);
    assert!(!expected.is_empty(), "seed and length are such that some are drawn");
    let there = proofs(&operator);
    let whole: BTreeSet<ProofName> =
        there.iter().filter(|name| name.reach == Reach::Whole).cloned().collect();
    assert_eq!(whole, expected);
    // The draws of the last slot are published with the next slot.
    assert!(usize::try_from(reported).unwrap() <= expected.len());
    for name in &whole {
        let proof =
            StateProof::from_bytes(&fs::read(operator.log().join(name.to_string())).unwrap());
        assert!(proof.unwrap().subject.is_whole(), "{name}");
    }
    // Every hour, the recorder determines the slots with the lowest depths, and publishes proofs for them, too.
    let figures = there.iter().filter(|name| name.reach == Reach::Figures).count();
    assert!(figures >= world.pools.len(), "{figures}");
    let (code, report) = operator.audit();
    let (due, published) = (expected.len(), there.len());
    assert_eq!((code, &report["verdict"]), (Some(0), &json!("valid")), "{report}");
    let counted = json!({"published": published, "hold": published, "differ": 0, "unusable": 0, "due": due, "present": due});
    assert_eq!(report["proofs"], counted);
    of_a_service(&operator, due);
    damaged(&operator, &expected);
    // Audit, `fsck` and restore ignore them.
    operator.recorder.close().unwrap();
    let fsck = AtWork::program_in(operator.folder.path(), "exitgap-server", &["fsck"]);
    assert!(fsck.status.success(), "{}", String::from_utf8_lossy(&fsck.stderr));
    fs::remove_file(operator.folder.path().join("exitgap.db")).unwrap();
    let restored = AtWork::program_in(operator.folder.path(), "exitgap-server", &["restore"]);
    let said = String::from_utf8_lossy(&restored.stdout).into_owned();
    assert!(
        restored.status.success() && said.contains(&format!("restored {SLOTS} slots")),
        "{said}"
    );
}

/// A client that copies the log from a service fetches the drawn proofs and no other proofs.
fn of_a_service(operator: &AtWork, due: usize) {
    let service = Service::start(operator.folder.path(), &["--no-record"], &[]);
    let url = format!("http://{}", service.address);
    let key = "exitgap-log/verifier-key";
    let (code, report) = operator.exitgap(&["audit", &url, "--copy", "copy", "--trust", key]);
    assert_eq!(code, Some(0), "{report}");
    let counted = json!({"published": due, "hold": due, "differ": 0, "unusable": 0, "due": due, "present": due});
    assert_eq!(report["proofs"], counted);
}

/// A missing proof is counted; a damaged proof or a proof of another slot is rejected.
fn damaged(operator: &AtWork, drawn: &BTreeSet<ProofName>) {
    let name = drawn.first().unwrap();
    let path = operator.log().join(name.to_string());
    let file = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let (code, report) = operator.audit();
    let of = |what: &str| report["proofs"][what].as_u64().unwrap();
    assert_eq!((code, of("due") - of("present")), (Some(0), 1), "{report}");
    let mut broken = file.clone();
    *broken.last_mut().unwrap() ^= 1;
    let earlier = ProofName { reach: Reach::Figures, ..name.clone() };
    let other = operator
        .log()
        .join(ProofName { slot: exitgap_core::series::Slot::FIRST, ..earlier }.to_string());
    for bytes in [broken, fs::read(other).unwrap(), b"nothing".to_vec()] {
        fs::write(&path, bytes).unwrap();
        let (code, report) = operator.audit();
        let (verdict, unusable) = (&report["verdict"], &report["proofs"]["unusable"]);
        assert_eq!(
            (code, verdict, unusable),
            (Some(7), &json!("incomplete"), &json!(1)),
            "{report}"
        );
    }
    fs::write(&path, file).unwrap();
    assert_eq!(operator.audit().0, Some(0), "the control");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_beside_a_log_that_says_otherwise_makes_it_invalid() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 22).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let mut operator = AtWork::new(&chain, &world, &proxy.url(), "anvil", false);
    market.play_slot(FIRST_SLOT).await.unwrap();
    operator.record(FIRST_SLOT).await;
    crate::scenes::chain::pass_slot(&chain, FIRST_SLOT + 1).await;
    let pool = format!("anvil:{:#x}", world.pools[World::FIRST_V2].pool.address).parse().unwrap();
    let reserve = reserve_of(&operator.snapshot(&pool, FIRST_SLOT));
    let (of, other) = (format!("{reserve:064x}"), format!("{:064x}", reserve + 1));
    proxy.lie(move |request, told| {
        let answer = told["result"].as_str().filter(|_| request["method"] == "eth_call")?;
        answer.contains(&of).then(|| Lie::Result(answer.replace(&of, &other).into()))
    });
    operator.record(FIRST_SLOT + 1).await;
    assert!(proxy.fired() > 0);
    proxy.be_honest();
    // The chain proves the states of both slots. It confirms the first snapshot and refutes the second.
    let prover =
        StateProver::new(&operator.checked.plan, &"anvil".parse().unwrap(), Limits::default());
    let prover = prover.unwrap().unwrap();
    for (slot, code, verdict) in [(FIRST_SLOT, 0, "valid"), (FIRST_SLOT + 1, 6, "invalid")] {
        let snapshot = operator.snapshot(&pool, slot);
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
        let file = prover.prove(&snapshot, None, TickRange::ALL, deadline).await.unwrap();
        let contract = pool.contract().clone();
        let name = ProofName { contract, slot: snapshot.slot(), reach: Reach::Figures };
        let folder = exitgap_store::LogFolder::new(operator.log());
        folder.publish_beside(&LogFile::Proof(name), &file).unwrap();
        let (found, report) = operator.audit();
        assert_eq!((found, &report["verdict"]), (Some(code), &json!(verdict)), "{report}");
        if code != 0 {
            assert_eq!(report["fault"]["code"], "state_differs", "{report}");
            assert_eq!(report["fault"]["pool"], pool.to_string());
            assert_eq!(report["proofs"]["differ"], 1);
        }
    }
}

fn reserve_of(snapshot: &Snapshot) -> u128 {
    match snapshot.observation().state() {
        PoolState::ConstantProduct(pair) => pair.reserves()[0],
        other => panic!("{other:?}"),
    }
}
