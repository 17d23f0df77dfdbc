//! When to sell: single slots of up to 31 days by their hour of the week, and the newest one ranked among them.

use std::cmp::Ordering;

use exitgap_api::operations::SeriesAsked;
use exitgap_api::{HourOfWeek, Number, Problem, ProblemCode, RankedSlot, WhenToSell};
use exitgap_core::analytics::{nearest_rank, share_pct};
use exitgap_core::series::Slot;
use exitgap_store::{FindError, Gap, Held, Point, Reader, Rollup, StoreError};

use super::history::{Series, is_kept};
use super::stress::worse;
use super::{IntoProblem, Service, Urls};

/// The longest period: 31 days.
const MOST_SLOTS: u32 = 31 * Slot::PER_DAY;

/// The slots in a week.
const WEEK: u32 = 7 * Slot::PER_DAY;

/// The weeks that a best hour needs, and the default period.
const NEEDED_WEEKS: u32 = 4;

/// The hours of a week.
const HOURS: usize = 7 * 24;

/// Why a period has no answer.
enum WhenError {
    Find(FindError),
    TooLong { slots: u32 },
}

/// A recorded slot and its gap.
type Seen = (Gap, Slot);

impl Service {
    /// The gap of a size by hour of the week, and the rank of the newest slot.
    pub async fn when(&self, asked: SeriesAsked) -> Result<WhenToSell, Problem> {
        let guards = asked.guards;
        let base = self.series_base(&asked).await?;
        let (series, points) = self
            .readers_of(asked.size)
            .read_store(move |reader| {
                let series = Series::find(reader, &asked, base, NEEDED_WEEKS * WEEK)?;
                let points = points_of(reader, &series)?;
                Ok::<_, WhenError>((series, points))
            })
            .await?;
        let mut counted = Rollup::default();
        let index = [series.direction.base_index(), series.size_index];
        for point in &points {
            counted.add_point(index, point);
        }
        let of = self.series_of(&series, [series.from, series.to], &counted).await;
        guards.check(&self.guard_inputs(&series, of.status))?;
        let seen: Vec<Seen> = points.iter().filter_map(seen).collect();
        let enough = series.to.number() - series.from.number() + 1 >= NEEDED_WEEKS * WEEK;
        let hours = hours_of(&seen, series.to);
        let best = best_hour(&hours).filter(|_| enough);
        Ok(WhenToSell {
            of,
            slots: counted.recorded_slots,
            slots_refused: count(seen.iter().filter(|(gap, _)| is_refused(*gap))),
            slots_missing: counted.missing_slots + counted.retracted_slots,
            now: seen.last().map(|now| ranked(&self.urls, &series, *now, &seen)),
            enough,
            best_hour: best,
            hours: hours.iter().map(|hour| hour.document(&self.urls, &series)).collect(),
        })
    }
}

/// The slots of the period. Gaps of a size that is not stored for every slot are computed.
fn points_of(reader: &Reader, series: &Series) -> Result<Vec<Point>, WhenError> {
    let Series { pool, direction, size, size_index, from, to, .. } = series;
    let slots = to.number() - from.number() + 1;
    if slots > MOST_SLOTS {
        return Err(WhenError::TooLong { slots });
    }
    if is_kept(*size) {
        return Ok(reader.points(pool, [direction.base_index(), *size_index], *from, *to)?);
    }
    let computed = reader.points_at(pool, *direction, *size, *from, *to)?;
    Ok(computed.into_iter().map(|(point, _)| point).collect())
}

fn seen(point: &Point) -> Option<Seen> {
    match point.held {
        Held::Recorded(_, gap) => Some((gap, point.slot)),
        Held::Missing | Held::Retracted | Held::Retired => None,
    }
}

fn is_refused(gap: Gap) -> bool {
    matches!(gap, Gap::Refused(_))
}

fn count<T>(of: impl Iterator<Item = T>) -> u32 {
    u32::try_from(of.count()).unwrap_or(u32::MAX)
}

