//! An upper bound for the output of any split.
//!
//! For any price λ per unit sold, the output of a split of `N` units over `n` venues is at most
//! `Σ max (w·F(x) + λ·(N − x)) − (n − 1)·λ·N`, where `F` is a venue's output without rounding. Each maximum is bounded
//! using points of the curve: `F` is concave and lies between the pool's output and the output that its segments'
//! formula allows, so between two points it is below the lines through their neighbours. The bound is valid for any λ,
//! and tighter the closer λ is to the price at which the venues meet.

use super::{WeightedVenue, allot::paid};
use crate::exit::concave::{Point, most_between};
use crate::pools::{FeeRate, SaleCurve};
use crate::stable_sort::sort;
use crate::wide::{U256, U1024};

/// The distances of the points from a venue's part: `2^-k` of the amount.
const DISTANCES: [usize; 9] = [2, 5, 8, 11, 14, 17, 20, 23, 26];
/// The distance over which a venue's price is measured.
const PRICE_DISTANCE: usize = 14;

/// The bound in weights × 2^64.
pub(super) fn bound(venues: &[WeightedVenue<'_>], parts: &[U256], amount: U256) -> U1024 {
    let each = || venues.iter().zip(parts);
    let curves: Vec<_> = each().map(|(venue, part)| points(venue, *part, amount)).collect();
    let mut prices: Vec<_> = each()
        .filter(|(_, part)| !part.is_zero())
        .map(|(venue, part)| price(venue, *part, amount))
        .collect();
    sort(&mut prices, Ord::cmp);
    let middle = prices.get(prices.len() / 2).copied().unwrap_or(U1024::ZERO);
    let largest = each().max_by_key(|(_, part)| **part);
    let largest = largest.map_or(middle, |(venue, part)| price(venue, *part, amount));
    let at_middle = at_price(&curves, amount, middle);
    if largest == middle { at_middle } else { at_middle.min(at_price(&curves, amount, largest)) }
}

fn at_price(curves: &[Vec<Point>], amount: U256, price: U1024) -> U1024 {
    let sum = curves.iter().fold(U1024::ZERO, |sum, points| sum + most(points, amount, price));
    let counted_twice = price * U1024::from(amount) * U1024::from(curves.len() as u64 - 1);
    sum.checked_sub(counted_twice).unwrap_or(U1024::ZERO)
}

/// The price around a venue's part, in weights × 2^64 per unit.
fn price(venue: &WeightedVenue<'_>, part: U256, amount: U256) -> U1024 {
    let distance = (amount >> PRICE_DISTANCE).max(U256::ONE);
    let below = part.saturating_sub(distance);
    let above = part.saturating_add(distance).min(amount);
    let (above, out) = match paid(venue.curve, above) {
        Some(out) => (above, out),
        None => (part, paid(venue.curve, part).unwrap_or(U256::ZERO)),
    };
    let out_below = paid(venue.curve, below).unwrap_or(U256::ZERO);
    let more = U1024::from(out.saturating_sub(out_below)) * U1024::from(venue.low);
    (more << 64) / U1024::from((above - below).max(U256::ONE))
}

/// Points of a venue's curve from zero to the maximum that a split can sell there.
fn points(venue: &WeightedVenue<'_>, part: U256, amount: U256) -> Vec<Point> {
    let most = match paid(venue.curve, amount) {
        Some(_) => amount,
        None => venue.curve.most().0.min(amount),
    };
    let mut places = vec![U256::ZERO, part.min(most), most >> 1, most];
    for distance in DISTANCES.map(|k| (amount >> k).max(U256::ONE)) {
        places.push(part.saturating_sub(distance).min(most));
        places.push(part.saturating_add(distance).min(most));
    }
    sort(&mut places, Ord::cmp);
    places.dedup();
    places.into_iter().map(|at| point(venue, at)).collect()
}

fn point(venue: &WeightedVenue<'_>, at: U256) -> Point {
    let low = U1024::from(paid(venue.curve, at).unwrap_or(U256::ZERO));
    let low = (low * U1024::from(venue.low)) << 64;
    Point { at, low, high: unrounded_output(venue.curve, at) * U1024::from(venue.high) }
}

/// The maximum output of the curve without rounding, × 2^64.
pub(super) fn unrounded_output(curve: &SaleCurve, amount: U256) -> U1024 {
    if amount.is_zero() {
        return U1024::ZERO;
    }
    // The last segment that starts before the amount.
    let (mut low, mut high) = (0, curve.segment_count().max(1));
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if curve.segment(middle).in_start < amount { low = middle } else { high = middle }
    }
    let segment = curve.segment(low);
    let least_at = |index: usize, out: U256| {
        (U1024::from(out) + U1024::from(curve.rounding_before(index))) << 64
    };
    let within = U1024::from(curve.ideal_within(low, amount.saturating_sub(segment.in_start)));
    let within = least_at(low, segment.out_start) + within;
    // Segments end earlier than the sum of their amounts, because each amount is rounded up. The following segment may
    // be deeper.
    let next = low + 1;
    if next == curve.segment_count() || segment.in_end - amount >= rounded_up(curve, next) {
        return within;
    }
    within.max(least_at(next, segment.out_end))
}

/// The maximum number of units by which rounding increases the amounts of this many segments: each amount is rounded
/// up, and so is its fee.
fn rounded_up(curve: &SaleCurve, segments: usize) -> U256 {
    let FeeRate { numerator, denominator } = curve.least_fee();
    let each = denominator.div_ceil((denominator - numerator).max(1)).saturating_add(1);
    U256::from(each.saturating_mul(segments as u64))
}

/// At least `max (w·F(x) + price·(N − x))` over the curve.
fn most(points: &[Point], amount: U256, price: U1024) -> U1024 {
    let kept = |point: &Point| price * U1024::from(amount - point.at);
    let with_kept = |point: &Point| Point {
        at: point.at,
        low: point.low + kept(point),
        high: point.high + kept(point),
    };
    most_between(&points.iter().map(with_kept).collect::<Vec<_>>())
}
