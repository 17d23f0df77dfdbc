//! The output of a weighted pool: `bₒ·(1 − (bᵢ ÷ (bᵢ + given))^(wᵢ ÷ wₒ))`, rounded against the seller.
//!
//! Source: `WeightedMath.sol` (`_calcOutGivenIn`), and `WeightedPool.sol` of January 2026, which adds one to the
//! balance of the token sold and enforces minimum balances.

use super::fixed_point::{ONE, div_down, div_up, mul_down, mul_up};
use super::pool::Rule;
use super::power::{Power, power};
use super::vault::{AmountRefusal, BalancerError, Vault};
use crate::pools::RawPrice;
use crate::pools::stable_curve::{BITS, RootBelow};
use crate::wide::{U256, U1024, checked_times, narrow, over_up, times};

/// The weights of a pool, and the additions of its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightedRule {
    pub(super) weights: Vec<u64>,
    /// The minimum balances of pools of January 2026, with eighteen decimals.
    pub(super) least: Option<Vec<U256>>,
}

/// The unit of weights.
const WHOLE: u64 = 1_000_000_000_000_000_000;
/// A swap takes at most this share of a balance.
const MOST_TAKEN: U256 = U256::from_limbs([300_000_000_000_000_000, 0, 0, 0]);
/// A pool adds this many parts of `10^18` to a power that is not computed by multiplication.
const ADDED: u64 = 10_000;

impl WeightedRule {
    /// Weights are fractions in parts of `10^18`. `least` is set if the version enforces minimum balances.
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

    /// The balance of the token sold that the pool computes with.
    fn balance_in(&self, vault: &Vault, sold: usize) -> U256 {
        vault.live[sold] + U256::from(u8::from(self.least.is_some()))
    }

    fn exponent(&self, sold: usize, bought: usize) -> U256 {
        let [of_sold, of_bought] = [sold, bought].map(|token| U256::from(self.weights[token]));
        div_down(of_sold, of_bought).unwrap_or(U256::ZERO)
    }

    /// The remaining part of each unit bought, before it is rounded up; `None` if the contract refuses it.
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

    /// The maximum by which a computed power, whose base is rounded up, can exceed the exact power, in parts of
    /// `10^18`. This leaves room for the same difference below it.
    ///
    /// All quotients of the logarithm and of `e^x` are rounded down, and their series are truncated. In the result this
    /// is at most 5 parts if neither table was used. Otherwise the error of the logarithm's last digits is multiplied
    /// by the exponent, and in both cases one part of the base is added. Downwards only the last quotient is rounded,
    /// by one, and the tables' digits have an error of a tenth of a part per unit of the exponent.
    fn most_above(&self, (sold, bought): (usize, usize), branch: u64) -> U256 {
        let times_over = over_up(self.exponent(sold, bought), ONE);
        let (each, beside) = match branch {
            u64::MAX => (0_u64, 10_u64),
            0 => (2, 8),
            _ => (8, 16),
        };
        times(times_over, U256::from(each)) + U256::from(beside)
    }

    /// The share of the token bought that is paid out, in parts of `10^18`, if the power were exact and the pool's
    /// addition were subtracted. It is at least the first value (`None` if it may be zero) and at most the second.
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

    /// Same as [`Rule::out`], without the limits of a swap, and with the branch in which it was computed.
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

/// Exponents for which the power is computed by multiplication.
fn whole_exponent(exponent: U256) -> Option<u8> {
    [1_u8, 2, 4].into_iter().find(|whole| times(ONE, U256::from(*whole)) == exponent)
}

/// Converts units of `2^-96` to integers, rounded up.
fn whole(given: U1024) -> Option<U256> {
    narrow(given.div_ceil(U1024::ONE << BITS))
}

/// This share of a balance in units of `2^-96`, rounded up.
fn paid_of(balance: U256, freed: U256) -> U1024 {
    ((U1024::from(balance) << BITS) * U1024::from(freed)).div_ceil(U1024::from(ONE))
}

/// This many parts of `10^18` of a power, rounded up.
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

    /// Within a branch of its power the output never falls.
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

    /// Without the pool's addition to the power: that also reduces the output of the smallest amounts, so the result
    /// would not be concave from zero.
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

    /// With the pool's addition, if half the amount pays at least as large a share: from here on the share only falls.
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

    /// The power's branches and its error make the gap fall in places.
    fn divides(&self) -> bool {
        true
    }

    fn beside(&self, vault: &Vault, (sold, bought): (usize, usize), balance: U256) -> Option<U256> {
        // The reverse direction: the token sold is returned.
        let returned = vault.live[sold].checked_sub(balance)?;
        let base = div_up(balance, balance.checked_add(returned)?)?;
        let left = power(base.min(ONE), self.exponent(sold, bought))?.value;
        div_down(vault.live[bought], left.max(U256::ONE))
    }
}
