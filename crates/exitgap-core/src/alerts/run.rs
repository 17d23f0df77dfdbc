//! Evaluates a rule, slot by slot.

use super::event::{AlertCheckpoint, AlertEvent, AlertEventType, Parts, evidence_url};
use super::rule::{AlertRule, OnMissing};
use super::sample::{AlertReading, Sample};
use super::state::{AlertState, AlertStatus, step};
use crate::evidence::{Head, HeadEntry, MAX_RETRACTION_SLOTS};
use crate::ids::{DocumentHash, PoolId};
use crate::json::{VERSION, from_canonical, to_canonical, wire_struct};
use crate::series::Slot;
use crate::snapshot::Snapshot;

/// The most samples in an event.
const MOST_SAMPLES: usize = 12;

/// The most events that are kept, with their slots, for later corrections.
const MOST_DECIDED: usize = 64;

/// The maximum size of a run's saved state, in bytes.
const MAX_RUN_BYTES: usize = 64 << 10;

/// A slot of the rule's pool.
#[derive(Debug, Clone, Copy)]
pub struct SealedSlot<'a> {
    /// The pool's head.
    pub head: &'a Head,
    /// The snapshot that the head names, if any.
    pub snapshot: Option<&'a Snapshot>,
    /// The first checkpoint that covers the slot.
    pub checkpoint: &'a AlertCheckpoint,
}

/// Why a run cannot continue or cannot be restored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AlertRunError {
    /// The head belongs to another pool.
    #[error("the head belongs to {found}, which is not the rule's pool")]
    OtherPool {
        /// The head's pool.
        found: Box<PoolId>,
    },
    /// A slot was skipped or given twice.
    #[error("slot {found} follows where {expected} is expected")]
    OutOfOrder {
        /// The next slot of the run.
        expected: Slot,
        /// The given slot.
        found: Slot,
    },
    /// The saved state of a run cannot be read.
    #[error("the saved state of the run cannot be read: {0}")]
    Kept(String),
}

/// The value of a slot that the run has processed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub slot: Slot,
    pub sample: Sample,
    pub value: String,
    pub is_recorded: bool,
}

wire_struct!(Seen { slot, sample, value, is_recorded });

/// The slots that an event was based on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct EventSlots {
    seq: u32,
    slots: Vec<Slot>,
}

wire_struct!(EventSlots { seq, slots });

/// The whole saved state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    v: u32,
    state: AlertState,
    seq: u32,
    live: bool,
    ended: bool,
    last: Option<Slot>,
    recent: Vec<Seen>,
    decided: Vec<EventSlots>,
}

wire_struct!(Kept { v, state, seq, live, ended; optional last, recent, decided });

/// The evaluation of a rule. It can be saved and resumed after any slot and still produces the same events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRun {
    rule: AlertRule,
    canonical: Vec<u8>,
    hash: DocumentHash,
    kept: Kept,
}

impl AlertRun {
    /// A run before its first slot.
    pub fn new(rule: AlertRule) -> Self {
        let (canonical, hash) = (rule.to_canonical(), rule.hash());
        let kept = Kept {
            v: VERSION,
            state: AlertState::default(),
            seq: 0,
            live: false,
            ended: false,
            last: None,
            recent: Vec::new(),
            decided: Vec::new(),
        };
        Self { rule, canonical, hash, kept }
    }

    /// Resumes from the state that [`AlertRun::keep`] returned.
    pub fn from_kept(rule: AlertRule, kept: &[u8]) -> Result<Self, AlertRunError> {
        let kept: Kept = from_canonical(kept, MAX_RUN_BYTES, "alert run")
            .map_err(|error| AlertRunError::Kept(error.to_string()))?;
        Ok(Self { kept, ..Self::new(rule) })
    }

    /// The state to save, as canonical bytes.
    pub fn keep(&self) -> Vec<u8> {
        to_canonical(&self.kept).unwrap_or_default()
    }

    /// The rule.
    pub fn rule(&self) -> &AlertRule {
        &self.rule
    }

    /// The current state.
    pub fn state(&self) -> AlertState {
        self.kept.state
    }

    /// How many events it has made.
    pub fn seq(&self) -> u32 {
        self.kept.seq
    }

    /// The next slot, or `None` if the run has ended.
    pub fn next(&self) -> Option<Slot> {
        if self.kept.ended {
            return None;
        }
        self.kept.last.map_or(Some(self.rule.first_slot), Slot::next)
    }

