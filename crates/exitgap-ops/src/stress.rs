//! The worst moments of a period, and how long they lasted.

use std::cmp::Ordering;

use exitgap_api::operations::StressAsked;
use exitgap_api::{Number, PoolBook, Problem, ProblemCode, Stress, StressDetail, TimeAbove};
use exitgap_core::analytics::nearest_rank;
use exitgap_core::exit::Exit;
use exitgap_core::series::Slot;
use exitgap_core::units::{GapLimit, Percent};
use exitgap_store::{FindError, Gap, Held, NoGap, Point, Reader, Rollup, StoreError};

use super::history::{MOST_COMPUTED, Series, fillable_point, is_kept};
use super::{IntoProblem, Service, Urls};

/// The longest period for which single slots are read: 31 days.
const MOST_SLOTS: u32 = 31 * Slot::PER_DAY;

/// The number of worst slots that are listed.
const WORST: usize = 10;

/// The slots in an hour.
const HOUR: u32 = 12;

/// Why a period has no answer.
enum StressError {
    Find(FindError),
    TooLong { slots: u32 },
}

impl Service {
    /// The worst gap and the lowest depth of a period.
    pub async fn stress(&self, asked: StressAsked) -> Result<Stress, Problem> {
        let StressAsked { series: asked, limit } = asked;
        let guards = asked.guards;
        let base = self.series_base(&asked).await?;
        let reach = if is_kept(asked.size) { u32::MAX } else { MOST_COMPUTED };
        let (series, rollup, points, books, at_lowest) = self
            .readers_of(asked.size)
            .read_store(move |reader| {
                let series = Series::find(reader, &asked, base, reach)?;
                let (rollup, points) = looked_at(reader, &series)?;
                let books = books(reader, &series, &rollup)?;
                let at_lowest = series.depths_at_lowest(reader, &rollup)?;
                Ok::<_, StressError>((series, rollup, points, books, at_lowest))
            })
            .await?;
        let [worst_gap_book, lowest_depth_book] = books;
        let of = self.series_of(&series, [series.from, series.to], &rollup).await;
        guards.check(&self.guard_inputs(&series, of.status))?;
        let side = &rollup.directions[series.direction.base_index()];
        let gap = side.gaps[series.size_index];
        let worst_gap = series.worst(&self.urls, gap);
        Ok(Stress {
            of,
            slots_recorded: rollup.recorded_slots,
            slots_missing: rollup.missing_slots,
            slots_retracted: rollup.retracted_slots,
            evidence_url: worst_gap.as_ref().and_then(|worst| worst.evidence_url.clone()),
            worst_gap,
            slots_refused: gap.map_or(0, |gap| gap.refused_slots),
            least_fillable: gap.and_then(|gap| gap.least_fillable).map(fillable_point),
            lowest_depth: side
                .lowest
                .map(|lowest| series.depth_point(&self.urls, lowest, at_lowest)),
            worst_gap_book,
            lowest_depth_book,
            detail: points.map(|points| detail(&self.urls, &series, &points, limit)),
        })
    }
}

/// The period as one row, and its slots if there are not too many.
fn looked_at(
    reader: &Reader,
    series: &Series,
) -> Result<(Rollup, Option<Vec<Point>>), StressError> {
    let slots = series.to.number() - series.from.number() + 1;
    let of = [series.direction.base_index(), series.size_index];
    if is_kept(series.size) {
        let rollup = series.rollup(reader)?;
        let is_short = slots <= MOST_SLOTS;
        let points = || reader.points(&series.pool, of, series.from, series.to);
        return Ok((rollup, is_short.then(points).transpose()?));
    }
    if slots > MOST_COMPUTED {
        return Err(StressError::TooLong { slots });
    }
    let (pool, size) = (&series.pool, series.size);
    let points = reader.points_at(pool, series.direction, size, series.from, series.to)?;
    let points: Vec<Point> = points.into_iter().map(|(point, _)| point).collect();
    let mut rollup = Rollup::default();
    for point in &points {
        rollup.add_point(of, point);
    }
    Ok((rollup, Some(points)))
}

