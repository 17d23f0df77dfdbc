//! A disturbed recorder beside an undisturbed one, slot by slot.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use exitgap_chain::ChainReader;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_server::recorder::Recorder;
use exitgap_store::Reader;

use super::nodes_claim::Difference;
use super::nodes_clock::SlotClock;
use super::nodes_front::{Fault, Fired};
use super::nodes_judge::{Judged, compare, compare_logs, difference, entries_at, is_in_doubt};
use super::nodes_plan::Pair;
use super::nodes_recorder::{Home, Running, SEAL_AFTER, Sealed, shorter_limits};
use super::nodes_scene::Scene;
use super::scene::slot;
use super::{Part, Result};
use crate::devchain::{Market, Rng};

/// A slot that takes longer than this has ended the recorder: it waits for nothing that takes as long.
const STUCK_AFTER: Duration = Duration::from_mins(2);

/// One slot in this many begins with a new process, besides those in which the chain's id is asked for.
const RESTARTS: u64 = 8;

/// The two recorders of a scene.
pub struct Lane<'a> {
    scene: &'a Scene,
    home: Home,
    clock: SlotClock,
    /// `None` only while one process takes the place of another.
    running: Option<Running>,
    reader: Reader,
    truth: Recorder<ChainReader>,
    truth_home: Home,
    next: u32,
    /// A fault ends once its slot is sealed: the only node recovers.
    alone: bool,
    sums: Sums,
}

/// What happened so far.
#[derive(Debug, Default)]
struct Sums {
    /// How the disturbed recorder ended, if it did.
    ended: Vec<String>,
    /// Pools that are missing although nothing of them was changed.
    missed: Vec<String>,
    /// Number of pools that are missing because their own data was changed.
    own_missed: u64,
    late: Vec<String>,
    slowest: Duration,
    slots: u64,
    retracted: u64,
    /// Snapshots that are not the undisturbed recorder's.
    other: Vec<OtherSnapshot>,
}

/// A snapshot that is not the undisturbed recorder's.
#[derive(Debug)]
struct OtherSnapshot {
    slot: Slot,
    pool: PoolId,
    difference: Difference,
    /// The fault of its slot.
    words: String,
}

/// A slot that was recorded.
#[derive(Debug)]
pub struct Passed {
    /// How it differs from the undisturbed one.
    pub judged: Judged,
    /// What became of the fault.
    pub fired: Fired,
}

impl<'a> Lane<'a> {
    /// Starts both recorders; `alone`: the disturbed one has one node.
    pub async fn start(scene: &'a Scene, home: Home, alone: bool) -> Result<Self> {
        let (truth_home, truth) = scene.undisturbed().await?;
        let clock = SlotClock::new(slot(0));
        let running = Some(home.start(&clock)?);
        let reader = Reader::open(home.store())?;
        let sums = Sums::default();
        Ok(Self { scene, home, clock, running, reader, truth, truth_home, next: 0, alone, sums })
    }

    /// Records a slot with a fault.
    pub async fn pass_with(
        &mut self,
        market: &mut Market<'_>,
        pair: &Pair,
        rng: &mut Rng,
    ) -> Result<Passed> {
        let pools = self.scene.pools();
        let contracts = self.scene.contracts().into_iter().map(|(contract, _)| contract);
        let others: Vec<_> = contracts.filter(|contract| !pools.contains(contract)).collect();
        let fault = pair.fault(&pools, &others, rng);
        // Only a new process, or one whose node has failed, asks for the chain's id.
        let restarts = pair.method == "eth_chainId" || rng.once_in(RESTARTS);
        let passed = self.pass(market, Some(fault), restarts).await?;
        if pair.change.asks_to_wait() {
            tokio::time::sleep(shorter_limits().retry_after_most).await;
        }
        Ok(passed)
    }

    /// Records a slot without a fault.
    pub async fn pass_without(&mut self, market: &mut Market<'_>) -> Result<Passed> {
        self.pass(market, None, false).await
    }

    async fn pass(
        &mut self,
        market: &mut Market<'_>,
        fault: Option<Fault>,
        restarts: bool,
    ) -> Result<Passed> {
        let at = slot(self.next);
        self.next += 1;
        market.play_slot(at.number().into()).await?;
        self.truth.record_slot(at).await?;
        let words = match &fault {
            Some(Fault { method, change, contract, .. }) => {
                format!("{} of {method}, contract {contract}", change.name)
            }
            None => "no fault".to_owned(),
        };
        let words = format!("slot {at}: {words}");
        if let Some(fault) = fault {
            self.scene.stage.set(fault);
        }
        if restarts {
            self.restart(at, &words)?;
        }
        self.clock.go_to(at);
        let (sealed, fired) = self.wait(at).await;
        if self.has_ended() {
            self.restart(at, &words)?;
        }
        self.note_time(sealed, &words);
        let truth = entries_at(self.truth.store()?.reader(), at)?;
        let judged = compare(&truth, &entries_at(&self.reader, at)?, at)?;
        self.note_judged(at, &judged, &fired, &words)?;
        Ok(Passed { judged, fired })
    }

