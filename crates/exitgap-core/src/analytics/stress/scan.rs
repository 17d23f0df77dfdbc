//! The one pass over the slots of a period. It holds the venues' snapshots of one slot, the mid prices of at most 48
//! slots before it, and a line for every earlier slot.

use core::cmp::Reverse;
use std::collections::VecDeque;

use super::result::{SlotFound, SlotGap, SlotGaps, StressResult, StressTally};
use super::{AfterMove, Shock, StressTerms};
use crate::analytics::FigureError;
use crate::analytics::figure::{Figure, FigurePass, part};
use crate::analytics::stats::measure_move;
use crate::analytics::venues::{FallenExit, Reference, VenueSlots, WholeSlot};
use crate::evidence::DocumentError;
use crate::exit::{SplitError, SplitVenue, gap_from_mids, largest_split, split_size};
use crate::ids::PoolId;
use crate::json::Part;
use crate::pools::{PoolState, RawPrice};
use crate::series::Slot;
use crate::snapshot::Observation;
use crate::units::GapLimit;

/// The pass. The caller adds the recorded, unretracted snapshots of the period in ascending order of slots and, within
/// a slot, in the order of the venues.
#[derive(Debug)]
pub struct StressPass {
    terms: StressTerms,
    slots: VenueSlots,
    /// The mid prices, by venue, of the earlier complete slots that a move is measured from, ascending.
    recent: VecDeque<(Slot, Vec<RawPrice>)>,
    found: StressTally,
}

impl StressPass {
    /// A pass with these parameters, which are validated first.
    pub fn new(terms: StressTerms) -> Result<Self, FigureError> {
        let terms = terms.validate()?;
        let mut slots = VenueSlots::new(&terms.venues, terms.from, terms.to);
        let is_moved = terms.shock != Shock::default() || terms.after.is_some();
        if terms.reference.is_some() && is_moved {
            slots = slots.leaving_out(PoolState::is_movable);
        }
        let found =
            StressTally { lowest: vec![None; terms.venues.len()], ..StressTally::default() };
        Ok(Self { terms, slots, recent: VecDeque::new(), found })
    }

    fn look(&mut self, whole: &WholeSlot) -> Result<(), FigureError> {
        self.found.whole.push(whole.slot);
        if let Some(after) = self.terms.after
            && !self.has_moved(whole, after)?
        {
            return Ok(());
        }
        let Some((depths, found)) = self.measure_slot(whole)? else {
            self.found.unanswered += 1;
            return Ok(());
        };
        for (venue, depth) in whole.indices().zip(depths) {
            let lowest = &mut self.found.lowest[venue];
            if lowest.is_none_or(|(least, _)| depth < least) {
                *lowest = Some((depth, whole.slot));
            }
        }
        self.found.slots.push(found);
        Ok(())
    }

    /// Whether the mid price of any venue has moved. If the slot is not evaluated, counts the reason.
    fn has_moved(&mut self, whole: &WholeSlot, after: AfterMove) -> Result<bool, FigureError> {
        let mut mids = Vec::new();
        for (observation, direction) in whole.venues() {
            let state = observation.state();
            let unsupported = FigureError::not_movable("stress", state.protocol());
            mids.push(state.mid_of_reserves_or_ticks(direction).ok_or(unsupported)?);
        }
        let before = whole.slot.number().checked_sub(after.within_slots);
        while self.recent.front().is_some_and(|(slot, _)| Some(slot.number()) < before) {
            self.recent.pop_front();
        }
        let then = self.recent.front().filter(|(slot, _)| Some(slot.number()) == before);
        let has_moved = then.map(|(_, then)| {
            let mut pairs = then.iter().zip(&mids);
            pairs.any(|(was, is)| measure_move(*was, *is, after.move_e8).is_some())
        });
        self.recent.push_back((whole.slot, mids));
        match has_moved {
            None => self.found.untestable += 1,
            Some(false) => self.found.unmoved += 1,
            Some(true) => {}
        }
        Ok(has_moved == Some(true))
    }

    /// The depths by venue, and the slot's line; `None` if a search was given up.
    fn measure_slot(
        &self,
        whole: &WholeSlot,
    ) -> Result<Option<(Vec<u64>, SlotFound)>, FigureError> {
        let StressTerms { size, shock, .. } = self.terms;
        let mut after = Vec::new();
        for (observation, direction) in whole.venues() {
            let Some(exit) = shock.exit(observation, direction, size)? else { return Ok(None) };
            after.push(exit);
        }
        let (mut depths, mut book_usd) = (Vec::new(), 0_u64);
        for of in &after {
            let depth = of.exit.depth_usd(GapLimit::DEPTH);
            let (Ok(depth), Ok(book)) = (depth, of.book_usd(GapLimit::DEPTH)) else {
                return Ok(None);
            };
            depths.push(depth);
            book_usd = book_usd.saturating_add(book);
        }
        let venues: Vec<SplitVenue<'_>> = after.iter().map(FallenExit::venue).collect();
        let (mut from_oracle, mut from_mid) = (None, None);
        let gap = match split_size(&venues, size) {
            Ok(found) => {
                from_oracle = Some(found.split.gap);
                if self.terms.reference.is_some() {
                    from_mid = gap_from_mids(&venues, &found.split.legs);
                    if from_mid.is_none() {
                        return Ok(None);
                    }
                }
                match (self.terms.reference, from_mid) {
                    (Some(Reference::Mid), Some(mid)) => SlotGap::Filled(mid),
                    _ => SlotGap::Filled(found.split.gap),
                }
            }
            Err(SplitError::BeyondLiquidity { .. }) => {
                SlotGap::Beyond(Reverse(largest_split(&venues).0))
            }
            Err(_) => return Ok(None),
        };
        let depth_usd = depths.iter().fold(0, |sum: u64, depth| sum.saturating_add(*depth));
        let gaps = SlotGaps { from_oracle, from_mid };
        Ok(Some((depths, SlotFound { slot: whole.slot, gap, gaps, depth_usd, book_usd })))
    }
}

impl FigurePass for StressPass {
    type Result = StressResult;

    fn add_snapshot(
        &mut self,
        pool: &PoolId,
        slot: Slot,
        observation: Observation,
    ) -> Result<(), FigureError> {
        match self.slots.add_snapshot(pool, slot, observation)? {
            Some(whole) => self.look(&whole),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<StressResult, FigureError> {
        if let Some(whole) = self.slots.end()? {
            self.look(&whole)?;
        }
        Ok(self.found.summed_up(&self.terms, &self.slots))
    }

    fn document(result: &StressResult) -> Result<Part, DocumentError> {
        part(result)
    }
}
