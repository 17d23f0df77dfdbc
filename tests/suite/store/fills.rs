//! The pools' logged fills: written with the slot whose head commits to them, published next to it, and restored from
//! there.

use std::fs;
use std::path::Path;

use exitgap_core::analytics::accuracy::Fills;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::{Changes, LogFolder, NewFills, Reader, Store, StoreError};
use serde_json::json;
use tempfile::TempDir;

use crate::scenes::store::{BusyPool, key, slot, store_in};
use crate::store::folder::{audit, restored_from};

/// A store of two pools; the first logged fills in its second and third slot.
fn store_with_fills(path: &Path) -> (Store, [BusyPool; 2]) {
    let mut store = Store::create(path, &key()).unwrap();
    let mut pools = [1, 2].map(|number| BusyPool::new(number, 5));
    for n in 0..4 {
        let entries = pools.each_mut().map(|pool| pool.recorded(slot(n)));
        let blocks = match n {
            1 => Some([1_000, 1_010]),
            2 => Some([1_010, 1_020]),
            _ => None,
        };
        let fills = blocks.map(|blocks| pools[0].fills(blocks)).into_iter().collect();
        let changes = Changes { fills, ..Changes::default() };
        store.append_slot_with(slot(n), &entries, &changes).unwrap();
    }
    (store, pools)
}

#[test]
fn what_heads_commit_to_is_kept_published_and_restored() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let (store, [pool, quiet]) = store_with_fills(&path);
    let reader = Reader::open(&path).unwrap();
    let of = |reader: &Reader, pool: &BusyPool| {
        let pool = reader.pool(&pool.id).unwrap().unwrap();
        (reader.fills(&pool, [Slot::FIRST, Slot::LAST], 64).unwrap(), pool)
    };
    let (page, stored) = of(&reader, &pool);
    let told: Vec<_> = page
        .entries
        .iter()
        .map(|fills| (fills.slot, Fills::from_canonical(&fills.canonical).unwrap()))
        .collect();
    let expected = [(1, [1_000, 1_010]), (2, [1_010, 1_020])];
    assert_eq!(told, expected.map(|(n, blocks)| (slot(n), pool.fills(blocks).fills)));
    assert_eq!(page.next, None);
    let head = reader.head(&stored, slot(2)).unwrap().unwrap().head;
    assert_eq!(head.commits.get("fills"), Some(page.entries[1].hash));
    assert_eq!(reader.head(&stored, slot(3)).unwrap().unwrap().head.commits.get("fills"), None);
    assert_eq!(reader.fills_until(&stored, slot(1)).unwrap(), Some((slot(1), 1_010)));
    assert_eq!(reader.fills_until(&stored, Slot::LAST).unwrap(), Some((slot(2), 1_020)));
    // The fills page by page.
    let first = reader.fills(&stored, [Slot::FIRST, Slot::LAST], 1).unwrap();
    assert_eq!((first.entries.len(), first.next), (1, Some(slot(2))));
    assert!(of(&reader, &quiet).0.entries.is_empty());

    let log = LogFolder::new(folder.path().join("log"));
    log.publish(store.reader()).unwrap();
    let file = log.path().join(format!("fills/{}.zst", slot(2).number()));
    assert!(file.exists());
    assert_eq!(audit(log.path(), &path)["verdict"], "valid");
    let restore = |into: &str| restored_from(&log, &folder.path().join(into));
    let (ended, restored) = restore("restored.db");
    assert_eq!(ended, Ok(4));
    assert_eq!(of(restored.reader(), &pool).0, page);
    assert_eq!(restored.reader().fsck(|_| {}).unwrap(), reader.fsck(|_| {}).unwrap());
    // A missing or changed file is reported by name.
    let bytes = fs::read(&file).unwrap();
    for (n, content) in [(1, None), (2, Some(&b"xx"[..])), (3, Some(&bytes[..bytes.len() - 1]))] {
        match content {
            Some(content) => fs::write(&file, content).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let (ended, _) = restore(&format!("{n}.db"));
        let why = ended.unwrap_err();
        assert!(why.contains(&file.display().to_string()), "{why}");
        let report = audit(log.path(), &path);
        let code = if n == 1 { "file_absent" } else { "fills_invalid" };
        assert_eq!(
            (&report["verdict"], &report["fault"]["code"]),
            (&json!("invalid"), &json!(code))
        );
    }
    let other = fs::read_dir(log.path().join("fills")).unwrap().map(|file| file.unwrap().path());
    let other = other.into_iter().find(|path| *path != file).unwrap();
    fs::copy(other, &file).unwrap();
    let (ended, _) = restore("other.db");
    assert!(ended.unwrap_err().contains("it has a document with hash 0x"));
    let fault = &audit(log.path(), &path)["fault"];
    assert_eq!(
        (&fault["code"], &fault["slot"]),
        (&json!("fills_hash_mismatch"), &json!(5_957_858))
    );
}

#[test]
fn fills_that_cannot_be_a_pools_next_ones_are_refused_and_nothing_is_written() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let (mut store, mut pools) = store_with_fills(&path);
    let entries = pools.each_mut().map(|pool| pool.missing(MissingReason::ChainLagging));
    let [pool, quiet] = &pools;
    let before = store.reader().log_size().unwrap();
    let mut refused = |fills: Vec<NewFills>| {
        let changes = Changes { fills, ..Changes::default() };
        let error = store.append_slot_with(slot(4), &entries, &changes).unwrap_err();
        let StoreError::Fills { rule, slot: at, .. } = &error else { panic!("{error}") };
        assert_eq!(*at, slot(4));
        rule.clone()
    };
    let follow = "they do not follow the previous ones";
    assert_eq!(refused(vec![pool.fills([1_019, 1_030])]), follow);
    assert_eq!(refused(vec![pool.fills([1_021, 1_030])]), follow);
    let next = pool.fills([1_020, 1_030]);
    assert_eq!(refused(vec![next.clone(), next.clone()]), "they were given twice");
    let of_other = NewFills { pool: quiet.id.clone(), fills: next.fills.clone() };
    assert_eq!(refused(vec![of_other]), "they belong to another contract");
    let unknown = BusyPool::new(9, 1).fills([1, 2]);
    assert_eq!(refused(vec![unknown]), "the store has no such pool");
    let late = Fills { to_block: 1_025, ..next.fills.clone() };
    let late = NewFills { fills: late, ..next.clone() };
    assert!(refused(vec![late]).contains("log 0: out of order"));
    assert_eq!(store.reader().log_size().unwrap(), before);
    // Fills that cover no blocks restart the series, both after others and at the beginning.
    let anew = |pool: &BusyPool, block| {
        let of = pool.fills([block, block + 1]);
        NewFills { fills: Fills { to_block: block, logs: Vec::new(), ..of.fills }, ..of }
    };
    let changes = Changes { fills: vec![anew(pool, 1_050), anew(quiet, 7)], ..Changes::default() };
    assert!(store.append_slot_with(slot(4), &entries, &changes).unwrap().written);
    assert!(!store.append_slot_with(slot(4), &entries, &changes).unwrap().written);
    // A sealed slot contains exactly these fills.
    let other = Changes { fills: vec![anew(pool, 1_050)], ..Changes::default() };
    let error = store.append_slot_with(slot(4), &entries, &other).unwrap_err();
    assert!(matches!(error, StoreError::ChangesDiffer { .. }), "{error}");
    assert_eq!(store.reader().fsck(|_| {}).unwrap().fills, 4);
}
