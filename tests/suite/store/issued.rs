//! The paid estimates: written with the slot whose head commits to them, published next to it, and restored from there.

use std::fs;
use std::path::Path;

use exitgap_core::analytics::accuracy::IssuedReceipts;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::{Changes, LogFolder, Reader, Store, StoreError};
use serde_json::json;
use tempfile::TempDir;

use crate::scenes::store::{BusyPool, key, slot, store_in};
use crate::store::folder::{audit, restored_from};

fn with(issued: Vec<IssuedReceipts>) -> Changes {
    Changes { issued, ..Changes::default() }
}

/// A store of two pools. The first sold estimates in its second and third slot; the second in its third slot, in which
/// it also logged fills, and is missing afterwards.
fn store_with_issued(path: &Path) -> (Store, [BusyPool; 2]) {
    let mut store = Store::create(path, &key()).unwrap();
    let mut pools = [1, 2].map(|number| BusyPool::new(number, 5));
    for n in 0..4 {
        let entries = match n {
            3 => pools.each_mut().map(|pool| pool.missing(MissingReason::ChainLagging)),
            _ => pools.each_mut().map(|pool| pool.recorded(slot(n))),
        };
        let [first, second] = &pools;
        let changes = match n {
            1 => with(vec![first.issued(&[3, 9])]),
            2 => Changes {
                fills: vec![second.fills([1_000, 1_010])],
                ..with(vec![second.issued(&[1]), first.issued(&[4])])
            },
            3 => with(vec![first.issued(&[7])]),
            _ => Changes::default(),
        };
        store.append_slot_with(slot(n), &entries, &changes).unwrap();
    }
    (store, pools)
}

#[test]
fn receipts_that_heads_commit_to_are_kept_published_and_restored() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let (store, [pool, other]) = store_with_issued(&path);
    let reader = Reader::open(&path).unwrap();
    let of = |reader: &Reader, pool: &BusyPool| {
        let pool = reader.pool(&pool.id).unwrap().unwrap();
        (reader.issued_documents(&pool, [Slot::FIRST, Slot::LAST], 64).unwrap(), pool)
    };
    let (page, stored) = of(&reader, &pool);
    let told: Vec<_> = page.entries.iter().map(|one| (one.slot, one.issued.clone())).collect();
    let expected = [(1, &[3, 9][..]), (2, &[4]), (3, &[7])];
    assert_eq!(told, expected.map(|(n, receipts)| (slot(n), pool.issued(receipts))));
    for one in &page.entries {
        let head = reader.head(&stored, one.slot).unwrap().unwrap().head;
        assert_eq!(head.commits.get("issued"), Some(one.hash));
        assert_eq!(IssuedReceipts::hash_of(&one.canonical), one.hash);
    }
    let (of_other, stored_other) = of(&reader, &other);
    let head = reader.head(&stored_other, slot(2)).unwrap().unwrap().head;
    let commits: Vec<_> = head.commits.iter().map(|(name, _)| name.as_str().to_owned()).collect();
    assert_eq!(commits, ["fills", "issued"]);
    assert_eq!(of_other.entries.len(), 1);
    assert!(reader.head(&stored, slot(0)).unwrap().unwrap().head.commits.is_empty());
    assert_eq!(reader.newest_issued(&stored).unwrap().unwrap().slot, slot(3));
    let first = reader.issued_documents(&stored, [Slot::FIRST, Slot::LAST], 1).unwrap();
    assert_eq!((first.entries.len(), first.next), (1, Some(slot(2))));
    assert_eq!(reader.fsck(|_| {}).unwrap().issued, 4);

    let log = LogFolder::new(folder.path().join("log"));
    log.publish(store.reader()).unwrap();
    assert_eq!(audit(log.path(), &path)["verdict"], "valid");
    let restore = |into: &str| restored_from(&log, &folder.path().join(into));
    let (ended, restored) = restore("restored.db");
    assert_eq!(ended, Ok(4));
    assert_eq!(of(restored.reader(), &pool).0, page);
    assert_eq!(restored.reader().fsck(|_| {}).unwrap(), reader.fsck(|_| {}).unwrap());
    // Restore and audit both report a missing or changed file by name.
    let file = log.path().join(format!("issued/{}.zst", slot(2).number()));
    let whole = fs::read(&file).unwrap();
    let alone = fs::read(log.path().join(format!("issued/{}.zst", slot(1).number()))).unwrap();
    let cases = [
        ("file_absent", None),
        ("issued_invalid", Some(&b"xx"[..])),
        ("issued_invalid", Some(&whole[..whole.len() - 1])),
        ("issued_hash_mismatch", Some(&alone[..])),
    ];
    for (n, (code, content)) in cases.into_iter().enumerate() {
        match content {
            Some(content) => fs::write(&file, content).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let why = restore(&format!("{n}.db")).0.unwrap_err();
        assert!(why.contains(&file.display().to_string()), "{why}");
        let report = audit(log.path(), &path);
        let found = (&report["verdict"], &report["fault"]["code"]);
        assert_eq!(found, (&json!("invalid"), &json!(code)));
    }
}

#[test]
fn receipts_that_no_head_can_commit_to_are_refused_and_nothing_is_written() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let (mut store, mut pools) = store_with_issued(&path);
    let entries = pools.each_mut().map(|pool| pool.missing(MissingReason::ChainLagging));
    let [pool, _] = &pools;
    let before = store.reader().log_size().unwrap();
    let mut refused = |given: Vec<IssuedReceipts>| {
        let error = store.append_slot_with(slot(4), &entries, &with(given)).unwrap_err();
        let StoreError::Issued { rule, slot: at, .. } = &error else { panic!("{error}") };
        assert_eq!(*at, slot(4));
        rule.clone()
    };
    let twice = vec![pool.issued(&[1]), pool.issued(&[2])];
    assert_eq!(refused(twice), "they were given twice");
    assert_eq!(refused(vec![BusyPool::new(9, 1).issued(&[1])]), "the store has no such pool");
    assert!(refused(vec![pool.issued(&[])]).contains("0 receipts"));
    assert!(refused(vec![pool.issued(&[2, 1])]).contains("receipt 1 does not come after"));
    assert_eq!(store.reader().log_size().unwrap(), before);
    // A sealed slot contains exactly these receipts.
    let given = with(vec![pool.issued(&[8])]);
    assert!(store.append_slot_with(slot(4), &entries, &given).unwrap().written);
    assert!(!store.append_slot_with(slot(4), &entries, &given).unwrap().written);
    for other in [with(vec![pool.issued(&[5])]), Changes::default()] {
        let error = store.append_slot_with(slot(4), &entries, &other).unwrap_err();
        assert!(matches!(error, StoreError::ChangesDiffer { .. }), "{error}");
    }
}