    /// Processes the next slot and returns the resulting events. The caller does not pass slots before the rule's first
    /// slot, or slots in which the pool did not exist yet.
    pub fn process_slot(
        &mut self,
        sealed: SealedSlot<'_>,
    ) -> Result<Vec<AlertEvent>, AlertRunError> {
        let SealedSlot { head, snapshot, checkpoint } = sealed;
        if head.pool != self.rule.pool {
            return Err(AlertRunError::OtherPool { found: Box::new(head.pool.clone()) });
        }
        let slot = head.slot;
        let expected = self.next().unwrap_or(slot);
        // A pool may begin after its rule.
        let begins = self.kept.last.is_none() && slot > expected && head.height == 0;
        if self.kept.ended || (slot != expected && !begins) {
            return Err(AlertRunError::OutOfOrder { expected, found: slot });
        }
        self.kept.last = Some(slot);
        if let Some(snapshot) = snapshot {
            self.kept.live = snapshot.observation().chain().kind.is_live();
        }
        let mut said = self.corrections(head, checkpoint);
        if head.entry == HeadEntry::Retired {
            self.kept.ended = true;
            let standing = [self.kept.state.standing; 2];
            said.push(self.event(AlertEventType::Ended, standing, Vec::new(), head, checkpoint));
            return Ok(said);
        }
        let AlertReading { sample, value } = AlertReading::from_head(&self.rule, head, snapshot);
        let counted = match (sample, self.rule.on_missing) {
            (Sample::Nothing, OnMissing::Breach) => Sample::Breach,
            (Sample::Nothing, OnMissing::Clear) => Sample::Clear,
            (sample, _) => sample,
        };
        let recent = &mut self.kept.recent;
        let is_recorded = snapshot.is_some();
        recent.push(Seen { slot, sample: counted, value, is_recorded });
        // Slots without a value can come between the slots that decide an event.
        let kept = recent.len().saturating_sub(4 * MOST_SAMPLES);
        recent.drain(..kept);
        let before = self.kept.state;
        let (after, events) =
            step(self.rule.times, self.rule.on_missing, before, slot.number(), sample);
        self.kept.state = after;
        let mut from = before.standing;
        for (place, event) in events.iter().enumerate() {
            // The `Data` event comes first and restores the status from before the data was missing.
            let to = match event {
                AlertEventType::Data if before.fired_before => AlertStatus::Firing,
                AlertEventType::Data if place + 1 < events.len() => AlertStatus::Ok,
                _ => after.standing,
            };
            let run = self.run_of(*event, before);
            said.push(self.event(*event, [from, to], run, head, checkpoint));
            from = to;
        }
        Ok(said)
    }

    /// The samples that an event is based on, newest last.
    fn run_of(&self, event: AlertEventType, before: AlertState) -> Vec<Seen> {
        let times = self.rule.times;
        let (class, count) = match event {
            AlertEventType::Firing => (Some(Sample::Breach), before.hot.saturating_add(1)),
            AlertEventType::Resolved => (Some(Sample::Clear), times.clear_for_slots),
            AlertEventType::NoData => (Some(Sample::Nothing), times.no_data_slots),
            _ => (None, 1),
        };
        let count = usize::try_from(count).unwrap_or(MOST_SAMPLES).clamp(1, MOST_SAMPLES);
        let of_class = |seen: &&Seen| class.is_none_or(|class| seen.sample == class);
        let mut run: Vec<Seen> =
            self.kept.recent.iter().rev().filter(of_class).take(count).cloned().collect();
        run.reverse();
        run
    }

    /// Events that were based on slots that this head retracts get corrections.
    fn corrections(&mut self, head: &Head, checkpoint: &AlertCheckpoint) -> Vec<AlertEvent> {
        let reach = head.slot.number().saturating_sub(MAX_RETRACTION_SLOTS);
        self.kept
            .decided
            .retain(|decided| decided.slots.last().is_some_and(|slot| slot.number() >= reach));
        let mut found = Vec::new();
        for retraction in &head.retracts {
            for decided in &self.kept.decided {
                if decided.slots.contains(&retraction.slot) {
                    found.push((decided.seq, retraction.slot));
                }
            }
        }
        let standing = [self.kept.state.standing; 2];
        let corrected = |(seq, slot)| {
            let seen = self.kept.recent.iter().find(|seen| seen.slot == slot).cloned();
            let run = seen.into_iter().collect();
            self.make(AlertEventType::Corrected, standing, run, head, checkpoint, Some((seq, slot)))
        };
        found.into_iter().map(corrected).collect()
    }

    fn event(
        &mut self,
        event: AlertEventType,
        standing: [AlertStatus; 2],
        run: Vec<Seen>,
        head: &Head,
        checkpoint: &AlertCheckpoint,
    ) -> AlertEvent {
        let slots: Vec<Slot> = run.iter().map(|seen| seen.slot).collect();
        let made = self.make(event, standing, run, head, checkpoint, None);
        if matches!(event, AlertEventType::Firing | AlertEventType::Resolved) {
            self.kept.decided.push(EventSlots { seq: made.seq, slots });
            let over = self.kept.decided.len().saturating_sub(MOST_DECIDED);
            self.kept.decided.drain(..over);
        }
        made
    }

    fn make(
        &mut self,
        event: AlertEventType,
        standing: [AlertStatus; 2],
        run: Vec<Seen>,
        head: &Head,
        checkpoint: &AlertCheckpoint,
        corrects: Option<(u32, Slot)>,
    ) -> AlertEvent {
        self.kept.seq += 1;
        let with_url = |seen: Seen| {
            let url = evidence_url(&self.rule, seen.slot, seen.is_recorded);
            (seen, url)
        };
        AlertEvent::from_parts(Parts {
            event,
            alert: &self.rule.alert,
            rule: &self.canonical,
            rule_hash: self.hash,
            seq: self.kept.seq,
            slot: head.slot,
            standing: standing.map(AlertStatus::code),
            threshold: self.rule.threshold(),
            samples: run.into_iter().map(with_url).collect(),
            checkpoint,
            method_version: &head.method_version,
            live: self.kept.live,
            corrects,
        })
    }
}
