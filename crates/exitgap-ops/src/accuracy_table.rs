//! One table of the accuracy of all pools. The sums of one take seconds and of all minutes: no question waits for them.
//! Rows are made one after the other beside the questions, remembered, and made anew once an hour.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use exitgap_api::operations::{AccuracyAsked, Operation, PoolsAsked, parameters};
use exitgap_api::{AccuracyRow, AccuracySummary, AccuracyTable, Guards, Problem};
use exitgap_core::analytics::accuracy::ACCURACY;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;

use super::current::PoolNow;
use super::{Current, Service};

/// A row is made anew after so many slots of its pool.
const REMADE_SLOTS: u32 = 12;

/// The rows so far: of each pool one at most.
#[derive(Debug, Default)]
pub(super) struct AccuracyRows(Mutex<BTreeMap<PoolId, Made>>);

/// A row, and the newest slot of its pool when it was made.
#[derive(Debug)]
struct Made {
    at: Slot,
    told: Result<AccuracySummary, String>,
}

impl AccuracyRows {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PoolId, Made>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// The pools of a chain, or all, with the rows that were made.
    pub fn accuracy_table(&self, asked: &PoolsAsked) -> Result<AccuracyTable, Problem> {
        let (current, rows) = (self.current(), self.accuracy_rows.lock());
        let mut selected = of_chain(&current, asked)?;
        let waiting = selected.iter().filter(|now| !rows.contains_key(&now.pool.id)).count();
        let after = asked.after.as_ref();
        selected.retain(|now| after.is_none_or(|after| now.pool.id > *after));
        let row = |now: &&PoolNow| {
            let name = now.labels.as_ref().map(|_| now.name.clone());
            let told = rows.get(&now.pool.id).map(|made| made.told.clone());
            AccuracyRow::new(now.pool.id.to_string(), name, told)
        };
        let pools: Vec<AccuracyRow> = selected.iter().take(asked.limit).map(row).collect();
        let more = selected.len() > pools.len();
        let next_cursor = pools.last().filter(|_| more).map(|last| last.pool.clone());
        let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
        Ok(AccuracyTable { figure: ACCURACY.to_owned(), waiting, pools, next_cursor })
    }

    /// Makes the row that is due longest, of a pool without one first. Gives whether there was one.
    pub async fn make_accuracy_row(&self) -> bool {
        let due = {
            let (current, rows) = (self.current(), self.accuracy_rows.lock());
            let due = current.pools.values().filter_map(|now| {
                let at = rows.get(&now.pool.id).map(|made| made.at);
                let newest = now.latest.entry.slot;
                let is_due =
                    at.is_none_or(|at| newest.number().saturating_sub(at.number()) >= REMADE_SLOTS);
                is_due.then(|| (at, now.pool.id.clone(), newest))
            });
            due.min()
        };
        let Some((_, pool, at)) = due else { return false };
        let told = self.accuracy_row(&pool, at).await;
        let told = told.map_err(|problem| AccuracySummary::refused(&problem));
        self.accuracy_rows.lock().insert(pool, Made { at, told });
        true
    }

    async fn accuracy_row(&self, pool: &PoolId, at: Slot) -> Result<AccuracySummary, Problem> {
        let asked = AccuracyAsked {
            pool: pool.clone(),
            from: None,
            to: Some(at),
            guards: Guards::default(),
        };
        let told = self.accuracy(asked).await?;
        let of_period = Operation::Accuracy
            .target_of(pool)
            .with(&parameters::PERIOD_FROM, &told.record.from)
            .with(&parameters::TO, at);
        let accuracy_url = [self.urls().base.as_str(), of_period.as_str()].concat();
        Ok(AccuracySummary::of(told, at.to_string(), accuracy_url))
    }
}

/// The pools of the chain asked for, in order.
fn of_chain<'a>(current: &'a Current, asked: &PoolsAsked) -> Result<Vec<&'a PoolNow>, Problem> {
    if let Some(chain) = &asked.chain {
        current.require_chain(chain)?;
    }
    let is_of =
        |now: &&PoolNow| asked.chain.as_ref().is_none_or(|chain| now.pool.id.chain() == chain);
    Ok(current.pools.values().filter(is_of).collect())
}
