//! Compares venues for an exit, using only their ladders: ranks single venues and splits one exit across them.
//!
//! The rows of a ladder give the venue's output at a few sizes. Between two rows (and between zero and the first row)
//! the output is assumed to be linear. A pool's output is concave in the size, so the real output is at least that, and
//! at most the value that the lines through the neighbouring rows allow. The difference is the uncertainty caused by
//! the coarse ladder, and every leg states it. A ladder contains nothing about sizes above its largest row.
//!
//! The split sells each dollar where it loses least until the size is filled. The price of the next dollar is then the
//! same in every venue that is partly used. A venue may have a fixed cost, which applies once it is used at all. All
//! combinations of such venues are tried.

use core::cmp::Ordering;

use crate::stable_sort::sort;
use crate::units::{Percent, SizeUsd, UsdMicros};

/// `10^8`: the number 1 in millionths of a percent.
const ONE_E8: i128 = 100_000_000;

/// A row of a venue's ladder: the loss of selling `size`, measured against the oracle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteRow {
    /// The size sold.
    pub size: SizeUsd,
    /// Its `exit_gap_pct`.
    pub gap: Percent,
}

/// A venue, as described by its ladder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteVenue {
    /// Its output by size, from zero, in ascending order.
    points: Vec<Point>,
    /// Its upper hull: the points between which the slopes decrease.
    hull: Vec<Point>,
    first_gap: Percent,
    fixed_cost: UsdMicros,
}

/// A venue's output for a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    /// Micro-dollars sold.
    size: u64,
    /// The output in micro-dollars × 10^8.
    value: i128,
}

impl Point {
    /// The largest gap that rounds to this one.
    fn rounded_up(self) -> Self {
        Self { value: self.value + i128::from(self.size.div_ceil(2)), ..self }
    }

    /// The smallest gap that rounds to this one.
    fn rounded_down(self) -> Self {
        Self { value: self.value - i128::from(self.size.div_ceil(2)), ..self }
    }
}

/// Why numbers are not a valid venue, or venues not a valid request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// There are more rows than a venue may have.
    #[error("{found} rows given; a venue has at most {most}", most = RouteVenue::MAX_ROWS)]
    TooManyRows {
        /// The number of rows found.
        found: usize,
    },
    /// Two rows have the same size but different gaps.
    #[error("two rows of size {size} USD have different gaps: {first}% and {second}%")]
    Contradiction {
        /// The size.
        size: SizeUsd,
        /// The gap of one row.
        first: Percent,
        /// The gap of the other row.
        second: Percent,
    },
    /// A gap at which a sale has a negative output, or an output of more than twice its value.
    #[error("gap {found}% is outside the range −100% to 100%")]
    Gap {
        /// The gap found.
        found: Percent,
    },
    /// The fixed cost exceeds a million dollars.
    #[error("fixed cost of {found} USD is above the maximum of {most} USD", most = RouteVenue::MAX_FIXED_COST)]
    FixedCost {
        /// The cost found.
        found: UsdMicros,
    },
    /// There are no venues, or more than the maximum.
    #[error("{found} venues given; the number must be from 1 to {most}", most = MAX_ROUTE_VENUES)]
    Venues {
        /// The number of venues found.
        found: usize,
    },
}

/// The maximum number of venues. All combinations of venues with a fixed cost are tried, at most 4,096.
pub const MAX_ROUTE_VENUES: usize = 12;

/// The part of an exit that one venue sells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteLeg {
    /// The venue's index in the given order, from 0.
    pub venue: usize,
    /// The size it sells.
    pub size: UsdMicros,
    /// The leg's gap on the line between two rows, rounded up. A concave venue does no worse, except for the rounding
    /// of the rows.
    pub gap: Percent,
    /// The smallest gap that the rows allow for a concave venue, rounded down. At a row it equals `gap`.
    pub least_gap: Percent,
    /// The sizes of the rows around the leg, the lower one 0 below the first row. Both equal the leg's own size if it
    /// is at a row.
    pub between: [UsdMicros; 2],
    /// The additional cost of using the venue.
    pub fixed_cost: UsdMicros,
}

