//! Splits one exit over the venues of one slot: the amount for each venue, the contract's exact fill of each leg, and a
//! bound on the difference to the best split.
//!
//! - `allot`: the split itself, one step size at a time
//! - `bound`: an upper bound for any split, from the venues' curves without rounding
//! - `sized_split`: a split of a size in USD, whose legs are sizes as well
//!
//! The split is not necessarily the best one. The certificate states how close it is, and is reliable: no split of the
//! same amount over the same venues has a higher output than the bound. It requires concave curves, so a venue whose
//! curve may not be concave (see [`SplitError::NotConcave`]) is refused.

mod allot;
mod bound;
mod sized_split;

use super::terms::shortfall;
use super::{Exit, MAX_ROUTE_VENUES, PricedPool, Refusal};
use crate::pools::SaleCurve;
use crate::units::{Percent, SizeUsd, UsdMicros, UsdPrice};
use crate::wide::{U256, U1024, narrow, power_of_ten};

pub use sized_split::{SizedSplit, largest_split, split_size};

/// The number of bits of a weight in comparisons. The reported gap uses the full weights.
const WEIGHT_BITS: usize = 160;

/// A venue: one direction of a pool, and the value of its tokens.
#[derive(Debug, Clone)]
pub struct SplitVenue<'a> {
    exit: &'a Exit,
    base: (UsdPrice, u8),
    quote: (UsdPrice, u8),
    fixed_cost: UsdMicros,
}

/// Why venues are not a valid request, or have no result. Venues are counted from 0 in the given order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// There are no venues, or more than the maximum.
    #[error("{found} venues given; the number must be from 1 to {most}", most = MAX_ROUTE_VENUES)]
    Venues {
        /// The number of venues found.
        found: usize,
    },
    /// The venue's output may not be concave in the amount: its fee depends on the sale, its formula has branches, or
    /// it is not known to be concave for this kind. No bound would be reliable.
    #[error(
        "venue {venue} does not always pay less for each further unit, so no bound on a split is valid"
    )]
    NotConcave {
        /// The venue.
        venue: usize,
    },
    /// The token sold has another price or other decimals than at the first venue.
    #[error(
        "venue {venue} differs from venue 0 in the oracle price or the decimals of the token sold"
    )]
    BaseDiffers {
        /// The venue.
        venue: usize,
    },
    /// The amount is zero.
    #[error("the amount is zero")]
    NoInput,
    /// No split of the amount pays something on every leg.
    #[error("the venues would pay less than one unit on one of the legs")]
    NoOutput,
    /// All venues together cannot take the amount.
    #[error("the venues together take at most {max_amount_in} units")]
    BeyondLiquidity {
        /// The amount that all venues take, in raw units of the token sold.
        max_amount_in: U256,
    },
    /// The gap is too large for a percentage.
    #[error(
        "the oracle price and the pool prices are too far apart for a percentage; one of them must be wrong"
    )]
    GapOutOfRange,
}

impl SplitError {
    /// The stable code, for example `not_concave`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Venues { .. } => "venues_out_of_range",
            Self::NotConcave { .. } => "not_concave",
            Self::BaseDiffers { .. } => "oracle_differs",
            Self::NoInput => "rounds_to_no_input",
            Self::NoOutput => "rounds_to_no_output",
            Self::BeyondLiquidity { .. } => "beyond_liquidity",
            Self::GapOutOfRange => "gap_out_of_range",
        }
    }
}

/// The part of an exit that one venue sells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitLeg {
    /// The venue's index in the given order, from 0.
    pub venue: usize,
    /// Raw units of the token sold.
    pub amount_in: U256,
    /// Raw units of the token bought, as the contract pays them.
    pub amount_out: U256,
    /// The gap of this leg. Positive is worse than the oracle price.
    pub gap: Percent,
}

/// An exit split over several venues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactSplit {
    /// The legs of the used venues, in the order of the venues. Their amounts add up to the requested amount.
    pub legs: Vec<SplitLeg>,
    /// The gap of all legs together, including the fixed costs of the used venues.
    pub gap: Percent,
    /// No split of this amount over these venues has a gap that is lower by more than this. Rounded up, never negative.
    pub optimality_gap: Percent,
    /// The fixed costs of the venues used.
    pub fixed_cost: UsdMicros,
    /// The gap if a single venue fills the whole amount, including its fixed cost, in the order of the venues; `None`
    /// if the venue cannot take it.
    pub alone: Vec<Option<Percent>>,
}

