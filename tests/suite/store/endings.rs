//! Permanent endings: a pool that retires, and a log whose data is lost and that has a successor.

use std::fs;
use std::time::Duration;

use exitgap_chain::ChainReader;
use exitgap_core::evidence::{Base, HeadEntry, Predecessor};
use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_core::tlog::SignerKey;
use exitgap_server::recorder::{Recorder, RecorderError, Source};
use exitgap_store::{
    Changes, EvidenceError, LogFolder, NewEntry, Outcome, PublishError, Reader, Store, StoreError,
    SuccessorError,
};
use tempfile::TempDir;

use crate::scenes::operator::{config, server, write_key};
use crate::scenes::store::{BusyPool, key, slot, store_in};
use crate::store::figures::check_rollups;
use crate::store::folder::audit;
use crate::store::sealing::sealed_store;

fn retiring(pool: &PoolId) -> Changes {
    Changes { retirements: vec![pool.clone()], ..Changes::default() }
}

#[test]
fn a_retired_pool_has_a_last_head_and_never_another() {
    let home = TempDir::new().unwrap();
    let path = store_in(home.path(), "series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    let mut pools: Vec<_> = (1..=3).map(|number| BusyPool::new(number, 5)).collect();
    for n in 0..6 {
        let entries: Vec<_> = pools.iter_mut().map(|pool| pool.recorded(slot(n))).collect();
        store.append_slot(slot(n), &entries).unwrap();
    }
    let [first, second, third] = &mut pools[..] else { unreachable!() };
    // These requests are rejected without writing anything.
    let mut rest: Vec<NewEntry> = vec![first.recorded(slot(6)), third.recorded(slot(6))];
    let stranger = BusyPool::new(9, 1);
    let refused = |store: &mut Store, entries: &[NewEntry], pool: &BusyPool| {
        store.append_slot_with(slot(6), entries, &retiring(&pool.id)).unwrap_err()
    };
    for (pool, word) in [(&stranger, "not in the store"), (&*third, "another entry")] {
        let error = refused(&mut store, &rest, pool);
        assert!(matches!(error, StoreError::Retirement { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
    let error = store.append_slot(slot(6), &rest).unwrap_err();
    assert!(matches!(error, StoreError::PoolWithoutEntry { .. }), "{error}");
    let error = refused(&mut store, &[], second);
    assert!(matches!(error, StoreError::NoEntries { .. }), "{error}");
    assert_eq!(store.reader().slots().unwrap().unwrap().1, slot(5));

    // In the same slot, a block of the retired pool turns out to be orphaned.
    let mut changes = retiring(&second.id);
    let canonical = exitgap_core::ids::BlockHash([0xee; 32]);
    let retraction =
        exitgap_store::NewRetraction::for_orphan(second.id.clone(), slot(4), canonical);
    changes.retractions.push(retraction);
    store.append_slot_with(slot(6), &rest, &changes).unwrap();
    assert!(!store.append_slot_with(slot(6), &rest, &changes).unwrap().written);
    let error = store.append_slot(slot(6), &rest).unwrap_err();
    assert!(matches!(error, StoreError::ChangesDiffer { .. }), "{error}");
    // The retirement is final: a later entry, retirement or retraction is rejected.
    rest = vec![first.recorded(slot(7)), third.recorded(slot(7))];
    let retired = |error: StoreError| matches!(&error, StoreError::PoolRetired { retired, .. } if *retired == slot(6));
    let mut with = rest.clone();
    with.push(second.recorded(slot(7)));
    assert!(retired(store.append_slot(slot(7), &with).unwrap_err()));
    assert!(retired(store.append_slot_with(slot(7), &rest, &retiring(&second.id)).unwrap_err()));
    changes.retirements.clear();
    changes.retractions[0].slot = slot(5);
    assert!(retired(store.append_slot_with(slot(7), &rest, &changes).unwrap_err()));
    store.append_slot(slot(7), &rest).unwrap();
    store.fill_until(slot(10)).unwrap();

    let reader = store.reader();
    let stored = reader.pool(&second.id).unwrap().unwrap();
    assert_eq!(stored.retired_slot, Some(slot(6)));
    let heads = reader.heads(&stored, Slot::FIRST, Slot::LAST).unwrap();
    assert_eq!(heads.len(), 7);
    assert_eq!((&heads[6].head.entry, heads[6].head.recorded_count), (&HeadEntry::Retired, 5));
    for (n, pools) in [(5, 3), (6, 3), (7, 2), (9, 2)] {
        assert_eq!(reader.leaf(slot(n)).unwrap().unwrap().leaf.pools, pools);
    }
    let latest = reader.latest(&stored, None).unwrap().unwrap();
    assert_eq!(latest.entry.outcome, Outcome::Retired);
    assert_eq!(latest.snapshot.map(|(slot, _)| slot), Some(slot(5)));
    assert_eq!((latest.newer_missing, latest.newer_retracted), (0, 0));
    let size = "100".parse().unwrap();
    let error = reader.evidence(&second.id, Base::Token0, slot(6), size).unwrap_err();
    assert!(matches!(error, EvidenceError::Retired { .. }), "{error}");
    assert_eq!(reader.window(&second.id, slot(6)).unwrap().heads().len(), 7);
    check_rollups(reader);
    let checked = reader.fsck(|_| {}).unwrap();
    assert_eq!((checked.retirements, checked.retractions), (1, 1));

    let folder = LogFolder::new(home.path().join("log"));
    folder.publish(reader).unwrap();
    let report = audit(folder.path(), &path);
    assert_eq!(report["verdict"], "valid", "{report}");
    let mut restored = Store::create(store_in(home.path(), "restored.db"), &key()).unwrap();
    folder.restore(&mut restored, |_, _| {}).unwrap();
    assert_eq!(restored.reader().fsck(|_| {}).unwrap(), checked);
    assert_eq!(restored.reader().pool(&second.id).unwrap().unwrap().retired_slot, Some(slot(6)));
}

/// A chain that is never read.
fn source(pool: &PoolId) -> Source<ChainReader> {
    Source {
        chain: pool.chain().clone(),
        pools: vec![(pool.clone(), Direction::ZeroForOne)],
        make: Box::new(|| Err("no node".into())),
    }
}

#[tokio::test]
async fn the_recorder_retires_what_it_is_told_to_and_refuses_what_is_retired() {
    let (_home, path) = sealed_store();
    let open = |sources| {
        Recorder::new(Store::open(&path, &key()).unwrap(), sources, Duration::from_secs(5))
    };
    let ids: Vec<PoolId> =
        Reader::open(&path).unwrap().pools().unwrap().into_iter().map(|pool| pool.id).collect();
    let mut recorder = open(vec![source(&ids[0])]);
    let error = recorder.retire(&ids[..1]).unwrap_err();
    assert!(matches!(&error, RecorderError::RetiringConfigured { pool } if *pool == ids[0]));
    let stranger = BusyPool::new(9, 1).id;
    assert_eq!(recorder.retire(&[ids[1].clone(), stranger.clone()]).unwrap(), [ids[1].clone()]);
    assert_eq!(recorder.unconfigured_pools().unwrap()[0].0, ids[2]);
    recorder.record_slot(slot(11)).await.unwrap();
    recorder.record_slot(slot(12)).await.unwrap();
    // Repeating the retirement at each start changes nothing.
    assert_eq!(recorder.retire(&ids[1..2]).unwrap(), []);
    drop(recorder);
    let reader = Reader::open(&path).unwrap();
    let retired: Vec<_> =
        reader.pools().unwrap().into_iter().map(|pool| pool.retired_slot).collect();
    assert_eq!(retired, [None, Some(slot(11)), None]);
    assert_eq!(reader.leaf(slot(12)).unwrap().unwrap().leaf.pools, 2);
    reader.fsck(|_| {}).unwrap();
    drop(reader);

    let recorder = open(vec![source(&ids[1])]);
    let error = recorder.check_pools().unwrap_err();
    assert!(
        matches!(&error, RecorderError::Retired { pool, slot: at } if *pool == ids[1] && *at == slot(11))
    );
    assert!(error.to_string().contains("which is final"), "{error}");
}

#[test]
fn a_log_whose_slots_are_lost_ends_and_its_successor_names_it() {
    let (home, path) = sealed_store();
    let home = home.path();
    let old = LogFolder::new(home.join("log"));
    old.publish(&Reader::open(&path).unwrap()).unwrap();
    let state = {
        let reader = Reader::open(&path).unwrap();
        let note = reader.checkpoint(11).unwrap().unwrap();
        exitgap_core::tlog::Checkpoint::from_note(&note).unwrap().0
    };
    let next = SignerKey::from_seed("exitgap.example/next", [9; 32]).unwrap();
    write_key(&home.join("old.key"), &key());
    write_key(&home.join("next.key"), &next);
    let write = |name: &str, text: String| fs::write(home.join(name), text).unwrap();
    write("old.toml", config("lost.db", "old.key", "log"));
    write("next.toml", config("next.db", "next.key", "next-log"));
    write("same-name.toml", config("next.db", "old.key", "next-log"));
    write("same-folder.toml", config("next.db", "next.key", "log"));
    let successor = |config: &str| server(home, &["successor", "--of", "log", "--config", config]);
    // While all data exists, a log cannot be ended.
    let (code, _, err) = successor("next.toml");
    assert_eq!(code, Some(1));
    assert!(err.contains("every slot of exitgap.example/test/5957856 can be read"), "{err}");

    fs::remove_file(home.join(format!("log/slots/{}.jsonl", slot(4).number()))).unwrap();
    let (code, _, err) = server(home, &["restore", "--config", "old.toml"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("5957860.jsonl") && err.contains("exitgap-server successor"), "{err}");
    for (config, word) in [
        ("same-name.toml", "exitgap.example/test is the name of the ended log"),
        ("same-folder.toml", "is the lost log's folder"),
    ] {
        let (code, _, err) = successor(config);
        assert_eq!(code, Some(1));
        assert!(err.contains(word), "{err}");
    }
    assert!(!home.join("next.db").exists() && !home.join("log/superseded-by").exists());
    let (code, out, err) = successor("next.toml");
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(out, "exitgap.example/next succeeds exitgap.example/test/5957856 with 11 slots\n");
    assert!(err.contains("5957860.jsonl"), "{err}");
    let (code, _, err) = successor("next.toml");
    assert_eq!(code, Some(1));
    assert!(err.contains("next.db already exists"), "{err}");
    // The old log cannot continue, and it can have only one successor.
    let ended = old.check(&Reader::open(&path).unwrap()).unwrap_err();
    assert!(
        matches!(ended, PublishError::Superseded { successor, .. } if successor == "exitgap.example/next")
    );
    assert!(matches!(old.supersede("exitgap.example/other"), Err(PublishError::Superseded { .. })));

    // The series continue as new ones with their own first heads.
    let store = home.join("next.db");
    let mut recording = Store::open(&store, &next).unwrap();
    let folder = LogFolder::new(home.join("next-log"));
    folder.check(recording.reader()).unwrap();
    let mut pools: Vec<_> = (1..=3).map(|number| BusyPool::new(number, 5)).collect();
    for n in 20..24 {
        let entries: Vec<_> = pools.iter_mut().map(|pool| pool.recorded(slot(n))).collect();
        recording.append_slot(slot(n), &entries).unwrap();
        drop(recording);
        recording = Store::open(&store, &next).unwrap();
        folder.publish(recording.reader()).unwrap();
    }
    let log = recording.reader().log().unwrap().unwrap();
    assert_eq!(log.origin.to_string(), "exitgap.example/next/5957876");
    let expected = Predecessor { origin: state.origin, size: 11, root: state.root };
    assert_eq!(log.predecessor, Some(expected.clone()));
    recording.reader().fsck(|_| {}).unwrap();
    let report = audit(folder.path(), &store);
    assert_eq!((&report["verdict"], &report["slots"]), (&"valid".into(), &4.into()), "{report}");
    let named = expected.to_document().trim_end().replace('\n', " ");
    assert_eq!(report["predecessor"], named, "{report}");
    let document = folder.path().join("predecessor");
    let told = fs::read_to_string(&document).unwrap();
    assert_eq!(told, expected.to_document());
    // The first leaf commits to exactly this predecessor document.
    for (false_one, code) in [
        (told.replace("\n11\n", "\n12\n"), "predecessor_mismatch"),
        (told.replace("\n11\n", "\n011\n"), "predecessor_invalid"),
    ] {
        fs::write(&document, &false_one).unwrap();
        let report = audit(folder.path(), &store);
        assert_eq!(report["fault"]["code"], code, "{report}");
        let refused = folder.publish(recording.reader());
        assert!(refused.is_ok(), "nothing is published anew: {refused:?}");
    }
    fs::remove_file(&document).unwrap();
    assert_eq!(audit(folder.path(), &store)["fault"]["code"], "predecessor_mismatch");
    fs::write(&document, &told).unwrap();
    let mut restored = Store::create(store_in(home, "restored.db"), &next).unwrap();
    assert_eq!(folder.restore(&mut restored, |_, _| {}).unwrap(), 4);
    assert_eq!(restored.reader().log().unwrap().unwrap().predecessor, Some(expected));

    // An unsigned log cannot have a successor.
    fs::write(home.join("log/verifier-key"), format!("{}\n", next.verifier())).unwrap();
    assert!(matches!(old.lost(|_, _| {}), Err(SuccessorError::Unsigned { .. })));
    let nothing = LogFolder::new(home.join("none")).lost(|_, _| {});
    assert!(matches!(nothing, Err(SuccessorError::NothingPublished { .. })));
}