/// One way to exit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The parts that the used venues sell, in the order of the venues.
    pub legs: Vec<RouteLeg>,
    /// The size that all legs sell.
    pub filled: UsdMicros,
    /// The size that the ladders do not cover.
    pub unfilled: UsdMicros,
    /// The output of the legs at oracle prices, rounded down, before fixed costs.
    pub received: UsdMicros,
    /// The fixed costs of the used venues.
    pub fixed_cost: UsdMicros,
    /// The gap of all legs together, rounded up; `None` if nothing is filled.
    pub gap: Option<Percent>,
    /// The smallest gap that the rows allow, rounded down.
    pub least_gap: Option<Percent>,
    /// `received` minus `fixed_cost`, not rounded, in micro-dollars × 10^8.
    net: i128,
}

/// The ranked venues and the best split across them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteRanking {
    /// The requested size.
    pub size: SizeUsd,
    /// Every single venue, best first: sorted by filled size, then by output after the fixed cost.
    pub alone: Vec<Route>,
    /// The best split by the same order; a single venue if no split is better.
    pub split: Route,
}

impl RouteVenue {
    /// The maximum number of rows of a venue.
    pub const MAX_ROWS: usize = 256;

    /// The maximum fixed cost: a million dollars.
    pub const MAX_FIXED_COST: UsdMicros = UsdMicros(1_000_000_000_000);

    /// A venue with these rows, in any order. `first_gap` is the loss of an infinitely small sale there: basis and fee.
    /// A venue without rows fills nothing.
    pub fn new(
        mut rows: Vec<RouteRow>,
        first_gap: Percent,
        fixed_cost: UsdMicros,
    ) -> Result<Self, RouteError> {
        if rows.len() > Self::MAX_ROWS {
            return Err(RouteError::TooManyRows { found: rows.len() });
        }
        if fixed_cost > Self::MAX_FIXED_COST {
            return Err(RouteError::FixedCost { found: fixed_cost });
        }
        let gaps = rows.iter().map(|row| row.gap).chain([first_gap]);
        for found in gaps {
            if !(-ONE_E8..=ONE_E8).contains(&found.0) {
                return Err(RouteError::Gap { found });
            }
        }
        sort(&mut rows, |a, b| a.size.cmp(&b.size));
        for pair in rows.windows(2) {
            let [first, second] = [pair[0], pair[1]];
            if first.size == second.size && first.gap != second.gap {
                let (size, first, second) = (first.size, first.gap, second.gap);
                return Err(RouteError::Contradiction { size, first, second });
            }
        }
        rows.dedup_by_key(|row| row.size);
        let of_row = |row: RouteRow| {
            let size = row.size.micros();
            Point { size, value: i128::from(size) * (ONE_E8 - row.gap.0) }
        };
        let points: Vec<Point> =
            [Point { size: 0, value: 0 }].into_iter().chain(rows.into_iter().map(of_row)).collect();
        let hull = upper_hull(&points);
        Ok(Self { points, hull, first_gap, fixed_cost })
    }

    /// The largest size of its ladder.
    pub fn largest(&self) -> UsdMicros {
        UsdMicros(self.points.last().map_or(0, |point| point.size))
    }

    /// The additional cost of using it.
    pub fn fixed_cost(&self) -> UsdMicros {
        self.fixed_cost
    }

    /// The loss of an infinitely small sale, `1 − (1 − basis) × (1 − fee)`, rounded down. If the venue has no valid
    /// basis or fee, the result is clamped to a percentage's bounds.
    pub fn first_gap(basis: Percent, fee: Percent) -> Percent {
        let kept = |gap: Percent| ONE_E8 - gap.0.clamp(-Percent::BOUND, Percent::BOUND);
        Percent(ONE_E8 + (-kept(basis) * kept(fee)).div_euclid(ONE_E8))
    }

    /// The indices of the points on both sides of `size`, which must be at most [`RouteVenue::largest`].
    fn around(&self, size: u64) -> (usize, usize) {
        let above = self.points.partition_point(|point| point.size < size);
        if self.points[above].size == size { (above, above) } else { (above - 1, above) }
    }

    /// The output of `size` on the line between its rows.
    fn value(&self, size: u64) -> i128 {
        let (below, above) = self.around(size);
        line(self.points[below], self.points[above], size, Round::Down)
    }

