//! The one pass over slots and logs. It holds the observations that estimates may still be asked of: those of a day.

use std::collections::VecDeque;

use super::events::{PoolLog, SwapKind, first_out_of_order};
use super::flags::{SwapFlags, flags_of};
use super::replay::Replay;
use super::result::{AccuracyResult, ComparedSwap, Found};
use super::{MAX_LOGS, MAX_LOGS_HELD, OLDER_SLOTS, PoolEvent};
use crate::exit::{estimate_error, gap_of, worth_of};
use crate::series::Slot;
use crate::snapshot::Observation;

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccuracyError {
    /// The kind's logs are not known.
    #[error(
        "accuracy is not told of {protocol}: it is of pools of concentrated liquidity that log as Uniswap v3 does, and of constant product"
    )]
    UnsupportedKind {
        /// The kind, as in state bodies.
        protocol: &'static str,
    },
    /// A slot before the one that was given last, or a block that is not after its.
    #[error("slot {slot} is out of order, or its block is")]
    OutOfOrder {
        /// The slot.
        slot: Slot,
    },
    /// Logs that are not ascending, or not of the blocks between the two slots.
    #[error(
        "the log at place {index} of block {block} is out of order, or not of the stretch up to slot {slot}"
    )]
    LogOutOfOrder {
        /// The slot up to which they were given.
        slot: Slot,
        /// The block.
        block: u64,
        /// The place.
        index: u32,
    },
    /// The period ends before it begins, or is too long.
    #[error("a period has 1 to {most} slots, asked for {found}; ask for a shorter one")]
    Period {
        /// Slots asked for; 0 where it ends before it begins.
        found: u64,
        /// The most there may be.
        most: u32,
    },
    /// Heads before the period's end, or too long after it.
    #[error("heads tell of a period up to {most} slots after it, and not before its end")]
    Until {
        /// The most slots after it.
        most: u32,
    },
    /// A number that no slot has.
    #[error("{field}: the number of a slot of the series")]
    NoSlot {
        /// The parameter.
        field: &'static str,
    },
    /// A document of another contract, or one that does not go on where the one before ended.
    #[error("the document of the blocks after {after_block} is of another pool, or out of order")]
    OtherFills {
        /// The block before its first.
        after_block: u64,
    },
    /// More logs than are looked at.
    #[error(
        "a period has at most {MAX_LOGS} logs, of which at most {MAX_LOGS_HELD} wait for a slot; ask for a shorter one"
    )]
    TooManyLogs,
}

impl AccuracyError {
    /// The stable code, e.g. `figure_unsupported_kind`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnsupportedKind { .. } => "figure_unsupported_kind",
            Self::OutOfOrder { .. } => "figure_slot_order",
            Self::LogOutOfOrder { .. } => "log_order",
            Self::Period { .. } => "figure_period",
            Self::NoSlot { .. } | Self::Until { .. } => "figure_parameter",
            Self::OtherFills { .. } => "fills_order",
            Self::TooManyLogs => "figure_too_many_logs",
        }
    }
}

/// The pass. Give it the slots that stand, ascending, each with the logs since the one before.
#[derive(Debug, Default)]
pub struct AccuracyScan {
    /// The newest last.
    slots: VecDeque<(Slot, Observation)>,
    found: Found,
}

/// As many slots before a swap are looked back at.
const REACH: u32 = 288;

impl AccuracyScan {
    /// A pass that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next slot that stands, and all logs of the pool in the blocks after the slot before and up to its own.
    /// Those of the first slot do not count: there is no slot before it.
    pub fn take(
        &mut self,
        slot: Slot,
        observation: Observation,
        logs: &[PoolLog],
    ) -> Result<(), AccuracyError> {
        let protocol = observation.state().protocol();
        let replay = Replay::of(observation.state());
        if replay.is_none() {
            return Err(AccuracyError::UnsupportedKind { protocol });
        }
        if let Some((before, earlier)) = self.slots.back() {
            let later = observation.block().number > earlier.block().number;
            if slot <= *before || (!later && observation.block() != earlier.block()) {
                return Err(AccuracyError::OutOfOrder { slot });
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

    /// Replays a stretch, and compares its swaps.
    fn compare(&mut self, later: &Observation, logs: &[PoolLog]) {
        let Some((newest, earlier)) = self.slots.back() else { return };
        let Some(mut replay) = Replay::of(earlier.state()) else { return };
        for log in logs {
            replay.apply(&log.event);
        }
        let complete = replay.is(later.state());
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
            self.found.take(swap);
        }
    }
}

fn require_order(
    slot: Slot,
    logs: &[PoolLog],
    after: u64,
    up_to: u64,
) -> Result<(), AccuracyError> {
    match first_out_of_order(logs, after, up_to) {
        None => Ok(()),
        Some(place) => {
            let PoolLog { block, index, .. } = logs[place];
            Err(AccuracyError::LogOutOfOrder { slot, block, index })
        }
    }
}
