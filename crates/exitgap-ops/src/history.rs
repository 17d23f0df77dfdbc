//! The rows of a recorded series.

use core::slice::from_ref;
use exitgap_api::operations::{HistoryAsked, SeriesAsked, SnapshotAsked};
use exitgap_api::{
    DepthPoint, DepthReading, DepthSourceKind, FillablePoint, GapPoint, GuardInputs, Guards,
    History, HistoryRow, Interval, Number, Problem, ProblemCode, RowOrder, SeriesMethod, SeriesOf,
    SeriesSource, SlotState, Status, Window,
};
use exitgap_core::analytics::depths::SlotDepths;
use exitgap_core::evidence::Base;
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::pools::Direction;
use exitgap_core::series::{LookupError, MissingReason, Slot, days_observed_hundredths};
use exitgap_core::units::{Percent, SizeUsd, UsdMicros};
use exitgap_store::{
    DirectionRollup, Figures, FindError, Gap, GapRollup, NoGap, Outcome, Point, Pool, Reader,
    Rollup, StoreError, day_of,
};

use super::answers::direction;
use super::{Readers, Service, Urls};

/// The series of a request.
#[derive(Clone)]
pub(super) struct Series {
    pub pool: Pool,
    pub direction: Direction,
    pub size: SizeUsd,
    /// The index of its size among the standard sizes.
    pub size_index: usize,
    pub from: Slot,
    pub to: Slot,
    /// Recorded slots of the pool's series up to `to`.
    recorded_count: u32,
    /// The pool's newest recorded slot, even if it is after `to`.
    pub newest: Option<Slot>,
}

/// The most slots for which gaps are computed in one answer: seven days.
pub(super) const MOST_COMPUTED: u32 = 7 * Slot::PER_DAY;

/// Whether every slot stores the gaps of this size.
pub(super) fn is_kept(size: SizeUsd) -> bool {
    SizeUsd::STANDARD.contains(&size)
}

/// The number of slots in a row.
fn slots_of(interval: Interval) -> u32 {
    match interval {
        Interval::FiveMinutes => 1,
        Interval::Hour => 12,
        Interval::Day => Slot::PER_DAY,
    }
}

impl Service {
    /// A page of a series.
    pub async fn history(&self, asked: HistoryAsked) -> Result<History, Problem> {
        let HistoryAsked { series: asked, interval, order, limit } = asked;
        let guards = asked.guards;
        let base = self.series_base(&asked).await?;
        let page = u32::try_from(limit).unwrap_or(u32::MAX).saturating_mul(slots_of(interval));
        let reach = match order {
            RowOrder::Ascending => page,
            RowOrder::Descending => u32::MAX,
        };
        let (series, rows) = self
            .readers_of(asked.size)
            .read_store(move |reader| {
                let series = Series::find(reader, &asked, base, reach)?;
                let rows = match order {
                    RowOrder::Ascending => series.rows(reader, interval, limit)?,
                    RowOrder::Descending => series.newest_rows(reader, interval, limit)?,
                };
                Ok::<_, FindError>((series, rows))
            })
            .await?;
        let used = match order {
            RowOrder::Ascending => {
                [series.from, rows.next.and_then(Slot::previous).unwrap_or(series.to)]
            }
            RowOrder::Descending => {
                [rows.next.and_then(Slot::next).unwrap_or(series.from), series.to]
            }
        };
        let mut counted = Rollup::default();
        rows.rows.iter().for_each(|row| counted.join(&row.rollup));
        let of = self.series_of(&series, used, &counted).await;
        guards.check(&self.guard_inputs(&series, of.status))?;
        let next_cursor = rows.next.map(|slot| order.cursor(slot));
        let rows: Vec<_> = rows.rows.iter().map(|row| series.row(&self.urls, row)).collect();
        let proof = |row: &HistoryRow| row.last.as_ref()?.evidence_url.clone();
        let newest = match order {
            RowOrder::Ascending => rows.iter().rev().find_map(proof),
            RowOrder::Descending => rows.iter().find_map(proof),
        };
        Ok(History { of, interval, order, evidence_url: newest, rows, next_cursor })
    }

    /// The readers for a series at a size. Series that must be computed use their own readers, so that they do not
    /// delay other requests.
    pub(super) fn readers_of(&self, size: SizeUsd) -> &Readers {
        if is_kept(size) { &self.readers } else { &self.figures }
    }

