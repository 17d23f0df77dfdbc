//! The split: steps of an amount go where each brings most, then smaller ones.
//!
//! After each size of step every venue gives its last step back, which is enough for the next size
//! to find the best again where payments are concave (Hochbaum, *Lower and upper bounds for the
//! allocation problem*, 1994).

use super::WeightedVenue;
use crate::pools::{FillError, SaleCurve};
use crate::wide::{U256, U512, product};

/// The first step is the amount's 2^-6, the last its 2^-22, or one unit. What a step of relative
/// size ε misses grows with ε²: far below a unit where a token has eighteen decimals or fewer.
const FIRST_STEP: usize = 6;
const LAST_STEP: usize = 22;

/// What a venue pays for an amount: nothing for nothing or for what rounds to nothing; `None` where
/// it does not take it.
pub(super) fn paid(curve: &SaleCurve, amount: U256) -> Option<U256> {
    match curve.fill(amount) {
        Ok(fill) => Some(fill.amount_out),
        Err(FillError::ZeroInput | FillError::ZeroOutput) => Some(U256::ZERO),
        Err(FillError::BeyondLiquidity { .. }) => None,
    }
}

/// What each venue sells. Adds up to the amount, pays something on every leg, and is never worth
/// less than any venue alone. `None` where they do not take it.
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

/// A venue while steps are handed out.
struct Taker<'a> {
    venue: WeightedVenue<'a>,
    part: U256,
    worth: U512,
    /// What one more step is worth together with what it has; `None` where it does not take it.
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

    /// What one more step brings; a step that brings less than nothing, by a rounding, brings nothing.
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
    // What is left now no venue takes whole.
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

/// Hands steps to whom each brings most, while one is left and someone takes it.
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

/// Legs that are paid nothing, which contracts refuse, are sold with the largest other one; where that is refused
/// itself, some of it with another.
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
    // Some contracts refuse single amounts, and not those beside them.
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
