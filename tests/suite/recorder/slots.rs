//! The recorder's loop with scripted chains: its entries when chains fail, clocks jump, or it is told to end.

use std::collections::BTreeMap;
use std::future::pending;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use exitgap_chain::{ReadFailure, SlotReading};
use exitgap_core::ids::{BlockHash, PoolId};
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;
use exitgap_server::recorder::{
    Clock, ManualClock, Recorder, RecorderError, SlotReader, Source, Stop,
};
use exitgap_store::{Outcome, Reader, Store, StoreError};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::scenes::store::{BusyPool, code_of, key, slot, store_in};

/// The behavior of a scripted chain at a slot, counted from the series' first.
pub(super) type Script = dyn Fn(u32) -> Act + Send + Sync;

pub(super) enum Act {
    /// Every pool is read.
    Read,
    /// Every pool is missing.
    Missing(MissingReason),
    /// The reading never ends.
    Hang,
}

/// A pool whose answer for a slot is always the same.
pub(super) struct Playing {
    pool: BusyPool,
    said: BTreeMap<Slot, Snapshot>,
}

impl Playing {
    pub fn new(pool: BusyPool) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { pool, said: BTreeMap::new() }))
    }

    fn snapshot(&mut self, slot: Slot) -> Snapshot {
        self.said.entry(slot).or_insert_with(|| self.pool.snapshot(slot)).clone()
    }
}

pub(super) struct Scripted {
    pools: Vec<Arc<Mutex<Playing>>>,
    script: Arc<Script>,
    /// The chain's blocks by number, for later questions.
    blocks: BTreeMap<u64, BlockHash>,
}

impl SlotReader for Scripted {
    async fn read_slot(&mut self, slot: Slot, _: Instant) -> SlotReading {
        let act = (self.script)(slot.number() - Slot::FIRST.number());
        if matches!(act, Act::Hang) {
            return pending().await;
        }
        let read = |pool: &Arc<Mutex<Playing>>| {
            let mut pool = pool.lock().unwrap();
            let result = match act {
                Act::Missing(reason) => Err(ReadFailure { reason, detail: "scripted".to_owned() }),
                _ => Ok(pool.snapshot(slot)),
            };
            (pool.pool.id.clone(), result)
        };
        let pools: Vec<_> = self.pools.iter().map(read).collect();
        let (chain, block) = (pools[0].0.chain().clone(), None);
        SlotReading { slot, chain, block, pools, events: vec![], requests: 1 }
    }

    async fn canonical_hash(&self, number: u64, _: Instant) -> Result<BlockHash, ReadFailure> {
        let unknown = || ReadFailure {
            reason: MissingReason::BlockUnavailable,
            detail: "scripted".to_owned(),
        };
        self.blocks.get(&number).copied().ok_or_else(unknown)
    }

    fn confirmations(&self) -> u32 {
        1
    }
}

/// A reader of these pools.
pub(super) fn scripted(pools: Vec<Arc<Mutex<Playing>>>, script: Arc<Script>) -> Scripted {
    Scripted { pools, script, blocks: BTreeMap::new() }
}

/// A chain with one pool.
pub(super) fn source(
    number: u8,
    script: impl Fn(u32) -> Act + Send + Sync + 'static,
) -> Source<Scripted> {
    let pool = BusyPool::new(number, 3);
    let id = pool.id.clone();
    let (pool, script): (_, Arc<Script>) = (Playing::new(pool), Arc::new(script));
    Source {
        chain: id.chain().clone(),
        pools: vec![(id, Direction::ZeroForOne)],
        make: Box::new(move || {
            let (pool, script) = (pool.clone(), script.clone());
            Ok(scripted(vec![pool], script))
        }),
    }
}

pub(super) fn recorder(path: &Path, sources: Vec<Source<Scripted>>) -> Recorder<Scripted> {
    let store = match Store::open(path, &key()) {
        Err(StoreError::NotFound { .. }) => Store::create(path, &key()),
        opened => opened,
    };
    Recorder::new(store.unwrap(), sources, Duration::from_mins(1))
}

pub(super) fn at(n: u32) -> Duration {
    Duration::from_secs(slot(n).unix_s())
}

/// The entries of the pool as words, by slot counted from the series' first.
pub(super) fn entries(path: &Path, pool: &PoolId) -> BTreeMap<u32, &'static str> {
    let reader = Reader::open(path).unwrap();
    let pool = reader.pool(pool).unwrap().expect("the pool is in the store");
    let page = reader.entries(&pool, Slot::FIRST, Slot::LAST, Reader::MAX_PAGE).unwrap();
    let in_words = |outcome| match outcome {
        Outcome::Recorded(_) => "recorded",
        Outcome::Missing(reason) => code_of(reason),
        Outcome::Retired => "retired",
    };
    let number = |slot: Slot| slot.number() - Slot::FIRST.number();
    page.entries.iter().map(|entry| (number(entry.slot), in_words(entry.outcome))).collect()
}

