//! The one pass over the slots of a period: it holds the venues of one slot.

use super::fallen::FallenExit;
use super::result::{ExposureResult, Found};
use super::{ExposureError, ExposureTerms};
use crate::exit::{Exit, SplitError, SplitVenue, largest_split, split_size};
use crate::ids::PoolId;
use crate::pools::Direction;
use crate::series::Slot;
use crate::snapshot::Observation;
use crate::units::GapLimit;

/// The pass. Give it the standing snapshots of the period, ascending by slot, those of one slot in the order of the
/// venues.
#[derive(Debug)]
pub struct ExposureScan {
    terms: ExposureTerms,
    break_even: GapLimit,
    slot: Option<Slot>,
    /// Of the slot at hand, by venue.
    held: Vec<Option<Observation>>,
    /// The last venue that was given of it.
    last: usize,
    found: Found,
}

impl ExposureScan {
    /// A pass of these terms, which are checked.
    pub fn new(terms: ExposureTerms) -> Result<Self, ExposureError> {
        let terms = terms.checked()?;
        let (break_even, venues) = (terms.liquidation.break_even(), terms.venues.len());
        let found = Found { lowest: vec![None; venues], ..Found::default() };
        Ok(Self { terms, break_even, slot: None, held: vec![None; venues], last: 0, found })
    }

    /// Takes the next standing snapshot.
    pub fn take(
        &mut self,
        pool: &PoolId,
        slot: Slot,
        observation: Observation,
    ) -> Result<(), ExposureError> {
        let refused = || ExposureError::OutOfOrder { slot, pool: pool.clone() };
        let venue = self.terms.venues.iter().position(|venue| venue.pool == *pool);
        let venue = venue.ok_or_else(refused)?;
        let follows = self.slot.is_none_or(|at| slot > at || (slot == at && venue > self.last));
        if !follows || !(self.terms.from..=self.terms.to).contains(&slot) {
            return Err(refused());
        }
        if self.slot.is_some_and(|at| at != slot) {
            self.look()?;
        }
        self.found.any_preview |= !observation.chain().kind.is_live();
        self.held[venue] = Some(observation);
        (self.slot, self.last) = (Some(slot), venue);
        Ok(())
    }

    /// The figure.
    pub fn finish(mut self) -> Result<ExposureResult, ExposureError> {
        self.look()?;
        Ok(self.found.summed_up(&self.terms))
    }

    /// Looks at the slot at hand.
    fn look(&mut self) -> Result<(), ExposureError> {
        let Some(slot) = self.slot else { return Ok(()) };
        let held: Vec<_> = self.held.iter_mut().map(Option::take).collect();
        self.found.seen += 1;
        let Some(all) = held.into_iter().collect::<Option<Vec<Observation>>>() else {
            self.found.incomplete += 1;
            return Ok(());
        };
        let directions = self.terms.venues.iter().map(|venue| Direction::from(venue.base));
        let venues: Vec<_> = all.iter().zip(directions).collect();
        self.require_one_token(&venues)?;
        match self.measured(&venues, slot)? {
            Some(depths) => self.found.depths.push(depths),
            None => self.found.unanswered += 1,
        }
        Ok(())
    }

    /// The sums of depths of a slot, after everything else of it was taken in; `None` where a search was given up: then
    /// nothing was.
    fn measured(
        &mut self,
        venues: &[(&Observation, Direction)],
        slot: Slot,
    ) -> Result<Option<[u64; 2]>, ExposureError> {
        let (limit, size) = (self.break_even, self.terms.cascade);
        let fall_e8 = self.terms.liquidation.fall_e8;
        let (mut fallen, mut own) = (Vec::new(), Vec::new());
        for (observation, direction) in venues {
            let of = FallenExit::of(observation, *direction, fall_e8, limit, size)?;
            let exit = Exit::of_start(observation, *direction, GapLimit::DEPTH, None);
            let (Some(of), Ok(depth)) = (of, exit.depth_usd(GapLimit::DEPTH)) else {
                return Ok(None);
            };
            fallen.push(of);
            own.push(depth);
        }
        let mut break_even: u64 = 0;
        for of in &fallen {
            let Ok(depth) = of.exit.depth_usd(limit) else { return Ok(None) };
            break_even = break_even.saturating_add(depth);
        }
        let venues: Vec<SplitVenue<'_>> = fallen.iter().map(FallenExit::venue).collect();
        match split_size(&venues, size) {
            Ok(found) => {
                let gap = found.split.gap;
                if self.found.worst.is_none_or(|(worst, _)| gap > worst) {
                    self.found.worst = Some((gap, slot));
                }
            }
            Err(SplitError::BeyondLiquidity { .. }) => {
                let most = largest_split(&venues).0;
                let least = self.found.least_fillable;
                self.found.least_fillable = Some(least.map_or(most, |least| least.min(most)));
                self.found.unfillable += 1;
            }
            Err(_) => return Ok(None),
        }
        for (lowest, depth) in self.found.lowest.iter_mut().zip(&own) {
            lower(lowest, *depth, slot);
        }
        lower(&mut self.found.lowest_break_even, break_even, slot);
        let sum = own.iter().fold(0, |sum: u64, depth| sum.saturating_add(*depth));
        Ok(Some([sum, break_even]))
    }

    fn require_one_token(&self, venues: &[(&Observation, Direction)]) -> Result<(), ExposureError> {
        let sold = |(observation, direction): &(&Observation, Direction)| {
            let index = direction.base_index();
            let token = &observation.tokens()[index];
            (token.address, token.decimals, observation.prices()[index])
        };
        let other = venues.iter().position(|venue| sold(venue) != sold(&venues[0]));
        match other {
            Some(at) => Err(ExposureError::OtherToken { pool: self.terms.venues[at].pool.clone() }),
            None => Ok(()),
        }
    }
}

fn lower(lowest: &mut Option<(u64, Slot)>, found: u64, slot: Slot) {
    if lowest.is_none_or(|(least, _)| found < least) {
        *lowest = Some((found, slot));
    }
}