impl<'a> SplitVenue<'a> {
    /// A venue whose pool has these prices. `fixed_cost` is the cost of using it at all, whatever the amount.
    pub fn from_pool<'p>(
        pool: impl Into<PricedPool<'p>>,
        exit: &'a Exit,
        fixed_cost: UsdMicros,
    ) -> Self {
        let PricedPool { decimals, usd, .. } = pool.into();
        Self::new(exit, decimals, usd, fixed_cost)
    }

    /// A venue. `decimals` and `usd` are those of the pool's token 0 and token 1.
    pub fn new(
        exit: &'a Exit,
        decimals: [u8; 2],
        usd: &[UsdPrice; 2],
        fixed_cost: UsdMicros,
    ) -> Self {
        let [base, quote] = [exit.direction().base_index(), exit.direction().quote_index()]
            .map(|index| (usd[index], decimals[index].min(36)));
        Self { exit, base, quote, fixed_cost }
    }

    /// Whether a split may use it: every further unit pays no more than the previous one, except for rounding.
    pub fn is_concave(&self) -> bool {
        self.exit.curve().is_sized() && !self.exit.curve().divides()
    }

    /// Whether a sale there has a gap: the pool price and the oracle price are close enough for a percentage.
    pub fn has_gap(&self) -> bool {
        !self.exit.has_no_gap()
    }

    /// Whether the token sold has the same oracle price and the same number of decimals at both venues.
    pub fn sells_alike(&self, other: &Self) -> bool {
        self.base == other.base
    }

    /// The gap if this venue fills all of `size`, including its fixed cost.
    pub fn alone(&self, size: SizeUsd) -> Result<Percent, Refusal> {
        let estimate = self.exit.estimate(size)?;
        if self.fixed_cost.0 == 0 {
            return Ok(estimate.gap);
        }
        let worth = Worth::from_venues(core::slice::from_ref(self));
        let value = U1024::from(estimate.amount_out) * worth.quotes[0];
        let gap = worth.gap(estimate.amount_in, value, self.fixed_cost);
        gap.map_err(|_| Refusal::GapOutOfRange)
    }
}

