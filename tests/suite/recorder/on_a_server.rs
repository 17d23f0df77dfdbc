//! Recorders with a store on a server: one waits for the other, and both survive an outage of the server.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use exitgap_server::recorder::{ManualClock, Stop};
use exitgap_store::shards::Share;
use exitgap_store::{LogFolder, Reader};
use exitgap_tests::postgres::{Cluster, database_of, shared};
use tempfile::TempDir;
use tokio::sync::watch;

use super::binary::{Running, Site, played};
use super::slots::{Act, at, entries, recorder, source};
use crate::scenes::clock;
use crate::scenes::days::audit;
use crate::scenes::left_days::{DAYS, Scene};
use crate::scenes::operator::server as operate;
use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::store::slot;

/// A separate configuration for this store, with its own folder and a lease of 2 s.
fn configured(site: &Site, store: &Path, name: &str) -> String {
    let text = fs::read_to_string(&site.config).unwrap();
    let url = format!("{}&options=-c%20exitgap.lease_s%3D2", store.display());
    let text = text.replace("path = \"series.db\"", &format!("path = \"{url}\""));
    let evidence = format!("[evidence]\nfolder = \"log-{name}\"\n[log]\n");
    let path = site.folder.path().join(format!("{name}.toml"));
    fs::write(&path, text.replace("[log]\n", &evidence)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Ends the second recorder and requires that it published both slots as one history.
fn ends_with_both_slots(second: Running, site: &Site, store: &Path) {
    second.signal("TERM");
    assert_eq!(second.end().0, Some(0));
    let both = BTreeMap::from([(0, "recorded"), (1, "recorded")]);
    assert_eq!(Site::entries_of(store), both);
    let log = site.folder.path().join("log-b");
    let audited = audit(&log, log.join("verifier-key").to_str().unwrap());
    assert_eq!((&audited["verdict"], &audited["slots"]), (&"valid".into(), &2.into()));
}

/// Two recorders on one machine with the same key and separate folders.
#[tokio::test(flavor = "multi_thread")]
async fn a_recorder_that_waits_takes_over_from_one_that_is_killed() {
    let (chain, world) = played(2).await;
    let site = Site::new(&world, &chain.url());
    let store = shared().store();
    let mut first = Site::record_as(&configured(&site, &store, "a"), 0, None, &[]);
    assert_eq!(first.line("slot")["recorded"], 2);
    let mut second = Site::record_as(&configured(&site, &store, "b"), 1, None, &[]);
    let waits = second.line("another recorder seals; waiting to take over");
    let holder = format!("process {}", first.child.id());
    assert!(waits["holder"].as_str().unwrap().contains(&holder), "{waits}");
    // A waiting recorder ends cleanly when it is told to.
    let mut third = Site::record_as(&configured(&site, &store, "c"), 1, None, &[]);
    third.line("another recorder seals; waiting to take over");
    third.signal("TERM");
    third.line("stopped while another recorder seals");
    assert_eq!(third.end().0, Some(0));
    // A service that should also record does not wait, but fails.
    let serve = ["serve", "--config", &configured(&site, &store, "d"), "--listen", "127.0.0.1:0"];
    let (code, _, said) = operate(site.folder.path(), &serve);
    assert!(code == Some(1) && said.contains("another recorder ("), "{said}");
    assert!(said.contains(&holder), "{said}");
    first.kill();
    assert_eq!(second.line("slot")["recorded"], 2);
    ends_with_both_slots(second, &site, &store);
}

/// The complete operator procedure: three commands move a store from a file to a server, two recorders use it, and each
/// of them is killed once, one while it records a slot.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_moved_is_recorded_by_two_whichever_is_killed() {
    let (chain, world) = played(4).await;
    let proxy = Proxy::start(&chain.url());
    let site = Site::new(&world, &proxy.url());
    let alone = Site::record_as(site.config.to_str().unwrap(), 0, Some(0), &[]);
    assert_eq!(alone.end().0, Some(0));
    let cluster = Cluster::start(&["fsync=off"]).unwrap();
    let store = cluster.url("gaps_recorder", "gaps");
    let configs = ["a", "b"].map(|name| configured(&site, &store, name));
    fs::rename(site.folder.path().join("exitgap-log"), site.folder.path().join("log-a")).unwrap();
    let admin = cluster.url("postgres", "postgres");
    for command in [&["migrate", "--as", admin.to_str().unwrap()][..], &["restore"]] {
        let words = [command, &["--config", &configs[0]]].concat();
        let (code, _, said) = operate(site.folder.path(), &words);
        assert_eq!(code, Some(0), "{command:?}: {said}");
    }
    let waiting = |which: usize, n| {
        let mut waiting = Site::record_as(&configs[which], n, None, &[]);
        waiting.line("another recorder seals; waiting to take over");
        waiting
    };
    let mut first = Site::record_as(&configs[0], 1, None, &[]);
    assert_eq!(first.line("slot")["recorded"], 2);
    // The second recorder takes over, requests its first slot, and is killed before the node answers.
    let second = waiting(1, 2);
    let (asked, was_asked) = channel();
    let asked = Mutex::new(asked);
    proxy.lie(move |_, _| {
        // The test waits only for the first request.
        let _ = asked.lock().unwrap().send(());
        Some(Lie::Hang)
    });
    first.kill();
    was_asked.recv_timeout(Duration::from_mins(1)).unwrap();
    let mut first = waiting(0, 2);
    second.kill();
    proxy.be_honest();
    assert_eq!(first.line("slot")["recorded"], 2);
    let mut second = waiting(1, 3);
    first.kill();
    assert_eq!(second.line("slot")["recorded"], 2);
    second.signal("TERM");
    assert_eq!(second.end().0, Some(0));
    let all = (0..4).map(|n| (n, "recorded")).collect();
    assert_eq!(Site::entries_of(&store), all);
    for (name, slots) in [("log-a", 3), ("log-b", 4)] {
        let log = site.folder.path().join(name);
        let audited = audit(&log, log.join("verifier-key").to_str().unwrap());
        assert_eq!((&audited["verdict"], &audited["slots"]), (&"valid".into(), &slots.into()));
    }
}

/// Both recorders read: the waiting one reads its share, and everything after the other is gone.
#[tokio::test(flavor = "multi_thread")]
async fn recorders_that_share_the_reading_take_over_from_each_other() {
    let (chain, world) = played(2).await;
    let site = Site::new(&world, &chain.url());
    let store = shared().store();
    let sharing = |name| {
        let config = configured(&site, &store, name);
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, text.replace("[log]\n", "[recorder]\nshard_pools = 1\n[log]\n"))
            .unwrap();
        config
    };
    let mut first = Site::record_as(&sharing("a"), 0, None, &[]);
    assert_eq!(first.line("shard read")["recorded"], 1);
    assert_eq!(first.line("slot")["recorded"], 2);
    let mut second = Site::record_as(&sharing("b"), 1, None, &[]);
    let share = second.line("reads its share");
    assert_eq!((&share["shards"], &share["of"]), (&1.into(), &2.into()));
    assert_eq!(second.line("shard read")["recorded"], 1);
    first.kill();
    assert_eq!(second.line("shard read")["recorded"], 1);
    assert_eq!(second.line("slot")["recorded"], 2);
    ends_with_both_slots(second, &site, &store);
    // A recorder that ends cleanly releases its shards at once.
    let held = "SELECT count(*) FROM exitgap.shard WHERE until > clock_timestamp()";
    assert_eq!(shared().sql(database_of(&store).unwrap(), held), "0");
    // A recorder without information about the others' reading reports this.
    let others = Share::open(&store).unwrap();
    assert_eq!(others.attend(&["anvil/0".to_owned()], true).unwrap().len(), 1);
    let mut alone = Site::record_as(&configured(&site, &store, "b"), 1, None, &[]);
    alone.line(
        "other recorders share the reading of this store, but this recorder ignores what they read: set [recorder] shard_pools to the same value on each machine",
    );
    alone.kill();
}

