//! Retracted slots: the recorder finds them after a reorganization, heads contain them, and all figures skip them.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use exitgap_chain::config::Plan;
use exitgap_core::ids::{BlockHash, PoolId};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::{
    Changes, LogFolder, NewRetraction, NewRetractionCause, Outcome, Reader, RetractionRule, Store,
    StoreError, Suspicion, TakenBack,
};
use exitgap_tests::binaries;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market, Rng};
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::chain::{scene, small_limits, world_config};
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::store::{BusyPool, key, slot, store_in};
use crate::store::figures::check_rollups;
use crate::store::folder::audit;

/// The final chain's block, for these tests.
const CANONICAL: BlockHash = BlockHash([0xee; 32]);

fn taking_back(pool: &BusyPool, slots: &[u32]) -> Changes {
    let retraction = |n: &u32| NewRetraction::for_orphan(pool.id.clone(), slot(*n), CANONICAL);
    Changes { retractions: slots.iter().map(retraction).collect(), ..Changes::default() }
}

/// The result of `exitgap estimate` from the store, and its exit code.
fn estimate(path: &Path, pool: &PoolId, at: Option<Slot>) -> (Option<i32>, String) {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(["estimate", &pool.to_string(), "--size-usd", "1", "--json", "--db"]).arg(path);
    if let Some(at) = at {
        command.args(["--at", &at.to_string()]);
    }
    let output = command.output().unwrap();
    let words = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(words).unwrap())
}

/// Publishes the store, audits it, and restores it from the slots: all three must agree.
fn publish_audit_restore(path: &Path, retracted: u64) {
    let home = TempDir::new().unwrap();
    let folder = LogFolder::new(home.path().join("log"));
    let reader = Reader::open(path).unwrap();
    folder.publish(&reader).unwrap();
    let report = audit(folder.path(), path);
    assert_eq!(report["verdict"], "valid", "{report}");
    assert_eq!(report["retracted"], retracted);
    let checked = reader.fsck(|_| {}).unwrap();
    assert_eq!(checked.retractions, retracted);
    let mut restored = Store::create(store_in(home.path(), "restored.db"), &key()).unwrap();
    folder.restore(&mut restored, |_, _| {}).unwrap();
    assert_eq!(restored.reader().fsck(|_| {}).unwrap(), checked);
    let size = reader.log_size().unwrap();
    assert_eq!(restored.reader().checkpoint(size).unwrap(), reader.checkpoint(size).unwrap());
    for (ours, theirs) in reader.board().unwrap().iter().zip(restored.reader().board().unwrap()) {
        assert_eq!(ours.standing, theirs.standing);
    }
}

