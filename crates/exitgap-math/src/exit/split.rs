//! One exit split over the venues of one slot: how much each is sold, each leg the contract's own
//! fill, and how far from the best split of all that can be at most.
//!
//! - `allot`: the split itself, a step size at a time
//! - `bound`: what no split can exceed, from the venues' curves without rounding
//! - `sized_split`: a split of a size in USD, each leg of a size of its own
//!
//! The split is not claimed to be the best there is; the certificate says how near it is, and is
//! sound: no split of the same amount over the same venues brings more. It rests on curves that are
//! concave, so a venue whose curve may not be (see [`SplitError::NotConcave`]) is refused.

mod allot;
mod bound;
mod sized_split;

use super::terms::shortfall;
use super::{Exit, MAX_ROUTE_VENUES, PricedPool, Refusal};
use crate::pools::SaleCurve;
use crate::units::{Percent, SizeUsd, UsdMicros, UsdPrice};
use crate::wide::{U256, U1024, narrow, power_of_ten};

pub use sized_split::{SizedSplit, largest_split, split_size};

/// Bits that a weight keeps in comparisons; the reported gap is of the whole weights.
const WEIGHT_BITS: usize = 160;

/// A venue: one direction of a pool, and what the amounts are worth.
#[derive(Debug, Clone)]
pub struct SplitVenue<'a> {
    exit: &'a Exit,
    base: (UsdPrice, u8),
    quote: (UsdPrice, u8),
    fixed_cost: UsdMicros,
}

/// Why venues are no question, or have no answer. A venue is counted from 0 as given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// No venue, or more than are split over at once.
    #[error("{found} venues given; the number must be from 1 to {most}", most = MAX_ROUTE_VENUES)]
    Venues {
        /// Venues found.
        found: usize,
    },
    /// What the venue pays need not be concave in the amount: its fee moves with the sale, its
    /// formula has branches, or no such law is known of its kind. No bound would be sound.
    #[error(
        "venue {venue} does not always pay less for each further unit, so no bound on a split is valid"
    )]
    NotConcave {
        /// The venue.
        venue: usize,
    },
    /// The token sold has another price or other decimals there than at the first venue.
    #[error(
        "venue {venue} differs from venue 0 in the oracle price or the decimals of the token sold"
    )]
    BaseDiffers {
        /// The venue.
        venue: usize,
    },
    /// Nothing is sold.
    #[error("the amount is zero")]
    NoInput,
    /// No split of it pays something on every leg.
    #[error("the venues would pay less than one unit on one of the legs")]
    NoOutput,
    /// All venues together do not take the amount.
    #[error("the venues together take at most {max_amount_in} units")]
    BeyondLiquidity {
        /// Raw units of the token sold that all venues take.
        max_amount_in: U256,
    },
    /// The gap is too large for a percentage.
    #[error(
        "the oracle price and the pool prices are too far apart for a percentage; one of them must be wrong"
    )]
    GapOutOfRange,
}

impl SplitError {
    /// The stable code, e.g. `not_concave`.
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

/// What one venue sells of an exit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitLeg {
    /// Which venue, counted from 0 as given.
    pub venue: usize,
    /// Raw units of the token sold.
    pub amount_in: U256,
    /// Raw units of the token bought: what the contract pays.
    pub amount_out: U256,
    /// The leg's own gap; positive is worse than the oracle.
    pub gap: Percent,
}

/// An exit split over venues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactSplit {
    /// What the venues used sell, in the order of the venues. The amounts add up to what was asked.
    pub legs: Vec<SplitLeg>,
    /// The gap of all legs together and the fixed costs of the venues used.
    pub gap: Percent,
    /// No split of this amount over these venues has a gap that is lower by more than this; rounded
    /// up, never negative.
    pub optimality_gap: Percent,
    /// The fixed costs of the venues used.
    pub fixed_cost: UsdMicros,
    /// What each venue alone fills all of the amount at, in the order of the venues, its fixed cost
    /// taken off; `None` where it does not take it.
    pub alone: Vec<Option<Percent>>,
}

impl<'a> SplitVenue<'a> {
    /// A venue whose pool has these prices. `fixed_cost` is what using it costs at all, whatever is sold.
    pub fn from_pool<'p>(
        pool: impl Into<PricedPool<'p>>,
        exit: &'a Exit,
        fixed_cost: UsdMicros,
    ) -> Self {
        let PricedPool { decimals, usd, .. } = pool.into();
        Self::new(exit, decimals, usd, fixed_cost)
    }

    /// A venue; `decimals` and `usd` are those of the pool's token 0 and token 1.
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

    /// Whether a split may use it: every further unit is paid no more than the one before, but for
    /// roundings.
    pub fn is_concave(&self) -> bool {
        self.exit.curve().is_sized() && !self.exit.curve().divides()
    }

    /// Whether a sale there has a gap: pool and oracle are not too far apart for a percentage.
    pub fn has_gap(&self) -> bool {
        !self.exit.has_no_gap()
    }

    /// Whether the token sold has one oracle price and as many decimals at both.
    pub fn sells_alike(&self, other: &Self) -> bool {
        self.base == other.base
    }

    /// What all of `size` fills at in this venue alone, its fixed cost taken off.
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

