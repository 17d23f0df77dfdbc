//! The lease for sealing a store on a server, held by one process at a time, and the claims before signing.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use exitgap_core::series::MissingReason;
use exitgap_store::{LogFolder, Reader, RestoreError, Store, StoreError};
use exitgap_tests::postgres::{Cluster, RECORDER, database_of, shared};
use tempfile::TempDir;

use super::postgres::{checkpoints, files, store_with};
use crate::scenes::store::{BusyPool, key, slot};

/// Makes the lease of a store expire.
fn run_out(store: &Path) {
    shared().sql(database_of(store).unwrap(), "UPDATE exitgap.sealer SET until = '-infinity'");
}

/// Repeats the query until it counts one.
fn until(count: &str, database: &str) {
    let (count, begun) = (count.replace("$db", &format!("'{database}'")), Instant::now());
    while shared().sql("postgres", &count) != "1" {
        assert!(begun.elapsed() < Duration::from_secs(30), "never: {count}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn one_seals_at_a_time_and_who_was_taken_over_from_writes_nothing_more() {
    let (url, mut pools) = store_with(2);
    let mut first = Store::open(&url, &key()).unwrap();
    let refused = Store::open(&url, &key()).unwrap_err();
    assert!(
        matches!(&refused, StoreError::Leased { holder, seconds: 1..=15, .. } if holder.contains("process")),
        "{refused}"
    );
    assert!(matches!(Store::create(&url, &key()), Err(StoreError::Leased { .. })));
    // The first process pauses until its lease has expired, and another takes over.
    run_out(&url);
    let mut second = Store::open(&url, &key()).unwrap();
    let entries = pools.each_mut().map(|pool| pool.recorded(slot(2)));
    let error = first.append_slot(slot(2), &entries).unwrap_err();
    assert!(error.to_string().contains("another recorder has taken over"), "{error}");
    assert!(second.append_slot(slot(2), &entries).unwrap().written);
    // The first process also detects this when it renews its lease.
    let begun = Instant::now();
    while first.is_open() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!first.is_open() && second.is_open());
    assert!(matches!(first.reopen(), Err(StoreError::Leased { .. })));
    drop(second);
    // A released lease is free immediately, and the process that returns continues from the stored state.
    first.reopen().unwrap();
    let entries = pools.each_mut().map(|pool| pool.recorded(slot(3)));
    assert!(first.append_slot(slot(3), &entries).unwrap().written);
    drop(first);
    assert_eq!(Reader::open(&url).unwrap().fsck(|_| {}).unwrap().slots, 4);
}

/// A recorder loses its connection after claiming a slot, possibly after signing it, and before its commit.
#[test]
fn what_was_about_to_be_signed_is_sealed_as_it_was_claimed_and_never_otherwise() {
    let home = TempDir::new().unwrap();
    for fills in [false, true] {
        let (url, mut pools) = store_with(2);
        let database = database_of(&url).unwrap();
        let folder = LogFolder::new(home.path().join(format!("log-{fills}")));
        let mut first = Store::open(&url, &key()).unwrap();
        let claimed = pools.each_mut().map(|pool| pool.recorded(slot(2)));
        let cut = std::thread::scope(|scope| {
            // The insert of the sealed slot waits for a lock until the connection is closed.
            let holding = scope.spawn(|| {
                let hold = "BEGIN; LOCK TABLE exitgap.sealed_slot IN SHARE ROW EXCLUSIVE MODE; SELECT pg_sleep(60)";
                shared().sql_as("postgres", database, hold).unwrap_err();
            });
            until(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = $db AND wait_event = 'PgSleep'",
                database,
            );
            let appending = scope.spawn(|| {
                let appended = if fills {
                    first.fill_until(slot(3)).map(|_| ())
                } else {
                    first.append_slot(slot(2), &claimed).map(|_| ())
                };
                (first, appended)
            });
            let waits = "FROM pg_stat_activity WHERE datname = $db AND wait_event = 'relation'";
            until(&format!("SELECT count(*) {waits}"), database);
            until(&format!("SELECT count(pg_terminate_backend(pid)) {waits}"), database);
            let let_go = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $db AND wait_event = 'PgSleep'";
            until(let_go, database);
            holding.join().unwrap();
            appending.join().unwrap()
        });
        let (first, appended) = cut;
        appended.unwrap_err();
        assert!(!first.is_open());
        assert_eq!(checkpoints(&url).len(), 2);
        let text = shared().sql(database, "SELECT checkpoint FROM exitgap.claim WHERE size = 3");
        assert!(text.contains("\n3\n"), "{text}");
        drop(first);
        run_out(&url);

        let mut second = Store::open(&url, &key()).unwrap();
        let others = pools.each_mut().map(|pool| pool.missing(MissingReason::RpcUnavailable));
        let error = second.append_slot(slot(2), &others).unwrap_err();
        assert!(matches!(error, StoreError::Claimed { size: 3 }), "{error}");
        assert_eq!(checkpoints(&url).len(), 2);
        assert_eq!(folder.seal_claimed(&mut second).unwrap(), Some(slot(2)));
        assert_eq!(folder.seal_claimed(&mut second).unwrap(), None);
        assert!(checkpoints(&url)[2].starts_with(&text));
        if !fills {
            assert!(!second.append_slot(slot(2), &claimed).unwrap().written);
        }
        let entries = pools.each_mut().map(|pool| pool.recorded(slot(4)));
        assert!(second.append_slot(slot(4), &entries).unwrap().written);
        folder.publish(second.reader()).unwrap();
        drop(second);
        assert_eq!(Reader::open(&url).unwrap().fsck_derived(|_| {}).unwrap().slots, 5);
        // The claims of sealed slots are removed; that of an unsealed slot stays.
        assert_eq!(shared().sql(database, "SELECT count(*) FROM exitgap.claim"), "1");
        shared().sql_as(RECORDER, database, "DELETE FROM exitgap.claim").unwrap();
    }
}

#[test]
fn a_claim_that_is_no_slot_is_refused_and_keeps_its_place() {
    let home = TempDir::new().unwrap();
    let (url, mut pools) = store_with(2);
    let database = database_of(&url).unwrap();
    let folder = LogFolder::new(home.path().join("log"));
    let mut store = Store::open(&url, &key()).unwrap();
    folder.publish(store.reader()).unwrap();
    let published = files(&home.path().join("log"));
    let manifest = published.iter().find(|(path, _)| path.ends_with("5957857.jsonl"));
    let manifest = std::str::from_utf8(&manifest.unwrap().1).unwrap();
    let epoch = shared().sql(database, "SELECT epoch FROM exitgap.sealer");
    let claim = format!(
        "SET exitgap.epoch = '{epoch}'; INSERT INTO exitgap.claim SELECT 3, slot, 'x', convert_to('{manifest}', 'UTF8') FROM exitgap.sealed_slot LIMIT 1; \
         INSERT INTO exitgap.claim_file VALUES (3, '../out', 'x')"
    );
    shared().sql_as(RECORDER, database, &claim).unwrap();
    let error = folder.seal_claimed(&mut store).unwrap_err();
    assert!(
        matches!(&error, RestoreError::Slot { reason, .. } if reason.contains("../out")),
        "{error}"
    );
    assert!(!home.path().join("out").exists());
    let entries = pools.each_mut().map(|pool| pool.recorded(slot(2)));
    assert!(matches!(store.append_slot(slot(2), &entries), Err(StoreError::Claimed { .. })));
    for sql in ["DELETE FROM exitgap.claim", "DELETE FROM exitgap.claim_file"] {
        let refused = shared().sql_as(RECORDER, database, sql).unwrap_err();
        assert!(refused.contains("a claim stays until its slot is sealed"), "{refused}");
    }
}

/// A slot that violates the schema could never be sealed.
#[test]
fn what_the_schema_refuses_is_not_claimed() {
    let (url, mut pools) = store_with(2);
    let database = database_of(&url).unwrap();
    let mut store = Store::open(&url, &key()).unwrap();
    let entries = pools.each_mut().map(|pool| pool.recorded(slot(2)));
    let alter = |sql: &str| shared().sql(database, &format!("ALTER TABLE exitgap.entry {sql}"));
    // Rejects the second pool's row, which is written last.
    alter("ADD CONSTRAINT never CHECK (slot <> 5957858 OR pool_no <> 2) NOT VALID");
    let error = store.append_slot(slot(2), &entries).unwrap_err();
    assert!(error.to_string().contains("never"), "{error}");
    assert!(store.is_open());
    let claims = || shared().sql(database, "SELECT count(*) FROM exitgap.claim WHERE size = 3");
    assert_eq!(claims(), "0");
    alter("DROP CONSTRAINT never");
    assert!(store.append_slot(slot(2), &entries).unwrap().written);
    assert_eq!(claims(), "1");
}

/// Claims are committed on another connection than the slot itself.
#[test]
fn a_store_whose_claims_are_cut_off_is_opened_again_and_goes_on() {
    let (url, mut pools) = store_with(2);
    let database = database_of(&url).unwrap();
    let mut store = Store::open(&url, &key()).unwrap();
    let mut entries = |n| pools.each_mut().map(|pool| pool.recorded(slot(n)));
    store.append_slot(slot(2), &entries(2)).unwrap();
    let cut = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE datname = '{database}' AND pid IN (
             SELECT pid FROM pg_stat_activity WHERE datname = '{database}' AND backend_type = 'client backend' ORDER BY backend_start OFFSET 1 LIMIT 1
         )"
    );
    // This is the second connection: after that of the slots, and before that of the lease, which opens with its first
    // renewal.
    assert_eq!(shared().sql("postgres", &cut), "1");
    let entries = entries(3);
    let error = store.append_slot(slot(3), &entries).unwrap_err();
    assert!(matches!(error, StoreError::Database { .. }), "{error}");
    assert!(!store.is_open());
    store.reopen().unwrap();
    assert!(store.append_slot(slot(3), &entries).unwrap().written);
    assert_eq!(checkpoints(&url).len(), 4);
}

