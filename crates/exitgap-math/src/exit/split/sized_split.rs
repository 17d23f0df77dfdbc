//! A split of a size in USD whose legs are sizes as well, so that each leg is a sale that a client can request and
//! prove by itself.
//!
//! A size corresponds to an integer number of units of the token sold, so the units of sizes that add up need not add
//! up: the legs together sell at most one unit per leg less than the whole size in one sale.

use super::super::terms::Terms;
use super::{
    Chosen, ExactSplit, SplitError, SplitVenue, Worth, allot, choose, most_of_all,
    require_comparable,
};
use crate::units::{SizeUsd, UsdMicros};
use crate::wide::U256;

/// A size split over several venues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizedSplit {
    /// The size of each leg, in the order of the legs. They add up to the requested size.
    pub sizes: Vec<SizeUsd>,
    /// The split. Each leg sells exactly the amount of its size.
    pub split: ExactSplit,
}

/// Splits `size` over the venues, which must all sell the same token. The result is never worse than the best single
/// venue.
///
/// Works for every size up to [`largest_split`], unless its units are too coarse to be divided.
pub fn split_size(venues: &[SplitVenue<'_>], size: SizeUsd) -> Result<SizedSplit, SplitError> {
    require_comparable(venues)?;
    if !venues.iter().all(SplitVenue::has_gap) {
        return Err(SplitError::GapOutOfRange);
    }
    let terms = &venues[0].exit.terms;
    let beyond = || SplitError::BeyondLiquidity { max_amount_in: most_of_all(venues) };
    let amount_in = terms.amount_in(size).ok_or_else(beyond)?;
    if amount_in.is_zero() {
        return Err(SplitError::NoInput);
    }
    let worth = Worth::from_venues(venues);
    let chosen = choose(venues, &worth, amount_in)?;
    let split = in_sizes(venues, terms, size, &chosen.amounts)
        .map(|micros| report(venues, &worth, amount_in, &chosen, &micros));
    // Converting amounts to sizes may lose more than the split gained.
    let alone = |venue: usize| {
        let whole = (0..venues.len()).map(|at| if at == venue { size.micros() } else { 0 });
        report(venues, &worth, amount_in, &chosen, &whole.collect::<Vec<_>>())
    };
    let found = split.transpose()?;
    let best = match &found {
        Some(found) => &found.split.alone,
        None => &worth.report(venues, amount_in, &chosen)?.alone,
    };
    let best = (0..venues.len()).filter_map(|at| Some((best[at]?, at))).min();
    match (found, best) {
        (Some(found), None) => Ok(found),
        (Some(found), Some((gap, _))) if found.split.gap <= gap => Ok(found),
        (_, Some((_, venue))) => alone(venue),
        (None, None) => Err(SplitError::NoOutput),
    }
}

/// The largest size that these venues take together; 0 if there are none or they sell different tokens.
pub fn largest_split(venues: &[SplitVenue<'_>]) -> UsdMicros {
    if require_comparable(venues).is_err() {
        return UsdMicros(0);
    }
    let most = |venue: &SplitVenue<'_>| most_of(venue, &venues[0].exit.terms);
    let sum = venues.iter().map(most).fold(0, u64::saturating_add);
    UsdMicros(sum.min(SizeUsd::MAX.micros()))
}

/// The largest size that one venue takes, in micro-dollars.
fn most_of(venue: &SplitVenue<'_>, terms: &Terms) -> u64 {
    let (most, paid) = venue.exit.curve().most();
    if paid.is_zero() { 0 } else { terms.largest_size_within(most) }
}

/// Converts amounts by venue to sizes that add up to `size`; `None` if the venues do not take these.
fn in_sizes(
    venues: &[SplitVenue<'_>],
    terms: &Terms,
    size: SizeUsd,
    amounts: &[U256],
) -> Option<Vec<u64>> {
    let most: Vec<u64> = venues.iter().map(|venue| most_of(venue, terms)).collect();
    let largest = (0..amounts.len()).max_by_key(|at| amounts[*at])?;
    let mut sizes = vec![0; amounts.len()];
    let mut left = size.micros();
    for at in (0..amounts.len()).filter(|at| *at != largest) {
        let own = size_of(terms, amounts[at]).min(most[at]).min(left);
        if own >= SizeUsd::MIN.micros() && is_paid(&venues[at], terms, own) {
            sizes[at] = own;
            left -= own;
        }
    }
    // The largest leg takes the remainder. If it is full, the others do.
    for at in core::iter::once(largest).chain(0..amounts.len()) {
        let room = most[at].saturating_sub(sizes[at]).min(left);
        if sizes[at] + room >= SizeUsd::MIN.micros() {
            sizes[at] += room;
            left -= room;
        }
    }
    let is_sold = |(venue, own): (&SplitVenue<'_>, &u64)| *own == 0 || is_paid(venue, terms, *own);
    (left == 0 && venues.iter().zip(&sizes).all(is_sold)).then_some(sizes)
}

/// The size of this amount: the smallest one with exactly this amount, or, if amounts are finer than sizes, the largest
/// one that does not exceed it.
fn size_of(terms: &Terms, amount: U256) -> u64 {
    if amount.is_zero() {
        return 0;
    }
    let least = terms.largest_size_within(amount - U256::ONE).saturating_add(1);
    let most = terms.largest_size_within(amount);
    least.min(most)
}

fn is_paid(venue: &SplitVenue<'_>, terms: &Terms, micros: u64) -> bool {
    let amount = SizeUsd::from_micros(micros).ok().and_then(|size| terms.amount_in(size));
    let paid = amount.and_then(|amount| allot::paid(venue.exit.curve(), amount));
    paid.is_some_and(|paid| !paid.is_zero())
}

/// The result for sizes by venue. The bound is for the whole amount, and the legs sell at most that.
fn report(
    venues: &[SplitVenue<'_>],
    worth: &Worth,
    whole: U256,
    chosen: &Chosen,
    micros: &[u64],
) -> Result<SizedSplit, SplitError> {
    let size = |micros: &u64| SizeUsd::from_micros(*micros).ok();
    let sizes: Vec<Option<SizeUsd>> = micros.iter().map(size).collect();
    let terms = &venues[0].exit.terms;
    let amount = |size: &Option<SizeUsd>| size.and_then(|size| terms.amount_in(size));
    let amounts: Vec<U256> = sizes.iter().map(|size| amount(size).unwrap_or(U256::ZERO)).collect();
    let value = worth.value(venues, &amounts);
    let (value, bound) = (value, chosen.bound);
    let split = worth.report(venues, whole, &Chosen { amounts, bound, value })?;
    Ok(SizedSplit { sizes: sizes.into_iter().flatten().collect(), split })
}

#[cfg(test)]
#[path = "sized_tests.rs"]
mod tests;