/// The fault: one machine's clock is an hour slow when its recorder starts, and another machine's clock jumps an hour
/// ahead while it seals.
#[tokio::test(flavor = "multi_thread")]
async fn a_recorder_whose_clock_is_wrong_leaves_the_store_to_another() {
    // An hour of slots, so that a block exists for every clock setting.
    let (chain, world) = played(13).await;
    let site = Site::new(&world, &chain.url());
    let store = shared().store();
    let clock = site.folder.path().join("clock");
    let library = clock::faketime();
    let off = clock::set_by(&clock, &library);
    fs::write(&clock, "-1h\n").unwrap();
    let (first, second) = (configured(&site, &store, "a"), configured(&site, &store, "b"));
    let alone = configured(&site, &shared().store(), "c");
    let mut behind = Site::record_as(&alone, 0, None, &off);
    let said = behind.line("not recording until the clock is set");
    assert!(
        said["error"].as_str().unwrap().contains(" s behind the clock of the server"),
        "{said}"
    );
    // It continues after its clock is corrected.
    fs::write(&clock, "+0\n").unwrap();
    assert_eq!(behind.line("slot")["recorded"], 2);
    behind.kill();
    let mut seals = Site::record_as(&first, 0, None, &off);
    assert_eq!(seals.line("slot")["recorded"], 2);
    let mut other = Site::record_as(&second, 1, None, &[]);
    other.line("another recorder seals; waiting to take over");
    fs::write(&clock, "+1h\n").unwrap();
    assert_eq!(other.line("slot")["recorded"], 2);
    let said = seals.line("the store is lost; trying to reconnect every 2 s");
    assert!(
        said["error"].as_str().unwrap().contains(" s ahead of the clock of the server"),
        "{said}"
    );
    other.kill();
    let both = BTreeMap::from([(0, "recorded"), (1, "recorded")]);
    assert_eq!(Site::entries_of(&store), both);
    // Control: a file store has no second clock, so it seals slots of an hour in the future.
    fs::write(&clock, "+0\n").unwrap();
    let mut alone = Site::record_as(site.config.to_str().unwrap(), 0, None, &off);
    assert_eq!(alone.line("slot")["slot"], "2026-08-22T00:00:00Z");
    fs::write(&clock, "+1h\n").unwrap();
    assert_eq!(alone.line("slot")["slot"], "2026-08-22T01:00:00Z");
    alone.kill();
}