static SIGNED: AtomicU32 = AtomicU32::new(0);

/// The fault: the server, which has no standby, is told to stop waiting for one. It commits with a warning.
#[test]
fn nothing_is_signed_after_a_commit_that_did_not_wait_for_its_standby() {
    let cluster = Cluster::start(&["fsync=off"]).unwrap();
    let url = cluster.store();
    let store = Store::open(&url, &key()).unwrap();
    let mut store = store.telling_signed(|_| {
        SIGNED.fetch_add(1, Ordering::Relaxed);
    });
    let mut pool = BusyPool::new(1, 3);
    store.append_slot(slot(0), &[pool.recorded(slot(0))]).unwrap();
    let set = |what: &str| {
        cluster.sql("postgres", &format!("ALTER SYSTEM {what}"));
        cluster.sql("postgres", "SELECT pg_reload_conf()");
    };
    let entries = [pool.recorded(slot(1))];
    // First the claim is written without confirmation; the second time it already exists and must be confirmed.
    for claims in ["0", "1"] {
        set("SET synchronous_standby_names = 'nobody'");
        let claimed = "SELECT count(*) FROM exitgap.claim WHERE size = 2";
        assert_eq!(cluster.sql(database_of(&url).unwrap(), claimed), claims);
        let error = std::thread::scope(|scope| {
            let appending = scope.spawn(|| store.append_slot(slot(1), &entries).unwrap_err());
            while !appending.is_finished() {
                cluster.stop_waiting();
                std::thread::sleep(Duration::from_millis(20));
            }
            appending.join().unwrap()
        });
        assert!(error.to_string().contains("committed with a warning"), "{error}");
        assert_eq!(SIGNED.load(Ordering::Relaxed), 1, "only slot 0 was signed");
        assert!(!store.is_open(), "what became of it is not known");
        set("RESET synchronous_standby_names");
        store.reopen().unwrap();
    }
    assert!(store.append_slot(slot(1), &entries).unwrap().written);
    assert_eq!(SIGNED.load(Ordering::Relaxed), 2);
}

