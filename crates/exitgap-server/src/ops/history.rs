//! The recorded series: its rows, and the worst of a period.

use exitgap_api::{
    DepthPoint, GapPoint, History, HistoryRow, Interval, Number, Problem, ProblemCode, SeriesOf,
    SlotState, Stress,
};
use exitgap_core::evidence::Base;
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::series::{LookupError, Slot};
use exitgap_core::units::{Percent, SizeUsd};
use exitgap_store::{
    DirectionRollup, Figures, FindError, Gap, GapRollup, NoGap, Outcome, Pool, Reader, Rollup,
    StoreError, day_of,
};

use super::Service;
use super::urls::{Urls, base_name};

/// Which rows of a series are asked for.
#[derive(Debug, Clone)]
pub struct SeriesAsked {
    /// The pool.
    pub pool: PoolId,
    /// The token sold; else the pool's default.
    pub base: Option<Base>,
    /// Which of the standard sizes.
    pub size: SizeUsd,
    /// The first slot; else the pool's first, or as far back as a page reaches.
    pub from: Option<Slot>,
    /// The last slot; else the newest.
    pub to: Option<Slot>,
}

/// What the rows of a request are of.
struct Series {
    pool: Pool,
    direction: Direction,
    size: SizeUsd,
    /// Its place among the standard sizes.
    size_index: usize,
    from: Slot,
    to: Slot,
}

/// Slots of a row.
fn slots_of(interval: Interval) -> u32 {
    match interval {
        Interval::FiveMinutes => 1,
        Interval::Hour => 12,
        Interval::Day => Slot::PER_DAY,
    }
}

impl Service {
    /// The rows of a series from `from` on: at most `limit`.
    pub async fn history(
        &self,
        asked: SeriesAsked,
        interval: Interval,
        limit: usize,
    ) -> Result<History, Problem> {
        let reach = u32::try_from(limit).unwrap_or(u32::MAX).saturating_mul(slots_of(interval));
        let (series, rows) = self
            .read(move |reader| {
                let series = Series::find(reader, &asked, reach)?;
                let rows = series.rows(reader, interval, limit)?;
                Ok::<_, FindError>((series, rows))
            })
            .await?;
        let of = self.series_of(&series);
        let next_cursor = rows.next.map(|slot| slot.number().to_string());
        let rows = rows.rows.iter().map(|row| series.row(&self.urls, row)).collect();
        Ok(History { of, interval, rows, next_cursor })
    }

    /// The worst gap and the lowest depth of a period.
    pub async fn stress(&self, asked: SeriesAsked) -> Result<Stress, Problem> {
        let (series, rollup) = self
            .read(move |reader| {
                let series = Series::find(reader, &asked, u32::MAX)?;
                let rollup = series.rollup(reader)?;
                Ok::<_, FindError>((series, rollup))
            })
            .await?;
        let side = &rollup.directions[series.direction.base_index()];
        Ok(Stress {
            of: self.series_of(&series),
            slots_recorded: rollup.recorded_slots,
            slots_missing: rollup.missing_slots,
            slots_retracted: rollup.retracted_slots,
            worst_gap: side.gaps[series.size_index]
                .map(|gap| series.gap_point(&self.urls, gap.worst_slot, gap.worst)),
            lowest_depth: side.lowest.map(|lowest| series.depth_point(&self.urls, lowest)),
        })
    }

    fn series_of(&self, series: &Series) -> SeriesOf {
        let current = self.current();
        let labels = current.pools.get(&series.pool.id).and_then(|now| now.labels.clone());
        SeriesOf {
            pool: series.pool.id.to_string(),
            status: labels.map_or(exitgap_api::Status::Preview, |labels| labels.status),
            base: base_name(series.direction.into()).to_owned(),
            size_usd: series.size.into(),
            method_version: METHOD_VERSION.to_owned(),
            from: series.from.to_string(),
            to: series.to.to_string(),
        }
    }
}

