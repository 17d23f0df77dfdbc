//! The one pass over slots and logs. It holds one day of observations, because estimates can be compared that far back.

use std::collections::VecDeque;

use super::events::{PoolLog, SwapKind, first_out_of_order};
use super::flags::{SwapFlags, flags_of};
use super::judge::{Judged, NotJudged, Sale, judge};
use super::replay::Replay;
use super::result::{AccuracyResult, AccuracyTally, ComparedSwap};
use super::{AccuracyRules, OLDER_SLOTS, PoolEvent};
use crate::analytics::FigureError;
use crate::exit::{gap_of, worth_of};
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
    /// An empty pass by the rules of new records.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty pass by these rules.
    pub fn of(rules: AccuracyRules) -> Self {
        Self { found: AccuracyTally { rules, ..AccuracyTally::default() }, ..Self::default() }
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
        let mut are_for_output = Vec::with_capacity(logs.len());
        for log in logs {
            are_for_output.push(replay.is_for_output(&log.event));
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
            let sale = match amounts.kind() {
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
                SwapKind::Sale { direction, amount_in, amount_out } => {
                    let is_for_output = are_for_output[place];
                    Sale { direction, amount_in, amount_out, is_for_output }
                }
            };
            self.compare_swap(log, flags[place], newest, &sale);
        }
    }

    /// Compares a sale with the newest slot before it, and with older ones.
    fn compare_swap(&mut self, log: &PoolLog, flags: SwapFlags, newest: Slot, sale: &Sale) {
        let Sale { direction, amount_in, amount_out, .. } = *sale;
        for (place, older) in OLDER_SLOTS.iter().enumerate() {
            let at = newest.number().saturating_sub(*older);
            let slot = self.slots.binary_search_by_key(&at, |(slot, _)| slot.number());
            let Ok(found) = slot else { continue };
            let (slot, observation) = &self.slots[found];
            let judged = judge(self.found.rules, observation, sale);
            let not = &mut self.found.not_compared;
            let Judged { estimated_out, error, agreement } = match judged {
                Ok(judged) => judged,
                Err(NotJudged::Refused) => {
                    not.estimate_refused += u32::from(place == 0);
                    continue;
                }
                Err(NotJudged::OutOfRange) => {
                    not.out_of_range += u32::from(place == 0);
                    continue;
                }
            };
            if place > 0 {
                self.found.by_age[place].add(error, agreement);
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
                agreement,
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
