//! Finds by secants where a segment's formula without rounding meets the limit. A bisection needs about a hundred
//! steps, which takes too long if each step is itself an iteration.
//!
//! Per unit of the amount, the difference between the output's weight and the limit is almost linear. The next amount
//! is the zero of the line through the last two. Between a passing and a failing amount, the endpoint that stays longer
//! is weighted by one half (the Illinois algorithm). Whichever amounts are tried, a failing amount rules out all larger
//! ones.

use super::search::{BudgetExhausted, Search};
use crate::wide::{U256, U1024, narrow};

/// An amount from the start of the sale, and its output without rounding.
#[derive(Debug, Clone, Copy)]
struct Point {
    amount: U256,
    fails: bool,
    /// The difference between the output's weight and the limit.
    distance: U1024,
}

impl Search<'_> {
    /// The number of secant steps before bisection is used.
    const SECANTS: u32 = 40;

    /// An amount at or above every passing amount of segment `index`, which must start with the sale, up to `high`.
    pub(super) fn bound_by_secants(
        &mut self,
        index: usize,
        high: U256,
    ) -> Result<U256, BudgetExhausted> {
        let mut above = self.point(index, high)?;
        if !above.fails {
            return Ok(high - U256::ONE);
        }
        let mut below = Point { amount: U256::ZERO, fails: false, distance: U1024::ZERO };
        let (mut before, mut tried, mut failed_last) = (None, 0, false);
        while above.amount - below.amount > U256::ONE {
            let halves = below.amount + ((above.amount - below.amount) >> 1);
            let guess = if tried >= Self::SECANTS {
                None
            } else if below.amount.is_zero() {
                before.and_then(|before| beyond(&above, &before))
            } else {
                between(&below, &above)
            };
            let guess = guess.unwrap_or(halves);
            let guess = guess.clamp(below.amount + U256::ONE, above.amount - U256::ONE);
            let found = self.point(index, guess)?;
            if found.fails {
                if failed_last && tried > 1 {
                    below.distance = below.distance >> 1;
                }
                before = Some(above);
                above = found;
            } else {
                if !failed_last {
                    above.distance = above.distance >> 1;
                }
                below = found;
            }
            failed_last = found.fails;
            tried += 1;
        }
        Ok(above.amount - U256::ONE)
    }

    fn point(&mut self, index: usize, amount: U256) -> Result<Point, BudgetExhausted> {
        self.count()?;
        let (out_weight, in_weight) = self.threshold.weights();
        let pays = U1024::from(self.curve.ideal_within(index, amount)) * out_weight;
        let asks = (U1024::from(amount) << 64) * in_weight;
        let fails = pays < asks;
        let distance = if fails { asks - pays } else { pays - asks };
        Ok(Point { amount, fails, distance })
    }
}

/// The differences per unit of two amounts, scaled by a common factor that leaves room for a product.
fn per_unit(one: &Point, other: &Point) -> (U1024, U1024) {
    let excess = one.distance.max(other.distance).bit_len().saturating_sub(256);
    let of =
        |point: &Point, beside: &Point| (point.distance >> excess) * U1024::from(beside.amount);
    (of(one, other), of(other, one))
}

/// The zero of the line through a passing and a failing amount.
fn between(below: &Point, above: &Point) -> Option<U256> {
    let (over, under) = per_unit(below, above);
    let room = U1024::from(above.amount - below.amount);
    let step = (room * over).checked_div(over + under)?;
    Some(below.amount + narrow(step)?)
}

/// The zero of the line through two failing amounts, below both.
fn beyond(near: &Point, far: &Point) -> Option<U256> {
    let (of_near, of_far) = per_unit(near, far);
    let fall = of_far.checked_sub(of_near)?;
    let step = (U1024::from(far.amount - near.amount) * of_near).checked_div(fall)?;
    let left = U1024::from(near.amount).checked_sub(step)?;
    narrow(left).filter(|left| !left.is_zero())
}