/// Splits `amount_in` raw units of the token sold over the venues, which sell the same token.
/// Never worse than the best of them alone.
///
/// Bounded: some 600 fills for 8 venues, once for each choice of venues that have a fixed cost.
pub fn split_exit(venues: &[SplitVenue<'_>], amount_in: U256) -> Result<ExactSplit, SplitError> {
    require_comparable(venues)?;
    if amount_in.is_zero() {
        return Err(SplitError::NoInput);
    }
    let worth = Worth::from_venues(venues);
    let chosen = choose(venues, &worth, amount_in)?;
    worth.report(venues, amount_in, &chosen)
}

/// Refuses venues that no split is of.
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

/// A venue as comparisons see it.
#[derive(Clone, Copy)]
struct WeightedVenue<'a> {
    curve: &'a SaleCurve,
    /// Worth of one raw unit bought, rounded down …
    low: U256,
    /// … and up.
    high: U256,
}

/// What a choice of venues came to.
struct Chosen {
    /// By venue.
    amounts: Vec<U256>,
    /// What no split exceeds, and what this one comes to at least: in weights × 2^64.
    bound: U1024,
    value: U1024,
}

/// What units are worth, in one unit that all venues share.
struct Worth {
    /// Of a raw unit bought, by venue.
    quotes: Vec<U1024>,
    /// Of a raw unit sold.
    base: U1024,
    /// Of a micro-dollar.
    micro: U1024,
    /// Comparisons divide weights by this and by `2^cut`.
    divisor: U1024,
    cut: usize,
}

impl Worth {
    fn from_venues(venues: &[SplitVenue<'_>]) -> Self {
        let scale = |(usd, decimals): &(UsdPrice, u8)| usd.decimals() + u32::from(*decimals);
        let sides = || venues.iter().flat_map(|venue| [&venue.base, &venue.quote]);
        // 108 at most: a price's decimals are at most 72.
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

    /// A weight in comparisons, rounded down and up.
    fn round_weight(&self, weight: U1024) -> [U256; 2] {
        let low = narrow((weight / self.divisor) >> self.cut).unwrap_or(U256::MAX);
        let is_whole = (U1024::from(low) << self.cut) * self.divisor == weight;
        [low, if is_whole { low } else { low + U256::ONE }]
    }

    fn weigh_venue<'a>(&self, venue: &SplitVenue<'a>, index: usize) -> WeightedVenue<'a> {
        let [low, high] = self.round_weight(self.quotes[index]);
        WeightedVenue { curve: venue.exit.curve(), low, high }
    }

    /// A fixed cost in comparisons × 2^64: no more than it is, and no less.
    fn cost(&self, cost: UsdMicros) -> (U1024, U1024) {
        let [low, high] = self.round_weight(self.micro);
        let times = |weight: U256| (U1024::from(weight) * U1024::from(cost.0)) << 64;
        (times(low), times(high))
    }

    /// What amounts, by venue, bring at least, and what is kept of the costs of all venues.
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

    /// The gap of what brings `value` less `cost`; both exact.
    fn gap(&self, amount_in: U256, value: U1024, cost: UsdMicros) -> Result<Percent, SplitError> {
        let sold = U1024::from(amount_in) * self.base;
        // A cost above what is brought is as if the sale were larger by the difference.
        let lost = self.micro * U1024::from(cost.0);
        let error = SplitError::GapOutOfRange;
        if let Some(net) = value.checked_sub(lost) {
            return shortfall(net, sold).ok_or(error);
        }
        let whole = shortfall(U1024::ZERO, sold).ok_or_else(|| error.clone())?;
        let beyond = shortfall(lost - value + sold, sold).ok_or(error)?;
        Ok(Percent(whole.0 - beyond.0))
    }

    /// What a choice comes to, beside what each venue alone comes to with the `whole` amount.
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

/// Tries every choice of the venues that have a fixed cost, the others being in each.
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
        // Costs are compared as what is kept of a sum that is above all of them.
        let cost = members
            .iter()
            .fold(U1024::ZERO, |sum, venue| sum + worth.cost(venues[*venue].fixed_cost).0);
        let kept = all_costs(venues, worth) - cost;
        let parts = allot::allot(&weighed, amount_in);
        // What was not found may be there: the bound is of every choice.
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

/// Raw units of the token sold that all venues take.
fn most_of_all(venues: &[SplitVenue<'_>]) -> U256 {
    let most = venues.iter().map(|venue| venue.exit.curve().most().0);
    most.fold(U256::ZERO, U256::saturating_add)
}

/// Whether these venues together take so much.
fn takes(venues: &[WeightedVenue<'_>], amount_in: U256) -> bool {
    let most = venues.iter().map(|venue| venue.curve.most().0);
    most.fold(U256::ZERO, U256::saturating_add) >= amount_in && !venues.is_empty()
}

fn all_costs(venues: &[SplitVenue<'_>], worth: &Worth) -> U1024 {
    venues.iter().fold(U1024::ZERO, |sum, venue| sum + worth.cost(venue.fixed_cost).1)
}

#[cfg(test)]
mod tests;
