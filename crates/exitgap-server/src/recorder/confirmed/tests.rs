//! Runs the recorder's loop with a chain whose pool can never be read, and with wrong clocks.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use exitgap_chain::{ReadFailure, SeenBlock, SeenHeads, SlotReading};
use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::tlog::SignerKey;
use exitgap_store::Store;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::time::Instant;

use super::super::{Clock, ManualClock, Moment, Recorder, SlotReader, Source, Stop, SystemClock};
use super::{ConfirmedTime, Sighting, keeps_pace};

const POOL: &str = "anvil:0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc";

fn slot(n: u32) -> Slot {
    Slot::new((Slot::FIRST.number() + n).into()).unwrap()
}

fn at(n: u32) -> Duration {
    Duration::from_secs(slot(n).unix_s())
}

/// The timestamp of a node's newest block when a slot is read, by the slot's number; `None`: no node answers.
type Script = dyn Fn(u32) -> Option<u64> + Send + Sync;

/// A chain of one pool that can never be read.
struct Unreadable {
    script: Arc<Script>,
    read: Arc<Mutex<Vec<u32>>>,
    heads: Option<SeenHeads>,
}

impl SlotReader for Unreadable {
    async fn read_slot(&mut self, slot: Slot, _: Instant) -> SlotReading {
        let n = slot.number() - Slot::FIRST.number();
        self.read.lock().unwrap().push(n);
        self.heads = (self.script)(n).map(|timestamp| {
            let latest = SeenBlock { timestamp, at: Instant::now() };
            SeenHeads { latest, is_live: false }
        });
        let missing =
            ReadFailure { reason: MissingReason::ChainLagging, detail: "scripted".to_owned() };
        let pool: PoolId = POOL.parse().unwrap();
        let chain = pool.chain().clone();
        let pools = vec![(pool, Err(missing))];
        SlotReading { slot, chain, block: None, pools, events: Vec::new(), requests: 1 }
    }

    fn seen_heads(&self) -> Option<SeenHeads> {
        self.heads
    }
}

/// The slots that a recorder read and sealed until it was stopped.
struct Ran {
    read: Vec<u32>,
    sealed: Option<u32>,
}

/// Runs a recorder with a clock until this many slots were read.
async fn run(
    clock: &ManualClock,
    reads: usize,
    script: impl Fn(u32) -> Option<u64> + Send + Sync + 'static,
) -> Ran {
    let home = TempDir::new().unwrap();
    run_in(home.path(), clock, reads, script).await
}

async fn run_in(
    home: &Path,
    clock: &ManualClock,
    reads: usize,
    script: impl Fn(u32) -> Option<u64> + Send + Sync + 'static,
) -> Ran {
    let read = Arc::new(Mutex::new(Vec::new()));
    let (sender, stop) = watch::channel(Stop::No);
    let log = read.clone();
    let counted = move |n| {
        if log.lock().unwrap().len() == reads {
            sender.send_replace(Stop::AfterSlot);
        }
        script(n)
    };
    let (script, asked): (Arc<Script>, _) = (Arc::new(counted), read.clone());
    let pool: PoolId = POOL.parse().unwrap();
    let source = Source {
        chain: pool.chain().clone(),
        pools: vec![(pool, Direction::ZeroForOne)],
        make: Box::new(move || {
            let (script, read) = (script.clone(), asked.clone());
            Ok(Unreadable { script, read, heads: None })
        }),
    };
    let path = home.join("series.db");
    let key = SignerKey::from_seed("exitgap.example/test", [7; 32]).unwrap();
    let store = if path.exists() { Store::open(&path, &key) } else { Store::create(&path, &key) };
    let mut recorder = Recorder::new(store.unwrap(), vec![source], Duration::from_mins(1));
    recorder.run(clock, stop, None).await.unwrap();
    let sealed = recorder.last_slot().unwrap();
    recorder.close().unwrap();
    let read = read.lock().unwrap().clone();
    Ran { read, sealed: sealed.map(|last| last.number() - Slot::FIRST.number()) }
}

/// A clock that is six hours ahead of its start time.
fn six_hours_ahead(n: u32) -> ManualClock {
    let clock = ManualClock::new(at(n));
    clock.set(at(n + 72));
    clock
}

