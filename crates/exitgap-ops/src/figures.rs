//! Figures computed from many slots, and the data to recompute them.

use core::slice::from_ref;
use exitgap_api::operations::parameters::{PERIOD_FROM, VENUE};
use exitgap_api::operations::{
    DecayAsked, DecayFileAsked, FigureAddress, FigureOf, Operation, SlotAsked,
};
use exitgap_api::{
    DepthDecay, DepthDecayOf, DepthSourceKind, GuardInputs, Guards, Number, Problem, ProblemCode,
    SNAPSHOT_PAGE_BYTES, SeriesMethod, SeriesSource, Status, Window,
};
use exitgap_core::analytics::FigureError;
use exitgap_core::analytics::accuracy::AccuracyTerms;
use exitgap_core::analytics::decay::DecayTerms;
use exitgap_core::analytics::depths::DepthsTerms;
use exitgap_core::analytics::equity::EquityTerms;
use exitgap_core::analytics::exposure::ExposureTerms;
use exitgap_core::analytics::figure::Figure;
use exitgap_core::analytics::hours::HoursTerms;
use exitgap_core::analytics::route::{PortfolioTerms, RouteTerms};
use exitgap_core::analytics::stress::StressTerms;
use exitgap_core::evidence::Base;
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::series::{LookupError, Slot, days_observed_hundredths};
use exitgap_core::units::SizeUsd;
use exitgap_store::{AlertReadError, EvidenceError, FigureReadError, FindError, Reader};

use super::evidence::{ProofError, ProofKey, proof};
use super::history::Series;
use super::{IntoProblem, Proof, Service};

/// The default period: 28 days.
const SLOTS: u32 = 28 * Slot::PER_DAY;

/// The maximum number of slots in one answer of snapshots.
const SLOTS_OF_LINES: u32 = 96;

/// A figure's file.
#[derive(Debug, Clone)]
pub struct FigureFile {
    /// The file.
    pub bytes: Proof,
    /// Whether the request names everything that determines the file and no future slot, so that its bytes never
    /// change.
    pub is_settled: bool,
}

/// A figure whose parameters the service completes from its series.
pub trait ServedFigure: FigureAddress + Sync {
    /// Completes the parameters of a request: the base and the period from the pool's series.
    fn resolve(
        service: &Service,
        asked: Self::FileQuestion,
    ) -> impl Future<Output = Result<ResolvedFigure<Self>, Problem>> + Send;
}

/// A figure with all parameters.
#[derive(Debug)]
pub struct ResolvedFigure<F> {
    pub(super) figure: F,
    /// Whether the request named all parameters and no future slot.
    pub(super) is_settled: bool,
}

impl ServedFigure for DecayTerms {
    async fn resolve(
        service: &Service,
        asked: DecayFileAsked,
    ) -> Result<ResolvedFigure<Self>, Problem> {
        let DecayAsked { base, from, to, .. } = &asked.0;
        let named = base.is_some().then_some(from.zip(*to)).flatten();
        let figure = service.decay_of(asked.0).await?.terms;
        let is_settled = named.is_some_and(|(_, to)| to == figure.to);
        Ok(ResolvedFigure { figure, is_settled })
    }
}

/// The parameters of a depth decay, with values about its series that answers report.
pub(super) struct DecayOf {
    pub terms: DecayTerms,
    recorded_count: u32,
    pub newest: Option<Slot>,
    first_slot: Slot,
}

