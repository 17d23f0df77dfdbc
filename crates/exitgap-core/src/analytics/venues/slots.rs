//! The venues' snapshots of one slot, gathered.

use super::FigureVenue;
use crate::analytics::FigureError;
use crate::ids::PoolId;
use crate::pools::Direction;
use crate::series::Slot;
use crate::snapshot::Observation;

/// What slots were seen.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::analytics) struct Seen {
    /// Slots in which any venue stands.
    pub slots: u32,
    /// Slots in which some venue stands and some does not.
    pub incomplete: u32,
    /// Whether any snapshot is of no live chain.
    pub any_preview: bool,
}

impl Seen {
    /// `live`, or `preview` where any input is.
    pub fn status(self) -> String {
        if self.any_preview || self.slots == 0 { "preview" } else { "live" }.to_owned()
    }

    /// Slots of a period in which no venue stands.
    pub fn count_missing(self, from: Slot, to: Slot) -> u32 {
        let slots = to.number() - from.number() + 1;
        slots - self.slots.min(slots)
    }
}

/// A slot in which every venue stands.
#[derive(Debug)]
pub(in crate::analytics) struct WholeSlot {
    pub slot: Slot,
    /// By venue.
    observations: Vec<(Observation, Direction)>,
}

impl WholeSlot {
    /// Its snapshots, in the order of the venues, each with what is sold.
    pub fn venues(&self) -> impl Iterator<Item = (&Observation, Direction)> {
        self.observations.iter().map(|(observation, direction)| (observation, *direction))
    }
}

/// Gathers the standing snapshots of a period, ascending by slot, those of one slot in the order of the venues; it holds
/// one slot.
#[derive(Debug)]
pub(in crate::analytics) struct VenueSlots {
    venues: Vec<FigureVenue>,
    from: Slot,
    to: Slot,
    slot: Option<Slot>,
    /// Of the slot at hand, by venue.
    held: Vec<Option<Observation>>,
    /// The last venue that was given of it.
    last: usize,
    pub seen: Seen,
}

impl VenueSlots {
    pub fn new(venues: &[FigureVenue], from: Slot, to: Slot) -> Self {
        let (held, seen) = (vec![None; venues.len()], Seen::default());
        Self { venues: venues.to_vec(), from, to, slot: None, held, last: 0, seen }
    }

    /// Takes the next snapshot; gives the slot before, where that has ended and is whole.
    pub fn add_snapshot(
        &mut self,
        pool: &PoolId,
        slot: Slot,
        observation: Observation,
    ) -> Result<Option<WholeSlot>, FigureError> {
        let refused = || FigureError::OutOfOrder { slot };
        let venue = self.venues.iter().position(|venue| venue.pool == *pool);
        let venue = venue.ok_or_else(refused)?;
        let follows = self.slot.is_none_or(|at| slot > at || (slot == at && venue > self.last));
        if !follows || !(self.from..=self.to).contains(&slot) {
            return Err(refused());
        }
        let ended = if self.slot == Some(slot) { None } else { self.end()? };
        self.seen.any_preview |= !observation.chain().kind.is_live();
        self.held[venue] = Some(observation);
        (self.slot, self.last) = (Some(slot), venue);
        Ok(ended)
    }

    /// Ends the slot at hand; gives it where it is whole.
    pub fn end(&mut self) -> Result<Option<WholeSlot>, FigureError> {
        let Some(slot) = self.slot else { return Ok(None) };
        let held: Vec<_> = self.held.iter_mut().map(Option::take).collect();
        self.seen.slots += 1;
        let Some(all) = held.into_iter().collect::<Option<Vec<Observation>>>() else {
            self.seen.incomplete += 1;
            return Ok(None);
        };
        let directions = self.venues.iter().map(|venue| Direction::from(venue.base));
        let whole = WholeSlot { slot, observations: all.into_iter().zip(directions).collect() };
        self.require_one_token(&whole)?;
        Ok(Some(whole))
    }

    fn require_one_token(&self, whole: &WholeSlot) -> Result<(), FigureError> {
        let sold = |(observation, direction): &(Observation, Direction)| {
            let index = direction.base_index();
            let token = &observation.tokens()[index];
            (token.address, token.decimals, observation.prices()[index])
        };
        let first = &whole.observations[0];
        let other = whole.observations.iter().position(|venue| sold(venue) != sold(first));
        match other {
            Some(at) => Err(FigureError::OtherToken { pool: self.venues[at].pool.clone() }),
            None => Ok(()),
        }
    }
}
