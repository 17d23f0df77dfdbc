//! How good estimates were: what pools logged, and their swaps against what was estimated of them.

use exitgap_api::operations::{AccuracyAsked, Operation, SeriesAsked, SlotAsked, parameters};
use exitgap_api::{
    AccuracyRecord, Guards, Number, PoolAccuracy, Problem, ProblemCode, SNAPSHOT_PAGE_BYTES,
    Standing, Status,
};
use exitgap_core::analytics::accuracy::{AccuracyError, Fills};
use exitgap_core::series::{LookupError, Slot, days_observed_hundredths};
use exitgap_core::units::SizeUsd;
use exitgap_store::{FindError, Reader, RecordedAccuracy, StoreError};

use super::evidence::proof;
use super::history::Series;
use super::{IntoProblem, Proof, Service};

/// The period where none is named: seven days.
const SLOTS: u32 = 7 * Slot::PER_DAY;

/// The most slots of a period.
const MOST_SLOTS: u32 = 31 * Slot::PER_DAY;

/// Documents of one answer.
const DOCUMENTS: usize = 96;

impl Service {
    /// Every swap of a pool in a period against its estimate.
    pub async fn accuracy(&self, asked: AccuracyAsked) -> Result<PoolAccuracy, Problem> {
        let AccuracyAsked { pool, from, to, guards } = asked;
        let series = SeriesAsked {
            pool,
            base: None,
            size: SizeUsd::STANDARD[0],
            from,
            to,
            guards: Guards::default(),
        };
        let base = self.series_base(&series).await?;
        let found =
            self.read(move |reader: &Reader| Series::find(reader, &series, base, SLOTS)).await?;
        let (id, from, to) = (found.pool.id.clone(), found.from, found.to);
        if to.number() - from.number() >= MOST_SLOTS {
            let problem =
                Problem::new(ProblemCode::InvalidParameter, "from: at most 31 days at a time");
            return Err(problem.field(parameters::PERIOD_FROM.name));
        }
        let current = self.current();
        let labels = current.pools.get(&id).and_then(|now| now.labels.clone());
        guards.check(&Standing {
            status: labels.map_or(Status::Preview, |labels| labels.status),
            recorded_slots: Some(found.recorded_count().into()),
            age_s: found.newest.map(|slot| self.age_s(slot)),
        })?;
        let of = id.clone();
        let told = self.figures.read(move |reader| reader.accuracy(&of, [from, to])).await?;
        let RecordedAccuracy { result, slots, slots_waiting, documents } = told;
        let [first, last] = slots.unwrap_or([from, to]);
        let period = [first.to_string(), last.to_string()];
        let fills = Operation::Fills.target_of(&id).with(&parameters::SLOT, first.number());
        let days = days_observed_hundredths(found.recorded_count().into());
        Ok(PoolAccuracy {
            record: AccuracyRecord::new(id.to_string(), period, &result),
            days_observed: Number::from_hundredths(days),
            slots_waiting,
            documents,
            fills_url: [self.urls().web.as_str(), fills.as_str()].concat(),
        })
    }

    /// What a pool logged, by the documents that its heads commit to from a slot on, one a line.
    pub async fn fills(&self, asked: SlotAsked) -> Result<Proof, Problem> {
        let SlotAsked { pool: id, slot } = asked;
        let read = move |reader: &Reader| -> Result<Vec<u8>, FindError> {
            let unknown = || {
                FindError::Lookup(LookupError::UnknownPool {
                    pool: id.clone(),
                    nearest: Vec::new(),
                })
            };
            let pool = reader.pool(&id)?.ok_or_else(unknown)?;
            let mut lines = Vec::new();
            for stored in reader.fills(&pool, [slot, Slot::LAST], DOCUMENTS)?.entries {
                let line = Fills::line(stored.slot, &stored.canonical);
                let corrupt =
                    |error| StoreError::CorruptRow { table: "fills", found: format!("{error}") };
                lines.extend(line.map_err(corrupt)?);
                if lines.len() >= SNAPSHOT_PAGE_BYTES {
                    break;
                }
            }
            Ok(lines)
        };
        Ok(proof(self.read(read).await?))
    }
}

impl IntoProblem for AccuracyError {
    fn into_problem(self) -> Problem {
        let code = match &self {
            Self::UnsupportedKind { .. } => ProblemCode::FigureUnsupportedKind,
            Self::OutOfOrder { .. } | Self::LogOutOfOrder { .. } => ProblemCode::InternalError,
        };
        Problem::new(code, self.to_string())
    }
}
