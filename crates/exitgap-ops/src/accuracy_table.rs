//! The table of the accuracy of all pools. One row takes seconds to compute and the whole table minutes, so no request
//! waits for it. Rows are computed in the background, one after the other, cached, and recomputed after a seventh of
//! their period has passed: after an hour for a young series, after a day for a week.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use exitgap_api::operations::{AccuracyAsked, Operation, PoolsAsked, parameters};
use exitgap_api::{AccuracyRow, AccuracySummary, AccuracyTable, Guards, Problem};
use exitgap_core::analytics::accuracy::ACCURACY;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;

use super::current::PoolNow;
use super::{Current, Service};

/// The minimum and maximum number of slots after which a row is recomputed.
const REMADE_SLOTS: [u32; 2] = [12, 288];

/// The rows computed so far, at most one per pool.
#[derive(Debug, Default)]
pub(super) struct AccuracyRows(Mutex<BTreeMap<PoolId, Made>>);

/// A row, with the pool's newest slot when the row was computed.
#[derive(Debug)]
struct Made {
    at: Slot,
    told: Result<AccuracySummary, String>,
}

impl Made {
    /// Whether the row must be recomputed at this slot.
    fn is_due(&self, newest: Slot) -> bool {
        let [least, most] = REMADE_SLOTS;
        let of_period = |row: &AccuracySummary| (row.slots / 7).clamp(least, most);
        let after = self.told.as_ref().map_or(least, of_period);
        newest.number().saturating_sub(self.at.number()) >= after
    }
}

impl AccuracyRows {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PoolId, Made>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// The pools of a chain, or all pools, with the rows computed so far.
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

    /// Computes the row that is most overdue; pools without a row come first. Returns whether there was one.
    pub async fn make_accuracy_row(&self) -> bool {
        let due = {
            let (current, rows) = (self.current(), self.accuracy_rows.lock());
            let due = current.pools.values().filter_map(|now| {
                let (made, newest) = (rows.get(&now.pool.id), now.latest.entry.slot);
                let is_due = made.is_none_or(|made| made.is_due(newest));
                is_due.then(|| (made.map(|made| made.at), now.pool.id.clone(), newest))
            });
            due.min()
        };
        let Some((_, pool, at)) = due else { return false };
        let told = self.accuracy_row(&pool, at).await;
        let told = told.map_err(|problem| AccuracySummary::refusal_code(&problem));
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
        Ok(AccuracySummary::from_accuracy(told, at.to_string(), accuracy_url))
    }
}

/// The pools of the requested chain, in order.
fn of_chain<'a>(current: &'a Current, asked: &PoolsAsked) -> Result<Vec<&'a PoolNow>, Problem> {
    if let Some(chain) = &asked.chain {
        current.require_chain(chain)?;
    }
    let is_of =
        |now: &&PoolNow| asked.chain.as_ref().is_none_or(|chain| now.pool.id.chain() == chain);
    Ok(current.pools.values().filter(is_of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row over this many slots, computed at slot 100 of the series.
    fn made(slots: Option<u32>) -> Made {
        let row = |slots: u32| {
            let counts = serde_json::json!({
                "from": "", "to": "", "until": "", "status": "preview", "enough": false, "slots": slots, "judged_slots": 0,
                "slots_waiting": 0, "stretches": 0, "stretches_incomplete": 0, "swaps": 0, "compared": 0,
                "not_compared": { "fills_incomplete": 0, "estimate_refused": 0, "two_sided": 0, "zero": 0,
                    "out_of_range": 0 },
                "n": 0, "exact_n": 0, "bracketed_n": 0, "worst_for_seller_pct": null, "abs_error_pct_q50": null, "abs_error_pct_q95": null, "worst_pct": null,
                "mean_error_pct": null, "days_observed": 0, "method_version": "", "method": {
                    "window": { "from": "", "to": "", "slots_recorded": 0, "slots_missing": 0 },
                    "depth_source": { "kind": "recorded_snapshot" } }, "accuracy_url": "", "figure_url": "",
            });
            serde_json::from_value(counts).unwrap()
        };
        Made { at: at(100), told: slots.map(row).ok_or_else(|| "no_snapshot_yet".to_owned()) }
    }

    fn at(place: u64) -> Slot {
        Slot::new(u64::from(Slot::FIRST.number()) + place).unwrap()
    }

    #[test]
    fn rows_are_made_anew_after_a_seventh_of_their_period() {
        for (slots, after) in
            [(Some(0), 12), (Some(84), 12), (Some(700), 100), (Some(2_016), 288), (None, 12)]
        {
            assert!(!made(slots).is_due(at(99 + after)), "{slots:?}");
            assert!(made(slots).is_due(at(100 + after)), "{slots:?}");
        }
    }
}
