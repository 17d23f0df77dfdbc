//! Defines a figure: its parameters, the pass over its snapshots, and its result. Each figure is one implementation of
//! [`Figure`] and one row of the list below. Store, service, file format and verifier are generic over figures.

use core::fmt::Debug;

use super::file::FigureFile;
use crate::Newer;
use crate::analytics::FigureError;
use crate::analytics::accuracy::{AccuracyTerms, AccuracyTermsOf, Fills};
use crate::analytics::decay::DecayTerms;
use crate::analytics::depths::DepthsTerms;
use crate::analytics::equity::EquityTerms;
use crate::analytics::exposure::ExposureTerms;
use crate::analytics::hours::HoursTerms;
use crate::analytics::route::{PortfolioTerms, RouteTerms};
use crate::analytics::stress::StressTerms;
use crate::evidence::DocumentError;
use crate::ids::PoolId;
use crate::json::{Part, Wire, parse_json};
use crate::series::Slot;
use crate::snapshot::{Observation, TokenSession};

/// A figure, represented by the type of its parameters.
pub trait Figure: Clone + Send + 'static {
    /// The name and first version of its rules, such as `decay/1`.
    const NAME: &'static str;

    /// All versions of its rules that its parameters can be of.
    const NAMES: &'static [&'static str] = &[Self::NAME];

    /// Whether it also uses the logs of its pools.
    const TAKES_FILLS: bool = false;

    /// Whether its parameters name the calendars of the period's last recorded, unretracted snapshot.
    const HAS_CALENDARS: bool = false;

    /// The parameters as a figure file spells them.
    type Parameters: Wire;

    /// The pass that computes it.
    type Pass: FigurePass;

    /// Requires that every parameter is within its bounds.
    fn validate(self) -> Result<Self, FigureError>;

    /// The name and version of the rules that these parameters are of.
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// The parameters as a figure file spells them.
    fn parameters(&self) -> Self::Parameters;

    /// Reads parameters, which must be in their canonical form.
    fn from_parameters(spelled: &Self::Parameters) -> Result<Self, FigureError>;

    /// What only a later version knows of well-formed parameters, and the parameters with known content in its place, by
    /// which the rest is checked.
    fn replace_newer(_: &Self::Parameters) -> Option<(Newer, Self::Parameters)> {
        None
    }

    /// Its pools, in the order of their head windows and, within a slot, of their snapshots.
    fn pools(&self) -> Vec<&PoolId>;

    /// Its first and its last slot.
    fn period(&self) -> (Slot, Slot);

    /// The last slot whose heads it needs.
    fn last_head(&self) -> Slot {
        self.period().1
    }

    /// The same parameters with these calendars.
    #[must_use]
    fn with_calendars(self, _: Vec<TokenSession>) -> Self {
        self
    }

    /// An empty pass.
    fn pass(self) -> Result<Self::Pass, FigureError>;
}

/// One pass over the recorded, unretracted snapshots of a period, ascending by slot and, within a slot, in the order of
/// the pools.
pub trait FigurePass: Debug + Send + 'static {
    /// The result of the pass.
    type Result;

    /// Adds the next snapshot.
    fn add_snapshot(
        &mut self,
        pool: &PoolId,
        slot: Slot,
        of: Observation,
    ) -> Result<(), FigureError>;

    /// Whether the pass needs the next document of logs before the next snapshot.
    fn wants_fills(&self) -> bool {
        false
    }

    /// Adds the next document of logs; `None` if there are no more.
    fn take_fills(&mut self, _: Option<Fills>) -> Result<(), FigureError> {
        Ok(())
    }

    /// The result.
    fn finish(self) -> Result<Self::Result, FigureError>;

    /// The result as a figure file contains it.
    fn document(result: &Self::Result) -> Result<Part, DocumentError>;
}

/// A row of the list of figures.
struct FigureEntry {
    names: &'static [&'static str],
    takes_fills: bool,
    read: fn(&Part) -> Result<Box<dyn AnyFigure>, NotRead>,
}

impl FigureEntry {
    const fn new<F: Figure>() -> Self {
        Self { names: F::NAMES, takes_fills: F::TAKES_FILLS, read: read_figure::<F> }
    }
}

/// The figures.
static FIGURES: &[FigureEntry] = &[
    FigureEntry::new::<AccuracyTermsOf<1>>(),
    FigureEntry::new::<AccuracyTerms>(),
    FigureEntry::new::<DecayTerms>(),
    FigureEntry::new::<DepthsTerms>(),
    FigureEntry::new::<EquityTerms>(),
    FigureEntry::new::<ExposureTerms>(),
    FigureEntry::new::<HoursTerms>(),
    FigureEntry::new::<PortfolioTerms>(),
    FigureEntry::new::<RouteTerms>(),
    FigureEntry::new::<StressTerms>(),
];

