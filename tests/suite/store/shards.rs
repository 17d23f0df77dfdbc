//! Shared reading by the recorders of a server store: the distribution of the shards, and the readings that count.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use exitgap_store::shards::{HeldShard, Put, Share, SharingError};
use exitgap_store::{Store, StoreError};
use exitgap_tests::postgres::{RECORDER, database_of, shared};
use tempfile::TempDir;

use super::postgres::store_with;
use crate::scenes::store::{key, slot};

fn named(held: &[HeldShard]) -> Vec<&str> {
    held.iter().map(|held| &held.shard[..]).collect()
}

/// The same store with leases of a second.
fn with_short_leases(url: &Path) -> PathBuf {
    format!("{}&options=-c%20exitgap.lease_s%3D1", url.display()).into()
}

#[test]
fn shards_are_shared_out_among_those_that_attend() {
    let url = with_short_leases(&shared().store());
    let shards = ["a", "b", "c", "d", "e"].map(str::to_owned);
    let one = Share::open(&url).unwrap();
    assert_eq!(one.holds(), Duration::from_secs(1));
    let alone = one.attend(&shards, true).unwrap();
    assert_eq!(named(&alone), ["a", "b", "c", "d", "e"]);
    // A second recorder gets no shards until the first releases some; a recorder that is reading releases none.
    let two = Share::open(&url).unwrap();
    assert!(two.attend(&shards, true).unwrap().is_empty());
    assert_eq!(one.attend(&shards, false).unwrap(), alone);
    let left = one.attend(&shards, true).unwrap();
    let kept = left.len();
    assert!((2..=3).contains(&kept) && left == alone[..kept], "{left:?}");
    let taken = two.attend(&shards, true).unwrap();
    assert_eq!(named(&taken), named(&alone[kept..]));
    assert!(taken.iter().zip(&alone[kept..]).all(|(now, before)| now.epoch > before.epoch));
    // Another connection still belongs to the same recorder.
    assert_eq!(one.again().unwrap().attend(&shards, true).unwrap(), left);
    // The second recorder ends without releasing its shards, so its lease expires.
    drop(two);
    let begun = Instant::now();
    let all = loop {
        let held = one.attend(&shards, true).unwrap();
        if held.len() == 5 {
            break held;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{held:?}");
        thread::sleep(Duration::from_millis(100));
    };
    // The shards that the first recorder kept never changed their owner.
    assert_eq!(all[..kept], left);
    // A recorder that leaves releases its shards immediately, and its later readings do not count.
    let three = Share::open(&url).unwrap();
    one.leave().unwrap();
    assert_eq!(named(&three.attend(&shards, true).unwrap()), ["a", "b", "c", "d", "e"]);
    assert_eq!(one.put(slot(5), &all[0], b"late").unwrap(), Put::TakenOver);
}

#[test]
fn a_reading_counts_once_until_its_slot_is_frozen() {
    let (url, mut pools) = store_with(2);
    let database = database_of(&url).unwrap();
    let shards = ["a".to_owned(), "b".to_owned()];
    let share = Share::open(&url).unwrap();
    let held = share.attend(&shards, true).unwrap();
    let [a, b] = &held[..] else { panic!("{held:?}") };
    let mut store = Store::open(&url, &key()).unwrap();
    // A reading of a sealed slot never counts, frozen or not.
    assert_eq!(share.put(slot(1), a, b"late").unwrap(), Put::Frozen);
    assert_eq!(share.put(slot(2), a, b"first").unwrap(), Put::Counts);
    assert_eq!(share.put(slot(2), a, b"second").unwrap(), Put::Counts);
    assert_eq!(store.next_read(Some(slot(1))).unwrap(), Some(slot(2)));
    assert_eq!(store.shards_read(slot(2)).unwrap(), ["a"]);
    assert_eq!(store.shard_reading(slot(2), "a").unwrap().unwrap(), b"first");
    assert_eq!(store.shard_reading(slot(2), "b").unwrap(), None);
    assert_eq!(store.shards_held().unwrap().len(), 2);
    // A wrong epoch is rejected.
    let other = HeldShard { epoch: b.epoch + 1, ..b.clone() };
    assert_eq!(share.put(slot(2), &other, b"mine").unwrap(), Put::TakenOver);
    store.freeze(slot(2)).unwrap();
    assert_eq!(share.put(slot(2), b, b"late").unwrap(), Put::Frozen);
    assert_eq!(share.put(slot(3), b, b"next").unwrap(), Put::Counts);
    assert_eq!(store.shards_read(slot(2)).unwrap(), ["a"]);
    // A recorder can neither change nor delete unsealed readings.
    for refused in [
        "UPDATE exitgap.reading SET bytes = ''",
        "DELETE FROM exitgap.reading WHERE slot = 5957858",
        "UPDATE exitgap.frozen SET slot = 0",
        "DELETE FROM exitgap.frozen",
        "UPDATE exitgap.shard SET owner = 'me'",
        "DELETE FROM exitgap.shard",
        "TRUNCATE exitgap.reading",
    ] {
        for role in [RECORDER, "postgres"] {
            let told = shared().sql_as(role, database, refused).unwrap_err();
            assert!(told.contains("exitgap: ") || told.contains("permission denied"), "{told}");
        }
    }
    // The readings of sealed slots are deleted.
    let entries = pools.each_mut().map(|pool| pool.recorded(slot(2)));
    store.append_slot(slot(2), &entries).unwrap();
    store.freeze(slot(3)).unwrap();
    let kept = shared().sql(database, "SELECT string_agg(slot::text, ' ') FROM exitgap.reading");
    assert_eq!(kept, slot(3).number().to_string());
}

/// The fault: a reading is still being committed when the slot is frozen.
#[test]
fn whoever_freezes_waits_for_what_is_being_written() {
    let (url, _) = store_with(1);
    let database = database_of(&url).unwrap();
    let share = Share::open(&url).unwrap();
    let held = share.attend(&["a".to_owned()], true).unwrap();
    let store = Store::open(&url, &key()).unwrap();
    let insert = format!(
        "BEGIN; INSERT INTO exitgap.reading VALUES ({}, 'a', {}, 'x'); SELECT pg_sleep(2); COMMIT",
        slot(1).number(),
        held[0].epoch
    );
    let sleeps = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}' AND wait_event = 'PgSleep'"
    );
    thread::scope(|scope| {
        let writing = scope.spawn(|| shared().sql_as(RECORDER, database, &insert));
        while shared().sql("postgres", &sleeps) == "0" {
            thread::sleep(Duration::from_millis(20));
        }
        assert!(store.shards_read(slot(1)).unwrap().is_empty());
        store.freeze(slot(1)).unwrap();
        assert_eq!(store.shards_read(slot(1)).unwrap(), ["a"]);
        assert_eq!(shared().sql("postgres", &sleeps), "0");
        writing.join().unwrap().unwrap();
    });
}