/// The depth around the pool's own mid price, in the slots of the worst gap and of the lowest depth.
fn books(
    reader: &Reader,
    series: &Series,
    rollup: &Rollup,
) -> Result<[Option<PoolBook>; 2], StressError> {
    let side = &rollup.directions[series.direction.base_index()];
    let worst = side.gaps[series.size_index].and_then(|gap| gap.worst).map(|(slot, _)| slot);
    let book = |slot: Option<Slot>| -> Result<Option<PoolBook>, StressError> {
        let Some(slot) = slot else { return Ok(None) };
        let Some(snapshot) = reader.snapshot_at(&series.pool, slot)? else { return Ok(None) };
        let observation = snapshot.observation();
        let exit = Exit::from_pool(observation, series.direction);
        let (basis, book) = (exit.basis(), exit.depth_from_mid_usd(GapLimit::DEPTH));
        Ok(Some(PoolBook { basis_pct: basis.map(Number::from), book_usd: book.map(Number::from) }))
    };
    Ok([book(worst)?, book(side.lowest.map(|(slot, _)| slot))?])
}

fn detail(urls: &Urls, series: &Series, points: &[Point], limit: Option<GapLimit>) -> StressDetail {
    let gap_of = |point: &Point| match point.held {
        Held::Recorded(_, gap) => Some((gap, point.slot)),
        Held::Missing | Held::Retracted | Held::Retired => None,
    };
    let mut gaps: Vec<(Gap, Slot)> = points.iter().filter_map(gap_of).collect();
    // Ascending. Of equal gaps the earlier slot must be listed first, so it comes later here.
    gaps.sort_by(|(a, at), (b, of)| worse(*a, *b).then(of.cmp(at)));
    let quantile = |p: usize| match nearest_rank(&gaps, p) {
        Some((Gap::Filled(percent), _)) => Some(Number::from(percent)),
        Some((Gap::Refused(_), _)) | None => None,
    };
    let worst = gaps.iter().rev().take(WORST);
    let worst_slots: Vec<_> =
        worst.map(|(gap, slot)| series.gap_point(urls, *slot, *gap)).collect();
    let near = |slot: Slot, point: &&Point| {
        let is_gone = matches!(point.held, Held::Missing | Held::Retracted);
        is_gone && point.slot.number().abs_diff(slot.number()) <= HOUR
    };
    let missing = gaps.last().map(|(_, slot)| points.iter().filter(|one| near(*slot, one)).count());
    StressDetail {
        gap_q50_pct: quantile(50),
        gap_q95_pct: quantile(95),
        worst_slots,
        slots_missing_near_worst: missing.and_then(|many| u32::try_from(many).ok()).unwrap_or(0),
        above: limit.map(|limit| time_above(points, limit)),
    }
}

/// Compares two gaps: no gap is worse than any gap, and the smaller the fillable amount, the worse.
pub(super) fn worse(a: Gap, b: Gap) -> Ordering {
    match (a, b) {
        (
            Gap::Refused(NoGap::BeyondLiquidity(least)),
            Gap::Refused(NoGap::BeyondLiquidity(most)),
        ) => most.cmp(&least),
        _ => a.worse(b),
    }
}

fn time_above(points: &[Point], limit: GapLimit) -> TimeAbove {
    let (mut slots, mut run, mut longest) = (0, (0, None), (0, None));
    for point in points {
        let above = match point.held {
            Held::Recorded(_, Gap::Filled(gap)) => gap > Percent::from(limit),
            Held::Recorded(_, Gap::Refused(_)) => true,
            Held::Missing | Held::Retracted | Held::Retired => false,
        };
        if !above {
            run = (0, None);
            continue;
        }
        slots += 1;
        run = (run.0 + 1, run.1.or(Some(point.slot)));
        if run.0 > longest.0 {
            longest = run;
        }
    }
    TimeAbove {
        limit_pct: limit.into(),
        slots,
        longest_run_slots: longest.0,
        longest_run_from: longest.1.map(|slot| slot.to_string()),
    }
}

impl From<FindError> for StressError {
    fn from(error: FindError) -> Self {
        Self::Find(error)
    }
}

impl From<StoreError> for StressError {
    fn from(error: StoreError) -> Self {
        Self::Find(error.into())
    }
}

impl IntoProblem for StressError {
    fn into_problem(self) -> Problem {
        match self {
            Self::Find(error) => error.into_problem(),
            Self::TooLong { slots } => {
                let detail = format!(
                    "from: at a size that is not stored for every slot, at most {MOST_COMPUTED} slots are computed, not {slots}"
                );
                Problem::new(ProblemCode::InvalidParameter, detail)
                    .field("from")
                    .hint("ask for at most seven days, or for 1000, 10000, 100000 or 1000000 USD")
            }
        }
    }
}