    /// The direction that sells the requested base. `token0` and `token1` can be used before there is a snapshot;
    /// symbols and addresses are only known from a snapshot.
    pub(super) async fn series_base(
        &self,
        asked: &SeriesAsked,
    ) -> Result<Option<Direction>, Problem> {
        let Some(base) = &asked.base else { return Ok(None) };
        if let Some(base) = Base::from_code(base) {
            return Ok(Some(base.into()));
        }
        let newest = SnapshotAsked {
            pool: asked.pool.clone(),
            base: None,
            at: None,
            guards: Guards::default(),
        };
        let found = self.find(&newest).await?;
        direction(&found.prepared, Some(base)).map(Some)
    }

    /// The values that guards check: the length of the series, and the time since its last recorded slot.
    pub(super) fn guard_inputs(&self, series: &Series, status: Status) -> GuardInputs {
        GuardInputs {
            status,
            recorded_slots: Some(series.recorded_count.into()),
            age_s: series.newest.map(|slot| self.age_s(slot)),
        }
    }

    /// The series data of an answer about the slots from `first` to `last`, which `counted` counts.
    pub(super) async fn series_of(
        &self,
        series: &Series,
        [first, last]: [Slot; 2],
        counted: &Rollup,
    ) -> SeriesOf {
        let exactness = self.exactness(from_ref(&series.pool.id)).await;
        let current = self.current();
        let labels = current.pools.get(&series.pool.id).and_then(|now| now.labels.clone());
        SeriesOf {
            exactness,
            pool: series.pool.id.to_string(),
            status: labels.map_or(Status::Preview, |labels| labels.status),
            base: Base::from(series.direction).code().to_owned(),
            size_usd: series.size.into(),
            days_observed: Number::from_hundredths(days_observed_hundredths(
                series.recorded_count.into(),
            )),
            method_version: METHOD_VERSION.to_owned(),
            method: SeriesMethod {
                assumed_size_usd: Some(series.size.into()),
                window: Window {
                    from: first.to_string(),
                    to: last.to_string(),
                    slots_recorded: counted.recorded_slots.into(),
                    slots_missing: u64::from(counted.missing_slots)
                        + u64::from(counted.retracted_slots),
                },
                depth_source: SeriesSource {
                    kind: DepthSourceKind::RecordedSnapshot,
                    chain: Some(series.pool.id.chain().to_string()),
                },
            },
            from: series.from.to_string(),
            to: series.to.to_string(),
        }
    }
}

/// A row before it is converted to a document.
struct Row {
    first: Slot,
    rollup: Rollup,
    /// The state of the only slot in a five-minute row.
    single: Option<(SlotState, Option<MissingReason>)>,
    /// How far the mid price was below the oracle price in the newest slot that counts.
    last_basis: Option<Percent>,
    /// Both depths in the slot with the lowest depth.
    at_lowest: Option<SlotDepths>,
}

impl Row {
    /// A row without slots.
    fn new(first: Slot, single: Option<(SlotState, Option<MissingReason>)>) -> Self {
        let rollup = Rollup::default();
        Self { first, rollup, single, last_basis: None, at_lowest: None }
    }

    /// Adds a later slot.
    fn add_point(&mut self, of: [usize; 2], point: &Point) {
        self.rollup.add_point(of, point);
        if self.rollup.last == Some(point.slot) {
            self.last_basis = point.basis;
        }
        let lowest = self.rollup.directions[of[0]].lowest;
        if lowest.is_some_and(|(slot, _)| slot == point.slot) {
            self.at_lowest = point.depths();
        }
    }
}

struct Rows {
    rows: Vec<Row>,
    /// The first slot of the next page; in descending order, its last slot.
    next: Option<Slot>,
}