/// The first server in the URL may be an old primary on which commits hang or are no longer allowed.
#[test]
fn a_server_that_lets_nobody_commit_keeps_no_recorder_from_the_next() {
    let mut old = Cluster::start(&["fsync=off"]).unwrap();
    let new = Cluster::start(&["fsync=off"]).unwrap();
    let database = old.database();
    assert_eq!(new.database(), database);
    old.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    old.sql("postgres", "SELECT pg_reload_conf()");
    let begun = Instant::now();
    while old.sql("postgres", "SHOW synchronous_standby_names") != "nobody" {
        assert!(begun.elapsed() < Duration::from_secs(30), "it is not set");
        std::thread::sleep(Duration::from_millis(20));
    }
    let host = |cluster: &Cluster| cluster.folder().display().to_string().replace('/', "%2F");
    let url = format!("postgresql://{RECORDER}@{},{}/{database}", host(&old), host(&new));
    let mut pool = BusyPool::new(1, 4);
    let begun = Instant::now();
    let mut store = Store::create(&url, &key()).unwrap();
    assert!(begun.elapsed() > Duration::from_secs(9), "a commit was waited for");
    assert!(store.append_slot(slot(0), &[pool.recorded(slot(0))]).unwrap().written);
    drop(store);
    let size = |cluster: &Cluster| {
        Reader::open(cluster.url(RECORDER, &database)).unwrap().log_size().unwrap()
    };
    assert_eq!((size(&old), size(&new)), (0, 1));
    old.kill().unwrap();
    let mut store = Store::open(&url, &key()).unwrap();
    assert!(store.append_slot(slot(1), &[pool.recorded(slot(1))]).unwrap().written);
    drop(store);
    assert_eq!(size(&new), 2);
}
