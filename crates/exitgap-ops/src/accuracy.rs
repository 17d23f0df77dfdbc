//! The accuracy of estimates: pools' logged swaps compared with the estimates for them.

use core::slice::from_ref;
use exitgap_api::operations::{
    AccuracyAsked, AccuracyFileAsked, FigureAddress, Operation, SeriesAsked, SlotAsked, parameters,
};
use exitgap_api::{
    AccuracyRecord, DepthSourceKind, GuardInputs, Guards, Number, PoolAccuracy, Problem,
    SNAPSHOT_PAGE_BYTES, SeriesMethod, SeriesSource, Status, Window,
};
use exitgap_core::analytics::accuracy::{
    AccuracyOfPeriod, AccuracyTerms, CommittedDocument, Fills, IssuedReceipts,
};
use exitgap_core::analytics::figure::Figure;
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::PoolId;
use exitgap_core::series::{LookupError, Slot, days_observed_hundredths};
use exitgap_core::units::SizeUsd;
use exitgap_store::{FindError, Pool, Reader, StoreError};

use super::evidence::proof;
use super::figures::{ResolvedFigure, ServedFigure};
use super::history::Series;
use super::{IntoProblem, Proof, Service};

/// The default period: a slot, and the slots of the seven days after it. There is no interval before the first slot.
const SLOTS: u32 = 7 * Slot::PER_DAY + 1;

/// The maximum number of documents in one answer.
const DOCUMENTS: usize = 96;

/// The parameters of a record, with values about its series that answers report.
struct AccuracyOf {
    terms: AccuracyTerms,
    recorded_count: u32,
    newest: Option<Slot>,
}

impl ServedFigure for AccuracyTerms {
    async fn resolve(
        service: &Service,
        asked: AccuracyFileAsked,
    ) -> Result<ResolvedFigure<Self>, Problem> {
        let AccuracyFileAsked { of, until } = asked;
        let named = of.from.zip(of.to).zip(until);
        let figure = service.accuracy_of(of, until).await?.terms;
        let is_settled =
            named.is_some_and(|((_, to), until)| (to, until) == (figure.to, figure.until));
        Ok(ResolvedFigure { figure, is_settled })
    }
}

impl Service {
    /// Compares every swap of a pool in a period with its estimate.
    pub async fn accuracy(&self, asked: AccuracyAsked) -> Result<PoolAccuracy, Problem> {
        let guards = asked.guards;
        let of = self.accuracy_of(asked, None).await?;
        let (terms, id) = (of.terms.clone(), of.terms.pool.clone());
        let current = self.current();
        let labels = current.pools.get(&id).and_then(|now| now.labels.clone());
        guards.check(&GuardInputs {
            status: labels.map_or(Status::Preview, |labels| labels.status),
            recorded_slots: Some(of.recorded_count.into()),
            age_s: of.newest.map(|slot| self.age_s(slot)),
        })?;
        let told = self.figures.read_store(move |reader| reader.figure(&terms)).await?;
        let AccuracyOfPeriod { result, slots, slots_waiting, documents } = told;
        let [first, last] = slots.unwrap_or([of.terms.from, of.terms.to]);
        let period = [first.to_string(), last.to_string()];
        let fills = Operation::Fills.target_of(&id).with(&parameters::SLOT, first.number());
        let file = of.terms.address();
        let days = days_observed_hundredths(of.recorded_count.into());
        let web = self.urls().web.as_str();
        let exactness = self.exactness(from_ref(&id)).await;
        Ok(PoolAccuracy {
            exactness,
            record: AccuracyRecord::new(id.to_string(), period, &result),
            days_observed: Number::from_hundredths(days),
            method_version: METHOD_VERSION.to_owned(),
            method: method_of(&id, [first, last], result.slots),
            slots_waiting,
            documents,
            fills_url: [web, fills.as_str()].concat(),
            figure_url: [web, file.as_str()].concat(),
        })
    }