/// A slot ranked among all others.
fn ranked(urls: &Urls, series: &Series, (gap, slot): Seen, all: &[Seen]) -> RankedSlot {
    let that_are = |order: Ordering| {
        let others = all.iter().filter(|(_, other)| *other != slot);
        count(others.filter(|(other, _)| worse(*other, gap) == order))
    };
    let [slots_worse, slots_equal, slots_better] =
        [Ordering::Greater, Ordering::Equal, Ordering::Less].map(that_are);
    let others = u64::from(slots_worse) + u64::from(slots_equal) + u64::from(slots_better);
    RankedSlot {
        point: series.gap_point(urls, slot, gap),
        slots_worse,
        slots_equal,
        slots_better,
        worse_pct: share_pct(slots_worse.into(), others).map(Number::from),
    }
}

/// The recorded slots of one hour of the week.
struct Hour {
    /// From 0 to 167.
    place: u32,
    weeks: u32,
    /// The best gap first. Of equal gaps, the later slot comes first.
    ascending: Vec<Seen>,
    /// The last of them.
    worst: Seen,
}

impl Hour {
    /// The gap at a rank.
    fn quantile(&self, p: usize) -> Option<Gap> {
        nearest_rank(&self.ascending, p).map(|(gap, _)| gap)
    }

    fn document(&self, urls: &Urls, series: &Series) -> HourOfWeek {
        let percent = |p: usize| match self.quantile(p) {
            Some(Gap::Filled(gap)) => Some(Number::from(gap)),
            Some(Gap::Refused(_)) | None => None,
        };
        let (gap, slot) = self.worst;
        HourOfWeek {
            hour: self.place,
            slots: count(self.ascending.iter()),
            weeks: self.weeks,
            slots_refused: count(self.ascending.iter().filter(|(gap, _)| is_refused(*gap))),
            exit_gap_pct_q50: percent(50),
            exit_gap_pct_q95: percent(95),
            worst: series.gap_point(urls, slot, gap),
        }
    }
}

/// The hours of the week that have a recorded slot. Weeks are counted back from the end of the period.
fn hours_of(seen: &[Seen], end: Slot) -> Vec<Hour> {
    let mut hours: Vec<Vec<Seen>> = vec![Vec::new(); HOURS];
    for (gap, slot) in seen {
        // The first day of Unix time was a Thursday, and a week begins on Monday.
        let hour = usize::try_from(slot.unix_s() / 3_600 + 72).unwrap_or(0) % HOURS;
        hours[hour].push((*gap, *slot));
    }
    let hour = |(place, mut ascending): (u32, Vec<Seen>)| {
        let week = |slot: &Slot| end.number().saturating_sub(slot.number()) / WEEK;
        let mut weeks: Vec<u32> = ascending.iter().map(|(_, slot)| week(slot)).collect();
        weeks.dedup();
        ascending.sort_by(|(a, at), (b, of)| worse(*a, *b).then(of.cmp(at)));
        let worst = *ascending.last()?;
        Some(Hour { place, weeks: count(weeks.iter()), ascending, worst })
    };
    (0..).zip(hours).filter_map(hour).collect()
}

/// The hour with the lowest 95th percentile, of those that four weeks have.
fn best_hour(hours: &[Hour]) -> Option<u32> {
    let eligible = hours.iter().filter(|hour| hour.weeks >= NEEDED_WEEKS);
    let filled = eligible.filter_map(|hour| match hour.quantile(95)? {
        Gap::Filled(most) => Some((most, hour.quantile(50)?, hour.place)),
        Gap::Refused(_) => None,
    });
    let order = |(a, median_a, _): &(_, Gap, u32), (b, median_b, _): &(_, Gap, u32)| {
        Ord::cmp(a, b).then(worse(*median_a, *median_b))
    };
    filled.min_by(order).map(|(_, _, hour)| hour)
}

impl From<FindError> for WhenError {
    fn from(error: FindError) -> Self {
        Self::Find(error)
    }
}

