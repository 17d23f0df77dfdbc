//! The data that the store seals: heads, leaves, the signed log, and the evidence made from them.

use std::path::PathBuf;

use exitgap_core::evidence::{
    Base, CheckName, Evidence, Head, HeadEntry, HeadWindow, Outcome as CheckOutcome, Policy,
    SeenCheckpoint, SlotLeaf, Verdict, verify,
};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::tlog::{Checkpoint, SignerKey, is_consistent, root_from_inclusion};
use exitgap_core::units::SizeUsd;
use exitgap_store::{
    CorruptHead, CorruptLog, EvidenceError, LogIdentity, Reader, Store, StoreError,
};
use exitgap_tests::postgres;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::scenes::store::{BusyPool, key, slot, store_in};

/// A store of three pools, the third from slot 5 on. Slot 2 is missing for the first pool, slots 6 to 8 passed without
/// a recorder, and the writer was reopened before slot 9.
pub fn sealed_store() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let mut pools: Vec<_> = (1..=3).map(|number| BusyPool::new(number, 5)).collect();
    let mut store = Store::create(&path, &key()).unwrap();
    for n in [0, 1, 2, 3, 4, 5, 9, 10] {
        if n == 9 {
            drop(store);
            store = Store::open(&path, &key()).unwrap();
        }
        let known = if n < 5 { 2 } else { 3 };
        let entries: Vec<_> = (0..known)
            .map(|pool| match (pool, n) {
                (0, 2) => pools[0].missing(MissingReason::ChainLagging),
                _ => pools[pool].recorded(slot(n)),
            })
            .collect();
        store.append_slot(slot(n), &entries).unwrap();
    }
    (folder, path)
}

fn trusting(log: &LogIdentity) -> Policy {
    Policy::with_keys(log.keys.clone())
}

fn usd(text: &str) -> SizeUsd {
    text.parse().unwrap()
}

#[test]
fn every_recorded_slot_has_evidence_that_verifies() {
    let (_folder, path) = sealed_store();
    let reader = Reader::open(&path).unwrap();
    let log = reader.log().unwrap().unwrap();
    assert_eq!(log.origin.to_string(), "exitgap.example/test/5957856");
    let newest = reader.checkpoint(11).unwrap().unwrap();
    let (mut valid, mut missing) = (0, 0);
    for pool in reader.pools().unwrap() {
        for n in (pool.first_slot.number() - Slot::FIRST.number())..=10 {
            let base = [Base::Token0, Base::Token1][n as usize % 2];
            let file = match reader.evidence(&pool.id, base, slot(n), usd("250")) {
                Ok(file) => file,
                Err(EvidenceError::Missing { reason, .. }) => {
                    let down = reason == MissingReason::RecorderDown;
                    assert_eq!(down, (6..=8).contains(&n), "{reason:?} at {n}");
                    missing += 1;
                    continue;
                }
                Err(other) => panic!("{other}"),
            };
            let mut policy = trusting(&log);
            policy.required = CheckName::ALL.to_vec();
            let proof = reader.consistency((n + 1).into(), 11).unwrap().unwrap();
            policy.seen = Some(SeenCheckpoint { note: newest.clone(), proof });
            policy.window = Some(reader.window(&pool.id, slot(n)).unwrap().to_canonical().unwrap());
            let report = verify(&file, &policy);
            assert_eq!(report.verdict, Verdict::Valid, "{report:?}");
            // Repeated requests return the same file.
            assert_eq!(reader.evidence(&pool.id, base, slot(n), usd("250")).unwrap(), file);
            valid += 1;
        }
    }
    assert_eq!((valid, missing), (7 + 8 + 3, 4 + 3 + 3));

    // Another key with the same name proves nothing.
    let pool = &reader.pools().unwrap()[0].id;
    let file = reader.evidence(pool, Base::Token0, slot(10), usd("1")).unwrap();
    let other = SignerKey::from_seed(&log.origin.to_string(), [8; 32]).unwrap();
    let report = verify(&file, &Policy::with_keys(vec![other.verifier()]));
    let signature = report.check(CheckName::Signature).unwrap();
    assert!(!matches!(signature.outcome, CheckOutcome::Pass), "{signature:?}");
}