    /// The maximum output of `size` if the venue is concave: at most the lines through the previous rows, through the
    /// next rows, and from zero with the first gap, each including the maximum rounding of the rows.
    fn most_value(&self, size: u64) -> i128 {
        let (below, above) = self.around(size);
        let points = &self.points;
        if below == above {
            return points[below].value;
        }
        // Basis and fee are rounded; two additional millionths cover that.
        let mut most = i128::from(size) * (ONE_E8 - self.first_gap.0 + 2);
        if below > 0 {
            let (from, to) = (points[below - 1].rounded_down(), points[below].rounded_up());
            most = most.min(line(from, to, size, Round::Up));
        }
        if let Some(next) = points.get(above + 1) {
            let (from, to) = (points[above].rounded_up(), next.rounded_down());
            most = most.min(line(from, to, size, Round::Up));
        }
        // Rows that are not concave themselves give no bound below their own line.
        most.max(self.value(size))
    }

    fn leg(&self, venue: usize, size: u64) -> RouteLeg {
        let (below, above) = self.around(size);
        RouteLeg {
            venue,
            size: UsdMicros(size),
            gap: gap_up(self.value(size), size),
            least_gap: gap_down(self.most_value(size), size),
            between: [below, above].map(|at| UsdMicros(self.points[at].size)),
            fixed_cost: self.fixed_cost,
        }
    }
}

/// Ranks the venues for an exit of `size`: each venue by itself, and the best split across them.
pub fn rank_routes(venues: &[RouteVenue], size: SizeUsd) -> Result<RouteRanking, RouteError> {
    if venues.is_empty() || venues.len() > MAX_ROUTE_VENUES {
        return Err(RouteError::Venues { found: venues.len() });
    }
    let single = |venue: usize| {
        let mut sizes = vec![0; venues.len()];
        sizes[venue] = size.micros().min(venues[venue].largest().0);
        Route::from_sizes(venues, &sizes, size)
    };
    let mut alone: Vec<Route> = (0..venues.len()).map(single).collect();
    let best_split = best_split(venues, size);
    // Among equal venues the given order is kept.
    sort(&mut alone, |a, b| b.rank().cmp(&a.rank()));
    let split = match alone.first() {
        Some(best) if best.rank() >= best_split.rank() => best.clone(),
        _ => best_split,
    };
    Ok(RouteRanking { size, alone, split })
}

/// The best of all combinations of venues, where each combination sells every dollar where it loses least. Venues
/// without a fixed cost are part of every combination, because they do not have to be used.
fn best_split(venues: &[RouteVenue], size: SizeUsd) -> Route {
    let steps = steps(venues);
    let costly: Vec<usize> =
        (0..venues.len()).filter(|venue| venues[*venue].fixed_cost.0 > 0).collect();
    let choices = (0_u32..1 << costly.len()).map(|choice| {
        let mut open = vec![true; venues.len()];
        for (bit, venue) in costly.iter().enumerate() {
            open[*venue] = choice >> bit & 1 == 1;
        }
        let sizes = allocate_sizes(&steps, &open, size.micros());
        (rank_of(venues, &sizes), sizes)
    });
    // Of equal combinations the first one, which uses fewest of the later venues.
    let best = choices.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let sizes = best.map_or_else(|| vec![0; venues.len()], |(_, sizes)| sizes);
    Route::from_sizes(venues, &sizes, size)
}

/// A section of a venue's hull, in which every dollar loses the same.
#[derive(Clone)]
struct Step {
    venue: usize,
    width: u64,
    value: i128,
}

/// All sections of all hulls, the one with the highest output per dollar first.
fn steps(venues: &[RouteVenue]) -> Vec<Step> {
    let of_venue = |(venue, one): (usize, &RouteVenue)| -> Vec<Step> {
        let pairs = one.hull.windows(2);
        let step = |pair: &[Point]| Step {
            venue,
            width: pair[1].size - pair[0].size,
            value: pair[1].value - pair[0].value,
        };
        pairs.map(step).collect()
    };
    let mut steps: Vec<Step> = venues.iter().enumerate().flat_map(of_venue).collect();
    sort(&mut steps, |a, b| compare_slopes((b.value, b.width), (a.value, a.width)));
    steps
}

/// The size that each open venue sells if the sections are used in order until `size` is filled.
fn allocate_sizes(steps: &[Step], open: &[bool], size: u64) -> Vec<u64> {
    let mut sizes = vec![0; open.len()];
    let mut rest = size;
    for step in steps.iter().filter(|step| open[step.venue]) {
        let width = step.width.min(rest);
        sizes[step.venue] += width;
        rest -= width;
        if rest == 0 {
            break;
        }
    }
    sizes
}