impl Series {
    /// Finds the pool and the period. The default is the last `reach` slots.
    pub fn find(
        reader: &Reader,
        asked: &SeriesAsked,
        base: Option<Direction>,
        reach: u32,
    ) -> Result<Self, FindError> {
        let size_index = SizeUsd::STANDARD.iter().position(|size| *size == asked.size);
        let size_index = size_index.unwrap_or_default();
        // An unknown pool is refused with the most similar names. A pool without recorded slots is not refused: its
        // rows show that all its slots are missing.
        let newest = match reader.find(&asked.pool, None) {
            Ok(found) => Some(found.slot),
            Err(FindError::Lookup(LookupError::NothingRecorded { .. })) => None,
            Err(error) => return Err(error),
        };
        let (pool, slots) = (reader.pool(&asked.pool)?, reader.slots()?);
        let (Some(pool), Some((_, last))) = (pool, slots) else {
            let (pool, reason) = (asked.pool.clone(), None);
            return Err(LookupError::NothingRecorded { pool, reason }.into());
        };
        let last = pool.retired_slot.map_or(last, |retired| retired.min(last));
        let to = asked.to.map_or(last, |to| to.min(last));
        let back = to.number().saturating_sub(reach.saturating_sub(1));
        let back = Slot::new(back.into()).unwrap_or(Slot::FIRST);
        let from = asked.from.unwrap_or(back).max(pool.first_slot);
        if from > to {
            let (pool, first) = (asked.pool.clone(), pool.first_slot);
            return Err(if asked.to.is_some_and(|to| to < first) {
                LookupError::BeforeSeries { pool, slot: to, first }.into()
            } else {
                LookupError::AfterSeries { pool, slot: from, last }.into()
            });
        }
        let direction = base.unwrap_or(pool.default_base);
        let recorded_count = reader.entry(&pool, to)?.map_or(0, |entry| entry.recorded_count);
        let size = asked.size;
        Ok(Self { pool, direction, size, size_index, from, to, recorded_count, newest })
    }

    /// The number of recorded slots in the pool's series up to the last slot of the period.
    pub fn recorded_count(&self) -> u32 {
        self.recorded_count
    }

    fn rows(&self, reader: &Reader, interval: Interval, limit: usize) -> Result<Rows, StoreError> {
        if !is_kept(self.size) {
            return self.compute_rows(reader, interval, limit);
        }
        match interval {
            Interval::Day => self.days(reader, limit),
            Interval::Hour => self.hours(reader, limit),
            Interval::FiveMinutes => self.slots(reader, limit),
        }
    }

    /// The newest rows of the period, the newest first. Rows begin at the same slots as in ascending order.
    fn newest_rows(
        &self,
        reader: &Reader,
        interval: Interval,
        limit: usize,
    ) -> Result<Rows, StoreError> {
        let length = slots_of(interval);
        let most = u32::try_from(limit).unwrap_or(u32::MAX).max(1);
        let most = if is_kept(self.size) { most } else { most.min(MOST_COMPUTED / length) };
        let first_row = (self.to.number() / length).saturating_sub(most - 1);
        let first = Slot::new(u64::from(first_row) * u64::from(length));
        let first = first.map_or(self.from, |first| first.max(self.from));
        let part = Self { from: first, ..self.clone() };
        let Rows { mut rows, .. } = part.rows(reader, interval, limit)?;
        rows.reverse();
        Ok(Rows { rows, next: first.previous().filter(|last| *last >= self.from) })
    }

    /// Rows of UTC hours, each computed from its slots.
    fn hours(&self, reader: &Reader, limit: usize) -> Result<Rows, StoreError> {
        let length = slots_of(Interval::Hour);
        let hour = |slot: Slot| slot.number() / length;
        let end = (hour(self.from) as usize + limit) * length as usize - 1;
        let to = Slot::new(end as u64).map_or(self.to, |end| self.to.min(end));
        let of = [self.direction.base_index(), self.size_index];
        let mut rows: Vec<Row> = Vec::new();
        for point in reader.points(&self.pool, of, self.from, to)? {
            if rows.last().is_none_or(|row| hour(row.first) != hour(point.slot)) {
                rows.push(Row::new(point.slot, None));
            }
            if let Some(row) = rows.last_mut() {
                row.add_point(of, &point);
            }
        }
        Ok(Rows { rows, next: to.next().filter(|next| *next <= self.to) })
    }

    /// Rows for a size whose gaps are not stored, computed from the snapshots of at most [`MOST_COMPUTED`] slots.
    fn compute_rows(
        &self,
        reader: &Reader,
        interval: Interval,
        limit: usize,
    ) -> Result<Rows, StoreError> {
        let length = slots_of(interval);
        let of_row = |slot: Slot| slot.number() / length;
        let limit = u32::try_from(limit).unwrap_or(u32::MAX).min(MOST_COMPUTED / length);
        let end = u64::from(of_row(self.from) + limit) * u64::from(length) - 1;
        let to = Slot::new(end).map_or(self.to, |end| self.to.min(end));
        let of = [self.direction.base_index(), self.size_index];
        let mut rows: Vec<Row> = Vec::new();
        for (point, figures) in
            reader.points_at(&self.pool, self.direction, self.size, self.from, to)?
        {
            if rows.last().is_none_or(|row| of_row(row.first) != of_row(point.slot)) {
                let single = (interval == Interval::FiveMinutes).then(|| state_of(&figures));
                rows.push(Row::new(point.slot, single));
            }
            if let Some(row) = rows.last_mut() {
                row.add_point(of, &point);
            }
        }
        Ok(Rows { rows, next: to.next().filter(|next| *next <= self.to) })
    }