pub(super) fn numbered(words: &[(u32, &'static str)]) -> BTreeMap<u32, &'static str> {
    words.iter().copied().collect()
}

#[tokio::test]
async fn a_chain_that_panics_hangs_or_fails_costs_only_its_own_pools() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let good = source(1, |_| Act::Read);
    let bad = source(2, |n| match n {
        1 => panic!("scripted"),
        2 => Act::Hang,
        3 => Act::Missing(MissingReason::ChainLagging),
        _ => Act::Read,
    });
    let pools = [&good, &bad].map(|source| source.pools[0].0.clone());
    let mut recorder = recorder(&path, vec![good, bad]);
    for n in 0..5 {
        // Only a chain that hangs uses up its time; the other needs a short time.
        let budget = if n == 2 { Duration::from_secs(2) } else { Duration::from_mins(1) };
        let report = recorder.record_slot_within(slot(n), budget).await.unwrap();
        assert_eq!(report.recorded, if n % 4 == 0 { 2 } else { 1 }, "{report:?}");
        assert_eq!(report.missing.values().sum::<u32>() + report.recorded, 2);
    }
    let sealed = recorder.record_slot(slot(4)).await;
    assert!(matches!(sealed, Err(RecorderError::Sealed { last, .. }) if last == slot(4)));
    let all = |words: [&'static str; 5]| (0..).zip(words).collect::<BTreeMap<_, _>>();
    assert_eq!(entries(&path, &pools[0]), all(["recorded"; 5]));
    assert_eq!(
        entries(&path, &pools[1]),
        all(["recorded", "rpc_response_invalid", "deadline_exceeded", "chain_lagging", "recorded"])
    );
}

#[tokio::test]
async fn a_pool_taken_out_of_the_configuration_goes_missing_and_comes_back() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let both = || vec![source(1, |_| Act::Read), source(2, |_| Act::Read)];
    let pools = both().iter().map(|source| source.pools[0].0.clone()).collect::<Vec<_>>();
    let first = || both().into_iter().take(1).collect();
    for (n, sources) in [(0, both()), (1, first()), (3, both())] {
        let mut recorder = recorder(&path, sources);
        let unconfigured = recorder.unconfigured_pools().unwrap();
        assert_eq!(unconfigured.len(), usize::from(n == 1));
        assert_eq!(recorder.record_slot(slot(n)).await.unwrap().slot, slot(n));
    }
    let down = "recorder_down";
    let [one, two] = ["recorded", down]
        .map(|at_one| numbered(&[(0, "recorded"), (1, at_one), (2, down), (3, "recorded")]));
    assert_eq!(entries(&path, &pools[0]), one);
    assert_eq!(entries(&path, &pools[1]), two);
    let nothing: Vec<Source<Scripted>> = Vec::new();
    let empty = recorder(&store_in(folder.path(), "empty.db"), nothing).record_slot(slot(0)).await;
    assert!(matches!(empty, Err(RecorderError::NoPool)));
}

#[tokio::test]
async fn a_clock_that_jumps_is_followed_forwards_and_waited_for_backwards() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let clock = ManualClock::new(Duration::from_secs(7));
    let jumping = clock.clone();
    let chain = source(1, move |n| {
        match n {
            2 => jumping.set(at(4) + Duration::from_secs(299)),
            6 => jumping.set(at(1)),
            7 => jumping.set(at(9) + Duration::from_secs(70)),
            _ => {}
        }
        Act::Read
    });
    let pool = chain.pools[0].0.clone();
    let (_sender, stop) = watch::channel(Stop::No);
    let mut recorder = recorder(&path, vec![chain]);
    recorder.run(&clock, stop, Some(slot(11))).await.unwrap();
    let (read, down) = ("recorded", "recorder_down");
    let words = [read, read, read, down, down, read, read, read, down, down, read, read];
    assert_eq!(entries(&path, &pool), (0..).zip(words).collect());
    assert!(clock.now() >= at(11) && clock.now() < at(12));
}

#[tokio::test]
async fn a_clock_years_ahead_does_not_end_the_series() {
    const YEARS: u32 = 3 * 365 * Slot::PER_DAY;
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let clock = ManualClock::new(at(0));
    let (jumping, asked) = (clock.clone(), Arc::new(Mutex::new(Vec::new())));
    let log = asked.clone();
    let chain = source(1, move |n| {
        log.lock().unwrap().push(n);
        match n {
            0 => jumping.set(at(YEARS)),
            // An honest chain has no block after such a slot.
            YEARS => {
                jumping.set(at(1));
                return Act::Missing(MissingReason::ChainLagging);
            }
            // Two days of pause, which a chain confirms.
            2 => jumping.set(at(578)),
            _ => {}
        }
        Act::Read
    });
    let pool = chain.pools[0].0.clone();
    let (_sender, stop) = watch::channel(Stop::No);
    let mut recorder = recorder(&path, vec![chain]);
    recorder.run(&clock, stop, Some(slot(578))).await.unwrap();
    assert_eq!(*asked.lock().unwrap(), [0, YEARS, 1, 2, 578]);
    let entries = entries(&path, &pool);
    let recorded = |n: &u32| entries[n] == "recorded";
    assert_eq!(entries.keys().copied().filter(recorded).collect::<Vec<_>>(), [0, 1, 2, 578]);
    assert_eq!(entries.len(), 579);
}

/// Rechecks that were not made for most of a day, for example after a restore, are made up for within minutes.
#[tokio::test]
async fn rechecks_of_most_of_a_day_catch_up_within_a_few_slots() {
    const RECORDED: u32 = 280;
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    let mut pool = BusyPool::new(1, 3);
    let id = pool.id.clone();
    let mut blocks = BTreeMap::new();
    for n in 0..RECORDED {
        let entry = pool.recorded(slot(n));
        let block = entry.reading.as_ref().unwrap().observation().block();
        blocks.insert(block.number, block.hash);
        if n == RECORDED - 20 {
            blocks.insert(block.number, BlockHash([0xee; 32]));
        }
        store.append_slot(slot(n), &[entry]).unwrap();
    }
    let (pool, script): (_, Arc<Script>) = (Playing::new(pool), Arc::new(|_| Act::Read));
    let make = move || {
        let (pool, script, blocks) = (pool.clone(), script.clone(), blocks.clone());
        Ok(Scripted { pools: vec![pool], script, blocks })
    };
    let (chain, pools) = (id.chain().clone(), vec![(id, Direction::ZeroForOne)]);
    let source = Source { chain, pools, make: Box::new(make) };
    let mut recorder = Recorder::new(store, vec![source], Duration::from_mins(1));
    let mut retracted = Vec::new();
    for n in RECORDED..RECORDED + 6 {
        retracted.push(recorder.record_slot(slot(n)).await.unwrap().retracted);
    }
    // Two slots for the first check, one for the second, and the next head contains the retraction.
    assert_eq!(retracted, [0, 0, 0, 1, 0, 0]);
}

/// The fault: slots are limited to zero parts, so that each is rejected like a slot with too many pools.
#[tokio::test]
async fn a_slot_too_large_to_publish_is_left_out_and_the_recorder_goes_on() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let (sender, stop) = watch::channel(Stop::No);
    let chain = source(1, move |n| {
        if n == 2 {
            sender.send(Stop::AfterSlot).unwrap();
        }
        Act::Read
    });
    let store = Store::create(&path, &key()).unwrap().limit_parts(0);
    let mut recorder = Recorder::new(store, vec![chain], Duration::from_mins(1));
    let refused = recorder.record_slot(slot(0)).await.unwrap_err();
    let named = |error: &RecorderError| {
        matches!(error, RecorderError::Store(StoreError::SlotTooLarge { found: 1, most: 0, .. }))
    };
    assert!(named(&refused), "{refused}");
    recorder.run(&ManualClock::new(at(1)), stop, None).await.unwrap();
    assert_eq!(recorder.last_slot().unwrap(), None);
}

