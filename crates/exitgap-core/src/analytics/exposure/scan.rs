//! The one pass over the slots of a period. It holds the venues' snapshots of one slot.

use super::ExposureTerms;
use super::result::{ExposureResult, ExposureTally};
use crate::analytics::FigureError;
use crate::analytics::figure::{Figure, FigurePass, part};
use crate::analytics::venues::{FallenExit, Reference, VenueSlots, WholeSlot};
use crate::evidence::DocumentError;
use crate::exit::{Exit, SplitError, SplitVenue, gap_from_mids, largest_split, split_size};
use crate::ids::PoolId;
use crate::json::Part;
use crate::pools::{Direction, PoolState};
use crate::series::Slot;
use crate::snapshot::Observation;
use crate::units::GapLimit;

/// The pass. The caller adds the recorded, unretracted snapshots of the period in ascending order of slots and, within
/// a slot, in the order of the venues.
#[derive(Debug)]
pub struct ExposurePass {
    terms: ExposureTerms,
    break_even: GapLimit,
    slots: VenueSlots,
    found: ExposureTally,
}

impl ExposurePass {
    /// A pass with these parameters, which are validated first.
    pub fn new(terms: ExposureTerms) -> Result<Self, FigureError> {
        let terms = terms.validate()?;
        let (break_even, venues) = (terms.liquidation.break_even(), terms.venues.len());
        let mut slots = VenueSlots::new(&terms.venues, terms.from, terms.to);
        if terms.reference.is_some() && terms.liquidation.fall_e8 > 0 {
            slots = slots.leaving_out(PoolState::is_movable);
        }
        let found = ExposureTally { lowest: vec![None; venues], ..ExposureTally::default() };
        Ok(Self { terms, break_even, slots, found })
    }

    fn look(&mut self, whole: &WholeSlot) -> Result<(), FigureError> {
        match self.measure_slot(whole)? {
            Some(depths) => self.found.depths.push(depths),
            None => self.found.unanswered += 1,
        }
        Ok(())
    }

    /// Adds a slot to the totals and returns its sums of depths. If a search was given up, it returns `None` and leaves
    /// the totals unchanged.
    fn measure_slot(&mut self, whole: &WholeSlot) -> Result<Option<[u64; 2]>, FigureError> {
        let slot = whole.slot;
        let (limit, size) = (self.break_even, self.terms.cascade);
        let reference = self.terms.reference.unwrap_or(Reference::Oracle);
        let (mut fallen, mut own) = (Vec::new(), Vec::new());
        for (observation, direction) in whole.venues() {
            let of = self.fallen(observation, direction)?;
            let depth = match reference {
                Reference::Oracle => Exit::of_start(observation, direction, GapLimit::DEPTH, None)
                    .depth_usd(GapLimit::DEPTH),
                Reference::Mid => {
                    Exit::book_from_own_mid_usd(observation, direction, GapLimit::DEPTH)
                }
            };
            let (Some(of), Ok(depth)) = (of, depth) else { return Ok(None) };
            fallen.push(of);
            own.push(depth);
        }
        let mut break_even: u64 = 0;
        for of in &fallen {
            let Ok(depth) = of.depth_from(reference, limit) else { return Ok(None) };
            break_even = break_even.saturating_add(depth);
        }
        let venues: Vec<SplitVenue<'_>> = fallen.iter().map(FallenExit::venue).collect();
        match split_size(&venues, size) {
            Ok(found) => {
                let mut gap = found.split.gap;
                if self.terms.reference.is_some() {
                    let Some(mid) = gap_from_mids(&venues, &found.split.legs) else {
                        return Ok(None);
                    };
                    self.found.causes.add_filled(slot, gap, mid, limit);
                    gap = if reference == Reference::Mid { mid } else { gap };
                }
                if self.found.worst.is_none_or(|(worst, _)| gap > worst) {
                    self.found.worst = Some((gap, slot));
                }
            }
            Err(SplitError::BeyondLiquidity { .. }) => {
                let most = largest_split(&venues).0;
                let least = self.found.least_fillable;
                self.found.least_fillable = Some(least.map_or(most, |least| least.min(most)));
                self.found.unfillable += 1;
                self.found.causes.add_unfillable();
            }
            Err(_) => return Ok(None),
        }
        for (venue, depth) in whole.indices().zip(&own) {
            lower(&mut self.found.lowest[venue], *depth, slot);
        }
        lower(&mut self.found.lowest_break_even, break_even, slot);
        let sum = own.iter().fold(0, |sum: u64, depth| sum.saturating_add(*depth));
        Ok(Some([sum, break_even]))
    }

    /// A venue after the price drop. In version 2, every kind takes part if there is none.
    fn fallen(
        &self,
        observation: &Observation,
        direction: Direction,
    ) -> Result<Option<FallenExit>, FigureError> {
        let (limit, size) = (self.break_even, self.terms.cascade);
        let fall_e8 = self.terms.liquidation.fall_e8;
        if self.terms.reference.is_some() && fall_e8 == 0 {
            return Ok(Some(FallenExit::still(observation, direction, limit, size)));
        }
        let state = observation.state();
        FallenExit::from_fall(observation, state, direction, fall_e8, limit, size)
    }
}

fn lower(lowest: &mut Option<(u64, Slot)>, found: u64, slot: Slot) {
    if lowest.is_none_or(|(least, _)| found < least) {
        *lowest = Some((found, slot));
    }
}

impl FigurePass for ExposurePass {
    type Result = ExposureResult;

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

    fn finish(mut self) -> Result<ExposureResult, FigureError> {
        if let Some(whole) = self.slots.end()? {
            self.look(&whole)?;
        }
        Ok(self.found.summed_up(&self.terms, &self.slots))
    }

    fn document(result: &ExposureResult) -> Result<Part, DocumentError> {
        part(result)
    }
}