/// A row before it is worded.
struct Row {
    first: Slot,
    rollup: Rollup,
    /// What the one slot of a five-minute row holds.
    single: Option<(SlotState, Option<&'static str>)>,
    /// How far the mid price lay below the oracle in the newest slot that counts.
    last_basis: Option<Percent>,
}

struct Rows {
    rows: Vec<Row>,
    /// Where the next page begins.
    next: Option<Slot>,
}

impl Series {
    /// Finds the pool and the period. Without `from` it is the last `reach` slots.
    fn find(reader: &Reader, asked: &SeriesAsked, reach: u32) -> Result<Self, FindError> {
        let size_index = SizeUsd::STANDARD.iter().position(|size| *size == asked.size);
        let size_index = size_index.unwrap_or_default();
        // Names the nearest pools where it is unknown; that nothing is recorded is a row, too.
        match reader.find(&asked.pool, None) {
            Err(FindError::Lookup(LookupError::NothingRecorded { .. })) | Ok(_) => {}
            Err(error) => return Err(error),
        }
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
        let direction = asked.base.map_or(pool.default_base, Direction::from);
        Ok(Self { pool, direction, size: asked.size, size_index, from, to })
    }

    fn rows(&self, reader: &Reader, interval: Interval, limit: usize) -> Result<Rows, StoreError> {
        match interval {
            Interval::Day => self.days(reader, limit),
            Interval::Hour => self.hours(reader, limit),
            Interval::FiveMinutes => self.slots(reader, limit),
        }
    }

    /// Rows of UTC hours, each made of its slots.
    fn hours(&self, reader: &Reader, limit: usize) -> Result<Rows, StoreError> {
        let length = slots_of(Interval::Hour);
        let hour = |slot: Slot| slot.number() / length;
        let end = (hour(self.from) as usize + limit) * length as usize - 1;
        let to = Slot::new(end as u64).map_or(self.to, |end| self.to.min(end));
        let of = [self.direction.base_index(), self.size_index];
        let mut rows: Vec<Row> = Vec::new();
        for point in reader.points(&self.pool, of, self.from, to)? {
            if rows.last().is_none_or(|row| hour(row.first) != hour(point.slot)) {
                let rollup = Rollup::default();
                rows.push(Row { first: point.slot, rollup, single: None, last_basis: None });
            }
            if let Some(row) = rows.last_mut() {
                row.rollup.add_point(of, &point);
                if row.rollup.last == Some(point.slot) {
                    row.last_basis = point.basis;
                }
            }
        }
        Ok(Rows { rows, next: to.next().filter(|next| *next <= self.to) })
    }

    /// Rows of one slot.
    fn slots(&self, reader: &Reader, limit: usize) -> Result<Rows, StoreError> {
        let page = reader.figures(&self.pool, self.from, self.to, limit)?;
        let row = |figures: &Figures| {
            let mut rollup = Rollup::default();
            rollup.add(figures);
            let (first, single) = (figures.entry.slot, Some(state_of(figures)));
            let last_basis = rollup.last.and_then(|_| self.basis(figures));
            Row { first, rollup, single, last_basis }
        };
        Ok(Rows { rows: page.entries.iter().map(row).collect(), next: page.next })
    }

