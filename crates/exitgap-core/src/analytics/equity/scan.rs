//! The one pass over the slots of a period. It holds one line per slot, and one snapshot: that of the last closed slot,
//! until the market's opening price is known.

use super::result::{EquityBalance, EquityEvent, EquityNewest, EquityResult};
use super::said::{EquitySaid, balance, has_noticed};
use super::{EquityKind, EquityTerms};
use crate::analytics::FigureError;
use crate::analytics::figure::{Figure, FigurePass, part};
use crate::analytics::hours::{ClosureScan, Taken};
use crate::evidence::DocumentError;
use crate::exit::Exit;
use crate::hours::{Calendar, ClosureSpan, MarketState, Markets, RecordedSlot};
use crate::ids::PoolId;
use crate::json::Part;
use crate::pools::Direction;
use crate::series::Slot;
use crate::snapshot::{Observation, OracleState, Snapshot};
use crate::units::{Percent, UsdPrice};
use crate::wide::U256;

/// A recorded slot that the statistics count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub session: MarketState,
    pub recorded: RecordedSlot,
    pub oracle: OracleState,
    /// The basis of the mid price to the oracle price at the last regular close, while the session is closed.
    pub basis: Option<Percent>,
}

/// The counts of a pass.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub standing: u32,
    pub corporate_action: u32,
    pub without_facts: u32,
    pub sessions: u32,
    pub weekends: u32,
}

/// The token's state in the previous slot.
#[derive(Debug, Default)]
struct Known {
    multiplier: Option<U256>,
    /// The pending change: the new multiplier, if known, and its time.
    due: Option<(Option<U256>, u64)>,
    paused: bool,
}

/// The pass. The caller adds the recorded, unretracted slots of the period in ascending order.
#[derive(Debug)]
pub struct EquityPass {
    terms: EquityTerms,
    direction: Direction,
    calendar: Option<Calendar>,
    /// The closures of the share's regular session in the period, ascending.
    regular: Vec<ClosureSpan>,
    taken: Taken,
    closures: ClosureScan,
    lines: Vec<Line>,
    counts: Counts,
    /// The regular session and the weekend that were counted last, each by the index of its closure.
    counted: [Option<usize>; 2],
    /// The oracle price in the newest slot of a regular session, with the index of the closure after it.
    held: Option<(usize, UsdPrice)>,
    known: Known,
    events: Vec<EquityEvent>,
    balances: Option<EquityBalance>,
    is_unnoticed: bool,
    newest: Option<EquityNewest>,
}

impl EquityPass {
    /// A pass with these parameters, which are validated first.
    pub fn new(terms: EquityTerms) -> Result<Self, FigureError> {
        let terms = terms.validate()?;
        let direction = Direction::from(terms.of.base);
        let share = terms.of.sessions.iter();
        let share = share.map(|own| (usize::from(own.token), own.calendar));
        let calendar =
            share.clone().find(|(token, _)| *token == direction.base_index()).map(|(_, own)| own);
        let regular = Markets::new(calendar.map(Calendar::regular).into_iter().collect());
        // A slot's block may be this much older than the slot.
        let first = terms.of.from.unix_s().saturating_sub(Snapshot::MAX_BLOCK_AGE_S);
        Ok(Self {
            direction,
            calendar,
            regular: regular.closures(first, terms.of.to.unix_s() + 1),
            taken: Taken::none(&terms.of),
            closures: ClosureScan::new(&terms.of, &terms.of.markets()),
            lines: Vec::new(),
            counts: Counts::default(),
            counted: [None; 2],
            held: None,
            known: Known::default(),
            events: Vec::new(),
            balances: None,
            is_unnoticed: false,
            newest: None,
            terms,
        })
    }

    /// The counted slots.
    #[cfg(test)]
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Records the corporate actions since the previous slot.
    fn tell(&mut self, slot: Slot, at: u64, said: &EquitySaid) {
        let event = |event: &str| EquityEvent {
            effective_at_s: None,
            event: event.to_owned(),
            from_raw: None,
            slot,
            to_raw: None,
        };
        if let Some(now) = said.multiplier
            && let Some(before) = self.known.multiplier.replace(now)
            && before != now
        {
            let (from_raw, to_raw) = (Some(before), Some(now));
            self.events.push(EquityEvent { from_raw, to_raw, ..event(EquityEvent::CHANGED) });
            if self.terms.token.kind.rebases() {
                // After the change, a balance counts different units, so the old price no longer applies.
                self.held = None;
            }
        }
        let next = said.due(at).map(|at| (said.pending_multiplier, at));
        if next != self.known.due && said.effective_at.is_some() {
            self.known.due = next;
            if let Some((to_raw, at)) = next {
                let effective_at_s = Some(at);
                let from_raw = said.multiplier;
                let scheduled = event(EquityEvent::SCHEDULED);
                self.events.push(EquityEvent { effective_at_s, from_raw, to_raw, ..scheduled });
            }
        }
        if let Some(now) = said.paused.filter(|now| *now != self.known.paused) {
            self.known.paused = now;
            self.events.push(event(if now { EquityEvent::PAUSED } else { EquityEvent::RESUMED }));
        }
    }