#[tokio::test]
async fn a_server_that_is_killed_with_a_slot_in_hand_costs_no_slot() {
    let cluster = Cluster::start(&[]).unwrap();
    let path = cluster.store();
    let cluster = Arc::new(Mutex::new(Some(cluster)));
    let (killed, kills) = (cluster.clone(), Arc::new(Mutex::new(0)));
    let counted = kills.clone();
    let chain = source(1, move |n| {
        let mut kills = counted.lock().unwrap();
        if n == 2 && *kills == 0 {
            *kills += 1;
            let mut cluster = killed.lock().unwrap();
            let cluster = cluster.as_mut().unwrap();
            cluster.kill().unwrap();
            cluster.start_again().unwrap();
        }
        Act::Read
    });
    let pool = chain.pools[0].0.clone();
    let (_sender, stop) = watch::channel(Stop::No);
    let mut recorder = recorder(&path, vec![chain]);
    let clock = ManualClock::new(at(0));
    let ran = recorder.run(&clock, stop, Some(slot(4)));
    tokio::time::timeout(Duration::from_mins(2), ran).await.unwrap().unwrap();
    assert_eq!(*kills.lock().unwrap(), 1);
    assert_eq!(entries(&path, &pool), (0..5).map(|n| (n, "recorded")).collect());
    drop((recorder, cluster));
}

/// The fault: the server rejects the row that seals slot 2 after the slot was claimed, and accepts it later.
#[tokio::test]
async fn a_slot_that_was_claimed_and_not_sealed_is_sealed_before_the_next() {
    let home = TempDir::new().unwrap();
    let path = shared().store();
    let database = database_of(&path).unwrap().to_owned();
    let alter = move |sql: &str| {
        shared().sql(&database, &format!("ALTER TABLE exitgap.sealed_slot {sql}"));
    };
    let chain = source(1, move |n| {
        match n {
            2 => alter("ADD CONSTRAINT never CHECK (slot <> 5957858) NOT VALID"),
            3 => alter("DROP CONSTRAINT IF EXISTS never"),
            _ => {}
        }
        Act::Read
    });
    let pool = chain.pools[0].0.clone();
    let (_sender, stop) = watch::channel(Stop::No);
    let mut recorder = recorder(&path, vec![chain]);
    recorder.publish_in(LogFolder::new(home.path().join("log"))).unwrap();
    let clock = ManualClock::new(at(0));
    let ran = recorder.run(&clock, stop, Some(slot(4)));
    tokio::time::timeout(Duration::from_mins(1), ran).await.unwrap().unwrap();
    assert_eq!(entries(&path, &pool), (0..5).map(|n| (n, "recorded")).collect());
    drop(recorder);
    assert_eq!(Reader::open(&path).unwrap().fsck_derived(|_| {}).unwrap().slots, 5);
}

/// A pool is read again after such a long time that the day of its last snapshot has left the database.
#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn a_recorder_begins_where_a_pool_was_last_read_in_a_day_that_has_left() {
    for publishes in [false, true] {
        let scene = Scene::new();
        scene.write_days();
        let (code, said) = scene.prune(&["--one-copy", "--hot-days", "10"]);
        assert_eq!(code, Some(0), "{said}");
        let pool = &scene.pools[3].id;
        let mut recorder = recorder(&scene.url, vec![source(4, |_| Act::Read)]);
        if publishes {
            recorder.publish_in(scene.folder()).unwrap();
        }
        let next = (DAYS - 1) * 288 + 1;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let (_sender, stop) = watch::channel(Stop::No);
        let clock = ManualClock::new(at(next));
        runtime.block_on(recorder.run(&clock, stop, Some(slot(next)))).unwrap();
        recorder.close().unwrap();
        let reader = Reader::open(&scene.url).unwrap();
        let pool = reader.pool(pool).unwrap().unwrap();
        assert!(reader.snapshot_at(&pool, slot(next)).unwrap().is_some());
    }
}
