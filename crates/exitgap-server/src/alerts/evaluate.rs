//! What each sealed slot makes of every kept rule.
//!
//! Rules are taken slot by slot, and all that a slot made is written in one transaction. Nothing here is to be kept: what
//! goes wrong is forgotten, read again from the database, and comes to the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use exitgap_api::AlertStanding;
use exitgap_core::alerts::{AlertRule, AlertRun, AlertRunError};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_store::alerts::{AlertStep, Alerts, AlertsError, ChangedAlert};
use exitgap_store::{AlertReadError, LogFolder, Pool, Reader, StoreError, WatchCache};

/// The most slots of a turn: between turns rules come and go.
const SLOTS: u32 = 288;

/// How many slots a rule goes without that what is known of its run is written down. The rules take turns.
const KEEP_EVERY: u32 = 12;

/// Why slots are not evaluated.
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

/// What came of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TurnOutcome {
    /// Slots that were evaluated.
    pub slots: u32,
    /// Events that were not there.
    pub events: usize,
    /// Whether there are more slots.
    pub more: bool,
}

/// A rule that is evaluated.
struct ActiveRule {
    run: AlertRun,
    state: String,
}

/// Evaluates the kept rules.
pub struct Evaluator {
    alerts: Arc<Alerts>,
    store: PathBuf,
    /// The log's folder, whose closed days have what left the store's database.
    days: LogFolder,
    known: Known,
}

/// What is known of the rules and of the store.
#[derive(Default)]
struct Known {
    reader: Option<Reader>,
    mark: i64,
    watched: HashMap<i64, ActiveRule>,
    /// The rules by the next slot that they take.
    next: BTreeMap<Slot, BTreeSet<i64>>,
    pools: HashMap<PoolId, (Pool, WatchCache)>,
}

impl Evaluator {
    /// Over the rules of a database and the slots of a store, which may not be there yet, with its log's folder.
    pub fn new(alerts: Arc<Alerts>, store: PathBuf, days: LogFolder) -> Self {
        Self { alerts, store, days, known: Known::default() }
    }

    /// Takes the rules that came, and every slot that was sealed since: not too many at once.
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
            // There is no rule that it says anything to.
            alerts.take_slot(newest, &[], known.mark, now_ms)?;
        }
        known.reader = Some(reader);
        Ok(turned)
    }
}

impl Known {
    /// Takes up the rules that came, and drops those that ended.
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
                // What was kept of a run and cannot be read is computed again from its first slot.
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

    /// The next slot that a rule takes, where it was sealed.
    fn due(&self, newest: Option<Slot>) -> Option<Slot> {
        let (slot, _) = self.next.first_key_value()?;
        newest.is_some_and(|newest| *slot <= newest).then_some(*slot)
    }

    /// What a slot makes of the rules that take it next.
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

    /// The same of the rules of a pool.
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
