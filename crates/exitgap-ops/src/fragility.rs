//! The fragility board.

use std::cmp::Ordering;

use exitgap_api::operations::{BoardAsked, SortBy};
use exitgap_api::{
    DepthReading, DepthSourceKind, DepthWeek, Fragility, FragilityRow, LowestDepth, Number,
    PoolLabels, Problem, SeriesMethod, SeriesSource, StandardGap, Window,
};
use exitgap_core::analytics::depths::SlotDepths;
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::series::{Slot, days_observed_hundredths};
use exitgap_core::units::{Percent, SizeUsd};
use exitgap_store::{BoardRow, Gap, PoolStatus};

use super::current::{Current, PoolNow, first_of_7d};
use super::history::GapParts;
use super::{Service, Urls};

const SCORE: &str = "1 - lowest depth of 7 days / median depth of 7 days: the share of the median \
    depth that was missing in the slot with the lowest depth; null with less than one day of \
    recorded slots or if the median is 0";

const BOOK_SCORE: &str = "1 - lowest book of 7 days / median book of 7 days, a book being the depth \
    at 2% from the pool's own mid price: the share of the pool's usual book that was missing when it \
    was lowest; absent with less than one day of recorded slots or if the median is 0";

impl Service {
    /// The pools of a chain, or all pools, most fragile first.
    pub fn fragility(&self, asked: &BoardAsked) -> Result<Fragility, Problem> {
        let &BoardAsked { ref chain, sort_by, skip, limit } = asked;
        let current = self.current();
        if let Some(chain) = chain {
            current.require_chain(chain)?;
        }
        let of_chain = |row: &&BoardRow| {
            row.pool.retired_slot.is_none()
                && chain.as_ref().is_none_or(|chain| row.pool.id.chain() == chain)
        };
        let selected: Vec<&BoardRow> = current.board.iter().filter(of_chain).collect();
        let mut rows: Vec<RankedPool<'_>> =
            selected.iter().filter_map(|row| RankedPool::from_row(row, &current)).collect();
        let pools = rows.len();
        rows.sort_by(|a, b| a.compare(b, sort_by).then_with(|| a.row.pool.id.cmp(&b.row.pool.id)));
        let page = rows.iter().skip(skip).take(limit).map(|row| row.word(&self.urls)).collect();
        let next = skip.saturating_add(limit);
        Ok(Fragility {
            score_method: SCORE.to_owned(),
            book_score_method: BOOK_SCORE.to_owned(),
            method_version: METHOD_VERSION.to_owned(),
            pools: pools as u64,
            pools_without_snapshot: (selected.len() - pools) as u64,
            rows: page,
            next_cursor: (next < pools).then(|| next.to_string()),
        })
    }
}

/// A pool with a snapshot, and its sort key.
struct RankedPool<'a> {
    row: &'a BoardRow,
    labels: &'a PoolLabels,
    now: &'a PoolNow,
    side: usize,
    slot: Slot,
    gaps: [Gap; 4],
    depths: SlotDepths,
    oracle_stale: bool,
    score: Option<u64>,
    book_score: Option<u64>,
}

impl<'a> RankedPool<'a> {
    fn from_row(row: &'a BoardRow, current: &'a Current) -> Option<Self> {
        let (slot, figures) = row.standing.newest?;
        let now = current.pools.get(&row.pool.id)?;
        let labels = now.labels.as_deref()?;
        let side = row.pool.default_base.base_index();
        let figures_side = figures.directions[side];
        Some(Self {
            row,
            labels,
            now,
            side,
            slot,
            gaps: figures_side.gaps,
            depths: figures.slot_depths()[side],
            oracle_stale: figures.oracle_stale,
            score: score_millionths(&row.standing, side),
            book_score: row
                .week
                .filter(|_| has_a_day(&row.standing))
                .and_then(|week| week[side].book_fragility_e6()),
        })
    }

    fn compare(&self, other: &Self, sort_by: SortBy) -> Ordering {
        match sort_by {
            SortBy::Gap(size) => other.gaps[size].worse(self.gaps[size]),
            SortBy::Score => other.score.cmp(&self.score),
            SortBy::BookScore => other.book_score.cmp(&self.book_score),
            SortBy::Depth => self.depths.depth_usd.cmp(&other.depths.depth_usd),
        }
    }