#[test]
fn heads_follow_each_other_and_every_proof_of_the_log_holds() {
    let (_folder, path) = sealed_store();
    let reader = Reader::open(&path).unwrap();
    assert_eq!(reader.log_size().unwrap(), 11);
    for pool in reader.pools().unwrap() {
        let heads = reader.heads(&pool, Slot::FIRST, Slot::LAST).unwrap();
        let later = pool.first_slot.number() - Slot::FIRST.number();
        assert_eq!(heads.len(), 11 - later as usize);
        for pair in heads.windows(2) {
            let hash = Head::hash_of(&pair[0].canonical);
            assert_eq!(pair[1].head.check_follows(&pair[0].head, hash), Ok(()));
        }
        // From the middle on, and a single head.
        assert_eq!(reader.heads(&pool, slot(7), Slot::LAST).unwrap(), heads[heads.len() - 4..]);
        assert_eq!(reader.head(&pool, slot(10)).unwrap().as_ref(), heads.last());
        assert_eq!(reader.head(&pool, slot(11)).unwrap(), None);
    }
    let root = |size| {
        let note = reader.checkpoint(size).unwrap().unwrap();
        let (checkpoint, _) = Checkpoint::from_note(&note).unwrap();
        assert_eq!(checkpoint.size, size);
        checkpoint.root
    };
    for new in 1..=11 {
        for old in 1..=new {
            let proof = reader.consistency(old, new).unwrap().unwrap();
            assert!(is_consistent(old, root(old), new, root(new), &proof), "{old} of {new}");
            let at = slot(u32::try_from(old).unwrap() - 1);
            let leaf = SlotLeaf::leaf_of(&reader.leaf(at).unwrap().unwrap().canonical);
            let proof = reader.inclusion(at, new).unwrap().unwrap();
            assert_eq!(root_from_inclusion(leaf, old - 1, new, &proof), Some(root(new)));
        }
    }
    assert_eq!(reader.checkpoint(0).unwrap(), None);
    assert_eq!(reader.checkpoint(12).unwrap(), None);
    assert_eq!(reader.consistency(0, 4).unwrap(), None);
    assert_eq!(reader.consistency(4, 12).unwrap(), None);
    assert_eq!(reader.inclusion(slot(3), 3).unwrap(), None);
    assert_eq!(reader.leaf(slot(11)).unwrap(), None);
}

#[test]
fn the_lowest_depth_is_that_of_seven_days_also_after_a_pause() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    // The price varies, and so do the depths; the first ones leave the window one by one.
    let mut pool = BusyPool::new(4, 2);
    for n in (0..12).chain(2_008..2_040) {
        store.append_slot(slot(n), &[pool.recorded(slot(n))]).unwrap();
    }
    let reader = store.reader();
    let stored = reader.pools().unwrap().remove(0);
    let heads = reader.heads(&stored, Slot::FIRST, Slot::LAST).unwrap();
    assert_eq!(heads.len(), 2_040);
    let (mut changes, mut before) = (0, heads[0].head.lowest_depth_7d_usd);
    for (n, stored) in heads.iter().enumerate() {
        let window = &heads[(n + 1).saturating_sub(2_016)..=n];
        let lowest = [0, 1].map(|token| {
            let depth = |entry: &HeadEntry| match entry {
                HeadEntry::Recorded { depth_usd, .. } => depth_usd[token],
                _ => None,
            };
            window.iter().filter_map(|stored| depth(&stored.head.entry)).min()
        });
        assert_eq!(stored.head.lowest_depth_7d_usd, lowest, "at {n}");
        changes += usize::from(n >= 2_016 && lowest != before);
        before = lowest;
    }
    assert!(changes > 0, "the lowest of all fell out of the window");
    let window = reader.window(&stored.id, slot(2_039)).unwrap();
    assert_eq!(window.heads().len(), 2_016);
    assert_eq!(window.last().unwrap().1, heads[2_039].canonical);
}

