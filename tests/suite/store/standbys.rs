//! The standbys that a commit must wait for, as described in the operator's guide: if one is promoted while the old
//! primary still runs, a recorder on the old primary must not sign anything. Also the return to normal operation.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use exitgap_store::Store;
use exitgap_tests::postgres::{Cluster, RECORDER, database_of};

use super::postgres::checkpoints;
use crate::scenes::store::{BusyPool, key, slot};

/// Number of slots that the old primary's recorder signed.
static SIGNED: AtomicU32 = AtomicU32::new(0);

/// A primary with one or two standbys and this setting for synchronous commits.
struct Servers {
    primary: Cluster,
    standbys: Vec<Cluster>,
}

impl Servers {
    fn start(names: &str, standbys: &[&str]) -> Self {
        let primary = Cluster::start(&["fsync=off"]).unwrap();
        let follow = |name: &&str| primary.standby_called(name, &["fsync=off"]).unwrap();
        let standbys = standbys.iter().map(follow).collect();
        let servers = Self { primary, standbys };
        servers.set(&format!("SET synchronous_standby_names = '{names}'"));
        servers.until("SELECT count(*) > 0 FROM pg_stat_replication WHERE sync_state <> 'async'");
        servers
    }

    fn set(&self, what: &str) {
        self.primary.sql("postgres", &format!("ALTER SYSTEM {what}"));
        self.primary.sql("postgres", "SELECT pg_reload_conf()");
    }

    fn until(&self, holds: &str) {
        let begun = Instant::now();
        while self.primary.sql("postgres", holds) != "t" {
            assert!(begun.elapsed() < Duration::from_secs(30), "never: {holds}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Returns how many slots the old primary's recorder signed after the first standby was promoted, and whether the new
/// primary has another history.
fn signed_by_the_old(names: &str, standbys: &[&str]) -> (u32, bool) {
    let servers = Servers::start(names, standbys);
    let old = servers.primary.store();
    SIGNED.store(0, Ordering::Relaxed);
    let mut store = Store::open(&old, &key()).unwrap().telling_signed(|_| {
        SIGNED.fetch_add(1, Ordering::Relaxed);
    });
    let mut pool = BusyPool::new(1, 3);
    store.append_slot(slot(0), &[pool.recorded(slot(0))]).unwrap();
    let new = &servers.standbys[0];
    new.promote().unwrap();
    servers.until(&format!(
        "SELECT count(*) = {} FROM pg_stat_replication WHERE state = 'streaming'",
        standbys.len() - 1
    ));

    let entries = [pool.recorded(slot(1))];
    std::thread::scope(|scope| {
        let appending = scope.spawn(|| store.append_slot(slot(1), &entries).is_ok());
        // Waits as long as a lease; a confirmed commit takes milliseconds.
        let begun = Instant::now();
        while !appending.is_finished() && begun.elapsed() < Duration::from_secs(15) {
            std::thread::sleep(Duration::from_millis(50));
        }
        let before = SIGNED.load(Ordering::Relaxed);
        // Cancels the wait of the commit, after which the recorder must not sign.
        while !appending.is_finished() {
            servers.primary.stop_waiting();
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(appending.join().unwrap(), before == 2);
        assert_eq!(SIGNED.load(Ordering::Relaxed), before, "it was let go, and signed");
    });
    drop(store);
    let signed_after = SIGNED.load(Ordering::Relaxed) - 1;

    // The new primary seals the slot with other bytes.
    let database = database_of(&old).unwrap();
    new.sql(database, "ALTER SYSTEM RESET synchronous_standby_names");
    new.sql(database, "SELECT pg_reload_conf()");
    new.sql(database, "UPDATE exitgap.sealer SET until = '-infinity'");
    let url = new.url(RECORDER, database);
    let mut store = Store::open(&url, &key()).unwrap();
    store.append_slot(slot(1), &[pool.recorded(slot(1))]).unwrap();
    drop(store);
    let last = |url: &Path| checkpoints(url).pop().unwrap();
    (signed_after, signed_after == 1 && last(&old) != last(&url))
}

#[test]
#[ignore = "slow: a minute, with `cargo xtask test --all`"]
fn commits_wait_for_each_standby_that_may_be_promoted() {
    assert_eq!(signed_by_the_old("FIRST 1 (b)", &["b"]), (0, false));
    assert_eq!(signed_by_the_old("FIRST 2 (b, c)", &["b", "c"]), (0, false));
    // Control: with the setting that the guide warns of, two histories are signed.
    assert_eq!(signed_by_the_old("ANY 1 (b, c)", &["b", "c"]), (1, true));
    assert_eq!(signed_by_the_old("*", &["b", "c"]), (1, true));
}

#[test]
#[ignore = "slow: with `cargo xtask test --all`"]
fn after_a_failover_nothing_is_recorded_until_the_new_primary_has_a_standby() {
    let mut servers = Servers::start("FIRST 1 (b)", &["b"]);
    let old = servers.primary.store();
    let database = database_of(&old).unwrap();
    let mut pool = BusyPool::new(1, 3);
    let mut store = Store::open(&old, &key()).unwrap();
    store.append_slot(slot(0), &[pool.recorded(slot(0))]).unwrap();
    servers.primary.kill().unwrap();
    drop(store);
    let new = &servers.standbys[0];
    new.promote().unwrap();
    new.sql(database, "UPDATE exitgap.sealer SET until = '-infinity'");
    new.sql(database, "ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (a)'");
    new.sql(database, "SELECT pg_reload_conf()");
    let url = new.url(RECORDER, database);
    let entries = [pool.recorded(slot(1))];
    let back = std::thread::scope(|scope| {
        let recording = scope.spawn(|| {
            // Like a recorder that waits to take over.
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_mins(2) {
                if let Ok(mut store) = Store::open(&url, &key())
                    && store.append_slot(slot(1), &entries).is_ok_and(|appended| appended.written)
                {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(200));
            }
            false
        });
        std::thread::sleep(Duration::from_secs(5));
        assert!(!recording.is_finished(), "it was recorded without a standby");
        let recorded = new.sql(database, "SELECT count(*) FROM exitgap.sealed_slot");
        assert_eq!(recorded, "1");
        let back = new.standby_called("a", &["fsync=off"]).unwrap();
        assert!(recording.join().unwrap(), "never recorded");
        back
    });
    assert_eq!(new.waited_for(), 1);
    let copied = back.sql(database, "SELECT count(*) FROM exitgap.sealed_slot");
    assert_eq!((copied.as_str(), checkpoints(&url).len()), ("2", 2));
}
