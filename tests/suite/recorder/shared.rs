//! Recorders that share the reading for one store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::series::MissingReason;
use exitgap_server::recorder::shared_reading::{Shard, ShareConfig, SharedSource, Shares};
use exitgap_server::recorder::{Clock, ManualClock, Moment, Recorder, Source, Stop};
use exitgap_store::shards::Share;
use exitgap_store::{Reader, Store};
use exitgap_tests::postgres::{RECORDER, database_of, shared};
use tokio::sync::watch;

use super::slots::{Act, Playing, Script, Scripted, at, entries, scripted};
use crate::scenes::store::{BusyPool, Place, key, slot};

/// The pools of one chain; every recorder has its own reader.
struct Market {
    pools: Vec<(PoolId, Arc<Mutex<Playing>>)>,
    script: Arc<Script>,
}

impl Market {
    fn new(script: impl Fn(u32) -> Act + Send + Sync + 'static) -> Self {
        let pool = |number| {
            let pool = BusyPool::new(number, 3);
            (pool.id.clone(), Playing::new(pool))
        };
        Self { pools: (1..=4).map(pool).collect(), script: Arc::new(script) }
    }

    fn ids(&self) -> Vec<PoolId> {
        self.pools.iter().map(|(id, _)| id.clone()).collect()
    }

    fn source(pools: Vec<(PoolId, Arc<Mutex<Playing>>)>, script: Arc<Script>) -> Source<Scripted> {
        Source {
            chain: pools[0].0.chain().clone(),
            pools: pools.iter().map(|(id, _)| (id.clone(), Direction::ZeroForOne)).collect(),
            make: Box::new(move || {
                let pools = pools.iter().map(|(_, pool)| pool.clone()).collect();
                Ok(scripted(pools, script.clone()))
            }),
        }
    }

    fn all(&self) -> Source<Scripted> {
        Self::source(self.pools.clone(), self.script.clone())
    }

    fn shards(&self) -> Vec<Shard> {
        Shard::all_of(self.pools[0].0.chain(), &self.ids(), 1)
    }

    /// A recorder's share of the reading.
    fn share(&self, store: &Path, clock: &ManualClock) -> Shares {
        let source = |shard: Shard| {
            let of = |(id, _): &&(PoolId, _)| shard.pools.contains(id);
            let pools: Vec<_> = self.pools.iter().filter(of).cloned().collect();
            let script = self.script.clone();
            let make = move || Self::source(pools.clone(), script.clone());
            SharedSource { shard, make: Arc::new(make) }
        };
        let sources = self.shards().into_iter().map(source).collect();
        let sharing = ShareConfig { store: store.to_owned(), seal_after: SEAL_AFTER, prove: false };
        Shares::start(sharing, sources, clock.clone()).unwrap()
    }

    /// Seals what the sharing recorders read, up to a slot.
    async fn seal(&self, store: &Path, clock: &ManualClock, until: u32) {
        let opened = Store::open(store, &key()).unwrap();
        let mut recorder = Recorder::new(opened, vec![self.all()], SEAL_AFTER);
        recorder.share_reading(self.shards());
        let (_sender, stop) = watch::channel(Stop::No);
        let clock = Paced(clock.clone());
        let ran = recorder.run(&clock, stop, Some(slot(until)));
        tokio::time::timeout(Duration::from_mins(2), ran).await.unwrap().unwrap();
        recorder.close().unwrap();
    }

    /// All entries as words, by slot and pool.
    fn entries(&self, store: &Path) -> Vec<BTreeMap<u32, &'static str>> {
        self.ids().iter().map(|id| entries(store, id)).collect()
    }
}

/// A clock that advances only when someone waits for it, and then only after a second for the others.
struct Paced(ManualClock);

impl Clock for Paced {
    fn now(&self) -> Duration {
        self.0.now()
    }

    async fn sleep_until(&self, time: Duration) {
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.0.sleep_until(time).await;
    }

    fn counted_at(&self, instant: tokio::time::Instant) -> Duration {
        self.0.counted_at(instant)
    }

    fn given_moment(&self) -> Option<Moment> {
        self.0.given_moment()
    }
}

const SEAL_AFTER: Duration = Duration::from_secs(12);

/// A store with a lease of one second.
fn store() -> PathBuf {
    format!("{}&options=-c%20exitgap.lease_s%3D1", shared().store().display()).into()
}