impl Service {
    /// How a pool's depth shrinks after its price has moved.
    pub async fn decay(&self, asked: DecayAsked) -> Result<DepthDecay, Problem> {
        let guards = asked.guards;
        let of = self.decay_of(asked).await?;
        let (terms, urls) = (of.terms.clone(), self.urls().clone());
        let current = self.current();
        let labels = current.pools.get(&terms.pool).and_then(|now| now.labels.clone());
        guards.check(&GuardInputs {
            status: labels.map_or(Status::Preview, |labels| labels.status),
            recorded_slots: Some(of.recorded_count.into()),
            age_s: of.newest.map(|slot| self.age_s(slot)),
        })?;
        let result = self.figures.read_store(move |reader| reader.figure(&terms)).await?;
        let terms = of.terms;
        let days = days_observed_hundredths(of.recorded_count.into());
        let file = terms.address();
        let exactness = self.exactness(from_ref(&terms.pool)).await;
        let of = DepthDecayOf {
            exactness,
            figure: DepthDecayOf::FIGURE.to_owned(),
            pool: terms.pool.to_string(),
            base: terms.base.code().to_owned(),
            from: terms.from.to_string(),
            to: terms.to.to_string(),
            gap_pct: terms.gap.into(),
            move_pct: exitgap_core::units::Percent(terms.move_e8.into()).into(),
            within_slots: terms.within_slots,
            days_observed: Number::from_hundredths(days),
            method_version: METHOD_VERSION.to_owned(),
            method: SeriesMethod {
                assumed_size_usd: None,
                window: Window {
                    from: terms.from.max(of.first_slot).to_string(),
                    to: terms.to.to_string(),
                    slots_recorded: result.have_slots.into(),
                    slots_missing: result.slots_missing.into(),
                },
                depth_source: SeriesSource {
                    kind: DepthSourceKind::RecordedSnapshot,
                    chain: Some(terms.pool.chain().to_string()),
                },
            },
            figure_url: [urls.web.as_str(), file.as_str()].concat(),
        };
        Ok(DepthDecay::new(of, &result))
    }

    /// The file from which a figure can be recomputed. Its bytes are always the same.
    pub async fn figure_file<F: ServedFigure>(
        &self,
        asked: F::FileQuestion,
    ) -> Result<FigureFile, Problem> {
        let ResolvedFigure { figure, is_settled } = F::resolve(self, asked).await?;
        let figure = figure.validate().map_err(IntoProblem::into_problem)?;
        let key = ProofKey::Figure(figure.address().to_string());
        if let Some(bytes) = self.evidence.get(&key) {
            return Ok(FigureFile { bytes, is_settled });
        }
        let bytes =
            proof(self.figures.read_store(move |reader| reader.figure_file(&figure)).await?);
        self.evidence.insert(key, bytes.clone());
        Ok(FigureFile { bytes, is_settled })
    }

    /// The figure file at an address.
    pub async fn figure_file_of(&self, of: &FigureOf) -> Result<FigureFile, Problem> {
        match of.operation {
            Operation::AccuracyFile => self.file_of::<AccuracyTerms>(of).await,
            Operation::DecayFile => self.file_of::<DecayTerms>(of).await,
            Operation::DepthsFile => self.file_of::<DepthsTerms>(of).await,
            Operation::EquityFile => self.file_of::<EquityTerms>(of).await,
            Operation::ExposureFile => self.file_of::<ExposureTerms>(of).await,
            Operation::HoursFile => self.file_of::<HoursTerms>(of).await,
            Operation::PortfolioFile => self.file_of::<PortfolioTerms>(of).await,
            Operation::CashFile => self.file_of::<RouteTerms>(of).await,
            Operation::VenueStressFile => self.file_of::<StressTerms>(of).await,
            other => {
                let detail = format!("{} is not the address of a figure file", other.template());
                Err(Problem::new(ProblemCode::NotFound, detail))
            }
        }
    }

    async fn file_of<F: ServedFigure>(&self, of: &FigureOf) -> Result<FigureFile, Problem> {
        self.figure_file::<F>(of.parse_question()?).await
    }

