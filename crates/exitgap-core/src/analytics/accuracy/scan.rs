//! The one pass over slots and logs. It holds one day of observations, because estimates can be compared that far back.

use std::collections::VecDeque;

use super::events::{PoolLog, SwapKind, first_out_of_order};
use super::flags::{SwapFlags, flags_of};
use super::replay::Replay;
use super::result::{AccuracyResult, AccuracyTally, ComparedSwap};
use super::{OLDER_SLOTS, PoolEvent};
use crate::analytics::FigureError;
use crate::exit::{estimate_error, gap_of, worth_of};
use crate::series::Slot;
use crate::snapshot::Observation;

/// The pass. The caller adds recorded, unretracted slots in ascending order, each with the logs since the previous one.
#[derive(Debug, Default)]
pub struct AccuracyScan {
    /// Newest last.
    slots: VecDeque<(Slot, Observation)>,
    found: AccuracyTally,
}

/// How many slots before a swap estimates are compared.
const REACH: u32 = 288;

impl AccuracyScan {
    /// An empty pass.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next recorded, unretracted slot with all logs of the pool in the blocks after the previous slot's and
    /// up to its own. The logs of the first slot are ignored, because no slot precedes it.
    pub fn add_slot(
        &mut self,
        slot: Slot,
        observation: Observation,
        logs: &[PoolLog],
    ) -> Result<(), FigureError> {
        let protocol = observation.state().protocol();
        let replay = Replay::from_state(observation.state());
        if replay.is_none() {
            return Err(super::unsupported_protocol(protocol));
        }
        if let Some((before, earlier)) = self.slots.back() {
            let later = observation.block().number > earlier.block().number;
            if slot <= *before || (!later && observation.block() != earlier.block()) {
                return Err(FigureError::OutOfOrder { slot });
            }
            require_order(slot, logs, earlier.block().number, observation.block().number)?;
            self.compare(&observation, logs);
        }
        self.found.slots += 1;
        self.found.any_preview |= !observation.chain().kind.is_live();
        self.slots.push_back((slot, observation));
        let oldest = slot.number().saturating_sub(REACH + 1);
        while self.slots.front().is_some_and(|(front, _)| front.number() < oldest) {
            self.slots.pop_front();
        }
        Ok(())
    }

    /// The figure.
    pub fn finish(self) -> AccuracyResult {
        self.found.summed_up()
    }

    /// Replays an interval and compares its swaps.
    fn compare(&mut self, later: &Observation, logs: &[PoolLog]) {
        let Some((newest, earlier)) = self.slots.back() else { return };
        let Some(mut replay) = Replay::from_state(earlier.state()) else { return };
        for log in logs {
            replay.apply(&log.event);
        }
        let complete = replay.matches_state(later.state());
        self.found.stretches += 1;
        self.found.stretches_incomplete += u32::from(!complete);
        let newest = *newest;
        let flags = if complete { flags_of(logs) } else { Vec::new() };
        for (place, log) in logs.iter().enumerate() {
            let PoolEvent::Swap(amounts, _) = &log.event else { continue };
            self.found.swaps += 1;
            let not = &mut self.found.not_compared;
            let kind = match amounts.kind() {
                _ if !complete => {
                    not.fills_incomplete += 1;
                    continue;
                }
                SwapKind::TwoSided => {
                    not.two_sided += 1;
                    continue;
                }
                SwapKind::Zero => {
                    not.zero += 1;
                    continue;
                }
                sale @ SwapKind::Sale { .. } => sale,
            };
            self.compare_swap(log, flags[place], newest, kind);
        }
    }

    /// Compares a sale with the newest slot before it, and with older ones.
    fn compare_swap(&mut self, log: &PoolLog, flags: SwapFlags, newest: Slot, kind: SwapKind) {
        let SwapKind::Sale { direction, amount_in, amount_out } = kind else { return };
        for (place, older) in OLDER_SLOTS.iter().enumerate() {
            let at = newest.number().saturating_sub(*older);
            let slot = self.slots.binary_search_by_key(&at, |(slot, _)| slot.number());
            let Ok(found) = slot else { continue };
            let (slot, observation) = &self.slots[found];
            let estimate = observation.state().fill_once(direction, amount_in);
            let not = &mut self.found.not_compared;
            let Ok(estimate) = estimate else {
                not.estimate_refused += u32::from(place == 0);
                continue;
            };
            let estimated_out = estimate.amount_out;
            let error =
                estimate_error(observation, direction, amount_in, [estimated_out, amount_out]);
            let Some(error) = error else {
                not.out_of_range += u32::from(place == 0);
                continue;
            };
            if place > 0 {
                self.found.by_age[place].push(error);
                continue;
            }
            let Some(estimated_gap) = gap_of(observation, direction, [amount_in, estimated_out])
            else {
                not.out_of_range += 1;
                continue;
            };
            let swap = ComparedSwap {
                block: log.block,
                index: log.index,
                transaction: log.transaction,
                slot: *slot,
                direction,
                amount_in,
                amount_out,
                estimated_out,
                size_usd: worth_of(observation, direction, amount_in),
                estimated_gap,
                error,
                flags,
            };
            self.found.add_swap(swap);
        }
    }
}

fn require_order(slot: Slot, logs: &[PoolLog], after: u64, up_to: u64) -> Result<(), FigureError> {
    match first_out_of_order(logs, after, up_to) {
        None => Ok(()),
        Some(place) => {
            let PoolLog { block, index, .. } = logs[place];
            Err(FigureError::LogOutOfOrder { slot, block, index })
        }
    }
}
