//! The parameters of stress over several venues.

use exitgap_core::analytics::Reference;
use exitgap_core::analytics::stress::{AfterMove, Shock, StressTerms};
use exitgap_core::series::Slot;
use exitgap_core::units::{GapLimit, Percent, PercentError, SizeUsd};

use super::exposure::{VenueAsked, bases_by_place, file_reference, reference, share, venues};
use super::figures::{FigureAddress, above_zero, period};
use super::parameters::{
    ABOVE, AFTER_MOVE, AFTER_WITHIN, FILE_REFERENCE, HAIRCUT, PERIOD_FROM, REFERENCE, SHOCK_FALL,
    SOLD, TO, VENUE,
};
use super::{Given, Operation, Question, Target, values};
use crate::{Guards, Number, Problem, parse_size};

/// The parameters of an exit over several venues in each slot of a period, after a shock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VenueStressAsked {
    /// The venues.
    pub venues: Vec<VenueAsked>,
    /// The size of the sale.
    pub size: SizeUsd,
    /// The shock.
    pub shock: Shock,
    /// The gap limit that the slots are compared with.
    pub limit: Option<GapLimit>,
    /// Which slots are evaluated; all of them if absent.
    pub after: Option<AfterMove>,
    /// The first slot; default: one week before the last.
    pub from: Option<Slot>,
    /// The last slot; default: the newest that all venues have.
    pub to: Option<Slot>,
    /// The price that gaps are measured from; `None`: version 1 of the rules.
    pub reference: Option<Reference>,
    /// The requirements for each series.
    pub guards: Guards,
}

impl Question for VenueStressAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let (from, to) = period(given)?;
        let limit = given.parse_optional(&ABOVE, |text| {
            text.parse().map_err(|error: PercentError| {
                values::refusal(&ABOVE, &format!("{}: {error}", ABOVE.name))
            })
        })?;
        Ok(Self {
            venues: venues(given)?,
            size: given.parse_required(&SOLD, parse_size)?,
            shock: Shock {
                haircut_e8: given.parse_required(&HAIRCUT, |text| share(&HAIRCUT, text))?,
                fall_e8: given.parse_required(&SHOCK_FALL, |text| share(&SHOCK_FALL, text))?,
            },
            limit,
            after: after_move(given)?,
            from,
            to,
            reference: Some(given.parse_required(&REFERENCE, |text| reference(&REFERENCE, text))?),
            guards: Guards::from_parameters(given)?,
        })
    }
}

/// The restriction to slots after a move, if given.
fn after_move(given: &Given<'_>) -> Result<Option<AfterMove>, Problem> {
    let within = given.parse_optional(&AFTER_WITHIN, |text| values::whole(&AFTER_WITHIN, text))?;
    let Some(move_e8) = given.parse_optional(&AFTER_MOVE, |text| above_zero(&AFTER_MOVE, text))?
    else {
        if within.is_none() {
            return Ok(None);
        }
        let detail =
            "after_move_pct is missing: within_slots is only used together with after_move_pct";
        return Err(values::refusal(&AFTER_MOVE, detail));
    };
    Ok(Some(AfterMove { move_e8, within_slots: within.unwrap_or(AfterMove::WITHIN) }))
}

/// The same for its figure file. Bases must be `token0` or `token1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VenueStressFileAsked(pub VenueStressAsked);

impl Question for VenueStressFileAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let asked = VenueStressAsked::from_parameters(given)?;
        bases_by_place(&asked.venues)?;
        Ok(Self(VenueStressAsked { reference: file_reference(given)?, ..asked }))
    }
}

impl Target {
    /// Adds the restriction to slots after a move, if given.
    #[must_use]
    pub fn after_move(self, after: Option<AfterMove>) -> Self {
        let Some(AfterMove { move_e8, within_slots }) = after else { return self };
        self.with(&AFTER_MOVE, Number::from(Percent(move_e8.into())))
            .with(&AFTER_WITHIN, within_slots)
    }
}

impl FigureAddress for StressTerms {
    type FileQuestion = VenueStressFileAsked;

    const FILE: Operation = Operation::VenueStressFile;

    fn address(&self) -> Target {
        let percent = |e8: u32| Number::from(Percent(e8.into()));
        let Shock { haircut_e8, fall_e8 } = self.shock;
        let venues = self.venues.iter().fold(Self::FILE.target(), |target, venue| {
            target.with(&VENUE, format_args!("{}/{}", venue.pool, venue.base.code()))
        });
        venues
            .with(&SOLD, self.size)
            .with(&HAIRCUT, percent(haircut_e8))
            .with(&SHOCK_FALL, percent(fall_e8))
            .maybe(&ABOVE, self.limit.map(Number::from).as_ref())
            .after_move(self.after)
            .with(&PERIOD_FROM, self.from)
            .with(&TO, self.to)
            .maybe(&FILE_REFERENCE, self.reference.map(Reference::code))
    }
}
