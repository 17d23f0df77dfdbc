//! Evaluates every stored rule with each sealed slot.
//!
//! Rules are evaluated slot by slot, and one transaction writes all results of a slot. The state in memory is only a
//! cache: after an error it is dropped and read again from the database, with the same results.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use exitgap_api::AlertStanding;
use exitgap_core::alerts::{AlertRule, AlertRun, AlertRunError};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_store::alerts::{AlertStep, Alerts, AlertsError, ChangedAlert};
use exitgap_store::{AlertReadError, LogFolder, Pool, Reader, StoreError, WatchCache};

/// Maximum number of slots per turn: rules are added and removed between turns.
const SLOTS: u32 = 288;

/// Every this many slots, a rule's run state is saved. The rules take turns.
const KEEP_EVERY: u32 = 12;

/// Why slots could not be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The database of alerts.
    #[error(transparent)]
    Alerts(#[from] AlertsError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A slot of a pool.
    #[error(transparent)]
    Slot(#[from] AlertReadError),
    /// A run.
    #[error(transparent)]
    Run(#[from] AlertRunError),
}

/// The result of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TurnOutcome {
    /// Slots that were evaluated.
    pub slots: u32,
    /// Number of events that are new.
    pub events: usize,
    /// Whether there are more slots.
    pub more: bool,
}

/// A rule under evaluation.
struct ActiveRule {
    run: AlertRun,
    state: String,
}

/// Evaluates the stored rules.
pub struct Evaluator {
    alerts: Arc<Alerts>,
    store: PathBuf,
    /// The log's folder. Its closed days contain the slots that were pruned from the store's database.
    days: LogFolder,
    known: Known,
}

/// Cached state of the rules and of the store.
#[derive(Default)]
struct Known {
    reader: Option<Reader>,
    mark: i64,
    watched: HashMap<i64, ActiveRule>,
    /// The rules, keyed by the next slot they are evaluated with.
    next: BTreeMap<Slot, BTreeSet<i64>>,
    pools: HashMap<PoolId, (Pool, WatchCache)>,
}

impl Evaluator {
    /// Creates an evaluator for the rules of a database, the slots of a store (which may not exist yet), and its log's
    /// folder.
    pub fn new(alerts: Arc<Alerts>, store: PathBuf, days: LogFolder) -> Self {
        Self { alerts, store, days, known: Known::default() }
    }

    /// Evaluates new rules and newly sealed slots, up to a maximum number of slots.
    pub fn turn(&mut self, now_ms: u64) -> Result<TurnOutcome, EvaluateError> {
        let turned = self.take_slots(now_ms);
        if turned.is_err() {
            self.known = Known::default();
        }
        turned
    }

    fn take_slots(&mut self, now_ms: u64) -> Result<TurnOutcome, EvaluateError> {
        let Self { alerts, store, days, known } = self;
        known.learn(alerts)?;
        if known.reader.is_none() {
            known.reader = match Reader::open(&*store) {
                Ok(reader) => Some(reader.with_days(days.clone())),
                Err(StoreError::NotFound { .. }) => return Ok(TurnOutcome::default()),
                Err(error) => return Err(error.into()),
            };
        }
        let Some(reader) = known.reader.take() else { return Ok(TurnOutcome::default()) };
        let newest = reader.slots()?.map(|(_, newest)| newest);
        let mut turned = TurnOutcome::default();
        while let Some(slot) = known.due(newest) {
            if turned.slots == SLOTS {
                turned.more = true;
                break;
            }
            let stepped = known.step(&reader, slot)?;
            turned.events += alerts.take_slot(slot, &stepped, known.mark, now_ms)?;
            turned.slots += 1;
        }
        if let Some(newest) = newest.filter(|_| turned.slots == 0)
            && alerts.evaluated_slot()?.is_none_or(|evaluated| evaluated < newest)
        {
            // No rule has an event in this slot.
            alerts.take_slot(newest, &[], known.mark, now_ms)?;
        }
        known.reader = Some(reader);
        Ok(turned)
    }
}

impl Known {
    /// Adds new rules, and drops those that ended.
    fn learn(&mut self, alerts: &Alerts) -> Result<(), EvaluateError> {
        let (changed, mark) = alerts.changed_since(self.mark)?;
        self.mark = mark;
        for ChangedAlert { no, rule, run, state, over } in changed {
            if over {
                self.drop_rule(no);
            } else if !self.watched.contains_key(&no) {
                let rule = match AlertRule::from_json(&rule) {
                    Ok(rule) => rule,
                    Err(error) => {
                        tracing::error!(alert = no, %error, "a stored rule cannot be read");
                        continue;
                    }
                };
                // If the saved state of a run cannot be read, the run is recomputed from its first slot.
                let begin = |_| AlertRun::new(rule.clone());
                let run = AlertRun::from_kept(rule.clone(), &run).unwrap_or_else(begin);
                let Some(next) = run.next() else { continue };
                self.next.entry(next).or_default().insert(no);
                self.watched.insert(no, ActiveRule { run, state });
            }
        }
        Ok(())
    }

    fn drop_rule(&mut self, no: i64) {
        let Some(watched) = self.watched.remove(&no) else { return };
        if let Some(next) = watched.run.next()
            && let Some(rules) = self.next.get_mut(&next)
        {
            rules.remove(&no);
            if rules.is_empty() {
                self.next.remove(&next);
            }
        }
    }

    /// The next slot to evaluate, if it is sealed.
    fn due(&self, newest: Option<Slot>) -> Option<Slot> {
        let (slot, _) = self.next.first_key_value()?;
        newest.is_some_and(|newest| *slot <= newest).then_some(*slot)
    }

    /// Evaluates a slot for the rules that are due.
    fn step(&mut self, reader: &Reader, slot: Slot) -> Result<Vec<AlertStep>, EvaluateError> {
        let rules = self.next.remove(&slot).unwrap_or_default();
        let mut of_pool: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for no in rules {
            if let Some(watched) = self.watched.get(&no) {
                of_pool.entry(watched.run.rule().pool.to_string()).or_default().push(no);
            }
        }
        let mut stepped = Vec::new();
        for rules in of_pool.into_values() {
            self.step_pool(reader, slot, &rules, &mut stepped)?;
        }
        Ok(stepped)
    }

    /// Evaluates a slot for the due rules of one pool.
    fn step_pool(
        &mut self,
        reader: &Reader,
        slot: Slot,
        rules: &[i64],
        stepped: &mut Vec<AlertStep>,
    ) -> Result<(), EvaluateError> {
        let Self { watched: all, next: queue, pools, .. } = self;
        let first = rules.first().and_then(|no| all.get(no));
        let Some(id) = first.map(|watched| watched.run.rule().pool.clone()) else { return Ok(()) };
        if !pools.contains_key(&id)
            && let Some(pool) = reader.pool(&id)?
        {
            pools.insert(id.clone(), (pool, WatchCache::default()));
        }
        let sealed = match pools.get_mut(&id) {
            Some((pool, watching)) => reader.watched_slot(pool, slot, watching)?,
            None => None,
        };
        for no in rules {
            let Some(watched) = all.get_mut(no) else { continue };
            let Some(sealed) = &sealed else {
                tracing::error!(pool = %id, %slot, "the store does not have this slot; its rules wait");
                queue.entry(slot).or_default().insert(*no);
                return Err(StoreError::NotFound { path: PathBuf::from(id.to_string()) }.into());
            };
            let events = watched.run.process_slot(sealed.as_sealed_slot())?;
            let standing = AlertStanding::from(watched.run.state());
            let state = serde_json::to_string(&standing).unwrap_or_default();
            let is_new = state != watched.state;
            if is_new {
                watched.state.clone_from(&state);
            }
            let turn = u32::try_from(*no).unwrap_or(0).wrapping_add(slot.number());
            let ended = watched.run.next().is_none();
            let kept = !events.is_empty() || ended || turn.is_multiple_of(KEEP_EVERY);
            stepped.push(AlertStep {
                no: *no,
                run: kept.then(|| watched.run.keep()),
                state: is_new.then_some(state),
                events,
                ended,
            });
            match watched.run.next() {
                Some(next) => {
                    queue.entry(next).or_default().insert(*no);
                }
                None => {
                    all.remove(no);
                }
            }
        }
        Ok(())
    }
}