/// The gap of a split's legs against the venues' own mid prices instead of the oracle price: one less the value bought,
/// over the value of what each leg sells, `⌊amount × mid⌋` units of the token bought there; rounded half-even. `None` if
/// the legs sell less than one such unit, or the result is too large for a percentage.
pub fn gap_from_mids(venues: &[SplitVenue<'_>], legs: &[SplitLeg]) -> Option<Percent> {
    let worth = Worth::from_venues(venues);
    let (mut bought, mut sold) = (U1024::ZERO, U1024::ZERO);
    for leg in legs {
        let (venue, weight) = (venues.get(leg.venue)?, *worth.quotes.get(leg.venue)?);
        let mid = venue.exit.curve().mid();
        let at_mid = U1024::from(leg.amount_in) * U1024::from(mid.numerator())
            / U1024::from(mid.denominator());
        // As an amount of a token, it has at most 256 bits.
        sold = sold + U1024::from(narrow(at_mid)?) * weight;
        bought = bought + U1024::from(leg.amount_out) * weight;
    }
    if sold.is_zero() { None } else { shortfall(bought, sold) }
}

/// Splits `amount_in` raw units of the token sold over the venues, which must all sell the same token. The result is
/// never worse than the best single venue.
///
/// The work is bounded: about 600 fills for 8 venues, for each combination of venues with a fixed cost.
pub fn split_exit(venues: &[SplitVenue<'_>], amount_in: U256) -> Result<ExactSplit, SplitError> {
    require_comparable(venues)?;
    if amount_in.is_zero() {
        return Err(SplitError::NoInput);
    }
    let worth = Worth::from_venues(venues);
    let chosen = choose(venues, &worth, amount_in)?;
    worth.report(venues, amount_in, &chosen)
}

/// Refuses venues that cannot be compared.
fn require_comparable(venues: &[SplitVenue<'_>]) -> Result<(), SplitError> {
    if venues.is_empty() || venues.len() > MAX_ROUTE_VENUES {
        return Err(SplitError::Venues { found: venues.len() });
    }
    if let Some(venue) = venues.iter().position(|venue| !venue.is_concave()) {
        return Err(SplitError::NotConcave { venue });
    }
    match venues.iter().position(|venue| !venue.sells_alike(&venues[0])) {
        Some(venue) => Err(SplitError::BaseDiffers { venue }),
        None => Ok(()),
    }
}

/// A venue as used in comparisons.
#[derive(Clone, Copy)]
struct WeightedVenue<'a> {
    curve: &'a SaleCurve,
    /// The value of one raw unit bought, rounded down …
    low: U256,
    /// … and rounded up.
    high: U256,
}

/// The result for a combination of venues.
struct Chosen {
    /// By venue.
    amounts: Vec<U256>,
    /// An upper bound for any split, and a lower bound for this one, in weights × 2^64.
    bound: U1024,
    value: U1024,
}

/// The values of units, expressed in one unit that all venues share.
struct Worth {
    /// The value of a raw unit bought, by venue.
    quotes: Vec<U1024>,
    /// The value of a raw unit sold.
    base: U1024,
    /// The value of a micro-dollar.
    micro: U1024,
    /// Comparisons divide weights by this and by `2^cut`.
    divisor: U1024,
    cut: usize,
}

impl Worth {
    fn from_venues(venues: &[SplitVenue<'_>]) -> Self {
        let scale = |(usd, decimals): &(UsdPrice, u8)| usd.decimals() + u32::from(*decimals);
        let sides = || venues.iter().flat_map(|venue| [&venue.base, &venue.quote]);
        // At most 108, because a price has at most 72 decimals.
        let most = sides().map(scale).max().unwrap_or(0).max(6);
        let weight = |side: &(UsdPrice, u8)| {
            U1024::from(side.0.numerator()) * power_of_ten(most - scale(side))
        };
        let quotes: Vec<_> = venues.iter().map(|venue| weight(&venue.quote)).collect();
        let (base, micro) = (weight(&venues[0].base), power_of_ten(most - 6));
        let divisor = quotes.iter().fold(base.gcd(micro), |divisor, weight| divisor.gcd(*weight));
        let longest =
            quotes.iter().chain([&base, &micro]).map(|weight| (*weight / divisor).bit_len());
        let cut = longest.max().unwrap_or(0).saturating_sub(WEIGHT_BITS);
        Self { quotes, base, micro, divisor, cut }
    }

    /// A weight for comparisons, rounded down and rounded up.
    fn round_weight(&self, weight: U1024) -> [U256; 2] {
        let low = narrow((weight / self.divisor) >> self.cut).unwrap_or(U256::MAX);
        let is_whole = (U1024::from(low) << self.cut) * self.divisor == weight;
        [low, if is_whole { low } else { low + U256::ONE }]
    }

    fn weigh_venue<'a>(&self, venue: &SplitVenue<'a>, index: usize) -> WeightedVenue<'a> {
        let [low, high] = self.round_weight(self.quotes[index]);
        WeightedVenue { curve: venue.exit.curve(), low, high }
    }

    /// A lower and an upper bound of a fixed cost in comparisons × 2^64.
    fn cost(&self, cost: UsdMicros) -> (U1024, U1024) {
        let [low, high] = self.round_weight(self.micro);
        let times = |weight: U256| (U1024::from(weight) * U1024::from(cost.0)) << 64;
        (times(low), times(high))
    }

    /// A lower bound of the output of these amounts by venue, plus the fixed costs of all venues minus those of the
    /// used ones.
    fn value(&self, venues: &[SplitVenue<'_>], amounts: &[U256]) -> U1024 {
        let (mut value, mut spent) = (U1024::ZERO, U1024::ZERO);
        for (index, (venue, part)) in venues.iter().zip(amounts).enumerate() {
            if part.is_zero() {
                continue;
            }
            let [low, _] = self.round_weight(self.quotes[index]);
            let out = allot::paid(venue.exit.curve(), *part).unwrap_or(U256::ZERO);
            value = value + ((U1024::from(out) * U1024::from(low)) << 64);
            spent = spent + self.cost(venue.fixed_cost).1;
        }
        value + all_costs(venues, self) - spent
    }

    /// The gap of an output `value` minus `cost`, both exact.
    fn gap(&self, amount_in: U256, value: U1024, cost: UsdMicros) -> Result<Percent, SplitError> {
        let sold = U1024::from(amount_in) * self.base;
        // If the cost exceeds the output, the difference counts as an additional loss.
        let lost = self.micro * U1024::from(cost.0);
        let error = SplitError::GapOutOfRange;
        if let Some(net) = value.checked_sub(lost) {
            return shortfall(net, sold).ok_or(error);
        }
        let whole = shortfall(U1024::ZERO, sold).ok_or_else(|| error.clone())?;
        let beyond = shortfall(lost - value + sold, sold).ok_or(error)?;
        Ok(Percent(whole.0 - beyond.0))
    }

    /// The result of a combination, with the results of each single venue for the `whole` amount.
    fn report(
        &self,
        venues: &[SplitVenue<'_>],
        whole: U256,
        chosen: &Chosen,
    ) -> Result<ExactSplit, SplitError> {
        let amount_in = chosen.amounts.iter().fold(U256::ZERO, |sum, sold| sum + *sold);
        let value = |venue: usize, out: U256| U1024::from(out) * self.quotes[venue];
        let mut legs = Vec::new();
        let (mut brought, mut fixed_cost) = (U1024::ZERO, UsdMicros(0));
        for (venue, sold) in chosen.amounts.iter().enumerate() {
            if sold.is_zero() {
                continue;
            }
            let amount_out = allot::paid(venues[venue].exit.curve(), *sold).unwrap_or(U256::ZERO);
            brought = brought + value(venue, amount_out);
            fixed_cost.0 = fixed_cost.0.saturating_add(venues[venue].fixed_cost.0);
            let gap = self.gap(*sold, value(venue, amount_out), UsdMicros(0))?;
            legs.push(SplitLeg { venue, amount_in: *sold, amount_out, gap });
        }
        let mut alone = Vec::with_capacity(venues.len());
        for (index, venue) in venues.iter().enumerate() {
            let out = allot::paid(venue.exit.curve(), whole).filter(|out| !out.is_zero());
            alone.push(
                out.and_then(|out| self.gap(whole, value(index, out), venue.fixed_cost).ok()),
            );
        }
        let gap = self.gap(amount_in, brought, fixed_cost)?;
        let above = chosen.bound.checked_sub(chosen.value).unwrap_or(U1024::ZERO);
        let [base, _] = self.round_weight(self.base);
        let sold = (U1024::from(amount_in) * U1024::from(base.max(U256::ONE))) << 64;
        let share = narrow((above * U1024::from(100_000_000_u64)).div_ceil(sold));
        let share = share.and_then(|share| i128::try_from(share).ok());
        let share = share.filter(|share| *share < Percent::BOUND);
        let optimality_gap = Percent(share.ok_or(SplitError::GapOutOfRange)?);
        Ok(ExactSplit { legs, gap, optimality_gap, fixed_cost, alone })
    }
}

/// Tries every combination of the venues with a fixed cost. All other venues are part of each combination.
fn choose(venues: &[SplitVenue<'_>], worth: &Worth, amount_in: U256) -> Result<Chosen, SplitError> {
    let all: Vec<_> =
        venues.iter().enumerate().map(|(i, venue)| worth.weigh_venue(venue, i)).collect();
    let costly: Vec<usize> = (0..venues.len()).filter(|i| venues[*i].fixed_cost.0 > 0).collect();
    let mut best: Option<Chosen> = None;
    let mut bound = U1024::ZERO;
    let mut refused = SplitError::BeyondLiquidity { max_amount_in: most_of_all(venues) };
    for mask in 0..1_usize << costly.len() {
        let is_left_out = |venue: &usize| {
            costly.iter().position(|at| at == venue).is_some_and(|bit| mask >> bit & 1 == 0)
        };
        let members: Vec<usize> = (0..venues.len()).filter(|venue| !is_left_out(venue)).collect();
        let weighed: Vec<_> = members.iter().map(|venue| all[*venue]).collect();
        if !takes(&weighed, amount_in) {
            continue;
        }
        refused = SplitError::NoOutput;
        // Costs are compared as the remainder of a sum that exceeds all of them.
        let cost = members
            .iter()
            .fold(U1024::ZERO, |sum, venue| sum + worth.cost(venues[*venue].fixed_cost).0);
        let kept = all_costs(venues, worth) - cost;
        let parts = allot::allot(&weighed, amount_in);
        // Even if no split was found, one may exist: the bound covers every combination.
        let near = parts.clone().unwrap_or_else(|| vec![U256::ZERO; members.len()]);
        bound = bound.max(bound::bound(&weighed, &near, amount_in) + kept);
        let Some(parts) = parts else { continue };
        let mut amounts = vec![U256::ZERO; venues.len()];
        for (part, venue) in parts.iter().zip(&members) {
            amounts[*venue] = *part;
        }
        let value = worth.value(venues, &amounts);
        if best.as_ref().is_none_or(|best| best.value < value) {
            best = Some(Chosen { amounts, bound, value });
        }
    }
    best.map(|best| Chosen { bound, ..best }).ok_or(refused)
}

/// The maximum amount that all venues take, in raw units of the token sold.
fn most_of_all(venues: &[SplitVenue<'_>]) -> U256 {
    let most = venues.iter().map(|venue| venue.exit.curve().most().0);
    most.fold(U256::ZERO, U256::saturating_add)
}

/// Whether these venues together take this amount.
fn takes(venues: &[WeightedVenue<'_>], amount_in: U256) -> bool {
    let most = venues.iter().map(|venue| venue.curve.most().0);
    most.fold(U256::ZERO, U256::saturating_add) >= amount_in && !venues.is_empty()
}

fn all_costs(venues: &[SplitVenue<'_>], worth: &Worth) -> U1024 {
    venues.iter().fold(U1024::ZERO, |sum, venue| sum + worth.cost(venue.fixed_cost).1)
}

#[cfg(test)]
mod tests;
