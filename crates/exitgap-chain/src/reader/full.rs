//! Reading ticks in full within a pass: of which pools, and what comes of the comparison.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::ids::Address;
use exitgap_core::snapshot::BlockRef;

use super::follow::{Reread, difference};
use super::observe::{Pass, State};
use crate::events::{Event, FullReadCause};
use crate::missing::Missing;
use crate::multicall::Multicall;
use crate::pools::concentrated::is_about_ticks;
use crate::pools::concentrated::ticks::{self, FullRead};

impl Pass<'_> {
    /// Which pools' ticks are read in full, and reports what is not as planned.
    pub(super) fn due_in_full(
        &mut self,
        block: BlockRef,
        states: &BTreeMap<usize, Result<State, Missing>>,
        plans: &BTreeMap<Address, Reread>,
    ) -> BTreeSet<usize> {
        let mut due = BTreeSet::new();
        for (place, state) in states {
            let Ok(State::Ticked { reader, price, kept }) = state else { continue };
            let (id, address) = (self.pool(*place).id.clone(), self.pool(*place).address);
            let cause = match (kept, plans.get(&address)) {
                (_, Some(Reread::Full(cause))) => Some(cause.clone()),
                (Some(kept), _) => match reader.join(*price, kept.clone()) {
                    Err(error) if is_about_ticks(error) => {
                        Some(FullReadCause::Unbalanced(error.to_string()))
                    }
                    // No ticks would make a state of this price: there is nothing to read.
                    Err(_) => continue,
                    Ok(_) => None,
                },
                (None, _) => None,
            };
            let in_turn = match (&self.memory[*place].ticks, self.slot) {
                (Some(memory), Some(slot)) => slot.number() >= memory.full_from,
                _ => kept.is_none(),
            };
            if cause.is_some() || in_turn || kept.is_none() {
                due.insert(*place);
            }
            if let Some(cause) = cause {
                self.events.report(Event::ReadInFull { pool: id, block: block.number, cause });
            }
        }
        due
    }

    /// Reads the ticks of these pools in full, and compares where others were kept. Returns those
    /// that were read.
    pub(super) async fn read_ticks(
        &mut self,
        multicall: &Multicall<'_>,
        due: &BTreeSet<usize>,
        states: &mut BTreeMap<usize, Result<State, Missing>>,
    ) -> BTreeSet<usize> {
        let (places, reads): (Vec<usize>, Vec<FullRead>) = due
            .iter()
            .filter_map(|place| match states.get(place) {
                Some(Ok(State::Ticked { reader, .. })) => {
                    let pool = self.pool(*place).address;
                    Some((*place, FullRead { pool, reader: reader.clone() }))
                }
                _ => None,
            })
            .unzip();
        let full = ticks::read_in_full(multicall, &reads).await;
        let schedule = self.schedule();
        let mut fresh = BTreeSet::new();
        for (place, full) in places.into_iter().zip(full) {
            let Some(Ok(State::Ticked { reader, price, kept })) = states.get_mut(&place) else {
                continue;
            };
            let balanced =
                kept.as_ref().is_some_and(|kept| reader.join(*price, kept.clone()).is_ok());
            let remembered = self.memory[place].ticks.as_ref();
            let good_until = remembered.and_then(|ticks| ticks.full_at);
            let may_wait = self
                .slot
                .zip(remembered)
                .is_none_or(|(slot, ticks)| schedule.may_wait(slot, ticks.full_at));
            match full {
                Ok(full) => {
                    let before = kept.replace(full.clone());
                    let difference = before.and_then(|before| difference(&before, &full));
                    if let Some((differing, first_tick)) = difference {
                        self.events.report(Event::TicksDiffer {
                            pool: self.plan.pools()[place].id.clone(),
                            block: multicall.block().number,
                            differing,
                            first_tick,
                            good_until,
                        });
                    }
                    fresh.insert(place);
                }
                // The comparison waits for the next slot; what was kept stands on its own.
                Err(missing) if balanced && may_wait => {
                    tracing::warn!(%missing, "a comparison of ticks was put off");
                }
                Err(missing) => {
                    states.insert(place, Err(missing));
                }
            }
        }
        fresh
    }
}
