//! The split: assigns steps of the amount to the venues with the highest gain, then repeats with smaller steps.
//!
//! After each step size every venue returns its last step. For concave outputs this is enough for the next step size to
//! find the optimum again (Hochbaum, *Lower and upper bounds for the allocation problem*, 1994).

use super::WeightedVenue;
use crate::pools::{FillError, SaleCurve};
use crate::wide::{U256, U512, product};

/// The first step is 2^-6 of the amount, the last one 2^-22, or one unit. The loss caused by a relative step size ε
/// grows with ε²: for a token with at most eighteen decimals it is far below one unit.
const FIRST_STEP: usize = 6;
const LAST_STEP: usize = 22;

/// A venue's output for an amount: zero for zero or for an amount that rounds to nothing; `None` if the venue cannot
/// take the amount.
pub(super) fn paid(curve: &SaleCurve, amount: U256) -> Option<U256> {
    match curve.fill(amount) {
        Ok(fill) => Some(fill.amount_out),
        Err(FillError::ZeroInput | FillError::ZeroOutput) => Some(U256::ZERO),
        Err(FillError::BeyondLiquidity { .. }) => None,
    }
}

/// The amount that each venue sells. The amounts add up to the total, every leg pays something, and the result is never
/// worth less than any single venue. `None` if the venues cannot take the total.
pub(super) fn allot(venues: &[WeightedVenue<'_>], amount: U256) -> Option<Vec<U256>> {
    let split = in_steps(venues, amount).and_then(|parts| without_unpaid(venues, parts));
    let mut best = split.map(|parts| (worth_of(venues, &parts), parts));
    for (at, venue) in venues.iter().enumerate() {
        let Some(out) = paid(venue.curve, amount).filter(|out| !out.is_zero()) else { continue };
        let worth = product(out, venue.low);
        if best.as_ref().is_none_or(|(known, _)| worth > *known) {
            let mut parts = vec![U256::ZERO; venues.len()];
            parts[at] = amount;
            best = Some((worth, parts));
        }
    }
    best.map(|(_, parts)| parts)
}

fn worth_at(venue: &WeightedVenue<'_>, amount: U256) -> Option<U512> {
    Some(product(paid(venue.curve, amount)?, venue.low))
}

fn worth_of(venues: &[WeightedVenue<'_>], parts: &[U256]) -> U512 {
    let worth = |(venue, part): (&WeightedVenue<'_>, &U256)| worth_at(venue, *part);
    venues.iter().zip(parts).filter_map(worth).fold(U512::ZERO, |sum, worth| sum + worth)
}

/// A venue while steps are assigned.
struct Taker<'a> {
    venue: WeightedVenue<'a>,
    part: U256,
    worth: U512,
    /// The value of its amount plus one more step; `None` if it cannot take that.
    next: Option<U512>,
}

impl<'a> Taker<'a> {
    fn new(venue: WeightedVenue<'a>) -> Self {
        Self { venue, part: U256::ZERO, worth: U512::ZERO, next: None }
    }

    fn look(&mut self, step: U256) {
        let next = self.part.checked_add(step);
        self.next = next.and_then(|next| worth_at(&self.venue, next));
    }

    fn set(&mut self, part: U256) {
        self.part = part;
        self.worth = worth_at(&self.venue, part).unwrap_or(U512::ZERO);
    }

    /// The gain of one more step. A step that loses value through rounding has no gain.
    fn gain(&self) -> Option<U512> {
        Some(self.next?.checked_sub(self.worth).unwrap_or(U512::ZERO))
    }
}

fn in_steps(venues: &[WeightedVenue<'_>], amount: U256) -> Option<Vec<U256>> {
    let mut takers: Vec<_> = venues.iter().map(|venue| Taker::new(*venue)).collect();
    let mut left = amount;
    for scale in FIRST_STEP..=LAST_STEP {
        let step = (amount >> scale).max(U256::ONE);
        left = hand_out(&mut takers, left, step);
        if scale == LAST_STEP || step == U256::ONE {
            break;
        }
        for taker in takers.iter_mut().filter(|taker| taker.part >= step) {
            taker.set(taker.part - step);
            left += step;
        }
    }
    if !left.is_zero() {
        left = hand_out(&mut takers, left, left);
    }
    // No venue can take the whole remainder.
    for taker in &mut takers {
        if left.is_zero() {
            break;
        }
        let room = taker.venue.curve.most().0.saturating_sub(taker.part).min(left);
        taker.set(taker.part + room);
        left -= room;
    }
    left.is_zero().then(|| takers.iter().map(|taker| taker.part).collect())
}

/// Assigns steps to the venue with the highest gain while a step is left and a venue takes it. Returns the remainder.
fn hand_out(takers: &mut [Taker<'_>], mut left: U256, step: U256) -> U256 {
    for taker in takers.iter_mut() {
        taker.look(step);
    }
    while left >= step {
        let mut best: Option<(U512, usize)> = None;
        for (at, taker) in takers.iter().enumerate() {
            let Some(gain) = taker.gain() else { continue };
            if best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, at));
            }
        }
        let Some((_, at)) = best else { break };
        let taker = &mut takers[at];
        taker.part += step;
        taker.worth = taker.next.unwrap_or(taker.worth);
        taker.look(step);
        left -= step;
    }
    left
}

/// Moves legs that would pay nothing, which contracts refuse, to the largest other leg. If that is refused, moves a
/// part of it to another leg.
fn without_unpaid(venues: &[WeightedVenue<'_>], mut parts: Vec<U256>) -> Option<Vec<U256>> {
    let is_paid =
        |at: usize, part: U256| paid(venues[at].curve, part).is_some_and(|out| !out.is_zero());
    let largest = (0..parts.len()).max_by_key(|at| parts[*at])?;
    for at in 0..parts.len() {
        if at != largest && !parts[at].is_zero() && !is_paid(at, parts[at]) {
            let part = core::mem::replace(&mut parts[at], U256::ZERO);
            parts[largest] += part;
        }
    }
    let whole = parts[largest];
    if is_paid(largest, whole) {
        return Some(parts);
    }
    // Some contracts refuse single amounts but not the amounts next to them.
    for moved in (0..whole.bit_len()).map(|bit| U256::ONE << bit) {
        let rest = whole - moved;
        if !rest.is_zero() && !is_paid(largest, rest) {
            continue;
        }
        let takes = |at: &usize| *at != largest && is_paid(*at, parts[*at].saturating_add(moved));
        if let Some(other) = (0..parts.len()).find(takes) {
            parts[largest] = rest;
            parts[other] += moved;
            return Some(parts);
        }
    }
    None
}
