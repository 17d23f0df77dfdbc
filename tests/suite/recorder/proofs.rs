//! The recorder proves every snapshot with the chain's own state before signing it, rejects a lying node, and counts
//! nodes without proofs.

use std::sync::Arc;
use std::time::Duration;

use exitgap_chain::Unproven;
use exitgap_chain::config::{Config, Factory, FactoryKind, Plan};
use exitgap_core::evidence::Outcome;
use exitgap_core::ids::Address;
use exitgap_core::log_folder::ProofName;
use exitgap_core::pools::PoolState;
use exitgap_core::proof::{Reach, StateProof, check_state};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;
use exitgap_server::recorder::{Recorder, SlotReport, Source};
use exitgap_store::proofs::Proofs;
use exitgap_store::{Reader, Store};
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market, World};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scenes::chain::{scene, small_limits, world_config};
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::store::key;

const SEAL_AFTER: Duration = Duration::from_mins(1);

/// A v3 pool and a v2 pair, known by their factories, with these nodes.
async fn config_of(chain: &DevChain, world: &World, urls: &[String]) -> Config {
    let mut config = world_config(chain, world, urls, [0, World::FIRST_V2]).await;
    let contracts = &chain.contracts;
    let made = [
        (contracts.v2_factory, FactoryKind::UniswapV2),
        (contracts.v3_factory, FactoryKind::UniswapV3),
    ];
    for (address, kind) in made {
        let address = Address(address.0.0);
        config.chain[0].factory.push(Factory { address, kind, fee_modules: Vec::new() });
    }
    config
}

/// A recorder with its own store and the proofs next to it.
struct Recording {
    folder: TempDir,
    proofs: Arc<Proofs>,
    recorder: Recorder<exitgap_chain::ChainReader>,
}

impl Recording {
    fn new(config: &Config) -> Self {
        let plan = Plan::new(config).unwrap();
        let folder = TempDir::new().unwrap();
        let store = Store::create(folder.path().join("series.db"), &key()).unwrap();
        let sources = Source::of_plan(&plan, &small_limits());
        let proofs = Arc::new(Proofs::open(&folder.path().join("proofs.db")).unwrap());
        let mut recorder = Recorder::new(store, sources, SEAL_AFTER);
        recorder.prove_states(Some(proofs.clone()));
        Self { folder, proofs, recorder }
    }

    async fn record(&mut self, slot: u64) -> SlotReport {
        self.recorder.record_slot(Slot::new(slot).unwrap()).await.unwrap()
    }

    /// The recorded snapshots of all pools at a slot.
    fn snapshots(&self, slot: u64) -> Vec<Snapshot> {
        let reader = Reader::open(self.folder.path().join("series.db")).unwrap();
        let at = Slot::new(slot).unwrap();
        let of = |pool| reader.snapshot_at(pool, at).unwrap();
        reader.pools().unwrap().iter().filter_map(of).collect()
    }
}

/// Requires that the stored proofs of a slot prove the recorded snapshots; returns how many do.
fn proven(recording: &Recording, slot: u64) -> usize {
    let snapshots = recording.snapshots(slot);
    for snapshot in &snapshots {
        let contract = snapshot.observation().pool().contract();
        let (contract, slot) = (contract.clone(), snapshot.slot());
        let name = ProofName { contract, slot, reach: Reach::Figures };
        let file = recording.proofs.file(&name).unwrap().unwrap();
        let checks = check_state(&StateProof::from_bytes(&file), snapshot, None);
        assert!(checks.iter().all(|check| check.outcome == Outcome::Pass), "{checks:?}");
    }
    snapshots.len()
}

#[tokio::test]
async fn what_is_recorded_was_proven_first_and_its_proofs_are_kept() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    let config = config_of(&chain, &world, &[chain.url()]).await;
    let mut recording = Recording::new(&config);
    let mut drawn = 0;
    for slot in FIRST_SLOT..FIRST_SLOT + 6 {
        market.play_slot(slot).await.unwrap();
        let report = recording.record(slot).await;
        assert_eq!((report.recorded, report.proven, report.oracles_proven), (2, 2, 2));
        drawn += u64::from(report.drawn.proven);
        assert!(report.unproven.is_empty(), "{report:?}");
        assert_eq!(proven(&recording, slot), 2);
    }
    let kept = recording.proofs.kept().unwrap();
    // The proofs of whole pools that the block hashes drew are stored next to them.
    assert_eq!(kept.proofs, 12 + drawn);
}

/// A number as a word in an answer.
fn word(number: impl std::fmt::LowerHex) -> String {
    format!("{number:064x}")
}

/// Replaces a word in every answer of a call that contains it.
fn instead(of: String, other: String) -> impl Fn(&Value, &Value) -> Option<Lie> {
    assert_ne!(of, other);
    move |request, told| {
        let answer = told["result"].as_str().filter(|_| request["method"] == "eth_call")?;
        answer.contains(&of).then(|| Lie::Result(answer.replace(&of, &other).into()))
    }
}