fn read_figure<F: Figure>(parameters: &Part) -> Result<Box<dyn AnyFigure>, NotRead> {
    let json = parse_json(&parameters.0).map_err(NotRead::Invalid)?;
    let spelled = F::Parameters::from_json(&json).map_err(NotRead::Invalid)?;
    let invalid = |error: FigureError| NotRead::Invalid(error.to_string());
    if let Some((newer, known)) = F::replace_newer(&spelled) {
        F::from_parameters(&known).map_err(invalid)?;
        return Err(NotRead::Newer(newer));
    }
    let figure = F::from_parameters(&spelled).map_err(invalid)?;
    Ok(Box::new(figure))
}

/// The parameters of a file of this figure; `None` if it is of another one or cannot be read. Only the checks show whether
/// the file holds.
pub fn parameters_of<F: Figure>(file: &[u8]) -> Option<F> {
    let file = parse_json(file).ok()?;
    let spelled = F::Parameters::from_json(file.field("parameters")?).ok()?;
    let figure = F::from_parameters(&spelled).ok()?;
    let name = String::from_json(file.field("figure")?).ok()?;
    (name == figure.name()).then_some(figure)
}

/// Whether the rules of this name are known.
pub(super) fn is_known(figure: &str) -> bool {
    FIGURES.iter().any(|listed| listed.names.contains(&figure))
}

/// Why a file's figure cannot be recomputed.
pub(super) enum NotRead {
    /// The figure's name or version is unknown.
    Unknown,
    /// Its parameters contain something that only a later version knows.
    Newer(Newer),
    /// Its parameters are out of bounds or not in their canonical form.
    Invalid(String),
}

/// The figure of a file.
pub(super) fn figure_of(file: &FigureFile) -> Result<Box<dyn AnyFigure>, NotRead> {
    let listed = FIGURES.iter().find(|listed| listed.names.contains(&file.figure.as_str()));
    let listed = listed.ok_or(NotRead::Unknown)?;
    if !file.fills.is_empty() && !listed.takes_fills {
        let why = "fills, of a figure that is not computed from any";
        return Err(NotRead::Invalid(why.to_owned()));
    }
    let figure = (listed.read)(&file.parameters)?;
    if figure.name() != file.figure {
        return Err(NotRead::Invalid(format!("parameters of {}", figure.name())));
    }
    Ok(figure)
}

/// Any figure of the list, for the verifier.
pub(super) trait AnyFigure {
    fn name(&self) -> &'static str;
    fn takes_fills(&self) -> bool;
    fn pools(&self) -> Vec<PoolId>;
    fn period(&self) -> (Slot, Slot);
    fn last_head(&self) -> Slot;
    fn pass(self: Box<Self>) -> Option<Box<dyn AnyPass>>;
}

impl<F: Figure> AnyFigure for F {
    fn name(&self) -> &'static str {
        Figure::name(self)
    }

    fn takes_fills(&self) -> bool {
        F::TAKES_FILLS
    }

    fn pools(&self) -> Vec<PoolId> {
        Figure::pools(self).into_iter().cloned().collect()
    }

    fn period(&self) -> (Slot, Slot) {
        Figure::period(self)
    }

    fn last_head(&self) -> Slot {
        Figure::last_head(self)
    }

    fn pass(self: Box<Self>) -> Option<Box<dyn AnyPass>> {
        let pass = Figure::pass(*self).ok()?;
        Some(Box::new(pass))
    }
}

/// The pass of any figure.
pub(super) trait AnyPass: Debug + Send {
    fn add_snapshot(
        &mut self,
        pool: &PoolId,
        slot: Slot,
        of: Observation,
    ) -> Result<(), FigureError>;
    fn wants_fills(&self) -> bool;
    fn take_fills(&mut self, fills: Option<Fills>) -> Result<(), FigureError>;
    fn result(self: Box<Self>) -> Result<Part, NoResult>;
}

impl<P: FigurePass> AnyPass for P {
    fn add_snapshot(
        &mut self,
        pool: &PoolId,
        slot: Slot,
        of: Observation,
    ) -> Result<(), FigureError> {
        FigurePass::add_snapshot(self, pool, slot, of)
    }

    fn wants_fills(&self) -> bool {
        FigurePass::wants_fills(self)
    }

    fn take_fills(&mut self, fills: Option<Fills>) -> Result<(), FigureError> {
        FigurePass::take_fills(self, fills)
    }

    fn result(self: Box<Self>) -> Result<Part, NoResult> {
        Ok(P::document(&self.finish()?)?)
    }
}

/// Why recomputing gives no result although the file has one.
#[derive(Debug)]
pub(super) struct NoResult {
    pub code: &'static str,
    pub why: String,
}

impl From<FigureError> for NoResult {
    fn from(error: FigureError) -> Self {
        Self { code: error.code(), why: error.to_string() }
    }
}

impl From<DocumentError> for NoResult {
    fn from(error: DocumentError) -> Self {
        Self { code: "no_result", why: error.to_string() }
    }
}