    /// Ends the recorder, and starts another one at the instant of the slot.
    fn restart(&mut self, at: Slot, words: &str) -> Result<()> {
        if let Some(Err(why)) = self.running.take().map(Running::stop) {
            self.sums.ended.push(format!("{words}: {why}"));
        }
        self.clock.set(at);
        self.running = Some(self.home.start(&self.clock)?);
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.running.as_ref().is_none_or(Running::has_ended)
    }

    /// Waits until nothing is left to do in a slot.
    async fn wait(&self, at: Slot) -> (Option<Sealed>, Fired) {
        let begun = Instant::now();
        let mut sealed = None;
        let mut fired = None;
        while begun.elapsed() < STUCK_AFTER && !self.has_ended() {
            let settled = self.clock.settled(at);
            let is_settled = tokio::time::timeout(Duration::from_millis(10), settled).await.is_ok();
            sealed = sealed.or_else(|| self.running.as_ref()?.sealed(at));
            if self.alone && sealed.is_some() && fired.is_none() {
                fired = Some(self.scene.stage.clear());
            }
            if is_settled {
                break;
            }
        }
        (sealed, fired.unwrap_or_else(|| self.scene.stage.clear()))
    }

    fn note_time(&mut self, sealed: Option<Sealed>, words: &str) {
        self.sums.slots += 1;
        let Some(Sealed { report, after }) = sealed else {
            self.sums.late.push(format!("{words}: not sealed"));
            return;
        };
        self.sums.slowest = self.sums.slowest.max(after);
        self.sums.retracted += u64::from(report.retracted);
        if after > SEAL_AFTER {
            self.sums.late.push(format!("{words}: sealed after {} ms", after.as_millis()));
        }
    }

    fn note_judged(&mut self, at: Slot, judged: &Judged, fired: &Fired, words: &str) -> Result<()> {
        let changed = |contract| fired.contracts.contains(&contract);
        let contracts = self.scene.contracts().into_iter();
        let own: BTreeSet<PoolId> =
            contracts.filter(|(contract, _)| changed(*contract)).flat_map(|(_, of)| of).collect();
        for (pool, reason) in &judged.missing {
            if own.contains(pool) {
                self.sums.own_missed += 1;
            } else {
                let why = reason.as_ref().map_or("no entry", |reason| reason.code());
                self.sums.missed.push(format!("{words}: {pool} is missing, {why}"));
            }
        }
        for pool in &judged.other {
            let difference = difference(self.truth.store()?.reader(), &self.reader, pool, at)?;
            let words = format!("{words}: {pool}: {}", difference.words());
            self.sums.other.push(OtherSnapshot { slot: at, pool: pool.clone(), difference, words });
        }
        Ok(())
    }

    /// Ends the recorders, and writes down what happened: figures that begin with `prefix`.
    pub async fn finish(self, part: &mut Part, prefix: &str) -> Result<()> {
        let Self { home, running, reader, truth, truth_home, alone, mut sums, .. } = self;
        if let Some(Err(why)) = running.map(Running::stop) {
            sums.ended.push(format!("at the end: {why}"));
        }
        truth.close()?;
        let key = |name: &str| format!("{prefix}{name}");
        for words in sums.ended {
            part.problem(&key("process_ended"), words);
        }
        if !alone {
            for words in sums.missed {
                part.problem(&key("other_pools_missed"), words);
            }
            for words in sums.late {
                part.problem(&key("slots_late"), words);
            }
            part.set(&key("own_pools_missed"), sums.own_missed);
            part.set(&key("sealed_after_ms_max"), sums.slowest.as_millis());
        }
        part.set(&key("slots"), sums.slots);
        for key_name in ["in_doubt", "other_on_trust"] {
            part.set(&key(key_name), 0_u64);
        }
        for OtherSnapshot { slot, pool, difference, words } in sums.other {
            if is_in_doubt(&reader, &pool, slot)? {
                part.count(&key("in_doubt"));
            } else if difference.vouched.is_empty() {
                part.count(&key("other_on_trust"));
                part.note(format!("taken on trust: {words}"));
            } else {
                part.problem(&key("false_data_signed"), words);
            }
        }
        for _ in 0..sums.retracted {
            part.problem(&key("false_data_signed"), "a slot was retracted");
        }
        let logs = compare_logs(&home.store(), &truth_home.checked().plan).await?;
        part.set(&key("log_documents"), logs.count);
        part.set(&key("log_documents_other"), logs.other.len());
        Ok(())
    }
}
