//! State proofs on request: the service returns a stored proof, or requests one from its nodes while they can still
//! prove the block, once for all clients, and stores it permanently. If this fails, it rejects the request with a
//! specific code.

use std::fs;

use exitgap_core::evidence::Outcome;
use exitgap_core::proof::{StateProof, TickRange, check_state};
use exitgap_core::snapshot::Snapshot;
use exitgap_store::proofs::Proofs;
use exitgap_tests::devchain::{FIRST_SLOT, Market, World};
use serde_json::Value;

use crate::scenes::chain::scene;
use crate::scenes::operator_at_work::AtWork;
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::service::{Answer, Service};

/// The block number in a request for a proof.
fn proof_at(request: &Value) -> Option<u64> {
    let number = request["params"][2].as_str().filter(|_| request["method"] == "eth_getProof")?;
    u64::from_str_radix(number.strip_prefix("0x")?, 16).ok()
}

/// Requires that an answer proves the whole snapshot; returns the proof.
fn holds(answer: &Answer, snapshot: &Snapshot) -> StateProof {
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    let proof = StateProof::from_bytes(&answer.body);
    let checks = check_state(&proof, snapshot, None);
    assert!(checks.iter().all(|check| check.outcome == Outcome::Pass), "{checks:?}");
    proof.unwrap()
}

fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.json()["code"].as_str()), (status, Some(code)), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_that_was_not_kept_is_made_while_the_nodes_prove_it() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 41).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let mut operator = AtWork::new(&chain, &world, &proxy.url(), "anvil", true);
    let last = FIRST_SLOT + 4;
    for slot in FIRST_SLOT..=last {
        market.play_slot(slot).await.unwrap();
        operator.record(slot).await;
    }
    let pool = format!("anvil:{:#x}", world.pools[0].pool.address);
    let pair = format!("anvil:{:#x}", world.pools[World::FIRST_V2].pool.address);
    let snapshot = |pool: &str, slot| operator.snapshot(&pool.parse().unwrap(), slot);
    // A stored proof is returned unchanged; a wider proof is created once for all clients.
    let service = Service::start(operator.folder.path(), &["--no-record"], &[]);
    let at = |pool: &str, slot: u64| format!("/api/v1/proof/{pool}/{slot}");
    let asked = proxy.asked("eth_getProof").len();
    let kept = holds(&service.get(&at(&pool, last)), &snapshot(&pool, last));
    let range = kept.subject.ranges.as_ref().unwrap().range;
    let within = format!("{}?low={}&high={}", at(&pool, last), range.low, range.high);
    assert_eq!(holds(&service.get(&within), &snapshot(&pool, last)), kept);
    assert_eq!(proxy.asked("eth_getProof").len(), asked, "nothing was made for these");
    let beyond = format!("{}?low={}&high={}", at(&pool, last), range.low, range.high + 1);
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..6).map(|_| scope.spawn(|| service.get(&beyond))).collect();
        asking.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let made = proxy.asked("eth_getProof").len() - asked;
    for answer in &answers {
        assert!(holds(answer, &snapshot(&pool, last)).subject.is_whole());
    }
    service.get(&format!(
        "{}?low={}&high={}",
        at(&pool, last),
        TickRange::ALL.low,
        TickRange::ALL.high
    ));
    assert_eq!(proxy.asked("eth_getProof").len() - asked, made, "and nothing is made twice");
    let alone = format!("{}?low={}&high={}", at(&pool, last - 1), range.low - 9, range.high + 1);
    holds(&service.get(&alone), &snapshot(&pool, last - 1));
    let twice = proxy.asked("eth_getProof").len() - asked;
    assert!(twice <= made * 2 + 2, "six who asked took {made} questions, one {}", twice - made);
    for (query, field) in [
        ("?low=5&high=4", "low"),
        ("?low=5", "high"),
        ("?low=x&high=4", "low"),
        ("?low=-887273&high=4", "low"),
    ] {
        let answer = service.get(&(at(&pool, last) + query));
        refused(&answer, 400, "invalid_parameter");
        assert_eq!(answer.json()["field"], field, "{query}");
    }
    refused(&service.get(&at(&pool, last + 1)), 404, "after_series");
    assert_eq!(service.end(), Some(0));
    // A requested proof is published with the next slot.
    let wanted = operator.proofs.as_ref().unwrap().to_publish(9).unwrap();
    assert!(wanted.len() >= 2, "{wanted:?}");
    market.play_slot(last + 1).await.unwrap();
    operator.record(last + 1).await;
    for name in wanted {
        assert!(operator.log().join(name.to_string()).is_file(), "{name}");
    }
    nothing_kept(&operator, &proxy, [&pool, &pair], last);
}