    /// Snapshot files of the recorded, unretracted slots from a slot on, one per line.
    pub async fn snapshots(&self, asked: SlotAsked) -> Result<Proof, Problem> {
        let SlotAsked { pool: id, slot } = asked;
        let made = self
            .read_store(move |reader| {
                super::evidence::in_series(reader.find(&id, Some(slot)))?;
                let last = u64::from(slot.number()) + u64::from(SLOTS_OF_LINES) - 1;
                let last = Slot::new(last).unwrap_or(Slot::LAST);
                reader
                    .snapshot_lines(&id, slot, last, SNAPSHOT_PAGE_BYTES)
                    .map_err(ProofError::Evidence)
            })
            .await?;
        Ok(proof(made))
    }

    /// The parameters of a request, with base and period completed from the pool's series.
    pub(super) async fn decay_of(&self, asked: DecayAsked) -> Result<DecayOf, Problem> {
        let DecayAsked { pool, base, from, to, move_e8, within_slots, gap, guards: _ } = asked;
        let series = exitgap_api::operations::SeriesAsked {
            pool,
            base,
            size: SizeUsd::STANDARD[0],
            from,
            to,
            guards: Guards::default(),
        };
        let base = self.series_base(&series).await?;
        let find = move |reader: &Reader| Series::find(reader, &series, base, SLOTS);
        let found = self.read_store(find).await?;
        let terms = DecayTerms {
            pool: found.pool.id.clone(),
            base: Base::from(found.direction),
            from: found.from,
            to: found.to,
            move_e8,
            within_slots,
            gap,
        };
        Ok(DecayOf {
            terms: terms.validate().map_err(IntoProblem::into_problem)?,
            recorded_count: found.recorded_count(),
            newest: found.newest,
            first_slot: found.pool.first_slot,
        })
    }
}

impl IntoProblem for FigureError {
    fn into_problem(self) -> Problem {
        let code = match &self {
            Self::UnsupportedKind { .. } => ProblemCode::FigureUnsupportedKind,
            Self::OutOfOrder { .. }
            | Self::LogOutOfOrder { .. }
            | Self::OtherFills { .. }
            | Self::OtherCalendars { .. }
            | Self::RouteNetwork(_)
            | Self::RouteOffPath { .. }
            | Self::RoutePlan(_)
            | Self::RoutePrices => ProblemCode::InternalError,
            Self::RouteMissing { .. } | Self::RouteBlock { .. } => ProblemCode::SlotMissing,
            Self::RouteGap => ProblemCode::GapOutOfRange,
            Self::Venues { .. }
            | Self::OtherToken { .. }
            | Self::Period { .. }
            | Self::Parameter { .. }
            | Self::TooManyLogs => ProblemCode::InvalidParameter,
        };
        let problem = Problem::new(code, self.to_string());
        match &self {
            Self::Period { most, .. } => problem.field(PERIOD_FROM.name).hint(format!(
                "give at most {most} slots ({} days), ending no later than the series",
                most / Slot::PER_DAY
            )),
            Self::TooManyLogs => problem.field(PERIOD_FROM.name),
            Self::Parameter { field, .. } => problem.field(field),
            Self::Venues { .. } | Self::OtherToken { .. } => problem
                .field(VENUE.name)
                .hint("venues must be pools of one chain that sell one token, and no contract may appear twice"),
            _ => problem,
        }
    }
}

impl IntoProblem for FigureReadError {
    fn into_problem(self) -> Problem {
        match self {
            Self::Figure(error) => error.into_problem(),
            Self::Evidence(error) => evidence_problem(error),
            Self::Document(error) => {
                tracing::error!(%error, "a figure file could not be written");
                Problem::new(ProblemCode::InternalError, "the figure file could not be written")
            }
        }
    }
}

impl IntoProblem for AlertReadError {
    fn into_problem(self) -> Problem {
        match self {
            Self::Run(error) => error.into_problem(),
            Self::Evidence(error) => evidence_problem(error),
        }
    }
}

fn evidence_problem(error: EvidenceError) -> Problem {
    match error {
        EvidenceError::UnknownPool { pool } => {
            FindError::Lookup(LookupError::UnknownPool { pool, nearest: Vec::new() }).into_problem()
        }
        error => ProofError::Evidence(error).into_problem(),
    }
}