#[test]
fn retracted_slots_are_told_by_heads_and_skipped_by_every_figure() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    let mut pools: Vec<_> = (1..=2).map(|number| BusyPool::new(number, 10)).collect();
    let mut rng = Rng::new(3);
    let (mut taken_back, mut newest_taken_back) = (0, 0);
    for n in 0..620_u32 {
        // Retracts some earlier slots, also across midnight, in heads of recorded and missing slots.
        let mut changes = Changes::default();
        if n % 5 == 4 {
            let reader = store.reader();
            let stored = reader.pool(&pools[0].id).unwrap().unwrap();
            let mut wanted: Vec<u32> = (0..rng.below(4))
                .filter_map(|_| n.checked_sub(1 + u32::try_from(rng.below(288)).unwrap()))
                .chain([n - 1])
                .filter(|n| reader.block_of(&stored, slot(*n)).unwrap().is_some())
                .filter(|n| reader.retraction_of(&stored, slot(*n)).unwrap().is_none())
                .collect();
            wanted.sort_unstable_by(|a, b| b.cmp(a));
            wanted.dedup();
            changes = taking_back(&pools[0], &wanted);
            newest_taken_back += usize::from(wanted.first() == Some(&(n - 1)));
        }
        taken_back += changes.retractions.len();
        let first = match n % 7 {
            2 => pools[0].missing(MissingReason::ChainLagging),
            _ => pools[0].recorded(slot(n)),
        };
        let entries = [first, pools[1].recorded(slot(n))];
        let written = store.append_slot_with(slot(n), &entries, &changes).unwrap();
        assert!(written.written);
        // Repeating the same slot is accepted; with other retractions it is rejected.
        assert!(!store.append_slot_with(slot(n), &entries, &changes).unwrap().written);
        if !changes.retractions.is_empty() {
            let refused = store.append_slot(slot(n), &entries).unwrap_err();
            assert!(matches!(refused, StoreError::ChangesDiffer { .. }), "{refused}");
        }
        if n % 90 == 89 {
            drop(store);
            store = Store::open(&path, &key()).unwrap();
            check_rollups(store.reader());
        }
    }
    assert!(taken_back > 150 && newest_taken_back > 80, "{taken_back} {newest_taken_back}");
    let reader = Reader::open(&path).unwrap();
    check_rollups(&reader);
    let stored = reader.pool(&pools[0].id).unwrap().unwrap();
    let figures = reader.figures(&stored, Slot::FIRST, Slot::LAST, 1_000).unwrap().entries;
    let standing: Vec<_> =
        figures.iter().filter(|row| row.snapshot.is_some() && row.retraction.is_none()).collect();
    let last = figures.last().unwrap();
    assert_eq!(last.entry.recorded_count as usize, standing.len());
    for token in 0..2 {
        let depth = |row: &&exitgap_store::Figures| {
            (row.snapshot.unwrap().directions[token].depth_usd.unwrap(), row.entry.slot)
        };
        let lowest = standing.iter().map(depth).min();
        assert_eq!(last.window.directions[token].lowest, lowest.map(|(depth, slot)| (slot, depth)));
    }
    let (retracted, how) =
        figures.iter().find_map(|row| Some((row.entry.slot, row.retraction?))).unwrap();
    let orphaned = reader.block_of(&stored, retracted).unwrap().unwrap().hash;
    assert_eq!(how.why, TakenBack::Orphaned { orphaned, canonical: CANONICAL });
    assert_eq!(reader.retraction_of(&stored, retracted).unwrap(), Some(how));
    // A request for the retracted slot is rejected; without a time, the newest valid slot answers.
    let (code, words) = estimate(&path, &stored.id, Some(retracted));
    assert_eq!(code, Some(4), "{words}");
    assert!(words.contains("was retracted at") && words.contains("\"slot_retracted\""), "{words}");
    let (code, words) = estimate(&path, &stored.id, None);
    assert_eq!(code, Some(0), "{words}");
    let window = reader.window(&stored.id, slot(619)).unwrap();
    assert_eq!(window.heads().len(), 620);
    publish_audit_restore(&path, taken_back as u64);
}

#[test]
fn what_cannot_be_taken_back_is_refused_by_name() {
    let folder = TempDir::new().unwrap();
    let mut store = Store::create(store_in(folder.path(), "series.db"), &key()).unwrap();
    let mut pool = BusyPool::new(1, 5);
    for n in 0..300 {
        let entry = match n {
            290 => pool.missing(MissingReason::ChainLagging),
            _ => pool.recorded(slot(n)),
        };
        store.append_slot(slot(n), &[entry]).unwrap();
    }
    let last = pool.recorded(slot(300));
    store.append_slot_with(slot(300), &[last], &taking_back(&pool, &[12, 299])).unwrap();
    let next = pool.recorded(slot(301));
    let mut refused = |changes: &Changes| match store
        .append_slot_with(slot(301), std::slice::from_ref(&next), changes)
        .unwrap_err()
    {
        StoreError::Retraction { by, rule, .. } if by == slot(301) => rule,
        other => panic!("{other}"),
    };
    assert_eq!(refused(&taking_back(&pool, &[290])), RetractionRule::NotRecorded);
    assert_eq!(refused(&taking_back(&pool, &[299])), RetractionRule::Twice);
    assert_eq!(refused(&taking_back(&pool, &[298, 298])), RetractionRule::Twice);
    assert_eq!(refused(&taking_back(&pool, &[12])), RetractionRule::TooFar);
    assert_eq!(refused(&taking_back(&pool, &[301])), RetractionRule::TooFar);
    assert_eq!(refused(&taking_back(&pool, &[302])), RetractionRule::TooFar);
    let stranger = BusyPool::new(9, 1);
    assert_eq!(refused(&taking_back(&stranger, &[298])), RetractionRule::UnknownPool);
    let mut same = taking_back(&pool, &[298]);
    let stored = store.reader().pools().unwrap().remove(0);
    let canonical = store.reader().block_of(&stored, slot(298)).unwrap().unwrap().hash;
    same.retractions[0].cause = NewRetractionCause::Orphaned { canonical };
    let refused =
        store.append_slot_with(slot(301), std::slice::from_ref(&next), &same).unwrap_err();
    let rule = matches!(refused, StoreError::Retraction { rule: RetractionRule::SameBlock, .. });
    assert!(rule, "{refused}");
    // The rejected slot was not written. The oldest allowed retraction is accepted.
    assert_eq!(store.reader().slots().unwrap().unwrap().1, slot(300));
    store.append_slot_with(slot(301), &[next], &taking_back(&pool, &[13])).unwrap();
    store.reader().fsck(|_| {}).unwrap();
}

