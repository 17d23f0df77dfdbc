//! The list of pools.

use exitgap_api::operations::PoolsAsked;
use exitgap_api::{PoolEntry, PoolFacts, PoolList, Problem};

use super::{PoolNow, Service};

impl Service {
    /// The pools of a chain, or all pools, in the order of their names.
    pub fn pools(&self, asked: &PoolsAsked) -> Result<PoolList, Problem> {
        let PoolsAsked { chain, after, limit } = asked;
        let current = self.current();
        if let Some(chain) = chain {
            current.require_chain(chain)?;
        }
        let mut selected = current
            .pools
            .values()
            .filter(|now| chain.as_ref().is_none_or(|chain| now.pool.id.chain() == chain))
            .filter(|now| after.as_ref().is_none_or(|after| now.pool.id > *after));
        let pools: Vec<PoolEntry> = selected.by_ref().take(*limit).map(entry).collect();
        let more = selected.next().is_some();
        let next_cursor = pools.last().filter(|_| more).map(|last| last.pool.clone());
        Ok(PoolList { pools, next_cursor })
    }
}

fn entry(now: &PoolNow) -> PoolEntry {
    let PoolNow { pool, latest, labels, name, .. } = now;
    let labels = labels.as_deref().map(|labels| (labels, name.clone()));
    PoolFacts {
        pool: &pool.id,
        default_base: pool.default_base,
        first_slot: pool.first_slot,
        last_slot: latest.entry.slot,
        last_missing: latest.entry.missing_reason(),
        recorded: latest.entry.recorded_count,
        labels,
    }
    .into()
}
