//! Following a log into a store without its key: across a change of that key, and the operations that such a store
//! rejects.

use std::fs;
use std::ops::Range;
use std::path::Path;

use exitgap_core::tlog::{SignerKey, VerifierKey};
use exitgap_store::{FollowError, LogFolder, Store, StoreError};
use tempfile::TempDir;

use crate::scenes::origin::files;
use crate::scenes::store::{BusyPool, key, slot, store_in};

/// Records slots with these keys and publishes them.
fn record(home: &Path, keys: &[&SignerKey], slots: Range<u32>, pools: &mut [BusyPool]) {
    let path = store_in(home, "series.db");
    let mut store = match slots.start {
        0 => Store::create(&path, keys[0]).unwrap(),
        _ => Store::open(&path, keys[0]).unwrap(),
    };
    if let Some(second) = keys.get(1) {
        store.sign_beside(second).unwrap();
    }
    for n in slots {
        let entries: Vec<_> = pools.iter_mut().map(|pool| pool.recorded(slot(n))).collect();
        store.append_slot(slot(n), &entries).unwrap();
    }
    LogFolder::new(home.join("log")).publish(store.reader()).unwrap();
    store.reader().fsck(|_| {}).unwrap();
}

/// The folder as a copier leaves it: everything except the follower's own files, with the newest checkpoint.
fn copied(home: &Path, to: &Path) -> String {
    for (file, bytes) in files(&home.join("log")) {
        if file != "checkpoint" && !file.starts_with("tile/") {
            let path = to.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
    fs::read_to_string(home.join("log/checkpoint")).unwrap()
}

#[test]
fn a_log_is_followed_over_a_change_of_its_key_by_whoever_trusts_both() {
    let (home, here) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (home, log) = (home.path(), here.path().join("log"));
    let old = key();
    let new = SignerKey::from_seed(old.verifier().name(), [77; 32]).unwrap();
    let mut pools = [1, 2].map(|number| BusyPool::new(number, 5));
    record(home, &[&old], 0..3, &mut pools);
    record(home, &[&old, &new], 3..5, &mut pools);
    record(home, &[&new], 5..7, &mut pools);
    let lines = fs::read_to_string(home.join("log/verifier-key")).unwrap();
    let keys: Vec<VerifierKey> = lines.lines().map(|line| line.parse().unwrap()).collect();
    let folder = LogFolder::new(&log);
    let note = copied(home, &log);

    // A follower that trusts only the old key rejects the newest checkpoint and accepts the slots that the old key
    // signed.
    let path = store_in(here.path(), "series.db");
    let mut store = Store::open_follower(&path, &keys[..1]).unwrap();
    let refused = folder.follow(&mut store, &note, &keys[..1], 7);
    assert!(matches!(refused, Err(FollowError::NotTrusted { size: 7, .. })), "{refused:?}");
    let refused = folder.follow(&mut store, &note, &keys, 7);
    assert!(matches!(refused, Err(FollowError::Slot { index: 5, .. })), "{refused:?}");
    assert_eq!(store.reader().log_size().unwrap(), 5, "by a store that knows the old one only");
    drop(store);

    // With both keys, it continues and ends in the published state.
    let mut store = Store::open_follower(&path, &keys).unwrap();
    assert_eq!(folder.follow(&mut store, &note, &keys, 6).unwrap(), 6);
    let half = fs::read_to_string(log.join("checkpoint")).unwrap();
    assert_eq!(half.lines().nth(1), Some("6"), "what is held is covered, and no more");
    assert_eq!(folder.follow(&mut store, &note, &keys, 7).unwrap(), 7);
    assert_eq!(fs::read_to_string(log.join("checkpoint")).unwrap(), note);
    assert_eq!(store.reader().fsck(|_| {}).unwrap().slots, 7);
    assert_eq!(store.reader().log().unwrap().unwrap().keys, keys);
    // Repeating it changes nothing.
    assert_eq!(folder.follow(&mut store, &note, &keys, 7).unwrap(), 7);
}

#[test]
fn a_store_that_follows_seals_nothing_of_its_own() {
    let (home, here) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut pools = [BusyPool::new(1, 5)];
    record(home.path(), &[&key()], 0..2, &mut pools);
    let log = here.path().join("log");
    let note = copied(home.path(), &log);
    let lines = fs::read_to_string(home.path().join("log/verifier-key")).unwrap();
    let keys: [VerifierKey; 1] = [lines.trim_end().parse().unwrap()];
    let path = store_in(here.path(), "series.db");
    let mut store = Store::open_follower(&path, &keys).unwrap();
    let entry = pools[0].recorded(slot(2));
    let refused = store.append_slot(slot(2), std::slice::from_ref(&entry));
    assert!(matches!(refused, Err(StoreError::NoSigner)), "{refused:?}");
    assert_eq!(LogFolder::new(&log).follow(&mut store, &note, &keys, 2).unwrap(), 2);
    let refused = store.append_slot(slot(2), std::slice::from_ref(&entry));
    assert!(matches!(refused, Err(StoreError::NoSigner)), "{refused:?}");
    assert!(matches!(store.fill_until(slot(9)), Err(StoreError::NoSigner)));
    assert_eq!(store.reader().log_size().unwrap(), 2, "nothing of it stays");
    store.reader().fsck(|_| {}).unwrap();
    drop(store);
    // Keys of another log are rejected if the store has a log, which stays unchanged.
    let other = SignerKey::from_seed("other.example/log/5957856", [3; 32]).unwrap().verifier();
    let refused = Store::open_follower(&path, &[other]).map(drop);
    assert!(matches!(refused, Err(StoreError::OtherLogsKeys { .. })), "{refused:?}");
}
