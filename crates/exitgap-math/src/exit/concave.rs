//! The maximum of a concave function that is known at a few points, each between a lower and an upper bound.

use crate::wide::{U256, U1024};

/// A point of the function: the argument, and the lower and the upper bound of the value there.
pub(super) struct Point {
    pub at: U256,
    pub low: U1024,
    pub high: U1024,
}

/// An upper bound for the function between the first and the last point, which ascend: between two points it is below
/// the lines through each of them and the neighbour on its other side.
pub(super) fn most_between(points: &[Point]) -> U1024 {
    // The line through `near` and the point on its other side, at the distance `width`.
    let beyond = |near: usize, far: usize, width: U256| {
        let rise = points[near].high.checked_sub(points[far].low).unwrap_or(U1024::ZERO);
        let run = points[near].at.abs_diff(points[far].at);
        points[near].high + (rise * U1024::from(width)).div_ceil(U1024::from(run))
    };
    let mut most = points.iter().map(|point| point.high).max().unwrap_or(U1024::ZERO);
    for left in 0..points.len().saturating_sub(1) {
        let right = left + 1;
        let width = points[right].at - points[left].at;
        if width == U256::ONE {
            continue;
        }
        let from_left = left.checked_sub(1).map(|far| beyond(left, far, width));
        let from_right = (right + 1 < points.len()).then(|| beyond(right, right + 1, width));
        if let Some(between) = from_left.into_iter().chain(from_right).min() {
            most = most.max(between);
        }
    }
    most
}
