//! The parameters of figures computed from many slots.

use exitgap_core::analytics::accuracy::AccuracyTerms;
use exitgap_core::analytics::decay::DecayTerms;
use exitgap_core::analytics::depths::DepthsTerms;
use exitgap_core::analytics::equity::EquityTerms;
use exitgap_core::analytics::exposure::ExposureTerms;
use exitgap_core::analytics::figure::{Figure, parameters_of};
use exitgap_core::analytics::hours::HoursTerms;
use exitgap_core::analytics::route::{PortfolioTerms, RouteTerms};
use exitgap_core::analytics::stress::StressTerms;
use exitgap_core::evidence::Base;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::units::{GapLimit, Percent};

use super::parameters::{
    BASE, BASE_BY_PLACE, BOOK_GAP, FROM, MOVE, PERIOD_FROM, POOL, SERIES_SIZE, TO, UNTIL,
    WITHIN_SLOTS,
};
use super::{FigureOf, Given, HoursFileAsked, Operation, Parameter, Question, Target, values};
use crate::{Guards, Number, Problem, ProblemCode, parse_pool, slot_at};

/// The address of a figure's file.
pub trait FigureAddress: Figure {
    /// The parameters of the file's operation.
    type FileQuestion: Question;

    /// The operation that returns the file.
    const FILE: Operation;

    /// The file's address, with all parameters that determine its contents.
    fn address(&self) -> Target;
}

/// A figure with a file, by its operation.
struct FileRow {
    operation: Operation,
    /// The address that a file has by its contents.
    address_of_file: fn(&[u8]) -> Option<Target>,
    check: fn(&FigureOf) -> Result<(), Problem>,
}

/// Every figure with a file.
static FIGURES: [FileRow; 9] = [
    FileRow::new::<AccuracyTerms>(),
    FileRow::new::<DecayTerms>(),
    FileRow::new::<DepthsTerms>(),
    FileRow::new::<EquityTerms>(),
    FileRow::new::<ExposureTerms>(),
    FileRow::new::<HoursTerms>(),
    FileRow::new::<PortfolioTerms>(),
    FileRow::new::<RouteTerms>(),
    FileRow::new::<StressTerms>(),
];

impl FileRow {
    const fn new<F: FigureAddress>() -> Self {
        Self {
            operation: F::FILE,
            address_of_file: |file| Some(parameters_of::<F>(file)?.address()),
            check: |of| of.parse_question::<F::FileQuestion>().map(drop),
        }
    }

    fn find(operation: Operation) -> Option<&'static Self> {
        FIGURES.iter().find(|row| row.operation == operation)
    }
}

/// The operations that return a figure file.
pub(super) fn figure_files() -> impl Iterator<Item = Operation> {
    FIGURES.iter().map(|row| row.operation)
}

/// The address that a file of this operation has by its contents; `None` if its parameters cannot be read as those of the
/// operation's figure.
pub(super) fn address_of_file(operation: Operation, file: &[u8]) -> Option<Target> {
    FileRow::find(operation).and_then(|row| (row.address_of_file)(file))
}

/// Requires parameters that the address of a figure file accepts.
pub(super) fn check_address(of: &FigureOf) -> Result<(), Problem> {
    FileRow::find(of.operation).map_or(Ok(()), |row| (row.check)(of))
}

/// The parameters of depth decay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecayAsked {
    /// The pool.
    pub pool: PoolId,
    /// The token sold, as the caller named it; default: the pool's default base.
    pub base: Option<String>,
    /// The first slot; default: 28 days before the last.
    pub from: Option<Slot>,
    /// The last slot; default: the newest.
    pub to: Option<Slot>,
    /// How far the mid price must have moved, in millionths of a percent.
    pub move_e8: u32,
    /// The number of slots over which the move is measured.
    pub within_slots: u32,
    /// The gap at which depth is measured.
    pub gap: GapLimit,
    /// The requirements for the series.
    pub guards: Guards,
}

impl Question for DecayAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let (from, to) = period(given)?;
        let gap = given.parse_required(&BOOK_GAP, |text| {
            above_zero(&BOOK_GAP, text)?;
            values::gap_limit(text)
        })?;
        Ok(Self {
            pool: given.parse_required(&POOL, parse_pool)?,
            base: given.parse_optional(&BASE, values::token_name)?,
            from,
            to,
            move_e8: given.parse_required(&MOVE, |text| above_zero(&MOVE, text))?,
            within_slots: given
                .parse_required(&WITHIN_SLOTS, |text| values::whole(&WITHIN_SLOTS, text))?,
            gap,
            guards: Guards::from_parameters(given)?,
        })
    }
}

