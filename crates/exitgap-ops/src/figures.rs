//! Figures drawn from many slots, and what they are recomputed from.

use exitgap_api::operations::{DecayAsked, DecayFileAsked, Operation, SlotAsked, Target};
use exitgap_api::{
    DepthDecay, DepthDecayOf, DepthSourceKind, Guards, Number, Problem, ProblemCode,
    SNAPSHOT_PAGE_BYTES, SeriesMethod, SeriesSource, Standing, Status, Window,
};
use exitgap_core::analytics::decay::{DecayError, DecayTerms};
use exitgap_core::evidence::Base;
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::series::{LookupError, Slot, days_observed_hundredths};
use exitgap_core::units::SizeUsd;
use exitgap_store::{EvidenceError, FigureError, FindError, Reader};

use super::evidence::{ProofError, ProofKey, proof};
use super::history::Series;
use super::{IntoProblem, Proof, Service};

/// The period where none is named: 28 days.
const SLOTS: u32 = 28 * Slot::PER_DAY;

/// Slots of one answer of snapshots.
const SLOTS_OF_LINES: u32 = 96;

/// A figure's file.
#[derive(Debug, Clone)]
pub struct FigureFile {
    /// The file.
    pub bytes: Proof,
    /// Whether the question names all that it depends on, and no slot that is yet to come: its bytes never change.
    pub is_settled: bool,
}

/// What a decay is of, with what answers say of its series.
pub(super) struct DecayOf {
    pub terms: DecayTerms,
    recorded_count: u32,
    pub newest: Option<Slot>,
    first_slot: Slot,
}

impl Service {
    /// How a book thins after its price has moved.
    pub async fn decay(&self, asked: DecayAsked) -> Result<DepthDecay, Problem> {
        let guards = asked.guards;
        let of = self.decay_of(asked).await?;
        let (terms, urls) = (of.terms.clone(), self.urls().clone());
        let current = self.current();
        let labels = current.pools.get(&terms.pool).and_then(|now| now.labels.clone());
        guards.check(&Standing {
            status: labels.map_or(Status::Preview, |labels| labels.status),
            recorded_slots: Some(of.recorded_count.into()),
            age_s: of.newest.map(|slot| self.age_s(slot)),
        })?;
        let result = self.figures.read(move |reader| reader.decay(&terms)).await?;
        let terms = of.terms;
        let days = days_observed_hundredths(of.recorded_count.into());
        let file = Operation::DecayFile.of_decay(&terms);
        let of = DepthDecayOf {
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

    /// The file that a decay is recomputed from: the same bytes each time.
    pub async fn decay_file(&self, asked: DecayFileAsked) -> Result<FigureFile, Problem> {
        let DecayAsked { base, from, to, .. } = &asked.0;
        let named = base.is_some().then_some(from.zip(*to)).flatten();
        let terms = self.decay_of(asked.0).await?.terms;
        let is_settled = named.is_some_and(|(_, to)| to == terms.to);
        let of = Operation::DecayFile.of_decay(&terms);
        let make = move |reader: &Reader| reader.decay_file(&terms);
        Ok(FigureFile { bytes: self.figure_file(&of, make).await?, is_settled })
    }

    /// A figure's file by its whole address: kept, or made.
    pub(super) async fn figure_file<E: IntoProblem + Send + 'static>(
        &self,
        of: &Target,
        make: impl FnOnce(&Reader) -> Result<Vec<u8>, E> + Send + 'static,
    ) -> Result<Proof, Problem> {
        let key = ProofKey::Figure(of.to_string());
        if let Some(kept) = self.evidence.get(&key) {
            return Ok(kept);
        }
        let made = proof(self.figures.read(make).await?);
        self.evidence.insert(key, made.clone());
        Ok(made)
    }

    /// Snapshot files of the standing slots from one on, one a line.
    pub async fn snapshots(&self, asked: SlotAsked) -> Result<Proof, Problem> {
        let SlotAsked { pool: id, slot } = asked;
        let made = self
            .read(move |reader| {
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

    /// The terms of a question: its base and period as the series has them.
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
        let found = self.read(find).await?;
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
            terms: terms.checked().map_err(IntoProblem::into_problem)?,
            recorded_count: found.recorded_count(),
            newest: found.newest,
            first_slot: found.pool.first_slot,
        })
    }
}

impl IntoProblem for DecayError {
    fn into_problem(self) -> Problem {
        let code = match &self {
            Self::UnsupportedKind { .. } => ProblemCode::FigureUnsupportedKind,
            Self::Period { .. } | Self::Parameter { .. } => ProblemCode::InvalidParameter,
            Self::OutOfOrder { .. } => ProblemCode::InternalError,
        };
        let problem = Problem::new(code, self.to_string());
        match &self {
            Self::Period { most, .. } => problem
                .field("from")
                .hint(format!("at most {most} slots, which are 31 days, at a time")),
            Self::Parameter { field, .. } => problem.field(field),
            Self::UnsupportedKind { .. } | Self::OutOfOrder { .. } => problem,
        }
    }
}

impl IntoProblem for FigureError {
    fn into_problem(self) -> Problem {
        match self {
            Self::Decay(error) => error.into_problem(),
            Self::Hours(error) => error.into_problem(),
            Self::Venues(error) => error.into_problem(),
            Self::Accuracy(error) => error.into_problem(),
            Self::Alert(error) => error.into_problem(),
            Self::Evidence(EvidenceError::UnknownPool { pool }) => {
                FindError::Lookup(LookupError::UnknownPool { pool, nearest: Vec::new() })
                    .into_problem()
            }
            Self::Evidence(error) => ProofError::Evidence(error).into_problem(),
            Self::Document(error) => {
                tracing::error!(%error, "a figure file could not be written");
                Problem::new(ProblemCode::InternalError, "the figure file could not be written")
            }
        }
    }
}