/// Waits until this many readings of a slot exist.
async fn read(store: &Path, n: u32, count: usize) {
    let database = database_of(store).unwrap().to_owned();
    let sql = format!("SELECT count(*) FROM exitgap.reading WHERE slot = {}", slot(n).number());
    let begun = Instant::now();
    while shared().sql(&database, &sql).parse::<usize>().unwrap() < count {
        assert!(begun.elapsed() < Duration::from_secs(30), "never {count} readings of slot {n}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until this many recorders hold shards.
async fn held_by(store: &Path, recorders: usize) {
    let database = database_of(store).unwrap().to_owned();
    let sql = "SELECT count(DISTINCT owner) FROM exitgap.shard WHERE until > clock_timestamp()";
    let begun = Instant::now();
    while shared().sql(&database, sql) != recorders.to_string() {
        assert!(begun.elapsed() < Duration::from_secs(30), "never {recorders} recorders");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A recorder that holds its shards and does not read them.
struct Hangs {
    stop: std::sync::mpsc::Sender<()>,
    attending: std::thread::JoinHandle<()>,
}

impl Hangs {
    fn start(store: &Path, names: Vec<String>) -> Self {
        let share = Share::open(store).unwrap();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let attending = std::thread::spawn(move || {
            while stopped.recv_timeout(Duration::from_millis(200)).is_err() {
                share.attend(&names, true).unwrap();
            }
        });
        Self { stop, attending }
    }

    /// Ends it without releasing anything.
    fn end(self) {
        self.stop.send(()).unwrap();
        self.attending.join().unwrap();
    }
}

/// One recorder with a file, and three recorders that share the reading, produce the same history, including the
/// signatures.
#[tokio::test(flavor = "multi_thread")]
async fn a_history_is_the_same_however_many_read_it() {
    let script = |n| if n == 2 { Act::Missing(MissingReason::CallReverted) } else { Act::Read };
    let (alone, together) = (Market::new(script), Market::new(script));
    let place = Place::new("alone.db");
    let (_sender, stop) = watch::channel(Stop::No);
    let mut recorder = super::slots::recorder(&place.path, vec![alone.all()]);
    recorder.run(&ManualClock::new(at(0)), stop, Some(slot(3))).await.unwrap();
    recorder.close().unwrap();

    let (store, clock) = (store(), ManualClock::new(at(0)));
    let shares = [(); 3].map(|()| together.share(&store, &clock));
    held_by(&store, 3).await;
    together.seal(&store, &clock, 3).await;
    drop(shares);
    assert_eq!(together.entries(&store), alone.entries(&place.path));
    let checkpoints = |store: &Path| {
        let reader = Reader::open(store).unwrap();
        [1, 2, 3, 4].map(|size| reader.checkpoint(size).unwrap().unwrap())
    };
    assert_eq!(checkpoints(&store), checkpoints(&place.path));
    let checked = Reader::open(&store).unwrap().fsck_derived(|_| {}).unwrap();
    assert_eq!(checked.slots, 4);
}

/// The fault: a recorder holds shards and does not read them until its lease expires; then another reads them in the
/// same slot.
#[tokio::test(flavor = "multi_thread")]
async fn shards_of_who_ends_within_a_slot_are_read_by_another() {
    let market = Market::new(|_| Act::Read);
    let (store, clock) = (store(), ManualClock::new(at(0)));
    let names: Vec<String> = market.shards().into_iter().map(|shard| shard.name).collect();
    let other = market.share(&store, &clock);
    let (hangs, shards) = (Hangs::start(&store, names), market.shards().len());
    held_by(&store, 2).await;
    clock.set(at(0) + Duration::from_secs(2));
    read(&store, 0, shards / 2).await;
    hangs.end();
    market.seal(&store, &clock, 0).await;
    drop(other);
    assert_eq!(market.entries(&store), vec![BTreeMap::from([(0, "recorded")]); 4]);
}

/// The faults: nobody reads; or a recorder holds shards and does not read them in time.
#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_reads_in_time_is_missing_and_why_is_told_apart() {
    let market = Market::new(|_| Act::Read);
    let (store, clock) = (store(), ManualClock::new(at(0)));
    market.seal(&store, &clock, 0).await;
    assert_eq!(market.entries(&store), vec![BTreeMap::from([(0, "recorder_down")]); 4]);

    let names: Vec<String> = market.shards().into_iter().map(|shard| shard.name).collect();
    let hangs = Hangs::start(&store, names);
    held_by(&store, 1).await;
    market.seal(&store, &clock, 1).await;
    hangs.end();
    let both = BTreeMap::from([(0, "recorder_down"), (1, "deadline_exceeded")]);
    assert_eq!(market.entries(&store), vec![both; 4]);
}

/// The fault: invalid readings, which any recorder could write to the database.
#[tokio::test(flavor = "multi_thread")]
async fn a_reading_that_is_none_costs_its_own_pools() {
    let market = Market::new(|_| Act::Read);
    let (store, clock) = (store(), ManualClock::new(at(0)));
    let shards = market.shards();
    let names: Vec<String> = shards.iter().map(|shard| shard.name.clone()).collect();
    let share = Share::open(&store).unwrap();
    let held = share.attend(&names, true).unwrap();
    let number = slot(0).number();
    let rest = r#""doubts":[],"proofs":{"proven":0,"oracles_proven":0,"unproven":{},"files":{}},"requests":0}"#;
    let pool = &shards[3].pools[0];
    let documents = [
        "no JSON".to_owned(),
        format!(r#"{{"version":2,"slot":{number},"chain":"anvil","pools":[],{rest}"#),
        format!(r#"{{"version":1,"slot":{},"chain":"anvil","pools":[],{rest}"#, number + 1),
        format!(
            r#"{{"version":1,"slot":{number},"chain":"anvil","pools":[{{"read":{{"pool":"{pool}","snapshot":"{{}}","state":"{{}}"}}}}],{rest}"#
        ),
    ];
    for (held, document) in held.iter().zip(&documents) {
        share.put(slot(0), held, document.as_bytes()).unwrap();
    }
    market.seal(&store, &clock, 0).await;
    let by_pool: BTreeMap<PoolId, _> =
        market.ids().into_iter().zip(market.entries(&store)).collect();
    let of = |shard: &Shard| by_pool[&shard.pools[0]][&0];
    assert_eq!(
        shards.iter().map(of).collect::<Vec<_>>(),
        ["recorder_down", "recorder_down", "recorder_down", "pool_unsupported"]
    );
}

/// The fault: until slot 2, the server rejects the claim of slot 1, which has already been read. So the sealing
/// recorder fails, and the slot's time is over. Control: if the same recorder reads and seals, the slot is lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_was_read_is_sealed_though_its_time_is_over() {
    let scripted = |store: &Path| {
        let database = database_of(store).unwrap().to_owned();
        let fired = Arc::new(Mutex::new(Vec::new()));
        let fires = fired.clone();
        let script = move |n| {
            let mut fires = fires.lock().unwrap();
            let sql = match n {
                1 => "ADD CONSTRAINT never CHECK (slot <> 5957857) NOT VALID",
                2 => "DROP CONSTRAINT never",
                _ => return Act::Read,
            };
            if !fires.contains(&n) {
                fires.push(n);
                shared().sql(&database, &format!("ALTER TABLE exitgap.claim {sql}"));
            }
            Act::Read
        };
        (Market::new(script), fired)
    };
    let control = store();
    let (market, fired) = scripted(&control);
    let opened = Store::open(&control, &key()).unwrap();
    let mut recorder = Recorder::new(opened, vec![market.all()], SEAL_AFTER);
    let (_sender, stop) = watch::channel(Stop::No);
    recorder.run(&ManualClock::new(at(0)), stop, Some(slot(3))).await.unwrap();
    recorder.close().unwrap();
    assert_eq!(*fired.lock().unwrap(), [1, 2]);
    let lost =
        BTreeMap::from([(0, "recorded"), (1, "recorder_down"), (2, "recorded"), (3, "recorded")]);
    assert_eq!(market.entries(&control), vec![lost; 4]);

    let (store, clock) = (store(), ManualClock::new(at(0)));
    let (market, fired) = scripted(&store);
    let share = market.share(&store, &clock);
    market.seal(&store, &clock, 3).await;
    drop(share);
    assert_eq!(*fired.lock().unwrap(), [1, 2]);
    let all = (0..4).map(|n| (n, "recorded")).collect::<BTreeMap<_, _>>();
    assert_eq!(market.entries(&store), vec![all; 4]);
}

/// The fault: the recorder that should seal a slot ends before sealing, and another takes over after the slot's time.
#[tokio::test(flavor = "multi_thread")]
async fn who_takes_over_seals_what_was_read_before() {
    let market = Market::new(|_| Act::Read);
    let (store, clock) = (store(), ManualClock::new(at(0)));
    let share = market.share(&store, &clock);
    market.seal(&store, &clock, 0).await;
    clock.set(at(1) + Duration::from_secs(2));
    read(&store, 1, 4).await;
    drop(share);
    clock.set(at(1) + Duration::from_mins(4));
    market.seal(&store, &clock, 1).await;
    let both = BTreeMap::from([(0, "recorded"), (1, "recorded")]);
    assert_eq!(market.entries(&store), vec![both; 4]);
    // After the next slot is frozen, no reading of this slot is left.
    let opened = Store::open(&store, &key()).unwrap();
    opened.freeze(slot(2)).unwrap();
    drop(opened);
    let count = "SELECT count(*) FROM exitgap.reading";
    assert_eq!(shared().sql_as(RECORDER, database_of(&store).unwrap(), count).unwrap(), "0");
}
