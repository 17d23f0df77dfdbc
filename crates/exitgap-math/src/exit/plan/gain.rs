//! What the use of one direction of a pool gains at most, if units have given values.
//!
//! Kinds with a closed formula have their own. The others here have a single formula `G(d)` for what they pay without
//! roundings, which is concave. The gain `p·G(d) − q·d` is computed at a few amounts around its maximum. Between two
//! neighbours it is below the lines through each of them and the neighbour on its other side.

use super::network::NetworkPool;
use crate::exit::concave::{Point, most_between};
use crate::pools::{Direction, SaleCurve, UnitValues};
use crate::wide::{U256, U1024};

/// The formula is computed to `2^-64` of a unit bought; its roundings are less than `2^-32`.
const FRACTION: usize = 64;
const ROUNDING: u64 = 1 << 32;
/// The maximum is found to this many bits.
const PLACES: usize = 20;

/// At least the most that any amount gains, in the unit of the values; `None` if the pool's law is not known.
pub(super) fn most_gain(
    pool: &NetworkPool<'_>,
    direction: Direction,
    values: UnitValues,
) -> Option<U1024> {
    let closed = pool.priced.state.most_gain(direction, values);
    if closed.is_some() {
        return closed;
    }
    let curve = pool.curve(direction);
    let is_known = pool.is_concave(direction) && curve.segment_count() == 1;
    is_known.then(|| Formula { curve, values }.most_gain())
}

struct Formula<'c> {
    curve: &'c SaleCurve,
    values: UnitValues,
}

impl Formula<'_> {
    /// `p·G(d)`, times `2^64`.
    fn paid(&self, amount: U256) -> U1024 {
        U1024::from(self.curve.ideal_within(0, amount)) * U1024::from(self.values.bought)
    }

    /// `q·d`, times `2^64`.
    fn cost(&self, amount: U256) -> U1024 {
        (U1024::from(amount) * U1024::from(self.values.sold)) << FRACTION
    }

    /// Whether the step from one amount to a larger one gains.
    fn rises(&self, from: U256, to: U256) -> bool {
        let more = self.paid(to).checked_sub(self.paid(from)).unwrap_or(U1024::ZERO);
        more >= self.cost(to - from)
    }

    /// An amount near the maximum, by its leading bits: each is set if the step to the amount still gains.
    fn near_maximum(&self) -> U256 {
        let reached = |amount: U256| {
            let step = (amount >> PLACES).max(U256::ONE);
            self.rises(amount - step, amount)
        };
        let mut top: usize = 0;
        while top < 240 && reached(U256::ONE << top) {
            top += 1;
        }
        let mut amount = U256::ZERO;
        for bit in (top.saturating_sub(PLACES)..top).rev() {
            let next = amount + (U256::ONE << bit);
            if reached(next) {
                amount = next;
            }
        }
        amount
    }

    fn most_gain(&self) -> U1024 {
        let near = self.near_maximum();
        let step = (near >> PLACES).max(U256::ONE);
        let below = [2_usize, 1, 0].map(|k| near.saturating_sub(step << k).min(near));
        let mut places = vec![U256::ZERO];
        places.extend(below);
        places.extend([near, near + step, near + (step << 1), near + (step << 2)]);
        places.dedup();
        // The last step must lose, so that everything beyond it does.
        while let [.., before, last] = places.as_slice() {
            let lost = self.paid(*last) + U1024::from(self.values.bought) * U1024::from(ROUNDING);
            if lost <= self.paid(*before) + self.cost(*last - *before) || last.bit_len() > 255 {
                break;
            }
            let next = *last << 1;
            places.push(next);
        }
        let end = places.last().copied().unwrap_or(U256::ZERO);
        let points: Vec<Point> = places.iter().map(|at| self.point(*at, end)).collect();
        let most = most_between(&points);
        let gain = most.checked_sub(self.cost(end)).unwrap_or(U1024::ZERO);
        gain.div_ceil(U1024::ONE << FRACTION)
    }

    /// The gain at an amount plus `q` times the distance to a common end, which keeps it positive.
    fn point(&self, at: U256, end: U256) -> Point {
        let (paid, kept) = (self.paid(at), self.cost(end - at));
        let rounding = U1024::from(self.values.bought) * U1024::from(ROUNDING);
        let low = paid.checked_sub(rounding).unwrap_or(U1024::ZERO) + kept;
        Point { at, low, high: paid + kept }
    }
}
