//! The recorder with the development chain: real contracts, in step with a simulated market.

use std::time::Duration;

use exitgap_chain::config::Plan;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::{Outcome, Reader, Store};
use exitgap_tests::devchain::{FIRST_SLOT, Market};
use tempfile::TempDir;

use crate::scenes::chain::{read, reader, scene, small_limits, snapshots, world_config};
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::store::{key, store_in};

const SEAL_AFTER: Duration = Duration::from_mins(1);

#[tokio::test]
async fn what_is_recorded_is_what_the_contracts_were_at_each_slot() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    let config = world_config(&chain, &world, &[chain.url()], 0..world.pools.len()).await;
    let plan = Plan::new(&config).unwrap();
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let sources = Source::of_plan(&plan, &small_limits());
    let mut recorder = Recorder::new(Store::create(&path, &key()).unwrap(), sources, SEAL_AFTER);
    let slots = FIRST_SLOT..FIRST_SLOT + 12;
    for slot in slots.clone() {
        market.play_slot(slot).await.unwrap();
        let report = recorder.record_slot(Slot::new(slot).unwrap()).await.unwrap();
        assert_eq!(report.recorded as usize, world.pools.len(), "{report:?}");
    }
    // A fresh reader reads the same from the chain's history.
    let store = Reader::open(&path).unwrap();
    assert_eq!(store.pools().unwrap().len(), world.pools.len());
    for slot in slots.step_by(5) {
        for snapshot in snapshots(read(&mut reader(&config, small_limits()), slot).await) {
            let pool = store.pool(snapshot.observation().pool()).unwrap().unwrap();
            assert_eq!(store.snapshot_at(&pool, snapshot.slot()).unwrap(), Some(snapshot));
        }
    }
}

#[tokio::test]
async fn a_node_that_goes_down_leaves_missing_slots_with_their_reason() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 4).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let config = world_config(&chain, &world, &[proxy.url()], [0, 6]).await;
    let plan = Plan::new(&config).unwrap();
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let sources = Source::of_plan(&plan, &small_limits());
    let mut recorder = Recorder::new(Store::create(&path, &key()).unwrap(), sources, SEAL_AFTER);
    for n in 0..5 {
        market.play_slot(FIRST_SLOT + n).await.unwrap();
        match n {
            1 => proxy.lie(|_, _| Some(Lie::Status(503))),
            2 => proxy.lie(|_, _| Some(Lie::Status(429))),
            _ => proxy.be_honest(),
        }
        recorder.record_slot(Slot::new(FIRST_SLOT + n).unwrap()).await.unwrap();
        assert!(proxy.fired() > 0 || !(n == 1 || n == 2), "the node failed at slot {n}");
    }
    let store = Reader::open(&path).unwrap();
    for pool in store.pools().unwrap() {
        let page = store.entries(&pool, Slot::FIRST, Slot::LAST, 5).unwrap();
        let outcomes: Vec<_> = page.entries.iter().map(|entry| entry.outcome).collect();
        assert_eq!(
            outcomes[1..3],
            [MissingReason::RpcUnavailable, MissingReason::RpcRateLimited].map(Outcome::Missing)
        );
        let recorded = |outcome: &Outcome| matches!(outcome, Outcome::Recorded(_));
        assert!([0, 3, 4].iter().all(|n| recorded(&outcomes[*n])), "{outcomes:?}");
        assert_eq!(store.recorded_count(&pool, None).unwrap(), 3);
    }
}