#[tokio::test]
async fn a_clock_six_hours_ahead_seals_no_slot_that_is_still_to_come() {
    // The chain follows the true time; each slot that is read takes five minutes.
    let blocks = |n: u32| Some(slot(n - 72).unix_s() + 12);
    let ran = run(&six_hours_ahead(1), 3, blocks).await;
    assert_eq!((ran.read, ran.sealed), (vec![73, 74, 75], None));
    // Control: with blocks at that time, all three are sealed.
    let ran = run(&six_hours_ahead(1), 3, |n| Some(slot(n).unix_s() + 12)).await;
    assert_eq!((ran.read, ran.sealed), (vec![73, 74, 75], Some(75)));
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_seals_nothing_until_a_block_or_the_time_is_there() {
    let home = TempDir::new().unwrap();
    let clock = ManualClock::new(at(0));
    let jumping = clock.clone();
    // There are blocks up to slot 1; then the clock jumps by six hours, and no node answers any more.
    let ran = run_in(home.path(), &clock, 6, move |n| match n {
        0 => Some(slot(0).unix_s() + 12),
        1 => {
            jumping.set(at(73));
            Some(slot(1).unix_s() + 12)
        }
        _ => None,
    });
    let ran = ran.await;
    assert_eq!((ran.read, ran.sealed), (vec![0, 1, 73, 74, 75, 76], Some(1)));
    // Control: without the jump the same slots are sealed, based on the elapsed time.
    let ran = run(&ManualClock::new(at(0)), 6, |n| (n < 2).then(|| slot(n).unix_s() + 12)).await;
    assert_eq!((ran.read, ran.sealed), (vec![0, 1, 2, 3, 4, 5], Some(5)));
    // The clock is correct again: only the slots that the jump skipped are lost.
    clock.set(at(3));
    let ran = run_in(home.path(), &clock, 1, |n| Some(slot(n).unix_s() + 12)).await;
    assert_eq!((ran.read, ran.sealed), (vec![3], Some(3)));
}

#[tokio::test]
async fn a_slot_is_sealed_by_the_time_that_passed_since_a_block_however_late_that_was_seen() {
    // Blocks arrive 40 s late, and then stop: slots wait until their time has certainly come.
    let clock = six_hours_ahead(0);
    let ran = run(&clock, 4, |n| (n < 74).then(|| slot(n).unix_s() - 38)).await;
    assert_eq!((ran.read, ran.sealed), (vec![72, 73, 74, 75], Some(75)));
    assert_eq!(clock.now(), at(75) + Duration::from_secs(40));
    // Control: 60 s late is longer than a slot waits.
    let ran = run(&six_hours_ahead(0), 4, |n| (n < 74).then(|| slot(n).unix_s() - 58)).await;
    assert_eq!((ran.read, ran.sealed), (vec![72, 73, 74, 75], None));
}

#[test]
fn a_moment_counts_on_by_the_monotonic_clock() {
    let seconds = Duration::from_secs;
    let moment = Moment { time: at(5), counted: seconds(100) };
    assert_eq!(moment.time_at(seconds(100)), at(5));
    assert_eq!(moment.time_at(seconds(400)), at(6));
    // The earlier count gives no information about an earlier time.
    assert_eq!(moment.time_at(seconds(0)), at(5));
}

#[tokio::test]
async fn a_block_of_the_future_confirms_no_more_than_the_clock_shows() {
    let clock = ManualClock::new(at(0));
    let mut confirmed = ConfirmedTime::default();
    confirmed.note(&clock, Moment { time: at(1_000), counted: Duration::ZERO });
    let soon = Instant::now() + Duration::from_secs(5);
    assert!(confirmed.wait_for(&clock, slot(0), soon).await);
    clock.set(at(900));
    assert!(!confirmed.wait_for(&clock, slot(900), soon).await);
    // An earlier moment changes nothing.
    confirmed.note(&clock, Moment { time: Duration::ZERO, counted: Duration::ZERO });
    assert!(confirmed.wait_for(&clock, slot(0), soon).await);
}

fn sighting(time: Duration, counted: Duration, is_live: bool) -> Sighting {
    Sighting { moment: Moment { time, counted }, is_live }
}

#[tokio::test]
async fn one_future_block_confirms_no_time_once_it_is_gone() {
    let clock = ManualClock::new(at(0));
    let mut confirmed = ConfirmedTime::default();
    confirmed.begin(&clock, None);
    let soon = Instant::now() + Duration::from_secs(5);
    confirmed.note_sightings(&clock, &[sighting(at(9_000), Duration::ZERO, false)]);
    clock.set(at(72));
    // The clock jumped, and the node is honest again.
    let honest = at(0) + Duration::from_secs(12);
    confirmed.note_sightings(&clock, &[sighting(honest, Duration::ZERO, false)]);
    assert!(!confirmed.wait_for(&clock, slot(72), soon).await);
    // Nor while it shows the block still: neither clock shows that time.
    confirmed.note_sightings(&clock, &[sighting(at(9_000), Duration::ZERO, false)]);
    assert!(!confirmed.wait_for(&clock, slot(72), soon).await);
}

#[tokio::test]
async fn no_time_that_a_block_shows_ends_the_recorder() {
    let endless = Duration::from_secs(u64::MAX - 16);
    let sightings = [true, false].map(|is_live| sighting(endless, Duration::ZERO, is_live));
    for begins in [true, false] {
        let clock = ManualClock::new(at(0));
        let mut confirmed = ConfirmedTime::default();
        if begins {
            confirmed.begin(&clock, None);
        }
        confirmed.note_sightings(&clock, &sightings);
        let soon = Instant::now() + Duration::from_secs(5);
        assert!(!confirmed.wait_for(&clock, slot(72), soon).await);
    }
}

#[tokio::test]
async fn one_chains_future_block_confirms_no_time_that_another_live_chain_contradicts() {
    let soon = Instant::now() + Duration::from_secs(5);
    let seconds = Duration::from_secs;
    let judge = async |begins: bool, sightings: &[Sighting]| {
        let clock = six_hours_ahead(0);
        let mut confirmed = ConfirmedTime::default();
        if begins {
            confirmed.begin(&clock, None);
        }
        confirmed.note_sightings(&clock, sightings);
        confirmed.wait_for(&clock, slot(72), soon).await
    };
    let of = |time, is_live| sighting(time, Duration::ZERO, is_live);
    let (lying, honest) = (of(at(72) + seconds(12), false), of(at(0) + seconds(12), true));
    for begins in [true, false] {
        assert!(!judge(begins, &[lying, honest]).await);
        assert!(!judge(begins, &[honest, lying, honest]).await);
        // The control: the machine slept, and all chains are there; or the other one stands still.
        assert!(judge(begins, &[lying, lying]).await);
        assert!(judge(begins, &[lying, of(at(0), false)]).await);
        assert!(judge(begins, &[lying, lying, honest]).await, "two of three");
    }
}

#[tokio::test]
async fn a_chain_behind_the_last_sealed_slot_contradicts_no_time() {
    let soon = Instant::now() + Duration::from_secs(5);
    let of = |time, is_live| sighting(time, Duration::ZERO, is_live);
    let judge = async |last: Option<u32>| {
        let clock = six_hours_ahead(0);
        let mut confirmed = ConfirmedTime::default();
        confirmed.begin(&clock, last.map(slot));
        // One chain is there, and the other lags by two slots and more, but produces blocks.
        let lagging = of(at(70).saturating_sub(Duration::from_secs(10)), true);
        confirmed.note_sightings(&clock, &[of(at(72), true), lagging]);
        confirmed.wait_for(&clock, slot(72), soon).await
    };
    assert!(judge(Some(71)).await, "after a restart");
    // The control: where no slot after its block is sealed, it may be the one that shows the right time.
    assert!(!judge(None).await);
    assert!(!judge(Some(69)).await);
}

#[test]
fn a_chain_keeps_pace_where_it_goes_on_as_time_does() {
    let moment = |time, counted| {
        let seconds = Duration::from_secs;
        Moment { time: seconds(time), counted: seconds(counted) }
    };
    assert!(keeps_pace(moment(1_000, 0), moment(1_300, 300)));
    assert!(!keeps_pace(moment(1_000, 0), moment(1_000, 300)), "it stands still");
    assert!(!keeps_pace(moment(1_000, 0), moment(90_000, 300)), "a node catches up");
}

#[tokio::test]
async fn a_machines_clock_is_given_nothing_and_a_rehearsals_its_start() {
    assert_eq!(SystemClock::default().given_moment(), None);
    let rehearsal = SystemClock::starting_at(at(7)).at_pace(10);
    let given = rehearsal.given_moment().unwrap();
    assert!(given.time >= at(7) && given.time < at(8));
    let begun = Instant::now();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let before = rehearsal.counted_at(begun);
    let passed = rehearsal.counted_at(Instant::now()).saturating_sub(before);
    assert!(passed >= Duration::from_millis(200), "{passed:?}");
    assert!(rehearsal.now() >= given.time);
}
