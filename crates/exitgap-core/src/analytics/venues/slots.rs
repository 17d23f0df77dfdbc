//! Collects the venues' snapshots of one slot.

use super::FigureVenue;
use crate::analytics::FigureError;
use crate::ids::PoolId;
use crate::pools::Direction;
use crate::series::Slot;
use crate::snapshot::Observation;

/// Counts of the slots seen.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::analytics) struct Seen {
    /// Slots in which any venue has a snapshot.
    pub slots: u32,
    /// Slots in which only some of the venues have a snapshot.
    pub incomplete: u32,
    /// Whether any snapshot is from a chain that is not live.
    pub any_preview: bool,
}

impl Seen {
    /// `live`, or `preview` if any input is from a preview chain.
    pub fn status(self) -> String {
        if self.any_preview || self.slots == 0 { "preview" } else { "live" }.to_owned()
    }

    /// The number of a period's slots in which no venue has a snapshot.
    pub fn count_missing(self, from: Slot, to: Slot) -> u32 {
        let slots = to.number() - from.number() + 1;
        slots - self.slots.min(slots)
    }
}

/// A slot in which every venue has a snapshot.
#[derive(Debug)]
pub(in crate::analytics) struct WholeSlot {
    pub slot: Slot,
    /// By venue.
    observations: Vec<(Observation, Direction)>,
}

impl WholeSlot {
    /// Its snapshots in the order of the venues, each with the direction of the sale.
    pub fn venues(&self) -> impl Iterator<Item = (&Observation, Direction)> {
        self.observations.iter().map(|(observation, direction)| (observation, *direction))
    }
}

/// Collects the recorded, unretracted snapshots of a period, given in ascending order of slots and, within a slot, in
/// the order of the venues. It holds one slot at a time.
#[derive(Debug)]
pub(in crate::analytics) struct VenueSlots {
    venues: Vec<FigureVenue>,
    from: Slot,
    to: Slot,
    slot: Option<Slot>,
    /// The current slot's snapshots, by venue.
    held: Vec<Option<Observation>>,
    /// The last venue of the current slot that was added.
    last: usize,
    pub seen: Seen,
}

impl VenueSlots {
    pub fn new(venues: &[FigureVenue], from: Slot, to: Slot) -> Self {
        let (held, seen) = (vec![None; venues.len()], Seen::default());
        Self { venues: venues.to_vec(), from, to, slot: None, held, last: 0, seen }
    }

    /// Adds the next snapshot. Returns the previous slot if it is now over and complete.
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

    /// Ends the current slot, and returns it if it is complete.
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
