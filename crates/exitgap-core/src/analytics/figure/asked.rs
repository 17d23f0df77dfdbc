//! The figures there are: what a file of each asks, and the pass that computes it.

use super::file::{FigureFile, FigureUse, part};
use crate::analytics::VenuesError;
use crate::analytics::accuracy::{
    ACCURACY, AccuracyError, AccuracyParameters, AccuracyPass, AccuracyTerms, Fills,
};
use crate::analytics::decay::{DECAY, DecayError, DecayParameters, DecayScan, DecayTerms};
use crate::analytics::equity::{EQUITY, EquityParameters, EquityScan, EquityTerms};
use crate::analytics::exposure::{EXPOSURE, ExposureParameters, ExposureScan, ExposureTerms};
use crate::analytics::hours::{HOURS, HoursError, HoursParameters, HoursScan, HoursTerms};
use crate::analytics::stress::{STRESS, StressParameters, StressScan, StressTerms};
use crate::evidence::DocumentError;
use crate::ids::PoolId;
use crate::json::{Part, Wire, read};
use crate::series::Slot;
use crate::snapshot::Observation;

/// What a file asks.
pub(super) enum Asked {
    Accuracy(AccuracyTerms),
    Decay(DecayTerms),
    Equity(EquityTerms),
    Exposure(ExposureTerms),
    Hours(HoursTerms),
    Stress(StressTerms),
}

/// Why a file asks nothing that is answered.
pub(super) enum NotAsked {
    /// Its figure is not known.
    Unknown,
    /// Its parameters are out of bounds, or not in their one spelling.
    Invalid(String),
}

/// A pass refused.
#[derive(Debug)]
pub(super) struct Refused {
    pub code: &'static str,
    pub why: String,
}

/// A pass.
#[derive(Debug)]
pub(super) enum Scan {
    Accuracy(Box<AccuracyPass>),
    Decay(Box<DecayScan>),
    Equity(Box<EquityScan>),
    Exposure(Box<ExposureScan>),
    Hours(Box<HoursScan>),
    Stress(Box<StressScan>),
}

impl Asked {
    pub fn of(file: &FigureFile) -> Result<Self, NotAsked> {
        if !file.fills.is_empty() && file.figure != ACCURACY {
            return Err(NotAsked::Invalid(
                "fills, of a figure that is not drawn from any".to_owned(),
            ));
        }
        match file.figure.as_str() {
            ACCURACY => {
                let parameters = parameters::<AccuracyParameters>(file)?;
                AccuracyTerms::try_from(&parameters)
                    .map(Self::Accuracy)
                    .map_err(|error| invalid(&error))
            }
            DECAY => {
                let parameters = parameters::<DecayParameters>(file)?;
                DecayTerms::try_from(&parameters).map(Self::Decay).map_err(|error| invalid(&error))
            }
            EQUITY => {
                let parameters = parameters::<EquityParameters>(file)?;
                EquityTerms::try_from(&parameters)
                    .map(Self::Equity)
                    .map_err(|error| invalid(&error))
            }
            EXPOSURE => {
                let parameters = parameters::<ExposureParameters>(file)?;
                ExposureTerms::try_from(&parameters)
                    .map(Self::Exposure)
                    .map_err(|error| invalid(&error))
            }
            HOURS => {
                let parameters = parameters::<HoursParameters>(file)?;
                HoursTerms::try_from(&parameters).map(Self::Hours).map_err(|error| invalid(&error))
            }
            STRESS => {
                let parameters = parameters::<StressParameters>(file)?;
                StressTerms::try_from(&parameters)
                    .map(Self::Stress)
                    .map_err(|error| invalid(&error))
            }
            _ => Err(NotAsked::Unknown),
        }
    }