/// When the recorder restarts while it looks for orphaned slots.
#[derive(Clone, Copy, PartialEq)]
enum Restarted {
    Never,
    /// After the first check found the orphaned slots.
    Once,
    /// After every slot.
    Always,
}

/// Orphans the blocks of two recorded slots. The recorder, possibly restarted, finds them when they are final, checks
/// again one slot later (or at once with a second node), and the next head retracts them.
async fn orphan_two_slots(restarted: Restarted, second: bool) {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    let mut config = world_config(&chain, &world, &[chain.url()], [0, 6]).await;
    // Slot 1 is not final yet when the chain is reorganized.
    config.chain[0].confirmations = Some(4);
    let other = Proxy::start(&chain.url());
    config.chain[0].second_rpc_url = second.then(|| other.url().parse().unwrap());
    let plan = Plan::new(&config).unwrap();
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let at = |n: u64| Slot::new(FIRST_SLOT + n).unwrap();
    let recorder = |store: Store| {
        let sources = Source::of_plan(&plan, &small_limits());
        Recorder::new(store, sources, Duration::from_mins(1))
    };
    let mut running = recorder(Store::create(&path, &key()).unwrap());
    for n in 0..3 {
        market.play_slot(FIRST_SLOT + n).await.unwrap();
        let report = running.record_slot(at(n)).await.unwrap();
        assert_eq!((report.recorded, report.retracted), (2, 0), "{report:?}");
    }
    // The market creates three blocks per slot; the second is the slot's.
    let read_at = |n| {
        let reader = Reader::open(&path).unwrap();
        let pool = reader.pools().unwrap().remove(0);
        reader.block_of(&pool, at(n)).unwrap().unwrap()
    };
    let before = [read_at(0), read_at(1), read_at(2)];
    chain.reorg(5).await.unwrap();
    let mut now = Vec::new();
    for block in before {
        now.push(chain.block(block.number.into()).await.unwrap().unwrap().hash.0);
    }
    let stays = [0, 1, 2].map(|n| before[n].hash.0 == now[n]);
    assert_eq!(stays, [true, false, false], "the blocks of two slots are orphaned");

    // Found after slot 3, and with only one node confirmed after slot 4.
    let told_by = if second { 4 } else { 5 };
    for n in 3..7 {
        mine_slot(&chain, at(n)).await;
        if restarted == Restarted::Always || (restarted == Restarted::Once && n == 4) {
            drop(running);
            running = recorder(Store::open(&path, &key()).unwrap());
        }
        let report = running.record_slot(at(n)).await.unwrap();
        let expected = if n == told_by { 4 } else { 0 };
        assert_eq!((report.recorded, report.retracted), (2, expected), "at {n}: {report:?}");
    }
    assert_eq!(other.served() > 0, second);
    let reader = Reader::open(&path).unwrap();
    for pool in reader.pools().unwrap() {
        for n in 0..7 {
            let retraction = reader.retraction_of(&pool, at(n)).unwrap();
            assert_eq!(retraction.is_some(), n == 1 || n == 2);
            if let Some(retraction) = retraction {
                let place = usize::try_from(n).unwrap();
                assert_eq!(retraction.by, at(told_by));
                let (orphaned, canonical) = (before[place].hash, BlockHash(now[place]));
                assert_eq!(retraction.why, TakenBack::Orphaned { orphaned, canonical });
            }
        }
        let latest = reader.latest(&pool, Some(at(2))).unwrap().unwrap();
        assert!(matches!(latest.entry.outcome, Outcome::Recorded(_)));
        assert_eq!(latest.snapshot.map(|(slot, _)| slot), Some(at(0)));
        assert_eq!((latest.newer_missing, latest.newer_retracted), (0, 2));
        assert_eq!(reader.recorded_count(&pool, None).unwrap(), 5);
    }
    check_rollups(&reader);
    publish_audit_restore(&path, 4);
}

