//! A pool's data in a vault, and the conversion from raw units to the balances with eighteen decimals that the pool
//! computes with, and back.
//!
//! Source: `BaseGeneralPool.sol`, `BaseMinimalSwapInfoPool.sol` and `BalanceAllocation.sol` of
//! version 2; `Vault.sol` and `ScalingHelpers.sol` of version 3.

use super::fixed_point::{ONE, div_down, mul_down, mul_up};
use crate::ids::Pair;
use crate::pools::stable_curve::BITS;
use crate::wide::{U256, U512, U1024, checked_times, mul_div, product, remainder, times};

/// Why a contract refuses an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountRefusal {
    /// It also refuses every smaller amount.
    TooLittle,
    /// It also refuses every larger amount.
    TooMuch,
}

/// A pool's data in a vault, as read from the chain. Lists have one entry per token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultParts {
    /// Raw units.
    pub balances: Vec<U256>,
    /// Version 3: the balances with eighteen decimals and rates, minus the protocol's part of the yield
    /// (`getCurrentLiveBalances`). `None` in version 2, which computes them from the others.
    pub live_balances: Option<Vec<U256>>,
    /// `10^(18 − decimals)`.
    pub scaling_factors: Vec<U256>,
    /// The rates that a swap uses, with eighteen decimals.
    pub rates: Vec<U256>,
    /// A fraction in parts of `10^18`.
    pub swap_fee: u64,
}

/// Why numbers are not valid data of a pool in a vault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BalancerError {
    /// The contract does not have two to eight tokens, or a list does not have one entry per token.
    #[error(
        "{balances} balances and {other} {of} given; each list needs one entry per token, for 2 to 8 tokens"
    )]
    Lengths {
        /// The number of balances.
        balances: usize,
        /// The number of entries in the other list.
        other: usize,
        /// The name of the other list.
        of: &'static str,
    },
    /// A balance is zero, or exceeds the vault's maximum.
    #[error("the balance of token {token} is zero or more than its vault can hold")]
    Balance {
        /// The token's index.
        token: usize,
    },
    /// A scaling factor or a rate is zero, or has more than 96 bits.
    #[error("the scaling factor or rate of token {token} is zero or longer than 96 bits")]
    Scale {
        /// The token's index.
        token: usize,
    },
    /// The fee is not below one.
    #[error("fee {found} is not below 10^18")]
    Fee {
        /// The fee found.
        found: u64,
    },
    /// Weights must be fractions in parts of `10^18`, each at least one hundredth, and sum to one.
    #[error("the weights must be shares of 10^18 that sum to 10^18")]
    Weights,
    /// The amplification is outside the contract's bounds.
    #[error("amplification {found} is outside the range 1 to 100,000,000 thousandths")]
    Amplification {
        /// The amplification found.
        found: u64,
    },
    /// The version does not match the fields.
    #[error("these fields do not match the pool's version")]
    Version,
    /// The contract's iteration does not converge for these balances, so every swap is refused.
    #[error("the contract itself cannot compute the invariant of these balances")]
    NotConverged,
}

/// A pool in its vault, for a pair of its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vault {
    pub(super) raw: Vec<U256>,
    /// With eighteen decimals and rates.
    pub(super) live: Vec<U256>,
    pub(super) scaling_factors: Vec<U256>,
    pub(super) rates: Vec<U256>,
    pub(super) swap_fee: u64,
    /// Whether it is version 3.
    pub(super) third: bool,
    pub(super) pair: [usize; 2],
}

impl Vault {
    /// Version 3 refuses amounts below this, in and out, with eighteen decimals.
    const LEAST_TRADE: u64 = 1_000_000;

    pub(super) fn new(parts: VaultParts) -> Result<Self, BalancerError> {
        let VaultParts { balances, live_balances, scaling_factors, rates, swap_fee } = parts;
        let third = live_balances.is_some();
        let count = balances.len();
        let lists = [
            (scaling_factors.len(), "scaling factors"),
            (rates.len(), "rates"),
            (live_balances.as_ref().map_or(count, Vec::len), "live balances"),
        ];
        for (other, of) in lists {
            if !(2..=usize::from(Pair::MAX_TOKENS)).contains(&count) || other != count {
                return Err(BalancerError::Lengths { balances: count, other, of });
            }
        }
        if swap_fee >= 1_000_000_000_000_000_000 {
            return Err(BalancerError::Fee { found: swap_fee });
        }
        let most = Self::most_bits(third);
        for token in 0..count {
            let scales = [scaling_factors[token], rates[token]];
            if scales.iter().any(|scale| scale.is_zero() || scale.bit_len() > 96) {
                return Err(BalancerError::Scale { token });
            }
            if balances[token].is_zero() || balances[token].bit_len() > most {
                return Err(BalancerError::Balance { token });
            }
        }
        let pair = [0, 1];
        let mut vault =
            Self { raw: balances, live: Vec::new(), scaling_factors, rates, swap_fee, third, pair };
        let made = || (0..count).map(|token| vault.scale_amount(token, vault.raw[token])).collect();
        let live = live_balances.or_else(made).unwrap_or_default();
        let fits = |x: &U256| !x.is_zero() && x.bit_len() <= 150;
        if live.is_empty() || !live.iter().all(fits) {
            return Err(BalancerError::Balance {
                token: live.iter().position(|x| !fits(x)).unwrap_or(0),
            });
        }
        vault.live = live;
        Ok(vault)
    }

