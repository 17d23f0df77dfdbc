//! Which venue to exit through: venues ranked alone, and one exit split across them, from
//! ladders alone.
//!
//! A ladder's rows say what its venue pays at a few sizes. Between two rows a venue is taken
//! to pay on the straight line between them, from nothing up. What a pool pays is concave in
//! the size, so it pays at least that; and at most what the lines through the neighbouring
//! rows allow. The distance between the two is how coarse the ladder makes the answer, and
//! every leg states it. A ladder says nothing of sizes above its largest row.
//!
//! The split sells where the next dollar loses least until the size is filled: the price of
//! the next dollar is then equal wherever a venue is used in part. A venue may cost a fixed
//! amount once it is used at all; every choice of such venues is tried.

use core::cmp::Ordering;

use crate::stable_sort::sort;
use crate::units::{Percent, SizeUsd, UsdMicros};

/// `10^8`: one, counted in millionths of a percent.
const ONE_E8: i128 = 100_000_000;

/// A row of a venue's ladder: what selling `size` loses against the oracle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteRow {
    /// The size sold.
    pub size: SizeUsd,
    /// Its `exit_gap_pct`.
    pub gap: Percent,
}

/// A venue, as far as its ladder tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteVenue {
    /// What it pays, from nothing up, by size ascending.
    points: Vec<Point>,
    /// Its upper hull: the points whose lines have falling slopes.
    hull: Vec<Point>,
    first_gap: Percent,
    fixed_cost: UsdMicros,
}

/// What a venue pays for a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    /// Micro-dollars sold.
    size: u64,
    /// What that brings, in micro-dollars × 10^8.
    value: i128,
}

impl Point {
    /// The most that a gap rounded to this one stands for.
    fn rounded_up(self) -> Self {
        Self { value: self.value + i128::from(self.size.div_ceil(2)), ..self }
    }

    /// The least that a gap rounded to this one stands for.
    fn rounded_down(self) -> Self {
        Self { value: self.value - i128::from(self.size.div_ceil(2)), ..self }
    }
}

/// Why numbers are not a venue, or venues no question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// More rows than a venue may have.
    #[error("{found} rows given; a venue has at most {most}", most = RouteVenue::MAX_ROWS)]
    TooManyRows {
        /// Rows found.
        found: usize,
    },
    /// Two rows say different things of one size.
    #[error("two rows of size {size} USD have different gaps: {first}% and {second}%")]
    Contradiction {
        /// The size.
        size: SizeUsd,
        /// The gap of the one …
        first: Percent,
        /// … and of the other.
        second: Percent,
    },
    /// A gap at which a sale brings less than nothing, or more than twice its worth.
    #[error("gap {found}% is outside the range −100% to 100%")]
    Gap {
        /// The gap found.
        found: Percent,
    },
    /// A fixed cost above a million dollars.
    #[error("fixed cost of {found} USD is above the maximum of {most} USD", most = RouteVenue::MAX_FIXED_COST)]
    FixedCost {
        /// The cost found.
        found: UsdMicros,
    },
    /// No venue, or more than are ranked at once.
    #[error("{found} venues given; the number must be from 1 to {most}", most = MAX_ROUTE_VENUES)]
    Venues {
        /// Venues found.
        found: usize,
    },
}

/// The most venues ranked at once. Every choice of those with a fixed cost is tried:
/// 4,096 at most.
pub const MAX_ROUTE_VENUES: usize = 12;

/// What one venue sells of an exit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteLeg {
    /// Which venue, counted from 0 in the order given.
    pub venue: usize,
    /// What it sells.
    pub size: UsdMicros,
    /// The leg's gap on the line between two rows, rounded up: a concave venue does no worse,
    /// but for the rounding of the rows.
    pub gap: Percent,
    /// The least gap that the rows allow a concave venue, rounded down. Equal to `gap` at a row.
    pub least_gap: Percent,
    /// The sizes of the rows the leg lies between, the lower one 0 below the first row; both
    /// are the leg's own size where it is a row.
    pub between: [UsdMicros; 2],
    /// What using the venue costs beside.
    pub fixed_cost: UsdMicros,
}

/// One way to exit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// What each venue used sells, in the order of the venues.
    pub legs: Vec<RouteLeg>,
    /// What all legs sell.
    pub filled: UsdMicros,
    /// What the ladders do not say how to sell.
    pub unfilled: UsdMicros,
    /// What the legs bring by the oracle, rounded down, before fixed costs.
    pub received: UsdMicros,
    /// What using the venues costs.
    pub fixed_cost: UsdMicros,
    /// The gap of all legs together, rounded up; `None` where nothing is filled.
    pub gap: Option<Percent>,
    /// The least gap that the rows allow, rounded down.
    pub least_gap: Option<Percent>,
    /// `received` less `fixed_cost`, unrounded, in micro-dollars × 10^8.
    net: i128,
}

/// Venues ranked, and the best split across them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteRanking {
    /// The size asked for.
    pub size: SizeUsd,
    /// Every venue alone, the best first: who fills more comes first, and of those that fill
    /// the same who brings more after its fixed cost.
    pub alone: Vec<Route>,
    /// The best split by the same order; a single venue where no split is better.
    pub split: Route,
}

impl RouteVenue {
    /// The most rows of a venue.
    pub const MAX_ROWS: usize = 256;

    /// The largest fixed cost: a million dollars.
    pub const MAX_FIXED_COST: UsdMicros = UsdMicros(1_000_000_000_000);