    /// Checks whether the pool holds what a purchase for the size would pay out.
    fn look_at_balance(&mut self, slot: Slot, observation: &Observation) {
        let share = self.direction.base_index();
        let held = balance(observation, share);
        self.is_unnoticed |= !has_noticed(observation, share, held);
        let Some(held) = held else { return };
        let other = if share == 0 { Direction::OneForZero } else { Direction::ZeroForOne };
        let purchase = Exit::estimate_once(observation, other, self.terms.of.size);
        let paid = purchase.ok().map(|purchase| purchase.amount_out);
        let before = self.balances.take();
        self.balances = Some(EquityBalance::and(before, slot, held, paid));
    }

    /// Adds a slot to the statistics.
    fn count(&mut self, slot: Slot, at: u64, observation: Observation) {
        let session = self.calendar.map_or(MarketState::Unknown, |calendar| calendar.state(at));
        let exit = Exit::from_pool(&observation, self.direction);
        let recorded = RecordedSlot {
            at,
            depth_usd: exit.depth_usd(self.terms.limit).ok(),
            gap: exit.estimate(self.terms.of.size).ok().map(|estimate| estimate.gap),
        };
        let place = self.regular.partition_point(|closed| closed.to <= at);
        let is_closed = self.regular.get(place).is_some_and(|closed| closed.from <= at);
        let mut basis = None;
        if session == MarketState::Regular {
            self.held = Some((place, observation.prices()[self.direction.base_index()]));
        } else if is_closed {
            let of_close = self.held.filter(|(closure, _)| *closure == place);
            basis = of_close.and_then(|(_, price)| exit.basis_to(&observation, price));
        }
        let counted = match session {
            MarketState::Regular => Some((0, &mut self.counts.sessions)),
            MarketState::Weekend => Some((1, &mut self.counts.weekends)),
            _ => None,
        };
        if let Some((which, count)) = counted
            && self.counted[which].replace(place) != Some(place)
        {
            *count += 1;
        }
        self.lines.push(Line { session, recorded, oracle: observation.oracle_state(), basis });
        self.closures.add_slot(slot, recorded, observation);
    }
}

impl FigurePass for EquityPass {
    type Result = EquityResult;

    /// Slots between this slot and the previous one are missing.
    fn add_snapshot(
        &mut self,
        _: &PoolId,
        slot: Slot,
        observation: Observation,
    ) -> Result<(), FigureError> {
        let at = self.taken.add_slot(slot, &observation)?;
        self.counts.standing += 1;
        let said = EquitySaid::from_observation(&self.terms.token, &observation);
        self.tell(slot, at, &said);
        let share = self.direction.base_index();
        self.newest =
            Some(EquityNewest::from_snapshot(slot, &said, &self.terms.token, &observation, share));
        if self.terms.token.kind.rebases() {
            self.look_at_balance(slot, &observation);
        }
        if said.is_action(at) {
            self.counts.corporate_action += 1;
        } else if said.is_whole {
            self.count(slot, at, observation);
        } else {
            self.counts.without_facts += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<EquityResult, FigureError> {
        let is_live = self.taken.is_live(&self.terms.of)?;
        let changed = self.events.iter().any(|event| event.event == EquityEvent::CHANGED);
        let is_exact = match self.terms.token.kind {
            EquityKind::ScaledUi | EquityKind::TotalReturn => true,
            EquityKind::Rebasing => !self.is_unnoticed,
            EquityKind::SplitRebase => !self.is_unnoticed || !changed,
        };
        let missing = self.terms.of.slots().saturating_sub(self.counts.standing.into());
        let closures = self.closures.found_closures();
        Ok(EquityResult {
            balance: self.balances,
            events: self.events,
            newest: self.newest,
            slots_missing: u32::try_from(missing).unwrap_or(u32::MAX),
            ..EquityResult::from_lines(&self.lines, self.counts, closures, is_exact, is_live)
        })
    }

    fn document(result: &EquityResult) -> Result<Part, DocumentError> {
        part(result)
    }
}