    /// Completes the parameters from the pool's slots. Heads of up to one day after the period are read as well, as far
    /// as they are sealed.
    async fn accuracy_of(
        &self,
        asked: AccuracyAsked,
        until: Option<Slot>,
    ) -> Result<AccuracyOf, Problem> {
        let AccuracyAsked { pool, from, to, guards: _ } = asked;
        let series = SeriesAsked {
            pool,
            base: None,
            size: SizeUsd::STANDARD[0],
            from,
            to,
            guards: Guards::default(),
        };
        let base = self.series_base(&series).await?;
        let read = move |reader: &Reader| -> Result<_, FindError> {
            let found = Series::find(reader, &series, base, SLOTS)?;
            let last = reader.slots()?.map_or(found.to, |(_, last)| last);
            let last = found.pool.retired_slot.map_or(last, |retired| retired.min(last));
            Ok((found, last))
        };
        let (found, last) = self.read_store(read).await?;
        let day = u64::from(found.to.number() + AccuracyTerms::MAX_LATER);
        let latest = Slot::new(day).map_or(last, |day| day.min(last)).max(found.to);
        let terms = AccuracyTerms {
            pool: found.pool.id.clone(),
            from: found.from,
            to: found.to,
            until: until.map_or(latest, |until| until.min(last)),
        };
        let terms = terms.validate();
        Ok(AccuracyOf {
            terms: terms.map_err(IntoProblem::into_problem)?,
            recorded_count: found.recorded_count(),
            newest: found.newest,
        })
    }

    /// The documents of a pool's logs that its heads commit to, from a slot on, one per line.
    pub async fn fills(&self, asked: SlotAsked) -> Result<Proof, Problem> {
        self.documents::<Fills>(asked, |reader, pool, run| {
            let stored = reader.fills(pool, run, DOCUMENTS)?.entries;
            Ok(stored.into_iter().map(|stored| (stored.slot, stored.canonical)).collect())
        })
        .await
    }

    /// The documents of receipts of a pool's paid estimates, in the same form.
    pub async fn issued_receipts(&self, asked: SlotAsked) -> Result<Proof, Problem> {
        self.documents::<IssuedReceipts>(asked, |reader, pool, run| {
            let stored = reader.issued_documents(pool, run, DOCUMENTS)?.entries;
            Ok(stored.into_iter().map(|stored| (stored.slot, stored.canonical)).collect())
        })
        .await
    }

    /// The lines of a pool's documents of one kind, up to a page.
    async fn documents<D: CommittedDocument>(
        &self,
        SlotAsked { pool, slot }: SlotAsked,
        of: DocumentsOf,
    ) -> Result<Proof, Problem> {
        let read = move |reader: &Reader| -> Result<Vec<u8>, FindError> {
            let pool = pool_of(reader, &pool)?;
            let mut lines = Vec::new();
            for (slot, canonical) in of(reader, &pool, [slot, Slot::LAST])? {
                let line = D::line(slot, &canonical);
                let corrupt =
                    |error| StoreError::CorruptRow { table: D::NAME, found: format!("{error}") };
                lines.extend(line.map_err(corrupt)?);
                if lines.len() >= SNAPSHOT_PAGE_BYTES {
                    break;
                }
            }
            Ok(lines)
        };
        Ok(proof(self.read_store(read).await?))
    }
}

/// The disclosed method of a record: each swap has its own size.
fn method_of(pool: &PoolId, [first, last]: [Slot; 2], recorded: u32) -> SeriesMethod {
    let all = last.number() - first.number() + 1;
    SeriesMethod {
        assumed_size_usd: None,
        window: Window {
            from: first.to_string(),
            to: last.to_string(),
            slots_recorded: recorded.into(),
            slots_missing: all.saturating_sub(recorded).into(),
        },
        depth_source: SeriesSource {
            kind: DepthSourceKind::RecordedSnapshot,
            chain: Some(pool.chain().to_string()),
        },
    }
}

/// Finds the canonical documents that a pool's heads commit to in a range of slots.
type DocumentsOf = fn(&Reader, &Pool, [Slot; 2]) -> Result<Vec<(Slot, Vec<u8>)>, StoreError>;

/// Looks up a pool in the store.
fn pool_of(reader: &Reader, id: &PoolId) -> Result<Pool, FindError> {
    let unknown =
        || FindError::Lookup(LookupError::UnknownPool { pool: id.clone(), nearest: Vec::new() });
    reader.pool(id)?.ok_or_else(unknown)
}
