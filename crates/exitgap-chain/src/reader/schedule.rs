//! The schedule of work that a reader does not do in every slot.

use exitgap_core::series::Slot;

use crate::config::ChainPlan;
use crate::limits::Limits;

/// The turns of pools for full readings of their ticks, and for trials.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schedule {
    /// The number of pools of the chain.
    pools: usize,
    /// The number of slots between two turns of a pool.
    every: u32,
    /// The number of slots after a full reading up to which the next one may be postponed.
    most: u32,
}

impl Schedule {
    pub(super) fn new(plan: &ChainPlan, limits: &Limits) -> Self {
        Self {
            pools: plan.pools().len(),
            every: limits.full_read_slots,
            most: limits.full_read_slots_most,
        }
    }

    /// The slot of the next turn, after `slot`, of the pool with this index. The turns are spread over the whole
    /// interval, so that no slot has to read all pools.
    pub(super) fn next_turn(&self, slot: Slot, place: usize) -> u32 {
        let every = self.every.max(1);
        let turn = u32::try_from(place * every as usize / self.pools.max(1)).unwrap_or(0);
        let now = slot.number();
        let since_turn = (now + every - turn % every) % every;
        now + every - since_turn
    }

    /// Whether a due full reading may be postponed to the next slot, if the last one was at `full_at`.
    pub(super) fn may_wait(&self, slot: Slot, full_at: Option<Slot>) -> bool {
        full_at.is_some_and(|full_at| slot.number() < full_at.number().saturating_add(self.most))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn schedule(pools: usize, every: u32) -> Schedule {
        Schedule { pools, every, most: every }
    }

    #[test]
    fn every_pool_has_its_turn_once_per_interval() {
        let slot = Slot::FIRST;
        let turns: BTreeSet<u32> =
            (0..100).map(|place| schedule(100, 288).next_turn(slot, place)).collect();
        assert_eq!(turns.len(), 100);
        let range = slot.number() + 1..=slot.number() + 288;
        assert!(turns.iter().all(|turn| range.contains(turn)));
        for place in [0, 7, 99] {
            let turn = schedule(100, 288).next_turn(slot, place);
            let then = Slot::new(turn.into()).unwrap();
            assert_eq!(schedule(100, 288).next_turn(then, place), turn + 288);
        }
        assert_eq!(schedule(1, 1).next_turn(slot, 0), slot.number() + 1);
    }
}
