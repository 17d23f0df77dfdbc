//! The list of pools.

use exitgap_api::{Number, PoolEntry, PoolList, Problem};
use exitgap_core::ids::{ChainSlug, PoolId};
use exitgap_core::series::days_observed_hundredths;
use exitgap_store::Outcome;

use super::{PoolNow, Service};

impl Service {
    /// The pools of a chain, or all, after the pool `after` in the order of their names: at
    /// most `limit`.
    pub fn pools(
        &self,
        chain: Option<&ChainSlug>,
        after: Option<&PoolId>,
        limit: usize,
    ) -> Result<PoolList, Problem> {
        let current = self.current();
        if let Some(chain) = chain {
            current.require_chain(chain)?;
        }
        let mut selected = current
            .pools
            .values()
            .filter(|now| chain.is_none_or(|chain| now.pool.id.chain() == chain))
            .filter(|now| after.is_none_or(|after| now.pool.id > *after));
        let pools: Vec<PoolEntry> = selected.by_ref().take(limit).map(entry).collect();
        let more = selected.next().is_some();
        let next_cursor = pools.last().filter(|_| more).map(|last| last.pool.clone());
        Ok(PoolList { pools, next_cursor })
    }
}

fn entry(now: &PoolNow) -> PoolEntry {
    let PoolNow { pool, latest, labels } = now;
    let recorded = u64::from(latest.entry.recorded_count);
    let slots = u64::from(latest.entry.slot.number().saturating_sub(pool.first_slot.number())) + 1;
    let token = |index: usize| labels.as_ref().map(|labels| labels.tokens[index].clone());
    PoolEntry {
        pool: pool.id.to_string(),
        chain: pool.id.chain().to_string(),
        status: labels.as_ref().map(|labels| labels.status),
        base: token(pool.default_base.base_index()),
        quote: token(pool.default_base.quote_index()),
        series_start: pool.first_slot.to_string(),
        days_observed: Number::from_hundredths(days_observed_hundredths(recorded)),
        slots_recorded: recorded,
        slots_missing: slots.saturating_sub(recorded),
        last_slot: latest.entry.slot.to_string(),
        last_slot_missing: match latest.entry.outcome {
            Outcome::Recorded(_) | Outcome::Retired => None,
            Outcome::Missing(reason) => Some(reason.code().to_owned()),
        },
    }
}
