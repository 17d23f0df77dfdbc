//! The one pass over the slots of a period: it holds the venues of one slot, and a line of every slot before.

use core::cmp::Reverse;

use super::StressTerms;
use super::result::{Found, SlotFound, SlotGap, StressResult};
use crate::analytics::venues::{FallenExit, VenueSlots, VenuesError, WholeSlot};
use crate::exit::{SplitError, SplitVenue, largest_split, split_size};
use crate::ids::PoolId;
use crate::series::Slot;
use crate::snapshot::Observation;
use crate::units::GapLimit;

/// The pass. Give it the standing snapshots of the period, ascending by slot, those of one slot in the order of the
/// venues.
#[derive(Debug)]
pub struct StressScan {
    terms: StressTerms,
    slots: VenueSlots,
    found: Found,
}

impl StressScan {
    /// A pass of these terms, which are checked.
    pub fn new(terms: StressTerms) -> Result<Self, VenuesError> {
        let terms = terms.checked()?;
        let slots = VenueSlots::new(&terms.venues, terms.from, terms.to);
        let found = Found { lowest: vec![None; terms.venues.len()], ..Found::default() };
        Ok(Self { terms, slots, found })
    }

    /// Takes the next standing snapshot.
    pub fn take(
        &mut self,
        pool: &PoolId,
        slot: Slot,
        observation: Observation,
    ) -> Result<(), VenuesError> {
        match self.slots.take(pool, slot, observation)? {
            Some(whole) => self.look(&whole),
            None => Ok(()),
        }
    }

    /// The figure.
    pub fn finish(mut self) -> Result<StressResult, VenuesError> {
        if let Some(whole) = self.slots.end()? {
            self.look(&whole)?;
        }
        Ok(self.found.summed_up(&self.terms, self.slots.seen))
    }

    fn look(&mut self, whole: &WholeSlot) -> Result<(), VenuesError> {
        self.found.whole.push(whole.slot);
        let Some((depths, found)) = self.measured(whole)? else {
            self.found.unanswered += 1;
            return Ok(());
        };
        for (lowest, depth) in self.found.lowest.iter_mut().zip(depths) {
            if lowest.is_none_or(|(least, _)| depth < least) {
                *lowest = Some((depth, whole.slot));
            }
        }
        self.found.slots.push(found);
        Ok(())
    }

    /// The depths by venue, and the slot's line; `None` where a search was given up.
    fn measured(&self, whole: &WholeSlot) -> Result<Option<(Vec<u64>, SlotFound)>, VenuesError> {
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
        let gap = match split_size(&venues, size) {
            Ok(found) => SlotGap::Filled(found.split.gap),
            Err(SplitError::BeyondLiquidity { .. }) => {
                SlotGap::Beyond(Reverse(largest_split(&venues).0))
            }
            Err(_) => return Ok(None),
        };
        let depth_usd = depths.iter().fold(0, |sum: u64, depth| sum.saturating_add(*depth));
        Ok(Some((depths, SlotFound { slot: whole.slot, gap, depth_usd, book_usd })))
    }
}