    /// Rows of single slots.
    fn slots(&self, reader: &Reader, limit: usize) -> Result<Rows, StoreError> {
        let page = reader.figures(&self.pool, self.from, self.to, limit)?;
        let row = |figures: &Figures| {
            let mut rollup = Rollup::default();
            rollup.add(figures);
            let (first, single) = (figures.entry.slot, Some(state_of(figures)));
            let last_basis = rollup.last.and_then(|_| self.basis(figures));
            Row { first, rollup, single, last_basis, at_lowest: self.depths(figures) }
        };
        Ok(Rows { rows: page.entries.iter().map(row).collect(), next: page.next })
    }

    /// Rows of UTC days. Days that are completely in the period are stored precomputed.
    fn days(&self, reader: &Reader, limit: usize) -> Result<Rows, StoreError> {
        let (first_day, last_day) = (day_of(self.from), day_of(self.to));
        let pages = u32::try_from(limit).unwrap_or(u32::MAX);
        let end = last_day.min(first_day.saturating_add(pages - 1));
        let mut rows = Vec::new();
        for day in reader.days(&self.pool, first_day, end)? {
            let first = Slot::new(u64::from(day.day) * u64::from(Slot::PER_DAY));
            let first = first.unwrap_or(self.from).max(self.from);
            let rollup = match self.part_of(day.day) {
                None => day.rollup,
                Some((from, to)) => rollup_of(reader, &self.pool, from, to)?,
            };
            let last = rollup.last.map(|slot| reader.figures_at(&self.pool, slot)).transpose()?;
            let last_basis = last.flatten().and_then(|figures| self.basis(&figures));
            let at_lowest = self.depths_at_lowest(reader, &rollup)?;
            rows.push(Row { first, rollup, single: None, last_basis, at_lowest });
        }
        let next = (end < last_day)
            .then(|| Slot::new(u64::from(end + 1) * u64::from(Slot::PER_DAY)).ok())
            .flatten();
        Ok(Rows { rows, next })
    }

    fn basis(&self, figures: &Figures) -> Option<Percent> {
        figures.snapshot.as_ref()?.directions[self.direction.base_index()].basis
    }

    /// Both depths of a slot with a snapshot.
    fn depths(&self, figures: &Figures) -> Option<SlotDepths> {
        Some(figures.snapshot.as_ref()?.slot_depths()[self.direction.base_index()])
    }

    /// Both depths in the slot with the lowest depth.
    pub(super) fn depths_at_lowest(
        &self,
        reader: &Reader,
        rollup: &Rollup,
    ) -> Result<Option<SlotDepths>, StoreError> {
        let lowest = rollup.directions[self.direction.base_index()].lowest;
        let Some((slot, _)) = lowest else { return Ok(None) };
        Ok(reader.figures_at(&self.pool, slot)?.and_then(|figures| self.depths(&figures)))
    }

    /// The part of a day that is in the period; `None` if the whole day is.
    fn part_of(&self, day: u32) -> Option<(Slot, Slot)> {
        let begin = u64::from(day) * u64::from(Slot::PER_DAY);
        let begin_slot = Slot::new(begin).unwrap_or(Slot::FIRST);
        let end_slot = Slot::new(begin + u64::from(Slot::PER_DAY) - 1).unwrap_or(Slot::LAST);
        let whole = self.from <= begin_slot.max(self.pool.first_slot) && end_slot <= self.to;
        (!whole).then(|| (begin_slot.max(self.from), end_slot.min(self.to)))
    }

    /// The whole period as one row.
    pub(super) fn rollup(&self, reader: &Reader) -> Result<Rollup, StoreError> {
        let mut total = Rollup::default();
        for row in self.days(reader, usize::MAX)?.rows {
            total.join(&row.rollup);
        }
        Ok(total)
    }

