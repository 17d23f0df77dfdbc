//! What a weighted pool pays: `bₒ·(1 − (bᵢ ÷ (bᵢ + given))^(wᵢ ÷ wₒ))`, rounded against the seller.
//!
//! Source: `WeightedMath.sol` (`_calcOutGivenIn`), and `WeightedPool.sol` of January 2026, which
//! adds one to the input's balance and holds least balances.

use super::fixed_point::{ONE, div_down, div_up, mul_down, mul_up};
use super::pool::Rule;
use super::power::{Power, power};
use super::vault::{AmountRefusal, BalancerError, Vault};
use crate::pools::RawPrice;
use crate::pools::stable_curve::{BITS, RootBelow};
use crate::wide::{U256, U1024, checked_times, narrow, over_up, times};

/// The weights of a pool, and what its version adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightedRule {
    pub(super) weights: Vec<u64>,
    /// The least balances of pools of January 2026, with eighteen decimals.
    pub(super) least: Option<Vec<U256>>,
}

/// Shares of this.
const WHOLE: u64 = 1_000_000_000_000_000_000;
/// At most this share of a balance is taken at once.
const MOST_TAKEN: U256 = U256::from_limbs([300_000_000_000_000_000, 0, 0, 0]);
/// A pool adds so many of `10^18` parts to a power that is not a product of its number.
const ADDED: u64 = 10_000;

impl WeightedRule {
    /// Weights are shares of `10^18`; `least` stands where the version holds least balances.
    pub(super) fn new(
        vault: &Vault,
        weights: Vec<u64>,
        least: Option<Vec<U256>>,
    ) -> Result<Self, BalancerError> {
        let sum = weights.iter().try_fold(0_u64, |sum, weight| sum.checked_add(*weight));
        let each = weights.iter().all(|weight| *weight >= WHOLE / 100);
        if weights.len() != vault.raw.len() || sum != Some(WHOLE) || !each {
            return Err(BalancerError::Weights);
        }
        let fits = least.as_ref().is_none_or(|least| vault.third && least.len() == weights.len());
        let rated = vault.third || vault.rates.iter().all(|rate| *rate == ONE);
        if fits && rated { Ok(Self { weights, least }) } else { Err(BalancerError::Version) }
    }

    /// The input's balance that the pool computes with.
    fn balance_in(&self, vault: &Vault, sold: usize) -> U256 {
        vault.live[sold] + U256::from(u8::from(self.least.is_some()))
    }

    fn exponent(&self, sold: usize, bought: usize) -> U256 {
        let [of_sold, of_bought] = [sold, bought].map(|token| U256::from(self.weights[token]));
        div_down(of_sold, of_bought).unwrap_or(U256::ZERO)
    }

    /// What is left of each unit bought, before it is rounded up; `None` where that is refused.
    fn left(&self, vault: &Vault, (sold, bought): (usize, usize), given: U256) -> Option<Power> {
        let balance = self.balance_in(vault, sold);
        let base = div_up(balance, balance.checked_add(given)?)?;
        let exponent = self.exponent(sold, bought);
        let whole = |value| Some(Power { value, branch: u64::MAX });
        match whole_exponent(exponent) {
            Some(1) => whole(base),
            Some(2) => whole(mul_up(base, base)?),
            Some(_) => {
                let square = mul_up(base, base)?;
                whole(mul_up(square, square)?)
            }
            None => power(base, exponent),
        }
    }

    /// How many of `10^18` parts a power as it is made, of a base that is rounded up, can be above the
    /// exact power, with room for as much below it.
    ///
    /// All quotients of the logarithm and of `e^x` are rounded down, and their series end early. In
    /// the result that is at most 5 parts where neither table was used; else the logarithm's last
    /// digits count as often as the exponent says, and in both cases so does a part of the base.
    /// Downwards only the last quotient is rounded, by one, and the tables' digits are off by a
    /// tenth of a part for each one of the exponent.
    fn most_above(&self, (sold, bought): (usize, usize), branch: u64) -> U256 {
        let times_over = over_up(self.exponent(sold, bought), ONE);
        let (each, beside) = match branch {
            u64::MAX => (0_u64, 10_u64),
            0 => (2, 8),
            _ => (8, 16),
        };
        times(times_over, U256::from(each)) + U256::from(beside)
    }

    /// The share freed of the token bought, in parts of `10^18`, were the power exact and what the
    /// pool adds to it taken off: not below the first, `None` where that may be none, and not above
    /// the second.
    fn freed_between(
        &self,
        vault: &Vault,
        pair: (usize, usize),
        given: U256,
    ) -> Option<(Option<U256>, U256)> {
        let Power { value, branch } = self.left(vault, pair, given)?;
        let above = self.most_above(pair, branch);
        let added = if branch == u64::MAX { U256::ZERO } else { off(value, ADDED)? };
        let charged = value + added;
        let most = ONE - charged.saturating_sub(above).min(ONE);
        Some((ONE.checked_sub(charged + above), most))
    }

