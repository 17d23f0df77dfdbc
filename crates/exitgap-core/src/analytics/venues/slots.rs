//! Collects the venues' snapshots of one slot.

use super::{FigureVenue, Reference};
use crate::analytics::FigureError;
use crate::analytics::depths::SlotDepths;
use crate::analytics::stats::share_pct;
use crate::ids::PoolId;
use crate::json::wire_struct;
use crate::pools::{Direction, PoolState};
use crate::series::Slot;
use crate::snapshot::Observation;
use crate::units::Percent;

/// Counts of the slots seen.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::analytics) struct Seen {
    /// Slots in which any venue that takes part has a snapshot.
    pub slots: u32,
    /// Slots in which only some of these venues have a snapshot.
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

/// A venue that cannot take part in a figure.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LeftOutVenue {
    /// Its share of the venues' depth at 2 %, percent, in the last slot in which every venue has a snapshot; `None` if
    /// there is no such slot, a depth in it is not known, or all are 0.
    pub depth_share_pct: Option<String>,
    /// The pool.
    pub pool: PoolId,
    /// Why: its kind, as spelled in a state, has no counterpart at another price.
    pub protocol: String,
}

wire_struct!(LeftOutVenue { depth_share_pct, pool, protocol });

/// A slot in which every venue that takes part has a snapshot.
#[derive(Debug)]
pub(in crate::analytics) struct WholeSlot {
    pub slot: Slot,
    /// In the order of the venues.
    observations: Vec<VenueSnapshot>,
}

#[derive(Debug, Clone)]
struct VenueSnapshot {
    /// The venue's index among all venues.
    venue: usize,
    observation: Observation,
    direction: Direction,
}

impl WholeSlot {
    /// Its snapshots in the order of the venues, each with the direction of the sale.
    pub fn venues(&self) -> impl Iterator<Item = (&Observation, Direction)> {
        self.observations.iter().map(|one| (&one.observation, one.direction))
    }

    /// The indices of these venues among all venues.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        self.observations.iter().map(|one| one.venue)
    }
}

/// Collects the recorded, unretracted snapshots of a period, given in ascending order of slots and, within a slot, in
/// the order of the venues. It holds one slot at a time, and the last in which all venues have a snapshot if some of them
/// cannot take part.
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
    /// Whether a state can take part; `None` if every venue does.
    can_take_part: Option<fn(&PoolState) -> bool>,
    /// The kinds of the venues that cannot take part.
    left_out: Vec<Option<&'static str>>,
    /// The last slot in which every venue has a snapshot.
    last_of_all: Vec<VenueSnapshot>,
    pub seen: Seen,
}

impl VenueSlots {
    pub fn new(venues: &[FigureVenue], from: Slot, to: Slot) -> Self {
        let (held, seen) = (vec![None; venues.len()], Seen::default());
        Self {
            venues: venues.to_vec(),
            from,
            to,
            slot: None,
            held,
            last: 0,
            can_take_part: None,
            left_out: vec![None; venues.len()],
            last_of_all: Vec::new(),
            seen,
        }
    }

    /// Leaves out venues whose state cannot take part. From its first such snapshot on, a venue counts as absent.
    pub fn leaving_out(self, can_take_part: fn(&PoolState) -> bool) -> Self {
        Self { can_take_part: Some(can_take_part), ..self }
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
        let state = observation.state();
        if self.can_take_part.is_some_and(|can_take_part| !can_take_part(state)) {
            self.left_out[venue] = Some(state.protocol());
            if self.left_out.iter().all(Option::is_some) {
                return Err(FigureError::not_movable("this figure", state.protocol()));
            }
        }
        self.held[venue] = Some(observation);
        (self.slot, self.last) = (Some(slot), venue);
        Ok(ended)
    }

    /// Ends the current slot, and returns it if it is complete.
    pub fn end(&mut self) -> Result<Option<WholeSlot>, FigureError> {
        let Some(slot) = self.slot else { return Ok(None) };
        let mut observations = Vec::with_capacity(self.held.len());
        for (venue, held) in self.held.iter_mut().enumerate() {
            if let Some(observation) = held.take() {
                let direction = Direction::from(self.venues[venue].base);
                observations.push(VenueSnapshot { venue, observation, direction });
            }
        }
        let some_left_out = self.left_out.iter().any(Option::is_some);
        if some_left_out && observations.len() == self.venues.len() {
            self.last_of_all.clone_from(&observations);
        }
        observations.retain(|one| self.left_out[one.venue].is_none());
        if observations.is_empty() {
            return Ok(None);
        }
        self.seen.slots += 1;
        if observations.len() < self.left_out.iter().filter(|out| out.is_none()).count() {
            self.seen.incomplete += 1;
            return Ok(None);
        }
        let whole = WholeSlot { slot, observations };
        self.require_one_token(&whole)?;
        Ok(Some(whole))
    }

    /// The venues that could not take part, each with its share of the depth.
    pub fn left_out(&self, reference: Reference) -> Vec<LeftOutVenue> {
        if self.left_out.iter().all(Option::is_none) {
            return Vec::new();
        }
        let depth = |one: &VenueSnapshot| {
            let depths = SlotDepths::from_observation(&one.observation, one.direction);
            match reference {
                Reference::Oracle => depths.depth_usd,
                Reference::Mid => depths.book_usd,
            }
        };
        let depths: Option<Vec<u64>> = self.last_of_all.iter().map(depth).collect();
        let depths = depths.unwrap_or_default();
        let sum = depths.iter().fold(0, |sum: u64, depth| sum.saturating_add(*depth));
        let venues = self.venues.iter().zip(&self.left_out).enumerate();
        let left_out = venues.filter_map(|(at, (venue, protocol))| Some((at, venue, (*protocol)?)));
        left_out
            .map(|(at, venue, protocol)| LeftOutVenue {
                depth_share_pct: depths
                    .get(at)
                    .and_then(|depth| share_pct((*depth).into(), sum))
                    .map(Percent::to_fixed),
                pool: venue.pool.clone(),
                protocol: protocol.to_owned(),
            })
            .collect()
    }

    fn require_one_token(&self, whole: &WholeSlot) -> Result<(), FigureError> {
        let sold = |one: &VenueSnapshot| {
            let index = one.direction.base_index();
            let token = &one.observation.tokens()[index];
            (token.address, token.decimals, one.observation.prices()[index])
        };
        let first = &whole.observations[0];
        match whole.observations.iter().find(|one| sold(one) != sold(first)) {
            Some(other) => {
                Err(FigureError::OtherToken { pool: self.venues[other.venue].pool.clone() })
            }
            None => Ok(()),
        }
    }
}