    fn row(&self, urls: &Urls, row: &Row) -> HistoryRow {
        let Row { first, rollup, single, last_basis, at_lowest } = row;
        let side: &DirectionRollup = &rollup.directions[self.direction.base_index()];
        let gap: Option<GapRollup> = side.gaps[self.size_index];
        let (state, reason) = single.map_or((None, None), |(state, reason)| (Some(state), reason));
        HistoryRow {
            time: first.to_string(),
            state,
            missing_reason: reason.map(String::from),
            slots_recorded: rollup.recorded_slots,
            slots_missing: rollup.missing_slots,
            slots_retracted: rollup.retracted_slots,
            last: gap.zip(rollup.last).map(|(gap, slot)| self.gap_point(urls, slot, gap.last)),
            last_basis_pct: last_basis.map(Number::from),
            worst: self.worst(urls, gap),
            slots_refused: gap.map_or(0, |gap| gap.refused_slots),
            least_fillable: gap.and_then(|gap| gap.least_fillable).map(fillable_point),
            lowest_depth: side.lowest.map(|lowest| self.depth_point(urls, lowest, *at_lowest)),
        }
    }

    /// The worst gap in a run of slots.
    pub(super) fn worst(&self, urls: &Urls, gap: Option<GapRollup>) -> Option<GapPoint> {
        let (slot, percent) = gap?.worst?;
        Some(self.gap_point(urls, slot, Gap::Filled(percent)))
    }

    pub fn gap_point(&self, urls: &Urls, slot: Slot, gap: Gap) -> GapPoint {
        let parts = GapParts::from_gap(gap);
        let proven = parts.is_proven();
        let GapParts { exit_gap_pct, refusal, max_fillable_usd } = parts;
        let size = self.size.to_string();
        let evidence = || urls.evidence(&self.pool.id, self.direction.into(), slot, &size);
        GapPoint {
            slot: slot.number(),
            time: slot.to_string(),
            evidence_url: proven.then(evidence),
            exit_gap_pct,
            refusal,
            max_fillable_usd,
        }
    }

    pub(super) fn depth_point(
        &self,
        urls: &Urls,
        (slot, depth): (Slot, u64),
        depths: Option<SlotDepths>,
    ) -> DepthPoint {
        DepthPoint {
            slot: slot.number(),
            time: slot.to_string(),
            depth_usd: depth.into(),
            reading: depths.map_or_else(DepthReading::default, DepthReading::from_depths),
            window_url: urls.window(&self.pool.id, slot),
        }
    }
}

pub(super) fn fillable_point((slot, most): (Slot, UsdMicros)) -> FillablePoint {
    FillablePoint { slot: slot.number(), time: slot.to_string(), max_fillable_usd: most.into() }
}

/// A gap as used in documents.
pub(super) struct GapParts {
    pub exit_gap_pct: Option<Number>,
    pub refusal: Option<ProblemCode>,
    pub max_fillable_usd: Option<Number>,
}

impl GapParts {
    pub fn from_gap(gap: Gap) -> Self {
        let (gap, refusal) = match gap {
            Gap::Filled(gap) => (Some(gap.into()), None),
            Gap::Refused(refusal) => (None, Some(refusal)),
        };
        let max_fillable_usd = match refusal {
            Some(NoGap::BeyondLiquidity(most)) => Some(most.into()),
            _ => None,
        };
        Self { exit_gap_pct: gap, refusal: refusal.map(refusal_code), max_fillable_usd }
    }

    /// Whether there is evidence. A sale whose gap is not a valid percentage has none.
    pub fn is_proven(&self) -> bool {
        self.refusal.is_none_or(ProblemCode::has_evidence)
    }
}

fn refusal_code(refusal: NoGap) -> ProblemCode {
    match refusal {
        NoGap::NoInput => ProblemCode::RoundsToNoInput,
        NoGap::NoOutput => ProblemCode::RoundsToNoOutput,
        NoGap::BeyondLiquidity(_) => ProblemCode::BeyondLiquidity,
        NoGap::GapOutOfRange => ProblemCode::GapOutOfRange,
    }
}

/// The state of a slot.
pub(super) fn state_of(figures: &Figures) -> (SlotState, Option<MissingReason>) {
    match figures.entry.outcome {
        Outcome::Recorded(_) if figures.retraction.is_some() => (SlotState::Retracted, None),
        Outcome::Recorded(_) => (SlotState::Recorded, None),
        Outcome::Missing(reason) => (SlotState::Missing, Some(reason)),
        Outcome::Retired => (SlotState::Retired, None),
    }
}

fn rollup_of(reader: &Reader, pool: &Pool, from: Slot, to: Slot) -> Result<Rollup, StoreError> {
    let mut rollup = Rollup::default();
    // A day fits into one page.
    for figures in &reader.figures(pool, from, to, Reader::MAX_PAGE)?.entries {
        rollup.add(figures);
    }
    Ok(rollup)
}
