//! Recorders with separate databases that claim slots in one bucket, which may be unreachable.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use exitgap_core::series::MissingReason;
use exitgap_server::recorder::{ManualClock, Recorder, Source, Stop};
use exitgap_store::{LogFolder, Reader, Store};
use tempfile::TempDir;
use tokio::sync::watch;

use super::slots::{Act, Scripted, at, entries, numbered, source};
use crate::scenes::store::{key, slot, store_in};
use crate::store::bucket::Scene;
use crate::store::postgres::checkpoints;

/// A recorder on its own machine.
struct Machine {
    home: TempDir,
    recorder: Recorder<Scripted>,
}

impl Machine {
    fn new(bucket: &Scene, chain: Source<Scripted>) -> Self {
        Self::with(bucket, vec![chain])
    }

    fn with(bucket: &Scene, chains: Vec<Source<Scripted>>) -> Self {
        let home = TempDir::new().unwrap();
        let store = Store::create(store_in(home.path(), "series.db"), &key()).unwrap();
        let recorder = recorder(&home, store, bucket, chains);
        Self { home, recorder }
    }

    /// The same machine with another configuration.
    fn again(self, bucket: &Scene, chains: Vec<Source<Scripted>>) -> Self {
        let Self { home, recorder: before } = self;
        before.close().unwrap();
        let store = Store::open(store_in(home.path(), "series.db"), &key()).unwrap();
        let recorder = recorder(&home, store, bucket, chains);
        Self { home, recorder }
    }

    fn path(&self) -> PathBuf {
        store_in(self.home.path(), "series.db")
    }

    /// Records from one slot's instant until another slot is recorded.
    fn run(&mut self, from: u32, until: u32) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let (_sender, stop) = watch::channel(Stop::No);
        let clock = ManualClock::new(at(from));
        runtime.block_on(self.recorder.run(&clock, stop, Some(slot(until)))).unwrap();
    }
}

fn recorder(
    home: &TempDir,
    mut store: Store,
    bucket: &Scene,
    chains: Vec<Source<Scripted>>,
) -> Recorder<Scripted> {
    store.claim_in(bucket.claims());
    let mut recorder = Recorder::new(store, chains, std::time::Duration::from_mins(1));
    recorder.publish_in(LogFolder::new(home.path().join("log"))).unwrap();
    recorder
}

fn published(folder: &Path) -> u64 {
    let note = std::fs::read_to_string(folder.join("log/checkpoint")).unwrap();
    note.lines().nth(1).unwrap().parse().unwrap()
}

#[test]
fn whoever_claims_a_slot_first_says_what_it_is_and_the_other_goes_on() {
    let bucket = Scene::new(false);
    let chain = source(1, |_| Act::Read);
    let pool = chain.pools[0].0.clone();
    let mut one = Machine::new(&bucket, chain);
    let lagging = source(1, |_| Act::Missing(MissingReason::ChainLagging));
    let mut other = Machine::new(&bucket, lagging);
    one.run(0, 2);
    // It first seals the slots that are already claimed, then reads its own.
    other.run(3, 4);
    // It has read the slot that the other recorder claimed, and continues after it.
    one.run(3, 5);
    let (read, lagging) = ("recorded", "chain_lagging");
    let words = [(0, read), (1, read), (2, read), (3, lagging), (4, lagging), (5, read)];
    assert_eq!(entries(&one.path(), &pool), numbered(&words));
    assert_eq!(checkpoints(&other.path()), checkpoints(&one.path())[..5]);
    assert_eq!((published(one.home.path()), published(other.home.path())), (6, 5));
}

#[test]
fn a_bucket_that_is_away_costs_slots_and_what_may_be_claimed_is_sealed() {
    for (applies, second) in [(false, "recorder_down"), (true, "recorded")] {
        let bucket = Arc::new(Scene::new(applies));
        let faulty = bucket.clone();
        let chain = source(1, move |n| {
            // The slot's part is uploaded and its claim fails: either the claim is not written, or it is written
            // without a response.
            match n {
                1 => faulty.fail_after(1),
                2 => faulty.fail_after(-1),
                _ => {}
            }
            Act::Read
        });
        let pool = chain.pools[0].0.clone();
        let mut one = Machine::new(&bucket, chain);
        one.run(0, 3);
        assert!(bucket.failed() > 0);
        let words = [(0, "recorded"), (1, second), (2, "recorded"), (3, "recorded")];
        assert_eq!(entries(&one.path(), &pool), numbered(&words));
        assert_eq!(published(one.home.path()), 4);
        assert_eq!(Reader::open(one.path()).unwrap().fsck(|_| {}).unwrap().slots, 4);
    }
}

/// Both recorders are configured to retire a pool: one does it, and the other seals the same slot and continues.
#[test]
fn a_pool_retires_once_whoever_is_told_to() {
    let bucket = Scene::new(false);
    let both = || vec![source(1, |_| Act::Read), source(2, |_| Act::Read)];
    let pools = both().iter().map(|source| source.pools[0].0.clone()).collect::<Vec<_>>();
    let [mut one, mut other] = [(), ()].map(|()| Machine::with(&bucket, both()));
    one.run(0, 0);
    other.run(1, 1);
    one.run(1, 1);
    let first = || vec![source(1, |_| Act::Read)];
    let [mut one, mut other] = [one, other].map(|machine| {
        let mut machine = machine.again(&bucket, first());
        assert_eq!(machine.recorder.retire(&pools[1..]).unwrap(), pools[1..]);
        machine
    });
    one.run(2, 2);
    other.run(3, 4);
    for machine in [&one, &other] {
        let retired = (2, "retired");
        assert_eq!(entries(&machine.path(), &pools[1]).pop_last(), Some(retired));
    }
    assert_eq!(entries(&other.path(), &pools[0]).len(), 5);
}