    /// The maximum number of bits of a balance.
    fn most_bits(third: bool) -> usize {
        if third { 128 } else { 112 }
    }

    /// The value of one raw unit, times `10^18`.
    pub(super) fn scale(&self, token: usize) -> U256 {
        // Two numbers of 96 bits. Version 2 rounds this product; version 3 does not divide it.
        let product = times(self.scaling_factors[token], self.rates[token]);
        if self.third { product } else { self.factor(token) }
    }

    /// Version 2: the product of scaling factor and rate.
    fn factor(&self, token: usize) -> U256 {
        let scaling = checked_times(self.scaling_factors[token], ONE);
        scaling.and_then(|scaling| mul_down(scaling, self.rates[token])).unwrap_or(U256::ZERO)
    }

    fn scale_amount(&self, token: usize, raw: U256) -> Option<U256> {
        mul_down(raw, self.scale(token))
    }

    /// The part of an amount that reaches the pool: scaled, and without the fee.
    pub(super) fn given(&self, sold: usize, amount_in: U256) -> Result<U256, AmountRefusal> {
        let too_much = AmountRefusal::TooMuch;
        let fee = |amount| mul_up(amount, U256::from(self.swap_fee)).ok_or(too_much);
        if !self.third {
            let left = amount_in - fee(amount_in)?;
            return mul_down(left, self.factor(sold)).ok_or(too_much);
        }
        let scaled = checked_times(amount_in, self.scaling_factors[sold]);
        let scaled = scaled.and_then(|scaled| mul_down(scaled, self.rates[sold]));
        let scaled = scaled.ok_or(too_much)?;
        let given = scaled - fee(scaled)?;
        if given < U256::from(Self::LEAST_TRADE) {
            Err(AmountRefusal::TooLittle)
        } else {
            Ok(given)
        }
    }

    /// Same without any rounding, in units of `2^-96`, rounded up.
    pub(super) fn given_without_rounding(&self, sold: usize, amount_in: U256) -> U1024 {
        let one = U1024::from(ONE);
        let kept = one - U1024::from(self.swap_fee);
        let up = U1024::from(product(amount_in, self.scale(sold))) * kept;
        (up << BITS).div_ceil(one * one)
    }

    /// The amount that the vault transfers for the pool's output.
    pub(super) fn paid(&self, bought: usize, out: U256) -> Result<U256, AmountRefusal> {
        if !self.third {
            return div_down(out, self.factor(bought)).ok_or(AmountRefusal::TooMuch);
        }
        if out < U256::from(Self::LEAST_TRADE) {
            return Err(AmountRefusal::TooLittle);
        }
        let rate = self.rates[bought];
        let rate = if remainder(rate, ONE).is_zero() { rate } else { rate + U256::ONE };
        let scale = times(self.scaling_factors[bought], rate);
        div_down(out, scale).ok_or(AmountRefusal::TooMuch)
    }

    /// Same without any rounding: converts units of `2^-96` to raw units of `2^-64`, rounded up.
    pub(super) fn paid_without_rounding(&self, bought: usize, out: U1024) -> U512 {
        let scale = U1024::from(self.scale(bought)) << (BITS - 64);
        U512::low_bits_of((out * U1024::from(ONE)).div_ceil(scale).as_limbs())
    }

    /// The vault after a swap; `None` if it cannot hold the new balances.
    pub(super) fn after(
        &self,
        (sold, amount_in): (usize, U256),
        (bought, amount_out): (usize, U256),
    ) -> Option<Self> {
        let mut next = self.clone();
        next.raw[sold] = next.raw[sold].checked_add(amount_in)?;
        next.raw[bought] = next.raw[bought].checked_sub(amount_out)?;
        let most = Self::most_bits(self.third);
        if next.raw[sold].bit_len() > most {
            return None;
        }
        for token in [sold, bought] {
            next.live[token] = next.scale_amount(token, next.raw[token])?;
        }
        (!self.third || next.live[sold].bit_len() <= most).then_some(next)
    }

    /// The vault with `back` less of the token sold. The token bought gets the balance that `beside` returns (with
    /// eighteen decimals), but not less than it has.
    pub(super) fn moved_back(
        &self,
        (sold, back): (usize, U256),
        bought: usize,
        beside: impl FnOnce(U256) -> Option<U256>,
    ) -> Option<Self> {
        let mut next = self.clone();
        next.raw[sold] = next.raw[sold].checked_sub(back)?;
        next.live[sold] = next.scale_amount(sold, next.raw[sold])?;
        let raw = mul_div(beside(next.live[sold])?, ONE, self.scale(bought))?;
        next.raw[bought] = raw.max(next.raw[bought]);
        next.live[bought] = next.scale_amount(bought, next.raw[bought])?;
        let fits = next.raw[bought].bit_len() <= Self::most_bits(self.third);
        (fits && !back.is_zero() && !next.live[sold].is_zero()).then_some(next)
    }
}