#[test]
fn only_who_seals_freezes_and_what_cannot_be_read_says_so() {
    let (url, _) = store_with(1);
    let database = database_of(&url).unwrap();
    let share = Share::open(&url).unwrap();
    let held = share.attend(&["a".to_owned()], true).unwrap();
    let first = Store::open(&url, &key()).unwrap();
    shared().sql(database, "UPDATE exitgap.sealer SET until = '-infinity'");
    let second = Store::open(&url, &key()).unwrap();
    let error = first.freeze(slot(1)).unwrap_err();
    assert!(error.to_string().contains("another recorder has taken over"), "{error}");
    assert_eq!(share.put(slot(1), &held[0], b"in time").unwrap(), Put::Counts);
    let broken = format!(
        "INSERT INTO exitgap.reading VALUES ({}, 'a', {}, '\\x00')",
        slot(2).number(),
        held[0].epoch
    );
    shared().sql_as(RECORDER, database, &broken).unwrap();
    let error = second.shard_reading(slot(2), "a").unwrap_err();
    assert!(matches!(error, SharingError::Unreadable { .. }), "{error}");
    assert!(error.to_string().starts_with("the reading of a at slot "), "{error}");
}

#[test]
fn a_store_in_a_file_is_read_by_one() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("series.db");
    let error = Share::open(&path).unwrap_err();
    assert!(matches!(error, SharingError::NotAServer { .. }), "{error}");
    let store = Store::create(&path, &key()).unwrap();
    store.freeze(slot(0)).unwrap();
    assert!(store.shards_read(slot(0)).unwrap().is_empty());
    assert!(store.shards_held().unwrap().is_empty());
    assert_eq!(store.shard_reading(slot(0), "a").unwrap(), None);
    assert_eq!(store.next_read(None).unwrap(), None);
    drop(store);
    // A database without the necessary tables is rejected, too.
    let nowhere = shared().url(RECORDER, "nowhere");
    let error = Share::open(&nowhere).unwrap_err();
    assert!(matches!(error, SharingError::Store(StoreError::Unreachable { .. })), "{error}");
}
