//! Where a segment's formula without rounding meets the limit, by secants: a bisection of a hundred
//! steps takes too long where each is an iteration of its own.
//!
//! What an amount's output weighs more or less than the limit asks, per unit of the amount, is
//! nearly a straight line. The next amount is where the line through the last two says it is zero;
//! between an amount that passes and one that fails, the one that stays longer counts half (the
//! Illinois rule). Whatever amounts are chosen, what fails rules out all above it.

use super::search::{BudgetExhausted, Search};
use crate::wide::{U256, U1024, narrow};

/// An amount from the start of the sale, and what it pays without rounding.
#[derive(Debug, Clone, Copy)]
struct Point {
    amount: U256,
    fails: bool,
    /// How much its output weighs more or less than the limit asks.
    distance: U1024,
}

impl Search<'_> {
    /// Amounts tried before the rest is halved.
    const SECANTS: u32 = 40;

    /// An amount at or above every passing one of segment `index`, which starts with the sale, up
    /// to `high`.
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

/// What each of two amounts is off, per unit, times a number that both share and which leaves room
/// for a product.
fn per_unit(one: &Point, other: &Point) -> (U1024, U1024) {
    let excess = one.distance.max(other.distance).bit_len().saturating_sub(256);
    let of =
        |point: &Point, beside: &Point| (point.distance >> excess) * U1024::from(beside.amount);
    (of(one, other), of(other, one))
}

/// Where the line through an amount that passes and one that fails is zero.
fn between(below: &Point, above: &Point) -> Option<U256> {
    let (over, under) = per_unit(below, above);
    let room = U1024::from(above.amount - below.amount);
    let step = (room * over).checked_div(over + under)?;
    Some(below.amount + narrow(step)?)
}

/// Where the line through two amounts that fail is zero, below both.
fn beyond(near: &Point, far: &Point) -> Option<U256> {
    let (of_near, of_far) = per_unit(near, far);
    let fall = of_far.checked_sub(of_near)?;
    let step = (U1024::from(far.amount - near.amount) * of_near).checked_div(fall)?;
    let left = U1024::from(near.amount).checked_sub(step)?;
    narrow(left).filter(|left| !left.is_zero())
}