/// Runs a recorder that receives the stop request while slot 2 is read.
fn run_and_stop(path: &Path, how: Stop, then: Act) -> PoolId {
    let (sender, stop) = watch::channel(Stop::No);
    let then = Mutex::new(Some(then));
    let chain = source(1, move |n| {
        if n < 2 {
            return Act::Read;
        }
        sender.send(how).unwrap();
        then.lock().unwrap().take().expect("nothing is read after the end")
    });
    let pool = chain.pools[0].0.clone();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut recorder = recorder(path, vec![chain]);
    runtime.block_on(recorder.run(&ManualClock::new(at(0)), stop, None)).unwrap();
    // A chain that hangs blocks a thread until the slot's deadline.
    runtime.shutdown_background();
    pool
}

#[test]
fn asked_to_end_it_finishes_the_slot_and_told_to_end_it_drops_it_whole() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let read = "recorded";
    let pool = run_and_stop(&path, Stop::AfterSlot, Act::Read);
    assert_eq!(entries(&path, &pool), numbered(&[(0, read), (1, read), (2, read)]));
    let path = store_in(folder.path(), "dropped.db");
    let pool = run_and_stop(&path, Stop::Now, Act::Hang);
    assert_eq!(entries(&path, &pool), numbered(&[(0, read), (1, read)]));
    assert!(Store::open(&path, &key()).is_ok(), "the lock is free");
}
