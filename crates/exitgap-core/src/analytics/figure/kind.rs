//! What a figure is: parameters, the pass over its snapshots, and its result. Each is one implementation of [`Figure`],
//! and one line of the list below; store, service, file and verifier are generic over it.

use core::fmt::Debug;

use super::file::FigureFile;
use crate::analytics::FigureError;
use crate::analytics::accuracy::{AccuracyTerms, Fills};
use crate::analytics::decay::DecayTerms;
use crate::analytics::equity::EquityTerms;
use crate::analytics::exposure::ExposureTerms;
use crate::analytics::hours::HoursTerms;
use crate::analytics::stress::StressTerms;
use crate::evidence::DocumentError;
use crate::ids::PoolId;
use crate::json::{Part, Wire, parse_json};
use crate::series::Slot;
use crate::snapshot::{Observation, TokenSession};

/// A figure, as the type of its parameters.
pub trait Figure: Clone + Send + 'static {
    /// The name and version of its rules, such as `decay/1`.
    const NAME: &'static str;

    /// Whether it is computed from what pools logged, too.
    const TAKES_FILLS: bool = false;

    /// Whether its parameters name the calendars of the period's last standing snapshot.
    const HAS_CALENDARS: bool = false;

    /// The parameters as a figure file spells them.
    type Parameters: Wire;

    /// The pass that computes it.
    type Pass: FigurePass;

    /// Requires that every parameter lies within its bounds.
    fn validate(self) -> Result<Self, FigureError>;

    /// The parameters as a figure file spells them.
    fn parameters(&self) -> Self::Parameters;

    /// Reads them, in their one spelling.
    fn from_parameters(spelled: &Self::Parameters) -> Result<Self, FigureError>;

    /// Its pools, in the order of their windows and, within a slot, of their snapshots.
    fn pools(&self) -> Vec<&PoolId>;

    /// Its first and its last slot.
    fn period(&self) -> (Slot, Slot);

    /// The last slot whose heads it needs.
    fn last_head(&self) -> Slot {
        self.period().1
    }

    /// With these calendars in place of those that it names.
    #[must_use]
    fn with_calendars(self, _: Vec<TokenSession>) -> Self {
        self
    }

    /// A pass that has taken nothing yet.
    fn pass(self) -> Result<Self::Pass, FigureError>;
}

/// One pass over the standing snapshots of a period: ascending by slot, those of one slot in the order of the pools.
pub trait FigurePass: Debug + Send + 'static {
    /// What it computes.
    type Result;

    /// Takes the next snapshot.
    fn add_snapshot(
        &mut self,
        pool: &PoolId,
        slot: Slot,
        of: Observation,
    ) -> Result<(), FigureError>;

    /// Whether the next document of logs is wanted before the next snapshot.
    fn wants_fills(&self) -> bool {
        false
    }

    /// Takes the next document of logs; `None`: there is no further one.
    fn take_fills(&mut self, _: Option<Fills>) -> Result<(), FigureError> {
        Ok(())
    }

    /// The result.
    fn finish(self) -> Result<Self::Result, FigureError>;

    /// The result as a figure file has it.
    fn document(result: &Self::Result) -> Result<Part, DocumentError>;
}

/// A row of the list.
struct FigureEntry {
    name: &'static str,
    takes_fills: bool,
    read: fn(&Part) -> Result<Box<dyn AnyFigure>, String>,
}

impl FigureEntry {
    const fn new<F: Figure>() -> Self {
        Self { name: F::NAME, takes_fills: F::TAKES_FILLS, read: read_figure::<F> }
    }
}

/// The figures.
static FIGURES: [FigureEntry; 6] = [
    FigureEntry::new::<AccuracyTerms>(),
    FigureEntry::new::<DecayTerms>(),
    FigureEntry::new::<EquityTerms>(),
    FigureEntry::new::<ExposureTerms>(),
    FigureEntry::new::<HoursTerms>(),
    FigureEntry::new::<StressTerms>(),
];

fn read_figure<F: Figure>(parameters: &Part) -> Result<Box<dyn AnyFigure>, String> {
    let spelled = F::Parameters::from_json(&parse_json(&parameters.0)?)?;
    let figure = F::from_parameters(&spelled).map_err(|error| error.to_string())?;
    Ok(Box::new(figure))
}

/// Whether the rules of this name are known.
pub(super) fn is_known(figure: &str) -> bool {
    FIGURES.iter().any(|listed| listed.name == figure)
}

/// Why a file's figure is not recomputed.
pub(super) enum NotRead {
    /// Its rules are not known.
    Unknown,
    /// Its parameters are out of bounds, or not in their one spelling.
    Invalid(String),
}

/// The figure of a file.
pub(super) fn figure_of(file: &FigureFile) -> Result<Box<dyn AnyFigure>, NotRead> {
    let listed = FIGURES.iter().find(|listed| listed.name == file.figure);
    let listed = listed.ok_or(NotRead::Unknown)?;
    if !file.fills.is_empty() && !listed.takes_fills {
        let why = "fills, of a figure that is not computed from any";
        return Err(NotRead::Invalid(why.to_owned()));
    }
    (listed.read)(&file.parameters).map_err(NotRead::Invalid)
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
        F::NAME
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

/// Any figure's pass.
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

/// Why a file has a result where recomputing gives none.
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
