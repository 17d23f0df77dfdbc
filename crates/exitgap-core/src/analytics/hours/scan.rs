//! The one pass over the slots of a period: it holds a line of every slot, and one snapshot, that of the last closed slot
//! while what its market opens to is not known.

use super::result::HoursResult;
use super::{HoursError, HoursTerms};
use crate::exit::{Exit, Reopened, reopened};
use crate::hours::{Closed, Markets, RecordedSlot, hours_figures};
use crate::pools::Direction;
use crate::series::Slot;
use crate::snapshot::{Observation, Snapshot, TokenSession};
use crate::units::{GapLimit, Percent};

/// A closure with a standing slot in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClosureFound {
    pub closed: Closed,
    pub slots: u32,
    /// The lowest depth, whole dollars.
    pub lowest: Option<u64>,
    pub last: Slot,
    /// The first slot of fresh rounds, and the gap against it.
    pub reopened: Option<(Slot, Option<Percent>)>,
}

/// The last closed slot, while it is not known what its market opened to.
#[derive(Debug)]
struct Closing {
    observation: Observation,
    /// When its market opens, and when it closes again.
    opens: u64,
    closes_again: u64,
}

/// The pass. Give it the standing slots of the period, ascending.
#[derive(Debug)]
pub struct HoursScan {
    terms: HoursTerms,
    direction: Direction,
    markets: Markets,
    /// The closures of the period, ascending.
    known: Vec<Closed>,
    next: Option<Slot>,
    slots: Vec<RecordedSlot>,
    closures: Vec<ClosureFound>,
    closing: Option<Closing>,
    last: Option<(Slot, Vec<TokenSession>)>,
    is_preview: bool,
}

impl HoursScan {
    /// A pass of these terms, which are checked.
    pub fn new(terms: HoursTerms) -> Result<Self, HoursError> {
        let terms = terms.checked()?;
        let markets = terms.markets();
        // A slot's block may be so much older.
        let first = terms.from.unix_s().saturating_sub(Snapshot::MAX_BLOCK_AGE_S);
        Ok(Self {
            direction: terms.base.into(),
            known: markets.closures(first, terms.to.unix_s() + 1),
            markets,
            next: Some(terms.from),
            slots: Vec::new(),
            closures: Vec::new(),
            closing: None,
            last: None,
            is_preview: false,
            terms,
        })
    }

    /// Takes the next standing slot. Those between it and the one before are missing.
    pub fn take(&mut self, slot: Slot, observation: Observation) -> Result<(), HoursError> {
        if self.next.is_none_or(|next| slot < next || slot > self.terms.to) {
            return Err(HoursError::OutOfOrder { slot });
        }
        self.next = slot.next();
        self.is_preview |= !observation.chain().kind.is_live();
        self.last = Some((slot, observation.pool_sessions()));
        // Blocks do not go back.
        let before = self.slots.last().map_or(0, |slot| slot.at);
        let at = observation.block().timestamp.max(before);
        let exit = Exit::of(&observation, self.direction);
        let depth_usd = exit.depth_usd(GapLimit::DEPTH).ok();
        let gap = exit.estimate(self.terms.size).ok().map(|estimate| estimate.gap);
        self.slots.push(RecordedSlot { at, depth_usd, gap });
        let place = self.known.partition_point(|closed| closed.to <= at);
        match self.known.get(place).copied().filter(|closed| closed.from <= at) {
            Some(closed) => {
                self.is_closed(closed, slot, depth_usd);
                let closes_again = self.known.get(place + 1).map_or(u64::MAX, |next| next.from);
                let opens = closed.to;
                self.closing = gap.map(|_| Closing { observation, opens, closes_again });
            }
            None => self.look_at_opening(slot, at, &observation),
        }
        Ok(())
    }

    /// The figure.
    pub fn finish(self) -> Result<HoursResult, HoursError> {
        if let Some((slot, sessions)) = &self.last
            && *sessions != self.terms.sessions
        {
            return Err(HoursError::OtherCalendars { slot: *slot });
        }
        let figures = hours_figures(&self.markets, &self.known, &self.slots);
        let is_live = self.last.is_some() && !self.is_preview;
        let asked = u64::from(self.terms.to.number()) + 1 - u64::from(self.terms.from.number());
        Ok(HoursResult::of(&figures, &self.closures, self.slots.len(), asked, is_live))
    }

    /// A standing slot within a closure.
    fn is_closed(&mut self, closed: Closed, slot: Slot, depth_usd: Option<u64>) {
        let known = self.closures.last_mut().filter(|found| found.closed == closed);
        match known {
            Some(found) => {
                found.slots += 1;
                found.lowest = found.lowest.into_iter().chain(depth_usd).min();
                found.last = slot;
            }
            None => self.closures.push(ClosureFound {
                closed,
                slots: 1,
                lowest: depth_usd,
                last: slot,
                reopened: None,
            }),
        }
    }

    /// Whether this snapshot, of an open market, answers what the closed one before opened to.
    fn look_at_opening(&mut self, slot: Slot, at: u64, open: &Observation) {
        let Some(closing) = self.closing.take() else { return };
        if at >= closing.closes_again {
            return;
        }
        match reopened(open, closing.opens) {
            Reopened::NotYet => self.closing = Some(closing),
            Reopened::Never => {}
            Reopened::Yes => {
                let closed = &closing.observation;
                let gap = Exit::reopening_gap(closed, open, self.direction, self.terms.size);
                if let Some(found) = self.closures.last_mut() {
                    found.reopened = Some((slot, gap.ok().flatten()));
                }
            }
        }
    }
}