    /// Rows of UTC days. Days that lie whole in the period are kept as such.
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
            rows.push(Row { first, rollup, single: None, last_basis });
        }
        let next = (end < last_day)
            .then(|| Slot::new(u64::from(end + 1) * u64::from(Slot::PER_DAY)).ok())
            .flatten();
        Ok(Rows { rows, next })
    }

    fn basis(&self, figures: &Figures) -> Option<Percent> {
        figures.snapshot.as_ref()?.directions[self.direction.base_index()].basis
    }

    /// What of a day lies in the period; `None` where all of it does.
    fn part_of(&self, day: u32) -> Option<(Slot, Slot)> {
        let begin = u64::from(day) * u64::from(Slot::PER_DAY);
        let begin_slot = Slot::new(begin).unwrap_or(Slot::FIRST);
        let end_slot = Slot::new(begin + u64::from(Slot::PER_DAY) - 1).unwrap_or(Slot::LAST);
        let whole = self.from <= begin_slot.max(self.pool.first_slot) && end_slot <= self.to;
        (!whole).then(|| (begin_slot.max(self.from), end_slot.min(self.to)))
    }

    /// The whole period as one row.
    fn rollup(&self, reader: &Reader) -> Result<Rollup, StoreError> {
        let mut total = Rollup::default();
        for row in self.days(reader, usize::MAX)?.rows {
            join(&mut total, &row.rollup);
        }
        Ok(total)
    }

    fn row(&self, urls: &Urls, row: &Row) -> HistoryRow {
        let Row { first, rollup, single, last_basis } = row;
        let side: &DirectionRollup = &rollup.directions[self.direction.base_index()];
        let gap: Option<GapRollup> = side.gaps[self.size_index];
        let (state, reason) = single.map_or((None, None), |(state, reason)| (Some(state), reason));
        HistoryRow {
            time: first.to_string(),
            state,
            missing_reason: reason.map(str::to_owned),
            slots_recorded: rollup.recorded_slots,
            slots_missing: rollup.missing_slots,
            slots_retracted: rollup.retracted_slots,
            last: gap.zip(rollup.last).map(|(gap, slot)| self.gap_point(urls, slot, gap.last)),
            last_basis_pct: last_basis.map(Number::from),
            worst: gap.map(|gap| self.gap_point(urls, gap.worst_slot, gap.worst)),
            lowest_depth: side.lowest.map(|lowest| self.depth_point(urls, lowest)),
        }
    }

    fn gap_point(&self, urls: &Urls, slot: Slot, gap: Gap) -> GapPoint {
        let (exit_gap_pct, refusal) = gap_parts(gap);
        let size = self.size.to_string();
        let evidence = || urls.evidence(&self.pool.id, self.direction.into(), slot, &size);
        GapPoint {
            slot: slot.number(),
            time: slot.to_string(),
            evidence_url: exit_gap_pct.is_some().then(evidence),
            exit_gap_pct,
            refusal,
        }
    }

    fn depth_point(&self, urls: &Urls, (slot, depth): (Slot, u64)) -> DepthPoint {
        DepthPoint {
            slot: slot.number(),
            time: slot.to_string(),
            depth_usd: depth.into(),
            window_url: urls.window(&self.pool.id, slot),
        }
    }
}

/// A gap as documents tell it.
pub(super) fn gap_parts(gap: Gap) -> (Option<Number>, Option<ProblemCode>) {
    match gap {
        Gap::Filled(gap) => (Some(gap.into()), None),
        Gap::Refused(refusal) => (None, Some(refusal_code(refusal))),
    }
}

fn refusal_code(refusal: NoGap) -> ProblemCode {
    match refusal {
        NoGap::NoInput => ProblemCode::SizeRoundsToNoInput,
        NoGap::NoOutput => ProblemCode::SizeRoundsToNoOutput,
        NoGap::BeyondLiquidity => ProblemCode::BeyondLiquidity,
        NoGap::GapOutOfRange => ProblemCode::GapOutOfRange,
    }
}

/// What a slot holds.
pub(super) fn state_of(figures: &Figures) -> (SlotState, Option<&'static str>) {
    match figures.entry.outcome {
        Outcome::Recorded(_) if figures.retraction.is_some() => (SlotState::Retracted, None),
        Outcome::Recorded(_) => (SlotState::Recorded, None),
        Outcome::Missing(reason) => (SlotState::Missing, Some(reason.code())),
        Outcome::Retired => (SlotState::Retired, None),
    }
}

fn rollup_of(reader: &Reader, pool: &Pool, from: Slot, to: Slot) -> Result<Rollup, StoreError> {
    let mut rollup = Rollup::default();
    // A day fits one page.
    for figures in &reader.figures(pool, from, to, Reader::MAX_PAGE)?.entries {
        rollup.add(figures);
    }
    Ok(rollup)
}

/// Adds a later run of slots to a total.
fn join(total: &mut Rollup, later: &Rollup) {
    total.recorded_slots += later.recorded_slots;
    total.missing_slots += later.missing_slots;
    total.retracted_slots += later.retracted_slots;
    total.last = later.last.or(total.last);
    for (total, later) in total.directions.iter_mut().zip(&later.directions) {
        total.lowest = match (total.lowest, later.lowest) {
            (Some(kept), Some(new)) if new.1 >= kept.1 => Some(kept),
            (kept, new) => new.or(kept),
        };
        for (total, later) in total.gaps.iter_mut().zip(later.gaps) {
            *total = match (*total, later) {
                (Some(kept), Some(new)) if new.worst.worse(kept.worst).is_le() => {
                    Some(GapRollup { last: new.last, ..kept })
                }
                (kept, new) => new.or(kept),
            };
        }
    }
}