#[test]
fn another_key_or_name_cannot_go_on_with_a_log() {
    let (_folder, path) = sealed_store();
    let wrong_key = |key: &SignerKey| match Store::open(&path, key).unwrap_err() {
        StoreError::WrongKey { expected, found } => {
            assert!(expected.starts_with("exitgap.example/test/5957856+"), "{expected}");
            found
        }
        other => panic!("{other}"),
    };
    let other = SignerKey::from_seed("exitgap.example/test", [8; 32]).unwrap();
    assert!(wrong_key(&other).starts_with("exitgap.example/test/5957856+"));
    let renamed = key().with_name("exitgap.example/rest").unwrap();
    assert!(wrong_key(&renamed).starts_with("exitgap.example/rest/5957856+"));
    assert!(Store::open(&path, &key()).is_ok());
}

#[test]
fn what_was_not_asked_or_not_recorded_is_named() {
    let (_folder, path) = sealed_store();
    let reader = Reader::open(&path).unwrap();
    let pools = reader.pools().unwrap();
    let ask = |pool, n, size| reader.evidence(pool, Base::Token0, slot(n), usd(size)).unwrap_err();
    let stranger = BusyPool::new(9, 1).id;
    assert!(matches!(ask(&stranger, 1, "1"), EvidenceError::UnknownPool { .. }));
    assert!(matches!(reader.window(&stranger, slot(1)), Err(EvidenceError::UnknownPool { .. })));
    assert!(matches!(
        ask(&pools[2].id, 4, "1"),
        EvidenceError::NoHead { first, last, .. } if (first, last) == (slot(5), slot(10))
    ));
    assert!(matches!(ask(&pools[2].id, 11, "1"), EvidenceError::NoHead { .. }));
    assert!(matches!(reader.window(&pools[2].id, slot(11)), Err(EvidenceError::NoHead { .. })));
    assert!(matches!(
        ask(&pools[0].id, 2, "1"),
        EvidenceError::Missing { reason: MissingReason::ChainLagging, .. }
    ));
    // A size that cannot be filled has evidence like any number.
    let refused = reader.evidence(&pools[0].id, Base::Token0, slot(1), usd("1000000000")).unwrap();
    let stated = Evidence::from_bytes(&refused).statement().unwrap().answer.clone();
    assert_eq!(stated.refusal().unwrap().code, "beyond_liquidity");
    let log = reader.log().unwrap().unwrap();
    let report = verify(&refused, &Policy::with_keys(log.keys));
    assert_eq!(report.verdict, Verdict::Valid, "{report:?}");
}

/// Changes a store of [`sealed_store`]; removes the guards first and restores them afterwards.
pub fn damaged(change: &str) -> (TempDir, PathBuf) {
    let (folder, path) = sealed_store();
    damage(&path, change);
    (folder, path)
}

/// Changes the store at `path`; removes the guards first and restores them afterwards.
pub fn damage(path: &std::path::Path, change: &str) {
    if let Some(database) = postgres::database_of(path) {
        postgres::shared().damage(database, change);
        return;
    }
    let second = Connection::open(path).unwrap();
    let mut statement =
        second.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
    let guards: Vec<(String, String)> = statement
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut batch = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;".to_owned();
    batch.extend(guards.iter().map(|(name, _)| format!("DROP TRIGGER {name};")));
    second.execute_batch(&batch).unwrap();
    let before = second.total_changes();
    second.execute_batch(change).unwrap();
    assert!(second.total_changes() > before, "nothing was changed by {change}");
    for (_, sql) in guards {
        second.execute_batch(&sql).unwrap();
    }
}