/// A service without stored proofs creates all of them while its node can still prove the blocks.
fn nothing_kept(operator: &AtWork, proxy: &Proxy, [pool, pair]: [&str; 2], last: u64) {
    for file in ["proofs.db", "proofs.db-wal", "proofs.db-shm"] {
        let _ = fs::remove_file(operator.path(file));
    }
    let service = Service::start(operator.folder.path(), &["--no-record"], &[]);
    let at = |pool: &str, slot: u64| format!("/api/v1/proof/{pool}/{slot}");
    let snapshot = |pool: &str, slot| operator.snapshot(&pool.parse().unwrap(), slot);
    holds(&service.get(&at(pair, last)), &snapshot(pair, last));
    let reopened = Proofs::open(&operator.path("proofs.db")).unwrap();
    assert_eq!(reopened.to_publish(9).unwrap().len(), 1, "and kept for ever");
    // A node that prunes, one without the method, and one whose answers are not proofs.
    let newest = snapshot(pool, last).observation().block().number;
    proxy.lie(move |request, _| {
        let is_old = proof_at(request)? <= newest;
        is_old
            .then_some(Lie::Error(-32_000, "distance to target block exceeds maximum proof window"))
    });
    refused(&service.get(&at(pool, last)), 404, "proof_out_of_reach");
    assert!(proxy.fired() > 0);
    proxy.lie(|request, _| {
        proof_at(request).map(|_| Lie::Error(-32_601, "the method eth_getProof does not exist"))
    });
    refused(&service.get(&at(pool, last - 1)), 404, "proofs_not_served");
    assert!(proxy.fired() > 0);
    proxy.lie(|request, told| {
        proof_at(request)?;
        let mut told = told["result"].clone();
        told["accountProof"].as_array_mut()?.pop();
        Some(Lie::Result(told))
    });
    refused(&service.get(&at(pool, last - 2)), 502, "chain_unreadable");
    assert!(proxy.fired() > 0);
    // For a while, the rejection is repeated without a request to the node.
    proxy.be_honest();
    let served = proxy.served();
    refused(&service.get(&at(pool, last)), 404, "proof_out_of_reach");
    assert_eq!(proxy.served(), served);
    holds(&service.get(&at(pool, last - 3)), &snapshot(pool, last - 3));
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contract_of_no_known_layout_is_refused_by_that_name() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 42).await.unwrap();
    // Without a factory, the storage layout of the contract is unknown.
    let operator = AtWork::new(&chain, &world, &chain.url(), "anvil", false);
    let text = fs::read_to_string(operator.path("exitgap.toml")).unwrap();
    let (before, rest) = text.split_once("[[chain.factory]]").unwrap();
    let rest = &rest[rest.find("[[oracle]]").unwrap()..];
    fs::write(operator.path("exitgap.toml"), format!("{before}{rest}")).unwrap();
    operator.recorder.close().unwrap();
    fs::remove_file(operator.folder.path().join("exitgap.db")).unwrap();
    let mut operator = AtWork::in_folder(operator.folder, "exitgap.toml");
    market.play_slot(FIRST_SLOT).await.unwrap();
    operator.record(FIRST_SLOT).await;
    let service = Service::start(operator.folder.path(), &["--no-record"], &[]);
    let pair = format!("anvil:{:#x}", world.pools[World::FIRST_V2].pool.address);
    let answer = service.get(&format!("/api/v1/proof/{pair}/{FIRST_SLOT}"));
    refused(&answer, 404, "unsupported_layout");
}