    /// As [`Rule::out`], without the bounds of a swap, and the branch it was made in.
    fn out_and_branch(
        &self,
        vault: &Vault,
        pair: (usize, usize),
        given: U256,
    ) -> Option<(U256, u64)> {
        let Power { value, branch } = self.left(vault, pair, given)?;
        let exact = branch == u64::MAX;
        let value = if exact { value } else { value + off(value, ADDED)? + U256::ONE };
        let freed = ONE.checked_sub(value).unwrap_or(U256::ZERO);
        Some((mul_down(vault.live[pair.1], freed)?, branch))
    }
}

/// Exponents of which the power is a product.
fn whole_exponent(exponent: U256) -> Option<u8> {
    [1_u8, 2, 4].into_iter().find(|whole| times(ONE, U256::from(*whole)) == exponent)
}

/// Units of `2^-96` as whole ones, rounded up.
fn whole(given: U1024) -> Option<U256> {
    narrow(given.div_ceil(U1024::ONE << BITS))
}

/// What a share of a balance comes to, in units of `2^-96`, rounded up.
fn paid_of(balance: U256, freed: U256) -> U1024 {
    ((U1024::from(balance) << BITS) * U1024::from(freed)).div_ceil(U1024::from(ONE))
}

/// So many of `10^18` parts of a power, rounded up.
fn off(value: U256, parts: u64) -> Option<U256> {
    mul_up(value, U256::from(parts))
}

impl Rule for WeightedRule {
    fn out(
        &self,
        vault: &Vault,
        (sold, bought): (usize, usize),
        given: U256,
    ) -> Result<U256, AmountRefusal> {
        let too_much = AmountRefusal::TooMuch;
        let balance = self.balance_in(vault, sold);
        let most = mul_down(balance, MOST_TAKEN).ok_or(too_much)?;
        if given > most || self.least.as_ref().is_some_and(|least| balance < least[sold]) {
            return Err(too_much);
        }
        let (out, _) = self.out_and_branch(vault, (sold, bought), given).ok_or(too_much)?;
        let left = vault.live[bought].checked_sub(out).ok_or(too_much)?;
        if self.least.as_ref().is_some_and(|least| left < least[bought]) {
            return Err(too_much);
        }
        Ok(out)
    }

    /// Inside a branch of its power the output never falls.
    fn out_at_most(
        &self,
        vault: &Vault,
        pair: (usize, usize),
        (low, high): (U256, U256),
        _root: Option<&RootBelow>,
    ) -> U256 {
        let [low, at_high] = [low, high].map(|given| self.out_and_branch(vault, pair, given));
        match (low, at_high) {
            (Some((_, branch)), Some((out, same))) if branch == same => out,
            _ => {
                let most = self.freed_between(vault, pair, high).map_or(ONE, |(_, most)| most);
                narrow(paid_of(vault.live[pair.1], most) >> BITS).unwrap_or(U256::MAX)
            }
        }
    }

    /// Without what the pool adds to the power: that is taken of the smallest amount, too, and so
    /// what is left would not be concave from nothing on.
    fn ideal(
        &self,
        vault: &Vault,
        (sold, bought): (usize, usize),
        given: U1024,
        _root: Option<&RootBelow>,
    ) -> U1024 {
        let left = whole(given).and_then(|given| self.left(vault, (sold, bought), given));
        let above = |branch| self.most_above((sold, bought), branch);
        let least = left.map(|Power { value, branch }| value.saturating_sub(above(branch)));
        paid_of(vault.live[bought], ONE - least.unwrap_or(U256::ZERO).min(ONE))
    }

    /// With what the pool adds, where half as much pays at least as large a share of itself: then
    /// the share only falls from here on.
    fn ideal_from(
        &self,
        vault: &Vault,
        pair: (usize, usize),
        given: U1024,
        root: Option<&RootBelow>,
    ) -> U1024 {
        let freed = whole(given).and_then(|given| {
            let half = given >> 1;
            let (_, most) = self.freed_between(vault, pair, given)?;
            let (least, _) = self.freed_between(vault, pair, half)?;
            (checked_times(least?, given)? >= checked_times(most, half)?).then_some(most)
        });
        match freed {
            Some(most) => paid_of(vault.live[pair.1], most),
            None => self.ideal(vault, pair, given, root),
        }
    }

    fn mid(&self, vault: &Vault, (sold, bought): (usize, usize)) -> RawPrice {
        let weight = |token: usize| U1024::from(self.weights[token]);
        let live = |token: usize| U1024::from(vault.live[token]);
        let [of_sold, of_bought] = [sold, bought].map(|token| U1024::from(vault.scale(token)));
        let common = of_sold.gcd(of_bought);
        RawPrice::of_ratio(
            live(bought) * weight(sold) * (of_sold / common),
            live(sold) * weight(bought) * (of_bought / common),
        )
    }

    /// The power's branches, and what it is off, make the gap fall here and there.
    fn divides(&self) -> bool {
        true
    }

    fn beside(&self, vault: &Vault, (sold, bought): (usize, usize), balance: U256) -> Option<U256> {
        // The other way round: what was sold comes back.
        let returned = vault.live[sold].checked_sub(balance)?;
        let base = div_up(balance, balance.checked_add(returned)?)?;
        let left = power(base.min(ONE), self.exponent(sold, bought))?.value;
        div_down(vault.live[bought], left.max(U256::ONE))
    }
}