/// The parameters of a pool's accuracy record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccuracyAsked {
    /// The pool.
    pub pool: PoolId,
    /// The first slot; default: seven days before the last.
    pub from: Option<Slot>,
    /// The last slot; default: the newest.
    pub to: Option<Slot>,
    /// The requirements for the series.
    pub guards: Guards,
}

impl Question for AccuracyAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let (from, to) = period(given)?;
        let pool = given.parse_required(&POOL, parse_pool)?;
        Ok(Self { pool, from, to, guards: Guards::from_parameters(given)? })
    }
}

/// The same for its figure file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccuracyFileAsked {
    /// The parameters of the record.
    pub of: AccuracyAsked,
    /// The last head that is read for logs of the period; default: the newest, or the one a day after the period.
    pub until: Option<Slot>,
}

impl Question for AccuracyFileAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let until = given.parse_optional(&UNTIL, |text| slot_at(UNTIL.name, text))?;
        Ok(Self { of: AccuracyAsked::from_parameters(given)?, until })
    }
}

/// The first and the last slot of a period, if given.
pub(super) fn period(given: &Given<'_>) -> Result<(Option<Slot>, Option<Slot>), Problem> {
    let from = match given.parse_optional(&PERIOD_FROM, |text| slot_at(PERIOD_FROM.name, text)) {
        Err(problem) if problem.code == ProblemCode::BeforeSeries => Some(Slot::FIRST),
        from => from?,
    };
    let to = given.parse_optional(&TO, |text| slot_at(TO.name, text))?;
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err(Problem::new(ProblemCode::PeriodReversed, "from is after to")
            .field(PERIOD_FROM.name)
            .hint("give the earlier time as from"));
    }
    Ok((from, to))
}

/// The same for its figure file. The base must be `token0` or `token1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecayFileAsked(pub DecayAsked);

impl Question for DecayFileAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        given.parse_optional(&BASE_BY_PLACE, |text| {
            values::word(&BASE_BY_PLACE, text, Base::from_code)
        })?;
        DecayAsked::from_parameters(given).map(Self)
    }
}

/// The parameters of the figure file of both depths of a week.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepthsFileAsked {
    /// The pool.
    pub pool: PoolId,
    /// The first slot; default: seven days before the last.
    pub from: Option<Slot>,
    /// The last slot; default: the newest.
    pub to: Option<Slot>,
}

impl Question for DepthsFileAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let (from, to) = period(given)?;
        Ok(Self { pool: given.parse_required(&POOL, parse_pool)?, from, to })
    }
}

impl FigureAddress for DepthsTerms {
    type FileQuestion = DepthsFileAsked;

    const FILE: Operation = Operation::DepthsFile;

    fn address(&self) -> Target {
        let target = Self::FILE.target_of(&self.pool);
        target.with(&PERIOD_FROM, self.from).with(&TO, self.to)
    }
}

impl FigureAddress for AccuracyTerms {
    type FileQuestion = AccuracyFileAsked;

    const FILE: Operation = Operation::AccuracyFile;

    fn address(&self) -> Target {
        let target = Self::FILE.target_of(&self.pool).with(&PERIOD_FROM, self.from);
        target.with(&TO, self.to).with(&UNTIL, self.until)
    }
}

impl FigureAddress for HoursTerms {
    type FileQuestion = HoursFileAsked;

    const FILE: Operation = Operation::HoursFile;

    fn address(&self) -> Target {
        Self::FILE
            .target_of(&self.pool)
            .with(&SERIES_SIZE, self.size)
            .with(&BASE, self.base.code())
            .with(&FROM, self.from)
            .with(&TO, self.to)
    }
}

impl FigureAddress for DecayTerms {
    type FileQuestion = DecayFileAsked;

    const FILE: Operation = Operation::DecayFile;

    fn address(&self) -> Target {
        Self::FILE
            .target_of(&self.pool)
            .with(&BASE, self.base.code())
            .with(&PERIOD_FROM, self.from)
            .with(&TO, self.to)
            .with(&MOVE, Number::from(Percent(self.move_e8.into())))
            .with(&WITHIN_SLOTS, self.within_slots)
            .with(&BOOK_GAP, Number::from(self.gap))
    }
}

/// Parses a percentage above 0 and at most 100, in millionths of a percent.
pub(super) fn above_zero(parameter: &Parameter, text: &str) -> Result<u32, Problem> {
    let parsed = Percent::parse(text).ok().and_then(|percent| u32::try_from(percent.0).ok());
    parsed.filter(|millionths| (1..=100_000_000).contains(millionths)).ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        let rule = "above 0 and at most 100, with at most six decimals";
        values::refusal(parameter, &format!("{}: {shown:?} is not {rule}", parameter.name))
    })
}