    fn word(&self, urls: &Urls) -> FragilityRow {
        let BoardRow { pool, standing, week } = self.row;
        let lows = week.as_ref().map(|week| &week[self.side]);
        let reading = DepthReading::from_depths(self.depths);
        let direction = pool.default_base;
        let window = &standing.window.directions[self.side];
        let gaps = SizeUsd::STANDARD.iter().zip(self.gaps).map(|(size, gap)| {
            let parts = GapParts::from_gap(gap);
            let proven = parts.is_proven();
            let GapParts { exit_gap_pct, refusal, max_fillable_usd } = parts;
            let evidence = proven
                .then(|| urls.evidence(&pool.id, direction.into(), self.slot, &size.to_string()));
            StandardGap {
                size_usd: (*size).into(),
                exit_gap_pct,
                refusal,
                max_fillable_usd,
                evidence_url: evidence,
            }
        });
        let at_lowest = standing.at_lowest[self.side];
        let [base, quote] = [direction.base_index(), direction.quote_index()];
        FragilityRow {
            pool: pool.id.to_string(),
            chain: pool.id.chain().to_string(),
            status: self.labels.status,
            base: self.labels.tokens[base].clone(),
            quote: self.labels.tokens[quote].clone(),
            name: self.now.name.clone(),
            venue: self.labels.naming.venue.clone(),
            fee_pct: self.labels.naming.fee_pct.clone(),
            slot_time: self.slot.to_string(),
            newer_slots_missing: u64::from(standing.newer_missing)
                + u64::from(standing.newer_retracted),
            gaps: gaps.collect(),
            depth_usd: self.depths.depth_usd.map(Number::from),
            book_usd: reading.book_usd,
            depth_cause: reading.depth_cause,
            depth_note: reading.depth_note,
            median_depth_7d_usd: window.median_usd.map(Number::from),
            lowest_depth_7d: window.lowest.map(|(slot, depth)| LowestDepth {
                depth_usd: depth.into(),
                slot: slot.number(),
                time: slot.to_string(),
                basis_pct: at_lowest.and_then(|at| at.basis).map(|basis: Percent| basis.into()),
                slots_missing_7d: at_lowest.map_or(0, |at| at.missing_slots),
            }),
            week: lows.map_or_else(DepthWeek::default, |lows| {
                DepthWeek::from_lows(lows, Some(urls.depths(pool, standing.slot)))
            }),
            median_book_7d_usd: lows.and_then(|lows| lows.median_book_usd).map(Number::from),
            daily_lowest_depth_usd: self
                .now
                .daily_lowest
                .iter()
                .map(|day| day.map(Number::from))
                .collect(),
            slots_missing_7d: standing.window.missing_slots,
            fragility_score: self.score.map(Number::from_millionths),
            book_fragility_score: self.book_score.map(Number::from_millionths),
            days_observed: Number::from_hundredths(days_observed_hundredths(
                standing.recorded_count.into(),
            )),
            method_version: METHOD_VERSION.to_owned(),
            method: self.method(),
            window_url: urls.window(&pool.id, standing.slot),
            oracle_stale: self.oracle_stale,
        }
    }

    /// The seven days up to the pool's newest entry.
    fn method(&self) -> SeriesMethod {
        let BoardRow { pool, standing, .. } = self.row;
        let from = first_of_7d(pool, standing.slot);
        let slots = u64::from(standing.slot.number().saturating_sub(from.number())) + 1;
        let without = u64::from(standing.window.missing_slots) + u64::from(self.now.retracted_7d);
        SeriesMethod {
            assumed_size_usd: None,
            window: Window {
                from: from.to_string(),
                to: standing.slot.to_string(),
                slots_recorded: slots.saturating_sub(without),
                slots_missing: without,
            },
            depth_source: SeriesSource {
                kind: DepthSourceKind::RecordedSnapshot,
                chain: Some(pool.id.chain().to_string()),
            },
        }
    }
}

/// Whether the series is long enough for a score.
fn has_a_day(standing: &PoolStatus) -> bool {
    standing.recorded_count >= Slot::PER_DAY
}

/// `1 − lowest ÷ median` in millionths, rounded half up.
fn score_millionths(standing: &PoolStatus, side: usize) -> Option<u64> {
    const ONE: u128 = 1_000_000;
    let window = &standing.window.directions[side];
    let (median, (_, lowest)) = (window.median_usd?, window.lowest?);
    if !has_a_day(standing) || median == 0 {
        return None;
    }
    let (median, lost) = (u128::from(median), u128::from(median.saturating_sub(lowest)));
    u64::try_from((lost * ONE * 2 + median) / (median * 2)).ok()
}
