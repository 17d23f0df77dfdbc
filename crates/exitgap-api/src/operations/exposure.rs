//! The parameters of liquidation exposure.

use exitgap_core::analytics::Reference;
use exitgap_core::analytics::exposure::{ExposureTerms, Liquidation};
use exitgap_core::evidence::Base;
use exitgap_core::exit::MAX_ROUTE_VENUES;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::units::{Percent, SizeUsd};

use super::figures::{FigureAddress, period};
use super::parameters::{
    BONUS, CASCADE, FALL, FILE_REFERENCE, HAIRCUT, PERIOD_FROM, PROTOCOL_FEE, REFERENCE, TO, VENUE,
};
use super::{Given, Operation, Parameter, Question, Target, values};
use crate::{Guards, Number, Problem, ProblemCode, parse_pool, parse_size};

/// A pool in which the collateral is sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VenueAsked {
    /// The pool.
    pub pool: PoolId,
    /// The token sold, as the caller named it; default: the pool's default base.
    pub base: Option<String>,
}

/// Writes it as in an address.
impl core::fmt::Display for VenueAsked {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match &self.base {
            Some(base) => write!(f, "{}/{base}", self.pool),
            None => write!(f, "{}", self.pool),
        }
    }
}

/// The parameters of a liquidation exposure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposureAsked {
    /// The pools in which the collateral is sold.
    pub venues: Vec<VenueAsked>,
    /// The size of the sale.
    pub cascade: SizeUsd,
    /// The liquidation rules and the price drop.
    pub liquidation: Liquidation,
    /// The first slot; default: one week before the last.
    pub from: Option<Slot>,
    /// The last slot; default: the newest that all venues have.
    pub to: Option<Slot>,
    /// The price that depths and gaps are measured from; `None`: version 1 of the rules.
    pub reference: Option<Reference>,
    /// The requirements for each series.
    pub guards: Guards,
}

impl Question for ExposureAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let (from, to) = period(given)?;
        Ok(Self {
            venues: venues(given)?,
            cascade: given.parse_required(&CASCADE, cascade)?,
            liquidation: Liquidation {
                bonus_e8: given.parse_required(&BONUS, |text| share(&BONUS, text))?,
                protocol_fee_e8: given
                    .parse_required(&PROTOCOL_FEE, |text| share(&PROTOCOL_FEE, text))?,
                fall_e8: given.parse_required(&FALL, |text| share(&FALL, text))?,
            },
            from,
            to,
            reference: Some(given.parse_required(&REFERENCE, |text| reference(&REFERENCE, text))?),
            guards: Guards::from_parameters(given)?,
        })
    }
}

/// The same for its figure file. Bases must be `token0` or `token1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposureFileAsked(pub ExposureAsked);

impl Question for ExposureFileAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let asked = ExposureAsked::from_parameters(given)?;
        bases_by_place(&asked.venues)?;
        Ok(Self(ExposureAsked { reference: file_reference(given)?, ..asked }))
    }
}

/// Parses a reference.
pub(super) fn reference(parameter: &Parameter, text: &str) -> Result<Reference, Problem> {
    values::word(parameter, text, Reference::from_code)
}

/// The reference of a figure file. Without one, the file is of version 1.
pub(super) fn file_reference(given: &Given<'_>) -> Result<Option<Reference>, Problem> {
    given.parse_optional(&FILE_REFERENCE, |text| reference(&FILE_REFERENCE, text))
}

/// The venues in a request: 1 to 12.
pub(super) fn venues(given: &Given<'_>) -> Result<Vec<VenueAsked>, Problem> {
    let count = given.all_values(&VENUE).count();
    if !(1..=MAX_ROUTE_VENUES).contains(&count) {
        let detail = format!("1 to {MAX_ROUTE_VENUES} venues are accepted, not {count}");
        return Err(values::refusal(&VENUE, &detail));
    }
    given.all_values(&VENUE).map(venue).collect()
}

/// Requires that every base is given as `token0` or `token1`.
pub(super) fn bases_by_place(venues: &[VenueAsked]) -> Result<(), Problem> {
    let by_name = |venue: &&VenueAsked| {
        venue.base.as_deref().is_some_and(|base| Base::from_code(base).is_none())
    };
    match venues.iter().find(by_name) {
        Some(venue) => Err(values::refusal(
            &VENUE,
            &format!("{venue}: the base must be token0 or token1 here"),
        )),
        None => Ok(()),
    }
}

/// Parses `<pool>` or `<pool>/<base>`.
pub fn venue(text: &str) -> Result<VenueAsked, Problem> {
    let refused = |problem: Problem| {
        let shown: String = text.chars().take(80).collect();
        let detail = format!("venue {shown:?}: {}", problem.detail);
        values::add_hint(Problem { code: ProblemCode::InvalidParameter, detail, ..problem }, &VENUE)
            .field(VENUE.name)
    };
    let (pool, base) = match text.split_once('/') {
        Some((pool, base)) => (pool, Some(base)),
        None => (text, None),
    };
    Ok(VenueAsked {
        pool: parse_pool(pool).map_err(refused)?,
        base: base.map(values::token_name).transpose().map_err(refused)?,
    })
}

fn cascade(text: &str) -> Result<SizeUsd, Problem> {
    parse_size(text).map_err(|problem| {
        let detail = problem.detail.replace("size_usd", CASCADE.name);
        values::refusal(&CASCADE, &detail)
    })
}

/// Parses a percentage from 0 to the parameter's maximum, in millionths of a percent.
pub(super) fn share(parameter: &Parameter, text: &str) -> Result<u32, Problem> {
    let shocks = [FALL.name, HAIRCUT.name];
    let most = if shocks.contains(&parameter.name) { Liquidation::MAX_FALL } else { 100_000_000 };
    let parsed = Percent::parse(text).ok().and_then(|percent| u32::try_from(percent.0).ok());
    parsed.filter(|e8| *e8 <= most).ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        let most = Percent(most.into());
        let rule = format!("from 0 to {most}, with at most six decimals");
        values::refusal(parameter, &format!("{}: {shown:?} is not {rule}", parameter.name))
    })
}

impl FigureAddress for ExposureTerms {
    type FileQuestion = ExposureFileAsked;

    const FILE: Operation = Operation::ExposureFile;

    fn address(&self) -> Target {
        let percent = |e8: u32| Number::from(Percent(e8.into()));
        let Liquidation { bonus_e8, protocol_fee_e8, fall_e8 } = self.liquidation;
        let venues = self.venues.iter().fold(Self::FILE.target(), |target, venue| {
            target.with(&VENUE, format_args!("{}/{}", venue.pool, venue.base.code()))
        });
        venues
            .with(&CASCADE, self.cascade)
            .with(&BONUS, percent(bonus_e8))
            .with(&PROTOCOL_FEE, percent(protocol_fee_e8))
            .with(&FALL, percent(fall_e8))
            .with(&PERIOD_FROM, self.from)
            .with(&TO, self.to)
            .maybe(&FILE_REFERENCE, self.reference.map(Reference::code))
    }
}