    /// The rules.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accuracy(_) => ACCURACY,
            Self::Decay(_) => DECAY,
            Self::Equity(_) => EQUITY,
            Self::Exposure(_) => EXPOSURE,
            Self::Hours(_) => HOURS,
            Self::Stress(_) => STRESS,
        }
    }

    /// Its pools, in the order of their windows and, within a slot, of their uses.
    pub fn pools(&self) -> Vec<PoolId> {
        let venues = match self {
            Self::Accuracy(terms) => return vec![terms.pool.clone()],
            Self::Decay(terms) => return vec![terms.pool.clone()],
            Self::Equity(terms) => return vec![terms.of.pool.clone()],
            Self::Hours(terms) => return vec![terms.pool.clone()],
            Self::Exposure(terms) => &terms.venues,
            Self::Stress(terms) => &terms.venues,
        };
        venues.iter().map(|venue| venue.pool.clone()).collect()
    }

    /// The first and the last slot of its windows.
    pub fn windows(&self) -> (Slot, Slot) {
        let (from, to) = self.period();
        (from, if let Self::Accuracy(terms) = self { terms.until } else { to })
    }

    /// Its first and its last slot.
    pub fn period(&self) -> (Slot, Slot) {
        match self {
            Self::Accuracy(terms) => (terms.from, terms.to),
            Self::Decay(terms) => (terms.from, terms.to),
            Self::Equity(terms) => (terms.of.from, terms.of.to),
            Self::Exposure(terms) => (terms.from, terms.to),
            Self::Hours(terms) => (terms.from, terms.to),
            Self::Stress(terms) => (terms.from, terms.to),
        }
    }

    /// Whether it is drawn from what the pool logged, too.
    pub fn takes_fills(&self) -> bool {
        matches!(self, Self::Accuracy(_))
    }

    pub fn scan(self) -> Option<Scan> {
        match self {
            Self::Accuracy(terms) => {
                AccuracyPass::new(terms).ok().map(Box::new).map(Scan::Accuracy)
            }
            Self::Decay(terms) => DecayScan::new(terms).ok().map(Box::new).map(Scan::Decay),
            Self::Equity(terms) => EquityScan::new(terms).ok().map(Box::new).map(Scan::Equity),
            Self::Exposure(terms) => {
                ExposureScan::new(terms).ok().map(Box::new).map(Scan::Exposure)
            }
            Self::Hours(terms) => HoursScan::new(terms).ok().map(Box::new).map(Scan::Hours),
            Self::Stress(terms) => StressScan::new(terms).ok().map(Box::new).map(Scan::Stress),
        }
    }
}

impl Scan {
    pub fn take(&mut self, of: &FigureUse, observation: Observation) -> Result<(), Refused> {
        match self {
            Self::Accuracy(pass) => Ok(pass.take(of.slot, observation)?),
            Self::Decay(scan) => Ok(scan.take(of.slot, observation)?),
            Self::Equity(scan) => Ok(scan.take(of.slot, observation)?),
            Self::Exposure(scan) => Ok(scan.take(&of.pool, of.slot, observation)?),
            Self::Hours(scan) => Ok(scan.take(of.slot, observation)?),
            Self::Stress(scan) => Ok(scan.take(&of.pool, of.slot, observation)?),
        }
    }

    /// Whether a document is wanted before the next snapshot.
    pub fn wants_fills(&self) -> bool {
        matches!(self, Self::Accuracy(pass) if pass.wants_fills())
    }

    /// The next document; `None` where there is no further one.
    pub fn take_fills(&mut self, fills: Option<Fills>) -> Result<(), Refused> {
        let Self::Accuracy(pass) = self else { return Ok(()) };
        let Some(fills) = fills else {
            pass.no_more_fills();
            return Ok(());
        };
        Ok(pass.take_fills(fills)?)
    }

    /// The result's bytes.
    pub fn result(self) -> Result<Part, Refused> {
        match self {
            Self::Accuracy(pass) => Ok(part(&pass.figure())?),
            Self::Decay(scan) => Ok(part(&scan.finish())?),
            Self::Equity(scan) => Ok(part(&scan.finish()?)?),
            Self::Exposure(scan) => Ok(part(&scan.finish()?)?),
            Self::Hours(scan) => Ok(part(&scan.finish()?)?),
            Self::Stress(scan) => Ok(part(&scan.finish()?)?),
        }
    }
}

fn parameters<T: Wire>(file: &FigureFile) -> Result<T, NotAsked> {
    read(&file.parameters.0).and_then(|json| T::read(&json)).map_err(|error| invalid(&error))
}

fn invalid(why: &impl ToString) -> NotAsked {
    NotAsked::Invalid(why.to_string())
}

impl From<AccuracyError> for Refused {
    fn from(error: AccuracyError) -> Self {
        Self { code: error.code(), why: error.to_string() }
    }
}

impl From<DecayError> for Refused {
    fn from(error: DecayError) -> Self {
        Self { code: error.code(), why: error.to_string() }
    }
}

impl From<HoursError> for Refused {
    fn from(error: HoursError) -> Self {
        Self { code: error.code(), why: error.to_string() }
    }
}

impl From<VenuesError> for Refused {
    fn from(error: VenuesError) -> Self {
        Self { code: error.code(), why: error.to_string() }
    }
}

impl From<DocumentError> for Refused {
    fn from(error: DocumentError) -> Self {
        Self { code: "no_result", why: error.to_string() }
    }
}