#[tokio::test]
async fn a_node_that_lies_about_what_it_is_asked_is_not_believed() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 5).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let config = config_of(&chain, &world, &[proxy.url()]).await;
    let mut recording = Recording::new(&config);
    market.play_slot(FIRST_SLOT).await.unwrap();
    assert_eq!(recording.record(FIRST_SLOT).await.proven, 2, "the control");
    let honest = recording.snapshots(FIRST_SLOT);
    let (mut price, mut reserve) = (String::new(), 0);
    for snapshot in &honest {
        match snapshot.observation().state() {
            PoolState::Concentrated(pool) => {
                price = format!("{:064x}", pool.ranges().sqrt_price_x96());
            }
            PoolState::ConstantProduct(pair) => reserve = pair.reserves()[0],
            _ => {}
        }
    }
    let mut dearer = price.clone();
    let last = if dearer.ends_with('1') { "2" } else { "1" };
    dearer.replace_range(63.., last);
    let answer = honest[0].observation().oracles()[0].answer;
    let one = exitgap_core::U256::from(1_u8);
    // The state does not change between the slots, so the number of each lie really occurs.
    let lies: [(&str, String, String, u32); 3] = [
        ("the price of a v3 pool", price, dearer, 1),
        ("a reserve of a v2 pair", word(reserve), word(reserve + 1), 1),
        ("an oracle's answer", word(answer), word(answer + one), 2),
    ];
    for (at, (what, of, other, missing)) in (FIRST_SLOT + 1..).zip(lies) {
        crate::scenes::chain::pass_slot(&chain, at).await;
        proxy.lie(instead(of, other));
        let report = recording.record(at).await;
        assert!(proxy.fired() > 0, "{what}");
        let found = report.missing.get(&MissingReason::RpcResponseInvalid).copied();
        assert_eq!(found, Some(missing), "{what}: {report:?}");
        assert_eq!(report.recorded + missing, 2, "{what}");
        assert_eq!(proven(&recording, at), usize::try_from(report.recorded).unwrap());
        proxy.be_honest();
    }
    // Control: without proving, the recorder signs the same lie.
    let mut trusting = Recording::new(&config);
    trusting.recorder = {
        let plan = Plan::new(&config).unwrap();
        let store = Store::create(trusting.folder.path().join("other.db"), &key()).unwrap();
        Recorder::new(store, Source::of_plan(&plan, &small_limits()), SEAL_AFTER)
    };
    proxy.lie(instead(word(reserve), word(reserve + 1)));
    let at = FIRST_SLOT + 4;
    crate::scenes::chain::pass_slot(&chain, at).await;
    let report = trusting.record(at).await;
    assert!(proxy.fired() > 0);
    assert_eq!((report.recorded, report.proven), (2, 0), "{report:?}");
}

#[tokio::test]
async fn a_node_that_proves_nothing_or_nonsense_is_told_apart() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 6).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let config = config_of(&chain, &world, &[proxy.url()]).await;
    let mut recording = Recording::new(&config);
    let is_proof = |request: &Value| request["method"] == "eth_getProof";
    market.play_slot(FIRST_SLOT).await.unwrap();
    proxy.lie(move |request, _| {
        is_proof(request).then_some(Lie::Error(-32_601, "the method eth_getProof does not exist"))
    });
    let report = recording.record(FIRST_SLOT).await;
    assert!(proxy.fired() > 0);
    assert_eq!((report.recorded, report.proven), (2, 0));
    assert_eq!(report.unproven.get(&Unproven::NotServed), Some(&2), "{report:?}");
    // An answer of a different shape, as a few chains have, is not accepted as a proof.
    market.play_slot(FIRST_SLOT + 1).await.unwrap();
    proxy.lie(move |request, _| is_proof(request).then(|| Lie::Result(json!({"storageProof": 7}))));
    let report = recording.record(FIRST_SLOT + 1).await;
    assert_eq!(report.unproven.get(&Unproven::NotServed), Some(&2), "{report:?}");
    // Trie nodes that do not lead from the block's hash to the state are a lie.
    market.play_slot(FIRST_SLOT + 2).await.unwrap();
    proxy.lie(move |request, told| {
        is_proof(request).then(|| {
            let mut told = told["result"].clone();
            for entry in told["storageProof"].as_array_mut().unwrap() {
                entry["proof"].as_array_mut().unwrap().pop();
            }
            Lie::Result(told)
        })
    });
    let report = recording.record(FIRST_SLOT + 2).await;
    assert_eq!(report.missing.get(&MissingReason::RpcResponseInvalid), Some(&2), "{report:?}");
    // With honest answers, proving works again.
    market.play_slot(FIRST_SLOT + 3).await.unwrap();
    proxy.be_honest();
    assert_eq!(recording.record(FIRST_SLOT + 3).await.proven, 2);
    assert_eq!(recording.proofs.kept().unwrap().proofs, 2);
}
