//! What is asked of stress over several venues.

use exitgap_core::analytics::stress::{Shock, StressTerms};
use exitgap_core::series::Slot;
use exitgap_core::units::{GapLimit, Percent, PercentError, SizeUsd};

use super::exposure::{VenueAsked, bases_by_place, share, venues};
use super::figures::period;
use super::parameters::{ABOVE, HAIRCUT, PERIOD_FROM, SHOCK_FALL, SOLD, TO, VENUE};
use super::{Given, Operation, Question, Target, values};
use crate::{Guards, Number, Problem, parse_size};

/// What an exit split over several venues fills at in each slot of a period, after a shock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VenueStressAsked {
    /// Where it is sold.
    pub venues: Vec<VenueAsked>,
    /// How much is sold.
    pub size: SizeUsd,
    /// After what.
    pub shock: Shock,
    /// The gap that the slots are held against.
    pub limit: Option<GapLimit>,
    /// The first slot; else a week before the last.
    pub from: Option<Slot>,
    /// The last slot; else the newest that all venues have.
    pub to: Option<Slot>,
    /// What each series must meet.
    pub guards: Guards,
}

impl Question for VenueStressAsked {
    fn read(given: &Given<'_>) -> Result<Self, Problem> {
        let (from, to) = period(given)?;
        let limit = given.one(&ABOVE, |text| {
            text.parse().map_err(|error: PercentError| {
                values::refusal(&ABOVE, &format!("{}: {error}", ABOVE.name))
            })
        })?;
        Ok(Self {
            venues: venues(given)?,
            size: given.needed(&SOLD, parse_size)?,
            shock: Shock {
                haircut_e8: given.needed(&HAIRCUT, |text| share(&HAIRCUT, text))?,
                fall_e8: given.needed(&SHOCK_FALL, |text| share(&SHOCK_FALL, text))?,
            },
            limit,
            from,
            to,
            guards: Guards::read(given)?,
        })
    }
}

/// The same, for its figure file: bases by their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VenueStressFileAsked(pub VenueStressAsked);

impl Question for VenueStressFileAsked {
    fn read(given: &Given<'_>) -> Result<Self, Problem> {
        let asked = VenueStressAsked::read(given)?;
        bases_by_place(&asked.venues)?;
        Ok(Self(asked))
    }
}

impl Operation {
    /// The address of a stress' figure file, or of the figure: all that it depends on is named.
    pub fn of_stress(self, terms: &StressTerms) -> Target {
        let percent = |e8: u32| Number::from(Percent(e8.into()));
        let Shock { haircut_e8, fall_e8 } = terms.shock;
        let venues = terms.venues.iter().fold(self.target(), |target, venue| {
            target.with(&VENUE, format_args!("{}/{}", venue.pool, venue.base.code()))
        });
        venues
            .with(&SOLD, terms.size)
            .with(&HAIRCUT, percent(haircut_e8))
            .with(&SHOCK_FALL, percent(fall_e8))
            .maybe(&ABOVE, terms.limit.map(Number::from).as_ref())
            .with(&PERIOD_FROM, terms.from)
            .with(&TO, terms.to)
    }
}