impl From<StoreError> for WhenError {
    fn from(error: StoreError) -> Self {
        Self::Find(error.into())
    }
}

impl IntoProblem for WhenError {
    fn into_problem(self) -> Problem {
        match self {
            Self::Find(error) => error.into_problem(),
            Self::TooLong { slots } => {
                let detail = format!("from: at most {MOST_SLOTS} slots are ranked, not {slots}");
                Problem::new(ProblemCode::InvalidParameter, detail)
                    .field("from")
                    .hint("ask for at most 31 days")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::units::{Percent, UsdMicros};
    use exitgap_store::NoGap;

    use super::*;

    fn slot(number: u32) -> Slot {
        Slot::new(u64::from(Slot::FIRST.number() + number)).unwrap()
    }

    /// Four weeks in which each hour has one expensive slot, later in the week a more expensive one. Hour 3 of the week
    /// is dear in most of its slots, and has no expensive one.
    fn four_weeks() -> Vec<Seen> {
        let gap = |number: u32| {
            let hour = hours_of(&[(Gap::Filled(Percent(0)), slot(number))], slot(number))[0].place;
            let is_peak = number % 12 == 7 && number / WEEK == 1;
            Gap::Filled(Percent(match hour {
                3 => 900_000,
                _ if is_peak => 2_000_000 + i128::from(hour),
                _ => 100_000 + i128::from(hour),
            }))
        };
        (0..NEEDED_WEEKS * WEEK).map(|number| (gap(number), slot(number))).collect()
    }

    #[test]
    fn an_hour_is_judged_by_its_slots_and_not_by_its_worst_one() {
        let seen = four_weeks();
        let hours = hours_of(&seen, slot(NEEDED_WEEKS * WEEK - 1));
        assert_eq!(hours.len(), HOURS);
        assert!(hours.iter().all(|hour| (hour.weeks, hour.ascending.len()) == (4, 48)));
        // The lowest maximum is that of hour 3, whose slots are dear. The lowest percentile is that of hour 0.
        let lowest_peak = hours.iter().min_by(|a, b| worse(a.worst.0, b.worst.0));
        assert_eq!(lowest_peak.map(|hour| hour.place), Some(3));
        assert_eq!(best_hour(&hours), Some(0));
        assert_eq!(hours[5].quantile(50), Some(Gap::Filled(Percent(100_005))));
    }

    #[test]
    fn a_period_of_more_than_31_days_is_refused() {
        let problem = WhenError::TooLong { slots: MOST_SLOTS + 1 }.into_problem();
        let field = problem.field.as_deref();
        assert_eq!((problem.code, field), (ProblemCode::InvalidParameter, Some("from")));
        assert!(problem.detail.contains("8928") && problem.detail.contains("8929"), "{problem}");
    }

    #[test]
    fn no_hour_of_less_than_four_weeks_is_the_best() {
        let seen = four_weeks();
        let end = slot(NEEDED_WEEKS * WEEK - 1);
        // Hour 0 is absent in one week.
        let kept = |(_, at): &&Seen| {
            let hour = hours_of(&[(Gap::Filled(Percent(0)), *at)], *at)[0].place;
            hour != 0 || (end.number() - at.number()) / WEEK != 2
        };
        let without: Vec<Seen> = seen.iter().filter(kept).copied().collect();
        let hours = hours_of(&without, end);
        assert_eq!((hours[0].weeks, best_hour(&hours)), (3, Some(1)));
        let short: Vec<Seen> = seen[WEEK as usize + 12..].to_vec();
        assert_eq!(best_hour(&hours_of(&short, end)), None);
        // An hour that cannot fill the size at its 95th percentile is not the best.
        let refused = Gap::Refused(NoGap::BeyondLiquidity(UsdMicros(1)));
        let never: Vec<Seen> = seen.iter().map(|(_, at)| (refused, *at)).collect();
        assert_eq!(best_hour(&hours_of(&never, end)), None);
    }
}