    /// A venue of these rows, in any order. `first_gap` is what an infinitely small sale
    /// loses there: basis and fee. A venue without rows fills nothing.
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

    /// The largest size its ladder tells of.
    pub fn largest(&self) -> UsdMicros {
        UsdMicros(self.points.last().map_or(0, |point| point.size))
    }

    /// What using it costs beside.
    pub fn fixed_cost(&self) -> UsdMicros {
        self.fixed_cost
    }

    /// What an infinitely small sale loses, `1 − (1 − basis) × (1 − fee)`, rounded down.
    /// Bounds that no venue keeps to end at those of a percentage.
    pub fn first_gap(basis: Percent, fee: Percent) -> Percent {
        let kept = |gap: Percent| ONE_E8 - gap.0.clamp(-Percent::BOUND, Percent::BOUND);
        Percent(ONE_E8 + (-kept(basis) * kept(fee)).div_euclid(ONE_E8))
    }

    /// The points on both sides of `size`, which is at most [`RouteVenue::largest`].
    fn around(&self, size: u64) -> (usize, usize) {
        let above = self.points.partition_point(|point| point.size < size);
        if self.points[above].size == size { (above, above) } else { (above - 1, above) }
    }

    /// What `size` brings on the line between its rows.
    fn value(&self, size: u64) -> i128 {
        let (below, above) = self.around(size);
        line(self.points[below], self.points[above], size, Round::Down)
    }

    /// The most that `size` can bring where the venue is concave: no more than the lines
    /// through the rows before it, through those after it, and from nothing at the first gap
    /// come to, each with all that the rows' rounding can hide.
    fn most_value(&self, size: u64) -> i128 {
        let (below, above) = self.around(size);
        let points = &self.points;
        if below == above {
            return points[below].value;
        }
        // Basis and fee are rounded; two more millionths cover that.
        let mut most = i128::from(size) * (ONE_E8 - self.first_gap.0 + 2);
        if below > 0 {
            let (from, to) = (points[below - 1].rounded_down(), points[below].rounded_up());
            most = most.min(line(from, to, size, Round::Up));
        }
        if let Some(next) = points.get(above + 1) {
            let (from, to) = (points[above].rounded_up(), next.rounded_down());
            most = most.min(line(from, to, size, Round::Up));
        }
        // Rows that are not concave among themselves bound nothing below their own line.
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

/// Ranks the venues for an exit of `size`, alone and split across them.
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
    // Of equals the one given first comes first.
    sort(&mut alone, |a, b| b.rank().cmp(&a.rank()));
    let split = match alone.first() {
        Some(best) if best.rank() >= best_split.rank() => best.clone(),
        _ => best_split,
    };
    Ok(RouteRanking { size, alone, split })
}

/// The best of all choices of venues, each choice split where the next dollar loses least.
/// A venue without a fixed cost is part of every choice: it need not be used.
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
    // The first of equals: the one with fewest of the later venues.
    let best = choices.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let sizes = best.map_or_else(|| vec![0; venues.len()], |(_, sizes)| sizes);
    Route::from_sizes(venues, &sizes, size)
}

/// A stretch of a venue's hull, on which every dollar loses the same.
#[derive(Clone)]
struct Step {
    venue: usize,
    width: u64,
    value: i128,
}

/// Every stretch of every hull, the one that pays most for a dollar first.
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

/// What each open venue sells when the steps are taken in turn until `size` is filled.
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

/// What is filled, and what it brings after fixed costs: more is better, in this order.
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

/// Which way a value that is no whole number goes.
#[derive(Clone, Copy)]
enum Round {
    Down,
    Up,
}

/// The value at `size` on the line through two points, beyond them too; the first's own where
/// they are one.
fn line(from: Point, to: Point, size: u64, round: Round) -> i128 {
    if from.size == to.size {
        return from.value;
    }
    let width = i128::from(to.size - from.size);
    let (rise, run) = (to.value - from.value, i128::from(size) - i128::from(from.size));
    // Whole and rest apart: 2 × 10^23 × 10^15 would not fit, while the rest stays below 10^30.
    let (whole, rest) = (rise.div_euclid(width), rise.rem_euclid(width));
    let rest = match round {
        Round::Down => (rest * run).div_euclid(width),
        Round::Up => -(-rest * run).div_euclid(width),
    };
    from.value.saturating_add(whole.saturating_mul(run)).saturating_add(rest)
}

/// The points that lie above the line of their neighbours: without them slopes do not fall.
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

/// Compares `rise ÷ width` of two lines of width above 0, exactly.
fn compare_slopes(a: (i128, u64), b: (i128, u64)) -> Ordering {
    let (a_width, b_width) = (i128::from(a.1), i128::from(b.1));
    let whole = a.0.div_euclid(a_width).cmp(&b.0.div_euclid(b_width));
    // Rests are below the widths, so their cross products are below 10^30.
    whole.then((a.0.rem_euclid(a_width) * b_width).cmp(&(b.0.rem_euclid(b_width) * a_width)))
}

/// `100 × (1 − value ÷ size)`, rounded up.
fn gap_up(value: i128, size: u64) -> Percent {
    Percent(-(value - i128::from(size) * ONE_E8).div_euclid(i128::from(size)))
}

/// The same, rounded down.
fn gap_down(value: i128, size: u64) -> Percent {
    Percent((i128::from(size) * ONE_E8 - value).div_euclid(i128::from(size)))
}

#[cfg(test)]
mod tests;