#[test]
fn a_recorder_does_not_go_on_from_a_damaged_edge() {
    let refused = |change: &str| {
        let (_folder, path) = damaged(change);
        Store::open(&path, &key()).unwrap_err()
    };
    let newest = "slot = 5957866";
    assert!(matches!(
        refused(&format!("UPDATE entry SET lowest0_7d_usd = 5 WHERE pool_no = 2 AND {newest}")),
        StoreError::CorruptHead { what: CorruptHead::Hash { .. }, slot: at, .. } if at == slot(10)
    ));
    let log = |change: &str| match refused(change) {
        StoreError::CorruptLog { what, slot: at } => {
            assert_eq!(at, slot(10));
            what
        }
        other => panic!("{other}"),
    };
    let root = format!("UPDATE sealed_slot SET heads_root = zeroblob(32) WHERE {newest}");
    assert!(matches!(log(&root), CorruptLog::HeadsRoot { .. }));
    let pools = format!("UPDATE sealed_slot SET pools = 2 WHERE {newest}");
    assert!(matches!(log(&pools), CorruptLog::Pools { expected: 2, found: 3 }));
    let leaf = "UPDATE log_node SET sha256 = zeroblob(32) WHERE level = 0 AND node_index = 10";
    assert!(matches!(log(leaf), CorruptLog::Node { level: 0, index: 10, .. }));
    let node = "UPDATE log_node SET sha256 = zeroblob(32) WHERE level = 3";
    assert!(matches!(log(node), CorruptLog::Checkpoint(what) if what.contains("root")));
    let older = format!(
        "UPDATE sealed_slot SET checkpoint =
            (SELECT checkpoint FROM sealed_slot WHERE slot = 5957865) WHERE {newest}"
    );
    assert!(matches!(log(&older), CorruptLog::Checkpoint(what) if what.contains("size 10")));
    let resigned = format!(
        "UPDATE sealed_slot SET checkpoint = substr(checkpoint, 1, length(checkpoint) - 9)
            || 'AAAAAAA=' || char(10) WHERE {newest}"
    );
    assert!(matches!(log(&resigned), CorruptLog::Checkpoint(_)));
    let key = "UPDATE log SET verifier_key = 'none'";
    let (_folder, path) = damaged(key);
    assert!(matches!(
        Store::open(&path, &crate::scenes::store::key()),
        Err(StoreError::CorruptLog { what: CorruptLog::VerifierKey { .. }, .. })
    ));
}

#[test]
fn a_window_that_holds_together_and_tells_another_series_ends_elsewhere() {
    // The same series, except that slot 2 is missing in one and recorded in the other.
    let series = |turned: bool| {
        let folder = TempDir::new().unwrap();
        let mut store = Store::create(store_in(folder.path(), "series.db"), &key()).unwrap();
        let mut id = None;
        for n in 0..6 {
            let mut pool = BusyPool::new(1, 5).at(slot(n));
            let entry = if n == 2 && !turned {
                pool.missing(MissingReason::ChainLagging)
            } else {
                pool.recorded(slot(n))
            };
            store.append_slot(slot(n), &[entry]).unwrap();
            id = Some(pool.id);
        }
        let (reader, id) = (store.reader(), id.unwrap());
        let window = reader.window(&id, slot(5)).unwrap();
        let file = reader.evidence(&id, Base::Token0, slot(5), usd("250")).unwrap();
        (file, window, trusting(&reader.log().unwrap().unwrap()))
    };
    let (file, window, mut policy) = series(false);
    let (_, forged, _) = series(true);
    // The forged window can be rebuilt, its links and figures are consistent, and it ends with the same snapshot.
    let bytes = forged.to_canonical().unwrap();
    assert_eq!(HeadWindow::from_canonical(&bytes), Ok(forged.clone()));
    let last = |window: &HeadWindow| window.last().unwrap().0.clone();
    assert_eq!(last(&forged).entry, last(&window).entry);
    policy.window = Some(bytes);
    let report = verify(&file, &policy);
    assert_eq!(report.verdict, Verdict::Invalid);
    assert_eq!(report.check(CheckName::Window).unwrap().code, "window_ends_elsewhere");
    policy.window = Some(window.to_canonical().unwrap());
    assert_eq!(verify(&file, &policy).verdict, Verdict::Valid);
}
