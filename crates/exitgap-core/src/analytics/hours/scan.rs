//! The one pass over the slots of a period. It holds one line per slot, and one snapshot: that of the last closed slot,
//! until the market's opening price is known.

use super::HoursTerms;
use super::result::HoursResult;
use crate::analytics::FigureError;
use crate::analytics::figure::{Figure, FigurePass, part};
use crate::evidence::DocumentError;
use crate::exit::{Exit, ReopeningStatus, check_reopening, reopening_gap};
use crate::hours::{ClosureSpan, Markets, RecordedSlot, hours_figures};
use crate::ids::PoolId;
use crate::json::Part;
use crate::pools::Direction;
use crate::series::Slot;
use crate::snapshot::{Observation, Snapshot, TokenSession};
use crate::units::{GapLimit, Percent, SizeUsd};

/// A closure that contains a recorded, unretracted slot.
#[derive(Debug, Clone, Copy)]
pub(in crate::analytics) struct ClosureFound {
    pub closed: ClosureSpan,
    pub slots: u32,
    /// The lowest depth, in whole dollars.
    pub lowest: Option<u64>,
    pub last: Slot,
    /// The first slot in which all rounds are fresh, and the gap measured at its prices.
    pub reopened: Option<(Slot, Option<Percent>)>,
}

/// The last closed slot, until the market's opening price is known.
#[derive(Debug)]
struct LastClosedSlot {
    observation: Observation,
    /// When its market opens, and when it closes again.
    opens: u64,
    closes_again: u64,
}

/// Finds the closures of a period and the reopening gap of each.
#[derive(Debug)]
pub(in crate::analytics) struct ClosureScan {
    direction: Direction,
    size: SizeUsd,
    /// The closures of the period, ascending.
    known: Vec<ClosureSpan>,
    found: Vec<ClosureFound>,
    closing: Option<LastClosedSlot>,
}

/// The slots that a pass was given, and the content of the last one.
#[derive(Debug)]
pub(in crate::analytics) struct Taken {
    next: Option<Slot>,
    to: Slot,
    /// The last block's timestamp. Timestamps must not decrease.
    at: u64,
    last: Option<(Slot, Vec<TokenSession>)>,
    is_preview: bool,
}

/// The pass. The caller adds the recorded, unretracted slots of the period in ascending order.
#[derive(Debug)]
pub struct HoursPass {
    terms: HoursTerms,
    markets: Markets,
    taken: Taken,
    slots: Vec<RecordedSlot>,
    closures: ClosureScan,
}

impl HoursPass {
    /// A pass with these parameters, which are validated first.
    pub fn new(terms: HoursTerms) -> Result<Self, FigureError> {
        let terms = terms.validate()?;
        let markets = terms.markets();
        let closures = ClosureScan::new(&terms, &markets);
        Ok(Self { markets, taken: Taken::none(&terms), slots: Vec::new(), closures, terms })
    }
}

impl FigurePass for HoursPass {
    type Result = HoursResult;

    /// Slots between this slot and the previous one are missing.
    fn add_snapshot(
        &mut self,
        _: &PoolId,
        slot: Slot,
        observation: Observation,
    ) -> Result<(), FigureError> {
        let at = self.taken.add_slot(slot, &observation)?;
        let exit = Exit::from_pool(&observation, self.closures.direction);
        let depth_usd = exit.depth_usd(GapLimit::DEPTH).ok();
        let gap = exit.estimate(self.terms.size).ok().map(|estimate| estimate.gap);
        let recorded = RecordedSlot { at, depth_usd, gap };
        self.slots.push(recorded);
        self.closures.add_slot(slot, recorded, observation);
        Ok(())
    }

    fn finish(self) -> Result<HoursResult, FigureError> {
        let is_live = self.taken.is_live(&self.terms)?;
        let figures = hours_figures(&self.markets, &self.closures.known, &self.slots);
        let asked = self.terms.slots();
        Ok(HoursResult::from_figures(
            &figures,
            self.closures.found_closures(),
            self.slots.len(),
            asked,
            is_live,
        ))
    }