/// Four empty blocks: three before the slot's instant, one after.
async fn mine_slot(chain: &DevChain, slot: Slot) {
    for before in [90, 60, 30] {
        chain.mine(slot.unix_s() - before, &[]).await.unwrap();
    }
    chain.mine(slot.unix_s() + 5, &[]).await.unwrap();
}

#[tokio::test]
async fn orphaned_blocks_become_retractions() {
    orphan_two_slots(Restarted::Never, false).await;
}

#[tokio::test]
async fn a_restarted_recorder_finds_them_too() {
    orphan_two_slots(Restarted::Once, false).await;
}

#[tokio::test]
async fn a_recorder_that_ends_after_every_slot_finds_them_too() {
    orphan_two_slots(Restarted::Always, false).await;
}

#[tokio::test]
async fn a_second_node_that_says_the_same_saves_the_second_asking() {
    orphan_two_slots(Restarted::Never, true).await;
}

/// A node that temporarily reports other blocks than the chain's causes no retraction.
#[tokio::test]
async fn what_a_node_says_once_takes_nothing_back() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 3).await.unwrap();
    let proxy = Proxy::start(&chain.url());
    let mut config = world_config(&chain, &world, &[proxy.url()], [0, 6]).await;
    config.chain[0].confirmations = Some(4);
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let at = |n: u64| Slot::new(FIRST_SLOT + n).unwrap();
    let sources = Source::of_plan(&Plan::new(&config).unwrap(), &small_limits());
    let store = Store::create(&path, &key()).unwrap();
    let mut recorder = Recorder::new(store, sources, Duration::from_mins(1));
    let mut first = None;
    for n in 0..7 {
        market.play_slot(FIRST_SLOT + n).await.unwrap();
        if n == 1 {
            let reader = Reader::open(&path).unwrap();
            let pool = reader.pools().unwrap().remove(0);
            let number = reader.block_of(&pool, at(0)).unwrap().unwrap().number;
            first = Some(number);
            proxy.lie(move |request, truth| other_history(request, truth, number));
        }
        let report = recorder.record_slot(at(n)).await.unwrap();
        assert_eq!((report.recorded, report.retracted), (2, 0), "at {n}: {report:?}");
        let suspected = Reader::open(&path).unwrap().suspicions().unwrap();
        let fired = proxy.fired();
        match n {
            // The slot is final, and the node reports another block.
            2 => {
                assert!(fired > 0);
                let of = |suspicion: &Suspicion| (suspicion.slot, suspicion.confirmed);
                assert_eq!(suspected.iter().map(of).collect::<Vec<_>>(), [(at(0), false); 2]);
                proxy.be_honest();
            }
            3.. => assert!(suspected.is_empty(), "{suspected:?}"),
            _ => {}
        }
    }
    assert!(first.is_some());
    assert_eq!(Reader::open(&path).unwrap().fsck(|_| {}).unwrap().retractions, 0);
}

/// An invented block in place of this one, and a successor that names it as its parent. Both have an unknown field, so
/// that their hashes cannot be checked.
fn other_history(request: &Value, truth: &Value, number: u64) -> Option<Lie> {
    let other = "0x2222222222222222222222222222222222222222222222222222222222222222";
    if request["method"] != "eth_getBlockByNumber" {
        return None;
    }
    let mut block = truth["result"].clone();
    block["futureRoot"] = "0x00".into();
    if request["params"][0] == format!("{number:#x}") {
        block["hash"] = other.into();
    } else if request["params"][0] == format!("{:#x}", number + 1) {
        block["parentHash"] = other.into();
    } else {
        return None;
    }
    Some(Lie::Result(block))
}