/// The filled size, then the output after fixed costs. More is better, in this order.
fn rank_of(venues: &[RouteVenue], sizes: &[u64]) -> (u64, i128) {
    let used = || venues.iter().zip(sizes).filter(|(_, size)| **size > 0);
    let net = used()
        .map(|(venue, size)| venue.value(*size) - i128::from(venue.fixed_cost.0) * ONE_E8)
        .sum();
    (used().map(|(_, size)| size).sum(), net)
}

impl Route {
    fn from_sizes(venues: &[RouteVenue], sizes: &[u64], asked: SizeUsd) -> Self {
        let used = || venues.iter().zip(sizes).enumerate().filter(|(_, (_, size))| **size > 0);
        let legs = used().map(|(index, (venue, size))| venue.leg(index, *size)).collect();
        let (filled, net) = rank_of(venues, sizes);
        let fixed_cost = used().map(|(_, (venue, _))| venue.fixed_cost.0).sum();
        let value = net + i128::from(fixed_cost) * ONE_E8;
        let most_value = used().map(|(_, (venue, size))| venue.most_value(*size)).sum();
        Self {
            legs,
            filled: UsdMicros(filled),
            unfilled: UsdMicros(asked.micros().saturating_sub(filled)),
            received: UsdMicros(u64::try_from(value.div_euclid(ONE_E8)).unwrap_or(0)),
            fixed_cost: UsdMicros(fixed_cost),
            gap: (filled > 0).then(|| gap_up(value, filled)),
            least_gap: (filled > 0).then(|| gap_down(most_value, filled)),
            net,
        }
    }

    fn rank(&self) -> (u64, i128) {
        (self.filled.0, self.net)
    }
}

/// The direction in which a fraction is rounded.
#[derive(Clone, Copy)]
enum Round {
    Down,
    Up,
}

/// The value at `size` on the line through two points, also outside of them; the value of the first point if both have
/// the same size.
fn line(from: Point, to: Point, size: u64, round: Round) -> i128 {
    if from.size == to.size {
        return from.value;
    }
    let width = i128::from(to.size - from.size);
    let (rise, run) = (to.value - from.value, i128::from(size) - i128::from(from.size));
    // The integer and the remainder are computed separately: 2 × 10^23 × 10^15 would not fit, but the remainder's
    // product stays below 10^30.
    let (whole, rest) = (rise.div_euclid(width), rise.rem_euclid(width));
    let rest = match round {
        Round::Down => (rest * run).div_euclid(width),
        Round::Up => -(-rest * run).div_euclid(width),
    };
    from.value.saturating_add(whole.saturating_mul(run)).saturating_add(rest)
}

/// The points above the lines between their neighbours; only they make the slopes decrease.
fn upper_hull(points: &[Point]) -> Vec<Point> {
    let slope = |from: &Point, to: &Point| (to.value - from.value, to.size - from.size);
    let mut hull: Vec<Point> = Vec::with_capacity(points.len());
    for point in points {
        while let [.., before, last] = &hull[..] {
            if compare_slopes(slope(before, last), slope(last, point)) == Ordering::Greater {
                break;
            }
            hull.pop();
        }
        hull.push(*point);
    }
    hull
}

/// Compares `rise ÷ width` of two lines exactly. Widths must be positive.
fn compare_slopes(a: (i128, u64), b: (i128, u64)) -> Ordering {
    let (a_width, b_width) = (i128::from(a.1), i128::from(b.1));
    let whole = a.0.div_euclid(a_width).cmp(&b.0.div_euclid(b_width));
    // The remainders are less than the widths, so their cross products are below 10^30.
    whole.then((a.0.rem_euclid(a_width) * b_width).cmp(&(b.0.rem_euclid(b_width) * a_width)))
}

/// `100 × (1 − value ÷ size)`, rounded up.
fn gap_up(value: i128, size: u64) -> Percent {
    Percent(-(value - i128::from(size) * ONE_E8).div_euclid(i128::from(size)))
}

/// `100 × (1 − value ÷ size)`, rounded down.
fn gap_down(value: i128, size: u64) -> Percent {
    Percent((i128::from(size) * ONE_E8 - value).div_euclid(i128::from(size)))
}

#[cfg(test)]
mod tests;