    fn document(result: &HoursResult) -> Result<Part, DocumentError> {
        part(result)
    }
}

impl Taken {
    /// The state before the first slot.
    pub fn none(terms: &HoursTerms) -> Self {
        Self { next: Some(terms.from), to: terms.to, at: 0, last: None, is_preview: false }
    }

    /// Adds the next slot, which must be in order, and returns the time that determines its session, seconds UTC.
    pub fn add_slot(&mut self, slot: Slot, observation: &Observation) -> Result<u64, FigureError> {
        if self.next.is_none_or(|next| slot < next || slot > self.to) {
            return Err(FigureError::OutOfOrder { slot });
        }
        self.next = slot.next();
        self.is_preview |= !observation.chain().kind.is_live();
        self.last = Some((slot, observation.pool_sessions()));
        self.at = observation.block().timestamp.max(self.at);
        Ok(self.at)
    }

    /// Whether all inputs are from live chains. Fails unless the last input has the calendars of the parameters.
    pub fn is_live(&self, terms: &HoursTerms) -> Result<bool, FigureError> {
        if let Some((slot, sessions)) = &self.last
            && *sessions != terms.sessions
        {
            return Err(FigureError::OtherCalendars { slot: *slot });
        }
        Ok(self.last.is_some() && !self.is_preview)
    }
}

impl ClosureScan {
    /// A scan for the closures that these markets have in the period.
    pub fn new(terms: &HoursTerms, markets: &Markets) -> Self {
        // A slot's block may be this much older than the slot.
        let first = terms.from.unix_s().saturating_sub(Snapshot::MAX_BLOCK_AGE_S);
        Self {
            direction: terms.base.into(),
            size: terms.size,
            known: markets.closures(first, terms.to.unix_s() + 1),
            found: Vec::new(),
            closing: None,
        }
    }

    /// Adds the next recorded, unretracted slot with its gap and depth.
    pub fn add_slot(&mut self, slot: Slot, recorded: RecordedSlot, observation: Observation) {
        let RecordedSlot { at, depth_usd, gap } = recorded;
        let place = self.known.partition_point(|closed| closed.to <= at);
        match self.known.get(place).copied().filter(|closed| closed.from <= at) {
            Some(closed) => {
                self.is_closed(closed, slot, depth_usd);
                let closes_again = self.known.get(place + 1).map_or(u64::MAX, |next| next.from);
                let opens = closed.to;
                self.closing = gap.map(|_| LastClosedSlot { observation, opens, closes_again });
            }
            None => self.look_at_opening(slot, at, &observation),
        }
    }

    /// The closures that contain a recorded, unretracted slot, ascending.
    pub fn found_closures(&self) -> &[ClosureFound] {
        &self.found
    }

    /// Adds a slot within a closure.
    fn is_closed(&mut self, closed: ClosureSpan, slot: Slot, depth_usd: Option<u64>) {
        let known = self.found.last_mut().filter(|found| found.closed == closed);
        match known {
            Some(found) => {
                found.slots += 1;
                found.lowest = found.lowest.into_iter().chain(depth_usd).min();
                found.last = slot;
            }
            None => self.found.push(ClosureFound {
                closed,
                slots: 1,
                lowest: depth_usd,
                last: slot,
                reopened: None,
            }),
        }
    }

    /// Checks whether this snapshot of the open market contains the opening prices for the closure before it.
    fn look_at_opening(&mut self, slot: Slot, at: u64, open: &Observation) {
        let Some(closing) = self.closing.take() else { return };
        if at >= closing.closes_again {
            return;
        }
        match check_reopening(open, closing.opens) {
            ReopeningStatus::NotYet => self.closing = Some(closing),
            ReopeningStatus::Never => {}
            ReopeningStatus::Yes => {
                let closed = &closing.observation;
                let gap = reopening_gap(closed, open, self.direction, self.size);
                if let Some(found) = self.found.last_mut() {
                    found.reopened = Some((slot, gap.ok().flatten()));
                }
            }
        }
    }
}
